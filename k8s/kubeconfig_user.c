/* kubeconfig_user.c - who the kubeconfig says we are: tokens, certificates, plugins,
 * impersonation. Rules: client-go tools/clientcmd/{client_config,validation}.go. */
#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/json.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/kubeconfig_io.h"
#include "k8s/pem.h"

enum { PEM_MAX = 1 << 20 };

/* --- certificates and keys --- */

static void decode_data(const struct ynode *n, char **slot)
{
    size_t len, bad;
    unsigned char *raw = n->kind == Y_STRING ? pem_base64(n->text, &len, &bad) : NULL;
    if (!raw)
        return;                      /* told when the file was read */
    free(*slot);
    *slot = xstrndup((char *)raw, len);
    explicit_bzero(raw, len);
    free(raw);
}

static void read_file(struct kc_look *r, const struct kc_entry *e, const struct ynode *n,
                      const char *what, char **slot)
{
    struct str text;
    struct pd_err err;
    char *path = kubeconfig_beside(e, n->text);
    str_init(&text, PEM_MAX);
    if (path_read(path, PEM_MAX, &text, &err) == PD_OK) {
        kubeconfig_set(slot, text.p);
        if (strlen(text.p) == 0)
            kubeconfig_at(r, KC_WARNING, e, n, _("%s of %s \"%s\" is an empty file: %s"), n->key,
                          what, e->name, path);
    } else {
        const char *why = strrchr(err.msg, ':');
        kubeconfig_at(r, KC_ERROR, e, n, _("%s of %s \"%s\" can't be read: %s%s"), n->key, what,
                      e->name, path, why ? why : "");
        kubeconfig_findings_hint(r->f, n->text[0] == '/'
                                           ? _("check the path and its rights")
                                           : _("relative paths count from the folder of the "
                                               "kubeconfig"));
    }
    if (strstr(n->text, ":\\") || str_starts(n->text, "\\\\"))
        kubeconfig_findings_hint(r->f, _("this is a path of Windows: copy the file here and name "
                                         "it as it is called here"));
    if (str_starts(n->text, "~"))
        kubeconfig_findings_hint(r->f, _("~ is not your home folder here: write the whole path"));
    explicit_bzero(text.p, text.len);
    str_release(&text);
    free(path);
}

void kubeconfig_pem(struct kc_look *r, const struct kc_entry *e, const char *key, const char *what,
                    const char *type, char **slot)
{
    char data_key[64];
    const struct ynode *file = kubeconfig_field(e, key);
    const struct ynode *data =
        kubeconfig_field(e, str_fmt(data_key, sizeof data_key, "%s-data", key));
    if (file && data) {
        kubeconfig_at(r, KC_ERROR, e, data,
                      _("%s and %s are both specified for %s \"%s\"; %s will override"), data_key,
                      key, what, e->name, data_key);
        kubeconfig_findings_hint(r->f, _("remove one of them"));
    }
    const struct ynode *n = data ? data : file;
    if (!n)
        return;
    if (data)
        decode_data(n, slot);
    else if (n->kind == Y_STRING)
        read_file(r, e, n, what, slot);
    if (!*slot || (!data && !**slot))
        return;
    const char *begin = strstr(*slot, "-----BEGIN ");
    if (begin && strstr(begin, type))
        return;
    kubeconfig_at(r, KC_ERROR, e, n, _("%s of %s \"%s\" holds no PEM %s"), n->key, what, e->name,
                  type);
    kubeconfig_findings_hint(r->f, begin ? _("it holds another kind of PEM: is it the wrong file, "
                                             "or are certificate and key swapped?%s")
                                         : _("the text must begin with -----BEGIN %s-----"),
                             begin ? "" : type);
}

