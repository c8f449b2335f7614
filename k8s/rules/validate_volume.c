/* validate_volume.c - the volumes of a pod, with the sentences of Kubernetes 1.34
 * (pkg/apis/core/validation, ValidateVolumes). */
#include "core/base/mem.h"
#include "k8s/rules/validate_in.h"

#define HOST_PATH_TYPES                                                                           \
    "|BlockDevice|CharDevice|Directory|DirectoryOrCreate|File|FileOrCreate|Socket"

static void mode(const struct json *o, const char *key, const char *base, struct ferrs *e)
{
    char at[VALIDATE_PATH];
    const struct json *v = json_get(o, key);
    str_fmt(at, sizeof at, "%s.%s", base, key);
    if (v && (json_number_value(v) < 0 || json_number_value(v) > 0777))
        ferrs_invalid(e, at, v, "must be a number between 0 and 0777 (octal), both inclusive");
}

static void items(const struct json *o, const char *base, struct ferrs *e)
{
    char at[VALIDATE_PATH], path[VALIDATE_PATH];
    int i = 0;
    for (const struct json *k = json_first(json_get(o, "items")); k; k = json_next(k), i++) {
        str_fmt(at, sizeof at, "%s.items[%d]", base, i);
        validate_field_required(k, "key", at, e);
        validate_field_required(k, "path", at, e);
        str_fmt(path, sizeof path, "%s.path", at);
        validate_field_descending(json_get(k, "path"), path, e);
        mode(k, "mode", at, e);
    }
}

static void no_steps_back(const struct json *v, const char *at, struct ferrs *e)
{
    struct strv parts;
    strv_init(&parts);
    strv_split(&parts, json_string_value(v) ? json_string_value(v) : "", '/');
    if (strv_has(&parts, ".."))
        ferrs_invalid(e, at, v, "must not contain '..'");
    strv_release(&parts);
}

/* --- one function a source --- */

static void host_path(const struct json *s, const char *at, struct ferrs *e)
{
    char path[VALIDATE_PATH];
    validate_field_required(s, "path", at, e);
    if (!*json_str(s, "path", ""))
        return;
    str_fmt(path, sizeof path, "%s.path", at);
    no_steps_back(json_get(s, "path"), path, e);
    validate_field_enum(s, "type", at, HOST_PATH_TYPES, e);
}

static void secret(const struct json *s, const char *at, struct ferrs *e)
{
    validate_field_required(s, "secretName", at, e);
    mode(s, "defaultMode", at, e);
    items(s, at, e);
}

static void config_map(const struct json *s, const char *at, struct ferrs *e)
{
    validate_field_required(s, "name", at, e);
    mode(s, "defaultMode", at, e);
    items(s, at, e);
}

static void claim(const struct json *s, const char *at, struct ferrs *e)
{
    validate_field_required(s, "claimName", at, e);
}

static void nfs(const struct json *s, const char *at, struct ferrs *e)
{
    char path[VALIDATE_PATH];
    validate_field_required(s, "server", at, e);
    validate_field_required(s, "path", at, e);
    str_fmt(path, sizeof path, "%s.path", at);
    if (json_str(s, "path", "")[0] != '/')
        ferrs_invalid(e, path, json_get(s, "path"), "must be an absolute path");
}

static void anything(const struct json *s, const char *at, struct ferrs *e)
{
    (void)s;
    (void)at;
    (void)e;
}

/* The first source counts; each further one is one too many, but for emptyDir,
 * which is looked at first. */
static void source(const struct json *v, const char *base, struct ferrs *e)
{
    static const struct {
        const char *key;
        void (*fn)(const struct json *s, const char *at, struct ferrs *e);
    } sources[] = {{"emptyDir", anything}, {"hostPath", host_path}, {"secret", secret},
                   {"nfs", nfs}, {"persistentVolumeClaim", claim}, {"downwardAPI", anything},
                   {"configMap", config_map}, {"projected", anything}, {"csi", anything},
                   {"ephemeral", anything}, {"image", anything}};
    char at[VALIDATE_PATH];
    int n = 0;
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        const struct json *s = json_get(v, sources[i].key);
        if (!s)
            continue;
        str_fmt(at, sizeof at, "%s.%s", base, sources[i].key);
        if (n++)
            ferrs_forbidden(e, at, "may not specify more than 1 volume type");
        else
            sources[i].fn(s, at, e);
    }
}

void validate_volumes(const struct json *spec, const char *base, struct validate_names *names,
                      struct ferrs *e)
{
    char at[VALIDATE_PATH], name_at[VALIDATE_PATH];
    int i = 0;
    for (const struct json *v = json_first(json_get(spec, "volumes")); v; v = json_next(v), i++) {
        const char *name = json_str(v, "name", "");
        size_t before = ferrs_count(e);
        str_fmt(at, sizeof at, "%s.volumes[%d]", base, i);
        source(v, at, e);
        validate_field_required(v, "name", at, e);
        validate_field_name(v, "name", at, validate_label_problem, e);
        str_fmt(name_at, sizeof name_at, "%s.name", at);
        if (strv_has(&names->volumes, name))
            ferrs_duplicate(e, name_at, name);
        if (ferrs_count(e) == before)             /* one with a fault can't be mounted */
            strv_push(&names->volumes, name);
    }
}
