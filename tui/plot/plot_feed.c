/* plot_feed.c - runs as JSON lines, for the console, which must not stop to read
 * files. */
#include <dirent.h>
#include <errno.h>
#include <math.h>

#include "core/base/i18n.h"
#include "core/base/json.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "labs/runfile.h"
#include "tui/plot/plot.h"

enum { POINTS_A_LINE = 150, LIST_MOST = 64 };

static void emit(struct json *j)
{
    char *text = json_text(j, 0);
    puts(text);
    free(text);
    json_free(j);
}

static void emit_points(const struct series *s, const char *of)
{
    size_t n = series_count(s);
    struct str text;
    str_init(&text, 64 << 10);
    for (size_t i = 0; i < n; i++) {
        str_printf(&text, "%.9g %.9g ", series_x(s, i), series_y(s, i));
        if (i + 1 < n && (i + 1) % POINTS_A_LINE)
            continue;
        struct json *j = json_new_object();
        json_put_str(j, "ev", "points");
        json_put_str(j, "of", of);
        json_put_str(j, "text", text.p);
        emit(j);
        str_clear(&text);
    }
    str_release(&text);
}

static int fail(const struct pd_err *err)
{
    char text[1024];
    fprintf(stderr, "%s\n", pd_describe(err, text, sizeof text));
    return 1;
}

int plot_points(const char *path)
{
    struct run_log *log = xcalloc(1, sizeof *log);
    struct run r;
    struct pd_err err;
    int rc = 0;
    run_init(&r, log);
    free(log);
    if (runfile_load(path, &r, &err) != PD_OK) {
        rc = fail(&err);
    } else {
        emit_points(r.tokens, "tokens");
        emit_points(r.epochs, "epochs");
        emit_points(r.seconds, "seconds");
        emit_points(r.loss, "loss");
        emit_points(r.val, "val");
    }
    run_release(&r);
    return rc;
}

static double last(const struct series *s)
{
    return series_count(s) ? series_y(s, series_count(s) - 1) : NAN;
}

static void emit_known(const char *path)
{
    struct run_log *log = xcalloc(1, sizeof *log);
    struct run r;
    struct pd_err err;
    run_init(&r, log);
    free(log);
    if (runfile_load(path, &r, &err) == PD_OK) {
        struct json *j = json_new_object();
        json_put_str(j, "ev", "known");
        json_put_str(j, "path", path);
        json_put_str(j, "name", path_base(path));
        json_put_num(j, "steps", (double)r.step);
        if (isfinite(last(r.loss)))
            json_put_num(j, "loss", last(r.loss));
        if (isfinite(last(r.val)))
            json_put_num(j, "val", last(r.val));
        emit(j);
    }
    run_release(&r);
}

/* Names begin with the time: the newest is the greatest. */
static int newest_first(const void *a, const void *b)
{
    return strcmp(*(char *const *)b, *(char *const *)a);
}

static bool is_run(const char *name)
{
    const char *dot = strrchr(name, '.');
    return name[0] != '.' && dot && (str_eq(dot, ".csv") || str_eq(dot, ".jsonl"));
}

int plot_list(const char *dir)
{
    struct strv names;
    struct pd_err err;
    DIR *d = opendir(dir);
    if (!d && errno == ENOENT)
        return 0;                /* nothing has been kept yet */
    if (!d) {
        pd_fail_errno(&err, PD_IO, _("%s can't be read"), dir);
        return fail(&err);
    }
    strv_init(&names);
    for (struct dirent *e; (e = readdir(d));)
        if (is_run(e->d_name))
            strv_push(&names, e->d_name);
    closedir(d);
    if (names.n)
        qsort(names.v, names.n, sizeof *names.v, newest_first);
    for (size_t i = 0; i < names.n && i < LIST_MOST; i++) {
        char *path = path_join(dir, names.v[i]);
        emit_known(path);
        free(path);
    }
    strv_release(&names);
    return 0;
}
