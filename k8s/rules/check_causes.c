/* check_causes.c - places for refusals that name none (check.h). */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/client_io.h"
#include "k8s/rules/check.h"

struct looking {
    const struct manifest_doc *d;
    const char *message;
    struct manifest_cause *out;
    size_t n, max;
};

/* What decoding would say here, and the server has said. */
static void matches(void *arg, const struct strict_note *n)
{
    struct looking *l = arg;
    bool decoding = n->kind == STRICT_TYPE || n->kind == STRICT_VALUE;
    bool fraction = strstr(l->message, "cannot convert float64 to int") && n->value &&
                    json_type(n->value) == JSON_NUMBER && n->kind == STRICT_TYPE;
    if (!decoding || l->n == l->max || !(strstr(l->message, n->text) || fraction))
        return;
    struct manifest_cause *c = &l->out[l->n++];
    k8s_clean(c->path, sizeof c->path, n->path, strlen(n->path));
    k8s_clean(c->msg, sizeof c->msg, n->text, strlen(n->text));
    manifest_place(l->d, c->path, &c->line, &c->col);
}

size_t check_causes(const struct manifest_doc *d, const struct json *status,
                    struct manifest_cause *out, size_t max)
{
    const struct schema_type *t = schema_type(json_str(d->object, "apiVersion", ""),
                                              json_str(d->object, "kind", ""));
    struct looking l = {d, json_str(status, "message", ""), out, 0, max};
    if (t && !json_at(status, "details.causes")) {
        struct json *copy = json_copy(d->object);
        strict_walk(t, copy, matches, &l);
        json_free(copy);
    }
    return l.n ? l.n : manifest_causes(d, status, out, max);
}

enum pd_code check_refusal(const struct manifest *m, const struct manifest_doc *d, int http_status,
                           const struct json *status, struct pd_err *err)
{
    struct manifest_cause c;
    enum pd_code code = manifest_error(m, d, http_status, status, err);
    if (check_causes(d, status, &c, 1) == 0)
        return code;
    if (code == PD_HTTP) {                        /* a 500, but it is the object's fault */
        code = err->code = PD_INVALID;
        pd_set_hint(err, "%s", _(pd_hint(PD_INVALID)));
    }
    err->line = c.line;
    err->col = c.col;
    str_fmt(err->msg, sizeof err->msg, "%.200s%s%.300s", strstr(c.msg, c.path) ? "" : c.path,
            strstr(c.msg, c.path) ? "" : ": ", c.msg);
    return code;
}
