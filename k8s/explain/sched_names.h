/* sched_names.h - what is known of names: resources that are confused with each
 * other, who announces them, and the scheduler's words. Tables. */
#ifndef K8S_EXPLAIN_SCHED_NAMES_H
#define K8S_EXPLAIN_SCHED_NAMES_H

#include "core/base/base.h"

struct sched_name {
    const char *cause;
    const char *text;             /* three %s: asked, node, offered (gettext key) */
    const char *fix;              /* one %s: offered (gettext key) */
};
/* Why `offered` is what was meant by `asked`; NULL: it is something else. */
const struct sched_name *sched_names(const char *asked, const char *offered);

struct sched_plugin {
    const char *vendor, *daemonset, *ns;
};
const struct sched_plugin *sched_plugin_of(const char *resource);

/* Reasons in the scheduler's message; one %s for the resource where there is one. */
struct sched_message {
    const char *has, *cause, *text, *fix;
};
extern const struct sched_message sched_messages[];
extern const size_t sched_messages_n;

#endif
