/* tui_soak.c - random keys, resizes, pastes, mouse and messages of a session
 * against the state and the screen: nothing crashes, leaks or gets stuck.
 *
 * SOAK_EVENTS how many (default 60000), SOAK_SEED the seed, which is printed: the
 * same seed is the same walk. `make soak` takes 100000 and a new seed each time.
 */
#include "tests/screens/invariants.h"

#include <malloc.h>

#include "tui/mouse.h"

enum { SOAK_DEPTH = 5, SOAK_DRAW = 5, SOAK_HOME = 1500, SOAK_GROWTH = 48 << 20 };

struct soak {
    struct app *a;
    struct effects out;
    uint64_t rng;
    int64_t now;
    uint32_t stream;             /* of a log that is open */
    long events, draws;
    int depth;                   /* of answers to answers */
    struct grid g;
    char last[64];
};

static uint32_t roll(struct soak *k, uint32_t n)
{
    k->rng = k->rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(k->rng >> 33) % n;
}

static bool quits(const struct effects *out)
{
    for (size_t i = 0; i < out->n; i++)
        if (out->v[i].kind == EFF_QUIT)
            return true;
    return false;
}

static void answer(struct soak *k, const struct effect *e);

/* Apply a message, then answer what it asked for, now and then. Takes body. */
static void send(struct soak *k, enum msg_kind kind, uint32_t effect, struct json *body)
{
    struct msg *m = msg_new(kind, body);
    struct effects asked;
    m->at_ms = k->now += roll(k, 80);
    m->effect = effect;
    m->cluster = k->a->s->cluster.id;
    m->epoch = k->a->s->cluster.epoch;
    app_apply(k->a, m, &k->out);
    msg_free(m);
    asked = k->out;
    effects_init(&k->out);
    k->out.next_id = asked.next_id;
    k->depth++;
    for (size_t i = 0; i < asked.n && k->depth < SOAK_DEPTH; i++)
        if (roll(k, 5) > 0)
            answer(k, &asked.v[i]);
    k->depth--;
    uint32_t next = MAX(k->out.next_id, asked.next_id);
    if (quits(&asked))
        str_copy(k->last, sizeof k->last, "quit");
    effects_release(&asked);
    k->out.next_id = next;
}

static struct json *object(struct soak *k, const char *kind, const char *name)
{
    static const char *const phases[] = {"Pending", "Running", "Succeeded", "Failed"};
    struct json *o = json_new_object(), *meta = json_new_object(), *st = json_new_object();
    char uid[32];
    json_put_str(o, "kind", kind);
    json_put_str(meta, "name", name);
    json_put_str(meta, "namespace", "stu-07");
    json_put_str(meta, "uid", str_fmt(uid, sizeof uid, "u-%u", roll(k, 40)));
    json_put_str(meta, "creationTimestamp", "2026-11-30T01:59:51Z");
    json_put_str(st, "phase", phases[roll(k, 4)]);
    json_set(o, "metadata", meta);
    json_set(o, "status", st);
    if (roll(k, 2))
        json_put_str(o, "message", "Back-off pulling \033[31mimage\033[0m 镜像 \xff\xfe");
    return o;
}

static struct json *error_body(struct soak *k)
{
    static const int status[] = {401, 403, 404, 409, 422, 500};
    struct json *b = json_new_object(), *e = json_new_object();
    json_put_num(b, "status", status[roll(k, 6)]);
    json_put_str(e, "code", "PD-K8S-FORBIDDEN");
    json_put_str(e, "msg", "you may not");
    json_set(b, "error", e);
    return b;
}

static void answer_file(struct soak *k, const struct effect *e)
{
    static const char *const texts[] = {"", "a: 1\n", "keys:\n  step.run: x\n", "theme: light\n",
                                        "big: on\nframes: 9\n", "[", "\xff\xfe", "answer: 3\n"};
    struct json *b = json_new_object();
    json_put_str(b, "path", json_str(e->args, "path", ""));
    if (roll(k, 3))
        json_put_bool(b, "missing", true);
    else
        json_put_str(b, "text", texts[roll(k, ARRAY_LEN(texts))]);
    send(k, MSG_FILE, e->id, b);
}

