/* lora_config.c - adapter_config.json (lora_config.h). */
#include "core/train/lora_config.h"

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/train/lora_match.h"

enum { CONFIG_CEILING = 1 << 20 };

/* A site's number in a pattern; below 0: none. */
typedef double number_fn(const struct lora *l, const struct lora_site *s);

static double site_rank(const struct lora *l, const struct lora_site *s)
{
    return s->r && s->r != l->cfg.r ? s->r : -1;
}

static double site_alpha(const struct lora *l, const struct lora_site *s)
{
    return s->r && s->alpha != l->cfg.alpha ? s->alpha : -1;
}

static double site_on(const struct lora *l UNUSED, const struct lora_site *s)
{
    return s->r ? 1 : -1;
}

static bool layers_agree(const struct lora *l, int mod, number_fn *number)
{
    double first = number(l, &l->site[0][mod]);
    for (int i = 1; i < l->layers; i++)
        if (number(l, &l->site[i][mod]) != first)
            return false;
    return true;
}

/* "name", or "name": value; a comma before all but the first. */
static void print_one(struct str *s, size_t from, const char *name, bool value, double x)
{
    str_printf(s, "%s\"%s\"", s->len > from ? ", " : "", name);
    if (value)
        str_printf(s, ": %.9g", x);
}

static void print_sites(const struct lora *l, number_fn *number, bool value, struct str *s)
{
    char path[TENSOR_NAME];
    size_t from = s->len;
    for (int mod = 0; mod < LORA_MODULES; mod++) {
        double all = number(l, &l->site[0][mod]);
        bool agree = layers_agree(l, mod, number);
        if (agree && all >= 0)
            print_one(s, from, lora_module_name((enum lora_module)mod), value, all);
        for (int i = 0; !agree && i < l->layers; i++) {
            double x = number(l, &l->site[i][mod]);
            lora_site_path(i, (enum lora_module)mod, path, sizeof path);
            if (x >= 0)
                print_one(s, from, path, value, x);
        }
    }
}

static void print_config(const struct lora *l, const char *base, struct str *s)
{
    str_add(s, "{\n  \"alpha_pattern\": {");
    print_sites(l, site_alpha, true, s);
    str_add(s, "},\n  \"base_model_name_or_path\": ");
    tjson_quote(s, base ? base : "");
    str_add(s, ",\n  \"bias\": \"none\",\n  \"fan_in_fan_out\": false,\n"
               "  \"inference_mode\": true,\n  \"init_lora_weights\": true,\n"
               "  \"layers_pattern\": null,\n  \"layers_to_transform\": null,\n");
    str_printf(s, "  \"lora_alpha\": %.9g,\n  \"lora_dropout\": %.9g,\n", l->cfg.alpha,
               l->cfg.dropout);
    str_printf(s, "  \"modules_to_save\": null,\n  \"peft_type\": \"LORA\",\n  \"r\": %d,\n"
                  "  \"rank_pattern\": {", l->cfg.r);
    print_sites(l, site_rank, true, s);
    str_add(s, "},\n  \"target_modules\": [");
    print_sites(l, site_on, false, s);
    str_printf(s, "],\n  \"task_type\": \"CAUSAL_LM\",\n  \"use_dora\": false,\n"
                  "  \"use_rslora\": %s\n}\n", l->cfg.rslora ? "true" : "false");
}

enum pd_code lora_config_write(const struct lora *l, const char *path, const char *base,
                               struct pd_err *err)
{
    struct str s;
    str_init(&s, CONFIG_CEILING);
    print_config(l, base, &s);
    enum pd_code rc = path_write_atomic(path, 0644, s.p, s.len, err);
    str_release(&s);
    return rc;
}

/* Whether a key is there and says something: not null, false, "", {} or []. */
static bool says(const struct tjson *v)
{
    switch (tjson_type(v)) {
    case TJSON_MISSING: case TJSON_NULL: return false;
    case TJSON_BOOL: return tjson_bool(v, "", false);
    case TJSON_STRING: return *tjson_str(v, "", "") != '\0';
    case TJSON_ARRAY: case TJSON_OBJECT: return tjson_count(v) > 0;
    default: return true;
    }
}

/* Keys that change what the adapter computes, and are not computed here.
 * (fan_in_fan_out is no such key: PEFT switches it off for a linear layer.) */
static const struct {
    const char *key, *why;
} refused[] = {
    {"use_dora", N_("DoRA scales every output by a learned magnitude")},
    {"use_qalora", N_("QA-LoRA groups the inputs")},
    {"use_bdlora", N_("A and B are block-diagonal")},
    {"lora_bias", N_("B has a bias")},
    {"modules_to_save", N_("whole modules are stored beside the adapter")},
    {"target_parameters", N_("single parameters are adapted")},
    {"trainable_token_indices", N_("rows of the embedding are stored beside the adapter")},
    {"layer_replication", N_("layers are repeated")},
    {"alora_invocation_tokens", N_("the adapter starts in the middle of the text")},
    {"arrow_config", N_("several adapters are mixed")},
    {"kasa_config", N_("the base weights are decomposed")},
    {"velora_config", N_("inputs are compressed")},
    {"monteclora_config", N_("the adapter is drawn at random")},
};

