/* runlog.c - one training log line: writer and strict flat parser (runlog.h). */
#include "core/base/runlog.h"

#include <ctype.h>
#include <math.h>

#include "core/base/i18n.h"
#include "core/base/utf8.h"

static const char *const names[] = {
#define RUNLOG_NAME(e, name) name,
    RUNLOG_EVENTS(RUNLOG_NAME)
#undef RUNLOG_NAME
};

/* --- write ------------------------------------------------------------------- */

void runlog_begin(struct str *s, enum run_event ev)
{
    assert(ev < RUN_EVENT_COUNT);
    str_printf(s, "{\"v\":%d,\"ev\":\"%s\"", RUNLOG_VERSION, names[ev]);
}

void runlog_add_num(struct str *s, const char *key, double v)
{
    if (isnan(v))
        str_printf(s, ",\"%s\":NaN", key);
    else if (isinf(v))
        str_printf(s, ",\"%s\":%sInfinity", key, v < 0 ? "-" : "");
    else
        str_printf(s, ",\"%s\":%.9g", key, v);
}

void runlog_add_int(struct str *s, const char *key, int64_t v)
{
    str_printf(s, ",\"%s\":%" PRId64, key, v);
}

void runlog_add_bool(struct str *s, const char *key, bool v)
{
    str_printf(s, ",\"%s\":%s", key, v ? "true" : "false");
}

void runlog_add_str(struct str *s, const char *key, const char *v)
{
    str_printf(s, ",\"%s\":\"", key);
    for (; *v; v++) {
        unsigned char c = (unsigned char)*v;
        if (c == '"' || c == '\\')
            str_printf(s, "\\%c", c);
        else if (c < 0x20 || c == 0x7F)
            str_printf(s, "\\u%04x", c);
        else
            str_addc(s, (char)c);
    }
    str_addc(s, '"');
}

void runlog_end(struct str *s)
{
    str_add(s, "}\n");
}

/* --- read -------------------------------------------------------------------- */

struct reader {
    const char *start, *p, *end;
    struct run_record *out;
    size_t text_used;
    const char *why;             /* NULL while all is well */
};

static void skip_space(struct reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\r' || *r->p == '\n'))
        r->p++;
}

static bool fail(struct reader *r, const char *why)
{
    if (!r->why)
        r->why = why;
    return false;
}

static bool expect(struct reader *r, char c)
{
    skip_space(r);
    if (r->p >= r->end || *r->p != c)
        return fail(r, _("a JSON object of plain values is expected"));
    r->p++;
    return true;
}

static bool put(struct reader *r, const char *bytes, size_t n)
{
    if (r->text_used + n + 1 > sizeof r->out->text)
        return fail(r, _("its strings are too long"));
    memcpy(r->out->text + r->text_used, bytes, n);
    r->text_used += n;
    return true;
}

static bool hex4(struct reader *r, uint32_t *cp)
{
    *cp = 0;
    for (int i = 0; i < 4; i++, r->p++) {
        if (r->p >= r->end || !isxdigit((unsigned char)*r->p))
            return fail(r, _("a \\u escape is broken"));
        int c = tolower((unsigned char)*r->p);
        *cp = *cp * 16 + (uint32_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
    }
    return true;
}

static bool read_unicode(struct reader *r)
{
    uint32_t cp, low;
    char buf[4];
    if (!hex4(r, &cp))
        return false;
    if (cp >= 0xD800 && cp < 0xDC00 && r->end - r->p >= 6 && r->p[0] == '\\' && r->p[1] == 'u') {
        r->p += 2;
        if (!hex4(r, &low))
            return false;
        cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
    }
    if (cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF))
        cp = 0xFFFD;
    return put(r, buf, (size_t)utf8_encode(cp, buf));
}

static bool read_escape(struct reader *r)
{
    static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (r->p >= r->end)
        return fail(r, _("the line is cut"));
    char c = *r->p++;
    if (c == 'u')
        return read_unicode(r);
    const char *hit = c ? strchr(letters, c) : NULL;
    return hit ? put(r, values + (hit - letters), 1) : fail(r, _("an unknown escape"));
}

/* A string into the record's text; *out points at it. */
static bool read_string(struct reader *r, const char **out)
{
    *out = r->out->text + r->text_used;
    if (!expect(r, '"'))
        return false;
    while (r->p < r->end && *r->p != '"') {
        bool ok;
        if ((unsigned char)*r->p < 0x20)
            return fail(r, _("a control character in a string"));
        if (*r->p == '\\') {
            r->p++;
            ok = read_escape(r);
        } else {
            ok = put(r, r->p, 1);
            r->p++;
        }
        if (!ok)
            return false;
    }
    if (r->p >= r->end)
        return fail(r, _("the line is cut"));
    r->p++;
    return put(r, "", 1);
}

