/* plain_edit.c - the files of a step by lines: shown with numbers, changed by
 * what is found or by the number of a line, saved at once. */
#include "core/base/i18n.h"
#include "core/base/path.h"
#include "tui/plain_priv.h"

static const struct lab_step *step_of(const struct plain *p)
{
    return &p->app->s->lab->steps[p->app->s->step];
}

/* The file named; else the one chosen before, when it is of this step; else the
 * step's own. NULL, and said: there is none. */
static const char *choose(struct plain *p, const char *name)
{
    const struct lab_step *st = step_of(p);
    const char *own = NULL, *kept = NULL;
    for (int i = 0; i < st->files_n; i++) {
        if (*name && str_eq(st->files[i].name, name))
            return str_copy(p->file, sizeof p->file, name);
        if (str_eq(st->files[i].name, p->file) && st->files[i].edit)
            kept = st->files[i].name;
        if (!own && st->files[i].edit)
            own = st->files[i].name;
    }
    own = kept ? kept : own;
    if (*name || !own)
        plain_line(&p->out, *name ? _("This step has no file '%s'.%s")
                                  : _("This step has no file to edit.%s%s"), name, "");
    return *name || !own ? NULL : str_copy(p->file, sizeof p->file, own);
}

static bool load(struct plain *p, const char *name, struct str *text)
{
    struct pd_err err = {0};
    char *dir = lab_work_dir(p->app->s->lab), *path = path_join(dir, name);
    str_init(text, EDIT_BYTES_MOST);
    bool ok = path_read(path, EDIT_BYTES_MOST / 2, text, &err) == PD_OK;
    if (!ok)
        plain_line(&p->out, _("Error: %s"), err.msg);
    free(path);
    free(dir);
    return ok;
}

static void split(const struct str *text, struct strv *lines)
{
    strv_init(lines);
    strv_split(lines, text->p, '\n');
    if (lines->n > 1 && !lines->v[lines->n - 1][0]) {
        free(lines->v[--lines->n]);
        lines->v[lines->n] = NULL;
    }
}

static bool load_lines(struct plain *p, const char *name, struct strv *lines)
{
    struct str text;
    bool ok = load(p, name, &text);
    if (ok)
        split(&text, lines);
    str_release(&text);
    return ok;
}

static void say_lines(struct plain *p, const struct strv *lines, size_t from, size_t to)
{
    for (size_t i = from; i <= to && i <= lines->n; i++)
        plain_line(&p->out, "%zu: %s", i, lines->v[i - 1]);
}

static void show_file(struct plain *p, const char *name)
{
    struct strv lines;
    if (!load_lines(p, name, &lines))
        return;
    plain_line(&p->out, _("%s, %zu lines:"), name, lines.n);
    say_lines(p, &lines, 1, lines.n);
    strv_release(&lines);
}

void plain_show(struct plain *p, const char *arg)
{
    const char *name = choose(p, arg);
    if (name)
        show_file(p, name);
}

void plain_edit(struct plain *p, const char *arg)
{
    const char *name = choose(p, arg);
    if (!name)
        return;
    if (p->own_editor) {
        plain_command(p, "step.edit", name, NULL);
        return;
    }
    show_file(p, name);
    plain_line(&p->out, "%s", _("Change it with: replace FIND => PUT; or line N => TEXT; insert N "
                                "=> TEXT; delete N. Every change is saved at once."));
}

/* What a change of the file can be taken back to. */
static void keep_old(struct plain *p, const char *name)
{
    struct str text;
    if (load(p, name, &text)) {
        free(p->old_text);
        p->old_text = xstrdup(text.p);
        str_copy(p->old_file, sizeof p->old_file, name);
    }
    str_release(&text);
}

/* --- changes -------------------------------------------------------------------------- */
static void save(struct plain *p, const char *name, const struct strv *lines)
{
    struct str text;
    str_init(&text, EDIT_BYTES_MOST);
    for (size_t i = 0; i < lines->n; i++) {
        str_add(&text, lines->v[i]);
        str_addc(&text, '\n');
    }
    keep_old(p, name);
    plain_command(p, "file.set", name, text.p);
    str_release(&text);
}

/* The last change of a file, else the last of the console's own. */
void plain_undo(struct plain *p, const char *arg UNUSED)
{
    char *old = p->old_text;
    if (!old || !choose(p, p->old_file)) {
        plain_command(p, "undo", NULL, NULL);
        return;
    }
    p->old_text = NULL;
    keep_old(p, p->file);        /* undo again does it again */
    plain_command(p, "file.set", p->file, old);
    plain_line(&p->out, _("%s is as it was before the last change."), p->file);
    free(old);
}

