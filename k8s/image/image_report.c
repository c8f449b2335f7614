/* image_report.c - see image_report.h. */
#include "k8s/image/image_report.h"

#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "k8s/image/registry_client_priv.h"

enum { REPORT_EVERY_MS = 100 };

void image_report_init(struct image_report *r, bool json)
{
    memset(r, 0, sizeof *r);
    r->json = json;
}

/* One line, written at once so that a reader of the pipe sees it now. */
static void emit(struct json *j)
{
    struct str s;
    str_init(&s, 8 << 20);
    json_print(j, 0, &s);
    str_addc(&s, '\n');
    fwrite(s.p, 1, s.len, stdout);
    fflush(stdout);
    str_release(&s);
    json_free(j);
}

static struct json *event(const char *ev)
{
    struct json *j = json_new_object();
    json_put_str(j, "ev", ev);
    return j;
}

/* Progress of one thing: rarely enough, but always its end. */
static bool due(struct image_report *r, const char *digest, int64_t done, int64_t total)
{
    int64_t now = clock_ms();
    bool other = !str_eq(r->last_digest, digest);
    if (!other && (done == r->last_done ||
                   (done < total && now - r->last_ms < REPORT_EVERY_MS)))
        return false;
    str_copy(r->last_digest, sizeof r->last_digest, digest);
    r->last_ms = now;
    r->last_done = done;
    return true;
}

static void end_bar(struct image_report *r)
{
    if (r->bar)
        fputc('\n', stdout);
    r->bar = false;
}

static void progress(struct image_report *r, const char *ev, const char *digest, int64_t done,
                     int64_t total)
{
    if (!due(r, *digest ? digest : ev, done, total))
        return;
    if (r->json) {
        struct json *j = event(ev);
        if (*digest)
            json_put_str(j, "digest", digest);
        json_put_num(j, "done", (double)done);
        json_put_num(j, "total", (double)total);
        emit(j);
        return;
    }
    char a[32], b[32];
    registry_client_size(done, a);
    registry_client_size(total, b);
    if (!isatty(STDOUT_FILENO) && done < total)
        return;
    printf("\r  %-5s %.19s %s / %s   ", ev, *digest ? digest : "", a, b);
    r->bar = true;
    if (done >= total)
        end_bar(r);
    fflush(stdout);
}

void image_report_push(void *arg, const char *digest, int64_t done, int64_t total)
{
    progress(arg, "push", digest, done, total);
}

void image_report_pull(void *arg, const char *digest, int64_t done, int64_t total)
{
    progress(arg, "pull", digest, done, total);
}

static void clean_text(const char *text, struct str *out)
{
    str_init(out, 1 << 16);
    utf8_clean(text, strlen(text), false, out);
}

static void instruction(struct image_report *r, const struct builder_event *e)
{
    struct str text;
    clean_text(e->text, &text);
    if (r->json) {
        struct json *j = event("instruction");
        json_put_num(j, "n", e->n);
        json_put_num(j, "total", e->total);
        json_put_str(j, "text", text.p);
        emit(j);
    } else {
        end_bar(r);
        printf("[%d/%d] %s\n", e->n, e->total, text.p);
    }
    r->last_digest[0] = '\0';             /* what follows is another pack */
    str_release(&text);
}

static void layer(struct image_report *r, const struct builder_event *e)
{
    if (r->json) {
        struct json *j = event("layer");
        json_put_str(j, "digest", e->digest);
        json_put_num(j, "size", (double)e->bytes);
        json_put_bool(j, "cached", e->cached);
        emit(j);
        return;
    }
    char size[32];
    registry_client_size(e->bytes, size);
    end_bar(r);
    printf("  layer %.19s %s%s\n", e->digest, size, e->cached ? _(" (cached)") : "");
}