static void check_pair(struct kc_look *r)
{
    const struct kc_entry *e = r->user;
    const struct kube_context *x = r->x;
    const struct ynode *cert = kubeconfig_field(e, "client-certificate-data");
    const struct ynode *key = kubeconfig_field(e, "client-key-data");
    cert = cert ? cert : kubeconfig_field(e, "client-certificate");
    key = key ? key : kubeconfig_field(e, "client-key");
    if (!cert)
        return;
    if (!key) {
        kubeconfig_at(r, KC_ERROR, e, cert, _("client-key-data or client-key must be specified for "
                                              "user \"%s\" to use its client certificate"),
                      e->name);
        kubeconfig_findings_hint(r->f, _("add the key that was made with the certificate"));
        return;
    }
    const char *wrong = x->cert_pem && x->key_pem ? pem_pair_wrong(x->cert_pem, x->key_pem) : NULL;
    if (!wrong)
        return;
    kubeconfig_at(r, KC_ERROR, e, key, _("%s and %s of user \"%s\": %s"), cert->key, key->key,
                  e->name, _(wrong));
    kubeconfig_findings_hint(r->f, pem_key_locked(x->key_pem)
                                       ? _("take the passphrase off: openssl pkey -in KEY -out "
                                           "NEW")
                                       : _("certificate and key must come from the same request; "
                                           "fetch both anew"));
}

static void check_dates(struct kc_look *r, const struct kc_entry *e, const char *pem,
                        const char *key, const char *what)
{
    struct pem_cert c;
    char buf[36], data_key[64];
    if (!e || !pem || !pem_cert(pem, &c))
        return;
    const struct ynode *n =
        kubeconfig_field(e, str_fmt(data_key, sizeof data_key, "%s-data", key));
    n = n ? n : kubeconfig_field(e, key);
    int64_t now = clock_wall_ms();
    if (c.to_ms < now) {
        kubeconfig_at(r, KC_WARNING, e, n, _("%s of %s \"%s\" (%s) has expired: %s"),
                      n ? n->key : key, what, e->name, c.name,
                      clock_rfc3339(c.to_ms * 1000, 0, buf));
        kubeconfig_findings_hint(r->f, _("fetch a new one; the server will not take this"));
    } else if (c.from_ms > now) {
        kubeconfig_at(r, KC_WARNING, e, n, _("%s of %s \"%s\" (%s) is not valid before %s"),
                      n ? n->key : key, what, e->name, c.name,
                      clock_rfc3339(c.from_ms * 1000, 0, buf));
        kubeconfig_findings_hint(r->f, _("check this machine's clock"));
    }
}

/* --- tokens --- */

static void read_token(struct kc_look *r)
{
    const struct kc_entry *e = r->user;
    struct kube_context *x = r->x;
    const struct ynode *file = kubeconfig_field(e, "tokenFile");
    const struct ynode *token = kubeconfig_field(e, "token");
    kubeconfig_text(e, "token", &x->token);
    if (x->token && x->token[strcspn(x->token, "\r\n")]) {
        kubeconfig_at(r, KC_ERROR, e, token, _("token of user \"%s\" has a line break in it: it "
                                               "can't be sent in a header"), e->name);
        kubeconfig_findings_hint(r->f, _("write it in one line, without \\n at its end"));
    }
    if (!file || file->kind != Y_STRING)
        return;
    char *beside = x->token;
    x->token = NULL;
    free(x->token_file);
    x->token_file = kubeconfig_beside(e, file->text);
    bool there = kube_context_refresh(x);
    if (there && beside) {
        kubeconfig_at(r, KC_NOTE, e, file, _("user \"%s\" has token and tokenFile: the file wins"),
                      e->name);
    } else if (!there) {
        kubeconfig_at(r, beside ? KC_WARNING : KC_ERROR, e, file,
                      _("tokenFile of user \"%s\" can't be read or is empty: %s"), e->name,
                      x->token_file);
        kubeconfig_findings_hint(r->f, beside ? _("the field token is used meanwhile")
                                       : file->text[0] == '/'
                                           ? _("check the path and its rights")
                                           : _("relative paths count from the folder of the "
                                               "kubeconfig"));
        x->token = beside;
        return;
    }
    if (beside)
        explicit_bzero(beside, strlen(beside));
    free(beside);
}

