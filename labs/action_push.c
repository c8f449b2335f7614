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
    words[n++] = "--";                       /* a lab's text is no option */
    words[n++] = json_str(a->args, "ref", "");
    for (size_t i = 0; i < n; i++)
        json_append(argv, json_new_string(words[i]));
    json_set(args, "argv", argv);
    a->until_ms = a->started_ms + PUSH_LIMIT_MS;
    a->effect = effects_add(out, EFF_SPAWN, 0, 0, args);
    build_state_push(&s->build, json_str(a->args, "ref", ""), p->now_ms);
    session_op_begin(s, a->effect, _("pushing the image"));
}

static void message(struct session *s, struct action_run *a, const struct msg *m,
                    struct effects *out)
{
    if (action_child_ended(s, a, m))
        action_image_fact(s, a, "push", json_str(a->args, "ref", ""), out);
}

const struct action_kind action_push = {"push", keys, start, message};
