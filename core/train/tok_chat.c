/* tok_chat.c - chat templates (tok_chat.h). */
#include "core/train/tok_chat.h"

#include <ctype.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/train/tjson.h"

enum { TEMPLATE_CEILING = 1 << 20, CONFIG_CEILING = 8 << 20, TEXT_CEILING = 64 << 20 };

/* What stands around a message. open, then role, then mid (a token, or text
 * before the content), content, close, then behind. */
static const struct form {
    const char *name, *mark;      /* mark: what a template of this kind holds */
    const char *bos, *open, *mid, *before, *close, *behind;
    bool trims;
} forms[] = {
    [TOK_CHAT_CHATML] = {"ChatML", "<|im_start|>", NULL, "<|im_start|>", NULL, "\n",
                         "<|im_end|>", "\n", false},
    [TOK_CHAT_LLAMA3] = {"Llama 3", "<|start_header_id|>", "<|begin_of_text|>",
                         "<|start_header_id|>", "<|end_header_id|>", "\n\n", "<|eot_id|>", "",
                         true},
};

/* Llama 3.1 and 3.2 begin every system message so. The date is the one that the
 * template itself falls back to: today's would make another data set every day. */
static const char dated[] = "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n";

struct tok_chat {
    enum tok_chat_kind kind;
    bool dated;
    const struct tok *t;
    bool trims;
    int32_t bos, open, mid, close;    /* -1: the form has none */
    char *system;
};

void tok_chat_free(struct tok_chat *c)
{
    if (!c)
        return;
    free(c->system);
    free(c);
}

enum tok_chat_kind tok_chat_kind(const struct tok_chat *c)
{
    return c->kind;
}

int32_t tok_chat_eot(const struct tok_chat *c)
{
    return c->close;
}

const char *tok_chat_system(const struct tok_chat *c)
{
    return c->system;
}

/* The text between "<|im_start|>system\n" and "<|im_end|>" of a template, with
 * its line end real or written; "" when it is put together from parts. */
static char *system_of(const char *template)
{
    const char *p = strstr(template, "<|im_start|>system"), *end;
    p = p ? p + strlen("<|im_start|>system") : "";
    if (*p == '\n')
        p++;
    else if (p[0] == '\\' && p[1] == 'n')
        p += 2;
    else
        return xstrdup("");
    end = strstr(p, "<|im_end|>");
    size_t n = end ? (size_t)(end - p) : 0;
    if (memchr(p, '\'', n) || memchr(p, '{', n) || memchr(p, '"', n) || memchr(p, '\\', n))
        n = 0;
    return xasprintf("%.*s", (int)n, p);
}

static enum pd_code find_token(const struct tok *t, const char *name, const char *src,
                               int32_t *id, struct pd_err *err)
{
    *id = name ? tok_id(t, name, strlen(name)) : -1;
    if (!name || *id >= 0)
        return PD_OK;
    pd_fail_at(err, PD_TRAIN, src, 0, 0,
               _("the chat template uses %s, which the tokenizer does not have"), name);
    return pd_set_hint(err, _("the template and tokenizer.json are of different models"));
}

enum pd_code tok_chat_from(const char *template, const char *src, const struct tok *t,
                           struct tok_chat **out, struct pd_err *err)
{
    struct tok_chat *c = xcalloc(1, sizeof *c);
    *c = (struct tok_chat){.t = t, .bos = -1, .open = -1, .mid = -1, .close = -1};
    for (size_t i = 1; template && i < ARRAY_LEN(forms); i++)
        if (strstr(template, forms[i].mark))
            c->kind = (enum tok_chat_kind)i;
    c->dated = c->kind == TOK_CHAT_LLAMA3 && strstr(template, "Cutting Knowledge Date");
    c->system = c->kind == TOK_CHAT_CHATML ? system_of(template) : xstrdup("");
    enum pd_code rc = PD_OK;
    if (template && c->kind == TOK_CHAT_NONE) {
        pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0,
                   _("this chat template is of no kind that is known here"));
        rc = pd_set_hint(err, _("ChatML (<|im_start|>) and Llama 3 (<|start_header_id|>) are; "
                                 "templates are not executed"));
    }
    const struct form *f = &forms[c->kind];
    c->trims = f->trims || (template && strstr(template, "content'] | trim"));
    if (rc == PD_OK)
        rc = find_token(t, f->bos, src, &c->bos, err);
    if (rc == PD_OK)
        rc = find_token(t, f->open, src, &c->open, err);
    if (rc == PD_OK)
        rc = find_token(t, f->mid, src, &c->mid, err);
    if (rc == PD_OK)
        rc = find_token(t, f->close, src, &c->close, err);
    if (rc == PD_OK)
        *out = c;
    else
        tok_chat_free(c);
    return rc;
}

/* tokenizer_config.json's template: a text, or the "default" of a list. */
static char *config_template(const struct tjson *j)
{
    const struct tjson *t = tjson_get(j, "chat_template");
    const char *text = tjson_str(t, "", NULL);
    for (size_t i = 0; i < tjson_count(t); i++)
        if (str_eq(tjson_str(tjson_item(t, i), "name", ""), "default"))
            text = tjson_str(tjson_item(t, i), "template", NULL);
    return text ? xstrdup(text) : NULL;
}