/* "A => B" to a and what it returns; NULL, and said: there is no arrow. */
static const char *arrow(struct plain *p, const char *arg, char *a, size_t size)
{
    const char *at = strstr(arg, "=>");
    if (!at || at == arg) {
        plain_line(&p->out, "%s", _("Put => between what is there and what is to be there."));
        return NULL;
    }
    size_t n = (size_t)(at - arg);
    while (n > 0 && arg[n - 1] == ' ')
        n--;
    str_copy(a, MIN(size, n + 1), arg);
    return at[2] == ' ' ? at + 3 : at + 2;
}

static void put_line(struct strv *lines, size_t i, char *text)
{
    free(lines->v[i]);
    lines->v[i] = text;
}

/* The first line that has the text, from 1; 0: none. *more: others that do. */
static size_t find_line(const struct strv *lines, const char *find, int *more)
{
    size_t at = 0;
    *more = 0;
    for (size_t i = 0; i < lines->n; i++) {
        bool has = strstr(lines->v[i], find) != NULL;
        *more += has && at;
        at = has && !at ? i + 1 : at;
    }
    return at;
}

/* Line N of the step's file: false, and said, when there is none. */
static bool load_line(struct plain *p, const char *number, int64_t *n, struct strv *lines,
                      size_t beyond)
{
    const char *name = choose(p, "");
    if (!name || !load_lines(p, name, lines))
        return false;
    if (str_to_i64(number, n) && *n >= 1 && (size_t)*n <= lines->n + beyond)
        return true;
    plain_line(&p->out, _("%s has the lines 1 to %zu."), name, lines->n + beyond);
    strv_release(lines);
    return false;
}

void plain_replace(struct plain *p, const char *arg)
{
    char find[1024];
    struct strv lines;
    int more;
    const char *put = arrow(p, arg, find, sizeof find), *name = put ? choose(p, "") : NULL;
    if (!name || !load_lines(p, name, &lines))
        return;
    size_t at = find_line(&lines, find, &more);
    if (at) {
        const char *line = lines.v[at - 1], *found = strstr(line, find);
        put_line(&lines, at - 1, xasprintf("%.*s%s%s", (int)(found - line), line, put,
                                           found + strlen(find)));
        plain_line(&p->out, _("%s, line %zu is now:"), name, at);
        say_lines(p, &lines, at, at);
        if (more)
            plain_line(&p->out, _("%d more lines have this text; they stay as they are."), more);
        save(p, name, &lines);
    } else {
        plain_line(&p->out, _("%s has no \"%s\". Type show to read it."), name, find);
    }
    strv_release(&lines);
}

void plain_set_line(struct plain *p, const char *arg)
{
    char number[32];
    struct strv lines;
    int64_t n;
    const char *put = arrow(p, arg, number, sizeof number);
    if (!put || !load_line(p, number, &n, &lines, 0))
        return;
    put_line(&lines, (size_t)n - 1, xstrdup(put));
    plain_line(&p->out, _("%s, line %zu is now:"), p->file, (size_t)n);
    say_lines(p, &lines, (size_t)n, (size_t)n);
    save(p, p->file, &lines);
    strv_release(&lines);
}

void plain_insert_line(struct plain *p, const char *arg)
{
    char number[32];
    struct strv lines, after;
    int64_t n;
    const char *put = arrow(p, arg, number, sizeof number);
    if (!put || !load_line(p, number, &n, &lines, 1))
        return;
    strv_init(&after);
    for (size_t i = 0; i <= lines.n; i++) {
        if (i + 1 == (size_t)n)
            strv_push(&after, put);
        if (i < lines.n)
            strv_push(&after, lines.v[i]);
    }
    plain_line(&p->out, _("%s, line %zu is now:"), p->file, (size_t)n);
    say_lines(p, &after, (size_t)n, (size_t)n);
    save(p, p->file, &after);
    strv_release(&lines);
    strv_release(&after);
}

void plain_delete_line(struct plain *p, const char *arg)
{
    struct strv lines, after;
    int64_t n;
    if (!load_line(p, arg, &n, &lines, 0))
        return;
    strv_init(&after);
    for (size_t i = 0; i < lines.n; i++)
        if (i + 1 != (size_t)n)
            strv_push(&after, lines.v[i]);
    plain_line(&p->out, _("%s, line %zu is gone; it was: %s"), p->file, (size_t)n,
               lines.v[n - 1]);
    save(p, p->file, &after);
    strv_release(&lines);
    strv_release(&after);
}
