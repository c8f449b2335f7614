/* tui_screens.c - every screen as text, against tests/screens/NAME.txt.
 * GOLDEN=1 rewrites them; every row is also
 * checked to sum to its columns. */
#include "k8s/explain/explain.h"
#include "labs/quiz.h"
#include "tests/screens/golden.h"

#include <unistd.h>

static void step(struct app *a)
{
    fx_lab(a);
    fx_api(a->s);
}

static void catalogue(struct app *a)
{
    a->lab_done[1] = 1;
    a->lab_done[2] = 3;
    fx_key(a, "j");
}

static void catalogue_broken(struct app *a)
{
    fx_key(a, "G");
    if (a->cols < 80)
        fx_key(a, "Tab");
}

static void catalogue_question(struct app *a)
{
    catalogue(a);
    fx_key(a, "R");
}

static void settings(struct app *a)
{
    app_over(a, PANEL_SETTINGS);
    a->set_from[SET_THEME] = FROM_FILE;
    fx_key(a, "j");
}

static void messages(struct app *a)
{
    struct pd_err err = {0};
    step(a);
    pd_fail_at(&err, PD_LAB, "/labs/x/lab.yaml", 7, 3, "a lab has no key \"titel\"");
    app_fault(a, &err);
    app_note(a, false, "%s", _("theme"));
    fx_key(a, "!");
}

static void keys(struct app *a)
{
    app_over(a, PANEL_KEYS);
}

static void building(struct app *a)
{
    step(a);
    fx_op(a->s);
}

static void curve(struct app *a)
{
    step(a);
    fx_run(a->s);
    fx_log(a->s);
    fx_key(a, "3");
}

static void curve_large(struct app *a)
{
    curve(a);
    fx_key(a, "z");
}

static void curve_cursor(struct app *a)
{
    curve_large(a);
    fx_key(a, "i");
    for (int i = 0; i < 34; i++)
        fx_key(a, "Left");
}

static void log_tab(struct app *a)
{
    step(a);
    fx_log(a->s);
    fx_key(a, "2");
}

static void api_tab(struct app *a)
{
    step(a);
    fx_key(a, "4");
    fx_key(a, "g");
    fx_key(a, "j");
    fx_key(a, "Enter");
}

static void why_tab(struct app *a)
{
    step(a);
    fx_key(a, "5");
}

/* The same pane explaining a pod, by the real rules over a kept case. */
static void why_pod(struct app *a)
{
    struct snapshot snap;
    struct pd_err err;
    step(a);
    snapshot_init(&snap);
    CHECK_OK(snapshot_read_dir(
        &snap, PODIUM_SOURCE_DIR "/tests/cases/pod-diagnosis/002-gpu-sum-over-containers", &err));
    struct explanation *e = explain(&snap);
    a->why.answer = explanation_json(e);
    str_copy(a->why.object, sizeof a->why.object, "pod/ft-two-ctr");
    explanation_free(e);
    snapshot_release(&snap);
    fx_key(a, "5");
}

static void help(struct app *a)
{
    curve(a);
    fx_key(a, "?");
}

static void palette(struct app *a)
{
    curve(a);
    fx_key(a, ":");
    fx_key(a, "r");
    fx_key(a, "a");
}

static void palette_args(struct app *a)
{
    curve(a);
    fx_key(a, ":");
    for (const char *p = "set"; *p; p++)
        fx_key(a, (char[]){*p, '\0'});
    fx_key(a, "Space");
    fx_key(a, "t");
    fx_key(a, "Down");
}

static void ask(struct app *a)
{
    catalogue(a);
    fx_key(a, "/");
    fx_key(a, "数");
}

static void editor(struct app *a)
{
    step(a);
    edit_open(&a->edit, "/home/stu/work/lora-gaudi.yaml",
              "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: lora-gaudi  # 名字\nspec:\n"
              "  template:\n    spec:\n      restartPolicy: Never\n");
    fx_key(a, "Down");
    fx_key(a, "End");
    fx_key(a, "s");
}

static void down(struct app *a)
{
    step(a);
    a->s->cluster.link = LINK_DOWN;
    str_copy(a->s->cluster.error, sizeof a->s->cluster.error,
             "connect to 127.0.0.1 port 6443: Connection refused");
    table_clear(fx_table(a->s, "nodes"));
}

/* --- the further parts of a step -------------------------------------------------- */

