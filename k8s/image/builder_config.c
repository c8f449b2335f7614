/* builder_config.c - the image's config as instructions change it, its history,
 * and the two JSON blobs at the end. Members stand in a fixed order, so that
 * equal images have equal digests. */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/builder_priv.h"
#include "k8s/image/layer_reader.h"

#define DEFAULT_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

void builder_config_init(struct build *b)
{
    struct json *rootfs = json_new_object(), *env = json_new_array();
    b->now.root = json_new_object();
    b->config = json_new_object();
    b->now.layers = json_new_array();
    json_put_str(b->now.root, "created", b->created);
    json_put_str(b->now.root, "architecture", "amd64");
    json_put_str(b->now.root, "os", "linux");
    json_append(env, json_new_string(DEFAULT_PATH));
    json_set(b->config, "Env", env);
    json_put_str(b->config, "WorkingDir", "/");
    json_set(b->now.root, "config", b->config);
    json_put_str(rootfs, "type", "layers");
    json_set(rootfs, "diff_ids", json_new_array());
    json_set(b->now.root, "rootfs", rootfs);
    json_set(b->now.root, "history", json_new_array());
}

static struct json *desc_json(const struct image_desc *d, const char *media_type)
{
    struct json *j = json_new_object();
    json_put_str(j, "mediaType", media_type);
    json_put_str(j, "digest", d->digest);
    json_put_num(j, "size", (double)d->size);
    return j;
}

/* Docker's media types have equal twins in OCI. */
static const char *oci_layer_type(const char *mt)
{
    if (str_ends(mt, "gzip"))
        return MT_OCI_LAYER_GZIP;
    return str_ends(mt, "zstd") ? MT_OCI_LAYER_ZSTD : MT_OCI_LAYER;
}

static bool has_path(const struct json *config)
{
    for (const struct json *e = json_first(json_get(config, "Env")); e; e = json_next(e))
        if (json_string_value(e) && str_starts(json_string_value(e), "PATH="))
            return true;
    return false;
}

/* History is kept when it fits the layers; else each layer gets a line. */
static void base_history(struct build *b, const struct image *im)
{
    const struct json *old = json_get(im->config_json, "history");
    size_t full = 0;
    for (const struct json *h = json_first(old); h; h = json_next(h))
        full += !json_bool(h, "empty_layer", false);
    if (full == im->n) {
        if (old)
            json_set(b->now.root, "history", json_copy(old));
        return;
    }
    for (size_t i = 0; i < im->n; i++)
        builder_config_history(b, "(base image)", false);
}

void builder_config_base(struct build *b, const struct image *im)
{
    const struct json *config = json_get(im->config_json, "config");
    struct json *rootfs = json_get_mut(b->now.root, "rootfs");
    if (json_type(config) == JSON_OBJECT) {
        b->config = json_copy(config);
        if (!has_path(b->config)) {
            if (json_type(json_get(b->config, "Env")) != JSON_ARRAY)
                json_set(b->config, "Env", json_new_array());
            json_append(json_get_mut(b->config, "Env"), json_new_string(DEFAULT_PATH));
        }
        json_set(b->now.root, "config", b->config);
    }
    json_set(rootfs, "diff_ids", json_copy(json_at(im->config_json, "rootfs.diff_ids")));
    for (size_t i = 0; i < im->n; i++)
        json_append(b->now.layers, desc_json(&im->layers[i].desc,
                                         oci_layer_type(im->layers[i].desc.media_type)));
    base_history(b, im);
}

void builder_config_history(struct build *b, const char *text, bool empty_layer)
{
    struct json *h = json_new_object();
    json_put_str(h, "created", b->created);
    json_put_str(h, "created_by", text);
    if (empty_layer)
        json_put_bool(h, "empty_layer", true);
    json_append(json_get_mut(b->now.root, "history"), h);
}

void builder_config_layer(struct build *b, const struct layer_result *r)
{
    json_append(b->now.layers, desc_json(&r->desc, r->desc.media_type));
    json_append(json_at_mut(b->now.root, "rootfs.diff_ids"), json_new_string(r->diff_id));
}