static void check_methods(struct kc_look *r)
{
    const struct kc_entry *e = r->user;
    const struct ynode *token = kubeconfig_field(e, "token");
    const struct ynode *file = kubeconfig_field(e, "tokenFile");
    const struct ynode *name = kubeconfig_field(e, "username");
    const struct ynode *password = kubeconfig_field(e, "password");
    if ((!token && !file) || (!name && !password))
        return;
    kubeconfig_at(r, KC_ERROR, e, name ? name : password,
                  _("more than one authentication method found for user \"%s\": %s and %s; only "
                    "one is allowed"), e->name, token ? token->key : file->key,
                  name ? "username" : "password");
    kubeconfig_findings_hint(r->f, _("remove one of them"));
}

/* --- impersonation --- */

static void read_list(const struct ynode *n, struct strv *out)
{
    for (const struct ynode *c = n ? n->first : NULL; c; c = c->next)
        if (c->kind == Y_STRING || c->kind == Y_NULL)
            strv_push(out, c->kind == Y_STRING ? c->text : "");
}

/* A header's name takes the signs of RFC 7230 without '%'; the rest as %XX. */
static void header_name(const char *key, struct str *out)
{
    for (const char *p = key; *p; p++) {
        unsigned char c = (unsigned char)*p;
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     strchr("!#$&'*+-.^_`|~", c);
        if (plain)
            str_addc(out, *p);
        else
            str_printf(out, "%%%02X", c);
    }
}

static void read_extra(const struct ynode *extra, struct strv *out)
{
    struct str name;
    str_init(&name, 4096);
    for (const struct ynode *k = extra ? extra->first : NULL; k; k = k->next) {
        str_clear(&name);
        header_name(k->key, &name);
        for (const struct ynode *v = k->kind == Y_SEQ ? k->first : NULL; v; v = v->next)
            strv_pushf(out, "%s=%s", name.p, v->kind == Y_STRING ? v->text : "");
    }
    str_release(&name);
}

static bool broken_line(const struct strv *v)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->v[i][strcspn(v->v[i], "\r\n")])
            return true;
    return false;
}

static void read_impersonation(struct kc_look *r)
{
    const struct kc_entry *e = r->user;
    struct kube_context *x = r->x;
    kubeconfig_text(e, "as", &x->as);
    kubeconfig_text(e, "as-uid", &x->as_uid);
    read_list(kubeconfig_field(e, "as-groups"), &x->as_groups);
    read_extra(kubeconfig_field(e, "as-user-extra"), &x->as_extra);
    if (r->o->as)
        kubeconfig_set(&x->as, r->o->as);
    if (!x->as && (x->as_uid || x->as_groups.n || x->as_extra.n)) {
        kubeconfig_at(r, KC_ERROR, e, NULL, _("requesting uid, groups or user-extra for user "
                                              "\"%s\" without impersonating a user (as)"),
                      e->name);
        kubeconfig_findings_hint(r->f, _("add the field as, or remove as-uid, as-groups and "
                                         "as-user-extra"));
    }
    bool bad = (x->as && x->as[strcspn(x->as, "\r\n")]) || broken_line(&x->as_groups) ||
               (x->as_uid && x->as_uid[strcspn(x->as_uid, "\r\n")]) || broken_line(&x->as_extra);
    if (bad) {
        kubeconfig_at(r, KC_ERROR, e, NULL, _("impersonation of user \"%s\" has a line break in "
                                              "it: it can't be sent in a header"), e->name);
        kubeconfig_findings_hint(r->f, _("write each value in one line"));
    }
}

/* --- plugins --- */

