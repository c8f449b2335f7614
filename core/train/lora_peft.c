/* lora_peft.c - adapters in PEFT's form: adapter_config.json and
 * adapter_model.safetensors (lora.h).
 *
 * Names in the file: base_model.model. + the module's path + .lora_A.weight or
 * .lora_B.weight; written as f32.
 */
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/train/lora_config.h"
#include "core/train/lora_report.h"

enum pd_code lora_save(const struct lora *l, const char *dir, const char *base,
                       struct pd_err *err)
{
    if (path_mkdirs(dir, 0755, err) != PD_OK)
        return err->code;
    char *config = path_join(dir, "adapter_config.json");
    char *weights = path_join(dir, "adapter_model.safetensors");
    enum pd_code rc = lora_config_write(l, config, base, err);
    if (rc == PD_OK)
        rc = safetensors_save(weights, &l->tensors, SAFETENSORS_W, SAFETENSORS_F32, NULL, err);
    free(config);
    free(weights);
    return rc;
}

static bool holds(const char *dir, const char *name)
{
    char *path = path_join(dir, name);
    bool yes = access(path, F_OK) == 0;
    free(path);
    return yes;
}

/* Weights that stand alone: their own faults go before the missing file. */
static enum pd_code check_alone(const char *dir, struct pd_err *err)
{
    struct safetensors *s;
    char *path = path_join(dir, "adapter_model.safetensors");
    enum pd_code rc = safetensors_open(path, &s, err);
    if (rc == PD_OK) {
        rc = lora_report_alone(s, path, err);
        safetensors_close(s);
    }
    free(path);
    return rc;
}

/* A folder that is no adapter: say what it is. */
static enum pd_code check_folder(const char *dir, struct pd_err *err)
{
    bool config = holds(dir, "adapter_config.json");
    bool weights = holds(dir, "adapter_model.safetensors");
    if (config && weights)
        return PD_OK;
    if (weights && check_alone(dir, err) != PD_OK)
        return err->code;
    pd_fail_at(err, PD_TRAIN, dir, 0, 0, _("there is no %s in this folder"),
               config ? "adapter_model.safetensors" : "adapter_config.json");
    if (holds(dir, "adapter_model.bin"))
        return pd_set_hint(err, _("adapter_model.bin is a pickle, which is not read: load it in "
                                   "PEFT and save_pretrained() again"));
    if (holds(dir, "model.safetensors"))
        return pd_set_hint(err, _("it holds a whole model: give it to --model"));
    return pd_set_hint(err, _("give --adapter the folder with adapter_config.json and "
                               "adapter_model.safetensors"));
}

static enum pd_code read_weights(struct lora *l, const char *path, struct pd_err *err)
{
    struct safetensors *s;
    size_t at;
    enum pd_code rc = safetensors_open(path, &s, err);
    if (rc != PD_OK)
        return rc;
    rc = lora_report(s, path, l, err);
    safetensors_close(s);
    if (rc == PD_OK)
        rc = safetensors_load(path, &l->tensors, true, err);
    const struct tensor *bad = rc == PD_OK ? tensors_nonfinite(&l->tensors, 'w', &at) : NULL;
    if (bad) {
        pd_fail_at(err, PD_TRAIN, path, 0, 0, _("%s[%zu] is not a finite number"), bad->name, at);
        rc = pd_set_hint(err, _("the training diverged before it was saved: take an earlier "
                                 "checkpoint"));
    }
    return rc;
}

enum pd_code lora_shape_of(struct lora *l, const struct llama_config *m, const char *dir,
                           struct pd_err *err)
{
    struct lora_config cfg;
    struct lora_table *t = xcalloc(1, sizeof *t);
    char *path = path_join(dir, "adapter_config.json");
    enum pd_code rc = lora_config_read(path, m, &cfg, t, err);
    if (rc == PD_OK)
        lora_shape(l, m, &cfg);
    free(path);
    free(t);
    return rc;
}

enum pd_code lora_load(struct lora *l, const struct llama_config *m, const char *dir,
                       struct pd_err *err)
{
    struct lora_config cfg;
    if (check_folder(dir, err) != PD_OK)
        return err->code;
    struct lora_table *t = xcalloc(1, sizeof *t);
    char *path = path_join(dir, "adapter_config.json");
    enum pd_code rc = lora_config_read(path, m, &cfg, t, err);
    free(path);
    if (rc == PD_OK)
        lora_init(l, m, &cfg, 0);
    free(t);
    if (rc != PD_OK)
        return rc;
    path = path_join(dir, "adapter_model.safetensors");
    rc = read_weights(l, path, err);
    free(path);
    if (rc != PD_OK)
        lora_release(l);
    return rc;
}

static bool all_zero(const struct tensor *t)
{
    size_t n = tensors_count(t);
    for (size_t i = 0; i < n; i++)
        if (t->w[i] != 0)
            return false;
    return true;
}

void lora_notes(const struct lora *l, struct str *out)
{
    struct lora_names zero = {0};
    for (int i = 1; i < l->tensors.n; i += 2)
        if (all_zero(&l->tensors.t[i]))
            lora_names_add(&zero, l->tensors.t[i].name);
    lora_names_zero(&zero, l->tensors.n / 2, out);
}
