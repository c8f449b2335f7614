/* lab_new.h - `podium lab new`: a small lab of one's own to begin with, copied
 * from labs/templates. The folder's name becomes its id.
 */
#ifndef LABS_LAB_NEW_H
#define LABS_LAB_NEW_H

#include "core/base/base.h"

/* template NULL: basic. The exit code: 0, 1, or 2 for a name that is no id. */
int lab_new(const char *dir, const char *template);

#endif
