/* patch.h - the three patches of the API that are no apply: RFC 6902, RFC 7386
 * and the strategic merge of Kubernetes. Each changes *doc in place (it may
 * replace the root) and fails with PD_INVALID or PD_PARSE and a text.
 */
#ifndef K8S_PRACTICE_PATCH_H
#define K8S_PRACTICE_PATCH_H

#include "core/base/json.h"
#include "k8s/schema.h"

MUST_USE enum pd_code patch_json(struct json **doc, const struct json *ops, struct pd_err *err);
void patch_merge(struct json **doc, const struct json *patch);
/* Directives: $patch delete|replace|merge, $retainKeys, $deleteFromPrimitiveList/F,
 * $setElementOrder/F. */
MUST_USE enum pd_code patch_strategic(const struct schema_type *t, struct json *doc,
                                      const struct json *patch, struct pd_err *err);

#endif
