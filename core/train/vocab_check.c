/* vocab_check.c - see vocab_check.h. */
#include "core/train/vocab_check.h"

#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/train/tjson.h"

enum { ADDED_CEILING = 8 << 20, SHOWN = 6 };

struct outside {
    struct str names;
    int n;
    int64_t top;
};

static void note(struct outside *o, const char *name, size_t n, int64_t id, int rows)
{
    if (id < rows)
        return;
    if (o->n++ < SHOWN)
        str_printf(&o->names, "%s%.*s (%" PRId64 ")", o->n > 1 ? ", " : "", (int)MIN(n, (size_t)40),
                   name, id);
    o->top = MAX(o->top, id);
}

static void note_tokenizer(struct outside *o, const struct tok *t, int rows)
{
    for (int32_t id = rows; t && id < tok_size(t); id++) {
        size_t n;
        const char *s = tok_bytes(t, id, &n);
        if (s)
            note(o, s, n, id, rows);
    }
}

/* added_tokens.json: {token: id}. */
static enum pd_code note_added(struct outside *o, const char *dir, int rows, struct pd_err *err)
{
    if (!dir)
        return PD_OK;
    struct tjson *j = NULL;
    char *path = path_join(dir, "added_tokens.json");
    enum pd_code rc = access(path, F_OK) ? PD_OK : tjson_read(path, ADDED_CEILING, &j, err);
    for (void *it = j && !rc ? tjson_iter(j) : NULL; it; it = tjson_iter_next(j, it))
        note(o, tjson_iter_key(it), strlen(tjson_iter_key(it)),
             tjson_int(tjson_iter_value(it), "", -1), rows);
    tjson_free(j);
    free(path);
    return rc;
}

enum pd_code vocab_check(const struct tok *t, int rows, const char *model_dir,
                         const char *adapter_dir, struct pd_err *err)
{
    struct outside o = {.top = -1};
    str_init(&o.names, 1 << 16);
    note_tokenizer(&o, t, rows);
    enum pd_code rc = o.n ? PD_OK : note_added(&o, model_dir, rows, err);
    if (!rc && !o.n)
        rc = note_added(&o, adapter_dir, rows, err);
    if (!rc && o.n) {
        rc = pd_fail(err, PD_TRAIN,
                     _("the tokenizer has ids up to %" PRId64 ", the embedding only %d rows "
                       "(vocab_size %d): no row for %s%s"),
                     o.top, rows, rows, o.names.p, o.n > SHOWN ? " …" : "");
        pd_set_hint(err, _("drop the new tokens, or resize embed_tokens and lm_head in PyTorch and "
                           "keep them with modules_to_save; is it another model's tokenizer?"));
    }
    str_release(&o.names);
    return rc;
}