char *builder_config_path(const struct build *b, const char *path)
{
    const char *cwd = json_str(b->config, "WorkingDir", "/");
    char *full = path[0] == '/' ? xstrdup(path) : xasprintf("%s/%s", cwd, path);
    char *out = layer_reader_clean(full);
    free(full);
    return out;
}

/* --- instructions ---------------------------------------------------------------- */

static struct json *member(struct json *config, const char *key, enum json_type type)
{
    struct json *m = json_get_mut(config, key);
    if (json_type(m) != type) {
        m = type == JSON_ARRAY ? json_new_array() : json_new_object();
        json_set(config, key, m);
    }
    return m;
}

static void set_env(struct json *env, const char *name, const char *value)
{
    size_t n = strlen(name);
    char *pair = xasprintf("%s=%s", name, value);
    for (struct json *e = json_first_mut(env); e; e = json_next_mut(e)) {
        const char *s = json_string_value(e);
        if (s && strncmp(s, name, n) == 0 && s[n] == '=') {
            json_replace(env, e, json_new_string(pair));
            free(pair);
            return;
        }
    }
    json_append(env, json_new_string(pair));
    free(pair);
}

/* ENV and LABEL. Values see the environment before the instruction. */
static enum pd_code apply_pairs(struct build *b, const struct df_instr *in)
{
    struct strv pairs;
    enum pd_code rc = PD_OK;
    strv_init(&pairs);
    for (size_t i = 0; i < in->nwords && rc == PD_OK; i++) {
        char *text = NULL;
        rc = builder_vars_word(b, &in->words[i], &text);
        if (rc == PD_OK && (!strchr(text, '=') || text[0] == '='))
            rc = pd_fail_at(b->err, PD_PARSE, b->df->name, in->words[i].line, in->words[i].col,
                            _("%s needs NAME=VALUE, this becomes \"%.80s\""),
                            dockerfile_op_name(in->op), text);
        if (rc == PD_OK)
            strv_push(&pairs, text);
        free(text);
    }
    for (size_t i = 0; i < pairs.n && rc == PD_OK; i++) {
        char *eq = strchr(pairs.v[i], '=');
        *eq = '\0';
        if (in->op == DF_ENV)
            set_env(member(b->config, "Env", JSON_ARRAY), pairs.v[i], eq + 1);
        else
            json_put_str(member(b->config, "Labels", JSON_OBJECT), pairs.v[i], eq + 1);
    }
    strv_release(&pairs);
    return rc;
}

static struct json *string_list(const struct df_instr *in)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < in->nwords; i++)
        json_append(list, json_new_string(in->words[i].text));
    return list;
}

/* ENTRYPOINT and CMD; the shell form goes through the base's shell. */
static enum pd_code apply_exec(struct build *b, const struct df_instr *in)
{
    struct json *list;
    if (in->json) {
        list = string_list(in);
    } else {
        const struct json *shell = json_get(b->config, "Shell");
        list = shell ? json_copy(shell) : json_from("[\"/bin/sh\",\"-c\"]");
        json_append(list, json_new_string(in->rest));
        if (!in->rest[0]) {               /* "CMD" alone: none */
            json_free(list);
            list = json_new_array();
        }
    }
    b->cmd_set = b->cmd_set || in->op == DF_CMD;
    if (in->op == DF_ENTRYPOINT && !b->cmd_set)
        json_remove(b->config, "Cmd");    /* the base's CMD was for its own ENTRYPOINT */
    json_set(b->config, in->op == DF_CMD ? "Cmd" : "Entrypoint", list);
    return PD_OK;
}

