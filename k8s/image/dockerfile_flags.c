/* dockerfile_flags.c - words that start with -- before the arguments: known
 * ones only, each once, with a value where one belongs; and the parts of RUN's
 * flags. */
#include "core/base/i18n.h"
#include "k8s/image/dockerfile_priv.h"

/* The known name without its mark into name; the mark's first character. */
static char split_rule(const char *rule, char name[32], bool *repeat)
{
    size_t n = strcspn(rule, "=?");
    str_fmt(name, 32, "%.*s", (int)MIN(n, (size_t)31), rule);
    *repeat = rule[n] && rule[n + 1] == '*';
    return rule[n];
}

static enum pd_code unknown(const struct df_reader *r, const struct df_rule *op, size_t from,
                            const char *name, struct pd_err *err)
{
    struct strv rules, names;
    struct str list;
    bool repeat;
    strv_init(&rules);
    strv_init(&names);
    str_init(&list, 400);
    strv_split(&rules, op->flags, ' ');
    for (size_t i = 0; i < rules.n && *op->flags; i++) {
        char known[32];
        split_rule(rules.v[i], known, &repeat);
        strv_push(&names, known);
        str_printf(&list, "%s--%s", i ? " " : "", known);
    }
    const char *near = str_nearest(name, (const char *const *)names.v, names.n);
    dockerfile_fail(err, r, from, _("unknown flag: --%s"), name);
    if (near && *near)
        pd_set_hint(err, _("did you mean --%s?"), near);
    else if (*op->flags)
        pd_set_hint(err, _("%s knows: %s"), op->name, list.p);
    else
        pd_set_hint(err, _("%s has no flags"), op->name);
    str_release(&list);
    strv_release(&rules);
    strv_release(&names);
    return err->code;
}

static enum pd_code check_value(const struct df_reader *r, size_t from, const char *name,
                                const char *value, char mark, struct pd_err *err)
{
    if (mark == '=' && !value) {
        dockerfile_fail(err, r, from, _("--%s needs a value"), name);
        return pd_set_hint(err, _("write --%s=VALUE, without a blank"), name);
    }
    if (mark == '?' && value && !str_eq(value, "true") && !str_eq(value, "false") &&
        !str_eq(value, "1") && !str_eq(value, "0")) {
        dockerfile_fail(err, r, from, _("--%s is true or false, not \"%.40s\""), name, value);
        return pd_set_hint(err, _("write --%s alone, or leave it away"), name);
    }
    return PD_OK;
}

/* --- RUN --mount=type=cache,target=/x -------------------------------------------- */

static const char *const mount_types[] = {"bind", "cache", "tmpfs", "secret", "ssh"};
static const char *const mount_keys[] = {
    "type", "target", "dst", "destination", "source", "src", "from", "rw", "readwrite", "ro",
    "readonly", "id", "sharing", "mode", "uid", "gid", "size", "required", "env"};

static bool listed(const char *s, const char *const *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(s, v[i]))
            return true;
    return false;
}

static enum pd_code one_of(const struct df_reader *r, size_t from, const char *what,
                           const char *got, const char *const *v, size_t n, struct pd_err *err)
{
    if (listed(got, v, n))
        return PD_OK;
    const char *near = str_nearest(got, v, n);
    dockerfile_fail(err, r, from, _("%s knows no \"%.40s\""), what, got);
    return pd_set_hint(err, _("did you mean %s?"), near ? near : v[0]);
}

