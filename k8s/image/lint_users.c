/* lint_users.c - ids above those that a build without root can give, and names
 * that the image does not know. */
#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/lint_priv.h"

enum { ROOTLESS_IDS = 65536 };

/* "student:100000:65536": the third field of the first line; the line itself. */
int64_t lint_subuid_count(const char *subuid, char line[128])
{
    struct strv f;
    int64_t n = ROOTLESS_IDS;
    line[0] = '\0';
    if (!subuid || !*subuid)
        return n;
    subuid += strspn(subuid, "\r\n\t ");
    str_fmt(line, 128, "%.*s", (int)MIN(strcspn(subuid, "\r\n"), (size_t)127), subuid);
    strv_init(&f);
    strv_split(&f, line, ':');
    if (f.n != 3 || !str_to_i64(f.v[2], &n) || n < 1) {
        n = ROOTLESS_IDS;
        line[0] = '\0';
    }
    strv_release(&f);
    return n;
}

static void check_id(struct lint_work *w, struct place p, const char *text, const char *where)
{
    char entry[128];
    int64_t count = lint_subuid_count(w->in->subuid, entry), id = -1;
    size_t n = strspn(text, "0123456789");
    char number[24];
    str_fmt(number, sizeof number, "%.*s", (int)MIN(n, sizeof number - 1), text);
    if (n == 0 || (text[n] && text[n] != ':') || !str_to_i64(number, &id))
        id = -1;
    if (text[n] == ':') {                 /* the group may be the larger one */
        int64_t gid;
        if (str_to_i64(text + n + 1, &gid))
            id = MAX(id, gid);
    }
    if (id <= count)
        return;
    struct lint_finding *f =
        lint_add(w, "rootless-uid-range", LINT_WARNING, p,
                 _("%s %s: a build without root (podman, buildah, rootless Docker) can give the "
                   "ids "
                   "0 to %lld only, %lld lies outside (\"potentially insufficient UIDs or GIDs "
                   "available in user namespace\", lchown: invalid argument)"),
                 where, text, (long long)count, (long long)id);
    if (*entry)
        lint_evidence(f, _("line %d: %s %s; subuid: %s (%lld ids)"), p.line, where, text, entry,
                      (long long)count);
    lint_next(f, _("use an id below %lld, or widen /etc/subuid and /etc/subgid to more than %lld "
                   "ids and run podman system migrate"), (long long)count, (long long)id);
}

static void user_add(struct lint_work *w, const struct df_instr *in)
{
    struct sh_list l;
    lint_shell_split(in, &l);
    for (size_t c = 0; c < l.n; c++) {
        const struct strv *v = &l.v[c].words;
        static const char *const makers[] = {"useradd", "adduser", "groupadd", "addgroup",
                                             "usermod", "chown"};
        bool maker = false;
        for (size_t i = 0; i < ARRAY_LEN(makers); i++)
            maker = maker || str_eq(v->v[0], makers[i]);
        for (size_t i = 1; maker && i < v->n; i++) {
            const char *x = v->v[i], *value = NULL;
            if ((str_eq(x, "-u") || str_eq(x, "--uid") || str_eq(x, "-g") || str_eq(x, "--gid")) &&
                i + 1 < v->n)
                value = v->v[i + 1];
            else if (str_starts(x, "--uid=") || str_starts(x, "--gid="))
                value = strchr(x, '=') + 1;
            else if (str_eq(v->v[0], "chown") && isdigit((unsigned char)x[0]))
                value = x;
            if (value)
                check_id(w, lint_find(w, in, value), value, v->v[0]);
        }
    }
    lint_shell_release(&l);
}

void lint_users(struct lint_work *w)
{
    for (size_t i = 0; i < w->df->n; i++) {
        const struct df_instr *in = &w->df->v[i];
        const char *chown = in->op == DF_COPY || in->op == DF_ADD ? dockerfile_flag(in, "chown")
                                                                  : NULL;
        if (chown)
            check_id(w, lint_find(w, in, "--chown"), chown, "--chown");
        if (in->op == DF_USER)
            check_id(w, lint_at_word(&in->words[0]), in->words[0].text, "USER");
        if (in->op == DF_RUN)
            user_add(w, in);
    }
}
