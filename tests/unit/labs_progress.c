/* labs_progress.c - progress: what survives a torn line, a bad snapshot, another
 * version of the lab, and SIGKILL at any moment. */
#include "tests/unit/labs_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "labs/effects.h"
#include "labs/progress.h"

static const char four[] = "podium: 1\nid: x\ntitle: X\nsteps:\n"
                           "  - {id: s1, title: A, say: s}\n  - {id: s2, title: A, say: s}\n"
                           "  - {id: s3, title: A, say: s}\n  - {id: s4, title: A, say: s}\n";

static struct lab *lab_of(const char *text)
{
    struct lab *lab = NULL;
    struct pd_err err;
    CHECK_OK(lab_parse("l", text, strlen(text), NULL, &lab, &err));
    return lab;
}

/* Untouched steps are not jumped over, and the end is only when all are done. */
TEST(next_is_the_first_step_that_is_not_done)
{
    struct lab *lab = lab_of(four);
    struct progress_found f;
    struct json *s = progress_load("x", 1, NULL,
                                   "{\"seq\":1,\"ev\":\"done\",\"step\":\"s1\"}\n"
                                   "{\"seq\":2,\"ev\":\"done\",\"step\":\"s4\"}\n"
                                   "{\"seq\":3,\"ev\":\"at\",\"step\":\"s4\"}\n", &f);
    CHECK_INT(progress_step(s, lab), 1);
    CHECK(!progress_finished(s, lab));
    const char *rest[] = {"{\"seq\":4,\"ev\":\"done\",\"step\":\"s2\"}",
                          "{\"seq\":5,\"ev\":\"done\",\"step\":\"s3\"}"};
    for (int i = 0; i < 2; i++) {
        struct json *e = json_from(rest[i]);
        CHECK(progress_apply(s, e));
        json_free(e);
    }
    CHECK(progress_finished(s, lab));
    json_free(s);
    lab_free(lab);
}

/* tests/cases/lab-engine: a state file that says more than the steps allow. */
TEST(the_recorded_case_goes_on_at_s2)
{
    struct ydoc *doc = NULL;
    struct pd_err err;
    struct str yaml, journal;
    struct progress_found found;
    int seq = 0;
    CHECK_OK(yaml_read_file(PODIUM_SOURCE_DIR "/tests/cases/lab-engine/002-skips-steps/sce"
                                              "nario.yaml",
                            &doc, &err));
    str_init(&yaml, 1 << 16);
    str_init(&journal, 1 << 16);
    str_add(&yaml, "podium: 1\nid: x\ntitle: X\nsteps:\n");
    for (const struct ynode *n = yaml_get(doc->root, "steps")->first; n; n = n->next)
        str_printf(&yaml, "  - {id: %s, title: A, say: s}\n", n->text);
    for (const struct ynode *n = yaml_at(doc->root, "state_file.done")->first; n; n = n->next)
        str_printf(&journal, "{\"seq\":%d,\"ev\":\"done\",\"step\":\"%s\"}\n", ++seq, n->text);
    struct lab *lab = lab_of(yaml.p);
    struct json *s = progress_load("x", 1, NULL, journal.p, &found);
    CHECK_STR(lab->steps[progress_step(s, lab)].id, "s2");
    CHECK(!progress_finished(s, lab));
    json_free(s);
    lab_free(lab);
    str_release(&yaml);
    str_release(&journal);
    yaml_docs_free(doc);
}

#define ANSWER "\"ev\":\"answer\",\"step\":\"a\",\"quiz\":\"q\","

TEST(what_was_right_once_stays_right)
{
    struct progress_found f;
    struct json *s = progress_load(
        "x", 1, NULL,
        "{\"seq\":1," ANSWER "\"text\":\"b\",\"right\":false}\n"
        "{\"seq\":2," ANSWER "\"text\":\"c\",\"right\":true}\n"
        "{\"seq\":3," ANSWER "\"text\":\"d\",\"right\":false}\n"
        "{\"seq\":4,\"ev\":\"answer\",\"step\":\"a\",\"text\":\"no question\"}\n", &f);
    CHECK(json_bool(s, "steps.a.answers.q.right", false));
    CHECK_INT(json_int(s, "steps.a.answers.q.tries", 0), 3);
    CHECK_INT(json_int(s, "seq", 0), 3);
    json_free(s);
}

/* A state of another version, in our form or in another: what it says to be done
 * is, and the person is told; the file is put aside. */