static void answer_child(struct soak *k, const struct effect *e)
{
    struct json *b = json_new_object(), *r = json_new_object();
    json_put_str(r, "text", "deleting pods/x");
    json_put_str(r, "ev", roll(k, 2) ? "progress" : "step");
    json_put_num(r, "done", roll(k, 100));
    json_put_num(r, "total", 100);
    json_set(b, "record", r);
    send(k, MSG_CHILD_LINE, e->id, b);
    b = json_new_object();
    json_put_num(b, "code", roll(k, 3));
    json_put_num(b, "signal", 0);
    json_put_str(b, "stderr", "a last word");
    send(k, MSG_CHILD_EXIT, e->id, b);
}

static void answer_edit(struct soak *k, const struct effect *e)
{
    struct json *b = json_new_object(), *args = json_new_array();
    char *text = xasprintf("%s\napiVersion: v1\nkind: Job\n  名: x\n",
                           json_str(e->args, "path", ""));
    json_put_str(b, "name", "edit.open");
    json_append(args, json_new_string(text));
    json_set(b, "args", args);
    free(text);
    send(k, MSG_COMMAND, 0, b);
}

static void answer(struct soak *k, const struct effect *e)
{
    struct json *b = json_new_object();
    json_put_num(b, "status", 200);
    switch ((int)e->kind) {
    case EFF_WATCH_FILE:
        json_free(b);
        answer_file(k, e);
        return;
    case EFF_SPAWN:
        json_free(b);
        answer_child(k, e);
        return;
    case EFF_EDIT:
        json_free(b);
        answer_edit(k, e);
        return;
    case EFF_LOG:
        k->stream = e->id;
        json_put_str(b, "state", "open");
        send(k, MSG_LOG_STATE, e->id, b);
        return;
    case EFF_ATTACH:
        json_put_str(b, "state", roll(k, 2) ? "open" : "closed");
        send(k, MSG_ATTACH, e->id, b);
        return;
    case EFF_COPY_OUT:
        json_put_str(b, "state", roll(k, 2) ? "done" : "failed");
        send(k, MSG_COPY, e->id, b);
        return;
    case EFF_TIMER:
        json_put_str(b, "name", json_str(e->args, "name", ""));
        send(k, MSG_TIMER, e->id, b);
        return;
    case EFF_GET: case EFF_LIST: case EFF_APPLY: case EFF_DELETE: case EFF_EXEC: case EFF_WRITE:
    case EFF_MOVE:
        if (roll(k, 3) == 0) {
            json_free(b);
            b = error_body(k);
        } else {
            json_set(b, "object", object(k, "Job", "lora-gaudi"));
        }
        send(k, MSG_REPLY, e->id, b);
        return;
    default:
        json_free(b);
    }
}

/* --- what happens ------------------------------------------------------------------ */
static void press(struct soak *k, const char *key)
{
    struct json *b = json_new_object();
    json_put_str(b, "key", key);
    str_copy(k->last, sizeof k->last, key);
    send(k, MSG_KEY, 0, b);
}

static void random_key(struct soak *k)
{
    static const char *const extra[] = {
        "Esc", "Enter", "Tab", "S-Tab", "Up", "Down", "Left", "Right", "PgUp", "PgDn", "Home",
        "End", "Backspace", "Del", "Space", "中", "é", "ａ", "C-a", "C-e", "C-u", "C-s", "C-r",
        "F1", "F5", "M-x", ":", "/", "?", "!", "y", "n"};
    char key[32];
    uint32_t kind = roll(k, 10);
    if (kind < 4) {
        press(k, extra[roll(k, ARRAY_LEN(extra))]);
    } else if (kind < 7) {
        str_fmt(key, sizeof key, "%c", (int)('!' + roll(k, 94)));
        press(k, key);
    } else {
        struct strv keys;
        strv_init(&keys);
        strv_split(&keys, cmd_at(roll(k, (uint32_t)cmd_count()))->keys, ' ');
        press(k, keys.n && *keys.v[0] ? keys.v[roll(k, (uint32_t)keys.n)] : "j");
        strv_release(&keys);
    }
}

static void random_mouse(struct soak *k)
{
    static const char *const what[] = {"Click", "Wheel-Up", "Wheel-Down"};
    char key[48];
    press(k, str_fmt(key, sizeof key, "%s@%u,%u", what[roll(k, 3)], roll(k, 310), roll(k, 110)));
}