static void check_api_version(struct kc_look *r, const struct ynode *n)
{
    const struct kube_exec *x = &r->x->exec;
    static const char group[] = "client.authentication.k8s.io/";
    const char *v = x->api_version && str_starts(x->api_version, group)
                        ? x->api_version + strlen(group) : "";
    bool known = !strcmp(v, "v1") || !strcmp(v, "v1beta1");
    if (known)
        return;
    if (!x->api_version) {
        kubeconfig_at(r, KC_ERROR, r->user, n, _("apiVersion must be specified for user \"%s\" to "
                                                 "use exec authentication plugin"), r->user->name);
    } else {
        bool alpha = str_starts(v, "v1alpha");
        kubeconfig_at(r, KC_ERROR, r->user, yaml_get(n, "apiVersion"),
                      alpha ? _("exec plugin of user \"%s\": invalid apiVersion %s; clients have "
                                "not taken it since Kubernetes 1.24")
                            : _("exec plugin of user \"%s\": invalid apiVersion %s, which is not "
                                "known"), r->user->name, x->api_version);
    }
    kubeconfig_findings_hint(r->f, _("make the entry anew with client.authentication.k8s.io/"
                                     "v1beta1 or v1 (v1 also needs interactiveMode); the plugin "
                                     "may need an update"));
}

static void check_mode(struct kc_look *r, const struct ynode *n)
{
    const struct kube_exec *x = &r->x->exec;
    if (!x->interactive && x->api_version && str_ends(x->api_version, "/v1")) {
        kubeconfig_at(r, KC_ERROR, r->user, n, _("interactiveMode must be specified for user "
                                                 "\"%s\" to use exec authentication plugin"),
                      r->user->name);
        kubeconfig_findings_hint(r->f, _("add interactiveMode: IfAvailable (or Never, Always) to "
                                         "exec"));
    } else if (x->interactive && strcmp(x->interactive, "Never") != 0 &&
               strcmp(x->interactive, "IfAvailable") != 0 &&
               strcmp(x->interactive, "Always") != 0) {
        kubeconfig_at(r, KC_ERROR, r->user, yaml_get(n, "interactiveMode"),
                      _("invalid interactiveMode for user \"%s\": \"%s\""), r->user->name,
                      x->interactive);
        kubeconfig_findings_hint(r->f, _("it is one of Never, IfAvailable, Always"));
    }
}

static void read_env(struct kc_look *r, const struct ynode *env)
{
    for (const struct ynode *e = env ? env->first : NULL; e; e = e->next) {
        const char *name = yaml_str(e, "name", "");
        if (*name)
            strv_pushf(&r->x->exec.env, "%s=%s", name, yaml_str(e, "value", ""));
        else
            kubeconfig_at(r, KC_ERROR, r->user, e, _("env variable name must be specified for "
                                                     "user \"%s\" to use exec authentication "
                                                     "plugin"), r->user->name);
    }
}

/* The cluster's extension that is meant for plugins. */
static void read_config(struct kc_look *r)
{
    const struct ynode *list = kubeconfig_field(r->cluster, "extensions");
    for (const struct ynode *e = list && list->kind == Y_SEQ ? list->first : NULL; e; e = e->next)
        if (!strcmp(yaml_str(e, "name", ""), "client.authentication.k8s.io/exec")) {
            struct json *j = yaml_to_json(yaml_get(e, "extension"));
            free(r->x->exec.config);
            r->x->exec.config = json_text(j, 0);
            json_free(j);
        }
}

static char *text_of(const struct ynode *map, const char *key)
{
    const struct ynode *n = yaml_get(map, key);
    return n && n->kind == Y_STRING && *n->text ? xstrdup(n->text) : NULL;
}

static void read_exec(struct kc_look *r)
{
    const struct ynode *n = kubeconfig_field(r->user, "exec");
    struct kube_exec *x = &r->x->exec;
    if (!n || n->kind != Y_MAP)
        return;
    const struct ynode *info = yaml_get(n, "provideClusterInfo");
    char *command = text_of(n, "command");
    x->api_version = text_of(n, "apiVersion");
    x->interactive = text_of(n, "interactiveMode");
    x->install_hint = text_of(n, "installHint");
    x->cluster_info = info && info->kind == Y_BOOL && info->number != 0;
    x->command = command && strchr(command, '/') ? kubeconfig_beside(r->user, command)
                                                 : xstrdup(command);
    if (!command)
        kubeconfig_at(r, KC_ERROR, r->user, n, _("command must be specified for user \"%s\" to use "
                                                 "exec authentication plugin"), r->user->name);
    free(command);
    read_list(yaml_get(n, "args"), &x->args);
    read_env(r, yaml_get(n, "env"));
    read_config(r);
    check_api_version(r, n);
    check_mode(r, n);
}

