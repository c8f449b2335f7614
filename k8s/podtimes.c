/* podtimes.c - where a pod's time went (podtimes.h). */
#include "k8s/podtimes.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "k8s/eventinfo.h"

struct marks {
    int64_t at[PT_COUNT];            /* 0: not known */
    int64_t first_pull;
    bool cached, first_cached;
};

static int64_t at(const struct json *o, const char *path)
{
    int64_t us;
    return clock_parse_rfc3339(json_str(o, path, ""), &us) && us > 0 ? us / 1000 : 0;
}

static int64_t condition(const struct json *pod, const char *type)
{
    char path[96];
    str_fmt(path, sizeof path, "status.conditions[?type=%s]", type);
    const struct json *c = json_at(pod, path);
    return str_eq(json_str(c, "status", ""), "True") ? at(c, "lastTransitionTime") : 0;
}

static void from_events(const struct json *pod, const struct json *events, struct marks *m)
{
    for (const struct json *j = json_first(events); j; j = json_next(j)) {
        struct eventinfo e;
        eventinfo_read(j, &e);
        if (!eventinfo_about(&e, "Pod", pod))
            continue;
        bool cached = strstr(e.message, "already present") != NULL;
        if (str_eq(e.reason, "Pulled")) {
            if (!m->first_pull || e.first_ms < m->first_pull) {
                m->first_pull = e.first_ms;
                m->first_cached = cached;
            }
            if (e.first_ms >= m->at[PT_PULLED]) {
                m->at[PT_PULLED] = e.first_ms;
                m->cached = cached;
            }
        } else if (str_eq(e.reason, "Scheduled") && !m->at[PT_SCHEDULED]) {
            m->at[PT_SCHEDULED] = e.first_ms;
        }
    }
}

/* The first start there is a trace of: a restarted container keeps one before. */
static void from_containers(const struct json *pod, struct marks *m)
{
    static const char *const starts[] = {"lastState.terminated.startedAt",
                                         "state.terminated.startedAt", "state.running.startedAt"};
    const char *phase = json_str(pod, "status.phase", "");
    bool over = str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
    const struct json *list = json_at(pod, "status.containerStatuses");
    for (const struct json *c = json_first(list); c; c = json_next(c)) {
        for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
            int64_t t = at(c, starts[i]);
            if (t && (!m->at[PT_STARTED] || t < m->at[PT_STARTED]))
                m->at[PT_STARTED] = t;
        }
        int64_t end = over ? at(c, "state.terminated.finishedAt") : 0;
        m->at[PT_FINISHED] = MAX(m->at[PT_FINISHED], end);
    }
}

static bool has_init(const struct json *pod)
{
    return json_count(json_at(pod, "spec.initContainers")) > 0;
}

static void collect(const struct json *pod, const struct json *events, struct marks *m)
{
    memset(m, 0, sizeof *m);
    m->at[PT_CREATED] = at(pod, "metadata.creationTimestamp");
    m->at[PT_SCHEDULED] = condition(pod, "PodScheduled");
    if (has_init(pod))
        m->at[PT_INIT] = condition(pod, "Initialized");
    m->at[PT_READY] = condition(pod, "Ready");
    from_events(pod, events, m);
    from_containers(pod, m);
    if (m->at[PT_STARTED] && m->at[PT_PULLED] > m->at[PT_STARTED]) {   /* of a restart */
        m->at[PT_PULLED] = m->first_pull;
        m->cached = m->first_cached;
    }
}

static bool is_over(const struct json *pod)
{
    const char *phase = json_str(pod, "status.phase", "");
    return str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
}

static int last_known(const struct marks *m)
{
    int last = -1;
    for (int i = 0; i < PT_COUNT; i++)
        if (m->at[i] && i != PT_INIT)
            last = i;
    return last;
}

/* A moment that no source has: behind us, ahead, going on, or never coming. */
static enum podtimes_state unseen(const struct json *pod, int mark, int last, bool opened)
{
    if (is_over(pod))
        return mark > last ? PT_NEVER : PT_UNKNOWN;
    if (mark < last)
        return PT_UNKNOWN;
    return opened ? PT_AHEAD : PT_OPEN;
}

void podtimes_read(const struct json *pod, const struct json *events, int64_t now_ms,
                   struct podtimes *out)
{
    struct marks m;
    int64_t before = 0;
    bool opened = false;
    collect(pod, events, &m);
    int last = last_known(&m);
    memset(out, 0, sizeof *out);
    for (int i = 0; i < PT_COUNT; i++) {
        if (i == PT_INIT && !has_init(pod))
            continue;
        if (i == PT_READY && !m.at[i] && is_over(pod))
            continue;                    /* it was ready or not: the end has wiped it out */
        struct podtimes_row *r = &out->row[out->n++];
        *r = (struct podtimes_row){.mark = (enum podtimes_mark)i, .took_ms = -1};
        if (!m.at[i]) {
            r->state = unseen(pod, i, last, opened);
            opened = opened || r->state == PT_OPEN;
            if (r->state == PT_OPEN && before)
                r->took_ms = MAX(now_ms - before, 0);
            continue;
        }
        r->at_ms = m.at[i];
        r->cached = i == PT_PULLED && m.cached;
        if (before) {
            r->skew = m.at[i] < before;
            r->took_ms = MAX(m.at[i] - before, 0);
        }
        before = m.at[i];
    }
}

const char *podtimes_name(enum podtimes_mark m)
{
    static const char *const names[PT_COUNT] = {
        [PT_CREATED] = N_("created"),      [PT_SCHEDULED] = N_("scheduled"),
        [PT_INIT] = N_("init containers"), [PT_PULLED] = N_("image pulled"),
        [PT_STARTED] = N_("started"),      [PT_READY] = N_("ready"),
        [PT_FINISHED] = N_("finished")};
    return names[m];
}