static struct step_progress *parts(struct app *a)
{
    struct session *s = a->s;
    s->lab = lab_list_find(a->labs, "check-cluster");
    CHECK(s->lab != NULL);
    const struct lab_step *st = &s->lab->steps[0];
    s->progress = xcalloc(1, sizeof *s->progress);
    s->progress->state = STEP_OPEN;
    s->progress->checks = xcalloc(1, sizeof *s->progress->checks);
    s->progress->quiz = xcalloc((size_t)st->quiz_n, sizeof *s->progress->quiz);
    s->progress->tries = xcalloc((size_t)st->quiz_n, sizeof *s->progress->tries);
    for (int i = 0; i < st->quiz_n; i++)
        s->progress->quiz[i].result = CHECK_NOT_YET;
    struct msg m = {.kind = MSG_TICK, .at_ms = FIXTURE_NOW};
    struct effects out;
    effects_init(&out);
    app_apply(a, &m, &out);
    effects_release(&out);
    return s->progress;
}

static void quiz(struct app *a)
{
    struct step_progress *p = parts(a);
    quiz_judge(a->s, 0, 0, "Yes: 90 % is free", &p->quiz[0]);
    CHECK_INT(p->quiz[0].result, CHECK_WRONG);
    p->tries[0] = 2;
}

/* All answered; what the cluster has is simulated. */
static void answered(struct app *a)
{
    struct step_progress *p = parts(a);
    quiz_judge(a->s, 0, 0, "No: what is requested counts", &p->quiz[0]);
    quiz_judge(a->s, 0, 1, "3", &p->quiz[1]);
    CHECK_INT(p->quiz[1].result, CHECK_PASS);
    p->state = STEP_DONE;
    p->simulated = a->s->finished = true;
}

static void scene(struct app *a)
{
    struct session *s = a->s;
    parts(a);
    s->need.mode = MODE_SIMULATED;
    str_copy(s->need.why, sizeof s->need.why, "habana.ai/gaudi: one card trains");
    s->scene = (struct scene){.state = SCENE_RUNNING, .done = 2, .total = 5};
    str_copy(s->scene.title, sizeof s->scene.title, "a Job that waits");
}

static void solution(struct app *a)
{
    struct step_progress *p = parts(a);
    a->s->need.mode = MODE_SKIPPED;
    str_copy(a->s->need.why, sizeof a->s->need.why, "habana.ai/gaudi (here: 0): one card trains");
    p->hints_shown = 2;
    p->solution_shown = true;
    a->notes_open = true;
}

static void clearing(struct app *a)
{
    struct session *s = a->s;
    answered(a);
    s->clean.state = CLEAN_ASKING;
    s->clean.items = json_from("[\"jobs/why-pending-train\",\"pods/why-pending-train-x7k2p\"]");
    struct msg m = {.kind = MSG_TICK, .at_ms = FIXTURE_NOW};
    struct effects out;
    effects_init(&out);
    app_apply(a, &m, &out);
    effects_release(&out);
}

TEST(step_quiz_screens) { all_sizes("step-quiz", quiz); }
TEST(step_answered_screens) { all_sizes("step-answered", answered); }
TEST(step_scene_screens) { all_sizes("step-scene", scene); }
TEST(step_solution_screens) { all_sizes("step-solution", solution); }
TEST(step_clearing_screens) { all_sizes("step-clearing", clearing); }

static void pods_list(struct app *a)
{
    step(a);
    fx_crowd(a->s);
    fx_run_command(a, "pods", NULL);
    fx_key(a, "j");
    fx_key(a, "j");
}

static void nodes_list(struct app *a)
{
    step(a);
    fx_crowd(a->s);
    fx_run_command(a, "nodes", NULL);
}

static void events_list(struct app *a)
{
    step(a);
    fx_crowd(a->s);
    fx_run_command(a, "events", NULL);
    fx_key(a, "j");
}

static void pod_detail(struct app *a)
{
    step(a);
    fx_crowd(a->s);
    fx_run_command(a, "pod.describe", "lora-gaudi-run-4k9wz");
}

static void job_detail(struct app *a)
{
    pod_detail(a);
    fx_key(a, "J");
}

static void pod_yaml(struct app *a)
{
    pod_detail(a);
    fx_key(a, "y");
}

static void cluster_tab(struct app *a)
{
    step(a);
    fx_crowd(a->s);
    fx_key(a, "1");
}

/* A student who may see one namespace, and of it no events. */
static void denied(struct app *a)
{
    step(a);
    struct table *nodes = fx_table(a->s, "nodes"), *events = fx_table(a->s, "events");
    table_clear(nodes);
    nodes->forbidden = events->forbidden = true;
    nodes->generation++;
    fx_key(a, "1");
}

static void log_search(struct app *a)
{
    log_tab(a);
    fx_key(a, "/");
    fx_key(a, "3");
    fx_key(a, "0");
    fx_key(a, "5");
    fx_key(a, "Enter");
    fx_key(a, "m");
}

