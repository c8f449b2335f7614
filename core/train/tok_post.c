/* tok_post.c - post_processor: what stands before a text of its own. */
#include "core/base/i18n.h"
#include "core/train/tjson.h"
#include "core/train/tok_impl.h"

static enum pd_code fail(const char *src, const char *what, const char *value, struct pd_err *err)
{
    return pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0, _("tokenizer: %s%s%.200s"), what,
                      *value ? ": " : "", value);
}

static enum pd_code add(struct tok *t, int64_t id, const char *name, const char *src,
                        struct pd_err *err)
{
    if (t->head_n == TOK_HEAD)
        return fail(src, _("the post_processor puts more tokens before a text than podium follows"),
                    name, err);
    if (id < 0 || id >= t->size || !t->pieces[id].used)
        return fail(src, _("the post_processor names a token that is not there"), name, err);
    t->head[t->head_n++] = (int32_t)id;
    return PD_OK;
}

/* "single": special tokens up to the text; what it puts behind is the caller's end. */
static enum pd_code read_template(struct tok *t, const struct tjson *j, const char *src,
                                  struct pd_err *err)
{
    const struct tjson *list = tjson_get(j, "single");
    for (size_t i = 0; i < tjson_count(list); i++) {
        const char *name = tjson_str(tjson_item(list, i), "SpecialToken.id", NULL);
        if (!name)
            break;
        const struct tjson *ids = tjson_get(tjson_get(tjson_get(j, "special_tokens"), name), "ids");
        size_t n = tjson_count(ids);
        enum pd_code rc = n ? PD_OK : add(t, tok_id(t, name, strlen(name)), name, src, err);
        for (size_t k = 0; k < n && rc == PD_OK; k++)
            rc = add(t, tjson_int(tjson_item(ids, k), "", -1), name, src, err);
        if (rc != PD_OK)
            return rc;
    }
    return PD_OK;
}

enum pd_code tok_post_read(struct tok *t, const struct tjson *j, const char *src,
                           struct pd_err *err)
{
    const char *kind = tjson_str(j, "type", "");
    const struct tjson *list = tjson_get(j, "processors");
    if (str_eq(kind, "TemplateProcessing"))
        return read_template(t, j, src, err);
    if (str_eq(kind, "RobertaProcessing") || str_eq(kind, "BertProcessing"))
        return add(t, tjson_int(j, "cls[1]", -1), tjson_str(j, "cls[0]", "cls"), src, err);
    for (size_t i = 0; i < tjson_count(list); i++)
        if (tok_post_read(t, tjson_item(list, i), src, err) != PD_OK)
            return err->code;
    return PD_OK;
}

void tok_begin(const struct tok *t, struct tok_ids *out)
{
    for (int i = 0; i < t->head_n; i++)
        tok_ids_push(out, t->head[i]);
}

void tok_encode_whole(const struct tok *t, const char *text, size_t n, bool specials,
                      struct tok_ids *out)
{
    size_t from = out->n, head = (size_t)t->head_n;
    tok_begin(t, out);
    tok_encode(t, text, n, specials, out);
    if (head == 0 || out->n < from + 2 * head ||
        memcmp(out->v + from, out->v + from + head, head * sizeof *out->v) != 0)
        return;
    memmove(out->v + from, out->v + from + head, (out->n - from - head) * sizeof *out->v);
    out->n -= head;
}
