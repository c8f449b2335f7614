/* keymap.c - reading the person's keys (keymap.h). */
#include "tui/keymap.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/base/yaml.h"
#include "tui/cmd.h"

static const struct { const char *name; unsigned view; } views[] = {
    {"catalogue", VIEW_CATALOGUE}, {"step", VIEW_STEP}, {"cluster", VIEW_CLUSTER},
    {"log", VIEW_LOG}, {"curve", VIEW_CURVE}, {"api", VIEW_API}, {"why", VIEW_WHY},
    {"build", VIEW_BUILD}, {"train", VIEW_TRAIN}, {"runs", VIEW_RUNS}, {"pods", VIEW_PODS},
    {"nodes", VIEW_NODES}, {"events", VIEW_EVENTS}, {"object", VIEW_OBJECT}, {"yaml", VIEW_YAML},
    {"contexts", VIEW_CTX}, {"namespaces", VIEW_NS}, {"connection", VIEW_CONN},
    {"rights", VIEW_RIGHTS}, {"shell", VIEW_SHELL}, {"forwards", VIEW_FORWARDS},
    {"settings", VIEW_SETTINGS}, {"messages", VIEW_MESSAGES}, {"keys", VIEW_KEYS},
    {"help", VIEW_HELP}, {"editor", VIEW_EDIT}, {"question", VIEW_CONFIRM},
};

/* They lead out, or to everything else: never without a key. */
static const char *const kept[] = {"back", "quit", "palette", "confirm.no", "edit.close",
                                   "shell.back"};

/* One entry of the file. */
struct wish {
    const struct cmd *cmd;
    unsigned views;
    char keys[KEYMAP_KEYS];
    int line, col;
    unsigned said;               /* of which keys something was said; bits */
};

struct reader {
    const char *name;
    struct faults *faults;
    struct wish *wish;
    size_t n;
};

/* --- names ------------------------------------------------------------------- */
const char *keymap_view_name(unsigned view)
{
    for (size_t i = 0; i < ARRAY_LEN(views); i++)
        if (views[i].view == view)
            return views[i].name;
    return NULL;
}

unsigned keymap_view_at(size_t i)
{
    return i < ARRAY_LEN(views) ? views[i].view : 0;
}

bool keymap_has(const char *keys, const char *key)
{
    size_t n = strlen(key);
    for (const char *p = keys; *p;) {
        size_t w = strcspn(p, " ");
        if (w == n && memcmp(p, key, n) == 0)
            return true;
        p += w + (p[w] == ' ');
    }
    return false;
}

bool keymap_key_ok(const char *key)
{
    static const char *const named[] = {
        "Space", "Enter", "Tab", "Backspace", "Esc", "Up", "Down", "Left", "Right", "Home",
        "End", "PgUp", "PgDn", "Ins", "Del", "F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8",
        "F9", "F10", "F11", "F12"};
    while ((key[0] == 'C' || key[0] == 'M' || key[0] == 'S') && key[1] == '-' && key[2])
        key += 2;
    for (size_t i = 0; i < ARRAY_LEN(named); i++)
        if (str_eq(named[i], key))
            return true;
    int n = 0;
    uint32_t cp = utf8_decode(key, strlen(key), &n);
    return n > 0 && key[n] == '\0' && cp > ' ' && utf8_width(cp) > 0;
}

static bool is_kept(const struct cmd *c)
{
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (str_eq(kept[i], c->name))
            return true;
    return false;
}

const char *keymap_keys(const struct keymap *k, const struct cmd *c, unsigned view)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->v[i].cmd == c && (k->v[i].views & view))
            return k->v[i].keys;
    return c->keys;
}

void keymap_release(struct keymap *k)
{
    free(k->v);
    memset(k, 0, sizeof *k);
}

/* --- the file ---------------------------------------------------------------- */
static bool add_key(struct reader *r, struct wish *w, const struct ynode *n)
{
    char keys[KEYMAP_KEYS];
    if (n->kind == Y_SEQ || n->kind == Y_MAP || n->kind == Y_NULL || !n->text) {
        faults_add(r->faults, r->name, n->line, n->col, _("a key is a text, such as r or F5"));
    } else if (!keymap_key_ok(n->text)) {
        faults_add(r->faults, r->name, n->line, n->col,
                   _("'%.40s' is no key: one character, or a name such as Enter, PgUp, F5, C-r"),
                   n->text);
    } else if (strlen(w->keys) + strlen(n->text) + 2 > sizeof w->keys) {
        faults_add(r->faults, r->name, n->line, n->col, _("too many keys for one command"));
    } else if (!keymap_has(w->keys, n->text)) {
        str_copy(keys, sizeof keys, w->keys);
        str_fmt(w->keys, sizeof w->keys, "%s%s%s", keys, keys[0] ? " " : "", n->text);
        return true;
    }
    return false;
}