static void log_waits(struct app *a)
{
    step(a);
    fx_crowd(a->s);
    str_copy(a->s->log_view.pod, sizeof a->s->log_view.pod, "lora-gaudi-wait-p0c2s");
    a->s->log_view.state = LOG_WAITING;
    str_copy(a->s->log_view.error, sizeof a->s->log_view.error,
             "pod lora-gaudi-wait-p0c2s does not have a host assigned");
    fx_key(a, "2");
}

TEST(cluster_screens) { all_sizes("cluster", cluster_tab); }
TEST(denied_screens) { all_sizes("denied", denied); }
TEST(pods_screens) { all_sizes("pods", pods_list); }
TEST(nodes_screens) { all_sizes("nodes", nodes_list); }
TEST(events_screens) { all_sizes("events", events_list); }
TEST(pod_screens) { all_sizes("pod", pod_detail); }
TEST(job_screens) { all_sizes("job", job_detail); }
TEST(yaml_screens) { all_sizes("yaml", pod_yaml); }
TEST(log_search_screens) { all_sizes("log-search", log_search); }
TEST(log_waits_screens) { all_sizes("log-waits", log_waits); }
TEST(catalogue_screens) { all_sizes("catalogue", catalogue); }
TEST(catalogue_broken_screens) { all_sizes("catalogue-broken", catalogue_broken); }
TEST(question_screens) { all_sizes("question", catalogue_question); }
TEST(settings_screens) { all_sizes("settings", settings); }
TEST(messages_screens) { all_sizes("messages", messages); }
TEST(keys_screens) { all_sizes("keys", keys); }
TEST(step_screens) { all_sizes("step", step); }
TEST(building_screens) { all_sizes("building", building); }
TEST(curve_screens) { all_sizes("curve", curve); }
TEST(curve_large_screens) { all_sizes("curve-large", curve_large); }
TEST(curve_cursor_screens) { all_sizes("curve-cursor", curve_cursor); }
TEST(log_screens) { all_sizes("log", log_tab); }
TEST(api_screens) { all_sizes("api", api_tab); }
/* A build of two stages in its sixth instruction, and one that is over: pushed,
 * or stopped by an error. */
static void build_tab(struct app *a)
{
    step(a);
    fx_build(a->s, 6);
    fx_key(a, "6");
    fx_key(a, "z");
}

static void build_push(struct app *a)
{
    step(a);
    fx_build(a->s, 0);
    fx_push(a->s);
    fx_key(a, "6");
    fx_key(a, "z");
}

static void build_failed(struct app *a)
{
    step(a);
    fx_build(a->s, 7);
    struct pd_err err;
    pd_fail_at(&err, PD_IMAGE, "lora/Dockerfile", 9, 6,
               "trian.py is not in the build context lora");
    pd_set_hint(&err, "did you mean train.py?");
    build_state_end(&a->s->build, &err, FIXTURE_NOW);
    fx_key(a, "6");
}

TEST(build_screens) { all_sizes("build", build_tab); }
TEST(build_push_screens) { all_sizes("build-push", build_push); }
TEST(build_failed_screens) { all_sizes("build-failed", build_failed); }
TEST(why_screens) { all_sizes("why", why_tab); }
TEST(why_pod_screens) { all_sizes("why-pod", why_pod); }
TEST(help_screens) { all_sizes("help", help); }
TEST(palette_screens) { all_sizes("palette", palette); }
TEST(palette_args_screens) { all_sizes("palette-args", palette_args); }
TEST(ask_screens) { all_sizes("ask", ask); }
TEST(editor_screens) { all_sizes("editor", editor); }

/* A conflict with another manager, and what the rest of the file would change. */
static void manifest(struct app *a)
{
    struct manifest_view *v = &a->s->manifest;
    step(a);
    *v = (struct manifest_view){.state = MANIFEST_SHOWN, .step = a->s->step, .objects = 1,
                                .conflict = true};
    str_copy(v->file, sizeof v->file, "lora-gaudi.yaml");
    v->notes = json_from("[{\"level\":\"error\",\"line\":12,\"column\":9,\"message\":"
                         "\".spec.parallelism: \\\"alice\\\" 2, 1\",\"why\":\"\",\"next\":\"\"},"
                         "{\"level\":\"warning\",\"line\":3,\"column\":1,\"message\":\"cpu: 500M\","
                         "\"why\":\"\",\"next\":\"\"}]");
    v->diff = xstrdup("--- LIVE/job.batch/lora-gaudi\n+++ MERGED/job.batch/lora-gaudi\n@@ -6,3 "
                      "+6,3 @@\n spec:\n-  parallelism: 2\n+  parallelism: 1\n   suspend: false\n");
    fx_key(a, "z");
    a->seek = SEEK_MANIFEST;
}
TEST(manifest_screens) { all_sizes("manifest", manifest); }
TEST(down_screens) { all_sizes("down", down); }

