/* conn.h - what is known of the connection beyond the link: the contexts and
 * namespaces there are to choose from, who the person is to the cluster, what
 * they may do and what podium needs, how fast the server answers.
 *
 * Nothing here waits for a cluster: contexts are read from the kubeconfig files
 * alone, a context is probed only when asked for, without credentials, and a
 * namespace that may not be listed is taken at the person's word.
 */
#ifndef LABS_CONN_H
#define LABS_CONN_H

#include "core/base/json.h"
#include "core/base/str.h"

enum conn_probe { PROBE_NONE, PROBE_ASKED, PROBE_ANSWERS, PROBE_SILENT };
enum conn_may { MAY_UNKNOWN, MAY_YES, MAY_NO };

/* A context of the kubeconfig files, in file order. */
struct conn_context {
    char name[128], cluster[128], user[128], ns[64], server[256], file[256];
    char error[320], hint[240];   /* its entry can't be used: why, and the next step */
    bool current;                 /* the files' current-context */
    enum conn_probe probe;
    int64_t probe_ms, probed_at_ms;
    char version[64], why[320];   /* why: of SILENT */
    uint32_t effect;              /* the probe under way; 0: none */
};

/* What is told of a namespace: list pods, get pods/log, create jobs. */
enum { NS_PODS, NS_LOGS, NS_RUN, CONN_NS_MAY };

/* A namespace that can be chosen. */
struct conn_ns {
    char name[64];
    bool listed, used, own;       /* own: the kubeconfig's */
    bool ending;                  /* it is being deleted */
    enum conn_probe probe;        /* SILENT: the server refused to tell */
    enum conn_may may[CONN_NS_MAY];
    uint32_t effect, ask[CONN_NS_MAY];     /* what the rules leave open is asked by itself */
};

/* What podium needs of the cluster: verbs on a resource, for a purpose. */
struct conn_need {
    const char *what;             /* gettext key: "see pods" */
    const char *verbs;            /* separated by blanks, at most CONN_VERBS */
    const char *group, *resource; /* "batch", "jobs"; "", "pods/log" */
    bool cluster;                 /* of no namespace: a ClusterRole */
    bool more;                    /* labs run without it */
};
enum { CONN_NEEDS = 17, CONN_VERBS = 6, CONN_TOOK = 64, CONN_ASKS = 64 };
extern const struct conn_need conn_needs[CONN_NEEDS];

/* A question that is under way: may the person do this one verb? */
struct conn_ask {
    uint32_t effect;
    uint8_t need, verb;
};

struct conn {
    uint32_t going;               /* effect: another context or namespace was asked for */
    uint32_t can_effect;          /* one question of the person's own */
    char can[160];                /* "delete pods/log" */
    bool arriving;                /* that it is gone there stands in the message row */
    bool blind;                   /* said: in this namespace nothing may be seen */
    struct json *about;           /* of the connection: see MSG_CLUSTER; NULL before */
    struct conn_context *context;
    size_t contexts_n;
    bool contexts_known;
    char contexts_error[512];     /* no file can be used: why */
    uint32_t contexts_effect;

    struct conn_ns *ns;           /* the kubeconfig's, those used, those listed; by name */
    size_t ns_n;
    enum conn_may ns_list;        /* NO: it is forbidden to list them */
    char ns_error[512];
    int64_t ns_at_ms;             /* when they were listed */
    uint32_t ns_effect;

    struct json *who;             /* status.userInfo of a SelfSubjectReview; NULL: not known */
    char who_error[320];
    uint32_t who_effect;

    struct json *rules;           /* status of a SelfSubjectRulesReview of the namespace */
    char rules_error[320];
    int64_t rules_at_ms;
    uint32_t rules_effect;
    uint8_t yes[CONN_NEEDS], no[CONN_NEEDS];     /* of each need, a bit a verb */
    struct conn_ask ask[CONN_ASKS];
    int asks;

    int64_t took[CONN_TOOK], began[CONN_TOOK];   /* of the last requests: ms; when they began */
    uint64_t took_n, began_n;     /* all there were */
    uint64_t failed, retries;     /* requests without a good answer; watches begun again */
};

void conn_release(struct conn *c);
/* Another cluster: what was known of the one before is forgotten. */
void conn_forget(struct conn *c);

/* Does a rule of a SelfSubjectRulesReview allow it? UNKNOWN: none does, and the
 * review is incomplete. Rules for some names alone don't count. */
enum conn_may conn_rules_may(const struct json *rules, const char *verb, const char *group,
                             const char *resource);
/* The i-th verb of a need, "" after the last. */
const char *conn_verb(const struct conn_need *n, int i, char buf[24]);
/* All its verbs; NO when one is missing for sure. */
enum conn_may conn_need_may(const struct conn *c, int need);
/* The Role (and ClusterRole) that would give what is missing, as YAML to apply;
 * false: nothing is missing. */
bool conn_role(const struct conn *c, const char *ns, const char *subject, struct str *out);
/* Of the requests that ended: median and last, -1 when there are none. */
int64_t conn_latency(const struct conn *c);
int64_t conn_last(const struct conn *c);
/* Requests a second, over the last ten seconds. */
double conn_rate(const struct conn *c, int64_t now_ms);
void conn_ended(struct conn *c, int64_t ms, bool good);
void conn_began(struct conn *c, int64_t at_ms);

/* A name that a namespace can have. */
bool conn_ns_name(const char *name);
struct conn_ns *conn_ns_find(const struct conn *c, const char *name);
/* The same, put in its place when it is not there. */
struct conn_ns *conn_ns_put(struct conn *c, const char *name);
struct conn_context *conn_context_find(const struct conn *c, const char *name);

#endif
