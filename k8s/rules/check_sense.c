/* check_sense.c - what the API server takes but nobody means: units that are off by
 * a million, a command in one word, secrets with a line end (check_in.h). */
#include "core/base/base.h"

#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/quantity.h"
#include "k8s/rules/check_in.h"

struct sense {
    struct check *c;
    const struct manifest_doc *d;
};

static struct check_finding *warn(struct sense *s, const char *cause, const char *path, char *why,
                                  char *next)
{
    struct check_finding *f = check_add(s->c, CHECK_WARNING, cause, path, "");
    if (f->path)
        manifest_place(s->d, path, &f->line, &f->col);
    check_say(f, why, next);
    return f;
}

/* --- resources --- */

static void cpu(struct sense *s, const struct json *v, const char *at)
{
    struct quantity q;
    const char *text = json_string_value(v);
    const __int128 thousand = (__int128)1000 * 1000000000;
    if (!text || !quantity_parse(text, &q) || q.nano < thousand)
        return;
    size_t digits = strspn(text, "0123456789.");
    warn(s, "cpu-unit", at,
         xasprintf(_("cpu: %s is %s processors: M is a million, not a thousandth"), text,
                   text[digits] == 'M' ? _("millions of") : _("more than a thousand")),
         xasprintf(_("write %.*sm for thousandths of a processor (500m is half a one)"),
                   (int)digits, text));
}

static void memory(struct sense *s, const struct json *v, const char *at)
{
    struct quantity q;
    const char *text = json_string_value(v);
    const __int128 least = (__int128)(1 << 20) * 1000000000;
    if (!text || !quantity_parse(text, &q) || q.nano >= least || q.nano <= 0)
        return;
    size_t digits = strspn(text, "0123456789.");
    bool milli = text[digits] == 'm';
    warn(s, "memory-unit", at,
         milli ? xasprintf(_("memory: %s counts thousandths of a byte: m is a thousandth"), text)
               : xasprintf(_("memory: %s is below 1 MiB; without a unit it counts bytes"), text),
         xasprintf(_("write %.*s%s"), (int)digits, text, milli ? "Mi" : "Gi"));
}

static void resources(struct sense *s, const struct json *c, const char *base)
{
    static const char *const sides[] = {"limits", "requests"};
    char at[400];
    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        const struct json *side = json_get(json_get(c, "resources"), sides[i]);
        str_fmt(at, sizeof at, "%s.resources.%s[cpu]", base, sides[i]);
        cpu(s, json_get(side, "cpu"), at);
        str_fmt(at, sizeof at, "%s.resources.%s[memory]", base, sides[i]);
        memory(s, json_get(side, "memory"), at);
    }
}

/* --- images and commands --- */

static void image(struct sense *s, const struct json *c, const char *base)
{
    const char *name = json_str(c, "image", ""), *why = NULL, *next = NULL, *p;
    char at[400];
    str_fmt(at, sizeof at, "%s.image", base);
    const char *tag = strrchr(name, '/') ? strchr(strrchr(name, '/'), ':') : strchr(name, ':');
    size_t repo = tag ? (size_t)(tag - name) : strlen(name);
    const char *slash = memchr(name, '/', repo);      /* before it a registry, perhaps */
    if (slash && !memchr(name, '.', (size_t)(slash - name)) &&
        !memchr(name, ':', (size_t)(slash - name)))
        slash = NULL;
    for (p = slash ? slash : name; p < name + repo && !isupper((unsigned char)*p); p++)
        ;
    if (strstr(name, "://")) {
        why = N_("an image's name has no http:// before it");
        next = N_("write REGISTRY/NAME:TAG");
    } else if (name[strcspn(name, " \t\r\n")]) {
        why = N_("there is a blank in the image's name");
        next = N_("delete the blank");
    } else if (strstr(name, "${") || strstr(name, "{{")) {
        why = N_("a variable stands in the image's name that nothing will replace");
        next = N_("write the value itself");
    } else if (*name && p < name + repo) {
        why = N_("the name of an image is in small letters (the tag may have capitals)");
        next = N_("write it in small letters");
    } else if (tag && !tag[1]) {
        why = N_("the image's tag is empty");
        next = N_("write a tag behind the colon");
    }
    if (why)
        warn(s, "image-name", at, xasprintf("%s: %s (InvalidImageName)", name, _(why)),
             xstrdup(_(next)));
}

static void command(struct sense *s, const struct json *c, const char *base)
{
    char at[400];
    const struct json *list = json_get(c, "command");
    const char *first = json_string_value(json_item(list, 0));
    str_fmt(at, sizeof at, "%s.command[0]", base);
    if (!first || json_count(list) != 1 || !strchr(first, ' '))
        return;
    warn(s, "command-one-word", at,
         xasprintf(_("the whole of \"%.60s\" would be the name of the program: no shell cuts it"),
                   first),
         xstrdup(_("write one word an entry, or [\"sh\", \"-c\", \"...\"]")));
}

