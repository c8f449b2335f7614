/* diff.c - unified differences of objects and texts (diff.h). */
#include "k8s/rules/diff.h"

#include "core/base/mem.h"
#include "core/base/yaml_out.h"

enum { CONTEXT = 3, CELLS_MAX = 16 << 20 };

/* --- objects --- */

/* Same and changed values can be told apart, the values themselves can't. */
static void mask(struct json *data, const struct json *other, const char *mark)
{
    char text[40];
    for (struct json *m = json_first_mut(data), *next; m; m = next) {
        const struct json *theirs = json_get(other, json_key(m));
        bool changed = theirs && !json_equal(theirs, m);
        next = json_next_mut(m);
        str_fmt(text, sizeof text, "***%s%s%s", changed ? " (" : "", changed ? mark : "",
                changed ? ")" : "");
        json_replace(data, m, json_new_string(text));
    }
}

/* Without what the server keeps for itself. */
static struct json *stripped(const struct json *o)
{
    static const char *const own[] = {"managedFields", "resourceVersion", "generation", "uid",
                                      "creationTimestamp", "selfLink"};
    struct json *c = json_copy(o), *meta = json_get_mut(c, "metadata");
    static const char last[] = "kubectl.kubernetes.io/last-applied-configuration";
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        json_remove(meta, own[i]);
    json_remove(json_get_mut(meta, "annotations"), last);
    json_remove(c, "status");
    return c;
}

bool diff_same(const struct json *a, const struct json *b)
{
    struct json *x = stripped(a), *y = stripped(b);
    bool same = json_equal(x, y);
    json_free(x);
    json_free(y);
    return same;
}

static struct json *shown(const struct json *o, const struct json *other, const char *mark)
{
    static const char *const secrets[] = {"data", "stringData"};
    struct json *c = stripped(o);
    if (!strcmp(json_str(c, "kind", ""), "Secret"))
        for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
            mask(json_get_mut(c, secrets[i]), json_get(other, secrets[i]), mark);
    return c;
}

void diff_objects(const struct json *live, const struct json *merged, const char *name,
                  struct str *out)
{
    struct str a, b;
    char from[420], to[420];
    str_init(&a, 16 << 20);
    str_init(&b, 16 << 20);
    struct json *x = live ? shown(live, merged, "before") : NULL;
    struct json *y = merged ? shown(merged, live, "after") : NULL;
    if (x)
        yaml_out(x, &a);
    if (y)
        yaml_out(y, &b);
    str_fmt(from, sizeof from, "LIVE/%s", name);
    str_fmt(to, sizeof to, "MERGED/%s", name);
    diff_texts(a.p, b.p, from, to, out);
    json_free(x);
    json_free(y);
    str_release(&a);
    str_release(&b);
}

/* --- texts --- */

struct side {
    struct strv lines;
};

struct hunks {
    struct side a, b;
    unsigned char *keep_a, *keep_b;      /* 1: the line is in both */
    struct str *out;
};

static void lines_of(struct side *s, const char *text)
{
    strv_init(&s->lines);
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "\n");
        strv_pushf(&s->lines, "%.*s", (int)n, p);
        p += n + (p[n] == '\n');
    }
}

/* The longest common subsequence of a[from..na), b[from..nb), marked. */
static void common(struct hunks *h, size_t from, size_t na, size_t nb)
{
    size_t n = na - from, m = nb - from, w = m + 1;
    if (n == 0 || m == 0 || (n + 1) * w > CELLS_MAX)
        return;                                   /* all of it changes, then */
    unsigned *len = xcalloc((n + 1) * w, sizeof *len);
    for (size_t i = n; i-- > 0;)
        for (size_t j = m; j-- > 0;)
            len[i * w + j] = !strcmp(h->a.lines.v[from + i], h->b.lines.v[from + j])
                                 ? len[(i + 1) * w + j + 1] + 1
                                 : MAX(len[(i + 1) * w + j], len[i * w + j + 1]);
    for (size_t i = 0, j = 0; i < n && j < m;) {
        if (!strcmp(h->a.lines.v[from + i], h->b.lines.v[from + j])) {
            h->keep_a[from + i++] = 1;
            h->keep_b[from + j++] = 1;
        } else if (len[(i + 1) * w + j] >= len[i * w + j + 1]) {
            i++;
        } else {
            j++;
        }
    }
    free(len);
}

/* Equal lines at both ends first: what is left is small as a rule. */
static void match(struct hunks *h)
{
    size_t na = h->a.lines.n, nb = h->b.lines.n, from = 0;
    while (from < na && from < nb && !strcmp(h->a.lines.v[from], h->b.lines.v[from])) {
        h->keep_a[from] = h->keep_b[from] = 1;
        from++;
    }
    while (na > from && nb > from && !strcmp(h->a.lines.v[na - 1], h->b.lines.v[nb - 1]))
        h->keep_a[--na] = h->keep_b[--nb] = 1;
    common(h, from, na, nb);
}

/* One hunk from (i, j), which have CONTEXT equal lines before them at most. */
static void hunk(struct hunks *h, size_t *i, size_t *j)
{
    struct str body;
    size_t a0 = *i, b0 = *j, equal = 0, na = h->a.lines.n, nb = h->b.lines.n;
    str_init(&body, 16 << 20);
    while (*i < na || *j < nb) {
        if (*i < na && !h->keep_a[*i]) {
            str_printf(&body, "-%s\n", h->a.lines.v[(*i)++]);
            equal = 0;
        } else if (*j < nb && !h->keep_b[*j]) {
            str_printf(&body, "+%s\n", h->b.lines.v[(*j)++]);
            equal = 0;
        } else {
            size_t ahead = 0;                     /* equal lines from here on */
            while (*i + ahead < na && *j + ahead < nb && h->keep_a[*i + ahead] &&
                   h->keep_b[*j + ahead])
                ahead++;
            bool last = *i + ahead >= na && *j + ahead >= nb;
            if (equal >= CONTEXT && (last || ahead > CONTEXT))
                break;
            str_printf(&body, " %s\n", h->a.lines.v[*i]);
            (*i)++;
            (*j)++;
            equal++;
        }
    }
    str_printf(h->out, "@@ -%zu,%zu +%zu,%zu @@\n%s", *i > a0 ? a0 + 1 : a0, *i - a0,
               *j > b0 ? b0 + 1 : b0, *j - b0, body.p);
    str_release(&body);
}

static bool differs_soon(const struct hunks *h, size_t i, size_t j)
{
    for (size_t k = 0; k <= CONTEXT; k++)
        if ((i + k < h->a.lines.n && !h->keep_a[i + k]) ||
            (j + k < h->b.lines.n && !h->keep_b[j + k]))
            return true;
    return false;
}

void diff_texts(const char *a, const char *b, const char *name_a, const char *name_b,
                struct str *out)
{
    struct hunks h = {.out = out};
    if (!strcmp(a, b))
        return;
    lines_of(&h.a, a);
    lines_of(&h.b, b);
    h.keep_a = xcalloc(h.a.lines.n + 1, 1);
    h.keep_b = xcalloc(h.b.lines.n + 1, 1);
    match(&h);
    str_printf(out, "--- %s\n+++ %s\n", name_a, name_b);
    for (size_t i = 0, j = 0; i < h.a.lines.n || j < h.b.lines.n;) {
        if (differs_soon(&h, i, j)) {
            hunk(&h, &i, &j);
        } else {
            i++;
            j++;
        }
    }
    free(h.keep_a);
    free(h.keep_b);
    strv_release(&h.a.lines);
    strv_release(&h.b.lines);
}