static enum pd_code check_mount(const struct df_reader *r, size_t from, const char *value,
                                struct pd_err *err)
{
    struct strv parts;
    enum pd_code rc = PD_OK;
    bool target = false, needs = true;
    strv_init(&parts);
    strv_split(&parts, value, ',');
    for (size_t i = 0; i < parts.n && rc == PD_OK; i++) {
        char *eq = strchr(parts.v[i], '=');
        if (eq)
            *eq = '\0';
        rc = one_of(r, from, "RUN --mount", parts.v[i], mount_keys, ARRAY_LEN(mount_keys), err);
        if (rc == PD_OK && str_eq(parts.v[i], "type")) {
            rc = one_of(r, from, "--mount=type", eq ? eq + 1 : "", mount_types,
                        ARRAY_LEN(mount_types), err);
            needs = eq && !str_eq(eq + 1, "secret") && !str_eq(eq + 1, "ssh");
        }
        target = target || listed(parts.v[i], mount_keys + 1, 3);
    }
    if (rc == PD_OK && needs && !target) {
        dockerfile_fail(err, r, from, _("RUN --mount needs a target"));
        rc = pd_set_hint(err, _("write --mount=type=cache,target=/root/.cache"));
    }
    strv_release(&parts);
    return rc;
}

static enum pd_code check_meaning(const struct df_reader *r, size_t from, const char *name,
                                  const char *value, struct pd_err *err)
{
    static const char *const networks[] = {"default", "none", "host"};
    static const char *const securities[] = {"sandbox", "insecure"};
    if (str_eq(name, "mount"))
        return check_mount(r, from, value, err);
    if (str_eq(name, "network"))
        return one_of(r, from, "--network", value, networks, ARRAY_LEN(networks), err);
    if (str_eq(name, "security"))
        return one_of(r, from, "--security", value, securities, ARRAY_LEN(securities), err);
    return PD_OK;
}

static enum pd_code check_flag(const struct df_reader *r, const struct df_instr *in, size_t from,
                               struct pd_err *err)
{
    const struct df_rule *op = &dockerfile_rules[in->op];
    const char *flag = in->flags[in->nflags - 1].text + 2, *eq = strchr(flag, '=');
    char name[32], known[32];
    struct strv rules;
    char mark = 0;
    bool repeat = false;
    str_fmt(name, sizeof name, "%.*s", (int)MIN(strcspn(flag, "="), (size_t)31), flag);
    strv_init(&rules);
    strv_split(&rules, op->flags, ' ');
    for (size_t i = 0; i < rules.n && !mark; i++) {
        mark = split_rule(rules.v[i], known, &repeat);
        if (!str_eq(name, known))
            mark = 0;
    }
    strv_release(&rules);
    if (!mark)
        return unknown(r, op, from, name, err);
    for (size_t i = 0; !repeat && i + 1 < in->nflags; i++) {
        const char *other = in->flags[i].text + 2;
        size_t n = strlen(name);
        if (strncmp(other, name, n) == 0 && (!other[n] || other[n] == '='))
            return dockerfile_fail(err, r, from, _("the flag --%s stands twice"), name);
    }
    enum pd_code rc = check_value(r, from, name, eq ? eq + 1 : NULL, mark, err);
    return rc == PD_OK && eq ? check_meaning(r, from, name, eq + 1, err) : rc;
}

enum pd_code dockerfile_flags(const struct df_reader *r, struct df_instr *in, size_t *off,
                              struct pd_err *err)
{
    size_t next = *off, from, to;
    while (dockerfile_lex_word(r->cur.text.p, r->cur.text.len, r->escape, &next, &from, &to)) {
        if (to - from < 2 || memcmp(r->cur.text.p + from, "--", 2) != 0)
            break;
        *off = next;
        if (to - from == 2)               /* "--" ends the flags */
            break;
        dockerfile_args_add(r, &in->flags, &in->nflags, from, to);
        enum pd_code rc = check_flag(r, in, from, err);
        if (rc != PD_OK)
            return rc;
    }
    return PD_OK;
}

const char *dockerfile_flag(const struct df_instr *in, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < in->nflags; i++) {
        const char *f = in->flags[i].text + 2;
        if (strncmp(f, name, n) == 0 && (!f[n] || f[n] == '='))
            return f[n] ? f + n + 1 : f + n;
    }
    return NULL;
}

bool dockerfile_flag_on(const struct df_instr *in, const char *name)
{
    const char *v = dockerfile_flag(in, name);
    return v && !str_eq(v, "false") && !str_eq(v, "0");
}