TEST(what_a_newer_version_has_done_is_taken_over)
{
    static const char *const states[] = {
        "{\"podium_progress\":9,\"lab\":\"x\",\"seq\":44,\"steps\":{\"s1\":{\"done\":true,"
        "\"new\":1},\"gone\":{\"done\":true},\"s2\":{\"done\":\"maybe\"}}}",
        "{\"done\":[\"s1\",\"gone\",3,null]}"};
    struct lab *lab = lab_of("podium: 1\nid: x\ntitle: X\nsteps:\n"
                             "  - {id: s1, title: A, say: s}\n  - {id: s2, title: A, say: s}\n");
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        struct progress_found f;
        struct json *s = progress_load("x", 1, states[i], NULL, &f);
        CHECK(progress_done(s, "s1"));
        CHECK(!progress_done(s, "s2"));
        CHECK_INT(progress_step(s, lab), 1);
        CHECK(f.snapshot_bad && *f.note && !f.fresh);
        json_free(s);
    }
    lab_free(lab);
}

TEST(a_step_gone_past_is_over_and_not_done)
{
    struct progress_found f;
    struct json *s = progress_load(
        "x", 1, NULL, "{\"seq\":1,\"ev\":\"passed\",\"step\":\"s1\",\"how\":\"read\"}\n", &f);
    CHECK(progress_over(s, "s1") && !progress_done(s, "s1"));
    struct json *e = json_from("{\"seq\":2,\"ev\":\"done\",\"step\":\"s1\"}");
    CHECK(progress_apply(s, e));
    CHECK(progress_done(s, "s1"));
    CHECK(!json_has(s, "steps.s1.passed"));
    json_free(e);
    json_free(s);
}

TEST(steps_are_known_by_id)
{
    struct lab *lab = lab_of("podium: 1\nid: x\ntitle: X\nsteps:\n"
                             "  - {id: s3, title: A, say: s}\n  - {id: s1, title: A, say: s}\n");
    struct progress_found f;
    struct json *s = progress_load("x", 1, NULL,
                                   "{\"seq\":1,\"ev\":\"done\",\"step\":\"s1\"}\n"
                                   "{\"seq\":2,\"ev\":\"done\",\"step\":\"gone\"}\n", &f);
    CHECK(progress_done(s, "s1"));
    CHECK_INT(progress_step(s, lab), 0);
    CHECK_INT(progress_unknown(s, lab), 1);
    json_free(s);
    lab_free(lab);
}

TEST(bad_files_are_survived)
{
    static const char journal[] = "{\"seq\":1,\"ev\":\"done\",\"step\":\"s1\"}\n";
    static const char *const bad[] = {"", "{", "null", "[]", "{\"podium_progress\":9,\"lab\":"
                                                             "\"x\"}",
                                      "{\"podium_progress\":1,\"lab\":\"other\",\"steps\":{},"
                                      "\"facts\":{}}",
                                      "{\"podium_progress\":1,\"lab\":\"x\",\"steps\":3,"
                                      "\"facts\":{}}"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct progress_found f;
        struct json *s = progress_load("x", 1, bad[i], journal, &f);
        CHECK_MSG(progress_done(s, "s1"), "snapshot %zu lost the journal", i);
        CHECK_MSG(f.snapshot_bad && *f.note, "snapshot %zu was not told", i);
        json_free(s);
    }
}

TEST(a_torn_line_costs_one_event)
{
    struct progress_found f;
    struct json *s = progress_load("x", 1, NULL,
                                   "{\"seq\":1,\"ev\":\"done\",\"step\":\"s1\"}\n"
                                   "{\"seq\":2,\"ev\":\"do", &f);
    CHECK(progress_done(s, "s1"));
    CHECK(f.torn && !f.fresh);
    json_free(s);
    /* the line after it begins anew */
    s = progress_load("x", 1, NULL,
                      "{\"seq\":1,\"ev\":\"done\",\"step\":\"s1\"}\n"
                      "{\"seq\":2,\"ev\":\"do\n{\"seq\":2,\"ev\":\"done\",\"step\":\"s2\"}\n", &f);
    CHECK(progress_done(s, "s2"));
    CHECK(!f.torn);
    json_free(s);
}

