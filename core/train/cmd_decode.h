/* cmd_decode.h - what generate, compare and chat share: options to a decode,
 * text to the terminal.
 */
#ifndef CORE_TRAIN_CMD_DECODE_H
#define CORE_TRAIN_CMD_DECODE_H

#include "core/train/cmd_model.h"
#include "core/train/decode.h"
#include "core/train/tok_chat.h"

enum { CMD_TEXT_CEILING = 1 << 22 };

/* Room for a prompt of n tokens and what --max-tokens asks, within the model's
 * context. */
int cmd_context(const struct options *o, const struct cmd_model *x, size_t n);
/* A prompt's ids: as a user's message when --chat says so (form is needed then),
 * else as it is; special tokens in the text count when `specials`. */
MUST_USE enum pd_code cmd_prompt_ids(const struct options *o, const struct tok *t,
                                     const struct tok_chat *form, const char *text,
                                     bool specials, struct tok_ids *ids, struct pd_err *err);
/* The folder's template; PD_UNSUPPORTED when it has none. */
MUST_USE enum pd_code cmd_chat_form(const struct options *o, const struct tok *t,
                                    struct tok_chat **out, struct pd_err *err);
/* The ends are config.json's (the tokenizer's when it names none), and
 * with form the template's. */
void cmd_decode_options(const struct options *o, const struct cmd_model *x, const struct tok *t,
                        const struct tok_chat *form, struct decode_options *d);
/* Text with nothing in it that could control a terminal; cmd_say adds a line
 * end, cmd_say_live (a decode's `say`) is for text that comes in pieces. */
void cmd_say(const char *text, size_t n);
void cmd_say_live(void *arg, const char *text, size_t n);

#endif