static bool read_word(struct reader *r, struct run_field *f)
{
    static const struct {
        const char *word;
        enum run_field_type type;
        double num;
    } words[] = {{"true", RF_BOOL, 1},          {"false", RF_BOOL, 0},
                 {"null", RF_NULL, 0},          {"NaN", RF_NUMBER, NAN},
                 {"-Infinity", RF_NUMBER, -INFINITY}, {"Infinity", RF_NUMBER, INFINITY}};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t n = strlen(words[i].word);
        if ((size_t)(r->end - r->p) >= n && memcmp(r->p, words[i].word, n) == 0) {
            r->p += n;
            f->type = words[i].type;
            f->num = words[i].num;
            return true;
        }
    }
    return false;
}

static bool read_number(struct reader *r, struct run_field *f)
{
    char buf[64];
    size_t n = 0;
    while (r->p + n < r->end && n < sizeof buf - 1 && r->p[n] && strchr("+-0123456789.eE", r->p[n]))
        n++;
    memcpy(buf, r->p, n);
    buf[n] = '\0';
    if (!str_to_f64(buf, &f->num))
        return fail(r, _("a value that is no number, string, true, false or null"));
    f->type = RF_NUMBER;
    r->p += n;
    return true;
}

static bool read_field(struct reader *r)
{
    const char *key;
    if (r->out->n == RUNLOG_FIELDS)
        return fail(r, _("it has too many fields"));
    struct run_field *f = &r->out->f[r->out->n];
    size_t mark = r->text_used;
    if (!read_string(r, &key) || !expect(r, ':'))
        return false;
    if (strlen(key) >= sizeof f->key)
        return fail(r, _("a key is too long"));
    if (runlog_has(r->out, key))
        return fail(r, _("a key stands twice"));
    str_copy(f->key, sizeof f->key, key);
    r->text_used = mark;         /* the key is copied */
    skip_space(r);
    if (r->p < r->end && *r->p == '"') {
        f->type = RF_STRING;
        if (!read_string(r, &f->str))
            return false;
    } else if (!read_word(r, f) && !read_number(r, f)) {
        return false;
    }
    r->out->n++;
    return true;
}

static bool read_object(struct reader *r)
{
    if (!expect(r, '{'))
        return false;
    skip_space(r);
    if (r->p < r->end && *r->p == '}') {
        r->p++;
        return true;
    }
    do {
        if (!read_field(r))
            return false;
        skip_space(r);
    } while (r->p < r->end && *r->p == ',' && r->p++);
    return expect(r, '}');
}

static bool set_event(struct reader *r)
{
    const char *ev = runlog_str(r->out, "ev", NULL);
    if (!ev || !runlog_has(r->out, "v"))
        return fail(r, _("it has no \"ev\" or no \"v\""));
    if (runlog_num(r->out, "v", 0) != RUNLOG_VERSION)
        return fail(r, _("its version is not known here"));
    for (int i = 0; i < RUN_EVENT_COUNT; i++) {
        if (strcmp(names[i], ev) == 0) {
            r->out->ev = (enum run_event)i;
            return true;
        }
    }
    return fail(r, _("its event is not known here"));
}

bool runlog_is_record(const char *line, size_t n)
{
    return n >= 2 && line[0] == '{' && memmem(line, n, "\"ev\"", 4);
}

enum pd_code runlog_parse(const char *line, size_t n, struct run_record *out, struct pd_err *err)
{
    struct reader r = {line, line, line + n, out, 0, NULL};
    out->n = 0;
    bool ok = read_object(&r);
    skip_space(&r);
    if (ok && r.p < r.end)
        ok = fail(&r, _("something stands behind the object"));
    if (ok && set_event(&r))
        return PD_OK;
    return pd_fail_at(err, PD_PARSE, "", 1, (int)(r.p - r.start) + 1,
                      _("not a training log line: %s"), r.why);
}

static const struct run_field *find(const struct run_record *r, const char *key)
{
    for (int i = 0; i < r->n; i++)
        if (strcmp(r->f[i].key, key) == 0)
            return &r->f[i];
    return NULL;
}

bool runlog_has(const struct run_record *r, const char *key)
{
    return find(r, key) != NULL;
}

double runlog_num(const struct run_record *r, const char *key, double def)
{
    const struct run_field *f = find(r, key);
    return f && (f->type == RF_NUMBER || f->type == RF_BOOL) ? f->num : def;
}

const char *runlog_str(const struct run_record *r, const char *key, const char *def)
{
    const struct run_field *f = find(r, key);
    return f && f->type == RF_STRING ? f->str : def;
}
