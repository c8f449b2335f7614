/* fuzz_lab.c - any bytes as a lab file and a journal: an error with its place, or
 * a session that can be opened, linked to a cluster that answers everything with
 * nothing, stepped through, answered, cleared up and closed; and lint's rules.
 * fuzz: labs core/base core/io k8s
 */
#include "core/base/base.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "labs/lab_lint.h"
#include "labs/progress.h"
#include "labs/quiz.h"
#include "labs/session_priv.h"
#include "labs/step_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void send(struct session *s, struct effects *out, enum msg_kind kind, uint32_t effect,
                 struct json *body)
{
    struct msg *m = msg_new(kind, body);
    m->effect = effect;
    m->at_ms = 1800000000000;
    session_apply(s, m, out);
    msg_free(m);
}

static void command(struct session *s, struct effects *out, const char *name, const char *arg)
{
    struct json *body = json_new_object(), *args = json_new_array();
    json_put_str(body, "name", name);
    json_append(args, json_new_string(arg));
    json_set(body, "args", args);
    send(s, out, MSG_COMMAND, 0, body);
}

/* A cluster, with nothing in it. */
static void cluster(struct session *s, struct effects *out, const char *state)
{
    struct json *body = json_from("{\"server\":\"https://h\",\"namespace\":\"n\",\"version\":"
                                  "\"v1.31.0\"}");
    json_put_str(body, "state", state);
    send(s, out, MSG_CLUSTER, 0, body);
    for (int i = 0; i < SESSION_TABLES; i++) {
        struct json *list = json_new_object();
        json_put_str(list, "resource", s->tables[i].resource);
        json_set(list, "items", json_new_array());
        send(s, out, MSG_LIST, 0, list);
    }
}

/* Every question that is open gets an answer, a good one or none at all. */
static void reply_all(struct session *s, struct effects *out)
{
    struct effects open = *out;
    effects_init(out);
    out->next_id = open.next_id;
    for (size_t i = 0; i < open.n && i < 64; i++) {
        enum effect_kind k = open.v[i].kind;
        if (k == EFF_GET || k == EFF_LIST || k == EFF_CAN || k == EFF_APPLY || k == EFF_DELETE ||
            k == EFF_EXEC)
            send(s, out, MSG_REPLY, open.v[i].id,
                 json_from(i % 3 ? "{\"status\":200,\"object\":{\"apiVersion\":\"v1\",\"kind\":"
                                   "\"Pod\",\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},\"status\":"
                                   "{\"allowed\":true},\"items\":[]},\"exit\":0,\"stdout\":\"x\"}"
                                 : "{\"status\":404,\"error\":{\"code\":\"PD-K8S-NOTFOUND\","
                                   "\"text\":\"no\"}}"));
        else if (k == EFF_TIMER)
            send(s, out, MSG_TIMER, open.v[i].id, json_from("{\"name\":\"x\"}"));
    }
    effects_release(&open);
}

static void say_all(const struct session *s)
{
    struct str text;
    str_init(&text, 1 << 20);
    step_text_need(s, &text);
    step_text_scene(s, &text);
    step_text_notes(s, &text);
    step_text_solution(s, &text);
    step_text_clean(s, &text);
    str_release(&text);
}

/* What a person does in a step. */
static void work(struct session *s, struct effects *out)
{
    static const char *const commands[] = {"step.run", "step.hint",   "step.hint",
                                           "step.solution", "step.check", "op.cancel"};
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        command(s, out, commands[i], i == 3 ? "yes" : "");
        reply_all(s, out);
    }
    for (int i = 0; s->lab && s->progress && i < s->lab->steps[s->step].quiz_n; i++) {
        struct str right;
        str_init(&right, 1 << 16);
        quiz_right(s, s->step, i, &right);
        command(s, out, "quiz.answer", "b");
        command(s, out, "quiz.answer", right.p);
        str_release(&right);
    }
    say_all(s);
}

static void walk(struct lab *lab, const char *journal)
{
    struct lab_entry entry = {.path = (char *)"lab.yaml", .id = (char *)lab->id, .lab = lab};
    struct lab_list list = {&entry, 1};
    struct session *s = session_new(&list);
    struct effects out;
    effects_init(&out);
    session_set_work(s, "/w", 1);
    command(s, &out, "lab.open", lab->id);
    for (int i = 0; i < 2; i++) {
        struct session_priv *p = session_priv(s);
        struct json *body = json_new_object();
        if (i == 0 && *journal)
            json_put_str(body, "text", journal);
        send(s, &out, MSG_FILE, i ? p->read_snapshot : p->read_journal, body);
    }
    cluster(s, &out, "up");
    for (int i = 0; i <= lab->steps_n && i < 20; i++) {
        reply_all(s, &out);
        work(s, &out);
        cluster(s, &out, i % 3 ? "up" : "down");
        command(s, &out, "step.next", "");
    }
    cluster(s, &out, "up");
    command(s, &out, "lab.cleanup", "yes");
    for (int i = 0; i < 4; i++)
        reply_all(s, &out);
    say_all(s);
    command(s, &out, "lab.close", "");
    session_free(s);
    effects_release(&out);
}

static void ignore(void *arg, const struct lab_finding *f)
{
    (void)arg;
    assert(*f->rule && *f->text);
}

static void lint(const struct lab *lab, const char *text, size_t n)
{
    struct ydoc *doc = NULL;
    struct pd_err err;
    if (yaml_parse("lab.yaml", text, n, &doc, &err) == PD_OK)
        lab_lint_rules(lab, doc->root, ignore, NULL);
    yaml_docs_free(doc);
}

/* The input is the lab, then, behind a NUL, the journal. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xstrndup((const char *)data, size);
    size_t n = strlen(text);
    const char *rest = n < size ? (const char *)data + n + 1 : "";
    char *journal = xstrndup(rest, n < size ? size - n - 1 : 0);
    struct lab *lab = NULL;
    struct pd_err err = {0};
    i18n_init("en");
    if (lab_parse("lab.yaml", text, n, NULL, &lab, &err) == PD_OK) {
        lint(lab, text, n);
        walk(lab, journal);
        lab_free(lab);
    } else {
        assert(err.code != PD_OK && *err.msg);
    }
    struct progress_found found;
    json_free(progress_load("x", 1, n ? text : NULL, journal, &found));
    free(journal);
    free(text);
    return 0;
}
