/* choices.h - which namespace a person chose last in a context, and those used
 * before: kept in podium's own state folder, never in a kubeconfig.
 *
 * A context is known by its name and by the file that it stands in.
 */
#ifndef LABS_CHOICES_H
#define LABS_CHOICES_H

#include "core/base/json.h"
#include "core/base/str.h"

enum { CHOICES_USED = 12 };      /* namespaces remembered a context */

/* "~/.local/state/podium/namespaces.json"; caller frees. */
char *choices_path(void);
/* The entry of a context in the text of that file: {"namespace", "used": []},
 * the newest first; NULL: there is none, or the text is no such file. Caller
 * frees. */
struct json *choices_find(const char *text, const char *file, const char *context);
/* The text with `ns` as the choice of a context; ns NULL: back to what its own
 * file says, those used are kept. Caller frees. */
char *choices_with(const char *text, const char *file, const char *context, const char *ns);

#endif