/* On a terminal with other signs nothing of unicode may be left. */
TEST(ascii_screens_are_ascii)
{
    static setup_fn *const screens[] = {catalogue, step, building, curve, curve_large, log_tab,
                                        api_tab, help, palette, down};
    for (size_t i = 0; i < ARRAY_LEN(screens); i++) {
        struct app *a = fx_app("en", 80, 24, GLYPH_ASCII);
        struct str s;
        screens[i](a);
        fx_screen(a, &s);
        for (size_t k = 0; k < s.len; k++)
            if ((unsigned char)s.p[k] >= 0x80 && screens[i] != log_tab)
                t_fail(__FILE__, __LINE__, "screen %zu is not ASCII:\n%s", i, s.p);
        str_release(&s);
        fx_free(a);
    }
}

TEST(curve_ascii_and_cjk)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_ASCII);
    curve_large(a);
    compare(a, "curve-large-80x24-ascii");
    fx_free(a);
    need_catalogue();
    a = fx_app("zh", 80, 24, GLYPH_CJK);
    curve_large(a);
    compare(a, "curve-large-80x24-cjk");
    fx_free(a);
}

/* With the Chinese catalogue every screen keeps its columns and its help. The
 * catalogue is made by `make all`. */
TEST(chinese_screens_hold)
{
    static setup_fn *const screens[] = {catalogue, step, building, curve, curve_large, log_tab,
                                        api_tab, why_tab, why_pod, help, palette, editor, down};
    need_catalogue();
    for (size_t k = 0; k < ARRAY_LEN(screens) * ARRAY_LEN(sizes); k++) {
        size_t i = k / ARRAY_LEN(sizes), z = k % ARRAY_LEN(sizes);
        struct app *a = fx_app("zh", sizes[z].cols, sizes[z].rows, GLYPH_UNICODE);
        struct str s;
        screens[i](a);
        fx_screen(a, &s);                /* checks that each row sums to its columns */
        if (screens[i] != palette && screens[i] != editor && !strstr(s.p, _("help")) &&
            screens[i] != help)
            t_fail(__FILE__, __LINE__, "no help on screen %zu:\n%s", i, s.p);
        str_release(&s);
        fx_free(a);
    }
}

/* Whatever can stand on the screen has its goldens. */
TEST(every_panel_and_overlay_has_a_golden)
{
    static const char *const of[PANEL_COUNT] = {
        [PANEL_CATALOGUE] = "catalogue", [PANEL_ABOUT] = "catalogue-broken", [PANEL_STEP] = "step",
        [PANEL_CLUSTER] = "cluster", [PANEL_LOG] = "log", [PANEL_CURVE] = "curve",
        [PANEL_API] = "api", [PANEL_WHY] = "why", [PANEL_BUILD] = "build",
        [PANEL_TRAIN] = "train", [PANEL_RUN] = "curve-large", [PANEL_STRIP] = "curve-large",
        [PANEL_RUNS] = "runs", [PANEL_EDIT] = "editor", [PANEL_SETTINGS] = "settings",
        [PANEL_MESSAGES] = "messages", [PANEL_KEYS] = "keys", [PANEL_PODS] = "pods",
        [PANEL_NODES] = "nodes", [PANEL_EVENTS] = "events", [PANEL_OBJECT] = "pod",
        [PANEL_YAML] = "yaml", [PANEL_CTX] = "ctx", [PANEL_NS] = "ns",
        [PANEL_CONN] = "conn", [PANEL_RIGHTS] = "rights", [PANEL_SHELL] = "shell",
        [PANEL_FORWARDS] = "forwards"};
    static const char *const over[] = {"help", "palette", "palette-args", "question", "ask"};
    for (size_t i = 0; i < PANEL_COUNT + ARRAY_LEN(over); i++)
        for (size_t k = 0; k < ARRAY_LEN(sizes) * 2; k++) {
            const char *name = i < PANEL_COUNT ? of[i] : over[i - PANEL_COUNT];
            CHECK_MSG(name != NULL, "panel %zu has no golden", i);
            char *path = xasprintf(PODIUM_SOURCE_DIR "/tests/screens/%s-%s-%s.txt", name,
                                   sizes[k / 2].name, k % 2 ? "zh" : "en");
            CHECK_MSG(access(path, R_OK) == 0, "%s is missing", path);
            free(path);
        }
}

T_MAIN
