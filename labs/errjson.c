/* errjson.c - errors in the bodies of messages. */
#include "labs/errjson.h"

struct json *errjson_make(const struct pd_err *err)
{
    struct json *j = json_new_object();
    json_put_str(j, "code", pd_id(err->code));
    json_put_str(j, "text", err->msg);
    json_put_str(j, "hint", err->hint);
    if (*err->src)
        json_put_str(j, "file", err->src);
    if (err->line) {
        json_put_num(j, "line", err->line);
        json_put_num(j, "column", err->col);
    }
    return j;
}

bool errjson_read(const struct json *j, struct pd_err *err)
{
    const char *id = json_str(j, "code", NULL), *text = json_str(j, "text", NULL);
    enum pd_code code = PD_UNSUPPORTED;
    if (!id && !text)
        return false;
    for (int i = PD_OK + 1; i < PD_CODE_COUNT; i++)
        if (str_eq(pd_id((enum pd_code)i), id))
            code = (enum pd_code)i;
    pd_fail_at(err, code, json_str(j, "file", ""), (int)json_int(j, "line", 0),
               (int)json_int(j, "column", 0), "%s", text ? text : pd_message(code));
    if (*json_str(j, "hint", ""))
        pd_set_hint(err, "%s", json_str(j, "hint", ""));
    return true;
}
