/* errjson.h - struct pd_err as JSON and back, for the bodies of messages. */
#ifndef LABS_ERRJSON_H
#define LABS_ERRJSON_H

#include "core/base/json.h"

/* {"code":"PD-…","text","hint","file","line","column"}; the last three only
 * when there is a place: the same members as the error line of a child. */
struct json *errjson_make(const struct pd_err *err);
/* False when j is no error (NULL, no "code" and no "text"). */
bool errjson_read(const struct json *j, struct pd_err *err);

#endif
