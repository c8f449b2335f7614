/* auths.c - Secrets without their values (auths.h). */
#include "k8s/explain/auths.h"

#include <openssl/evp.h>

#include "core/base/mem.h"

enum { CONFIG_CEILING = 1 << 20 };

static void add_hosts(struct json *hosts, const struct json *auths)
{
    for (const struct json *a = json_first(auths); a; a = json_next(a))
        json_append(hosts, json_new_string(json_key(a)));
}

/* The hosts of a docker config in base64 (.dockerconfigjson) or of the older
 * .dockercfg, which has them at its top. */
static void read_hosts(struct json *hosts, const char *base64, bool old)
{
    struct json *config = NULL;
    struct pd_err err;
    size_t n = strlen(base64);
    if (n == 0 || n > CONFIG_CEILING || n % 4 != 0)
        return;
    unsigned char *text = xmalloc(n);
    int got = EVP_DecodeBlock(text, (const unsigned char *)base64, (int)n);
    if (got > 0) {
        while (got > 0 && text[got - 1] == '\0') /* what padding stood for */
            got--;
        if (json_parse((const char *)text, (size_t)got, &config, &err) == PD_OK)
            add_hosts(hosts, old ? config : json_get(config, "auths"));
        json_free(config);
    }
    free(text);
}

void auths_only(struct json *secret)
{
    static const char *const places[] = {"data", "stringData"};
    struct json *keys = json_new_array(), *hosts = json_new_array();
    for (size_t p = 0; p < ARRAY_LEN(places); p++) {
        for (const struct json *d = json_first(json_get(secret, places[p])); d; d = json_next(d)) {
            const char *key = json_key(d), *value = json_string_value(d);
            json_append(keys, json_new_string(key));
            if (value && p == 0 && str_eq(key, ".dockerconfigjson"))
                read_hosts(hosts, value, false);
            else if (value && p == 0 && str_eq(key, ".dockercfg"))
                read_hosts(hosts, value, true);
        }
        json_remove(secret, places[p]);
    }
    struct json *notes = json_get_mut(json_get_mut(secret, "metadata"), "annotations");
    if (notes) /* kubectl keeps the values once more here */
        json_remove(notes, "kubectl.kubernetes.io/last-applied-configuration");
    json_set(secret, "keys", keys);
    json_set(secret, "hosts", hosts);
}

const char *auths_image_host(const char *image, char buf[256])
{
    size_t n = strcspn(image, "/");
    bool host = image[n] == '/' && (memchr(image, '.', n) || memchr(image, ':', n) ||
                                    (n == 9 && memcmp(image, "localhost", 9) == 0));
    if (!host || n >= 256)
        return str_copy(buf, 256, "docker.io");
    str_fmt(buf, 256, "%.*s", (int)n, image);
    return buf;
}

/* "https://index.docker.io/v1/" and "docker.io" are one; schemes and paths do
 * not matter (kubelet's credentialprovider/keyring.go). */
static void plain_host(const char *entry, char buf[256])
{
    const char *at = strstr(entry, "://");
    at = at ? at + 3 : entry;
    str_fmt(buf, 256, "%.*s", (int)MIN(strcspn(at, "/"), 255), at);
    if (str_eq(buf, "index.docker.io") || str_eq(buf, "registry-1.docker.io"))
        str_copy(buf, 256, "docker.io");
}

bool auths_has_host(const struct json *secret, const char *host)
{
    char plain[256];
    for (const struct json *h = json_first(json_get(secret, "hosts")); h; h = json_next(h)) {
        plain_host(json_string_value(h), plain);
        if (str_eq(plain, host))
            return true;
    }
    return false;
}
