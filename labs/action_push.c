/* action_push.c - the built image goes to the registry, by a child (`podium
 * image push`) that knows the registry's login from the same kubeconfig. */
#include "core/base/i18n.h"
#include "labs/action_kinds.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {{"ref", LK_STR, true}, {NULL, LK_ANY, false}};
enum { PUSH_LIMIT_MS = 600000 };

static void start(struct session *s, struct action_run *a, struct effects *out)
{
    const struct session_priv *p = session_priv(s);
    struct json *args = json_new_object(), *argv = json_new_array();
    const char *words[8] = {"podium", "image", "push", "--json"};
    size_t n = 4;
    if (*p->kubeconfig) {
        words[n++] = "--kubeconfig";
        words[n++] = p->kubeconfig;
    }
    words[n++] = json_str(a->args, "ref", "");
    for (size_t i = 0; i < n; i++)
        json_append(argv, json_new_string(words[i]));
    json_set(args, "argv", argv);
    a->until_ms = a->started_ms + PUSH_LIMIT_MS;
    a->effect = effects_add(out, EFF_SPAWN, 0, 0, args);
    session_op_begin(s, a->effect, _("pushing the image"));
}

static void message(struct session *s, struct action_run *a, const struct msg *m,
                    struct effects *out)
{
    if (!a->effect || m->effect != a->effect)
        return;
    const struct json *r = json_get(m->body, "record");
    if (m->kind == MSG_CHILD_LINE && r) {
        json_free(a->work);
        a->work = json_copy(r);
    }
    if (m->kind != MSG_CHILD_EXIT)
        return;
    a->effect = 0;
    if (action_child_failed(s, a, m))
        return;
    struct json *fact = json_new_object();
    json_put_str(fact, "ref", json_str(a->args, "ref", ""));
    json_put_str(fact, "digest", json_str(a->work, "digest", ""));
    session_set_fact(s, "push", fact, out);
    a->state = ACTION_DONE;
}

const struct action_kind action_push = {"push", keys, start, message};
