/* fuzz: core/base k8s/jlist.c
 * Whatever json_share_parse takes, json_parse takes too, and the two trees say the
 * same; a list fed in two pieces gives the items that it gives whole. */
#include "core/base/json_share.h"
#include "core/base/mem.h"
#include "k8s/jlist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool on_item(void *arg, struct json *item)
{
    struct str *out = arg;
    json_print(item, 0, out);
    str_addc(out, '\n');
    json_free(item);
    return true;
}

static enum pd_code list(const char *p, size_t n, size_t cut, struct str *out)
{
    struct json_shape shape = {"Pod", "v1", false, true};
    struct json *rest = NULL;
    struct pd_err err;
    struct jlist l;
    str_init(out, 1 << 22);
    jlist_init(&l, &shape, on_item, out);
    enum pd_code code = jlist_feed(&l, p, cut, &err);
    if (code == PD_OK)
        code = jlist_feed(&l, p + cut, n - cut, &err);
    if (code == PD_OK)
        code = jlist_end(&l, &rest, &err);
    json_free(rest);
    jlist_release(&l);
    return code;
}

static void same_tree(const char *p, size_t n)
{
    struct json *j = NULL, *plain = NULL;
    struct pd_err err;
    if (json_share_parse(p, n, NULL, &j, &err) != PD_OK)
        return;
    if (json_parse(p, n, &plain, &err) != PD_OK)
        abort();
    char *one = json_text(j, 0), *two = json_text(plain, 0);
    struct json *again = json_share(plain);
    char *three = json_text(again, 0);       /* a name that stands twice equals nothing */
    if (strcmp(one, two) != 0 || strcmp(three, two) != 0)
        abort();
    free(three);
    free(one);
    free(two);
    json_free(j);
    json_free(plain);
    json_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str whole, pieces;
    if (size < 2)
        return 0;
    const char *p = (const char *)data + 1;
    size_t n = size - 1;
    same_tree(p, n);
    enum pd_code a = list(p, n, 0, &whole), b = list(p, n, data[0] % n, &pieces);
    if (a != b || (a == PD_OK && strcmp(whole.p, pieces.p) != 0))
        abort();
    str_release(&whole);
    str_release(&pieces);
    if (json_share_use().bytes != 0)
        abort();
    return 0;
}
