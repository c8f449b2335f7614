/* manifest_cmd_apply.c - `podium apply` and `podium diff` (manifest_cmd.h). */
#include "k8s/rules/manifest_cmd.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/client_io.h"
#include "k8s/rules/check.h"
#include "k8s/rules/conflict.h"
#include "k8s/rules/diff.h"
#include "k8s/rules/files.h"
#include "k8s/rules/manifest_cmd_in.h"

static const char help_apply[] =
    N_("usage: podium apply -f FILE|FOLDER|- [-n NAMESPACE] [--dry-run] [--force-conflicts]\n"
       "                    [--no-check] [--context C] [--kubeconfig F] [--json] [--lang en|zh]\n"
       "\n"
       "Sends manifests by server-side apply (field manager podium, strict field validation).\n"
       "First they are checked (podium check); with an error nothing is sent, unless --no-check.\n"
       "A field that another manager owns is a conflict: it is shown with both values, and only\n"
       "--force-conflicts takes it over. --dry-run lets the server judge without changing "
       "anything.\n"
       "\n"
       "Exit codes: 0 done, 1 refused, 2 usage, 3 no cluster or a file can't be read.\n");
static const char help_diff[] =
    N_("usage: podium diff -f FILE|FOLDER|- [-n NAMESPACE] [--context C] [--kubeconfig F]\n"
       "                   [--json] [--lang en|zh]\n"
       "\n"
       "Shows what podium apply would change: the object as it is against what the server would\n"
       "make of it. Values of Secrets are masked.\n"
       "\n"
       "Exit codes: 0 no difference, 1 differences, 2 usage, 3 failed.\n");

#define APPLY "application/apply-patch+yaml"

/* The check before anything is sent: false, and what is wrong told, on errors. */
static bool checked(struct manifest_cmd *m, const char *path, bool *readable)
{
    struct str text, out;
    struct pd_err err;
    struct check_options o = {.ns = m->kube.ns};
    struct check_style style = {0, m->colour};
    str_init(&text, FILES_MAX);
    *readable = files_read(path, &text, &err) == PD_OK;
    if (!*readable) {
        manifest_cmd_error(m, &err);
        str_release(&text);
        return false;
    }
    struct check *c = check_run(path, text.p, text.len, &o);
    bool fine = check_errors(c) == 0;
    str_init(&out, 8 << 20);
    if (!fine && m->json) {
        struct json *j = check_json(c);
        json_print(j, 0, &out);
        str_addc(&out, '\n');
        json_free(j);
    } else if (c->n) {
        check_print(c, text.p, text.len, &style, &out);
    }
    if (!m->json || !fine)
        fputs(out.p, m->json ? stdout : stderr);
    str_release(&out);
    str_release(&text);
    check_free(c);
    return fine;
}

static int check_all(struct manifest_cmd *m)
{
    int code = MANIFEST_CMD_OK;
    for (size_t i = 0; i < m->files.n && !m->no_check; i++) {
        bool readable = true;
        if (str_eq(m->files.v[i], "-"))
            continue;                             /* it can be read once only */
        if (!checked(m, m->files.v[i], &readable))
            code = MAX(code, readable ? MANIFEST_CMD_FAILED : MANIFEST_CMD_NONE);
    }
    if (code != MANIFEST_CMD_OK && !m->json)
        fprintf(stderr, "%s\n", _("nothing was sent"));
    return code;
}

/* The object as it is now, or NULL; false: it can't be had. */
static bool get_live(struct manifest_cmd *m, const char *path, struct json **live)
{
    *live = NULL;
    if (!send_call(&m->send, "GET", path, NULL, NULL) && m->send.status != 404)
        return false;
    if (m->send.status != 404)
        *live = json_copy(m->send.object);
    return true;
}

static bool patch(struct manifest_cmd *m, const char *path, const struct json *object, bool dry,
                  bool force)
{
    char *full = xasprintf("%s?%sfieldManager=podium&fieldValidation=Strict&force=%s", path,
                           dry ? "dryRun=All&" : "", force ? "true" : "false");
    bool ok = send_call(&m->send, "PATCH", full, APPLY, object);
    free(full);
    return ok;
}

static struct json *conflict_json(const struct conflict *c)
{
    struct json *o = json_new_object();
    json_put_str(o, "manager", c->manager);
    json_put_str(o, "field", c->path);
    json_put_str(o, "live", c->live);
    json_put_str(o, "file", c->ours);
    return o;
}

static void tell_conflicts(struct manifest_cmd *m, const struct manifest *file,
                           const struct manifest_doc *d, const struct json *live)
{
    struct conflicts c;
    struct json *list = json_new_array();
    char name[400];
    conflicts_read(&c, m->send.object, live, d->object);
    for (size_t i = 0; i < c.n; i++) {
        const struct conflict *x = &c.v[i];
        int line, col;
        char path[330], was[330], ours[330];
        manifest_place(d, x->path, &line, &col);
        k8s_clean(path, sizeof path, x->path, strlen(x->path));
        k8s_clean(was, sizeof was, x->live, strlen(x->live));
        k8s_clean(ours, sizeof ours, x->ours, strlen(x->ours));
        json_append(list, conflict_json(x));
        if (!m->json)
            fprintf(stderr, _("%s:%d:%d: conflict: %s belongs to \"%s\", who has set %s; the file "
                              "says %s\n"), file->name, line, col, path, x->manager, was, ours);
    }
    if (m->json) {
        struct json *more = json_new_object();
        json_set(more, "conflicts", list);
        manifest_cmd_say(m, d->object, N_("conflict"), more);
    } else {
        json_free(list);
        fprintf(stderr, _("%s: nothing was changed. Leave the field out of the file, or ask its "
                          "owner, or take it over with --force-conflicts\n"),
                send_name(d->object, name));
    }
    conflicts_release(&c);
}

