/* fuzz_plugin.c - any bytes as a plugin's answer: an error with a sentence and a next
 * step, or credentials of which at least one is there; and as base64.
 * fuzz: core/base core/io k8s
 */
#include "core/base/mem.h"
#include "k8s/pem.h"
#include "k8s/plugin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void base64(const char *text)
{
    size_t n, bad = 0;
    unsigned char *raw = pem_base64(text, &n, &bad);
    if (!raw && bad > strlen(text))
        abort();
    char *again = raw ? pem_to_base64(raw, n) : NULL;
    size_t m = 0;
    unsigned char *same = again ? pem_base64(again, &m, &bad) : NULL;
    if (raw && (!same || m != n || memcmp(same, raw, n) != 0))
        abort();
    free(raw);
    free(again);
    free(same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pd_err err = {.msg = ""};
    struct plugin_cred c;
    struct pem_cert cert;
    char *text = xcalloc(1, size + 1);
    if (size)
        memcpy(text, data, size);
    if (plugin_read(text, size, "client.authentication.k8s.io/v1", &c, &err) == PD_OK) {
        if (!c.token && !(c.cert_pem && c.key_pem))
            abort();
        plugin_cred_release(&c);
    } else if (!err.msg[0] || !err.hint[0]) {
        abort();
    }
    base64(text);
    pem_cert(text, &cert);
    pem_pair_wrong(text, text);
    free(text);
    return 0;
}
