/* doctor_print.c - findings as sentences or as JSON lines. */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/train/doctor.h"

/* text has one %s for the detail. */
static const struct words {
    const char *id;
    bool error;
    const char *text, *hint;
} words[DOC_KINDS] = {
    [DOC_EMPTY_FILE] = {"empty-file", true, N_("the file is empty%s"), ""},
    [DOC_UTF16] = {"not-utf8", true, N_("the file is %s, not UTF-8"), N_("save it as UTF-8")},
    [DOC_BOM] = {"bom", true, N_("the file begins with a byte order mark%s"),
     N_("save it as UTF-8 without one: it would become a part of the first key")},
    [DOC_BAD_UTF8] = {"bad-utf8", true, N_("bytes that are no UTF-8%s"),
     N_("convert the file, for example with iconv")},
    [DOC_CRLF] = {"crlf", false, N_("lines end in CR LF%s"), N_("dos2unix removes the CR")},
    [DOC_NOT_JSON] = {"not-json", true, N_("no JSON: %s"), N_("each line must be one JSON object")},
    [DOC_CUT_OFF] = {"cut-off", true, N_("the last line is cut off%s"),
     N_("write the file again, or drop that line")},
    [DOC_PYTHON] = {"python-repr", true, N_("Python's way of writing, not JSON%s"),
     N_("write rows with json.dumps, not with str or print")},
    [DOC_NAN] = {"nan", true, N_("NaN or Infinity, which JSON has not%s"),
     N_("write null, or leave it out")},
    [DOC_COMMA] = {"trailing-comma", true, N_("a comma too many%s"), N_("remove it")},
    [DOC_TWO] = {"two-on-a-line", true, N_("several records on one line%s"),
     N_("put each on its own line")},
    [DOC_PRETTY] = {"pretty-printed", true, N_("one record goes over several lines%s"),
     N_("write each record on one line (jq -c .)")},
    [DOC_EMPTY_LINE] = {"empty-line", false, N_("empty lines%s"), N_("remove them")},
    [DOC_ARRAY] = {"json-array", false, N_("a JSON array, not JSON Lines: rows are its items%s"),
     N_("jq -c '.[]' makes JSON Lines of it")},
    [DOC_NO_OBJECT] = {"no-object", true, N_("no object but %s"),
     N_("a row is {\"key\": \"value\"}")},
    [DOC_NO_FORM] = {"unknown-form", true, N_("no form of a training row: %s"),
     N_("use instruction/output, prompt/completion, messages or text")},
    [DOC_SHAREGPT] = {"chat-format-variant", false, N_("ShareGPT form (from/value)%s"),
     N_("it is understood; role/content is what most tools want")},
    [DOC_COLUMN] = {"column-type-changes", true, N_("a column changes its type: %s"),
     N_("make the column one type")},
    [DOC_MISSING] = {"column-missing", false, N_("column %s is missing"),
     N_("give every row the same keys")},
    [DOC_NO_ANSWER] = {"empty-answer", true, N_("nothing to learn: %s is empty"),
     N_("fill it, or drop the row")},
    [DOC_NO_QUESTION] = {"empty-prompt", false, N_("%s is empty"), N_("fill it, or drop the row")},
    [DOC_NO_TURNS] = {"empty-conversation", true, N_("the conversation is empty: no target%s"),
     N_("drop the row")},
    [DOC_NO_ASSISTANT] = {"no-assistant", true, N_("no assistant turn: no target%s"),
     N_("end with an assistant turn, or drop the row")},
    [DOC_FIRST] = {"assistant-first", true, N_("the conversation starts with the assistant%s"),
     N_("begin with a user turn: that answer has no question")},
    [DOC_LAST] = {"user-last", true,
     N_("the conversation ends with the user: no target behind it%s"),
     N_("end with an assistant turn")},
    [DOC_TWICE] = {"same-role-twice", false, N_("%s speaks twice in a row"),
     N_("join the two turns")},
    [DOC_ROLE] = {"unknown-role", true, N_("no known role: %s"),
     N_("use system, user, assistant or tool")},
    [DOC_TURN] = {"bad-turn", true, N_("a turn %s"), N_("each turn has a role and a text")},
    [DOC_SAME] = {"duplicate", false, N_("the same record as row %s"), N_("keep one of them")},
    [DOC_CONFLICT] = {"conflicting", false, N_("the same prompt as row %s, another answer"),
     N_("decide for one answer, unless several are wanted")},
    [DOC_SPECIAL] = {"special-token", false, N_("the text has %s in it"),
     N_("the chat template writes it: here it would be learned as plain text")},
    [DOC_CONTROL] = {"control-character", false, N_("control characters: %s"), N_("remove them")},
    [DOC_MOJIBAKE] = {"mojibake", false, N_("text that was decoded wrongly: %s"),
     N_("read the source again with its right encoding")},
    [DOC_LONG] = {"too-long", true, N_("more than %s"),
     N_("shorten it, raise --seq, or drop the row")},
};