/* --- auth-provider: of the old ones only a cached oidc token is left --- */

static const struct {
    const char *name, *instead;
} gone[] = {{"gcp", "gke-gcloud-auth-plugin"}, {"azure", "kubelogin"}};

static void read_oidc(struct kc_look *r, const struct ynode *n)
{
    const struct ynode *config = yaml_get(n, "config");
    const char *token = yaml_str(config, "id-token", "");
    if (!*yaml_str(config, "idp-issuer-url", "") || !*yaml_str(config, "client-id", "")) {
        kubeconfig_at(r, KC_ERROR, r->user, n, _("auth-provider \"oidc\" of user \"%s\" needs "
                                                 "idp-issuer-url and client-id"), r->user->name);
    } else if (*token) {
        kubeconfig_set(&r->x->token, token);
        return;
    } else {
        kubeconfig_at(r, KC_ERROR, r->user, n, _("auth-provider \"oidc\" of user \"%s\" has no "
                                                 "id-token, and podium fetches none"),
                      r->user->name);
    }
    kubeconfig_findings_hint(r->f, _("use an exec plugin such as kubelogin (kubectl oidc-login)"));
}

static void read_provider(struct kc_look *r)
{
    const struct ynode *n = kubeconfig_field(r->user, "auth-provider");
    const char *instead = NULL;
    if (!n || n->kind != Y_MAP)
        return;
    const char *name = yaml_str(n, "name", "");
    if (kubeconfig_field(r->user, "exec")) {
        kubeconfig_at(r, KC_ERROR, r->user, n, _("auth-provider \"%s\" can't stand beside an exec "
                                                 "plugin for user \"%s\""), name, r->user->name);
        kubeconfig_findings_hint(r->f, _("remove auth-provider"));
        return;
    }
    if (!strcmp(name, "oidc")) {
        read_oidc(r, n);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(gone); i++)
        if (!strcmp(gone[i].name, name))
            instead = gone[i].instead;
    kubeconfig_at(r, KC_ERROR, r->user, n, _("auth-provider \"%s\" of user \"%s\" has been removed "
                                             "from all clients"), name, r->user->name);
    if (instead)
        kubeconfig_findings_hint(r->f, _("use the exec plugin %s instead"), instead);
    else
        kubeconfig_findings_hint(r->f, _("make a new entry with a token or an exec plugin"));
}

/* --- all of it --- */

static void check_any(struct kc_look *r)
{
    const struct kube_context *x = r->x;
    if (kubeconfig_findings_errors(r->f) || x->token || x->token_file || x->username ||
        x->cert_pem || x->exec.command || r->o->token)
        return;
    kubeconfig_at(r, KC_WARNING, r->user, NULL, _("user \"%s\" has no credentials: requests go as "
                                                  "nobody (system:anonymous)"), r->user->name);
    kubeconfig_findings_hint(r->f, _("kubectl asks for a user name here; add a token, a client "
                                     "certificate or an exec plugin"));
}

void kubeconfig_user(struct kc_look *r)
{
    const struct kc_entry *e = r->user;
    struct kube_context *x = r->x;
    read_token(r);
    kubeconfig_text(e, "username", &x->username);
    kubeconfig_text(e, "password", &x->password);
    check_methods(r);
    kubeconfig_pem(r, e, "client-certificate", "user", "CERTIFICATE", &x->cert_pem);
    kubeconfig_pem(r, e, "client-key", "user", "PRIVATE KEY", &x->key_pem);
    check_pair(r);
    check_dates(r, e, x->cert_pem, "client-certificate", "user");
    check_dates(r, r->cluster, x->ca_pem, "certificate-authority", "cluster");
    read_exec(r);
    read_provider(r);
    read_impersonation(r);
    check_any(r);
}
