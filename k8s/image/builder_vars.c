/* builder_vars.c - variables of a build: ENV of the image, ARG of the stage, ARG
 * before FROM, and what --build-arg says. */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/builder_priv.h"

/* What BuildKit knows without being told; usable once an ARG names it. */
static const char *const platform[] = {
    "TARGETPLATFORM=linux/amd64", "TARGETOS=linux", "TARGETARCH=amd64", "TARGETVARIANT=",
    "BUILDPLATFORM=linux/amd64", "BUILDOS=linux", "BUILDARCH=amd64", "BUILDVARIANT=",
};

/* Arguments that need no ARG. */
static const char *const predefined[] = {
    "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY",
    "http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "all_proxy", "SOURCE_DATE_EPOCH",
};

static bool named(const char *pair, const char *name, size_t n)
{
    return strncmp(pair, name, n) == 0 && pair[n] == '=';
}

const char *builder_vars_get(const struct strv *v, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = v->n; i-- > 0;)
        if (named(v->v[i], name, n))
            return v->v[i] + n + 1;
    return NULL;
}

void builder_vars_set(struct strv *v, const char *name, const char *value)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < v->n; i++)
        if (named(v->v[i], name, n)) {
            free(v->v[i]);
            v->v[i] = xasprintf("%s=%s", name, value);
            return;
        }
    strv_pushf(v, "%s=%s", name, value);
}

const char *builder_vars_lookup(void *arg, const char *name)
{
    const struct build *b = arg;
    size_t n = strlen(name);
    const struct json *env = json_get(b->config, "Env");
    for (const struct json *e = json_first(env); e; e = json_next(e)) {
        const char *s = json_string_value(e);
        if (s && named(s, name, n))
            return s + n + 1;
    }
    return builder_vars_get(&b->now.args, name);
}

const char *builder_vars_global(void *arg, const char *name)
{
    const struct build *b = arg;
    size_t n = strlen(name);
    const char *v = builder_vars_get(&b->globals, name);
    for (size_t i = 0; !v && i < ARRAY_LEN(platform); i++)
        if (named(platform[i], name, n))
            v = platform[i] + n + 1;
    return v;
}

enum pd_code builder_vars_item(struct build *b, const struct df_instr *in, size_t i, char **out)
{
    struct str s;
    const struct df_word *w = &in->words[i];
    if (!in->json)
        return builder_vars_word(b, w, out);
    str_init(&s, 1 << 16);
    enum pd_code rc = dockerfile_expand_raw(b->df, w, builder_vars_lookup, b, &s, b->err);
    if (rc == PD_OK)
        *out = str_take(&s);
    str_release(&s);
    return rc;
}

enum pd_code builder_vars_word(struct build *b, const struct df_word *w, char **out)
{
    struct str s;
    str_init(&s, 1 << 16);
    enum pd_code rc = dockerfile_expand(b->df, w, builder_vars_lookup, b, &s, b->err);
    if (rc == PD_OK && s.full)
        rc = pd_fail_at(b->err, PD_LIMIT, b->df->name, w->line, w->col,
                        _("the value grows beyond 64 KiB"));
    if (rc == PD_OK)
        *out = str_take(&s);
    str_release(&s);
    return rc;
}

/* One NAME or NAME=DEFAULT: --build-arg, else the default, else (in a stage) the
 * ARG before FROM. */
static enum pd_code one_arg(struct build *b, const struct df_word *w)
{
    struct strv *into = b->stage >= 0 ? &b->now.args : &b->globals;
    const char *eq = strchr(w->text, '=');
    char *name = xstrndup(w->text, eq ? (size_t)(eq - w->text) : strlen(w->text));
    const char *given = builder_vars_get(&b->spec->build_args, name);
    enum pd_code rc = PD_OK;
    if (given) {
        builder_vars_set(into, name, given);
    } else if (eq) {
        struct df_word value = *w;
        struct str s;
        str_init(&s, 1 << 16);
        value.text = w->text + (eq - w->text) + 1;
        value.col += (int)(eq - w->text) + 1;
        rc = dockerfile_expand(b->df, &value,
                               (b->stage >= 0) ? builder_vars_lookup : builder_vars_global, b, &s,
                               b->err);
        if (rc == PD_OK)
            builder_vars_set(into, name, s.p);
        str_release(&s);
    } else if ((b->stage >= 0) && builder_vars_global(b, name)) {
        builder_vars_set(into, name, builder_vars_global(b, name));
    }
    free(name);
    return rc;
}

enum pd_code builder_vars_arg(struct build *b, const struct df_instr *in)
{
    enum pd_code rc = PD_OK;
    for (size_t i = 0; i < in->nwords && rc == PD_OK; i++)
        rc = one_arg(b, &in->words[i]);
    return rc;
}

static bool declared(const struct build *b, const char *name, size_t n, struct strv *names)
{
    for (size_t i = 0; i < ARRAY_LEN(predefined); i++)
        if (strlen(predefined[i]) == n && strncmp(predefined[i], name, n) == 0)
            return true;
    for (size_t i = 0; i < b->df->n; i++)
        for (size_t w = 0; b->df->v[i].op == DF_ARG && w < b->df->v[i].nwords; w++) {
            const char *text = b->df->v[i].words[w].text;
            size_t len = strcspn(text, "=");
            if (len == n && strncmp(text, name, n) == 0)
                return true;
            strv_pushf(names, "%.*s", (int)len, text);
        }
    return false;
}

enum pd_code builder_vars_check(struct build *b)
{
    const struct strv *given = &b->spec->build_args;
    enum pd_code rc = PD_OK;
    for (size_t i = 0; i < given->n && rc == PD_OK; i++) {
        struct strv names;
        size_t n = strcspn(given->v[i], "=");
        char *name = xstrndup(given->v[i], n);
        strv_init(&names);
        if (!declared(b, name, n, &names)) {
            const char *near = str_nearest(name, (const char *const *)names.v, names.n);
            rc = pd_fail(b->err, PD_USAGE, _("the build argument %s belongs to no ARG of %s"),
                         name, b->df->name);
            if (near)
                pd_set_hint(b->err, _("did you mean %s?"), near);
            else
                pd_set_hint(b->err, _("add ARG %s, or leave the argument away"), name);
        }
        strv_release(&names);
        free(name);
    }
    return rc;
}
