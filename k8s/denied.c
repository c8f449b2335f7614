/* denied.c - what a 403 says is missing (denied.h). */
#include "k8s/denied.h"

#include "core/base/mem.h"
#include "k8s/res.h"

/* --- the sentence --- */

/* The word in quotes behind `before`; Go quotes it, so that \" and \\ occur. */
static bool quoted(const char *text, const char *before, char *out, size_t size)
{
    const char *p = text ? strstr(text, before) : NULL;
    size_t n = 0;
    if (!p)
        return false;
    for (p += strlen(before); *p && *p != '"'; p++) {
        if (*p == '\\' && p[1])
            p++;
        if (n + 1 >= size)
            return false;
        out[n++] = *p;
    }
    out[n] = '\0';
    return *p == '"';
}

/* The words go into a line for a shell: those of a hostile server must not. */
static bool plain(const char *s)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./-_*:";
    return *s != '-' && s[strspn(s, allowed)] == '\0';
}

static void read_message(struct denied *d, const char *message)
{
    const char *p = message ? strstr(message, " cannot ") : NULL;
    const char *first = message ? strstr(message, " \"") : NULL;
    const char *colon = message ? strstr(message, " is forbidden") : NULL;
    quoted(message, "User \"", d->user, sizeof d->user);
    if (!p || sscanf(p, " cannot %23s", d->verb) != 1 ||
        !quoted(p, " resource \"", d->resource, sizeof d->resource)) {
        d->verb[0] = d->resource[0] = '\0';
        return;
    }
    quoted(p, " API group \"", d->group, sizeof d->group);
    quoted(p, " in the namespace \"", d->ns, sizeof d->ns);
    if (first && colon && first < colon)           /* pods "x" is forbidden: … */
        quoted(message, " \"", d->name, sizeof d->name);
    if (!plain(d->verb) || !plain(d->resource) || !plain(d->group) || !plain(d->ns))
        memset(d, 0, sizeof *d);
}

/* --- the request --- */

static const char *verb_of(const char *method, const char *path, bool named)
{
    static const struct {
        const char *method, *one, *many;
    } verbs[] = {{"GET", "get", "list"},       {"POST", "create", "create"},
                 {"PUT", "update", "update"},  {"PATCH", "patch", "patch"},
                 {"DELETE", "delete", "deletecollection"}};
    if (!strcmp(method, "GET") && (strstr(path, "?watch=") || strstr(path, "&watch=")))
        return "watch";
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (!strcmp(verbs[i].method, method))
            return named ? verbs[i].one : verbs[i].many;
    return "";
}

static void read_request(struct denied *d, const char *method, const char *path)
{
    struct res_place at;
    if (!res_parse_path(path, &at))
        return;
    str_copy(d->verb, sizeof d->verb, verb_of(method, path, at.name[0] != '\0'));
    str_fmt(d->resource, sizeof d->resource, at.sub[0] ? "%s/%s" : "%s%s", at.res->plural, at.sub);
    str_copy(d->group, sizeof d->group, at.res->group);
    str_copy(d->name, sizeof d->name, at.name);
    str_copy(d->ns, sizeof d->ns, at.ns);
}

bool denied_read(struct denied *d, const char *message, const char *method, const char *path)
{
    memset(d, 0, sizeof *d);
    read_message(d, message);
    if (!d->verb[0] && method && path)
        read_request(d, method, path);
    return d->verb[0] && d->resource[0];
}

bool denied_of(struct denied *d, const struct pd_err *err)
{
    char method[16] = "";
    const char *space = strchr(err->src, ' ');
    memset(d, 0, sizeof *d);
    if (err->code != PD_FORBIDDEN)
        return false;
    if (space && (size_t)(space - err->src) < sizeof method)
        memcpy(method, err->src, (size_t)(space - err->src));
    return denied_read(d, err->msg, method, space ? space + 1 : "");
}

/* --- what to ask for --- */

void denied_verbs(const struct denied *d, const char *verbs[4])
{
    static const char *const view[] = {"get", "list", "watch"};
    bool looks = false;
    for (size_t i = 0; i < ARRAY_LEN(view); i++)
        looks |= !strcmp(d->verb, view[i]);
    if (strchr(d->resource, '/'))                  /* pods/log has no list */
        looks = false;
    for (size_t i = 0; i < 4; i++)
        verbs[i] = looks && i < ARRAY_LEN(view) ? view[i] : i == 0 ? d->verb : NULL;
}

