/* data_forms.h - a row of a data set: which of the usual forms it has.
 *
 *   course      {"instruction", "input", "output", "template", "lang"}: strict
 *   pair        a question and an answer under one of several names of keys:
 *               Alpaca, prompt and completion, question and answer …
 *   chat        {"messages": [{"role", "content"}]}, or ShareGPT's
 *               {"conversations": [{"from", "value"}]}
 *   text        {"text"}
 * A row with "template" or "lang", or of no form, is judged as course.
 * Other keys of the other forms are left alone.
 */
#ifndef CORE_TRAIN_DATA_FORMS_H
#define CORE_TRAIN_DATA_FORMS_H

#include "core/train/tjson.h"
#include "core/train/tok_chat.h"

enum data_form { DATA_COURSE, DATA_PAIR, DATA_CHAT, DATA_PLAIN };

enum data_role { ROLE_NONE, ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL };

struct data_pair {                               /* the keys of a pair */
    const char *question, *more, *answer;        /* more: NULL, or may be missing */
    bool alpaca;                                 /* told in the Alpaca prompt, else as it is */
};

enum data_form data_form(const struct tjson *row);
const struct data_pair *data_pair(const struct tjson *row);     /* NULL: no pair */
/* The list of a conversation's turns; NULL: none. */
const struct tjson *data_turns(const struct tjson *row, bool *sharegpt);
/* "human", "gpt", "developer" … too. */
enum data_role data_role(const char *name);
/* The role and text of a turn, NULL where it has none. */
const char *data_turn_role(const struct tjson *turn);
const char *data_turn_text(const struct tjson *turn);
/* As tok_chat_render takes it. */
const char *data_role_name(enum data_role r);

#endif