/* "80", "80/udp", "8000-8010/tcp": first and last port, and the protocol. */
static bool read_ports(const char *s, int64_t *lo, int64_t *hi, const char **proto)
{
    char text[32];
    size_t len = strcspn(s, "/");
    str_fmt(text, sizeof text, "%.*s", (int)MIN(len, sizeof text - 1), s);
    char *dash = strchr(text, '-');
    if (dash)
        *dash = '\0';
    *proto = s[len] ? s + len + 1 : "tcp";
    if (!str_to_i64(text, lo) || !str_to_i64(dash ? dash + 1 : text, hi))
        return false;
    return *lo > 0 && *lo <= *hi && *hi < 65536 &&
           (strcasecmp(*proto, "tcp") == 0 || strcasecmp(*proto, "udp") == 0 ||
            strcasecmp(*proto, "sctp") == 0);
}

static enum pd_code expose(struct build *b, const struct df_word *w, const char *text)
{
    int64_t lo, hi;
    const char *proto;
    if (!read_ports(text, &lo, &hi, &proto))
        return pd_fail_at(b->err, PD_PARSE, b->df->name, w->line, w->col,
                          _("\"%.40s\" is no port: write 8080, 53/udp or 8000-8010"), text);
    for (; lo <= hi; lo++) {
        char key[32];
        str_fmt(key, sizeof key, "%d/%s", (int)lo,
                strcasecmp(proto, "udp") == 0 ? "udp" : strcasecmp(proto, "sctp") == 0 ? "sctp"
                                                                                       : "tcp");
        json_set(member(b->config, "ExposedPorts", JSON_OBJECT), key, json_new_object());
    }
    return PD_OK;
}

/* EXPOSE and VOLUME: members of a set. A variable may hold several ports. */
static enum pd_code apply_set(struct build *b, const struct df_instr *in)
{
    enum pd_code rc = PD_OK;
    for (size_t i = 0; i < in->nwords && rc == PD_OK; i++) {
        char *text = NULL;
        struct strv parts;
        if ((rc = builder_vars_item(b, in, i, &text)) != PD_OK)
            break;
        strv_init(&parts);
        strv_split(&parts, text, ' ');
        for (size_t p = 0; in->op == DF_EXPOSE && p < parts.n && rc == PD_OK; p++)
            if (*parts.v[p])
                rc = expose(b, &in->words[i], parts.v[p]);
        if (in->op == DF_VOLUME && !*text)
            rc = pd_fail_at(b->err, PD_PARSE, b->df->name, in->words[i].line, in->words[i].col,
                            _("VOLUME needs a path"));
        else if (in->op == DF_VOLUME)
            json_set(member(b->config, "Volumes", JSON_OBJECT), text, json_new_object());
        strv_release(&parts);
        free(text);
    }
    return rc;
}

