/* fuzz_kubeconfig.c - any bytes as a kubeconfig: an error with a sentence, or a
 * context with a server and a namespace, and an explanation that says the same;
 * and as resource paths and quantities.
 * fuzz: core/base core/io k8s
 */
#include <unistd.h>

#include "k8s/kubectl.h"
#include "k8s/kubeconfig.h"
#include "k8s/kubeconfig_report.h"
#include "k8s/quantity.h"
#include "k8s/res.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What connects is explained as fine, and the other way round; but for a plugin
 * that is not installed, which reading alone does not see. */
static void explain(const struct kube_options *o, bool usable)
{
    struct kubeconfig_report r;
    struct str text;
    str_init(&text, 1 << 22);
    kubeconfig_report_make(o, &r);
    kubeconfig_report_close(&r);
    kubeconfig_report_text(r.json, &text);
    if (json_bool(r.json, "ok", false) != usable && !(usable && r.ctx.exec.command))
        abort();
    if (memchr(text.p, '\033', text.len))
        abort();
    struct pd_err err;
    json_free(kubeconfig_view(r.config, o, true, false, &err));
    json_free(kubeconfig_view(r.config, o, false, true, &err));
    kubeconfig_report_free(&r);
    str_release(&text);
}

static void config(const uint8_t *data, size_t size)
{
    static char path[64];
    struct pd_err err = {.msg = ""};
    struct kube_context x;
    if (!path[0])
        snprintf(path, sizeof path, "/tmp/podium-fuzz-kubeconfig-%d", (int)getpid());
    FILE *f = fopen(path, "w");
    if (!f)
        abort();
    fwrite(data, 1, size, f);
    fclose(f);
    struct kube_options o = {.kubeconfig = path};
    if (kubeconfig_open(&o, &x, &err) == PD_OK) {
        if (!x.server || !x.ns)
            abort();
        kube_context_release(&x);
        explain(&o, true);
    } else if (!err.msg[0] || !err.hint[0]) {
        abort();
    } else {
        explain(&o, false);
    }
    unlink(path);
}

static void words(const uint8_t *data, size_t size)
{
    char text[300], again[RES_PATH_MAX], buf[64];
    struct res_place at;
    struct quantity q, r;
    struct str line;
    size = MIN(size, sizeof text - 1);
    memcpy(text, data, size);
    text[size] = '\0';
    if (res_parse_path(text, &at))
        res_path(at.res, at.ns, at.name, at.sub, again);
    res_by_name(text);
    if (quantity_parse(text, &q) &&
        (!quantity_parse(quantity_text(&q, buf), &r) || quantity_compare(&q, &r) != 0))
        abort();
    str_init(&line, 1 << 16);
    kubectl_line("GET", text, NULL, NULL, "default", &line);
    str_release(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    config(data, size);
    words(data, size);
    return 0;
}
