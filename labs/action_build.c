/* action_build.c - an image is built from a Dockerfile of the work folder by a
 * child (`podium image build`). `with` names what the build context needs
 * besides: files and folders of the lab's folder (or "@podium-train", the
 * training core) that are laid beside the Dockerfile first, by a child too
 * (`podium lab stage`), since they are large. */
#include "core/base/i18n.h"
#include "labs/action_kinds.h"
#include "labs/errjson.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {{"file", LK_PATH, true},    {"context", LK_PATH, true},
                                      {"tag", LK_STR, true},      {"with", LK_MAP, false},
                                      {NULL, LK_ANY, false}};

enum { STAGE_LAY, STAGE_BUILD };
enum { BUILD_LIMIT_MS = 600000 };

static void word(struct json *argv, const char *s)
{
    json_append(argv, json_new_string(s));
}

static void spawn(struct session *s, struct action_run *a, int stage, struct json *argv,
                  const char *what, struct effects *out)
{
    struct json *args = json_new_object();
    json_set(args, "argv", argv);
    a->stage = stage;
    json_free(a->work);
    a->work = NULL;
    a->effect = effects_add(out, EFF_SPAWN, 0, 0, args);
    session_op_begin(s, a->effect, what);
}

static void lay(struct session *s, struct action_run *a, const char *context, struct effects *out)
{
    struct json *argv = json_new_array();
    const char *const words[] = {"podium", "lab", "stage", s->lab->dir ? s->lab->dir : ".",
                                 context};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        word(argv, words[i]);
    for (const struct json *w = json_first(json_get(a->args, "with")); w; w = json_next(w)) {
        const char *source = json_string_value(w);
        char *pair = xasprintf("%s=%s", json_key(w), source ? source : "");
        word(argv, pair);
        free(pair);
    }
    spawn(s, a, STAGE_LAY, argv, _("laying out the build context"), out);
}

static void build(struct session *s, struct action_run *a, struct effects *out)
{
    struct json *argv = json_new_array();
    char *file = session_work_path(s, json_str(a->args, "file", ""));
    char *context = session_work_path(s, json_str(a->args, "context", ""));
    const char *const words[] = {"podium", "image", "build", "--json", "-f", file, "-t",
                                 json_str(a->args, "tag", ""), context};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        word(argv, words[i]);
    free(file);
    free(context);
    build_state_begin(&s->build, json_str(a->args, "tag", ""), session_priv(s)->now_ms);
    spawn(s, a, STAGE_BUILD, argv, _("building the image"), out);
}

static void start(struct session *s, struct action_run *a, struct effects *out)
{
    char *context = session_work_path(s, json_str(a->args, "context", ""));
    a->until_ms = a->started_ms + BUILD_LIMIT_MS;
    if (json_count(json_get(a->args, "with")))
        lay(s, a, context, out);
    else
        build(s, a, out);
    free(context);
}

static bool child_failed(struct session *s, struct action_run *a, const struct msg *m)
{
    struct pd_err err;
    if (str_eq(json_str(a->work, "ev", ""), "error") && errjson_read(a->work, &err)) {
        action_fail_err(a, &err);
    } else if (json_int(m->body, "code", -1) != 0) {
        const char *text = json_str(m->body, "stderr", "");
        action_fail(a, PD_IO, _("the child ended with code %d: %s"),
                    (int)json_int(m->body, "code", -1), *text ? text : _("it said nothing"));
    } else {
        session_op_end(s, false, NULL);
        return false;
    }
    session_op_end(s, true, a->err.msg);
    return true;
}

bool action_child_ended(struct session *s, struct action_run *a, const struct msg *m)
{
    if (!a->effect || m->effect != a->effect)
        return false;
    const struct json *r = json_get(m->body, "record");
    if (m->kind == MSG_CHILD_LINE && r) {
        json_free(a->work);
        a->work = json_copy(r);
        build_state_record(&s->build, r, session_priv(s)->now_ms);
    }
    if (m->kind != MSG_CHILD_EXIT)
        return false;
    a->effect = 0;
    return !child_failed(s, a, m);
}

void action_image_fact(struct session *s, struct action_run *a, const char *fact,
                       const char *ref, struct effects *out)
{
    struct json *j = json_new_object();
    json_put_str(j, "ref", ref);
    json_put_str(j, "digest", json_str(a->work, "digest", ""));
    build_state_end(&s->build, NULL, session_priv(s)->now_ms);
    session_set_fact(s, fact, j, out);
    a->state = ACTION_DONE;
}

static void message(struct session *s, struct action_run *a, const struct msg *m,
                    struct effects *out)
{
    if (!action_child_ended(s, a, m))
        return;
    if (a->stage == STAGE_LAY) {
        build(s, a, out);
        return;
    }
    action_image_fact(s, a, "build", json_str(a->args, "tag", ""), out);
}

const struct action_kind action_build = {"build", keys, start, message};
