/* selector.h - label and field selectors of a list or watch. */
#ifndef K8S_PRACTICE_SELECTOR_H
#define K8S_PRACTICE_SELECTOR_H

#include "core/base/json.h"
#include "k8s/res.h"

enum selector_op { SEL_EQ, SEL_NE, SEL_IN, SEL_NOT_IN, SEL_EXISTS, SEL_NOT_EXISTS, SEL_GT, SEL_LT };

struct selector_term {
    enum selector_op op;
    char *key;
    struct strv values;
};
struct selector {
    struct selector_term *v;
    size_t n, cap;
};

void selector_init(struct selector *s);
void selector_release(struct selector *s);
/* "a=b,c!=d,e in (f,g),!h,i>1". PD_PARSE with the server's text. */
MUST_USE enum pd_code selector_labels(const char *text, struct selector *out, struct pd_err *err);
/* "metadata.name=x,status.phase!=Failed"; keys must be ones of `res`. */
MUST_USE enum pd_code selector_fields(const struct res *res, const char *text,
                                      struct selector *out, struct pd_err *err);

bool selector_match_labels(const struct selector *s, const struct json *labels);
bool selector_match_fields(const struct selector *s, const struct json *obj);

#endif
