/* kubeconfig_report.h - everything that a kubeconfig says and decides, as data: what
 * `podium kubeconfig explain` prints, in words or as JSON.
 *
 * {"ok": bool, "context": NAME,
 *  "sections": [{"id": "files" | "context" | "server" | "user" | "connection", "title",
 *    "facts": [{"id", "name", "value", "file", "line", "column"}]}],
 *  "findings": [{"level": "error" | "warning" | "note", "code", "message", "next", "file",
 *    "line", "column"}]}
 * No secret is in it. ok: no finding is an error.
 */
#ifndef K8S_KUBECONFIG_REPORT_H
#define K8S_KUBECONFIG_REPORT_H

#include "core/base/json.h"
#include "k8s/kubeconfig.h"

struct kubeconfig_report {
    struct kubeconfig *config;
    struct kube_context ctx;
    struct kc_findings findings;
    struct json *json;               /* sections so far */
};

/* Reads the files; nothing is sent anywhere and no program is run. */
void kubeconfig_report_make(const struct kube_options *o, struct kubeconfig_report *out);
void kubeconfig_report_free(struct kubeconfig_report *r);
/* Findings into the JSON; call once, when no more come. */
void kubeconfig_report_close(struct kubeconfig_report *r);
/* A section and facts of it, for those who add more. */
struct json *kubeconfig_report_section(struct kubeconfig_report *r, const char *id,
                                       const char *title);
struct json *kubeconfig_report_fact(struct json *section, const char *id, const char *name,
                                    const char *fmt, ...) PRINTF_LIKE(4, 5);
/* The closed report in words. */
void kubeconfig_report_text(const struct json *report, struct str *out);

/* As `kubectl config view`: merged, minified to one context, masked unless raw.
 * NULL with err where kubectl says no. Caller frees. */
struct json *kubeconfig_view(const struct kubeconfig *c, const struct kube_options *o, bool minify,
                             bool raw, struct pd_err *err);

#endif
