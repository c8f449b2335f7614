/* ltext.c - a text of a lab in the language of the program. */
#include "core/base/i18n.h"
#include "core/base/str.h"
#include "labs/lab.h"

const char *ltext_get(const struct ltext *t)
{
    const char *s = str_eq(i18n_lang(), "zh") ? t->zh : t->en;
    return s ? s : "";
}