static const struct cmd *find_command(struct reader *r, const struct ynode *n)
{
    const struct cmd *c = cmd_by_name(n->key);
    const char *names[512];
    size_t count = 0;
    if (c)
        return c;
    for (size_t i = 0; i < cmd_count() && count < ARRAY_LEN(names); i++)
        names[count++] = cmd_at(i)->name;
    const char *near = str_nearest(n->key, names, count);
    faults_add(r->faults, r->name, n->key_line, n->key_col,
               near ? _("there is no command '%.40s'; did you mean '%s'?")
                    : _("there is no command '%.40s'%s"), n->key, near ? near : "");
    return NULL;
}

static void read_bind(struct reader *r, const struct ynode *n, unsigned mask)
{
    const struct cmd *c = find_command(r, n);
    if (!c)
        return;
    if (!(c->views & mask)) {
        faults_add(r->faults, r->name, n->key_line, n->key_col, _("'%s' has no place in this view"),
                   c->name);
        return;
    }
    struct wish w = {.cmd = c, .views = c->views & mask, .line = n->key_line, .col = n->key_col};
    size_t good = 0, tried = 0;
    if (n->kind == Y_SEQ) {
        for (const struct ynode *k = n->first; k; k = k->next, tried++)
            good += add_key(r, &w, k);
    } else {
        tried = 1;
        good = add_key(r, &w, n);
    }
    if (is_kept(c) && !w.keys[0])
        faults_add(r->faults, r->name, n->line, n->col, _("'%s' can't be without a key"), c->name);
    else if (good > 0 || tried == 0) {
        r->wish = xrealloc_array(r->wish, r->n + 1, sizeof *r->wish);
        r->wish[r->n++] = w;
    }
}

static void read_map(struct reader *r, const struct ynode *map, unsigned mask)
{
    if (map->kind != Y_MAP && map->kind != Y_NULL)
        faults_add(r->faults, r->name, map->line, map->col,
                   _("a map of command: keys belongs here"));
    for (const struct ynode *n = map->kind == Y_MAP ? map->first : NULL; n; n = n->next)
        read_bind(r, n, mask);
}

static void read_views(struct reader *r, const struct ynode *map)
{
    const char *names[ARRAY_LEN(views)];
    for (size_t i = 0; i < ARRAY_LEN(views); i++)
        names[i] = views[i].name;
    for (const struct ynode *n = map->kind == Y_MAP ? map->first : NULL; n; n = n->next) {
        unsigned view = 0;
        for (size_t i = 0; i < ARRAY_LEN(views); i++)
            view |= str_eq(views[i].name, n->key) ? views[i].view : 0;
        const char *near = str_nearest(n->key, names, ARRAY_LEN(names));
        if (view)
            read_map(r, n, view);
        else
            faults_add(r->faults, r->name, n->key_line, n->key_col,
                       near ? _("there is no view '%.40s'; did you mean '%s'?")
                            : _("there is no view '%.40s'%s"), n->key, near ? near : "");
    }
}

/* Views first: in their view they stand before what holds everywhere. */
static void read_root(struct reader *r, const struct ynode *root)
{
    const struct ynode *in_views = yaml_get(root, "views"), *all = yaml_get(root, "keys");
    if (root->kind != Y_MAP) {
        faults_add(r->faults, r->name, root->line, root->col, _("a map with keys: and views:"));
        return;
    }
    if (in_views)
        read_views(r, in_views);
    if (all)
        read_map(r, all, ~0u);
    for (const struct ynode *n = root->first; n; n = n->next)
        if (!str_eq(n->key, "views") && !str_eq(n->key, "keys") && !str_starts(n->key, "x-"))
            faults_add(r->faults, r->name, n->key_line, n->key_col,
                       _("'%.40s' is not known here (keys, views)"), n->key);
}

/* --- who has which key --------------------------------------------------------- */
static struct wish *wish_of(const struct reader *r, const struct cmd *c, unsigned view)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->wish[i].cmd == c && (r->wish[i].views & view))
            return &r->wish[i];
    return NULL;
}

/* The wish of another command that has this key in a view; `before`: only what
 * stands above that one counts. */
