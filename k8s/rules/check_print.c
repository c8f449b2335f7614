/* check_print.c - findings for people: place, sentence, the line itself, reason and
 * next step (check.h). */
#include "k8s/rules/check.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "k8s/client_io.h"

enum { LINE_MAX_SHOWN = 200 };

#define RED "\033[1;31m"
#define YELLOW "\033[1;33m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

static const char *line_text(const char *text, size_t len, int no, size_t *n)
{
    const char *s = text, *end = text + len;
    while (--no > 0 && s < end) {
        const char *nl = memchr(s, '\n', (size_t)(end - s));
        s = nl ? nl + 1 : end;
    }
    const char *nl = s < end ? memchr(s, '\n', (size_t)(end - s)) : NULL;
    *n = (size_t)((nl ? nl : end) - s);
    return s;
}

/* The line and a mark below its column; nothing of a Secret's data. */
static void excerpt(const struct check_finding *f, const char *text, size_t len, bool colour,
                    struct str *out)
{
    size_t n;
    char shown[LINE_MAX_SHOWN], head[32];
    const char *s = line_text(text, len, f->line, &n);
    if (str_starts(f->path, "data[") || str_starts(f->path, "stringData[") || n == 0)
        return;
    k8s_clean(shown, sizeof shown, s, n);
    str_fmt(head, sizeof head, "%5d | ", f->line);
    str_printf(out, "%s%s%s%s\n", colour ? DIM : "", head, colour ? PLAIN : "", shown);
    int at = f->col > 1 ? f->col - 1 : 0;         /* columns count characters */
    const char *p = s;
    for (int step; at > 0 && p < s + n; p += step, at--)
        utf8_decode(p, (size_t)(s + n - p), &step);
    char *before = xstrndup(s, (size_t)(p - s));
    int width = utf8_str_width(before);
    free(before);
    if (width < LINE_MAX_SHOWN)
        str_printf(out, "      | %*s^\n", width, "");
}

/* Words folded to the columns, each line behind the label's width of blanks; a
 * word that is wider than a line (Chinese has no blanks) is cut. */
static void fold(const char *label, const char *text, int columns, struct str *out)
{
    int indent = utf8_str_width(label), room = columns > indent + 20 ? columns - indent : 1 << 20;
    int col = 0;
    str_add(out, label);
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, " ");
        char *word = xstrndup(p, n);
        int w = utf8_str_width(word);
        bool wide = w > 2 * room / 3;
        size_t take = wide ? utf8_cut(word, room - col - (col > 0)) : n;
        if (col > 0 && !wide && col + 1 + w > room)
            take = 0;
        if (take) {
            char *part = xstrndup(word, take);
            bool blank = col > 0 && p > text && p[-1] == ' ';
            str_printf(out, "%s%s", blank ? " " : "", part);
            col += utf8_str_width(part) + blank;
            free(part);
        }
        p += take;
        if (*p == ' ' && take == n)
            p++;
        else if (*p) {
            str_printf(out, "\n%*s", indent, "");
            col = 0;
        }
        free(word);
    }
    str_addc(out, '\n');
}

static void one(const struct check *c, const struct check_finding *f, const char *text, size_t len,
                const struct check_style *style, struct str *out)
{
    bool error = f->level == CHECK_ERROR;
    char clean[2000], label[40];
    char *what = manifest_shortened(*f->said ? f->said : f->why);
    str_printf(out, "%s:%d:%d: %s%s:%s ", c->file, f->line, f->col,
               !style->colour ? ""
               : error        ? RED
                              : YELLOW,
               error ? _("error") : _("warning"), style->colour ? PLAIN : "");
    k8s_clean(clean, sizeof clean, what, strlen(what));
    free(what);
    if (*f->path && *f->said && !strstr(f->said, f->path) && f->said[0] != '.')
        str_printf(out, "%s: ", f->path);
    str_printf(out, "%s [%s]\n", clean, f->cause);
    excerpt(f, text, len, style->colour, out);
    if (*f->said && *f->why) {
        str_fmt(label, sizeof label, "      = %s: ", _("why"));
        fold(label, f->why, style->columns, out);
    }
    if (*f->next) {
        str_fmt(label, sizeof label, "      = %s: ", _("next step"));
        fold(label, f->next, style->columns, out);
    }
}

static void objects(const struct check *c, struct str *out)
{
    str_printf(out, _("%s: objects: %zu: "), c->file, c->objects_n);
    for (size_t i = 0; i < c->objects_n; i++) {
        char clean[400];
        const char *name = c->objects[i].name;
        k8s_clean(clean, sizeof clean, name, strlen(name));
        str_printf(out, "%s%s %s", i ? ", " : "",
                   *c->objects[i].kind ? c->objects[i].kind : "?", *clean ? clean : "?");
    }
    str_addc(out, '\n');
}

void check_print(const struct check *c, const char *text, size_t len,
                 const struct check_style *style, struct str *out)
{
    size_t errors = check_errors(c);
    if (c->objects_n)
        objects(c, out);
    for (size_t i = 0; i < c->n; i++)
        one(c, &c->v[i], text, len, style, out);
    if (c->n == 0)
        str_printf(out, _("%s: nothing is wrong that can be seen without the cluster\n"), c->file);
    else
        str_printf(out, _("%s: errors: %zu, warnings: %zu\n"), c->file, errors, c->n - errors);
}
