/* check_look.c - the text of a manifest before it is YAML: characters that a chat,
 * a web page or a template has left in it (check_in.h).
 *
 * What stands in comments, in quotes and in block texts may hold anything; there
 * nothing is judged. */
#include "core/base/base.h"

#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "k8s/rules/check_in.h"

enum glyph { G_BLANK, G_INVISIBLE, G_COLON, G_QUOTE, G_DASH, G_COMMA, G_BRACKET };

static const struct {
    uint32_t code;
    enum glyph kind;
    const char *name;            /* as Unicode has it */
    const char *ascii;           /* what is meant */
} glyphs[] = {
    {0xA0, G_BLANK, "NO-BREAK SPACE, NBSP", " "}, {0x3000, G_BLANK, "IDEOGRAPHIC SPACE", " "},
    {0x2002, G_BLANK, "EN SPACE", " "}, {0x2003, G_BLANK, "EM SPACE", " "},
    {0x2007, G_BLANK, "FIGURE SPACE", " "}, {0x2009, G_BLANK, "THIN SPACE", " "},
    {0x202F, G_BLANK, "NARROW NO-BREAK SPACE", " "},
    {0x200B, G_INVISIBLE, "ZERO WIDTH SPACE", ""}, {0x200C, G_INVISIBLE, "ZERO WIDTH NON-JOINER",
    ""}, {0x200D, G_INVISIBLE, "ZERO WIDTH JOINER", ""}, {0x2060, G_INVISIBLE, "WORD JOINER", ""},
    {0xFEFF, G_INVISIBLE, "ZERO WIDTH NO-BREAK SPACE, BOM", ""}, {0xAD, G_INVISIBLE, "SOFT HYPHEN",
    ""}, {0xFF1A, G_COLON, "FULLWIDTH COLON", ":"}, {0xFE55, G_COLON, "SMALL COLON", ":"},
    {0x201C, G_QUOTE, "LEFT DOUBLE QUOTATION MARK, curly", "\""},
    {0x201D, G_QUOTE, "RIGHT DOUBLE QUOTATION MARK, curly", "\""},
    {0x201E, G_QUOTE, "DOUBLE LOW-9 QUOTATION MARK, curly", "\""},
    {0x2018, G_QUOTE, "LEFT SINGLE QUOTATION MARK, curly", "'"},
    {0x2019, G_QUOTE, "RIGHT SINGLE QUOTATION MARK, curly", "'"},
    {0xFF02, G_QUOTE, "FULLWIDTH QUOTATION MARK", "\""},
    {0x2010, G_DASH, "HYPHEN", "-"}, {0x2011, G_DASH, "NON-BREAKING HYPHEN", "-"},
    {0x2013, G_DASH, "EN DASH", "-"}, {0x2014, G_DASH, "EM DASH", "-"},
    {0x2212, G_DASH, "MINUS SIGN", "-"}, {0xFF0D, G_DASH, "FULLWIDTH HYPHEN-MINUS", "-"},
    {0xFF0C, G_COMMA, "FULLWIDTH COMMA", ","}, {0x3001, G_COMMA, "IDEOGRAPHIC COMMA", ","},
    {0xFF3B, G_BRACKET, "FULLWIDTH LEFT SQUARE BRACKET", "["},
    {0xFF3D, G_BRACKET, "FULLWIDTH RIGHT SQUARE BRACKET", "]"},
    {0xFF5B, G_BRACKET, "FULLWIDTH LEFT CURLY BRACKET", "{"},
    {0xFF5D, G_BRACKET, "FULLWIDTH RIGHT CURLY BRACKET", "}"},
    {0x3010, G_BRACKET, "LEFT BLACK LENTICULAR BRACKET", "["},
    {0x3011, G_BRACKET, "RIGHT BLACK LENTICULAR BRACKET", "]"}};

/* One line and where we are. */
struct line {
    struct check *c;
    const char *s, *end;         /* without its line end */
    const char *body;            /* behind indentation and "- " */
    const char *value;           /* behind "key: ", or body */
    int no;
};

static int column(const struct line *l, const char *at)
{
    int col = 1;
    for (const char *p = l->s; p < at; p++)
        col += ((unsigned char)*p & 0xC0) != 0x80;
    return col;
}

static struct check_finding *found(const struct line *l, enum check_level level, const char *cause,
                                   const char *at)
{
    struct check_finding *f = check_add(l->c, level, cause, "", "");
    check_at(f, l->no, column(l, at));
    return f;
}

/* The character at p as one of the table, or -1. */
static int glyph_at(const char *p, const char *end, size_t *len)
{
    int n = 1;
    uint32_t code = utf8_decode(p, (size_t)(end - p), &n);
    *len = (size_t)n;
    for (size_t i = 0; code >= 0x80 && i < ARRAY_LEN(glyphs); i++)
        if (glyphs[i].code == code)
            return (int)i;
    return -1;
}