TEST(the_snapshot_is_not_applied_twice)
{
    struct progress_found f;
    struct json *a = progress_load("x", 1, NULL,
                                   "{\"seq\":1,\"ev\":\"hint\",\"step\":\"s1\"}\n"
                                   "{\"seq\":2,\"ev\":\"hint\",\"step\":\"s1\"}\n", &f);
    char *snapshot = json_text(a, 0);
    struct json *b = progress_load("x", 1, snapshot,
                                   "{\"seq\":1,\"ev\":\"hint\",\"step\":\"s1\"}\n"
                                   "{\"seq\":2,\"ev\":\"hint\",\"step\":\"s1\"}\n"
                                   "{\"seq\":3,\"ev\":\"hint\",\"step\":\"s1\"}\n", &f);
    CHECK_INT(json_int(b, "steps.s1.hints", 0), 3);
    free(snapshot);
    json_free(a);
    json_free(b);
}

/* --- SIGKILL --------------------------------------------------------------------------------- */

enum { KILLS = 200, HINTS = 300 };

static char *hints_lab(void)
{
    struct str s;
    str_init(&s, 1 << 20);
    str_add(&s, "podium: 1\nid: x\ntitle: X\nsteps:\n  - id: s1\n    title: A\n    say: s\n    "
                "hints:\n");
    for (int i = 0; i < HINTS; i++)
        str_printf(&s, "      - h%d\n", i);
    char *text = str_take(&s);
    str_release(&s);
    return text;
}

static void drop(void *arg, struct msg *m)
{
    (void)arg;
    msg_free(m);
}

/* The child shows hint after hint, and says so on the pipe once it is written. */
NORETURN static void show_hints(const char *root, int out)
{
    struct fx f;
    char *yaml = hints_lab();
    fx_begin(&f, yaml, NULL);
    session_set_work(f.s, root, 7);
    fx_cmd(&f, "lab.open", "x", NULL);
    fx_progress(&f, NULL, NULL);
    struct loop *l = loop_new();
    struct effects_options o = {.deliver = drop};
    struct effects_runner *r = effects_runner_new(l, &o);
    for (int i = 1; i <= HINTS; i++) {
        fx_cmd(&f, "step.hint", NULL, NULL);
        if (i % 40 == 0)
            session_snapshot(f.s, &f.out);
        effects_run_all(r, &f.out);
        unsigned short n = (unsigned short)i;
        if (write(out, &n, sizeof n) != sizeof n)
            _exit(1);
    }
    for (;;)
        pause();
}

static char *read_or_null(const char *dir, const char *name)
{
    struct str s;
    struct pd_err err;
    char *path = path_join(dir, name);
    str_init(&s, 1 << 22);
    char *text = path_read(path, 1 << 22, &s, &err) ? NULL : str_take(&s);
    str_release(&s);
    free(path);
    return text;
}

TEST(sigkill_at_any_moment_loses_nothing_acknowledged)
{
    unsigned rnd = 12345;
    int torn = 0, partial = 0;
    for (int k = 0; k < KILLS; k++) {
        char *root = xasprintf("%s/%d", t_dir(), k), *dir = path_join(root, "x");
        int fd[2];
        CHECK(pipe(fd) == 0);
        pid_t pid = fork();
        if (pid == 0) {
            close(fd[0]);
            show_hints(root, fd[1]);
        }
        close(fd[1]);
        rnd = rnd * 1103515245u + 12345u;
        unsigned short target = (unsigned short)((rnd >> 16) % HINTS), n = 0;
        while (n < target && read(fd[0], &n, sizeof n) == sizeof n) {}
        for (volatile unsigned spin = (rnd >> 8) % 4000; spin > 0;)
            spin = spin - 1;
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        unsigned short last = n;
        while (read(fd[0], &n, sizeof n) == sizeof n)
            last = n;
        close(fd[0]);
        char *journal = read_or_null(dir, ".progress.jsonl");
        char *snapshot = read_or_null(dir, ".progress.json");
        struct progress_found f;
        struct json *s = progress_load("x", 1, snapshot, journal, &f);
        int64_t hints = json_int(s, "steps.s1.hints", 0);
        CHECK_MSG(hints >= last && hints <= last + 1, "kill %d: %d acknowledged, %d found", k,
                  (int)last, (int)hints);
        CHECK_MSG(!f.snapshot_bad, "kill %d: the snapshot was half written", k);
        torn += f.torn;
        partial += last > 0 && last < HINTS;
        json_free(s);
        free(journal);
        free(snapshot);
        free(dir);
        free(root);
    }
    CHECK_MSG(partial > KILLS / 2, "only %d kills came in the middle", partial);
    (void)torn;
}

T_MAIN
