/* eventinfo.c - events in both shapes (eventinfo.h). */
#include "k8s/eventinfo.h"

#include "core/base/clock.h"

static int64_t moment(const struct json *e, const char *const *paths, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t us;
        const char *s = json_str(e, paths[i], NULL);
        if (s && clock_parse_rfc3339(s, &us) && us > 0)
            return us / 1000;
    }
    return 0;
}

/* The first of two members that is there. */
static const char *either(const struct json *e, const char *one, const char *two)
{
    const char *s = json_str(e, one, NULL);
    return s && *s ? s : json_str(e, two, "");
}

void eventinfo_read(const struct json *e, struct eventinfo *out)
{
    static const char *const last[] = {"series.lastObservedTime", "lastTimestamp",
                                       "deprecatedLastTimestamp", "eventTime", "firstTimestamp",
                                       "metadata.creationTimestamp"};
    static const char *const first[] = {"firstTimestamp", "deprecatedFirstTimestamp", "eventTime",
                                        "metadata.creationTimestamp"};
    bool regards = json_has(e, "regarding");
    const struct json *about = json_get(e, regards ? "regarding" : "involvedObject");
    memset(out, 0, sizeof *out);
    out->reason = json_str(e, "reason", "");
    out->message = either(e, "message", "note");
    out->kind = json_str(about, "kind", "");
    out->name = json_str(about, "name", "");
    out->uid = json_str(about, "uid", "");
    out->source = either(e, "reportingController", "source.component");
    out->warning = str_eq(json_str(e, "type", ""), "Warning");
    out->last_ms = moment(e, last, ARRAY_LEN(last));
    out->first_ms = moment(e, first, ARRAY_LEN(first));
    out->count = json_int(e, "series.count", json_int(e, "count",
                          json_int(e, "deprecatedCount", 1)));
    out->count = MAX(out->count, 1);
    str_to_i64(json_str(e, "metadata.resourceVersion", ""), &out->place);
}

bool eventinfo_about(const struct eventinfo *e, const char *kind, const struct json *object)
{
    const char *uid = json_str(object, "metadata.uid", "");
    if (*uid && *e->uid)
        return str_eq(uid, e->uid);
    return str_eq(e->kind, kind) && str_eq(e->name, json_str(object, "metadata.name", ""));
}

int eventinfo_newer(const struct eventinfo *a, const struct eventinfo *b)
{
    int64_t x = a->last_ms / 1000, y = b->last_ms / 1000;
    if (x != y)
        return x < y ? 1 : -1;
    if (a->place != b->place)
        return a->place < b->place ? 1 : -1;
    return 0;
}
