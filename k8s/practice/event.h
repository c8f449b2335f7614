/* event.h - the two shapes of an Event: core/v1 as it is stored, and
 * events.k8s.io/v1.
 */
#ifndef K8S_PRACTICE_EVENT_H
#define K8S_PRACTICE_EVENT_H

#include "core/base/json.h"

struct json *event_to_new(const struct json *core_event);
struct json *event_to_core(const struct json *new_event);

#endif