/* Ways of starting A and B that leave the base's weights as they are. The others
 * (pissa, olora, corda, loftq …) subtract the start from them. */
static bool keeps_base(const struct tjson *v)
{
    static const char *const kept[] = {"gaussian", "eva", "orthogonal"};
    const char *how = tjson_str(v, "", NULL);
    for (size_t i = 0; how && i < ARRAY_LEN(kept); i++)
        if (str_eq(how, kept[i]))
            return true;
    return !how;
}

static enum pd_code refuse_start(const struct tjson *j, const char *src, struct pd_err *err)
{
    const struct tjson *v = tjson_get(j, "init_lora_weights");
    if (keeps_base(v))
        return PD_OK;
    pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0,
               _("init_lora_weights is \"%s\": this start changed the base model's weights, so "
                 "that the adapter does not fit the plain base"), tjson_str(v, "", ""));
    return pd_set_hint(err, _("convert it in PEFT: save_pretrained(..., "
                               "path_initial_model_for_weight_conversion=...)"));
}

static enum pd_code refuse_others(const struct tjson *j, const char *src, struct pd_err *err)
{
    const char *type = tjson_str(j, "peft_type", NULL), *bias = tjson_str(j, "bias", "none");
    if (!type || !str_eq(type, "LORA"))
        return pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0,
                          _("peft_type is \"%s\"; only LORA is read here"), type ? type : "");
    const char *task = tjson_str(j, "task_type", "CAUSAL_LM");
    if (!str_eq(task, "CAUSAL_LM"))
        return pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0,
                          _("task_type is \"%s\"; only CAUSAL_LM is computed here"), task);
    if (!str_eq(bias, "none"))
        return pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0,
                          _("bias is \"%s\": biases are stored beside the adapter; only \"none\" "
                            "is read here"), bias);
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (says(tjson_get(j, refused[i].key)))
            return pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0,
                              _("%s is set (%s): not computed here"), refused[i].key,
                              _(refused[i].why));
    return refuse_start(j, src, err);
}

/* A key that is there must have its type: a number in quotes would count as
 * missing. */
static enum pd_code check_types(const struct tjson *j, const char *src, struct pd_err *err)
{
    static const struct {
        const char *key;
        enum tjson_type least, most;
    } types[] = {
        {"r", TJSON_INT, TJSON_INT}, {"lora_alpha", TJSON_INT, TJSON_REAL},
        {"lora_dropout", TJSON_INT, TJSON_REAL}, {"use_rslora", TJSON_BOOL, TJSON_BOOL},
        {"rank_pattern", TJSON_OBJECT, TJSON_OBJECT}, {"alpha_pattern", TJSON_OBJECT, TJSON_OBJECT},
    };
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        enum tjson_type t = tjson_type(tjson_get(j, types[i].key));
        if (t > TJSON_NULL && (t < types[i].least || t > types[i].most))
            return pd_fail_at(err, PD_TRAIN, src, 0, 0, _("%s must be of type %s, not %s"),
                              types[i].key, tjson_type_name(types[i].most), tjson_type_name(t));
    }
    return PD_OK;
}

static enum pd_code read_numbers(const struct tjson *j, const char *src, struct lora_config *c,
                                 struct pd_err *err)
{
    int64_t r = tjson_int(j, "r", 8);
    *c = (struct lora_config){.alpha = tjson_num(j, "lora_alpha", 8),
                              .dropout = tjson_num(j, "lora_dropout", 0),
                              .rslora = tjson_bool(j, "use_rslora", false)};
    if (r < 1 || r > LORA_RANK_MOST)
        return pd_fail_at(err, PD_TRAIN, src, 0, 0, _("r must be a number from 1 to %d"),
                          LORA_RANK_MOST);
    c->r = (int)r;
    return PD_OK;
}

/* What can be known without the base. *j is the caller's. */
static enum pd_code read_alone(const char *path, struct tjson **j, struct lora_config *c,
                               struct pd_err *err)
{
    enum pd_code rc = tjson_read(path, CONFIG_CEILING, j, err);
    if (rc == PD_OK && tjson_type(*j) != TJSON_OBJECT)
        rc = pd_fail_at(err, PD_PARSE, path, 1, 1, _("an adapter's configuration is an object"));
    if (rc == PD_OK)
        rc = refuse_others(*j, path, err);
    if (rc == PD_OK)
        rc = check_types(*j, path, err);
    if (rc == PD_OK)
        rc = read_numbers(*j, path, c, err);
    return rc;
}

enum pd_code lora_config_check(const char *path, struct pd_err *err)
{
    struct tjson *j = NULL;
    struct lora_config c;
    enum pd_code rc = read_alone(path, &j, &c, err);
    tjson_free(j);
    return rc;
}

enum pd_code lora_config_read(const char *path, const struct llama_config *m,
                              struct lora_config *c, struct lora_table *t, struct pd_err *err)
{
    struct tjson *j = NULL;
    enum pd_code rc = read_alone(path, &j, c, err);
    if (rc == PD_OK)
        rc = lora_match(j, path, m, c, t, err);
    c->table = t;
    tjson_free(j);
    return rc;
}