static const char *action_of(const struct json *live, const struct json *now)
{
    if (!live)
        return N_("created");
    return diff_same(live, now) ? N_("unchanged") : N_("changed");
}

static int apply_one(struct manifest_cmd *m, const struct manifest *file,
                     const struct manifest_doc *d)
{
    char path[RES_PATH_MAX];
    struct json *live = NULL;
    struct pd_err err;
    int code = MANIFEST_CMD_OK;
    if (!*json_str(d->object, "metadata.name", "")) {
        pd_fail_at(&err, PD_INVALID, file->name, d->line, 1, "%s",
                   _("server-side apply needs metadata.name; generateName is not enough"));
        manifest_cmd_error(m, &err);
        return MANIFEST_CMD_FAILED;
    }
    if (send_path(&m->send, d->object, false, path, &err) != PD_OK) {
        manifest_cmd_error(m, &err);
        return m->send.status ? MANIFEST_CMD_FAILED : MANIFEST_CMD_NONE;
    }
    if (!get_live(m, path, &live)) {
        manifest_cmd_refused(m, file, d);
        return m->send.status ? MANIFEST_CMD_FAILED : MANIFEST_CMD_NONE;
    }
    if (patch(m, path, d->object, m->dry_run, m->force)) {
        manifest_cmd_say(m, m->send.object, action_of(live, m->send.object), NULL);
    } else {
        code = MANIFEST_CMD_FAILED;
        if (conflict_is(m->send.object))
            tell_conflicts(m, file, d, live);
        else
            manifest_cmd_refused(m, file, d);
    }
    json_free(live);
    return code;
}

int manifest_cmd_apply(int argc, char **argv)
{
    struct manifest_cmd m;
    if (argc > 1 && (str_eq(argv[1], "--help") || str_eq(argv[1], "-h"))) {
        fputs(_(help_apply), stdout);
        return 0;
    }
    int code = MANIFEST_CMD_USAGE;
    if (manifest_cmd_parse(&m, argc, argv, help_apply)) {
        code = manifest_cmd_open(&m);
        if (code == MANIFEST_CMD_OK)
            code = check_all(&m);
        if (code == MANIFEST_CMD_OK)
            code = manifest_cmd_each(&m, apply_one, false);
    }
    manifest_cmd_release(&m);
    return code;
}

/* --- diff --- */

static void print_coloured(const char *text, bool colour)
{
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "\n");
        char line[600];
        const char *on = *p == '-' ? "\033[31m" : *p == '+' ? "\033[32m" : *p == '@' ? "\033[36m"
                                                                                    : "";
        k8s_clean(line, sizeof line, p, n);
        printf("%s%s%s\n", colour ? on : "", line, colour && *on ? "\033[0m" : "");
        p += n + (p[n] == '\n');
    }
}

static int diff_one(struct manifest_cmd *m, const struct manifest *file,
                    const struct manifest_doc *d)
{
    char path[RES_PATH_MAX], name[400];
    struct json *live = NULL;
    struct pd_err err;
    struct str out;
    if (send_path(&m->send, d->object, false, path, &err) != PD_OK) {
        manifest_cmd_error(m, &err);
        return MANIFEST_CMD_NONE;
    }
    if (!get_live(m, path, &live) || !patch(m, path, d->object, true, true)) {
        manifest_cmd_refused(m, file, d);
        json_free(live);
        return MANIFEST_CMD_NONE;
    }
    str_init(&out, 16 << 20);
    diff_objects(live, m->send.object, send_name(d->object, name), &out);
    int code = out.len ? MANIFEST_CMD_FAILED : MANIFEST_CMD_OK;
    if (m->json) {
        struct json *more = json_new_object();
        json_put_str(more, "diff", out.p);
        manifest_cmd_say(m, m->send.object, action_of(live, m->send.object), more);
    } else {
        print_coloured(out.p, m->colour);
    }
    str_release(&out);
    json_free(live);
    return code;
}

int manifest_cmd_diff(int argc, char **argv)
{
    struct manifest_cmd m;
    if (argc > 1 && (str_eq(argv[1], "--help") || str_eq(argv[1], "-h"))) {
        fputs(_(help_diff), stdout);
        return 0;
    }
    int code = MANIFEST_CMD_USAGE;
    if (manifest_cmd_parse(&m, argc, argv, help_diff)) {
        code = manifest_cmd_open(&m);
        if (code == MANIFEST_CMD_OK)
            code = manifest_cmd_each(&m, diff_one, false);
    }
    manifest_cmd_release(&m);
    return code;
}
