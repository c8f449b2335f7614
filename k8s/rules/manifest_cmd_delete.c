/* manifest_cmd_delete.c - `podium delete`: by name and uid, never all
 * (manifest_cmd.h). */
#include "k8s/rules/manifest_cmd.h"

#include <ctype.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/rules/manifest_cmd_in.h"

enum { LOOK_MS = 300 };

static const char help[] =
    N_("usage: podium delete -f FILE|FOLDER|- [options]\n"
       "       podium delete KIND/NAME... [--uid UID] [options]\n"
       "options: [-n NAMESPACE] [--cascade background|foreground|orphan] [--grace SECONDS]\n"
       "         [--no-wait] [--timeout SECONDS] [--ignore-not-found] [--dry-run]\n"
       "         [--context C] [--kubeconfig F] [--json] [--lang en|zh]\n"
       "\n"
       "Deletes exactly the objects named: each is looked up first, and only the one with that\n"
       "uid goes (one of the same name that came in its place stays). --all does not exist.\n"
       "It waits until they are gone.\n"
       "\n"
       "Exit codes: 0 gone, 1 not there or refused, 2 usage, 3 no cluster or time is up.\n");

static const char *policy(const char *cascade)
{
    static const char *const names[][2] = {{"background", "Background"},
                                           {"foreground", "Foreground"}, {"orphan", "Orphan"}};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq(names[i][0], cascade))
            return names[i][1];
    return NULL;
}

static struct json *options(const struct manifest_cmd *m, const char *uid)
{
    struct json *o = json_from("{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"}");
    json_put_str(o, "propagationPolicy", policy(m->cascade));
    json_put_path(o, "preconditions.uid", json_new_string(uid));
    if (m->grace >= 0)
        json_put_num(o, "gracePeriodSeconds", m->grace);
    if (m->dry_run)
        json_set(o, "dryRun", json_from("[\"All\"]"));
    return o;
}

/* Until the path gives nothing, or another object. */
static int wait_gone(struct manifest_cmd *m, const char *path, const char *uid)
{
    int64_t until = clock_ms() + (int64_t)m->timeout_s * 1000;
    for (;;) {
        bool there = send_call(&m->send, "GET", path, NULL, NULL);
        if (m->send.status == 404 ||
            (there && strcmp(json_str(m->send.object, "metadata.uid", ""), uid) != 0))
            return MANIFEST_CMD_OK;
        if (!there && m->send.status) {
            manifest_cmd_error(m, &m->send.err);
            return MANIFEST_CMD_FAILED;
        }
        if (clock_ms() > until)
            break;
        send_rest(&m->send, LOOK_MS);
    }
    struct pd_err err;
    pd_fail(&err, PD_TIMEOUT, _("it is still there after %d s"), m->timeout_s);
    const char *f = json_str(m->send.object, "metadata.finalizers[0]", NULL);
    if (f)
        pd_set_hint(&err, _("it waits for the finalizer %.100s; whoever set it must take it away"),
                    f);
    else
        pd_set_hint(&err, "%s", _("wait longer with --timeout"));
    manifest_cmd_error(m, &err);
    return MANIFEST_CMD_NONE;
}

static int absent(struct manifest_cmd *m, const struct json *object)
{
    if (m->ignore_absent)
        return MANIFEST_CMD_OK;
    if (m->json)
        manifest_cmd_say(m, object, "absent", NULL);
    else
        manifest_cmd_error(m, &m->send.err);
    return MANIFEST_CMD_FAILED;
}

static int delete_at(struct manifest_cmd *m, const char *path, const struct json *object)
{
    if (!send_call(&m->send, "GET", path, NULL, NULL)) {
        if (m->send.status == 404)
            return absent(m, object);
        manifest_cmd_error(m, &m->send.err);
        return m->send.status ? MANIFEST_CMD_FAILED : MANIFEST_CMD_NONE;
    }
    struct json *live = json_copy(m->send.object);
    const char *uid = m->uid ? m->uid : json_str(live, "metadata.uid", "");
    struct json *o = options(m, uid);
    bool ok = send_call(&m->send, "DELETE", path, "application/json", o);
    int code = MANIFEST_CMD_OK;
    json_free(o);
    if (!ok && m->send.status != 404) {
        manifest_cmd_error(m, &m->send.err);
        code = m->send.status ? MANIFEST_CMD_FAILED : MANIFEST_CMD_NONE;
    } else if (!m->no_wait && !m->dry_run) {
        code = wait_gone(m, path, uid);
    }
    if (code == MANIFEST_CMD_OK)
        manifest_cmd_say(m, live, N_("deleted"), NULL);
    json_free(live);
    return code;
}

