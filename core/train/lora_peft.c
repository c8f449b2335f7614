/* lora_peft.c - adapters in PEFT's form: adapter_config.json and
 * adapter_model.safetensors (lora.h).
 *
 * Names in the file: base_model.model. + the module's path + .lora_A.weight or
 * .lora_B.weight, f32.
 */
#include "core/train/lora.h"

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/train/safetensors.h"
#include "core/train/tjson.h"

enum { CONFIG_CEILING = 1 << 20, RANK_MOST = 1024 };

static void print_config(const struct lora *l, const char *base, struct str *s)
{
    const char *sep = "";
    str_add(s, "{\n  \"alpha_pattern\": {},\n  \"base_model_name_or_path\": ");
    tjson_quote(s, base ? base : "");
    str_add(s, ",\n  \"bias\": \"none\",\n  \"fan_in_fan_out\": false,\n"
               "  \"inference_mode\": true,\n  \"init_lora_weights\": true,\n"
               "  \"layers_pattern\": null,\n  \"layers_to_transform\": null,\n");
    str_printf(s, "  \"lora_alpha\": %.9g,\n  \"lora_dropout\": %.9g,\n", l->cfg.alpha,
               l->cfg.dropout);
    str_printf(s, "  \"modules_to_save\": null,\n  \"peft_type\": \"LORA\",\n  \"r\": %d,\n"
                  "  \"rank_pattern\": {},\n  \"target_modules\": [", l->cfg.r);
    for (int i = 0; i < LORA_MODULES; i++)
        if (l->cfg.targets & 1u << i) {
            str_printf(s, "%s\"%s\"", sep, lora_module_name((enum lora_module)i));
            sep = ", ";
        }
    str_add(s, "],\n  \"task_type\": \"CAUSAL_LM\",\n  \"use_dora\": false,\n"
               "  \"use_rslora\": false\n}\n");
}

enum pd_code lora_save(const struct lora *l, const char *dir, const char *base,
                       struct pd_err *err)
{
    struct str s;
    if (path_mkdirs(dir, 0755, err) != PD_OK)
        return err->code;
    str_init(&s, CONFIG_CEILING);
    print_config(l, base, &s);
    char *path = path_join(dir, "adapter_config.json");
    enum pd_code rc = path_write_atomic(path, 0644, s.p, s.len, err);
    free(path);
    str_release(&s);
    if (rc != PD_OK)
        return rc;
    path = path_join(dir, "adapter_model.safetensors");
    rc = safetensors_save(path, &l->tensors, SAFETENSORS_W, false, NULL, err);
    free(path);
    return rc;
}

/* Forms of LoRA that change the result and are not computed here. */
static enum pd_code refuse_others(const struct tjson *j, const char *src, struct pd_err *err)
{
    static const char *const flags[] = {"use_dora", "use_rslora", "fan_in_fan_out"};
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (tjson_bool(j, flags[i], false))
            return pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0, _("%s: true is not computed here"),
                              flags[i]);
    static const char *const patterns[] = {"rank_pattern", "alpha_pattern", "modules_to_save",
                                           "layers_to_transform"};
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
        if (tjson_count(tjson_get(j, patterns[i])) > 0)
            return pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0, _("%s is not computed here"),
                              patterns[i]);
    if (!str_eq(tjson_str(j, "peft_type", "LORA"), "LORA"))
        return pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0, _("only peft_type LORA is read here"));
    if (!str_eq(tjson_str(j, "bias", "none"), "none"))
        return pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0, _("only bias \"none\" is read here"));
    return PD_OK;
}

static enum pd_code read_targets(const struct tjson *j, const char *src, unsigned *bits,
                                 struct pd_err *err)
{
    *bits = 0;
    for (size_t i = 0; i < tjson_count(j); i++) {
        const char *name = tjson_str(tjson_item(j, i), "", "");
        unsigned one = 0;
        if (lora_parse_targets(name, &one, err) != PD_OK || str_eq(name, "all"))
            return pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0,
                              _("target_modules: \"%s\" is no linear layer of a Llama block"),
                              name);
        *bits |= one;
    }
    if (tjson_type(j) != TJSON_ARRAY || !*bits)
        return pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0,
                          _("target_modules must be a list of module names"));
    return PD_OK;
}

static enum pd_code read_config(const struct tjson *j, const char *src, struct lora_config *c,
                                struct pd_err *err)
{
    if (refuse_others(j, src, err) != PD_OK)
        return err->code;
    int64_t r = tjson_int(j, "r", 8);
    *c = (struct lora_config){.r = (int)r, .alpha = tjson_num(j, "lora_alpha", 8),
                              .dropout = tjson_num(j, "lora_dropout", 0)};
    if (r < 1 || r > RANK_MOST)
        return pd_fail_at(err, PD_TRAIN, src, 0, 0, _("r must be a number from 1 to %d"),
                          RANK_MOST);
    return read_targets(tjson_get(j, "target_modules"), src, &c->targets, err);
}

enum pd_code lora_load(struct lora *l, const struct llama_config *m, const char *dir,
                       struct pd_err *err)
{
    struct tjson *j = NULL;
    struct lora_config cfg = {0};
    char *path = path_join(dir, "adapter_config.json");
    enum pd_code rc = tjson_read(path, CONFIG_CEILING, &j, err);
    if (rc == PD_OK)
        rc = read_config(j, path, &cfg, err);
    tjson_free(j);
    free(path);
    if (rc != PD_OK)
        return rc;
    lora_init(l, m, &cfg, 0);
    path = path_join(dir, "adapter_model.safetensors");
    rc = safetensors_load(path, &l->tensors, true, err);
    free(path);
    if (rc != PD_OK)
        lora_release(l);
    return rc;
}