static void random_resize(struct soak *k)
{
    static const int sizes[][2] = {{40, 12}, {80, 24}, {120, 40}, {1, 1}, {39, 11}, {300, 100}};
    struct json *b = json_new_object();
    uint32_t i = roll(k, ARRAY_LEN(sizes) * 2);
    json_put_num(b, "cols", i < ARRAY_LEN(sizes) ? sizes[i][0] : (int)roll(k, 160) + 1);
    json_put_num(b, "rows", i < ARRAY_LEN(sizes) ? sizes[i][1] : (int)roll(k, 60) + 1);
    send(k, MSG_RESIZE, 0, b);
}

static void random_paste(struct soak *k)
{
    static const char *const texts[] = {"a", "\033[2J", "metadata:\n  name: x\n", "数据 🤖 e\u0301",
                                        "\xff\xfe\x80", "", "step.check", "1e-4"};
    struct json *b = json_new_object();
    json_put_str(b, "text", texts[roll(k, ARRAY_LEN(texts))]);
    send(k, MSG_PASTE, 0, b);
}

static void random_command(struct soak *k)
{
    static const char *const args[] = {"lora-gaudi", "check-cluster", "zh", "en", "", "mono",
                                       "big on",
                                       "smooth 0.5", "none", "-1", "999999999", "a b c", "%s%n"};
    const struct cmd *c = cmd_at(roll(k, (uint32_t)cmd_count()));
    struct json *b = json_new_object(), *list = json_new_array();
    json_put_str(b, "name", roll(k, 3) ? c->name : "lab.open");
    if (roll(k, 3))
        json_append(list, json_new_string(args[roll(k, ARRAY_LEN(args))]));
    json_set(b, "args", list);
    send(k, MSG_COMMAND, 0, b);
}

static void random_log(struct soak *k)
{
    struct json *b = json_new_object();
    char line[256];
    static unsigned step;
    static const char *const odd[] = {"\033[31mred\033[0m", "NaN", "{\"v\":1,\"ev\":", "数据 " "训练",
                                      "\r 12%|##  |", "{\"v\":1,\"ev\":\"done\",\"step\":9}"};
    if (roll(k, 4))
        str_fmt(line, sizeof line,
                "{\"v\":1,\"ev\":\"step\",\"step\":%u,\"loss\":%u.%u,\"lr\":1e-4}",
                ++step, roll(k, 9), roll(k, 99));
    else
        str_copy(line, sizeof line, odd[roll(k, ARRAY_LEN(odd))]);
    json_put_str(b, "text", line);
    json_put_str(b, "ts", "2026-11-30T02:00:00Z");
    send(k, MSG_LOG_LINE, k->stream, b);
}

static void random_cluster(struct soak *k)
{
    static const char *const states[] = {"connecting", "up", "down"}, *const res[] = {
        "nodes", "pods", "jobs", "events", "persistentvolumeclaims"},
        *const types[] = {"ADDED", "MODIFIED", "DELETED"};
    struct json *b = json_new_object();
    char name[32];
    uint32_t what = roll(k, 8);
    if (what == 0) {
        json_put_str(b, "state", states[roll(k, 3)]);
        json_put_str(b, "context", "class-a");
        json_put_str(b, "namespace", "stu-07");
        json_put_num(b, "latency_ms", roll(k, 500));
        send(k, MSG_CLUSTER, 0, b);
    } else if (what == 1) {
        struct json *items = json_new_array();
        for (uint32_t i = roll(k, 30); i > 0; i--)
            json_append(items, object(k, "Pod", str_fmt(name, sizeof name, "pod-%u", i)));
        json_put_str(b, "resource", res[roll(k, 5)]);
        json_set(b, "items", items);
        send(k, MSG_LIST, 0, b);
    } else if (what == 2) {
        json_put_str(b, "method", "GET");
        json_put_str(b, "path", "/api/v1/pods");
        json_put_num(b, "id", roll(k, 400));
        json_put_num(b, "status", roll(k, 2) ? 200 : 404);
        send(k, MSG_REQUEST, 0, b);
    } else {
        json_put_str(b, "resource", res[roll(k, 5)]);
        json_put_str(b, "type", types[roll(k, 3)]);
        json_set(b, "object", object(k, "Pod", str_fmt(name, sizeof name, "pod-%u", roll(k, 60))));
        send(k, MSG_WATCH_EVENT, 0, b);
    }
}