int doctor_errors(const struct doctor *d)
{
    int n = 0;
    for (int i = 0; i < d->n; i++)
        n += words[d->v[i].kind].error ? MAX(d->v[i].n, 1) : 0;
    return n;
}

/* The sentence with its one %s filled. */
static void say(const struct doc_finding *f, struct str *out)
{
    const char *text = _(words[f->kind].text), *at = strstr(text, "%s");
    assert(at);
    str_append(out, text, (size_t)(at - text));
    str_add(out, f->detail);
    str_add(out, at + 2);
}

static void print_line(const struct doc_finding *f, FILE *to)
{
    struct str s;
    str_init(&s, 1 << 16);
    str_add(&s, words[f->kind].error ? _("error    ") : _("warning  "));
    if (f->n) {
        struct str rows;
        str_init(&rows, 4096);
        doctor_ranges(f->rows, MIN(f->n, (int)DOC_ROWS), f->n, &rows);
        str_printf(&s, f->n == 1 ? _("row %s: ") : _("rows %s: "), rows.p);
        str_release(&rows);
    }
    say(f, &s);
    if (*words[f->kind].hint)
        str_printf(&s, "\n           %s", _(words[f->kind].hint));
    fprintf(to, "%s\n", s.p);
    str_release(&s);
}

static void print_json(const struct doc_finding *f, FILE *to)
{
    struct str s, text;
    str_init(&s, 1 << 16);
    str_init(&text, 1 << 16);
    say(f, &text);
    str_printf(&s, "{\"kind\":\"%s\",\"severity\":\"%s\",\"rows\":[", words[f->kind].id,
               words[f->kind].error ? "error" : "warning");
    for (int i = 0; i < MIN(f->n, (int)DOC_ROWS); i++)
        str_printf(&s, "%s%d", i ? "," : "", f->rows[i]);
    str_printf(&s, "],\"count\":%d,\"text\":", f->n);
    tjson_quote(&s, text.p ? text.p : "");
    str_add(&s, ",\"hint\":");
    tjson_quote(&s, *words[f->kind].hint ? _(words[f->kind].hint) : "");
    fprintf(to, "%s}\n", s.p);
    str_release(&s);
    str_release(&text);
}

static int by_size(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void print_lengths(const struct doctor *d, FILE *to)
{
    int n = d->lengths_n;
    int64_t all = 0;
    if (n == 0)
        return;
    int *v = xmalloc((size_t)n * sizeof *v);
    memcpy(v, d->lengths, (size_t)n * sizeof *v);
    qsort(v, (size_t)n, sizeof *v, by_size);
    for (int i = 0; i < n; i++)
        all += v[i];
    fprintf(to, _("tokens: half of the rows have at most %d, 95 %% at most %d, the longest %d; "
                  "%.0f %% are trained\n"), v[n / 2], v[n * 95 / 100], v[n - 1],
            100.0 * (double)d->trained / (double)all);
    free(v);
}

void doctor_print(const struct doctor *d, const char *path, bool json, FILE *to)
{
    static const char *const names[] = {N_("Alpaca"), N_("prompt and completion"),
                                        N_("messages"), N_("ShareGPT"), N_("text")};
    for (int pass = 1; pass >= 0; pass--)
        for (int i = 0; i < d->n; i++)
            if (words[d->v[i].kind].error == (pass == 1))
                (json ? print_json : print_line)(&d->v[i], to);
    if (json)
        return;
    fprintf(to, _("%s: %d rows"), path, d->rows);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (d->forms[i])
            fprintf(to, ", %d %s", d->forms[i], _(names[i]));
    fprintf(to, "; %s\n", doctor_errors(d) ? _("it can't be trained as it stands")
                                           : _("it can be trained"));
    print_lengths(d, to);
}
