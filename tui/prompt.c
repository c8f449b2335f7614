/* prompt.c - the input line (prompt.h). */
#include "tui/prompt.h"

#include "core/base/utf8.h"
#include "tui/palette.h"

static void insert(struct app_prompt *p, const char *text, size_t n)
{
    size_t have = strlen(p->text);
    if (have + n >= sizeof p->text)
        return;
    memmove(p->text + p->cursor + n, p->text + p->cursor, have - (size_t)p->cursor + 1);
    memcpy(p->text + p->cursor, text, n);
    p->cursor += (int)n;
    p->sel = 0;
}

static int before(const struct app_prompt *p)
{
    int at = p->cursor - (p->cursor > 0);
    while (at > 0 && ((unsigned char)p->text[at] & 0xC0) == 0x80)
        at--;
    return at;
}

static int after(const struct app_prompt *p)
{
    int n = 0;
    if (p->text[p->cursor])
        utf8_decode(p->text + p->cursor, strlen(p->text + p->cursor), &n);
    return p->cursor + n;
}

static void cut(struct app_prompt *p, int from, int to)
{
    memmove(p->text + from, p->text + to, strlen(p->text + to) + 1);
    p->cursor = from;
    p->sel = 0;
}

static void accept(struct app *a, struct effects *out)
{
    if (a->prompt.kind == PROMPT_PALETTE) {
        palette_accept(a, out);
        return;
    }
    struct app_prompt p = a->prompt;
    a->prompt.kind = PROMPT_NONE;
    a->note[0] = '\0';
    app_command(a, p.command, p.text, out);
}

static bool move(struct app *a, const char *key)
{
    struct app_prompt *p = &a->prompt;
    if (str_eq(key, "Left"))
        p->cursor = before(p);
    else if (str_eq(key, "Right"))
        p->cursor = after(p);
    else if (str_eq(key, "Home") || str_eq(key, "C-a"))
        p->cursor = 0;
    else if (str_eq(key, "End") || str_eq(key, "C-e"))
        p->cursor = (int)strlen(p->text);
    else if (p->kind == PROMPT_PALETTE && (str_eq(key, "Up") || str_eq(key, "C-p")))
        palette_choose(a, -1);
    else if (p->kind == PROMPT_PALETTE && (str_eq(key, "Down") || str_eq(key, "C-n")))
        palette_choose(a, 1);
    else
        return false;
    return true;
}

static void take_key(struct app *a, const char *key, struct effects *out)
{
    struct app_prompt *p = &a->prompt;
    int n;
    uint32_t cp = utf8_decode(key, strlen(key), &n);
    if (str_eq(key, "Enter"))
        accept(a, out);
    else if (str_eq(key, "Esc") || str_eq(key, "C-c"))
        p->kind = PROMPT_NONE;
    else if (str_eq(key, "Tab") && p->kind == PROMPT_PALETTE)
        palette_complete(a);
    else if (str_eq(key, "Backspace") && !p->text[0])
        p->kind = PROMPT_NONE;
    else if (str_eq(key, "Backspace"))
        cut(p, before(p), p->cursor);
    else if (str_eq(key, "Del"))
        cut(p, p->cursor, after(p));
    else if (str_eq(key, "C-u"))
        cut(p, 0, p->cursor);
    else if (str_eq(key, "Space"))
        insert(p, " ", 1);
    else if (!move(a, key) && key[n] == '\0' && utf8_width(cp) > 0)
        insert(p, key, (size_t)n);
}

/* Whoever wants to know is told what stands there as it is typed. */
void prompt_key(struct app *a, const char *key, struct effects *out)
{
    struct app_prompt *p = &a->prompt;
    void (*typed)(struct app *, const char *) = p->typed;
    char text[sizeof p->text];
    str_copy(text, sizeof text, p->text);
    take_key(a, key, out);
    if (typed && p->kind == PROMPT_NONE && !str_eq(key, "Enter"))
        typed(a, "");
    else if (typed && p->kind != PROMPT_NONE && !str_eq(p->text, text))
        typed(a, p->text);
}

void prompt_paste(struct app *a, const char *text)
{
    struct str clean;
    str_init(&clean, sizeof a->prompt.text);
    utf8_clean(text, strcspn(text, "\r\n"), false, &clean);
    insert(&a->prompt, clean.p, clean.len);
    if (a->prompt.typed)
        a->prompt.typed(a, a->prompt.text);
    str_release(&clean);
}
