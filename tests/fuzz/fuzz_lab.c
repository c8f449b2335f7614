/* fuzz_lab.c - any bytes as a lab file, a journal and a run's log: an error with
 * its place, or a session that can be opened, stepped through and closed.
 * fuzz: labs core/base core/io k8s
 */
#include "core/base/base.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "labs/progress.h"
#include "labs/session_priv.h"

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
    for (int i = 0; i <= lab->steps_n && i < 20; i++) {
        command(s, &out, "step.run", "");
        command(s, &out, "step.hint", "");
        command(s, &out, "step.check", "");
        command(s, &out, "step.next", "");
    }
    command(s, &out, "lab.close", "");
    session_free(s);
    effects_release(&out);
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
