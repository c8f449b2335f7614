/* prompt.c - the input line (prompt.h). */
#include "tui/prompt.h"

#include "core/base/i18n.h"
#include "core/base/utf8.h"

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

static bool contains(const char *hay, const char *word, size_t n)
{
    for (; *hay; hay++)
        if (strncasecmp(hay, word, n) == 0)
            return true;
    return n == 0;
}

int prompt_candidates(const struct app *a, const struct cmd *out[PROMPT_CANDIDATES])
{
    const char *typed = a->prompt.text;
    size_t word = strcspn(typed, " ");
    int n = 0;
    for (int pass = 0; pass < 3; pass++) {       /* begins with, has, help has */
        for (size_t i = 0; i < cmd_count() && n < PROMPT_CANDIDATES; i++) {
            const struct cmd *c = cmd_at(i);
            bool begins = strncasecmp(c->name, typed, word) == 0;
            bool has = contains(c->name, typed, word), says = contains(_(c->help), typed, word);
            bool mine = pass == 0 ? begins : pass == 1 ? has && !begins : says && !has && !begins;
            bool here = (c->views & (a->s->lab ? VIEWS_LAB : VIEW_CATALOGUE)) != 0;
            if (mine && here)
                out[n++] = c;
        }
    }
    return n;
}

static void run_palette(struct app *a, struct effects *out)
{
    const struct cmd *found[PROMPT_CANDIDATES];
    int n = prompt_candidates(a, found);
    const char *arg = strchr(a->prompt.text, ' ');
    char name[64], rest[512];
    str_copy(rest, sizeof rest, arg ? arg + 1 : "");
    str_copy(name, MIN(sizeof name, strcspn(a->prompt.text, " ") + 1), a->prompt.text);
    a->prompt.kind = PROMPT_NONE;
    const struct cmd *c = cmd_by_name(name);
    if (!c && a->prompt.sel < n)
        c = found[a->prompt.sel];
    if (!c) {
        app_note(a, true, _("there is no command '%s'"), name);
        return;
    }
    a->note[0] = '\0';
    app_command(a, c->name, rest[0] ? rest : NULL, out);
}

static void accept(struct app *a, struct effects *out)
{
    if (a->prompt.kind == PROMPT_PALETTE) {
        run_palette(a, out);
        return;
    }
    struct app_prompt p = a->prompt;
    a->prompt.kind = PROMPT_NONE;
    a->note[0] = '\0';
    app_command(a, p.command, p.text, out);
}

static void complete(struct app *a)
{
    const struct cmd *found[PROMPT_CANDIDATES];
    int n = prompt_candidates(a, found);
    if (a->prompt.kind != PROMPT_PALETTE || a->prompt.sel >= n)
        return;
    str_fmt(a->prompt.text, sizeof a->prompt.text, "%s ", found[a->prompt.sel]->name);
    a->prompt.cursor = (int)strlen(a->prompt.text);
    a->prompt.sel = 0;
}

static void choose(struct app *a, int by)
{
    const struct cmd *found[PROMPT_CANDIDATES];
    int n = prompt_candidates(a, found);
    if (a->prompt.kind == PROMPT_PALETTE)
        a->prompt.sel = MIN(MAX(a->prompt.sel + by, 0), MAX(n - 1, 0));
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
    else if (str_eq(key, "Up") || str_eq(key, "C-p"))
        choose(a, -1);
    else if (str_eq(key, "Down") || str_eq(key, "C-n"))
        choose(a, 1);
    else
        return false;
    return true;
}

void prompt_key(struct app *a, const char *key, struct effects *out)
{
    struct app_prompt *p = &a->prompt;
    int n;
    uint32_t cp = utf8_decode(key, strlen(key), &n);
    if (str_eq(key, "Enter"))
        accept(a, out);
    else if (str_eq(key, "Esc") || str_eq(key, "C-c"))
        p->kind = PROMPT_NONE;
    else if (str_eq(key, "Tab"))
        complete(a);
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

void prompt_paste(struct app *a, const char *text)
{
    struct str clean;
    str_init(&clean, sizeof a->prompt.text);
    utf8_clean(text, strcspn(text, "\r\n"), false, &clean);
    insert(&a->prompt, clean.p, clean.len);
    str_release(&clean);
}
