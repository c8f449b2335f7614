/* check_type.c - values of the wrong type, quantities and base64 that can't be
 * read (check_in.h). */
#include "core/base/base.h"

#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/quantity.h"
#include "k8s/rules/check_in.h"

static char *shown(const struct json *v)
{
    char *text = json_text(v, 0);
    if (strlen(text) > 60)
        memcpy(text + 57, "...", 4);
    return text;
}

/* --- a text is wanted --- */

static void want_string(struct check_finding *f, const struct strict_note *n)
{
    static const struct {
        const char *part, *cause, *why;
    } places[] = {
        {"labels[", "label-value-invalid", N_("the value of a label must be a string")},
        {"matchLabels[", "label-value-invalid", N_("the value of a label must be a string")},
        {"annotations[", "annotation-not-string", N_("the value of an annotation must be a "
                                                     "string")},
        {"nodeSelector[", "node-selector-not-string", N_("nodeSelector compares strings")},
        {".value", "env-value-not-string", N_("an environment variable is always a string")},
        {"args[", "argument-not-string", N_("an argument is always a string")},
        {"command[", "argument-not-string", N_("an argument is always a string")},
        {"data[", "data-not-string", N_("values of data are strings")},
        {"Data[", "data-not-string", N_("values of data are strings")}};
    char *text = shown(n->value);
    bool plain = json_type(n->value) == JSON_NUMBER || json_type(n->value) == JSON_BOOL;
    const char *why = N_("the field must be a string");
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (strstr(n->path, places[i].part)) {
            str_copy(f->cause, sizeof f->cause, places[i].cause);
            why = places[i].why;
            break;
        }
    const char *kind = json_type(n->value) == JSON_BOOL     ? _("a boolean (true or false)")
                       : json_type(n->value) == JSON_NUMBER ? _("a number")
                       : json_type(n->value) == JSON_ARRAY  ? _("a list")
                                                            : _("a map");
    check_say(f, xasprintf(_("%s; YAML makes %s %s"), _(why), text, kind),
              plain ? xasprintf(_("put it in quotes: \"%s\" (quote numbers, true, false, yes, no, "
                                  "on, off)"), text)
                    : xstrdup(_("write one text, in quotes")));
    free(text);
}

/* --- a list, a map, a number is wanted --- */

static char *as_list(const char *s)
{
    struct str out;
    struct strv words;
    str_init(&out, 4096);
    strv_init(&words);
    strv_split(&words, s, ' ');
    for (size_t i = 0; i < words.n && words.n <= 12; i++)
        if (*words.v[i])
            str_printf(&out, "%s\"%s\"", out.len ? ", " : "", words.v[i]);
    strv_release(&words);
    return str_take(&out);
}

static void want_list(struct check_finding *f, const struct strict_note *n)
{
    const char *s = json_string_value(n->value), *key = n->field->name;
    bool words = !strcmp(key, "command") || !strcmp(key, "args");
    if (words && s) {
        char *list = as_list(s);
        str_copy(f->cause, sizeof f->cause, "command-not-list");
        check_say(f, xasprintf(_("%s must be a list of strings, one a word; no shell reads it"),
                               key),
                  strpbrk(s, "|&;<>$`*\n")
                      ? xasprintf(_("let a shell read it: %s: [\"sh\", \"-c\", \"...\"]"), key)
                      : xasprintf(_("write %s: [%s]"), key, list));
        free(list);
        return;
    }
    str_copy(f->cause, sizeof f->cause, "not-a-list");
    check_say(f, xasprintf(_("%s is a list"), key),
              json_type(n->value) == JSON_OBJECT
                  ? xstrdup(_("put \"- \" before its first field and indent the rest to fit"))
                  : xstrdup(_("write each entry on a line of its own with \"- \" before it")));
}

static void want_map(struct check_finding *f, const struct strict_note *n)
{
    const char *s = json_string_value(n->value);
    const char *colon = s ? strchr(s, ':') : NULL;
    str_copy(f->cause, sizeof f->cause, "not-a-map");
    if (colon && colon[1] && !isspace((unsigned char)colon[1]) && colon[1] != '/')
        check_say(f, xstrdup(_("behind the colon of a key there must be a blank")),
                  xasprintf(_("write %.*s: %s"), (int)(colon - s), s, colon + 1));
    else if (json_type(n->value) == JSON_ARRAY)
        check_say(f, xasprintf(_("%s is a map, not a list"), n->field->name),
                  xstrdup(_("take the \"- \" away")));
    else
        check_say(f, xasprintf(_("%s is a map of fields"), n->field->name),
                  xstrdup(_("write its fields below it, two blanks further in")));
}