/* "1m30s", "500ms", "0s" in nanoseconds, as Go writes times. */
static bool read_duration(const char *s, double *ns)
{
    static const struct { const char *unit; double ns; } units[] = {
        {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
    *ns = 0;
    if (str_eq(s, "0"))
        return true;
    for (bool any = false; *s || !any; any = true) {
        char *end;
        double v = strtod(s, &end), unit = 0;
        if (end == s || v < 0 || !(v < 1e9))
            return false;
        size_t n = strspn(end, "numsh");
        for (size_t i = 0; i < ARRAY_LEN(units); i++)
            if (strlen(units[i].unit) == n && strncmp(units[i].unit, end, n) == 0)
                unit = units[i].ns;
        if (unit == 0)
            return false;
        *ns += v * unit;
        s = end + n;
    }
    return true;
}

static enum pd_code health_flag(struct build *b, const struct df_word *f, struct json *h)
{
    static const struct { const char *flag, *key; } map[] = {
        {"--interval=", "Interval"}, {"--timeout=", "Timeout"},
        {"--start-period=", "StartPeriod"}, {"--start-interval=", "StartInterval"},
        {"--retries=", "Retries"}};
    const char *value = strchr(f->text, '=') + 1;
    double n = 0;
    int64_t count = 0;
    bool retries = str_starts(f->text, "--retries=");
    if (retries ? !str_to_i64(value, &count) || count < 0
                : !read_duration(value, &n) || (n > 0 && n < 1e6)) {
        pd_fail_at(b->err, PD_PARSE, b->df->name, f->line, f->col,
                   retries ? _("--retries takes a number, not \"%.40s\"")
                           : _("\"%.40s\" is no time of at least 1ms"), value);
        return pd_set_hint(b->err, retries ? _("write --retries=3")
                                           : _("write --interval=30s, 1m30s or 500ms"));
    }
    for (size_t i = 0; i < ARRAY_LEN(map); i++)
        if (str_starts(f->text, map[i].flag) && (retries || n > 0))
            json_put_num(h, map[i].key, retries ? (double)count : n);
    return PD_OK;
}

/* Not of OCI, but of every image that Docker makes. */
static enum pd_code apply_health(struct build *b, const struct df_instr *in)
{
    struct json *h = json_new_object(), *test = json_new_array();
    enum pd_code rc = PD_OK;
    if (strcasecmp(in->words[0].text, "NONE") == 0) {
        json_append(test, json_new_string("NONE"));
    } else {
        json_append(test, json_new_string(in->json ? "CMD" : "CMD-SHELL"));
        for (size_t i = 1; i < in->nwords; i++)
            json_append(test, json_new_string(in->words[i].text));
        if (!in->json)
            json_append(test, json_new_string(in->rest));
    }
    json_set(h, "Test", test);
    for (size_t i = 0; i < in->nflags && rc == PD_OK; i++)
        rc = health_flag(b, &in->flags[i], h);
    if (rc == PD_OK)
        json_set(b->config, "Healthcheck", h);
    else
        json_free(h);
    return rc;
}

static enum pd_code apply_onbuild(struct build *b, const struct df_instr *in)
{
    json_append(member(b->config, "OnBuild", JSON_ARRAY), json_new_string(in->rest));
    return PD_OK;
}

/* USER, STOPSIGNAL, MAINTAINER: one string. */
static enum pd_code apply_string(struct build *b, const struct df_instr *in)
{
    char *text = NULL;
    enum pd_code rc = builder_vars_word(b, &in->words[0], &text);
    if (rc != PD_OK)
        return rc;
    if (in->op == DF_MAINTAINER)
        json_put_str(b->now.root, "author", text);
    else
        json_put_str(b->config, in->op == DF_USER ? "User" : "StopSignal", text);
    free(text);
    return PD_OK;
}

enum pd_code builder_config_apply(struct build *b, const struct df_instr *in)
{
    static enum pd_code (*const apply[DF_OP_COUNT])(struct build *, const struct df_instr *) = {
        [DF_ENV] = apply_pairs,     [DF_LABEL] = apply_pairs,     [DF_ENTRYPOINT] = apply_exec,
        [DF_CMD] = apply_exec,       [DF_EXPOSE] = apply_set,
        [DF_VOLUME] = apply_set,    [DF_USER] = apply_string,     [DF_STOPSIGNAL] = apply_string,
        [DF_MAINTAINER] = apply_string, [DF_HEALTHCHECK] = apply_health,
        [DF_ONBUILD] = apply_onbuild,
    };
    assert(apply[in->op]);
    return apply[in->op](b, in);
}

static enum pd_code put_json(struct build *b, const struct json *j, const char *media_type,
                             struct image_desc *out)
{
    char *text = json_text(j, 0);
    enum pd_code rc = layout_put(b->spec->out, media_type, text, strlen(text), out, b->err);
    free(text);
    return rc;
}

enum pd_code builder_config_finish(struct build *b, struct build_stage *st,
                                   struct image_desc *out)
{
    struct image_desc config;
    enum pd_code rc = put_json(b, st->root, MT_OCI_CONFIG, &config);
    if (rc != PD_OK)
        return rc;
    struct json *m = json_new_object();
    json_put_num(m, "schemaVersion", 2);
    json_put_str(m, "mediaType", MT_OCI_MANIFEST);
    json_set(m, "config", desc_json(&config, MT_OCI_CONFIG));
    json_set(m, "layers", json_copy(st->layers));
    rc = put_json(b, m, MT_OCI_MANIFEST, out);
    json_free(m);
    return rc;
}
