/* ferrs.h - field errors: what is wrong with which field, in the words of
 * apimachinery's validation/field.
 */
#ifndef K8S_RULES_FERRS_H
#define K8S_RULES_FERRS_H

#include "core/base/json.h"

struct ferrs {
    struct json *causes;         /* array of {reason, message, field} */
};
void ferrs_init(struct ferrs *e);
void ferrs_release(struct ferrs *e);
size_t ferrs_count(const struct ferrs *e);
void ferrs_required(struct ferrs *e, const char *field, const char *detail);
/* value: JSON as it is shown ("\"x\"", "2") made by the caller; NULL: none. */
void ferrs_invalid(struct ferrs *e, const char *field, const struct json *value,
                   const char *detail, ...) PRINTF_LIKE(4, 5);
void ferrs_invalid_text(struct ferrs *e, const char *field, const char *value, const char *detail);
/* value: a text, quoted here. */
void ferrs_invalid_key(struct ferrs *e, const char *field, const char *value, const char *detail);
void ferrs_unsupported(struct ferrs *e, const char *field, const char *value, const char *enums);
void ferrs_duplicate(struct ferrs *e, const char *field, const char *value);
void ferrs_forbidden(struct ferrs *e, const char *field, const char *detail);
void ferrs_too_long(struct ferrs *e, const char *field, int most);
void ferrs_missing(struct ferrs *e, const char *field, const char *value);   /* Not found */

#endif