static void want_scalar(struct check_finding *f, const struct strict_note *n)
{
    bool boolean = n->field->base == SCHEMA_BOOL;
    const char *s = json_string_value(n->value);
    char *text = shown(n->value);
    double number;
    bool quoted = s && (boolean ? !strcmp(s, "true") || !strcmp(s, "false")
                                : str_to_f64(s, &number));
    str_copy(f->cause, sizeof f->cause, boolean ? "not-a-boolean" : "not-a-number");
    check_say(f, boolean ? xasprintf(_("%s is true or false, not %s"), n->field->name, text)
                         : xasprintf(_("%s is a whole number, not %s"), n->field->name, text),
              quoted ? xasprintf(_("take the quotes away: %s: %s"), n->field->name, s)
                     : xstrdup(_("write one")));
    free(text);
}

/* --- quantities and base64 --- */

/* "8GB", "8 gi", "8Gib": what the unit is meant to be, or NULL. */
static const char *unit_meant(const char *unit)
{
    static const char *const units[][2] = {
        {"k", "Ki"}, {"kb", "Ki"}, {"ki", "Ki"}, {"kib", "Ki"}, {"mb", "Mi"}, {"mi", "Mi"},
        {"mib", "Mi"}, {"gb", "Gi"}, {"g", "Gi"}, {"gi", "Gi"}, {"gib", "Gi"}, {"tb", "Ti"},
        {"t", "Ti"}, {"ti", "Ti"}, {"tib", "Ti"}, {"b", ""}, {"bytes", ""}, {"core", ""},
        {"cores", ""}, {"c", ""}, {"cpu", ""}, {"mc", "m"}, {"millicores", "m"}};
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (!strcasecmp(units[i][0], unit))
            return units[i][1];
    return NULL;
}

static void bad_quantity(struct check_finding *f, const struct strict_note *n)
{
    char *text = json_type(n->value) == JSON_STRING ? xstrdup(json_string_value(n->value))
                                                    : json_text(n->value, 0);
    char number[64], unit[32];
    size_t digits = strspn(text, "0123456789."), skip = strspn(text + digits, " ");
    str_fmt(number, sizeof number, "%.*s", (int)MIN(digits, 60), text);
    str_fmt(unit, sizeof unit, "%s", text + digits + skip);
    const char *meant = digits ? unit_meant(unit) : NULL;
    str_copy(f->cause, sizeof f->cause, "quantity-invalid");
    check_say(f,
              xasprintf(_("\"%.60s\" is no quantity: a number, then at once one of Ki Mi Gi Ti "
                          "(1024) or k M G T (1000), or m (thousandths)"), text),
              meant ? xasprintf(_("write %s%s"), number, meant)
                    : xstrdup(_("write such as 8Gi of memory, 500m or 2 of cpu")));
    free(text);
}

static void bad_base64(struct check_finding *f)
{
    str_copy(f->cause, sizeof f->cause, "secret-not-base64");
    check_say(f, xstrdup(_("data holds base64; this is none (or was cut or folded)")),
              xstrdup(_("put plain text under stringData, or encode it: printf %s TEXT | base64 "
                        "-w0")));
}

void check_type(struct check_finding *f, const struct strict_note *n)
{
    const struct schema_field *field = n->field;
    enum json_type type = json_type(n->value);
    bool element = field->shape != SCHEMA_ONE && n->path[strlen(n->path) - 1] == ']';
    if (n->kind == STRICT_VALUE && field->base == SCHEMA_BYTES)
        bad_base64(f);
    else if (n->kind == STRICT_VALUE || field->base == SCHEMA_QUANTITY)
        bad_quantity(f, n);
    else if (field->shape == SCHEMA_LIST && !element)
        want_list(f, n);
    else if ((field->shape == SCHEMA_MAP && !element) || field->base == SCHEMA_OBJECT)
        want_map(f, n);
    else if (field->base == SCHEMA_STRING || field->base == SCHEMA_BYTES ||
             field->base == SCHEMA_TIME || field->base == SCHEMA_MICROTIME)
        want_string(f, n);
    else if (type != JSON_NULL)
        want_scalar(f, n);
}
