/* fuzz_identity.c - any bytes as a token, as certificates and as the file of
 * remembered namespaces: names in clean text, and no secret that was not asked for.
 * fuzz: core/base core/io k8s labs/choices.c
 */
#include "core/base/mem.h"
#include "k8s/identity.h"
#include "labs/choices.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Nothing that steers a terminal is in any text. */
static void clean(const struct json *j)
{
    const char *text = json_string_value(j);
    for (const char *p = text; p && *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            abort();
    for (const struct json *c = json_first(j); c; c = json_next(c))
        clean(c);
}

static void context(const char *text)
{
    struct kube_context x;
    kube_context_init(&x);
    x.ns = xstrdup("lab");
    x.server = xstrdup("https://api.example:6443");
    x.token = xstrdup(text);
    x.username = xstrdup(text);
    x.ca_pem = xstrdup(text);
    x.as = xstrdup(text);
    struct json *j = identity_of(&x);
    clean(json_get(j, "certs"));
    if (json_get(j, "auth"))
        clean(json_at(j, "auth.name"));
    json_free(j);
    kube_context_release(&x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xstrndup((const char *)data, size);
    json_free(identity_claims(text));
    json_free(identity_cert(text));
    context(text);
    char *with = choices_with(text, "/f", "c", "lab");
    struct json *e = choices_find(with, "/f", "c");
    if (!str_eq(json_str(e, "namespace", ""), "lab"))
        abort();
    json_free(e);
    free(with);
    free(text);
    return 0;
}
