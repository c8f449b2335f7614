/* image_options.c - options of the image commands, from one table that the help
 * is printed from too. */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/image_cmd_priv.h"

enum kind { O_FLAG, O_TEXT, O_LIST };

#define AT(field) offsetof(struct image_options, field)

static const struct option {
    const char *name, *shorter, *value, *about;
    enum kind kind;
    size_t at;
} options[] = {
    {"--file", "-f", "FILE", N_("the Dockerfile (default: CONTEXT/Dockerfile)"), O_TEXT, AT(file)},
    {"--tag", "-t", "REF", N_("name the image; may be repeated"), O_LIST, AT(tags)},
    {"--output", "-o", "oci:DIR[:TAG]", N_("write this layout instead of podium's store"), O_TEXT,
     AT(output)},
    {"--push", "", NULL, N_("push every --tag after the build"), O_FLAG, AT(push)},
    {"--build-arg", "", "NAME=VALUE", N_("value of an ARG; may be repeated"), O_LIST,
     AT(build_args)},
    {"--target", "", "STAGE", N_("build this stage, not the last one"), O_TEXT, AT(target)},
    {"--error", "", "FILE", N_("lint: what a build said, to be explained too"), O_TEXT, AT(error)},
    {"--subuid", "", "FILE", N_("lint: in place of /etc/subuid"), O_TEXT, AT(subuid)},
    {"--no-cache", "", NULL, N_("pack every layer again"), O_FLAG, AT(no_cache)},
    {"--builder", "", "NAME", N_("which builder (podium)"), O_TEXT, AT(builder)},
    {"--platform", "", "OS/ARCH", N_("linux/amd64, the only one"), O_TEXT, AT(platform)},
    {"--json", "", NULL, N_("one JSON object a line"), O_FLAG, AT(json)},
    {"--store", "", "DIR", N_("podium's image store"), O_TEXT, AT(store)},
    {"--kubeconfig", "", "FILE", N_("for the cluster's own registry (default: as kubectl)"),
     O_TEXT, AT(kubeconfig)},
    {"--user", "-u", "NAME", N_("login"), O_TEXT, AT(user)},
    {"--password-file", "", "FILE", N_("its password"), O_TEXT, AT(password_file)},
    {"--token-file", "", "FILE", N_("a bearer token"), O_TEXT, AT(token_file)},
    {"--ca-file", "", "FILE", N_("the CA of the registry's certificate"), O_TEXT, AT(ca_file)},
    {"--plain-http", "", NULL, N_("the registry has no TLS"), O_FLAG, AT(plain_http)},
    {"--insecure", "", NULL, N_("do not verify the certificate"), O_FLAG, AT(insecure)},
    {"--help", "-h", NULL, N_("this text"), O_FLAG, AT(help)},
};

void image_options_usage(FILE *f)
{
    fputs(_("usage: podium image build [-f FILE] [-t REF]... [--push] [-o oci:DIR[:TAG]] CONTEXT\n"
            "       podium image push [IMAGE] REF\n"
            "       podium image pull REF [oci:DIR[:TAG]]\n"
            "       podium image unpack IMAGE FOLDER\n"
            "       podium image inspect IMAGE\n"
            "       podium image lint [-f FILE] [CONTEXT]      what is wrong in a Dockerfile\n"
            "       podium image explain FILE|-                what a failed build said\n"
            "IMAGE is oci:DIR[:TAG], or a reference in podium's store.\n\n"), f);
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        char left[64];
        str_fmt(left, sizeof left, "%s%s%s%s%s", options[i].shorter,
                options[i].shorter[0] ? ", " : "", options[i].name, options[i].value ? " " : "",
                options[i].value ? options[i].value : "");
        fprintf(f, "  %-30s %s\n", left, _(options[i].about));
    }
}

/* The option's index; *value is set for --name=value. */
static const struct option *find_option(const char *arg, const char **value)
{
    size_t n = strcspn(arg, "=");
    *value = arg[n] == '=' ? arg + n + 1 : NULL;
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        if (strlen(options[i].name) == n && strncmp(options[i].name, arg, n) == 0)
            return &options[i];
        if (str_eq(options[i].shorter, arg))
            return &options[i];
    }
    return NULL;
}