/* All that will be done, and what is left out. */
static void plan(const struct image_report *r, const struct builder_event *e)
{
    if (!r->json)
        return;
    struct json *j = event("plan"), *rows = json_new_array();
    for (size_t i = 0; i < e->df->n; i++) {
        const struct df_instr *in = &e->df->v[i];
        int at = dockerfile_plan_at(e->plan, i);
        struct json *row = json_new_object();
        struct str text;
        clean_text(in->text, &text);
        text.p[utf8_cut(text.p, 200)] = '\0';
        json_put_num(row, "n", (double)i + 1);
        json_put_num(row, "line", in->line);
        json_put_num(row, "column", in->col);
        json_put_str(row, "text", text.p);
        if (at >= 0 && *e->plan->v[at].name)
            json_put_str(row, "stage", e->plan->v[at].name);
        if (at >= 0 && !e->plan->v[at].needed)
            json_put_bool(row, "skipped", true);
        json_append(rows, row);
        str_release(&text);
    }
    json_set(j, "rows", rows);
    emit(j);
}

static void step(const struct image_report *r, const struct builder_event *e)
{
    if (!r->json)
        return;
    struct json *j = event("step");
    json_put_num(j, "n", e->n);
    json_put_bool(j, "cached", e->cached);
    json_put_num(j, "ms", (double)e->ms);
    emit(j);
}

void image_report_build(void *arg, const struct builder_event *e)
{
    struct image_report *r = arg;
    switch (e->kind) {
    case BUILD_PLAN:
        plan(r, e);
        break;
    case BUILD_STEP:
        step(r, e);
        break;
    case BUILD_INSTRUCTION:
        instruction(r, e);
        break;
    case BUILD_LAYER:
        layer(r, e);
        break;
    case BUILD_PULL:
        progress(r, "pull", e->digest, e->done, e->bytes);
        break;
    case BUILD_PACK:
        progress(r, "pack", "", e->done, e->bytes);
        break;
    }
}

void image_report_unpack(void *arg, size_t n, size_t total, int64_t bytes)
{
    struct image_report *r = arg;
    if (!r->json)
        return;
    struct json *j = event("unpack");
    json_put_num(j, "n", (double)n);
    json_put_num(j, "total", (double)total);
    json_put_num(j, "bytes", (double)bytes);
    emit(j);
}

static struct json *list(const struct strv *v)
{
    struct json *a = json_new_array();
    for (size_t i = 0; i < v->n; i++)
        json_append(a, json_new_string(v->v[i]));
    return a;
}

static struct json *config(const struct image *im)
{
    struct image_run run;
    struct json *c = json_new_object();
    image_run_init(im, &run);
    json_set(c, "entrypoint", list(&run.entrypoint));
    json_set(c, "cmd", list(&run.cmd));
    json_set(c, "env", list(&run.env));
    json_put_str(c, "workdir", run.workdir);
    json_put_str(c, "user", run.user);
    image_run_release(&run);
    return c;
}

void image_report_done(struct image_report *r, const char *ref, const char *digest, int64_t bytes,
                       const struct image *im)
{
    if (!r->json) {
        char size[32];
        registry_client_size(bytes, size);
        end_bar(r);
        printf("%s\n  %s, %s\n", ref, digest, size);
        return;
    }
    struct json *j = event("done");
    json_put_str(j, "digest", digest);
    json_put_str(j, "ref", ref);
    json_put_num(j, "bytes", (double)bytes);
    if (im)
        json_set(j, "config", config(im));
    emit(j);
}

void image_report_error(struct image_report *r, const struct pd_err *err)
{
    if (!r->json) {
        char text[1200];
        end_bar(r);
        fflush(stdout);
        fprintf(stderr, "podium image: %s\n", pd_describe(err, text, sizeof text));
        return;
    }
    struct json *j = event("error");
    json_put_str(j, "code", pd_id(err->code));
    json_put_str(j, "text", err->msg);
    json_put_str(j, "hint", err->hint);
    if (err->src[0])
        json_put_str(j, "file", err->src);
    if (err->line > 0) {
        json_put_num(j, "line", err->line);
        json_put_num(j, "column", err->col);
    }
    emit(j);
}