static void words(const struct denied *d, const char *between, const char *quote, struct str *out)
{
    const char *verbs[4];
    denied_verbs(d, verbs);
    for (size_t i = 0; i < 4 && verbs[i]; i++)
        str_printf(out, "%s%s%s%s", i ? between : "", quote, verbs[i], quote);
}

void denied_rule(const struct denied *d, struct str *out)
{
    str_printf(out, "{apiGroups: [\"%s\"], resources: [\"%s\"], verbs: [", d->group, d->resource);
    words(d, ", ", "\"", out);
    str_add(out, "]}");
}

/* podium-pods-log-student: as an object may be named. */
static char *object_name(const struct denied *d, const char *tail)
{
    struct str s;
    str_init(&s, 200);
    str_printf(&s, "podium-%s-%s%s%s", d->resource, d->verb, *tail ? "-" : "", tail);
    for (char *p = s.p; *p; p++) {
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789.-", *p))
            *p = '-';
    }
    while (s.len > 0 && strchr("-.", s.p[s.len - 1]))
        s.p[--s.len] = '\0';
    return str_take(&s);
}

static void shell_word(const char *word, struct str *out)
{
    static const char safe[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
    if (*word && word[strspn(word, safe)] == '\0') {
        str_add(out, word);
        return;
    }
    str_addc(out, '\'');
    for (const char *p = word; *p; p++) {
        if (*p == '\'')
            str_add(out, "'\\''");
        else
            str_addc(out, *p);
    }
    str_addc(out, '\'');
}

/* system:serviceaccount:NS:NAME is bound as NS:NAME. */
static const char *service_account(const struct denied *d)
{
    static const char prefix[] = "system:serviceaccount:";
    return str_starts(d->user, prefix) ? d->user + strlen(prefix) : NULL;
}

void denied_kubectl(const struct denied *d, struct str *out)
{
    const char *kind = d->ns[0] ? "role" : "clusterrole", *account = service_account(d);
    const char *slash = strchr(d->resource, '/');
    char *role = object_name(d, ""), *binding = object_name(d, account ? account : d->user);
    str_printf(out, "kubectl create %s %s --verb=", kind, role);
    words(d, ",", "", out);
    str_printf(out, " --resource=%.*s%s%s%s", (int)strcspn(d->resource, "/"), d->resource,
               d->group[0] ? "." : "", d->group, slash ? slash : "");
    if (d->ns[0])
        str_printf(out, " -n %s", d->ns);
    str_printf(out, " && kubectl create %sbinding %s --%s=%s %s", kind, binding, kind, role,
               account ? "--serviceaccount=" : "--user=");
    if (account || d->user[0])
        shell_word(account ? account : d->user, out);
    else
        str_add(out, "USER");
    if (d->ns[0])
        str_printf(out, " -n %s", d->ns);
    free(role);
    free(binding);
}

static void meta(const struct denied *d, const char *kind, const char *name, struct str *out)
{
    str_printf(out, "apiVersion: rbac.authorization.k8s.io/v1\nkind: %s%s\nmetadata:\n  name: %s\n",
               d->ns[0] ? "" : "Cluster", kind, name);
    if (d->ns[0])
        str_printf(out, "  namespace: %s\n", d->ns);
}

static void yaml_word(const char *word, struct str *out)
{
    str_addc(out, '"');
    for (const char *p = word; *p; p++)
        str_printf(out, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
    str_addc(out, '"');
}

static void subject(const struct denied *d, struct str *out)
{
    const char *account = service_account(d), *colon = account ? strchr(account, ':') : NULL;
    if (colon) {
        str_printf(out, "- kind: ServiceAccount\n  namespace: %.*s\n  name: %s\n",
                   (int)(colon - account), account, colon + 1);
        return;
    }
    str_add(out, "- apiGroup: rbac.authorization.k8s.io\n  kind: User\n  name: ");
    yaml_word(d->user[0] ? d->user : "USER", out);
    str_addc(out, '\n');
}

void denied_yaml(const struct denied *d, struct str *out)
{
    const char *account = service_account(d);
    char *role = object_name(d, ""), *binding = object_name(d, account ? account : d->user);
    meta(d, "Role", role, out);
    str_add(out, "rules:\n- ");
    denied_rule(d, out);
    str_add(out, "\n---\n");
    meta(d, "RoleBinding", binding, out);
    str_printf(out, "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: %sRole\n  name: %s\n"
                    "subjects:\n", d->ns[0] ? "" : "Cluster", role);
    subject(d, out);
    free(role);
    free(binding);
}
