/* tok_chat.h - chat templates: messages to the ids that a model was tuned on.
 *
 * A folder's template (chat_template.jinja, or tokenizer_config.json's
 * chat_template) is recognised by what is in it; templates are not executed.
 *   ChatML    <|im_start|>role\ncontent<|im_end|>\n      (SmolLM2, Qwen)
 *   Llama 3   <|begin_of_text|>, then <|start_header_id|>role<|end_header_id|>
 *             \n\ncontent<|eot_id|>, content trimmed; of 3.1 and 3.2 always with a
 *             system message that begins with two dates
 * Where the template has a system message of its own for conversations that
 * bring none, it stands first. The markers are single tokens; text is encoded
 * so that it can't smuggle one in. The beginning-of-text token comes once.
 */
#ifndef CORE_TRAIN_TOK_CHAT_H
#define CORE_TRAIN_TOK_CHAT_H

#include "core/train/tok.h"

struct tok_message {
    const char *role, *content;   /* role: system, user, assistant, tool */
};

enum tok_chat_kind { TOK_CHAT_NONE, TOK_CHAT_CHATML, TOK_CHAT_LLAMA3 };

struct tok_chat;
/* A folder without a template gives kind TOK_CHAT_NONE; one with a template of
 * another kind PD_UNSUPPORTED, with what is known. t is borrowed. */
MUST_USE enum pd_code tok_chat_load(const char *model_dir, const struct tok *t,
                                    struct tok_chat **out, struct pd_err *err);
/* From the template's text; NULL: none. */
MUST_USE enum pd_code tok_chat_from(const char *template, const char *src, const struct tok *t,
                                    struct tok_chat **out, struct pd_err *err);
void tok_chat_free(struct tok_chat *c);                   /* NULL: nothing */
enum tok_chat_kind tok_chat_kind(const struct tok_chat *c);
int32_t tok_chat_eot(const struct tok_chat *c);           /* ends an answer; -1: none */
const char *tok_chat_system(const struct tok_chat *c);    /* "" : none */

/* Append ids, and for each of them 1 in mask (NULL: not wanted) where it is
 * trained: an assistant's content and the token that ends it. With
 * generation_prompt the assistant's header stands last. PD_DATA names a role
 * that is none. */
MUST_USE enum pd_code tok_chat_render(const struct tok_chat *c, const struct tok_message *m,
                                      size_t n, bool generation_prompt, struct tok_ids *ids,
                                      struct tok_ids *mask, struct pd_err *err);

#endif
