/* proto.h - protobuf bodies of kubectl ("k8s\0" + runtime.Unknown) to JSON,
 * through the schema table's numbers.
 */
#ifndef K8S_PRACTICE_PROTO_H
#define K8S_PRACTICE_PROTO_H

#include "core/base/json.h"

MUST_USE enum pd_code proto_decode(const void *body, size_t n, struct json **out,
                                   struct pd_err *err);

#endif