/* Before the feature ContainerRestartRules the server drops it without a word. */
static void restart_policy(struct sense *s, const struct json *c, const char *base)
{
    char at[400];
    str_fmt(at, sizeof at, "%s.restartPolicy", base);
    if (json_get(c, "restartPolicy") && !strstr(base, "initContainers"))
        warn(s, "field-wrong-level", at,
             xstrdup(_("restartPolicy belongs to the pod (spec.template.spec of a Job), beside "
                       "containers; here it is dropped without a word")),
             xstrdup(_("move it up, out of the container")));
}

static void containers(struct sense *s, const struct json *spec, const char *base)
{
    static const char *const lists[] = {"initContainers", "containers"};
    char at[320];
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        int n = 0;
        for (const struct json *c = json_first(json_get(spec, lists[i])); c; c = json_next(c)) {
            str_fmt(at, sizeof at, "%s.%s[%d]", base, lists[i], n++);
            resources(s, c, at);
            image(s, c, at);
            command(s, c, at);
            restart_policy(s, c, at);
        }
    }
}

/* --- other kinds --- */

/* Does the base64 text end in what stands for a line end? */
static bool ends_in_newline(const char *s)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;
    int n = 0, pad = 0;
    size_t len = strlen(s);
    while (len > 0 && strchr("\r\n=", s[len - 1]))
        pad += s[--len] == '=';
    if (len < 2)
        return false;
    for (size_t i = len >= 4 ? len - 4 + (size_t)pad : 0; i < len; i++, n++) {
        const char *p = strchr(letters, s[i]);
        bits = bits << 6 | (uint32_t)(p ? p - letters : 0);
    }
    bits <<= 6 * (4 - n);
    return ((bits >> (8 * pad)) & 0xFF) == '\n';
}

static void secret(struct sense *s, const struct json *o)
{
    char at[400];
    for (const struct json *m = json_first(json_get(o, "data")); m; m = json_next(m)) {
        const char *text = json_string_value(m);
        str_fmt(at, sizeof at, "data[%s]", json_key(m));
        if (text && strlen(text) < 400 && ends_in_newline(text))
            warn(s, "secret-newline", at,
                 xasprintf(_("%s ends in a line end (echo adds one; \\n is part of the secret "
                             "then)"),
                           json_key(m)),
                 xstrdup(_("encode it without: printf %s TEXT | base64 -w0 (or echo -n)")));
    }
}

static void claim(struct sense *s, const struct json *o)
{
    for (const struct json *m = json_first(json_at(o, "spec.accessModes")); m; m = json_next(m))
        if (str_eq(json_string_value(m), "ReadWriteMany"))
            warn(s, "pvc-read-write-many", "spec.accessModes",
                 xstrdup(_("ReadWriteMany needs storage that several nodes can write (NFS, "
                           "CephFS); most classes give ReadWriteOnce, and the claim would stay "
                           "Pending")),
                 xstrdup(_("use ReadWriteOnce when one pod, or pods of one node, mount it; else "
                           "name a storageClassName that can")));
}

static void job(struct sense *s, const struct json *o)
{
    const struct json *ttl = json_at(o, "spec.ttlSecondsAfterFinished");
    if (ttl && json_number_value(ttl) < 60)
        warn(s, "ttl-short", "spec.ttlSecondsAfterFinished",
             xasprintf(_("%g seconds after its end the Job is gone, with its pods and their logs"),
                       json_number_value(ttl)),
             xstrdup(_("keep it for a day (86400) or so")));
}

void check_sense(struct check *c, const struct manifest_doc *d)
{
    struct sense s = {c, d};
    const struct json *o = d->object, *spec = json_get(o, "spec");
    const char *kind = json_str(o, "kind", "");
    if (json_at(spec, "template.spec"))
        containers(&s, json_at(spec, "template.spec"), "spec.template.spec");
    else if (json_at(spec, "jobTemplate.spec.template.spec"))
        containers(&s, json_at(spec, "jobTemplate.spec.template.spec"),
                   "spec.jobTemplate.spec.template.spec");
    else if (!strcmp(kind, "Pod"))
        containers(&s, spec, "spec");
    if (!strcmp(kind, "Secret"))
        secret(&s, o);
    else if (!strcmp(kind, "PersistentVolumeClaim"))
        claim(&s, o);
    else if (!strcmp(kind, "Job"))
        job(&s, o);
}
