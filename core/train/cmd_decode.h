/* cmd_decode.h - what generate, compare and chat share: options to a decode,
 * text to the terminal.
 */
#ifndef CORE_TRAIN_CMD_DECODE_H
#define CORE_TRAIN_CMD_DECODE_H

#include "core/train/cmd_model.h"
#include "core/train/decode.h"

enum { CMD_TEXT_CEILING = 1 << 22 };

/* Room for a prompt of n tokens and what --max-tokens asks, within the model's
 * context. */
int cmd_context(const struct options *o, const struct cmd_model *x, size_t n);
/* The ends are config.json's (the tokenizer's when it names none). */
void cmd_decode_options(const struct options *o, const struct cmd_model *x, const struct tok *t,
                        struct decode_options *d);
/* Text with nothing in it that could control a terminal; cmd_say adds a line
 * end, cmd_say_live (a decode's `say`) is for text that comes in pieces. */
void cmd_say(const char *text, size_t n);
void cmd_say_live(void *arg, const char *text, size_t n);

#endif
