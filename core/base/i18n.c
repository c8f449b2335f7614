/* i18n.c - the language as a value (i18n.h). glibc's gettext follows LANGUAGE
 * only under a locale that is not C, so the program sets C.UTF-8 itself. */
#include "core/base/i18n.h"

#include <libintl.h>
#include <locale.h>

#include "core/base/path.h"

static const struct {
    const char *lang, *language;
} languages[] = {{"en", "en"}, {"zh", "zh_CN:zh"}};
static size_t current;

/* glibc caches by this counter (gettext manual, "gettext grok"). */
extern int _nl_msg_cat_cntr;

bool i18n_set(const char *lang)
{
    for (size_t i = 0; i < ARRAY_LEN(languages); i++) {
        if (strncmp(lang, languages[i].lang, 2) == 0) {
            current = i;
            setenv("LANGUAGE", languages[i].language, 1);
            ++_nl_msg_cat_cntr;
            return true;
        }
    }
    return false;
}

static const char *from_environment(void)
{
    static const char *const names[] = {"LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *v = getenv(names[i]);
        if (v && *v)
            return v;
    }
    return "en";
}

void i18n_init(const char *lang)
{
    char *dir = path_shipped("locale");
    if (!setlocale(LC_ALL, "C.UTF-8"))
        setlocale(LC_ALL, "C.utf8");
    setlocale(LC_NUMERIC, "C");
    if (dir) {
        bindtextdomain("podium", dir);
        bind_textdomain_codeset("podium", "UTF-8");
    }
    textdomain("podium");
    free(dir);
    if (!i18n_set(lang ? lang : from_environment()))
        i18n_set("en");
}

const char *i18n_lang(void)
{
    return languages[current].lang;
}

const char *i18n_text(const char *text)
{
    return *text ? gettext(text) : text;     /* "" would give the catalogue's header */
}

const char *i18n_in(const char *lang, const char *text)
{
    size_t now = current;
    if (!i18n_set(lang))
        return i18n_text(text);
    const char *said = i18n_text(text);
    if (now != current)
        i18n_set(languages[now].lang);
    return said;
}
