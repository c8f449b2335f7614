/* plot_main.c - podium-plot's options (plot.h). */
#include <math.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "labs/runfile.h"
#include "tui/plot/plot.h"

static const char usage[] =
    N_("usage: podium plot RUN [RUN2 ...] -o FILE.svg|FILE.png [options]\n"
       "Draw the loss of a training: a run log or a CSV, up to four others beside it.\n"
       "\n"
       "  -o FILE          the picture; its ending says what it is\n"
       "  --smooth W       weight of the average, 0 to 0.99 (0.9)\n"
       "  --x UNIT         step, tokens, epoch or time (step)\n"
       "  --from X, --to X only this part of x\n"
       "  --log-y, --log-x logarithmic axes\n"
       "  --no-raw         without the raw points\n"
       "  --theme NAME     light or dark (light)\n"
       "  --title TEXT     the heading\n"
       "  --name TEXT      of the first run in the legend\n"
       "  --width N, --height N  (900 x 540)\n"
       "  --lang en|zh     language of the labels\n"
       "\n"
       "  --points RUN     its points as JSON lines\n"
       "  --list DIR       the runs of a folder as JSON lines\n");

struct options {
    struct plot *p;
    const char *name, *points, *list, *lang;
    const char *files[PLOT_RUNS];
    int n;
};

static int usage_error(const char *what, const char *arg)
{
    fprintf(stderr, _("podium-plot: %s: %s\nTry: podium plot --help\n"), arg, what);
    return 2;
}

static bool set_text(const char **to, const char *v)
{
    *to = v;
    return true;
}

static bool set_number(double *to, const char *v, double least, double most)
{
    return str_to_f64(v, to) && *to >= least && *to <= most;
}

static bool set_size(int *to, const char *v)
{
    int64_t n;
    bool ok = str_to_i64(v, &n) && n >= 200 && n <= 10000;
    *to = ok ? (int)n : *to;
    return ok;
}

static bool set_x(enum curve_x *to, const char *v)
{
    static const char *const names[X_COUNT] = {"step", "tokens", "epoch", "time"};
    for (int i = 0; i < X_COUNT; i++)
        if (str_eq(names[i], v)) {
            *to = (enum curve_x)i;
            return true;
        }
    return false;
}

static bool set_theme(bool *dark, const char *v)
{
    *dark = str_eq(v, "dark");
    return *dark || str_eq(v, "light");
}

/* An option with a value; false: the value is bad. *known: there is such one. */
static bool with_value(struct options *o, const char *name, const char *v, bool *known)
{
    struct plot *p = o->p;
    *known = true;
    if (str_eq(name, "-o"))
        return set_text(&p->out, v);
    if (str_eq(name, "--smooth"))
        return set_number(&p->smooth, v, 0, 0.999);
    if (str_eq(name, "--x"))
        return set_x(&p->x, v);
    if (str_eq(name, "--from"))
        return set_number(&p->from, v, -HUGE_VAL, HUGE_VAL);
    if (str_eq(name, "--to"))
        return set_number(&p->to, v, -HUGE_VAL, HUGE_VAL);
    if (str_eq(name, "--theme"))
        return set_theme(&p->dark, v);
    if (str_eq(name, "--width"))
        return set_size(&p->width, v);
    if (str_eq(name, "--height"))
        return set_size(&p->height, v);
    if (str_eq(name, "--lang"))
        return i18n_set(v);
    const struct { const char *name, **to; } texts[] = {
        {"--title", &p->title}, {"--name", &o->name}, {"--points", &o->points},
        {"--list", &o->list}};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (str_eq(texts[i].name, name))
            return set_text(texts[i].to, v);
    *known = false;
    return true;
}

static bool flag(struct plot *p, const char *arg)
{
    const struct { const char *name; bool *to; } flags[] = {
        {"--log-y", &p->log_y}, {"--log-x", &p->log_x}, {"--no-raw", &p->no_raw}};
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (str_eq(flags[i].name, arg))
            return *flags[i].to = true;
    return false;
}

/* 0, or an exit code. */
static int take(struct options *o, int argc, char **argv, int *i)
{
    char name[32];
    const char *arg = argv[*i], *equal = strchr(arg, '=');
    bool known;
    if (arg[0] != '-') {
        if (o->n == PLOT_RUNS)
            return usage_error(_("five runs at most"), arg);
        o->files[o->n++] = arg;
        return 0;
    }
    if (flag(o->p, arg))
        return 0;
    str_fmt(name, sizeof name, "%.*s", (int)(equal ? equal - arg : 31), arg);
    const char *v = equal ? equal + 1 : *i + 1 < argc ? argv[*i + 1] : NULL;
    bool good = with_value(o, name, v ? v : "", &known);
    if (!known)
        return usage_error(_("no such option"), arg);
    if (!v || !good)
        return usage_error(_("its value is missing or wrong"), arg);
    *i += equal == NULL;
    return 0;
}

static enum pd_code load(struct options *o, struct pd_err *err)
{
    for (int i = 0; i < o->n; i++) {
        struct plot_run *r = &o->p->run[o->p->n++];
        struct run_log *log = xcalloc(1, sizeof *log);
        run_init(&r->run, log);
        free(log);
        curve_line_init(&r->line);
        str_copy(r->name, sizeof r->name, i == 0 && o->name && *o->name ? o->name
                                                                       : path_base(o->files[i]));
        if (runfile_load(o->files[i], &r->run, err) != PD_OK)
            return err->code;
        curve_line_update(&r->line, &r->run, o->p->x, o->p->smooth);
    }
    return PD_OK;
}

static int draw(struct options *o)
{
    struct pd_err err;
    struct plot_facts f;
    char text[1024];
    if (load(o, &err) != PD_OK || plot_draw(o->p, &f, &err) != PD_OK) {
        fprintf(stderr, "%s\n", pd_describe(&err, text, sizeof text));
        return 1;
    }
    if (f.no_font)
        fputs(_("no font of this machine has all characters of the labels "
                "(Debian: apt-get install fonts-noto-cjk)\n"), stderr);
    return 0;
}

int main(int argc, char **argv)
{
    struct plot *p = xcalloc(1, sizeof *p);
    struct options o = {.p = p};
    int rc = 0;
    i18n_init(NULL);
    p->smooth = 0.9;
    p->from = p->to = NAN;
    p->width = 900;
    p->height = 540;
    for (int i = 1; i < argc && rc == 0; i++) {
        if (str_eq(argv[i], "--help") || str_eq(argv[i], "-h")) {
            fputs(_(usage), stdout);
            free(p);
            return 0;
        }
        rc = take(&o, argc, argv, &i);
    }
    if (rc == 0 && o.points)
        rc = plot_points(o.points);
    else if (rc == 0 && o.list)
        rc = plot_list(o.list);
    else if (rc == 0 && (o.n == 0 || !p->out))
        rc = usage_error(_("a run and -o FILE are needed"), "podium plot");
    else if (rc == 0)
        rc = draw(&o);
    for (int i = 0; i < p->n; i++) {
        run_release(&p->run[i].run);
        curve_line_release(&p->run[i].line);
    }
    free(p);
    return rc;
}
