/* cmd_check.c - podium-train check PATH: what a file or folder is, and whether
 * it is whole. One line a finding on stdout; what is wrong goes to stderr. */
#include "core/train/cmd.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/train/ckpt.h"
#include "core/train/gguf_import.h"
#include "core/train/lora_config.h"
#include "core/train/lora_report.h"
#include "core/train/shards.h"
#include "core/train/tok_folder.h"
#include "core/train/vocab_check.h"

static bool has(const char *dir, const char *name)
{
    char *path = path_join(dir, name);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

static bool ends(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && str_eq(s + n - m, end);
}

/* --- files ------------------------------------------------------------------------ */

static bool is_adapters(const struct safetensors *s)
{
    for (int i = 0; i < safetensors_count(s); i++)
        if (strstr(safetensors_at(s, i)->name, "lora_"))
            return true;
    return false;
}

static enum pd_code check_adapters(const struct safetensors *s, const char *path,
                                   struct pd_err *err)
{
    struct str notes;
    str_init(&notes, 1 << 16);
    enum pd_code rc = lora_report_alone(s, path, err);
    if (rc == PD_OK)
        lora_report_zero(s, &notes);
    if (notes.len)
        printf("%s: %s", path, notes.p);
    str_release(&notes);
    return rc;
}

static enum pd_code check_tensors(const char *path, struct pd_err *err)
{
    struct safetensors *s;
    size_t bytes = 0;
    if (safetensors_open(path, &s, err) != PD_OK)
        return err->code;
    enum pd_code rc = is_adapters(s) ? check_adapters(s, path, err) : PD_OK;
    for (int i = 0; i < safetensors_count(s); i++)
        bytes += safetensors_at(s, i)->bytes;
    if (!rc)
        printf(_("%s: safetensors, %d tensors, %.1f MB\n"), path, safetensors_count(s),
               (double)bytes / 1e6);
    safetensors_close(s);
    return rc;
}

static enum pd_code check_gguf(const char *path, struct pd_err *err)
{
    struct gguf *g;
    struct llama_config c;
    if (gguf_open(path, &g, err) != PD_OK)
        return err->code;
    enum pd_code rc = gguf_import_config(g, &c, err);
    if (!rc)
        printf(_("%s: GGUF, %d layers, %d wide, %.1f M parameters\n"), path, c.layers, c.hidden,
               (double)llama_parameters(&c) / 1e6);
    gguf_close(g);
    return rc;
}

static enum pd_code check_tokenizer(const char *path, struct pd_err *err)
{
    struct tok *t;
    if (tok_load(path, &t, err) != PD_OK)
        return err->code;
    printf(_("%s: byte-level BPE, ids up to %d\n"), path, tok_size(t) - 1);
    tok_free(t);
    return PD_OK;
}

/* --- folders ---------------------------------------------------------------------- */

/* Tensors that no part of the model reads: harmless, and often not meant. */
static void tell_unused(const char *dir, const struct shards *s, const struct tensors *ts)
{
    const char *first = NULL;
    int n = 0;
    for (int f = 0; f < shards_files(s); f++)
        for (int i = 0; i < safetensors_count(shards_file(s, f)); i++) {
            const char *name = safetensors_at(shards_file(s, f), i)->name;
            if (tensors_find(ts, name) || strstr(name, "rotary_emb.inv_freq"))
                continue;
            first = n++ ? first : name;
        }
    if (n)
        printf(_("%s: tensors that the model has no use for: %d, the first is %s\n"), dir, n,
               first);
}

static void tell_more(const char *dir, const struct tensors *ts)
{
    struct shards *s;
    struct pd_err ignored;
    if (shards_open(dir, &s, &ignored) != PD_OK)
        return;
    tell_unused(dir, s, ts);
    if (shards_said(s) >= 0 && shards_said(s) != shards_bytes(s))
        printf(_("%s: total_size of the index is %" PRId64 ", the tensors have %" PRId64
                 " bytes\n"), dir, shards_said(s), shards_bytes(s));
    shards_close(s);
}

/* The tokenizer's files among each other; what surprises is told. */
static enum pd_code check_folder(const char *dir, const struct tok *t,
                                 const struct llama_config *c, struct pd_err *err)
{
    struct str notes;
    str_init(&notes, 1 << 16);
    enum pd_code rc = tok_folder_check(dir, t, c, &notes, err);
    for (char *p = notes.p, *end; !rc && p && (end = strchr(p, '\n')); p = end + 1)
        printf("%s: %.*s\n", dir, (int)(end - p), p);
    str_release(&notes);
    return rc;
}

static enum pd_code check_weights(const char *dir, struct pd_err *err)
{
    struct llama m;
    size_t at = 0;
    if (llama_load(&m, dir, false, err) != PD_OK)
        return err->code;
    const struct tensor *bad = tensors_nonfinite(&m.tensors, 'w', &at);
    enum pd_code rc = bad ? pd_fail_at(err, PD_TRAIN, dir, 0, 0,
                                       _("tensor %s has a value that is no number, at %zu"),
                                       bad->name, at)
                          : PD_OK;
    if (!rc)
        printf(_("%s: a Llama of %d layers, %d wide, %d tokens, %.1f M parameters\n"), dir,
               m.cfg.layers, m.cfg.hidden, m.cfg.vocab, (double)llama_parameters(&m.cfg) / 1e6);
    if (!rc)
        tell_more(dir, &m.tensors);
    llama_release(&m);
    return rc;
}

static enum pd_code check_model(const char *dir, struct pd_err *err)
{
    struct llama_config c;
    struct tok *t = NULL;
    enum pd_code rc = llama_read_config(dir, &c, err);
    if (!rc && has(dir, "tokenizer.json"))
        rc = tok_load(dir, &t, err);
    else if (!rc)
        printf(_("%s: no tokenizer.json: it can't be trained on texts\n"), dir);
    if (!rc)
        rc = vocab_check(t, c.vocab, dir, NULL, err);
    if (!rc && t)
        rc = check_folder(dir, t, &c, err);
    if (!rc)
        rc = check_weights(dir, err);
    tok_free(t);
    return rc;
}

static enum pd_code check_adapter(const char *dir, struct pd_err *err)
{
    char *path = path_join(dir, "adapter_model.safetensors");
    struct llama_config c;
    bool base = has(dir, "config.json");
    enum pd_code rc = base ? llama_read_config(dir, &c, err) : PD_OK;
    if (!rc && base)
        rc = vocab_check(NULL, c.vocab, dir, NULL, err);
    if (!rc)
        rc = check_tensors(path, err);
    free(path);
    path = path_join(dir, "adapter_config.json");
    if (!rc && has(dir, "adapter_config.json"))
        rc = lora_config_check(path, err);
    free(path);
    return rc;
}

/* checkpoint-N folders: the one that a resume would take, and why not others. */
static enum pd_code check_run(const char *dir, struct pd_err *err)
{
    struct str skipped;
    str_init(&skipped, 1 << 16);
    int64_t step = ckpt_newest(dir, &skipped), foreign = -1;
    if (step < 0) {
        str_clear(&skipped);
        step = foreign = ckpt_newest_foreign(dir, &skipped);
    }
    if (skipped.len)
        printf("%s\n", skipped.p);
    str_release(&skipped);
    if (step < 0)
        return pd_fail(err, PD_TRAIN, _("%s: no model, no adapter and no whole checkpoint"), dir);
    printf(_("%s: checkpoint-%" PRId64 " is whole: a resume goes on from it\n"), dir, step);
    if (foreign >= 0)
        printf(_("%s: another program wrote it: its own resume takes it; here its adapter can be "
                 "the start of a run (--adapter)\n"), dir);
    return PD_OK;
}

static const struct kind {
    const char *mark;                            /* a file of the folder */
    enum pd_code (*check)(const char *path, struct pd_err *err);
} folders[] = {
    {"adapter_config.json", check_adapter},
    {"adapter_model.safetensors", check_adapter},
    {"config.json", check_model},
    {"", check_run},
}, files[] = {
    {".safetensors", check_tensors},
    {".gguf", check_gguf},
    {".json", check_tokenizer},
    {"", check_tensors},
};

static enum pd_code check_path(const char *path, struct pd_err *err)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return pd_fail_errno(err, PD_IO, _("%s can't be read"), path);
    bool folder = S_ISDIR(st.st_mode);
    const struct kind *k = folder ? folders : files;
    while (*k->mark && !(folder ? has(path, k->mark) : ends(path, k->mark)))
        k++;
    return k->check(path, err);
}

int cmd_check(const struct options *o)
{
    struct pd_err err;
    int code = TRAINER_DONE;
    if (o->n_rest == 0) {
        pd_fail(&err, PD_USAGE, _("check takes a file or a folder"));
        return cmd_fail(&err);
    }
    for (int i = 0; i < o->n_rest; i++) {
        fflush(stdout);
        if (check_path(o->rest[i], &err) != PD_OK) {
            cmd_fail(&err);
            code = TRAINER_FAILED;
        }
    }
    return code;
}
