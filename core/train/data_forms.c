/* data_forms.c - the usual forms of rows (data_forms.h). */
#include "core/train/data_forms.h"

static const struct data_pair pairs[] = {
    {"instruction", "input", "output", true},    {"instruction", "input", "response", true},
    {"prompt", NULL, "completion", false},       {"prompt", NULL, "response", false},
    {"prompt", NULL, "output", false},           {"question", "context", "answer", true},
    {"input", NULL, "output", true},
};

static const struct {
    const char *name;
    enum data_role role;
} roles[] = {
    {"system", ROLE_SYSTEM},       {"developer", ROLE_SYSTEM},    {"user", ROLE_USER},
    {"human", ROLE_USER},          {"assistant", ROLE_ASSISTANT}, {"gpt", ROLE_ASSISTANT},
    {"model", ROLE_ASSISTANT},     {"bot", ROLE_ASSISTANT},       {"chatgpt", ROLE_ASSISTANT},
    {"tool", ROLE_TOOL},           {"function", ROLE_TOOL},       {"observation", ROLE_TOOL},
    {"function_call", ROLE_ASSISTANT},
};

const struct data_pair *data_pair(const struct tjson *row)
{
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (tjson_get(row, pairs[i].question) && tjson_get(row, pairs[i].answer))
            return &pairs[i];
    return NULL;
}

const struct tjson *data_turns(const struct tjson *row, bool *sharegpt)
{
    const struct tjson *messages = tjson_get(row, "messages");
    *sharegpt = !messages;
    return messages ? messages : tjson_get(row, "conversations");
}

enum data_form data_form(const struct tjson *row)
{
    bool sharegpt;
    if (tjson_type(row) != TJSON_OBJECT)
        return DATA_COURSE;
    if (data_turns(row, &sharegpt))
        return DATA_CHAT;
    if (tjson_get(row, "template") || tjson_get(row, "lang"))
        return DATA_COURSE;
    if (data_pair(row))
        return DATA_PAIR;
    return tjson_get(row, "text") ? DATA_PLAIN : DATA_COURSE;
}

enum data_role data_role(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(roles); i++)
        if (str_eq(roles[i].name, name))
            return roles[i].role;
    return ROLE_NONE;
}

const char *data_role_name(enum data_role r)
{
    static const char *const names[] = {"", "system", "user", "assistant", "tool"};
    return names[r];
}

const char *data_turn_role(const struct tjson *turn)
{
    return tjson_str(turn, "role", tjson_str(turn, "from", NULL));
}

const char *data_turn_text(const struct tjson *turn)
{
    return tjson_str(turn, "content", tjson_str(turn, "value", NULL));
}