static void say_glyph(const struct line *l, const char *at, int g)
{
    struct check_finding *f = found(l, CHECK_ERROR, "pasted-character", at);
    const char *ascii = glyphs[g].ascii;
    check_say(f, xasprintf(_("the character U+%04X (%s) stands where YAML wants another"),
                           glyphs[g].code, glyphs[g].name),
              !*ascii         ? xstrdup(_("delete it; it can't be seen"))
              : *ascii == ' ' ? xstrdup(_("replace it by an ordinary blank"))
                              : xasprintf(_("replace it by %s"), ascii));
}

/* --- where a glyph does harm --- */

static bool key_before(const struct line *l, const char *at)
{
    const char *p = l->body;
    if (*p == '"' || *p == '\'')
        p++;
    while (p < at && (isalnum((unsigned char)*p) || strchr("_./-\"'", *p)))
        p++;
    return p == at && p > l->body;
}

static bool harmful(const struct line *l, const char *at, size_t len, enum glyph kind)
{
    bool first = at == l->value || at == l->body, last = at + len == l->end;
    switch (kind) {
    case G_BLANK:
    case G_INVISIBLE: return at < l->value || first || last;
    case G_COLON: return key_before(l, at);
    case G_QUOTE: return first || (last && l->value < at && at[-1] != ' ');
    case G_DASH: return first && (at[len] == ' ' || isalnum((unsigned char)at[len]));
    case G_COMMA: return *l->value == '[' || *l->value == '{';
    case G_BRACKET: return first || (last && strchr("[{", *l->value));
    }
    return false;
}

static void glyphs_of(const struct line *l)
{
    size_t len;
    char quote = 0;
    for (const char *p = l->s; p < l->end; p += len) {
        int g = glyph_at(p, l->end, &len);
        if (!quote && *p == '#' && (p == l->s || isspace((unsigned char)p[-1])))
            return;
        if ((*p == '"' || *p == '\'') && (!quote || quote == *p))
            quote = quote ? 0 : *p;
        if (g >= 0 && !quote && harmful(l, p, len, glyphs[g].kind)) {
            say_glyph(l, p, g);
            return;                               /* one a line is enough */
        }
    }
}

/* --- texts that are no YAML --- */

static const char *find(const struct line *l, const char *part)
{
    size_t n = strlen(part);
    for (const char *p = l->s; p + n <= l->end; p++)
        if (!strncasecmp(p, part, n))
            return p;
    return NULL;
}

static bool begins(const struct line *l, const char *part)
{
    size_t n = strlen(part);
    return l->s + n <= l->end && !strncasecmp(l->s, part, n);
}

static bool quoted_value(const struct line *l)
{
    return *l->value == '"' || *l->value == '\'';
}

static void braces(const struct line *l, bool block)
{
    static const char *const helm[] = {".Values", ".Release", ".Chart", "include ", "{{-", "-}}"};
    const char *at = find(l, "{{");
    bool chart = false;
    for (size_t i = 0; i < ARRAY_LEN(helm) && at; i++)
        chart = chart || find(l, helm[i]);
    if (!at || (!chart && (block || quoted_value(l))) || *l->body == '#')
        return;
    struct check_finding *f = found(l, CHECK_ERROR, "template-left", at);
    check_say(f, xstrdup(_("{{ }} is a template (Helm, Jinja) that nobody has filled in")),
              xstrdup(_("render the chart first (helm template NAME CHART), or write the value "
                        "itself")));
}

static void placeholder(const struct line *l)
{
    const char *v = l->value;
    if (v >= l->end || *v != '<' || l->end[-1] != '>' || l->end - v < 4 || v == l->body)
        return;
    struct check_finding *f = found(l, CHECK_WARNING, "placeholder-left", v);
    check_say(f, xasprintf(_("%.*s looks like a place that you should fill in"),
                           (int)MIN(l->end - v, 80), v),
              xstrdup(_("write the value itself, without < and >")));
}