static struct wish *taker(const struct reader *r, const char *key, unsigned view,
                          const struct cmd *c, const struct wish *before)
{
    for (size_t i = 0; i < r->n && &r->wish[i] != before; i++) {
        struct wish *w = &r->wish[i];
        if (w->cmd != c && wish_of(r, w->cmd, view) == w && keymap_has(w->keys, key))
            return w;
    }
    return NULL;
}

/* The kept command whose default this key is, unless the file gave it others. */
static const struct cmd *keeper(const struct reader *r, const char *key, unsigned view,
                                const struct cmd *c)
{
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        const struct cmd *k = cmd_by_name(kept[i]);
        if (k && k != c && (k->views & view) && !wish_of(r, k, view) && keymap_has(k->keys, key))
            return k;
    }
    return NULL;
}

/* Of each key of a wish something is said once, not in every view. */
static bool first_time(struct wish *w, size_t key)
{
    unsigned bit = 1u << MIN(key, 31u);
    bool first = !(w->said & bit);
    w->said |= bit;
    return first;
}

/* May a wish have this key here? */
static bool granted(struct reader *r, struct wish *w, size_t i, const char *key, unsigned view)
{
    const struct cmd *keep = keeper(r, key, view, w->cmd);
    const struct wish *t = taker(r, key, view, w->cmd, w);
    if (keep && first_time(w, i))
        faults_add(r->faults, r->name, w->line, w->col,
                   _("%s is the key of '%s' in the view %s; give that one other keys first"), key,
                   keep->name, keymap_view_name(view));
    else if (!keep && t && first_time(w, i))
        faults_add(r->faults, r->name, w->line, w->col,
                   _("%s is already the key of '%s' in the view %s (line %d)"), key, t->cmd->name,
                   keymap_view_name(view), t->line);
    return !keep && !t;
}

/* Does a default keep its key here? */
static bool left_alone(struct reader *r, const struct cmd *c, const char *key, unsigned view)
{
    struct wish *t = taker(r, key, view, c, NULL);
    if (!t || keeper(r, key, view, t->cmd))
        return true;
    if (first_time(t, 31))
        faults_note(r->faults, r->name, t->line, t->col,
                    _("%s is taken from '%s' in the view %s"), key, c->name,
                    keymap_view_name(view));
    return false;
}

/* The keys of c in a view, without those of others. */
static void resolve(struct reader *r, const struct cmd *c, unsigned view, char out[KEYMAP_KEYS])
{
    struct wish *w = wish_of(r, c, view);
    struct strv keys;
    size_t used = 0;
    out[0] = '\0';
    strv_init(&keys);
    strv_split(&keys, w ? w->keys : c->keys, ' ');
    for (size_t i = 0; i < keys.n; i++) {
        const char *key = keys.v[i];
        if (*key && (w ? granted(r, w, i, key, view) : left_alone(r, c, key, view)))
            used += (size_t)snprintf(out + used, KEYMAP_KEYS - used, "%s%s", used ? " " : "", key);
    }
    strv_release(&keys);
}

static void add_bind(struct keymap *k, const struct cmd *c, unsigned view, const char *keys)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->v[i].cmd == c && str_eq(k->v[i].keys, keys)) {
            k->v[i].views |= view;
            return;
        }
    k->v = xrealloc_array(k->v, k->n + 1, sizeof *k->v);
    struct keymap_bind *b = &k->v[k->n++];
    *b = (struct keymap_bind){.cmd = c, .views = view};
    str_copy(b->keys, sizeof b->keys, keys);
}

static void resolve_all(struct reader *r, struct keymap *out)
{
    for (size_t v = 0; v < ARRAY_LEN(views); v++)
        for (size_t i = 0; i < cmd_count(); i++) {
            const struct cmd *c = cmd_at(i);
            char keys[KEYMAP_KEYS];
            if (!(c->views & views[v].view))
                continue;
            resolve(r, c, views[v].view, keys);
            if (!str_eq(keys, c->keys))
                add_bind(out, c, views[v].view, keys);
        }
}

void keymap_parse(const char *name, const char *text, size_t len, struct keymap *out,
                  struct faults *faults)
{
    struct reader r = {.name = name, .faults = faults};
    struct ydoc *docs = NULL;
    struct pd_err err = {0};
    memset(out, 0, sizeof *out);
    if (yaml_parse(name, text, len, &docs, &err) != PD_OK) {
        faults_add_err(faults, &err);
        return;
    }
    if (docs && docs->root && docs->root->kind != Y_NULL)
        read_root(&r, docs->root);
    yaml_docs_free(docs);
    resolve_all(&r, out);
    free(r.wish);
}
