/* check_answer.c - a server's refusal that was kept, JSON or kubectl's words, at the
 * lines of the manifest (check_in.h). */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/rules/check_in.h"

/* "* spec.x: Invalid value: …": one cause a line. */
static void causes_of(struct json *status, const char *text)
{
    struct json *list = json_new_array();
    for (const char *p = text; *p;) {
        p += strspn(p, " *\n");
        size_t n = strcspn(p, "\n"), colon = 0;
        while (colon < n && !(p[colon] == ':' && p[colon + 1] == ' '))
            colon++;
        if (colon > 0 && colon < n) {
            struct json *c = json_new_object();
            json_set(c, "field", json_new_string_n(p, colon));
            json_set(c, "message", json_new_string_n(p + colon + 2, n - colon - 2));
            json_append(list, c);
        }
        p += n;
    }
    json_put_path(status, "details.causes", list);
}

/* A Status of whatever the answer is. */
static struct json *status_of(const char *answer)
{
    struct json *j = NULL;
    struct pd_err ignored;
    const char *start = answer + strspn(answer, " \t\r\n");
    if (*start == '{' && json_parse(start, strlen(start), &j, &ignored) == PD_OK)
        return j;
    const char *invalid = strstr(answer, " is invalid: ");
    j = json_new_object();
    json_put_str(j, "message", answer);
    if (invalid)
        causes_of(j, invalid + strlen(" is invalid: "));
    return j;
}

/* The document that the answer is about: of its name, else the first. */
static const struct manifest_doc *about(const struct manifest *m, const struct json *status)
{
    const char *name = json_str(status, "details.name", "");
    const char *text = json_str(status, "message", "");
    for (size_t i = 0; i < m->n; i++) {
        const char *own = json_str(m->docs[i].object, "metadata.name", "");
        char *quoted = xasprintf("\"%s\"", own);
        bool hit = *own && (!strcmp(own, name) || strstr(text, quoted));
        free(quoted);
        if (hit)
            return &m->docs[i];
    }
    return &m->docs[0];
}

static bool told(const struct check *c, const char *path, const char *message)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->v[i].path, path) && strstr(c->v[i].said, strrchr(message, ':')
                                                                     ? strrchr(message, ':')
                                                                     : message))
            return true;
    return false;
}

void check_answer(struct check *c, const struct manifest *m, const char *answer)
{
    enum { CAUSES = 32 };
    struct manifest_cause cause[CAUSES];
    struct json *status = status_of(answer);
    const struct manifest_doc *d = about(m, status);
    size_t n = check_causes(d, status, cause, CAUSES);
    for (size_t i = 0; i < n; i++) {
        if (told(c, cause[i].path, cause[i].msg))
            continue;
        struct check_finding *f = check_add(c, CHECK_ERROR, "refused", cause[i].path,
                                            cause[i].msg);
        if (!f->path)
            continue;
        f->servers = true;
        check_at(f, cause[i].line, cause[i].col);
        check_words(f);
    }
    const char *message = json_str(status, "message", "");
    if (n == 0 && *message && check_errors(c) == 0) {
        struct check_finding *f = check_add(c, CHECK_ERROR, "refused", "", message);
        f->servers = true;
        check_at(f, d->line, 1);
        check_say(f, xstrdup(_("the API server refuses the value")),
                  xstrdup(_("correct the field named")));
    }
    json_free(status);
}
