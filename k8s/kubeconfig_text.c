/* kubeconfig_text.c - a closed report in words (kubeconfig_report.h). */
#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/utf8.h"
#include "k8s/kubeconfig_report.h"

enum { NAME_COLUMNS = 18 };

static void place(const struct json *j, const char *before, struct str *out)
{
    const char *file = json_str(j, "file", NULL);
    int64_t line = json_int(j, "line", 0);
    if (!file)
        return;
    if (line > 0)
        str_printf(out, "%s%s:%lld:%lld", before, file, (long long)line,
                   (long long)json_int(j, "column", 1));
    else
        str_printf(out, "%s%s", before, file);
}

/* The file by its last part: the whole path stands under Files. */
static void short_place(const struct json *j, struct str *out)
{
    const char *file = json_str(j, "file", NULL);
    if (file)
        str_printf(out, _("  (%s line %lld)"), path_base(file), (long long)json_int(j, "line", 0));
}

static void section(const struct json *s, struct str *out)
{
    str_printf(out, "%s\n", json_str(s, "title", ""));
    for (const struct json *f = json_first(json_get(s, "facts")); f; f = json_next(f)) {
        const char *name = json_str(f, "name", "");
        int pad = NAME_COLUMNS - utf8_str_width(name);
        str_printf(out, "  %s%*s%s", name, pad > 0 ? pad : 2, "", json_str(f, "value", ""));
        short_place(f, out);
        str_addc(out, '\n');
    }
    str_addc(out, '\n');
}

static void finding(const struct json *f, int n, struct str *out)
{
    static const struct {
        const char *id, *word;
    } levels[] = {{"error", N_("error")}, {"warning", N_("warning")}, {"note", N_("note")}};
    const char *word = json_str(f, "level", "");
    for (size_t i = 0; i < ARRAY_LEN(levels); i++)
        if (str_eq(levels[i].id, word)) {
            word = _(levels[i].word);
            break;
        }
    str_printf(out, "%d. %s", n, word);
    place(f, "  ", out);
    str_printf(out, "\n   %s\n", json_str(f, "message", ""));
    if (*json_str(f, "next", ""))
        str_printf(out, _("   next: %s\n"), json_str(f, "next", ""));
    str_addc(out, '\n');
}

static bool has_section(const struct json *report, const char *id)
{
    for (const struct json *s = json_first(json_get(report, "sections")); s; s = json_next(s))
        if (str_eq(json_str(s, "id", ""), id))
            return true;
    return false;
}

void kubeconfig_report_text(const struct json *report, struct str *out)
{
    int n = 0, errors = 0;
    for (const struct json *s = json_first(json_get(report, "sections")); s; s = json_next(s))
        section(s, out);
    for (const struct json *f = json_first(json_get(report, "findings")); f; f = json_next(f)) {
        finding(f, ++n, out);
        errors += str_eq(json_str(f, "level", ""), "error");
    }
    if (errors)
        str_printf(out, _("It can't connect so: errors %d.\n"), errors);
    else if (has_section(report, "connection"))
        str_printf(out, "%s\n", _("It connects."));
    else
        str_printf(out, "%s\n", _("No error in the files. Whether the server answers: podium "
                                  "kubeconfig check"));
}
