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
    b->root = json_new_object();
    b->config = json_new_object();
    b->layers = json_new_array();
    json_put_str(b->root, "created", b->created);
    json_put_str(b->root, "architecture", "amd64");
    json_put_str(b->root, "os", "linux");
    json_append(env, json_new_string(DEFAULT_PATH));
    json_set(b->config, "Env", env);
    json_put_str(b->config, "WorkingDir", "/");
    json_set(b->root, "config", b->config);
    json_put_str(rootfs, "type", "layers");
    json_set(rootfs, "diff_ids", json_new_array());
    json_set(b->root, "rootfs", rootfs);
    json_set(b->root, "history", json_new_array());
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
            json_set(b->root, "history", json_copy(old));
        return;
    }
    for (size_t i = 0; i < im->n; i++)
        builder_config_history(b, "(base image)", false);
}

void builder_config_base(struct build *b, const struct image *im)
{
    const struct json *config = json_get(im->config_json, "config");
    struct json *rootfs = json_get_mut(b->root, "rootfs");
    if (json_type(config) == JSON_OBJECT) {
        b->config = json_copy(config);
        if (!has_path(b->config)) {
            if (json_type(json_get(b->config, "Env")) != JSON_ARRAY)
                json_set(b->config, "Env", json_new_array());
            json_append(json_get_mut(b->config, "Env"), json_new_string(DEFAULT_PATH));
        }
        json_set(b->root, "config", b->config);
    }
    json_set(rootfs, "diff_ids", json_copy(json_at(im->config_json, "rootfs.diff_ids")));
    for (size_t i = 0; i < im->n; i++)
        json_append(b->layers, desc_json(&im->layers[i].desc,
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
    json_append(json_get_mut(b->root, "history"), h);
}

void builder_config_layer(struct build *b, const struct layer_result *r)
{
    json_append(b->layers, desc_json(&r->desc, r->desc.media_type));
    json_append(json_at_mut(b->root, "rootfs.diff_ids"), json_new_string(r->diff_id));
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

/* ENTRYPOINT, CMD and SHELL; the shell form goes through the shell. */
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
    if (in->op == DF_SHELL) {
        json_set(b->config, "Shell", list);
        return PD_OK;
    }
    b->cmd_set = b->cmd_set || in->op == DF_CMD;
    if (in->op == DF_ENTRYPOINT && !b->cmd_set)
        json_remove(b->config, "Cmd");    /* the base's CMD was for its own ENTRYPOINT */
    json_set(b->config, in->op == DF_CMD ? "Cmd" : "Entrypoint", list);
    return PD_OK;
}

static bool port_valid(const char *s)
{
    int64_t n = 0;
    char port[16];
    size_t len = strcspn(s, "/");
    str_fmt(port, sizeof port, "%.*s", (int)MIN(len, (size_t)15), s);
    return str_to_i64(port, &n) && n > 0 && n < 65536 &&
           (!s[len] || str_eq(s + len, "/tcp") || str_eq(s + len, "/udp") ||
            str_eq(s + len, "/sctp"));
}

/* EXPOSE and VOLUME: members of a set. */
static enum pd_code apply_set(struct build *b, const struct df_instr *in)
{
    enum pd_code rc = PD_OK;
    for (size_t i = 0; i < in->nwords && rc == PD_OK; i++) {
        char *text = NULL;
        if ((rc = builder_vars_word(b, &in->words[i], &text)) != PD_OK)
            break;
        if (in->op == DF_EXPOSE && !port_valid(text))
            rc = pd_fail_at(b->err, PD_PARSE, b->df->name, in->words[i].line, in->words[i].col,
                            _("\"%.40s\" is no port: write 8080 or 53/udp"), text);
        char *key = xasprintf("%s%s", text,
                              in->op == DF_EXPOSE && !strchr(text, '/') ? "/tcp" : "");
        if (rc == PD_OK)
            json_set(member(b->config, in->op == DF_EXPOSE ? "ExposedPorts" : "Volumes",
                            JSON_OBJECT), key, json_new_object());
        free(key);
        free(text);
    }
    return rc;
}

/* USER, STOPSIGNAL, MAINTAINER: one string. */
static enum pd_code apply_string(struct build *b, const struct df_instr *in)
{
    char *text = NULL;
    enum pd_code rc = builder_vars_word(b, &in->words[0], &text);
    if (rc != PD_OK)
        return rc;
    if (in->op == DF_MAINTAINER)
        json_put_str(b->root, "author", text);
    else
        json_put_str(b->config, in->op == DF_USER ? "User" : "StopSignal", text);
    free(text);
    return PD_OK;
}

enum pd_code builder_config_apply(struct build *b, const struct df_instr *in)
{
    static enum pd_code (*const apply[DF_OP_COUNT])(struct build *, const struct df_instr *) = {
        [DF_ENV] = apply_pairs,     [DF_LABEL] = apply_pairs,     [DF_ENTRYPOINT] = apply_exec,
        [DF_CMD] = apply_exec,      [DF_SHELL] = apply_exec,      [DF_EXPOSE] = apply_set,
        [DF_VOLUME] = apply_set,    [DF_USER] = apply_string,     [DF_STOPSIGNAL] = apply_string,
        [DF_MAINTAINER] = apply_string,
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

enum pd_code builder_config_finish(struct build *b, struct image_desc *out)
{
    struct image_desc config;
    enum pd_code rc = put_json(b, b->root, MT_OCI_CONFIG, &config);
    if (rc != PD_OK)
        return rc;
    struct json *m = json_new_object();
    json_put_num(m, "schemaVersion", 2);
    json_put_str(m, "mediaType", MT_OCI_MANIFEST);
    json_set(m, "config", desc_json(&config, MT_OCI_CONFIG));
    json_set(m, "layers", b->layers);
    b->layers = NULL;
    rc = put_json(b, m, MT_OCI_MANIFEST, out);
    json_free(m);
    return rc;
}