static void happen(struct soak *k)
{
    uint32_t what = roll(k, 100);
    if (what < 55)
        random_key(k);
    else if (what < 60)
        random_resize(k);
    else if (what < 63)
        random_paste(k);
    else if (what < 66)
        random_mouse(k);
    else if (what < 70)
        random_command(k);
    else if (what < 82)
        random_log(k);
    else if (what < 97)
        random_cluster(k);
    else
        send(k, MSG_TICK, 0, json_new_object());
}

/* --- what must hold ------------------------------------------------------------------ */
static void look(struct soak *k)
{
    struct iv v = {.what = "soak", .a = k->a,
                   .overlay = k->a->help || k->a->prompt.kind != PROMPT_NONE};
    int cx, cy;
    v.g = k->g;
    screen_draw(k->a, &v.g, &cx, &cy);
    k->g = v.g;
    app_layout(k->a, &v.l);
    k->draws++;
    if (!grid_sound(&v.g) || cx >= k->a->cols || cy >= k->a->rows)
        iv_fail(&v, "half a character or a cursor outside", cx, cy);
    if (v.l.too_small)
        return;
    iv_frames(&v);
    iv_overlay(&v);
    iv_key_row(&v);
}

/* Esc leads back to the catalogue from wherever one is (in a shell it is the shell's, and
 * C-] leads back), and q leaves there. */
static void go_home(struct soak *k)
{
    struct json *b = json_new_object();
    json_put_num(b, "cols", 80);
    json_put_num(b, "rows", 24);
    send(k, MSG_RESIZE, 0, b);
    press(k, "n");               /* a question, should there be one */
    for (int i = 0; i < 60 && (k->a->s->lab || app_view(k->a) != VIEW_CATALOGUE); i++)
        press(k, app_view(k->a) == VIEW_SHELL ? "C-]" : "Esc");
    if (k->a->s->lab || app_view(k->a) != VIEW_CATALOGUE) {
        struct str s;
        fx_screen(k->a, &s);
        t_fail(__FILE__, __LINE__, "stuck in view %x after %ld events, seed %s:\n%s",
               (unsigned)app_view(k->a), k->events, getenv("SOAK_SEED"), s.p);
    }
    str_copy(k->last, sizeof k->last, "");
    const struct cmd *quit = cmd_by_name("quit");
    char key[32];
    const char *keys = cmd_keys(k->a, quit, VIEW_CATALOGUE);
    str_copy(key, MIN(sizeof key, strcspn(keys, " ") + 1), keys);
    press(k, key);
    CHECK_STR(k->last, "quit");
}

static void begin(struct soak *k, uint64_t seed)
{
    *k = (struct soak){.rng = seed, .now = FIXTURE_NOW};
    setenv("HOME", t_dir(), 1);
    k->a = fx_app("en", 80, 24, GLYPH_UNICODE);
    session_set_work(k->a->s, t_dir(), seed);
    effects_init(&k->out);
    grid_init(&k->g, 80, 24);
    struct json *b = json_new_object(), *args = json_new_array();
    json_put_str(b, "name", "files");
    json_append(args, json_new_string("/c/config.yaml"));
    json_append(args, json_new_string("/c/keys.yaml"));
    json_set(b, "args", args);
    send(k, MSG_COMMAND, 0, b);
}

TEST(nothing_crashes_leaks_or_gets_stuck)
{
    const char *events = getenv("SOAK_EVENTS"), *given = getenv("SOAK_SEED");
    long n = events ? atol(events) : 60000;
    uint64_t seed = given ? strtoull(given, NULL, 10) : 1;
    char text[32];
    struct soak k;
    size_t warm = 0;
    setenv("SOAK_SEED", str_fmt(text, sizeof text, "%" PRIu64, seed), 1);
    fprintf(stderr, "soak: %ld events, SOAK_SEED=%s\n", n, text);
    begin(&k, seed);
    for (; k.events < n; k.events++) {
        happen(&k);
        if (k.events % SOAK_DRAW == 0)
            look(&k);
        if (k.events % SOAK_HOME == SOAK_HOME - 1)
            go_home(&k);
        if (k.events == n / 3)
            warm = mallinfo2().uordblks;
    }
    go_home(&k);
    size_t end = mallinfo2().uordblks;
    CHECK_MSG(end < warm + SOAK_GROWTH, "memory grew from %zu to %zu bytes", warm, end);
    CHECK(k.draws >= n / SOAK_DRAW);
    effects_release(&k.out);
    grid_release(&k.g);
    fx_free(k.a);
}

T_MAIN
