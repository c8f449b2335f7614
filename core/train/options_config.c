/* options_config.c - options from a YAML file (options.h).
 *
 * The file is a map. A key is an option's name, with - or _, or another
 * program's name for it (options_alias.h). A key of a command that is not at
 * work is passed over, so that one file serves train, plan, eval and the rest;
 * a key of nobody is an error with its place. `lora:` and `peft:` may hold a
 * map (r, alpha, dropout, target_modules), and any other map groups options.
 */
#include "core/train/options_impl.h"

#include "core/base/i18n.h"
#include "core/base/yaml.h"
#include "core/train/options_alias.h"

enum { NAMES = 256, NAME = 48 };

struct reading {
    struct options *o;
    const char *path;
    struct pd_err *err;
};

static enum pd_code fail_at(const struct reading *r, const struct ynode *n, const char *text)
{
    return pd_fail_at(r->err, PD_USAGE, r->path, n->key_line, n->key_col, "%s", text);
}

/* "lora_alpha" to "lora-alpha". */
static const char *our_name(char out[NAME], const char *prefix, const char *key)
{
    str_fmt(out, NAME, "%s%s", prefix, key);
    for (char *p = out; *p; p++)
        *p = *p == '_' ? '-' : *p;
    return out;
}

static const struct option *find(const char *prefix, const char *key)
{
    char name[NAME];
    const struct option *opt = options_find(our_name(name, prefix, key));
    const struct options_alias_row *a = options_alias(key);
    if (!opt && prefix[0])
        opt = options_find(our_name(name, "", key));
    if (!opt && a && a->kind == ALIAS_OPTION)
        opt = options_find(a->text);
    return opt && !str_eq(opt->name, "config") && !str_eq(opt->name, "print-config") ? opt : NULL;
}

static enum pd_code unknown(const struct reading *r, const struct ynode *n)
{
    const char *names[NAMES];
    char text[200], key[NAME];
    size_t k = options_names(r->o->command, names, NAMES);
    const char *near = str_nearest(our_name(key, "", n->key), names, k);
    if (!near) {
        k = options_alias_names(names, NAMES);
        near = str_nearest(n->key, names, k);
    }
    str_fmt(text, sizeof text, _("no option is called \"%s\""), n->key);
    fail_at(r, n, text);
    if (near && !str_eq(near, n->key))           /* theirs, of an option that is not here */
        return pd_set_hint(r->err, _("did you mean %s?"), near);
    return pd_set_hint(r->err, _("podium-train help %s lists the names"),
                       options_command_name(r->o->command));
}

/* Lists are joined by commas: target_modules: [q_proj, v_proj]. */
static enum pd_code text_of(const struct reading *r, const struct ynode *n, struct str *out)
{
    for (const struct ynode *c = n->first; n->kind == Y_SEQ && c; c = c->next) {
        if (c->kind == Y_SEQ || c->kind == Y_MAP)
            return fail_at(r, n, _("a list of plain values is needed here"));
        str_printf(out, "%s%s", out->len ? "," : "", c->text);
    }
    if (n->kind == Y_BOOL)
        str_add(out, n->number != 0 ? "true" : "false");
    else if (n->kind != Y_SEQ)
        str_add(out, n->text);
    return PD_OK;
}

/* Values that say "not used": null, and max_steps: -1, num_train_epochs: 0. */
static bool says_nothing(const struct option *opt, const struct ynode *n)
{
    return n->kind == Y_NULL || (str_eq(opt->name, "steps") && n->number < 0) ||
           (str_eq(opt->name, "resume") && n->kind == Y_STRING);
}

static enum pd_code set(const struct reading *r, const struct option *opt, const struct ynode *n)
{
    struct str text;
    char msg[300];
    if (str_eq(opt->name, "resume") && n->kind == Y_STRING)
        return fail_at(r, n, _("resume is true or false: it takes the newest whole checkpoint of "
                               "the out folder"));
    if (says_nothing(opt, n) || !(opt->commands & 1u << r->o->command))
        return PD_OK;
    str_init(&text, 1 << 16);
    enum pd_code rc = text_of(r, n, &text);
    if (rc == PD_OK) {
        strv_push(&r->o->texts, options_alias_value(opt->name, text.p));
        rc = options_store(r->o, opt, r->o->texts.v[r->o->texts.n - 1], OPTIONS_FILE, r->err);
        if (rc != PD_OK) {
            str_copy(msg, sizeof msg, r->err->msg);
            pd_fail_at(r->err, rc, r->path, n->line, n->col, "%s: %s", n->key,
                       str_starts(msg, "--") ? msg + 2 : msg);
        }
    }
    str_release(&text);
    return rc;
}

static bool one_of(const char *list, const char *value)
{
    size_t n = strlen(value);
    for (const char *p = list; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
        if (strncmp(p, value, n) == 0 && (p[n] == '|' || !p[n]))
            return true;
    return false;
}

static enum pd_code foreign(const struct reading *r, const struct options_alias_row *a,
                            const struct ynode *n)
{
    char text[300];
    const char *value = n->kind == Y_BOOL ? (n->number != 0 ? "true" : "false")
                        : n->kind == Y_NULL ? "null" : n->text ? n->text : "";
    if (a->kind == ALIAS_IDLE || n->kind == Y_NULL || one_of(a->text, value))
        return PD_OK;
    str_fmt(text, sizeof text, _("%s: %s can't be had here, only %s"), n->key, value, a->text);
    fail_at(r, n, text);
    return pd_set_hint(r->err, _("remove the line, or train with a program that has it"));
}

static enum pd_code read_map(const struct reading *r, const struct ynode *map, const char *prefix);

static enum pd_code read_key(const struct reading *r, const struct ynode *n, const char *prefix)
{
    const struct options_alias_row *a = options_alias(n->key);
    const struct option *opt = find(prefix, n->key);
    if (n->kind == Y_MAP && !prefix[0])
        return read_map(r, n, str_eq(n->key, "lora") || str_eq(n->key, "peft") ? "lora-" : "-");
    if (n->kind == Y_MAP)
        return fail_at(r, n, _("maps within maps are not read"));
    if (opt)
        return set(r, opt, n);
    return a && a->kind != ALIAS_OPTION ? foreign(r, a, n) : unknown(r, n);
}

static enum pd_code read_map(const struct reading *r, const struct ynode *map, const char *prefix)
{
    for (const struct ynode *n = map->first; n; n = n->next)
        if (read_key(r, n, prefix) != PD_OK)
            return r->err->code;
    return PD_OK;
}

enum pd_code options_config(struct options *o, const char *path, struct pd_err *err)
{
    struct ydoc *docs = NULL;
    const struct reading r = {o, path, err};
    enum pd_code rc = yaml_read_file(path, &docs, err);
    if (rc != PD_OK)
        return rc;
    const struct ynode *root = docs ? docs->root : NULL;
    if (docs && docs->next)
        rc = pd_fail_at(err, PD_USAGE, path, 1, 1, _("one document is needed, not several"));
    else if (root && root->kind != Y_NULL && root->kind != Y_MAP)
        rc = pd_fail_at(err, PD_USAGE, path, root->line, root->col,
                        _("options are written as NAME: VALUE"));
    else if (root && root->kind == Y_MAP)
        rc = read_map(&r, root, "");
    yaml_docs_free(docs);
    return rc;
}
