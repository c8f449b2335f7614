/* action.c - the table of action kinds and what they share. */
#include "labs/action.h"

#include "core/base/str.h"
#include "labs/action_kinds.h"
#include "labs/errjson.h"

static const struct action_kind *const kinds[] = {&action_apply, &action_build, &action_push,
                                                  &action_train, &action_copy,  &action_exec,
                                                  &action_delete, &action_model};

const struct action_kind *action_kind_by_name(const char *name, int *index)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_eq(kinds[i]->name, name)) {
            if (index)
                *index = (int)i;
            return kinds[i];
        }
    return NULL;
}

const struct action_kind *action_kind_at(int index)
{
    assert(index >= 0 && (size_t)index < ARRAY_LEN(kinds));
    return kinds[index];
}

size_t action_kind_count(void)
{
    return ARRAY_LEN(kinds);
}

void action_fail(struct action_run *a, enum pd_code code, const char *fmt, ...)
{
    char text[480];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pd_fail(&a->err, code, "%s", text);
    a->state = ACTION_FAILED;
}

void action_fail_err(struct action_run *a, const struct pd_err *err)
{
    a->err = *err;
    a->state = ACTION_FAILED;
}

bool action_reply_failed(struct action_run *a, const struct msg *m)
{
    struct pd_err err;
    if (!errjson_read(json_get(m->body, "error"), &err))
        return false;
    action_fail_err(a, &err);
    return true;
}
