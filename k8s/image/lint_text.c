/* lint_text.c - the bytes of a Dockerfile: line ends, byte order mark, characters
 * that only look right, lines that lost their continuation. */
#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "k8s/image/lint_priv.h"

static const struct look {
    uint32_t cp;
    const char *name, *instead;
} looks[] = {
    {0x201c, N_("a curly quotation mark"), "\""}, {0x201d, N_("a curly quotation mark"), "\""},
    {0x2018, N_("a curly quotation mark"), "'"},  {0x2019, N_("a curly quotation mark"), "'"},
    {0xff02, N_("a full-width quotation mark"), "\""},
    {0xff0c, N_("a full-width comma"), ","},      {0xff1a, N_("a full-width colon"), ":"},
    {0xff1d, N_("a full-width equals sign"), "="}, {0xff1b, N_("a full-width semicolon"), ";"},
    {0x3000, N_("a full-width blank"), " "},      {0x00a0, N_("a blank that does not break"), " "},
    {0x2013, N_("a dash that is no hyphen"), "-"}, {0x2014, N_("a dash that is no hyphen"), "-"},
    {0x200b, N_("an invisible character"), ""},   {0xfeff, N_("an invisible character"), ""},
    {0xff3b, N_("a full-width bracket"), "["},    {0xff3d, N_("a full-width bracket"), "]"},
};

static void look_alikes(struct lint_work *w, int line, const char *p, size_t n)
{
    const char *first = p;
    while (n > 0 && (*p == ' ' || *p == '\t')) {
        p++;
        n--;
    }
    if (n == 0 || *p == '#')
        return;
    int col = 1 + (int)(p - first);
    for (size_t i = 0; i < n; col++) {
        int len;
        uint32_t cp = utf8_decode(p + i, n - i, &len);
        for (size_t k = 0; k < ARRAY_LEN(looks); k++) {
            if (looks[k].cp != cp)
                continue;
            struct lint_finding *f =
                lint_add(w, "look-alike-character", LINT_ERROR, (struct place){line, col},
                         _("%s (U+%04X) stands here: it came with a copy from a page or a chat, "
                           "and no program reads it as %s"),
                         _(looks[k].name), (unsigned)cp, *looks[k].instead ? looks[k].instead
                                                                           : _("nothing"));
            lint_next(f, *looks[k].instead ? _("type %s in its place") : _("delete it%s"),
                      looks[k].instead);
            return;
        }
        i += (size_t)len;
    }
}

/* An instruction that begins with what a shell would go on with. */
static void lost_continuation(struct lint_work *w)
{
    for (size_t i = 0; i < w->out->n; i++) {
        struct lint_finding *f = &w->out->v[i];
        size_t n;
        const char *p = lint_line(w, f->line, &n);
        if (!str_eq(f->rule, "parse-error") || n == 0 || f->line < 2)
            continue;
        const char *word = p + MIN((size_t)f->col - 1, n);
        if (!strchr("&|-;>)", *word) && !strstr(f->cause, "&&"))
            continue;
        lint_next(f, _("line %d does not end with \\: add it (nothing may follow it on the line)"),
                  f->line - 1);
    }
}

static void carriage_returns(struct lint_work *w, size_t crlf, size_t lines)
{
    bool escape = false;
    for (size_t i = 0; i < w->df->n; i++)
        escape = escape || w->df->v[i].nheredocs;
    if (!crlf)
        return;
    struct lint_finding *f =
        lint_add(w, "crlf", escape ? LINT_WARNING : LINT_NOTE, (struct place){1, 1},
                 _("%zu of %zu lines end with CR LF, as Windows writes them; files that go into "
                   "the image from the same editor have them too, and a script with them does "
                   "not start"), crlf, lines);
    lint_next(f, "%s", _("save with LF (dos2unix Dockerfile; git config core.autocrlf input)"));
}

static void empty_continuation(struct lint_work *w, int line, bool open, const char *p, size_t n)
{
    while (n > 0 && isspace((unsigned char)*p)) {
        p++;
        n--;
    }
    if (!open || n)
        return;
    struct lint_finding *f =
        lint_add(w, "no-empty-continuation", LINT_NOTE, (struct place){line, 1},
                 _("an empty line inside an instruction: BuildKit will make it an error"));
    lint_next(f, "%s", _("delete the line, or put # at its start"));
}

void lint_text(struct lint_work *w)
{
    const char *p = w->in->text, *end = p + w->in->len;
    size_t crlf = 0, lines = 0;
    bool open = false, heredoc = false;
    if (w->in->len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) {
        struct lint_finding *f = lint_add(
            w, "byte-order-mark", LINT_WARNING, (struct place){1, 1},
            _("the file begins with a byte order mark (EF BB BF): some builders take it as part "
              "of the first word (\"unknown instruction: \\ufeffFROM\")"));
        lint_next(f, "%s", _("save as UTF-8 without BOM"));
        p += 3;
    }
    for (size_t i = 0; i < w->df->n; i++)
        heredoc = heredoc || w->df->v[i].nheredocs;
    for (int line = 1; p < end; line++, lines++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((nl ? nl : end) - p), k = n;
        crlf += n > 0 && p[n - 1] == '\r';
        if (!heredoc)
            look_alikes(w, line, p, n);
        const char *first = p;
        while (first < p + n && isspace((unsigned char)*first))
            first++;
        bool comment = first < p + n && *first == '#';
        if (!heredoc)
            empty_continuation(w, line, open, p, n);
        while (k > 0 && isspace((unsigned char)p[k - 1]))
            k--;
        if (!comment && k > 0)
            open = p[k - 1] == w->df->escape;
        p = nl ? nl + 1 : end;
    }
    carriage_returns(w, crlf, lines);
    lost_continuation(w);
}
