/* choices.c - the remembered namespaces as text (choices.h). */
#include "labs/choices.h"

#include "core/base/mem.h"
#include "core/base/path.h"

enum { CONTEXTS_MOST = 200 };

char *choices_path(void)
{
    return path_home(PATH_STATE, "namespaces.json");
}

static struct json *parse(const char *text)
{
    struct json *j = NULL;
    struct pd_err err;
    if (!text || json_parse(text, strlen(text), &j, &err) != PD_OK ||
        json_type(json_get(j, "contexts")) != JSON_ARRAY) {
        json_free(j);
        return NULL;
    }
    return j;
}

static bool is(const struct json *e, const char *file, const char *context)
{
    return str_eq(json_str(e, "file", ""), file) && str_eq(json_str(e, "context", ""), context);
}

static long place(const struct json *list, const char *file, const char *context)
{
    long i = 0;
    for (const struct json *e = json_first(list); e; e = json_next(e), i++)
        if (is(e, file, context))
            return i;
    return -1;
}

struct json *choices_find(const char *text, const char *file, const char *context)
{
    struct json *all = parse(text);
    const struct json *list = json_get(all, "contexts");
    long i = place(list, file, context);
    struct json *found = i < 0 ? NULL : json_copy(json_item(list, (size_t)i));
    json_free(all);
    return found;
}

/* The newest first, each once. */
static struct json *used(const struct json *old, const char *ns)
{
    struct json *out = json_new_array();
    if (ns)
        json_append(out, json_new_string(ns));
    for (const struct json *u = json_first(json_get(old, "used")); u; u = json_next(u)) {
        const char *name = json_string_value(u);
        if (name && !str_eq(name, ns) && json_count(out) < CHOICES_USED)
            json_append(out, json_new_string(name));
    }
    return out;
}

char *choices_with(const char *text, const char *file, const char *context, const char *ns)
{
    struct json *all = parse(text);
    if (!all) {
        all = json_new_object();
        json_put_num(all, "v", 1);
        json_set(all, "contexts", json_new_array());
    }
    struct json *list = json_get_mut(all, "contexts");
    long i = place(list, file, context);
    struct json *old = i < 0 ? NULL : json_detach_item(list, (size_t)i);
    struct json *e = json_new_object();
    json_put_str(e, "file", file);
    json_put_str(e, "context", context);
    if (ns)
        json_put_str(e, "namespace", ns);
    json_set(e, "used", used(old, ns));
    json_append(list, e);
    while (json_count(list) > CONTEXTS_MOST)     /* the one used longest ago */
        json_free(json_detach_item(list, 0));
    char *out = json_text(all, 1);
    json_free(old);
    json_free(all);
    return out;
}
