/* doctor_chat.c - conversations: turns, roles, and whether there is a target. */
#include "core/base/i18n.h"
#include "core/train/data_forms.h"
#include "core/train/doctor.h"

/* The turn's role; its text is looked at. */
static enum data_role turn(struct doctor *d, const struct tjson *t, int row)
{
    const char *name = data_turn_role(t);
    const char *text = data_turn_text(t);
    enum data_role r = name ? data_role(name) : ROLE_NONE;
    if (!name)
        doctor_add(d, DOC_TURN, row, "%s", _("has no role"));
    else if (r == ROLE_NONE)
        doctor_add(d, DOC_ROLE, row, "%.60s", name);
    if (!text && !tjson_get(t, "tool_calls"))
        doctor_add(d, DOC_TURN, row, "%s", _("has no text"));
    else if (text && !text[strspn(text, " \t\r\n")] && r == ROLE_ASSISTANT)
        doctor_add(d, DOC_NO_ANSWER, row, "%s", _("an assistant turn"));
    return r;
}

static void judge(struct doctor *d, enum data_role first, enum data_role last, int answers, int row)
{
    if (answers == 0)
        doctor_add(d, DOC_NO_ASSISTANT, row, "%s", "");
    if (first == ROLE_ASSISTANT)
        doctor_add(d, DOC_FIRST, row, "%s", "");
    if (last == ROLE_USER && answers > 0)
        doctor_add(d, DOC_LAST, row, "%s", "");
}

void doctor_chat(struct doctor *d, const struct tjson *list, bool sharegpt, int row)
{
    enum data_role first = ROLE_NONE, last = ROLE_NONE;
    int answers = 0, speakers = 0;
    d->forms[sharegpt ? 3 : 2]++;
    if (sharegpt)
        doctor_add(d, DOC_SHAREGPT, row, "%s", "");
    if (tjson_type(list) != TJSON_ARRAY || tjson_count(list) == 0) {
        doctor_add(d, DOC_NO_TURNS, row, "%s", "");
        return;
    }
    for (size_t i = 0; i < tjson_count(list); i++) {
        enum data_role r = turn(d, tjson_item(list, i), row);
        if (r == last && (r == ROLE_USER || r == ROLE_ASSISTANT))
            doctor_add(d, DOC_TWICE, row, "%s", r == ROLE_USER ? _("the user")
                                                               : _("the assistant"));
        if (speakers == 0)
            first = r;
        speakers += r != ROLE_SYSTEM;
        answers += r == ROLE_ASSISTANT;
        last = r;
    }
    judge(d, first, last, answers, row);
}
