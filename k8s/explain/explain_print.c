/* explain_print.c - an explanation as people read it, and as JSON (explain.h). */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "k8s/explain/explain.h"

/* Bytes of the first line: up to the last blank that fits; anywhere in a text
 * without blanks (Chinese, paths). */
static size_t line_bytes(const char *p, int room)
{
    size_t n = utf8_cut(p, room), at = n;
    if (p[n] == '\0' || p[n] == ' ')
        return n;
    while (at > 0 && p[at] != ' ')
        at--;
    return utf8_str_width(p) > room && at > n / 2 ? at : MAX(n, 1);
}

static void wrap(struct str *out, int indent, const char *text, int width)
{
    int room = width > 0 ? MAX(width - indent, 16) : 1 << 20;
    const char *p = text;
    do {
        size_t n = line_bytes(p, room);
        str_printf(out, "%*s%.*s\n", indent, "", (int)n, p);
        p += n;
        while (*p == ' ')
            p++;
    } while (*p);
}

static void heading(struct str *out, const char *text)
{
    str_printf(out, "\n%s\n", text);
}

static void proofs(const struct finding *f, int width, struct str *out)
{
    for (int i = 0; i < f->proofs; i++) {
        const struct proof *p = &f->proof[i];
        struct str line;
        str_init(&line, 4096);
        str_printf(&line, "%s%s%s = %s", p->file, p->path[0] ? ": " : "", p->path, p->value);
        wrap(out, 2, line.p, width);
        str_release(&line);
    }
}

static void finding(const struct finding *f, int width, struct str *out)
{
    wrap(out, 0, f->text, width);
    for (int i = 0; i < f->lines; i++)
        if (f->line[i][0])
            wrap(out, 2, f->line[i], width);
    if (f->proofs) {
        heading(out, _("Evidence"));
        proofs(f, width, out);
    }
    if (f->fixes) {
        heading(out, _("Next step"));
        for (int i = 0; i < f->fixes; i++)
            wrap(out, 2, f->fix[i], width);
    }
    if (f->command[0])
        str_printf(out, "  $ %s\n", f->command);
}

void explanation_print(const struct explanation *e, int width, struct str *out)
{
    str_printf(out, "%s %s/%s: %s (%s)\n\n", e->kind, e->ns, e->name, e->v[0].cause,
               _(sure_name(e->v[0].sure)));
    finding(&e->v[0], width, out);
    for (size_t i = 1; i < e->n; i++) {
        if (i == 1)
            heading(out, _("Also"));
        str_printf(out, "  %s (%s)\n", e->v[i].cause, _(sure_name(e->v[i].sure)));
        wrap(out, 4, e->v[i].text, width);
    }
}

static struct json *finding_json(const struct finding *f)
{
    struct json *o = json_new_object(), *lines = json_new_array(), *proof = json_new_array();
    struct json *fixes = json_new_array();
    json_put_str(o, "cause", f->cause);
    json_put_str(o, "confidence", sure_name(f->sure));
    json_put_str(o, "text", f->text);
    for (int i = 0; i < f->lines; i++)
        json_append(lines, json_new_string(f->line[i]));
    for (int i = 0; i < f->proofs; i++) {
        struct json *p = json_new_object();
        json_put_str(p, "file", f->proof[i].file);
        json_put_str(p, "path", f->proof[i].path);
        json_put_str(p, "value", f->proof[i].value);
        json_append(proof, p);
    }
    for (int i = 0; i < f->fixes; i++)
        json_append(fixes, json_new_string(f->fix[i]));
    json_set(o, "details", lines);
    json_set(o, "evidence", proof);
    json_set(o, "fix", fixes);
    json_put_str(o, "command", f->command);
    return o;
}

struct json *explanation_json(const struct explanation *e)
{
    struct json *o = json_new_object(), *also = json_new_array();
    json_put_str(o, "kind", e->kind);
    json_put_str(o, "namespace", e->ns);
    json_put_str(o, "name", e->name);
    json_set(o, "primary", finding_json(&e->v[0]));
    for (size_t i = 1; i < e->n; i++)
        json_append(also, finding_json(&e->v[i]));
    json_set(o, "also", also);
    return o;
}
