/* dx.c - the pen of the rules: findings, sentences, cited fields (dx.h). */
#include "k8s/explain/dx.h"

#include "core/base/utf8.h"

enum { VALUE_MOST = 400 };

/* Text of the cluster never controls a terminal. */
static const char *clean(struct dx *d, const char *text, size_t most)
{
    struct str s;
    str_init(&s, most + 16);
    utf8_clean(text, strlen(text), false, &s);
    if (s.full)
        str_add(&s, "…");
    const char *out = arena_strdup(&d->out->arena, s.p);
    str_release(&s);
    return out;
}

static const char *vsay(struct dx *d, const char *fmt, va_list ap)
{
    struct str s;
    str_init(&s, 8192);
    str_vprintf(&s, fmt, ap);
    const char *out = clean(d, s.p, 4096);
    str_release(&s);
    return out;
}

const char *dx_say(struct dx *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *out = vsay(d, fmt, ap);
    va_end(ap);
    return out;
}

const char *dx_fill(struct dx *d, const char *text, const char *a, const char *b, const char *c)
{
    const char *values[] = {a, b, c}, *at;
    struct str s;
    int n = 0;
    text = _(text);
    str_init(&s, 8192);
    for (; (at = strstr(text, "%s")) && n < 3; text = at + 2) {
        str_append(&s, text, (size_t)(at - text));
        str_add(&s, values[n++]);
    }
    str_add(&s, text);
    const char *out = clean(d, s.p, 4096);
    str_release(&s);
    return out;
}

void dx_found(struct dx *d, const char *cause, int weight, enum sure sure, const char *fmt, ...)
{
    struct explanation *e = d->out;
    va_list ap;
    if (e->n == e->cap) {
        e->cap = e->cap ? 2 * e->cap : 8;
        e->v = xrealloc_array(e->v, e->cap, sizeof *e->v);
    }
    d->f = &e->v[e->n++];
    memset(d->f, 0, sizeof *d->f);
    d->f->cause = cause;
    d->f->weight = weight;
    d->f->sure = sure;
    d->f->command = "";
    va_start(ap, fmt);
    d->f->text = vsay(d, fmt, ap);
    va_end(ap);
}

void dx_line(struct dx *d, const char *fmt, ...)
{
    va_list ap;
    if (d->f->lines == FINDING_LINES)
        return;
    va_start(ap, fmt);
    d->f->line[d->f->lines++] = vsay(d, fmt, ap);
    va_end(ap);
}

void dx_fix(struct dx *d, const char *fmt, ...)
{
    va_list ap;
    if (d->f->fixes == FINDING_FIXES)
        return;
    va_start(ap, fmt);
    d->f->fix[d->f->fixes++] = vsay(d, fmt, ap);
    va_end(ap);
}

void dx_command(struct dx *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    d->f->command = vsay(d, fmt, ap);
    va_end(ap);
}

/* --- cited fields --------------------------------------------------------------- */
static const char *value_text(struct dx *d, const struct json *v)
{
    const char *text = json_string_value(v);
    if (text)
        return clean(d, text, VALUE_MOST);
    char *printed = json_text(v, 0);
    const char *out = clean(d, printed, VALUE_MOST);
    free(printed);
    return out;
}

static void proof(struct dx *d, const char *file, const char *path, const char *value)
{
    struct finding *f = d->f;
    for (int i = 0; i < f->proofs; i++)
        if (str_eq(f->proof[i].file, file) && str_eq(f->proof[i].path, path))
            return;
    if (f->proofs < FINDING_PROOFS)
        f->proof[f->proofs++] = (struct proof){file, path, value};
}

void dx_cite(struct dx *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *path = vsay(d, fmt, ap);
    va_end(ap);
    const struct json *v = json_at(d->o, path);
    if (v)
        proof(d, arena_strdup(&d->out->arena, d->s->object_file), path, value_text(d, v));
}

void dx_cite_item(struct dx *d, const struct snap_item *item, const char *fmt, ...)
{
    va_list ap;
    if (!item)
        return;
    va_start(ap, fmt);
    const char *path = vsay(d, fmt, ap);
    va_end(ap);
    const struct json *v = json_at(item->o, path);
    if (v)
        proof(d, arena_strdup(&d->out->arena, item->file),
              dx_say(d, "%s%s%s", item->prefix, item->prefix[0] ? "." : "", path),
              value_text(d, v));
}

void dx_cite_event(struct dx *d, const struct snap_item *event)
{
    dx_cite_item(d, event, "reason");
    dx_cite_item(d, event, "message");
}

void dx_cite_image(struct dx *d, const char *path)
{
    const struct json *v = json_at(d->s->image, path);
    if (v)
        proof(d, arena_strdup(&d->out->arena, d->s->image_file), arena_strdup(&d->out->arena, path),
              value_text(d, v));
}

void dx_cite_log(struct dx *d, const char *line)
{
    if (line)
        proof(d, arena_strdup(&d->out->arena, d->s->log_file), "", clean(d, line, VALUE_MOST));
}

const char *dx_member(struct dx *d, const char *key)
{
    bool plain = key[0] != '\0';
    for (const char *p = key; *p; p++)
        plain &= (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
                 *p == '_' || *p == '-';
    return dx_say(d, plain ? ".%s" : "['%s']", key);
}

void dx_cite_end(struct dx *d, const char *line)
{
    dx_cite_log(d, line);
    dx_cite(d, "%s.exitCode", d->c.ended_at);
}