static enum pd_code read_template(const char *dir, char **text, struct pd_err *err)
{
    char *jinja = path_join(dir, "chat_template.jinja");
    char *config = path_join(dir, "tokenizer_config.json");
    enum pd_code rc = PD_OK;
    struct tjson *j = NULL;
    struct str s;
    str_init(&s, TEMPLATE_CEILING);
    *text = NULL;
    if (access(jinja, F_OK) == 0) {
        rc = path_read(jinja, TEMPLATE_CEILING, &s, err);
        *text = rc == PD_OK ? xstrdup(s.p) : NULL;
    } else if (access(config, F_OK) == 0) {
        rc = tjson_read(config, CONFIG_CEILING, &j, err);
        *text = rc == PD_OK ? config_template(j) : NULL;
    }
    tjson_free(j);
    str_release(&s);
    free(jinja);
    free(config);
    return rc;
}

enum pd_code tok_chat_load(const char *dir, const struct tok *t, struct tok_chat **out,
                           struct pd_err *err)
{
    char *text;
    enum pd_code rc = read_template(dir, &text, err);
    if (rc == PD_OK)
        rc = tok_chat_from(text, dir, t, out, err);
    free(text);
    return rc;
}

/* --- rendering ----------------------------------------------------------------------- */

struct sink {
    const struct tok_chat *c;
    struct tok_ids *ids, *mask;
};

static void push(struct sink *s, int32_t id, bool trained)
{
    if (id < 0)
        return;
    tok_ids_push(s->ids, id);
    if (s->mask)
        tok_ids_push(s->mask, trained);
}

static size_t bytes_of(const struct tok *t, const struct tok_ids *ids)
{
    size_t all = 0, n;
    for (size_t i = 0; i < ids->n; i++) {
        tok_bytes(t, ids->v[i], &n);
        all += n;
    }
    return all;
}

/* Text of one piece, behind a marker: its bytes from `from` on are trained when
 * `trained`. A token that reaches into them is; a space that the tokenizer puts
 * before the text counts for nothing. */
static void push_text(struct sink *s, const struct str *text, size_t from, bool trained)
{
    struct tok_ids got;
    size_t at = 0, n;
    tok_ids_init(&got);
    tok_encode_behind(s->c->t, text->p ? text->p : "", text->len, false, &got);
    size_t all = bytes_of(s->c->t, &got), more = all > text->len ? all - text->len : 0;
    for (size_t i = 0; i < got.n; i++) {
        tok_bytes(s->c->t, got.v[i], &n);
        at += n;
        push(s, got.v[i], trained && at > from + more);
    }
    tok_ids_release(&got);
}

/* open role [mid] before: the text that is still to be encoded stays in `text`. */
static void start(struct sink *s, const char *role, struct str *text)
{
    const struct form *f = &forms[s->c->kind];
    push(s, s->c->open, false);
    str_add(text, role);
    if (s->c->mid >= 0) {
        push_text(s, text, 0, false);
        str_clear(text);
        push(s, s->c->mid, false);
    }
    str_add(text, f->before);
}

/* head: what stands before the content, untrimmed. */
static void render_one(struct sink *s, const char *head, const struct tok_message *m)
{
    struct str text;
    const char *p = m->content;
    size_t n = strlen(p);
    bool trained = str_eq(m->role, "assistant");
    str_init(&text, TEXT_CEILING);
    start(s, m->role, &text);
    for (; s->c->trims && n && isspace((unsigned char)*p); n--)
        p++;
    while (s->c->trims && n && isspace((unsigned char)p[n - 1]))
        n--;
    size_t from = text.len;
    str_add(&text, head);
    str_append(&text, p, n);
    push_text(s, &text, from, trained);
    push(s, s->c->close, trained);
    str_clear(&text);
    str_add(&text, forms[s->c->kind].behind);
    push_text(s, &text, 0, false);
    str_release(&text);
}

static enum pd_code check_role(const char *role, struct pd_err *err)
{
    static const char *const known[] = {"system", "user", "assistant", "tool"};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_eq(role, known[i]))
            return PD_OK;
    pd_fail(err, PD_DATA, _("\"%s\" is no role of a conversation"), role);
    return pd_set_hint(err, _("system, user, assistant and tool are"));
}

enum pd_code tok_chat_render(const struct tok_chat *c, const struct tok_message *m, size_t n,
                             bool generation_prompt, struct tok_ids *ids, struct tok_ids *mask,
                             struct pd_err *err)
{
    struct sink s = {c, ids, mask};
    if (c->kind == TOK_CHAT_NONE)
        return pd_fail(err, PD_UNSUPPORTED, _("this model has no chat template"));
    for (size_t i = 0; i < n; i++)
        if (check_role(m[i].role, err) != PD_OK)
            return err->code;
    push(&s, c->bos, false);
    bool given = n > 0 && str_eq(m[0].role, "system");
    if (given || *c->system || c->dated)
        render_one(&s, c->dated ? dated : "",
                   &(struct tok_message){"system", given ? m[0].content : c->system});
    for (size_t i = given; i < n; i++)
        render_one(&s, "", &m[i]);
    if (generation_prompt) {
        struct str text;
        str_init(&text, TEXT_CEILING);
        start(&s, "assistant", &text);
        push_text(&s, &text, 0, false);
        str_release(&text);
    }
    return PD_OK;
}
