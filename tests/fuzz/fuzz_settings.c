/* fuzz_settings.c - any bytes as the person's settings and key map: mistakes
 * with their place, never a command without a way out; and a changed setting is
 * what the file then says.
 * fuzz: tui labs core/base core/io k8s k8s/explain k8s/image
 */
#include "core/base/base.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/yaml.h"
#include "tui/cmd.h"
#include "tui/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void edit(const char *text)
{
    const char *values[SET_COUNT];
    struct str out;
    struct ydoc *docs;
    struct faults f = {0};
    str_init(&out, 1 << 20);
    if (config_edit(text, "theme", "light", &out)) {
        config_parse("config.yaml", out.p, out.len, values, &docs, &f);
        assert(str_eq(values[SET_THEME], "light"));
        yaml_docs_free(docs);
    }
    faults_release(&f);
    str_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *values[SET_COUNT];
    struct ydoc *docs;
    struct faults f = {0};
    struct keymap k;
    char *text = xstrndup((const char *)data, size);
    i18n_init("en");
    config_parse("config.yaml", text, strlen(text), values, &docs, &f);
    yaml_docs_free(docs);
    keymap_parse("keys.yaml", text, strlen(text), &k, &f);
    for (size_t i = 0; i < f.n; i++)
        assert(f.v[i].msg[0]);
    assert(keymap_keys(&k, cmd_by_name("back"), VIEW_STEP)[0]);
    assert(keymap_keys(&k, cmd_by_name("palette"), VIEW_CATALOGUE)[0]);
    keymap_release(&k);
    faults_release(&f);
    edit(text);
    free(text);
    return 0;
}
