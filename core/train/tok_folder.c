/* tok_folder.c - see tok_folder.h. */
#include "core/train/tok_folder.h"

#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/train/tjson.h"

enum { CEILING = 16 << 20 };

struct folder {
    const char *dir;
    const struct tok *t;
    const struct llama_config *c;
    struct str *notes;
    struct pd_err *err;
};

/* A file of the folder; *out NULL when there is none. */
static enum pd_code read_file(const struct folder *f, const char *name, struct tjson **out)
{
    char *path = path_join(f->dir, name);
    *out = NULL;
    enum pd_code rc = access(path, F_OK) ? PD_OK : tjson_read(path, CEILING, out, f->err);
    free(path);
    return rc;
}

static enum pd_code fail(const struct folder *f, const char *file)
{
    f->err->code = PD_TRAIN;
    str_copy(f->err->src, sizeof f->err->src, file);
    return pd_set_hint(f->err, _("take all tokenizer files from one model: %s is followed here, "
                                 "other programs follow %s too"), "tokenizer.json", file);
}

/* The token `s` that a file gives the id (-1: none) has it in tokenizer.json. */
static enum pd_code same_id(const struct folder *f, const char *file, const char *s, int64_t id)
{
    int32_t mine = tok_id(f->t, s, strlen(s));
    if (mine >= 0 && (id < 0 || id == mine))
        return PD_OK;
    if (mine < 0)
        pd_fail(f->err, PD_TRAIN, _("%s names the token %.60s, which tokenizer.json does not have"),
                file, s);
    else
        pd_fail(f->err, PD_TRAIN, _("%.60s has the id %" PRId64 " in %s, but %d in tokenizer.json"),
                s, id, file, (int)mine);
    return fail(f, file);
}

/* {token: id} */
static enum pd_code check_added(const struct folder *f)
{
    struct tjson *j;
    enum pd_code rc = read_file(f, "added_tokens.json", &j);
    for (void *it = j ? tjson_iter(j) : NULL; it && !rc; it = tjson_iter_next(j, it))
        rc = same_id(f, "added_tokens.json", tjson_iter_key(it),
                     tjson_int(tjson_iter_value(it), "", -1));
    tjson_free(j);
    return rc;
}

/* {id: {content}} */
static enum pd_code check_decoder(const struct folder *f, const struct tjson *j)
{
    const struct tjson *list = tjson_get(j, "added_tokens_decoder");
    enum pd_code rc = PD_OK;
    for (void *it = list ? tjson_iter(list) : NULL; it && !rc; it = tjson_iter_next(list, it))
        rc = same_id(f, "tokenizer_config.json", tjson_str(tjson_iter_value(it), "content", ""),
                     strtoll(tjson_iter_key(it), NULL, 10));
    return rc;
}

/* "bos_token" and its kin: a text, or an object with `content`; NULL: none. */
static const char *named(const struct tjson *j, const char *key)
{
    const struct tjson *v = tjson_get(j, key);
    return tjson_type(v) == TJSON_OBJECT ? tjson_str(v, "content", NULL) : tjson_str(v, "", NULL);
}

static enum pd_code check_named(const struct folder *f, const char *file, const struct tjson *j)
{
    static const char *const keys[] = {"bos_token", "eos_token", "unk_token", "pad_token"};
    enum pd_code rc = PD_OK;
    for (size_t i = 0; i < ARRAY_LEN(keys) && !rc; i++)
        if (named(j, keys[i]))
            rc = same_id(f, file, named(j, keys[i]), -1);
    return rc;
}

static void note_template(const struct folder *f, const struct tjson *j)
{
    const char *text = tjson_str(j, "chat_template", NULL), *bos = named(j, "bos_token");
    if (!text)
        return;
    if (!strstr(text, "add_generation_prompt"))
        str_printf(f->notes, _("the chat template has no add_generation_prompt: other programs ask "
                               "without the header of the answer; generate here adds it\n"));
    bool writes_bos = strstr(text, "bos_token") || (bos && *bos && strstr(text, bos) &&
                                                    !str_eq(bos, "<|im_start|>"));
    if (writes_bos && tjson_bool(j, "add_bos_token", false))
        str_printf(f->notes, _("the chat template writes the beginning of text and add_bos_token "
                               "is true: other programs put it twice; here it stands once\n"));
}

static void note_pad(const struct folder *f, const struct tjson *j)
{
    const char *pad = named(j, "pad_token"), *eos = named(j, "eos_token");
    if (pad && eos && str_eq(pad, eos))
        str_printf(f->notes, _("pad_token is eos_token (%.60s): programs that mask padding by its "
                               "id never train the end; here it is trained\n"), eos);
    if (!eos && f->c->n_eos == 0 && tok_eos(f->t) < 0)
        str_printf(f->notes, _("no file names an end of text: answers will not end by "
                               "themselves\n"));
}

static void note_holes(const struct folder *f)
{
    int holes = 0, first = -1;
    for (int32_t id = 0; id < tok_size(f->t); id++) {
        size_t n;
        if (tok_bytes(f->t, id, &n))
            continue;
        first = holes++ ? first : id;
    }
    if (holes)
        str_printf(f->notes, _("ids without a token: %d of %d, the first is %d\n"), holes,
                   (int)tok_size(f->t), first);
}

static enum pd_code check_eos(const struct folder *f)
{
    size_t n;
    for (int i = 0; i < f->c->n_eos; i++)
        if (!tok_bytes(f->t, f->c->eos[i], &n)) {
            pd_fail(f->err, PD_TRAIN, _("eos_token_id %d is no token of tokenizer.json"),
                    f->c->eos[i]);
            return fail(f, "config.json");
        }
    return PD_OK;
}

enum pd_code tok_folder_check(const char *dir, const struct tok *t, const struct llama_config *c,
                              struct str *notes, struct pd_err *err)
{
    struct folder f = {dir, t, c, notes, err};
    struct tjson *config = NULL, *map = NULL;
    enum pd_code rc = check_eos(&f);
    if (!rc)
        rc = check_added(&f);
    if (!rc)
        rc = read_file(&f, "tokenizer_config.json", &config);
    if (!rc)
        rc = check_decoder(&f, config);
    if (!rc)
        rc = check_named(&f, "tokenizer_config.json", config);
    if (!rc)
        rc = read_file(&f, "special_tokens_map.json", &map);
    if (!rc)
        rc = check_named(&f, "special_tokens_map.json", map);
    if (!rc) {
        note_template(&f, config);
        note_pad(&f, config);
        note_holes(&f);
    }
    tjson_free(config);
    tjson_free(map);
    return rc;
}
