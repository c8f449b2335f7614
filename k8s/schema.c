/* schema.c - reads the embedded table into types and fields, once (schema.h). */
#include "k8s/schema.h"

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/base/str.h"

static struct {
    char *text;                  /* the table, cut at spaces and line ends */
    struct schema_type *type;
    struct schema_field *field;
    int *inlined;                /* fields "~" behind the n of a type */
    int n;
} table;

/* --- reading --- */

static void mark_list(struct schema_field *f, const char *v)
{
    f->list = !strcmp(v, "map") ? SCHEMA_LISTMAP : SCHEMA_SET;
}

static void mark_strategy(struct schema_field *f, const char *v)
{
    f->merge = strstr(v, "merge") != NULL;
    f->retain_keys = strstr(v, "retainKeys") != NULL;
    f->replace = strstr(v, "replace") != NULL;
}

static void read_mark(struct schema_field *f, const char *word)
{
    const char *v = word[0] && word[1] == '=' ? word + 2 : "";
    switch (word[0]) {
    case '!': f->required = true; break;
    case 'a': f->atomic = true; break;
    case 'L': mark_list(f, v); break;
    case 'K': f->list_keys = v; break;
    case 'M': f->merge_key = v; break;
    case 'P': mark_strategy(f, v); break;
    case 'E': f->enums = v; break;
    case 'D': f->def = v; break;
    default: PD_BUG("schema.txt: unknown mark \"%s\"", word);
    }
}

static void read_value(struct schema_field *f, const char *v)
{
    static const char letters[] = "silbdtuyqxo";
    f->shape = *v == '[' ? SCHEMA_LIST : *v == '{' ? SCHEMA_MAP : SCHEMA_ONE;
    v += f->shape != SCHEMA_ONE;
    const char *at = v[1] ? NULL : strchr(letters, *v);
    if (at) {
        f->base = (enum schema_base)(at - letters);
        return;
    }
    f->base = SCHEMA_OBJECT;
    f->ref = schema_named(v);
    if (!f->ref)
        PD_BUG("schema.txt: no type \"%s\"", v);
}

/* Cut the next word of the line off; NULL at its end. */
static char *next_word(char **p)
{
    char *s = *p;
    if (!s || !*s)
        return NULL;
    char *space = strchr(s, ' ');
    if (space)
        *space = '\0';
    *p = space ? space + 1 : NULL;
    return s;
}

static void read_field(struct schema_field *f, char *line)
{
    const char *name = next_word(&line), *number = next_word(&line), *value = next_word(&line);
    int64_t proto = 0;
    if (!name || !number || !value || !str_to_i64(number, &proto))
        PD_BUG("schema.txt: a bad field line");
    f->name = strcmp(name, "~") == 0 ? "" : name;
    f->proto = (int)proto;
    read_value(f, value);
    for (const char *w = next_word(&line); w; w = next_word(&line))
        read_mark(f, w);
}

static void read_type(struct schema_type *t, char *line)
{
    t->name = next_word(&line);
    for (char *w = next_word(&line); w; w = next_word(&line)) {
        if (!str_starts(w, "gvk=")) {
            t->atomic = true;
            continue;
        }
        char *version = strchr(w, ','), *kind = strrchr(w, ',');
        assert(version && kind != version);
        *version = *kind = '\0';
        t->group = w + 4;
        t->version = version + 1;
        t->kind = kind + 1;
    }
}

/* Types first, since fields refer to any of them. Keeps each field line. */
static void read_lines(char **line, int lines)
{
    int fields = 0;
    for (int i = 0; i < lines; i++) {
        if (line[i][0] == '=') {
            struct schema_type *t = &table.type[table.n++];
            t->field = &table.field[fields];
            read_type(t, line[i] + 1);
        } else {
            struct schema_type *t = &table.type[table.n - 1];
            if (line[i][0] == '~')
                table.inlined[table.n - 1]++;
            else
                t->n++;
            fields++;
        }
    }
    for (int i = 0, f = 0; i < lines; i++)
        if (line[i][0] != '=')
            read_field(&table.field[f++], line[i]);
}

static void load(void)
{
    size_t len;
    const char *data = schema_data_text(&len);
    table.text = xstrndup(data, len);
    char **line = xcalloc(len / 4 + 1, sizeof *line);
    int n = 0;
    for (char *p = table.text; p && *p;) {
        char *nl = strchr(p, '\n');
        if (nl)
            *nl = '\0';
        if (*p && *p != '#')
            line[n++] = p;
        p = nl ? nl + 1 : NULL;
    }
    table.type = xcalloc((size_t)n, sizeof *table.type);
    table.field = xcalloc((size_t)n, sizeof *table.field);
    table.inlined = xcalloc((size_t)n, sizeof *table.inlined);
    read_lines(line, n);
    free(line);
}

static void need(void)
{
    if (!table.text)
        load();
}

/* --- asking --- */

const struct schema_type *schema_named(const char *name)
{
    need();
    int lo = 0, hi = table.n;                 /* sorted by name */
    while (lo < hi) {
        int mid = (lo + hi) / 2, c = strcmp(name, table.type[mid].name);
        if (c == 0)
            return &table.type[mid];
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

const struct schema_type *schema_type(const char *api_version, const char *kind)
{
    need();
    if (!api_version || !kind)
        return NULL;
    for (int i = 0; i < table.n; i++) {
        const struct schema_type *t = &table.type[i];
        char gv[96];
        if (!t->kind || strcmp(t->kind, kind) != 0)
            continue;
        str_fmt(gv, sizeof gv, "%s%s%s", t->group, *t->group ? "/" : "", t->version);
        if (!strcmp(gv, api_version))
            return t;
    }
    return NULL;
}

const struct schema_field *schema_field(const struct schema_type *t, const char *name)
{
    int lo = 0, hi = t ? t->n : 0;            /* sorted by name */
    while (lo < hi) {
        int mid = (lo + hi) / 2, c = strcmp(name, t->field[mid].name);
        if (c == 0)
            return &t->field[mid];
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

const struct schema_field *schema_proto(const struct schema_type *t, int number)
{
    int all = t->n + table.inlined[t - table.type];
    for (int i = 0; i < all && number > 0; i++)
        if (t->field[i].proto == number)
            return &t->field[i];
    return NULL;
}

/* Skip "[0]" or "['key']" at p. */
static const char *skip_index(const char *p)
{
    while (*p == '[') {
        const char *end = p[1] == '\'' ? strstr(p, "']") : strchr(p, ']');
        if (!end)
            return p + strlen(p);
        p = end + (p[1] == '\'' ? 2 : 1);
    }
    return p;
}

const struct schema_field *schema_at(const struct schema_type *t, const char *path)
{
    const struct schema_field *f = NULL;
    while (t && *path) {
        char name[128];
        size_t n = strcspn(path, ".[");
        if (n >= sizeof name)
            return NULL;
        memcpy(name, path, n);
        name[n] = '\0';
        f = schema_field(t, name);
        if (!f)
            return NULL;
        path = skip_index(path + n);
        if (f->shape == SCHEMA_MAP && *path == '.')    /* the map's key */
            path = skip_index(path + 1 + strcspn(path + 1, ".["));
        t = f->ref;
        if (*path == '.')
            path++;
        else
            break;
    }
    return *path ? NULL : f;
}

const struct schema_type *schema_each(int index)
{
    need();
    return index >= 0 && index < table.n ? &table.type[index] : NULL;
}
