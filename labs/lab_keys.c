/* lab_keys.c - the key tables' checker: unknown, missing and mistyped keys of
 * a lab file, each with its line and column. */
#include "labs/lab_keys.h"

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "labs/match.h"

/* The first five are always watched, the others while a lab asks for them. */
const char *const lab_resources[LAB_RESOURCES] = {
    "nodes", "pods", "jobs", "events", "persistentvolumeclaims", "deployments", "replicasets",
    "statefulsets", "daemonsets", "services", "configmaps", "resourcequotas", "limitranges",
    "serviceaccounts", "cronjobs"};

static const char *kind_text(const struct ynode *n)
{
    static const char *const names[] = {N_("nothing"),  N_("yes or no"), N_("a number"),
                                        N_("a number"), N_("a text"),    N_("a list"),
                                        N_("a map")};
    return _(names[n->kind]);
}

static bool scalar(const struct ynode *n)
{
    return n->kind == Y_BOOL || n->kind == Y_INT || n->kind == Y_FLOAT || n->kind == Y_STRING;
}

bool lab_keys_id_ok(const char *s)
{
    size_t n = strlen(s);
    return n > 0 && n <= 40 && s[0] != '-' &&
           strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

static enum pd_code wrong_type(const char *path, const struct ynode *n, const char *name,
                               const char *want, struct pd_err *err)
{
    return pd_fail_at(err, PD_LAB, path, n->line, n->col,
                      _("\"%s\" must be %s, not %s"), name, want, kind_text(n));
}

static enum pd_code check_text(const char *path, const struct ynode *n, const char *name,
                               struct pd_err *err)
{
    static const char *const langs[] = {"en", "zh"};
    if (scalar(n))
        return PD_OK;
    if (n->kind != Y_MAP || !n->first)
        return wrong_type(path, n, name, _("a text or a map of languages {en: …, zh: …}"), err);
    for (const struct ynode *c = n->first; c; c = c->next) {
        if (str_starts(c->key, "x-"))
            continue;
        if (!str_eq(c->key, "en") && !str_eq(c->key, "zh")) {
            const char *near = str_nearest(c->key, langs, 2);
            return pd_fail_at(err, PD_LAB, path, c->key_line, c->key_col,
                              _("\"%s\" is no language of podium%s%s%s"), c->key,
                              near ? _(": did you mean \"") : _(": use \"en\" or \"zh\""),
                              near ? near : "", near ? "\"?" : "");
        }
        if (!scalar(c))
            return wrong_type(path, c, c->key, _("a text"), err);
    }
    if (!yaml_get(n, "en"))
        return pd_fail_at(err, PD_LAB, path, n->line, n->col, _("\"%s\" has no \"en\" text"), name);
    return PD_OK;
}

static enum pd_code check_strs(const char *path, const struct ynode *n, const char *name,
                               struct pd_err *err)
{
    if (n->kind != Y_SEQ)
        return wrong_type(path, n, name, _("a list of texts"), err);
    for (const struct ynode *c = n->first; c; c = c->next)
        if (!scalar(c))
            return wrong_type(path, c, name, _("a list of texts"), err);
    return PD_OK;
}

static enum pd_code check_res(const char *path, const struct ynode *n, const char *name,
                              struct pd_err *err)
{
    if (!scalar(n))
        return wrong_type(path, n, name, _("a resource"), err);
    for (size_t i = 0; i < LAB_RESOURCES; i++)
        if (str_eq(n->text, lab_resources[i]))
            return PD_OK;
    const char *near = str_nearest(n->text, lab_resources, LAB_RESOURCES);
    return pd_fail_at(err, PD_LAB, path, n->line, n->col, _("\"%s\" is not watched by a lab%s%s%s"),
                      n->text,
                      near ? _(": did you mean \"")
                           : _(": nodes, pods, jobs, events, deployments …"),
                      near ? near : "", near ? "\"?" : "");
}

static enum pd_code check_id(const char *path, const struct ynode *n, const char *name,
                             struct pd_err *err)
{
    if (!scalar(n))
        return wrong_type(path, n, name, "an id", err);
    if (!lab_keys_id_ok(n->text))
        return pd_fail_at(err, PD_LAB, path, n->line, n->col,
                          _("\"%s\" is no id: use a-z, 0-9 and \"-\", at most 40 characters"),
                          n->text);
    return PD_OK;
}

static enum pd_code check_path(const char *path, const struct ynode *n, const char *name,
                               struct pd_err *err)
{
    if (!scalar(n))
        return wrong_type(path, n, name, _("a file"), err);
    if (!path_inside(n->text))
        return pd_fail_at(err, PD_LAB, path, n->line, n->col,
                          _("\"%s\" leaves the folder: no \"..\" and no leading \"/\""), n->text);
    return PD_OK;
}

static enum pd_code check_expect(const char *path, const struct ynode *n, const char *name,
                                 struct pd_err *err)
{
    if (n->kind != Y_MAP || !n->first)
        return wrong_type(path, n, name, _("a map of paths and values"), err);
    enum pd_code rc = PD_OK;
    for (const struct ynode *c = n->first; c && !rc; c = c->next)
        rc = match_lint(path, c, err);
    return rc;
}

static enum pd_code check_match(const char *path, const struct ynode *n, const char *name,
                                struct pd_err *err)
{
    (void)name;
    return match_lint(path, n, err);
}

static enum pd_code check_any(const char *path, const struct ynode *n, const char *name,
                              struct pd_err *err)
{
    (void)path, (void)n, (void)name, (void)err;
    return PD_OK;
}

/* The plain types: a set of node kinds and what to call it. */
static const struct {
    unsigned kinds;
    const char *want;
} plain[] = {
    [LK_STR] = {1u << Y_BOOL | 1u << Y_INT | 1u << Y_FLOAT | 1u << Y_STRING, N_("a text")},
    [LK_NUM] = {1u << Y_INT | 1u << Y_FLOAT, N_("a number")},
    [LK_BOOL] = {1u << Y_BOOL, N_("yes or no")},
    [LK_MAP] = {1u << Y_MAP, N_("a map")},
    [LK_SEQ] = {1u << Y_SEQ, N_("a list")},
    [LK_ANY] = {0, NULL},
};
static enum pd_code (*const deep[])(const char *path, const struct ynode *n, const char *name,
                                    struct pd_err *err) = {
    [LK_TEXT] = check_text, [LK_ID] = check_id,         [LK_STRS] = check_strs,
    [LK_PATH] = check_path, [LK_RES] = check_res,       [LK_MATCH] = check_match,
    [LK_EXPECT] = check_expect, [LK_ANY] = check_any};

enum pd_code lab_keys_type(const char *path, const struct ynode *n, const char *name,
                           enum lab_key_type type, struct pd_err *err)
{
    if (deep[type])
        return deep[type](path, n, name, err);
    if (plain[type].kinds >> n->kind & 1)
        return PD_OK;
    return wrong_type(path, n, name, plain[type].want, err);
}

static const struct lab_key *find_key(const struct lab_key *keys, const char *name)
{
    for (; keys->name; keys++)
        if (str_eq(keys->name, name))
            return keys;
    return NULL;
}

static enum pd_code unknown_key(const char *path, const struct ynode *c, const struct lab_key *keys,
                                const char *what, struct pd_err *err)
{
    const char *names[64] = {NULL};
    size_t n = 0;
    for (; keys[n].name && n < ARRAY_LEN(names); n++)
        names[n] = keys[n].name;
    const char *near = str_nearest(c->key, names, n);
    if (near)
        return pd_fail_at(err, PD_LAB, path, c->key_line, c->key_col,
                          _("a %s has no key \"%s\": did you mean \"%s\"?"), what, c->key, near);
    struct str all;
    str_init(&all, 400);
    for (size_t i = 0; i < n; i++)
        str_printf(&all, "%s%s", i ? ", " : "", names[i]);
    pd_fail_at(err, PD_LAB, path, c->key_line, c->key_col,
               _("a %s has no key \"%s\" (it has %s)"), what, c->key, all.p);
    str_release(&all);
    return PD_LAB;
}

enum pd_code lab_keys_check(const char *path, const struct ynode *map, const struct lab_key *keys,
                            const char *what, struct pd_err *err)
{
    if (map->kind != Y_MAP)
        return wrong_type(path, map, what, _("a map"), err);
    for (const struct ynode *c = map->first; c; c = c->next) {
        if (str_starts(c->key, "x-"))
            continue;
        const struct lab_key *k = find_key(keys, c->key);
        if (!k)
            return unknown_key(path, c, keys, what, err);
        enum pd_code rc = lab_keys_type(path, c, c->key, k->type, err);
        if (rc)
            return rc;
    }
    for (const struct lab_key *k = keys; k->name; k++)
        if (k->required && !yaml_get(map, k->name))
            return pd_fail_at(err, PD_LAB, path, map->line, map->col, _("this %s has no \"%s\""),
                              what, k->name);
    return PD_OK;
}
