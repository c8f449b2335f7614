/* kubectl.h - the kubectl line that does the same as a request, for the API
 * panel: same verb, same path, same body (on its standard input where the line
 * ends in "-f -").
 *
 * Where kubectl has a command of its own it is used; a request that none makes
 * is shown with kubectl's --raw form, which makes exactly it.
 */
#ifndef K8S_KUBECTL_H
#define K8S_KUBECTL_H

#include "core/base/json.h"

/* Append the line. path with its query; content_type and body may be NULL;
 * default_ns: the context's namespace (no -n is shown for it), or NULL. Words
 * are quoted for a POSIX shell. */
void kubectl_line(const char *method, const char *path, const char *content_type,
                  const struct json *body, const char *default_ns, struct str *out);

#endif
