/* check_read.c - what it means that a manifest can't be read as YAML (check_in.h). */
#include "core/base/base.h"

#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/rules/check_in.h"

/* The line of that number; *n its length. */
static const char *line_of(const char *text, size_t len, int no, size_t *n)
{
    const char *s = text, *end = text + len;
    while (--no > 0 && s < end) {
        const char *nl = memchr(s, '\n', (size_t)(end - s));
        s = nl ? nl + 1 : end;
    }
    const char *nl = s < end ? memchr(s, '\n', (size_t)(end - s)) : NULL;
    *n = (size_t)((nl ? nl : end) - s);
    return s;
}

static bool tab_in_front(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && (s[i] == ' ' || s[i] == '-'))
        i++;
    return i < n && s[i] == '\t';
}

/* "image:nginx": a key with nothing between the colon and its value. */
static bool no_blank(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && (s[i] == ' ' || s[i] == '-'))
        i++;
    size_t key = i;
    while (i < n && (isalnum((unsigned char)s[i]) || strchr("_.-/", s[i])))
        i++;
    return i > key && i + 1 < n && s[i] == ':' && !isspace((unsigned char)s[i + 1]);
}

/* ": " a second time in a value without quotes. */
static bool second_colon(const char *s, size_t n)
{
    char *line = xstrndup(s, n);
    const char *first = strstr(line, ": ");
    bool hit = first && first[2] != '"' && first[2] != '\'' && strstr(first + 2, ": ");
    free(line);
    return hit;
}

static bool near(const struct check *c, int line)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].level == CHECK_ERROR && abs(c->v[i].line - line) <= 1)
            return true;
    return false;
}

static bool twice(struct check_finding *f, const struct pd_err *err)
{
    static const char *const tops[] = {"\"apiVersion\"", "\"kind\"", "\"metadata\"", "\"spec\""};
    if (err->code != PD_PARSE || !strchr(err->msg, '"'))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(tops); i++)
        if (err->col == 1 && strstr(err->msg, tops[i])) {
            str_copy(f->cause, sizeof f->cause, "separator-missing");
            check_say(f, xstrdup(_("two objects stand in one document: the same key begins a "
                                   "line twice")),
                      xasprintf(_("put a line with --- before the second object (before line %d)"),
                                err->line));
            return true;
        }
    str_copy(f->cause, sizeof f->cause, "duplicate-key");
    check_say(f, xstrdup(_("kubectl would take the last one without a word")),
              xstrdup(_("keep one of the two; lists of several things want \"- \" before each")));
    return true;
}

/* By what libyaml says, in order. */
static const struct {
    const char *part, *cause, *why, *next;
} readings[] = {
    {"mapping values are not allowed", "indentation",
     N_("a key stands where a value goes on: it is indented too far, or the line above lacks its "
        "colon"),
     N_("give it as many blanks as its neighbours, or put the value above in quotes")},
    {"could not find expected ':'", "colon-missing",
     N_("a line is no key: value; its colon is missing, or a text goes on without quotes"),
     N_("add the colon and a blank, or put the text in quotes")},
    {"did not find expected key", "indentation",
     N_("a line does not fit the ones above it: its indentation is of no level that is open"),
     N_("give it as many blanks as its neighbours")},
    {"did not find expected '-' indicator", "indentation",
     N_("a list goes on with something that is no item"),
     N_("begin it with \"- \" below the others, or take it out of the list")},
    {"block sequence entries are not allowed", "indentation",
     N_("a list begins where none can: on the line of its key, or at another depth"),
     N_("begin the list on a line of its own, below its key")},
    {"did not find expected ',' or", "bracket-open",
     N_("a [ or { is not closed, or a comma is missing"), N_("close it, or write the list line by "
                                                             "line with \"- \"")},
    {"found unexpected end of stream", "quote-open",
     N_("a quotation mark is not closed"), N_("close it with the same mark")},
    {"while scanning a quoted scalar", "quote-open",
     N_("a quotation mark is not closed"), N_("close it with the same mark")},
    {"unknown escape character", "escape",
     N_("in double quotes a backslash begins an escape; this one is none"),
     N_("use single quotes, or write \\\\")},
    {"cannot start any token", "special-character",
     N_("a value can't begin with this character (@, ` and the percent sign have a meaning in "
        "YAML)"),
     N_("put the value in quotes")},
    {"a key that is a list or a map", "template-left",
     N_("a { at the beginning of a value opens a map; {{ }} is a template that nobody has filled "
        "in"),
     N_("render the template first, or put the value in quotes")},
    {"control characters are not allowed", "control-character",
     N_("a control character stands in the text"), N_("delete it")},
    {"there is no object", "no-object",
     N_("the file is empty, or holds comments only"),
     N_("check that it is the file you mean, and that it was saved")},
    {"UTF-8", "encoding", N_("the file is not in UTF-8 (but in UTF-16 or GBK, perhaps)"),
     N_("save it as UTF-8")},
    {"UTF-16", "encoding", N_("the file is not in UTF-8 (but in UTF-16 or GBK, perhaps)"),
     N_("save it as UTF-8")}};

static void by_message(struct check_finding *f, const char *msg)
{
    for (size_t i = 0; i < ARRAY_LEN(readings); i++) {
        if (!strstr(msg, _(readings[i].part)))
            continue;
        str_copy(f->cause, sizeof f->cause, readings[i].cause);
        check_say(f, xstrdup(_(readings[i].why)), xstrdup(_(readings[i].next)));
        return;
    }
}

/* The place that libyaml names lies behind the fault now and then: the line that
 * shows it, from there upwards. */
static int show_line(const char *text, size_t len, int line, bool (*test)(const char *s, size_t n))
{
    for (int no = line; no > 0 && no > line - 3; no--) {
        size_t n;
        const char *s = line_of(text, len, no, &n);
        if (test(s, n))
            return no;
    }
    return 0;
}

void check_unreadable(struct check *c, const char *text, size_t len, const struct pd_err *err)
{
    int line = err->line > 0 ? err->line : 1, at;
    if (near(c, line))
        return;                                   /* told already, and better */
    struct check_finding *f = check_add(c, CHECK_ERROR, "not-yaml", "", err->msg);
    check_at(f, line, err->col > 0 ? err->col : 1);
    check_say(f, NULL, xstrdup(err->hint));
    bool yaml = strstr(err->msg, "YAML") || strstr(err->msg, "document");
    if (yaml && (at = show_line(text, len, line, tab_in_front))) {
        size_t n;
        const char *s = line_of(text, len, at, &n);
        str_copy(f->cause, sizeof f->cause, "tab");
        check_at(f, at, (int)((const char *)memchr(s, '\t', n) - s) + 1);
        check_say(f, xstrdup(_("the line is indented with a tab; YAML takes blanks only")),
                  xstrdup(_("replace the tab by blanks (two a level)")));
    } else if (yaml && (at = show_line(text, len, line, no_blank))) {
        str_copy(f->cause, sizeof f->cause, "blank-missing");
        check_at(f, at, 1);
        check_say(f, xstrdup(_("behind the colon of a key there must be a blank")),
                  xstrdup(_("write key: value")));
    } else if (strstr(err->msg, "mapping values") && show_line(text, len, line, second_colon)) {
        str_copy(f->cause, sizeof f->cause, "colon-in-value");
        check_say(f, xstrdup(_("a value without quotes can't hold a colon and a blank")),
                  xstrdup(_("put the value in quotes")));
    } else if (!twice(f, err)) {
        by_message(f, err->msg);
    }
}
