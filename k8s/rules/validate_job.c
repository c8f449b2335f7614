/* validate_job.c - Jobs, with the sentences of Kubernetes 1.34
 * (pkg/apis/batch/validation). */
#include "k8s/rules/validate_in.h"

static void job_mode(const struct json *spec, struct ferrs *e)
{
    const char *mode = json_str(spec, "completionMode", "NonIndexed");
    validate_field_enum(spec, "completionMode", "spec", "NonIndexed|Indexed", e);
    if (!strcmp(mode, "Indexed")) {
        if (!json_get(spec, "completions"))
            ferrs_required(e, "spec.completions", "when completion mode is Indexed");
        if (json_num(spec, "parallelism", 0) > 100000)
            ferrs_invalid(e, "spec.parallelism", json_get(spec, "parallelism"),
                          "must be less than or equal to 100000 when completion mode is Indexed");
        return;
    }
    if (json_get(spec, "backoffLimitPerIndex"))
        ferrs_invalid(e, "spec.backoffLimitPerIndex", json_get(spec, "backoffLimitPerIndex"),
                      "requires indexed completion mode");
    if (json_get(spec, "maxFailedIndexes"))
        ferrs_invalid(e, "spec.maxFailedIndexes", json_get(spec, "maxFailedIndexes"),
                      "requires indexed completion mode");
}

static void restart_policy(const struct json *spec, struct ferrs *e)
{
    static const char at[] = "spec.template.spec.restartPolicy";
    const char *policy = json_str(spec, "template.spec.restartPolicy", "");
    if (!*policy || !strcmp(policy, "Always"))
        ferrs_required(e, at, "valid values: \"OnFailure\", \"Never\"");
    else if (strcmp(policy, "OnFailure") != 0 && strcmp(policy, "Never") != 0)
        ferrs_unsupported(e, at, policy, "OnFailure|Never");
    else if (json_get(spec, "podFailurePolicy") && strcmp(policy, "Never") != 0)
        ferrs_invalid(e, at, json_at(spec, "template.spec.restartPolicy"),
                      "only \"Never\" is supported when podFailurePolicy is specified");
}

static void replacement_policy(const struct json *spec, struct ferrs *e)
{
    const char *policy = json_str(spec, "podReplacementPolicy", "Failed");
    bool failed = !strcmp(policy, "Failed");
    if (json_get(spec, "podFailurePolicy") && !failed)
        ferrs_unsupported(e, "spec.podReplacementPolicy", policy, "Failed");
    else if (!failed && strcmp(policy, "TerminatingOrFailed") != 0)
        ferrs_unsupported(e, "spec.podReplacementPolicy", policy, "Failed|TerminatingOrFailed");
}

/* The selector is the server's own unless manualSelector says otherwise. */
static void selector(const struct json *spec, struct ferrs *e)
{
    const struct json *labels = json_at(spec, "template.metadata.labels");
    const struct json *sel = json_get(spec, "selector");
    validate_selector(sel, "spec.selector", e);
    for (const struct json *m = json_first(json_get(sel, "matchLabels")); m; m = json_next(m)) {
        const struct json *have = json_get(labels, json_key(m));
        if (have && json_equal(have, m))
            continue;
        if (!json_bool(spec, "manualSelector", false))
            ferrs_invalid(e, "spec.selector", sel, "`selector` not auto-generated");
        ferrs_invalid(e, "spec.template.metadata.labels", labels,
                      "`selector` does not match template `labels`");
        return;
    }
}

/* Pods of an Indexed Job are named after it and their index. */
static void hostname(const struct json *job, struct ferrs *e)
{
    char pod[320];
    const char *name = json_str(job, "metadata.name", "");
    int64_t n = json_int(job, "spec.completions", 0);
    str_fmt(pod, sizeof pod, "%s-%" PRId64, name, n - 1);
    if (strcmp(json_str(job, "spec.completionMode", ""), "Indexed") == 0 && n > 0 &&
        !validate_dns_label(pod))
        ferrs_invalid(e, "metadata.name", json_at(job, "metadata.name"),
                      "will not able to create pod with invalid DNS label: %s", pod);
}

static void fixed_field(const struct json *job, const struct json *old, const char *path,
                        struct ferrs *e)
{
    const struct json *a = json_at(job, path), *b = json_at(old, path);
    if (!(a && b ? json_equal(a, b) : a == b))
        ferrs_invalid(e, path, a, "field is immutable");
}

static bool suspended_unstarted(const struct json *old)
{
    return json_bool(old, "spec.suspend", false) && !json_has(old, "status.startTime");
}

static void job_update(const struct json *job, const struct json *old, struct ferrs *e)
{
    static const char *const fixed[] = {"spec.selector", "spec.completionMode",
                                        "spec.podFailurePolicy", "spec.backoffLimitPerIndex",
                                        "spec.managedBy", "spec.successPolicy"};
    bool elastic = !strcmp(json_str(old, "spec.completionMode", ""), "Indexed") &&
                   json_equal(json_at(job, "spec.completions"), json_at(job, "spec.parallelism"));
    if (!elastic)
        fixed_field(job, old, "spec.completions", e);
    fixed_field(job, old, "spec.selector", e);
    if (!suspended_unstarted(old))
        fixed_field(job, old, "spec.template", e);
    for (size_t i = 1; i < ARRAY_LEN(fixed); i++)
        fixed_field(job, old, fixed[i], e);
}

void validate_job(const struct json *job, const struct json *old, struct ferrs *e)
{
    static const char *const counts[] = {"parallelism", "completions", "activeDeadlineSeconds",
                                         "backoffLimit", "ttlSecondsAfterFinished",
                                         "backoffLimitPerIndex", "maxFailedIndexes"};
    const struct json *spec = json_get(job, "spec");
    if (!spec)
        return;
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        validate_field_not_negative(spec, counts[i], "spec", e);
    job_mode(spec, e);
    if (json_get(spec, "maxFailedIndexes") && !json_get(spec, "backoffLimitPerIndex"))
        ferrs_required(e, "spec.backoffLimitPerIndex", "when maxFailedIndexes is specified");
    replacement_policy(spec, e);
    validate_template(json_get(spec, "template"), "spec.template", e);
    restart_policy(spec, e);
    if (!json_get(spec, "selector"))
        ferrs_required(e, "spec.selector", "");
    else
        selector(spec, e);
    hostname(job, e);
    if (old)
        job_update(job, old, e);
}