static int delete_doc(struct manifest_cmd *m, const struct manifest *file,
                      const struct manifest_doc *d)
{
    char path[RES_PATH_MAX];
    struct pd_err err;
    (void)file;
    if (send_path(&m->send, d->object, false, path, &err) == PD_OK)
        return delete_at(m, path, d->object);
    manifest_cmd_error(m, &err);
    return MANIFEST_CMD_FAILED;
}

/* "job/ft": a kind that the table knows. */
static int delete_named(struct manifest_cmd *m, const char *word)
{
    char kind[100], path[RES_PATH_MAX], gv[64];
    const char *slash = strchr(word, '/');
    struct pd_err err;
    str_fmt(kind, sizeof kind, "%.*s", slash ? (int)(slash - word) : 0, word);
    const struct res *r = res_by_name(kind);
    if (!r || !slash || !slash[1]) {
        pd_fail(&err, PD_USAGE, _("%s is no KIND/NAME that podium knows"), word);
        const char *near = slash ? res_nearest(kind) : NULL;
        if (near)
            pd_set_hint(&err, _("did you mean %s?"), near);
        else
            pd_set_hint(&err, "%s", _("write such as job/ft, or use -f FILE"));
        manifest_cmd_error(m, &err);
        return MANIFEST_CMD_USAGE;
    }
    struct json *o = json_new_object();
    json_put_str(o, "apiVersion", res_api_version(r, gv));
    json_put_str(o, "kind", r->kind);
    json_put_path(o, "metadata.name", json_new_string(slash + 1));
    res_path(r, k8s_namespace(m->send.k), slash + 1, NULL, path);
    int code = delete_at(m, path, o);
    json_free(o);
    return code;
}

static bool is_object(const char *word)
{
    const char *slash = strchr(word, '/');
    char kind[100];
    if (!slash || strchr(slash + 1, '/') || !isalpha((unsigned char)*word))
        return false;
    str_fmt(kind, sizeof kind, "%.*s", (int)(slash - word), word);
    return res_by_name(kind) != NULL || access(word, F_OK) != 0;
}

static int run(struct manifest_cmd *m)
{
    struct strv words;
    int code;
    strv_init(&words);
    for (size_t i = 0; i < m->named.n; i++)
        if (is_object(m->named.v[i]))
            strv_push(&words, m->named.v[i]);
    if (words.n) {                                /* no files, then */
        struct pd_err err;
        code = send_open(&m->send, &m->kube, &err) == PD_OK ? MANIFEST_CMD_OK : MANIFEST_CMD_NONE;
        if (code)
            manifest_cmd_error(m, &err);
        for (size_t i = 0; i < m->named.n && code != MANIFEST_CMD_NONE; i++) {
            int one = delete_named(m, m->named.v[i]);
            code = MAX(code, one);
        }
    } else {
        code = manifest_cmd_open(m);
        if (code == MANIFEST_CMD_OK)
            code = manifest_cmd_each(m, delete_doc, true);
    }
    strv_release(&words);
    return code;
}

int manifest_cmd_delete(int argc, char **argv)
{
    struct manifest_cmd m;
    if (argc > 1 && (str_eq(argv[1], "--help") || str_eq(argv[1], "-h"))) {
        fputs(_(help), stdout);
        return 0;
    }
    int code = MANIFEST_CMD_USAGE;
    bool parsed = manifest_cmd_parse(&m, argc, argv, help);
    if (parsed && !policy(m.cascade))
        fprintf(stderr, "%s\n", _("--cascade: background, foreground or orphan"));
    else if (parsed && m.uid && m.named.n != 1)
        fprintf(stderr, "%s\n", _("--uid goes with exactly one KIND/NAME"));
    else if (parsed)
        code = run(&m);
    manifest_cmd_release(&m);
    return code;
}
