/* i18n.h - the language is a value of the program's state, not the system's
 * locale.
 *
 * gettext catalogues (domain "podium", made from docs/po by make) are read
 * under the program's own C.UTF-8 locale; i18n_set switches live. Texts of
 * labs come as language maps and are chosen by i18n_lang.
 */
#ifndef CORE_BASE_I18N_H
#define CORE_BASE_I18N_H

#include "core/base/base.h"

#define _(text) i18n_text(text)
#define N_(text) (text)

/* Sets the locale and the language: lang is "en", "zh" or NULL (from LANGUAGE,
 * LC_ALL, LC_MESSAGES, LANG; else en). */
void i18n_init(const char *lang);
bool i18n_set(const char *lang);                  /* false: unknown, nothing changed */
const char *i18n_lang(void);                      /* "en" | "zh" */
/* In one language, whichever is set. */
const char *i18n_in(const char *lang, const char *text) __attribute__((format_arg(2)));
const char *i18n_text(const char *text) __attribute__((format_arg(1)));

#endif
