/* ckpt_foreign.c - checkpoints of transformers' Trainer: whole or cut off?
 * (ckpt.h). They have no manifest, so the files themselves are looked at. */
#include "core/train/ckpt.h"

#include <dirent.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/train/safetensors.h"
#include "core/train/tjson.h"

enum { STATE_CEILING = 256 << 20 };

static bool ends(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && str_eq(s + n - m, end);
}

/* Every tensor file of the folder is whole, and there is one. */
static enum pd_code check_tensors(const char *dir, struct pd_err *err)
{
    struct safetensors *s;
    int n = 0;
    enum pd_code rc = PD_OK;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && !rc && (e = readdir(d));) {
        if (!ends(e->d_name, ".safetensors"))
            continue;
        char *path = path_join(dir, e->d_name);
        rc = safetensors_open(path, &s, err);
        if (!rc)
            safetensors_close(s);
        free(path);
        n++;
    }
    if (d)
        closedir(d);
    return rc || n ? rc : pd_fail(err, PD_TRAIN, _("%s holds no tensor file"), dir);
}

/* Trainer writes its state after the tensors. */
static enum pd_code check_state(const char *dir, struct pd_err *err)
{
    struct tjson *j = NULL;
    char *path = path_join(dir, "trainer_state.json");
    enum pd_code rc = access(path, F_OK)
                          ? pd_fail(err, PD_TRAIN, _("%s is missing: it is written last"), path)
                          : tjson_read(path, STATE_CEILING, &j, err);
    tjson_free(j);
    free(path);
    return rc;
}

int64_t ckpt_newest_foreign(const char *out, struct str *skipped)
{
    int64_t step = INT64_MAX;
    struct pd_err err;
    while ((step = ckpt_below(out, step)) >= 0) {
        char *dir = xasprintf("%s/checkpoint-%" PRId64, out, step);
        enum pd_code rc = check_tensors(dir, &err);
        if (!rc)
            rc = check_state(dir, &err);
        if (rc)
            str_printf(skipped, _("%scheckpoint-%" PRId64 " is incomplete and is passed over: %s"),
                       skipped->len ? "\n" : "", step, err.msg);
        free(dir);
        if (!rc)
            break;
    }
    return step;
}