static enum pd_code unknown(const char *arg, struct pd_err *err)
{
    const char *names[ARRAY_LEN(options)];
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        names[i] = options[i].name;
    const char *near = str_nearest(arg, names, ARRAY_LEN(options));
    pd_fail(err, PD_USAGE, _("unknown option %s"), arg);
    return near ? pd_set_hint(err, _("did you mean %s?"), near) : err->code;
}

static enum pd_code take(struct image_options *o, const struct option *op, const char *value,
                         struct pd_err *err)
{
    char *field = (char *)o + op->at;
    if (op->kind == O_FLAG && value)
        return pd_fail(err, PD_USAGE, _("%s takes no value"), op->name);
    if (op->kind == O_FLAG)
        *(bool *)field = true;
    else if (op->kind == O_TEXT)
        *(const char **)(void *)field = value;
    else
        strv_push((struct strv *)(void *)field, value);
    return PD_OK;
}

enum pd_code image_options_parse(int argc, char **argv, struct image_options *o,
                                 struct pd_err *err)
{
    bool words_only = false;
    memset(o, 0, sizeof *o);
    strv_init(&o->tags);
    strv_init(&o->build_args);
    strv_init(&o->words);
    for (int i = 0; i < argc; i++)        /* known early, for the first error too */
        o->json = o->json || str_eq(argv[i], "--json");
    for (int i = 0; i < argc; i++) {
        const char *arg = argv[i], *value;
        if (words_only || arg[0] != '-' || !arg[1]) {
            strv_push(&o->words, arg);
            continue;
        }
        if (str_eq(arg, "--")) {
            words_only = true;
            continue;
        }
        const struct option *op = find_option(arg, &value);
        if (!op)
            return unknown(arg, err);
        if (op->kind != O_FLAG && !value) {
            if (i + 1 == argc)
                return pd_fail(err, PD_USAGE, _("%s needs a value: %s"), op->name, op->value);
            value = argv[++i];
        }
        enum pd_code rc = take(o, op, value, err);
        if (rc != PD_OK)
            return rc;
    }
    if (o->platform && !str_eq(o->platform, "linux/amd64"))
        return pd_fail(err, PD_UNSUPPORTED, _("images are made for linux/amd64, not %s"),
                       o->platform);
    return PD_OK;
}

static enum pd_code read_secret(const char *path, char **out, struct pd_err *err)
{
    struct str s;
    str_init(&s, 64 << 10);
    enum pd_code rc = path_read(path, 64 << 10, &s, err);
    while (s.len > 0 && strchr(" \r\n\t", s.p[s.len - 1]))
        s.p[--s.len] = '\0';
    if (rc == PD_OK && s.len == 0)
        rc = pd_fail(err, PD_USAGE, _("%s is empty"), path);
    if (rc == PD_OK) {
        free(*out);
        *out = str_take(&s);
    }
    str_release(&s);
    return rc;
}

enum pd_code image_options_auth(struct image_options *o, struct pd_err *err)
{
    struct registry_auth *a = &o->auth;
    struct pd_err none;
    enum pd_code rc = PD_OK;
    if (o->kubeconfig)
        rc = registry_auth_kubeconfig(o->kubeconfig, a, err);
    else if (!o->token_file && !o->ca_file && !o->user &&
             registry_auth_kubeconfig(NULL, a, &none) != PD_OK)
        registry_auth_release(a);         /* no cluster: no login from there */
    if (rc == PD_OK && o->token_file)
        rc = read_secret(o->token_file, &a->token, err);
    if (rc == PD_OK && o->ca_file)
        rc = read_secret(o->ca_file, &a->ca_pem, err);
    if (rc == PD_OK && o->user) {
        free(a->user);
        a->user = xstrdup(o->user);
        free(a->token);                   /* the login given by hand wins */
        a->token = NULL;
        if (o->password_file)
            rc = read_secret(o->password_file, &a->password, err);
        else
            rc = pd_fail(err, PD_USAGE, _("--user needs --password-file"));
    }
    if (o->user || o->token_file || o->ca_file) {     /* then for any host */
        free(a->host);
        a->host = NULL;
    }
    a->plain_http = o->plain_http;
    a->insecure = a->insecure || o->insecure;
    return rc;
}

void image_options_release(struct image_options *o)
{
    strv_release(&o->tags);
    strv_release(&o->build_args);
    strv_release(&o->words);
    registry_auth_release(&o->auth);
}