static void foreign(const struct line *l)
{
    static const struct {
        const char *begin, *cause, *why, *next;
    } heads[] = {
        {"<!doctype", "html-page", N_("this is a web page (HTML), not a manifest"),
         N_("save the raw file: on GitHub and GitLab the button Raw")},
        {"<html", "html-page", N_("this is a web page (HTML), not a manifest"),
         N_("save the raw file: on GitHub and GitLab the button Raw")},
        {"404: not found", "html-page", N_("the download has failed: this is the server's "
                                           "\"404: Not Found\""),
         N_("check the address and fetch the file again")},
        {"<<<<<<< ", "merge-conflict", N_("a git merge has left its marks: <<<<<<< ======= "
                                          ">>>>>>>"),
         N_("keep one of the two sides and delete the marks")},
        {">>>>>>> ", "merge-conflict", N_("a git merge has left its marks: <<<<<<< ======= "
                                          ">>>>>>>"),
         N_("keep one of the two sides and delete the marks")},
        {"```", "markdown-fence", N_("``` is Markdown around the manifest, not part of it"),
         N_("delete the line")},
        {"$ ", "shell-around", N_("a shell prompt and its command were copied with the manifest"),
         N_("keep only what stands between the commands")},
        {"cat <<", "shell-around", N_("a shell prompt and its command were copied with the "
                                      "manifest"),
         N_("keep only what stands between the commands")},
        {"kubectl ", "shell-around", N_("a shell prompt and its command were copied with the "
                                        "manifest"),
         N_("keep only what stands between the commands")}};
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        if (!begins(l, heads[i].begin))
            continue;
        for (size_t k = 0; k < l->c->n; k++)
            if (!strcmp(l->c->v[k].cause, heads[i].cause))
                return;                           /* once is enough */
        struct check_finding *f = found(l, CHECK_ERROR, heads[i].cause, l->s);
        check_say(f, xstrdup(_(heads[i].why)), xstrdup(_(heads[i].next)));
        return;
    }
}

static void html(const struct line *l)
{
    static const char *const marks[] = {"&nbsp;", "&quot;", "&lt;", "&gt;", "&amp;", "&#39;",
                                        "<br>", "<br/>", "<br />", "</span>", "</div>", "</p>",
                                        "<span", "<div", "<pre>", "</pre>", "<code>", "</code>",
                                        "<p>"};
    if (*l->body == '#' || quoted_value(l))
        return;
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        const char *at = find(l, marks[i]);
        if (!at)
            continue;
        struct check_finding *f = found(l, CHECK_ERROR, "html-copied", at);
        check_say(f, xasprintf(_("%s is HTML: the text was copied from the source of a web page"),
                               marks[i]),
                  xstrdup(_("write the characters themselves (\" < > & and blanks), or copy it "
                            "anew from the page as it is shown")));
        return;
    }
}

/* --- line by line --- */

static void cut_line(struct line *l)
{
    const char *p = l->s;
    while (p < l->end && (*p == ' ' || (*p == '-' && p + 1 < l->end && p[1] == ' ')))
        p++;
    l->body = l->value = p;
    for (; p < l->end && *p != '"' && *p != '\''; p++)
        if (*p == ':' && p + 1 < l->end && p[1] == ' ') {
            while (p + 1 < l->end && p[1] == ' ')
                p++;
            l->value = p + 1;
            return;
        }
}

/* Does the line end in "|", ">-", "|2" …: does a block text begin? */
static bool opens_block(const struct line *l)
{
    const char *p = l->end;
    while (p > l->s && strchr("+-0123456789", p[-1]))
        p--;
    return p > l->s + 1 && (p[-1] == '|' || p[-1] == '>') && p[-2] == ' ';
}

static int depth_of(const struct line *l)
{
    return (int)(l->body - l->s);
}

void check_look(struct check *c, const char *text, size_t len)
{
    struct line l = {.c = c, .no = 1};
    const char *end = text + len;
    int block = -1;                               /* indentation of its key */
    if (len >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3))
        text += 3;
    if (len >= 2 && (!memcmp(text, "\xFF\xFE", 2) || !memcmp(text, "\xFE\xFF", 2))) {
        struct check_finding *f = check_add(c, CHECK_ERROR, "encoding", "", "");
        check_say(f, xstrdup(_("the file is in UTF-16, which kubectl can't read")),
                  xstrdup(_("save it as UTF-8")));
        return;
    }
    for (const char *s = text; s < end; l.no++) {
        const char *nl = memchr(s, '\n', (size_t)(end - s));
        l.s = s;
        l.end = nl ? nl : end;
        s = nl ? nl + 1 : end;
        while (l.end > l.s && (l.end[-1] == '\r' || l.end[-1] == ' '))
            l.end--;
        cut_line(&l);
        int blanks = (int)strspn(l.s, " ");
        if (l.end == l.s)
            continue;
        if (block >= 0 && (blanks > block || l.s + blanks == l.end)) {
            braces(&l, true);
            continue;
        }
        block = opens_block(&l) ? (blanks < depth_of(&l) ? blanks : depth_of(&l)) : -1;
        glyphs_of(&l);
        braces(&l, false);
        placeholder(&l);
        foreign(&l);
        html(&l);
    }
}
