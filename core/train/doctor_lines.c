/* doctor_lines.c - lines that are no JSON, and what they usually are. */
#include "core/train/doctor.h"

/* The text with its strings left out, so that what stands in them misleads
 * nobody. True when it ends within a string or a bracket. */
static bool skeleton(const char *s, size_t n, struct str *out)
{
    bool in = false;
    int depth = 0;
    for (size_t i = 0; i < n; i++) {
        if (in && s[i] == '\\')
            i++;
        else if (s[i] == '"')
            in = !in;
        else if (!in && s[i] != ' ' && s[i] != '\t')
            str_addc(out, s[i]);
        depth += !in && i < n ? (s[i] == '{' || s[i] == '[') - (s[i] == '}' || s[i] == ']') : 0;
    }
    return in || depth > 0;
}

static bool holds(const struct str *s, const char *part)
{
    return s->p && strstr(s->p, part);
}

static bool python_like(const char *s, size_t n, const struct str *bones)
{
    return memmem(s, n, "{'", 2) || memmem(s, n, "['", 2) || holds(bones, "None") ||
           holds(bones, ":True") || holds(bones, ":False");
}

void doctor_explain_line(struct doctor *d, const char *s, size_t n, int row, bool last,
                         const struct pd_err *why)
{
    struct str bones;
    str_init(&bones, n + 64);
    bool open = skeleton(s, n, &bones);
    const char *b = bones.p ? bones.p : "";
    if (python_like(s, n, &bones))
        doctor_add(d, DOC_PYTHON, row, "%s", "");
    else if (holds(&bones, "NaN") || holds(&bones, "Infinity"))
        doctor_add(d, DOC_NAN, row, "%s", "");
    else if (str_eq(b, "{") || str_eq(b, "[") || str_eq(b, "}") || str_eq(b, "},") ||
             str_eq(b, "]") || (b[0] == ':' && !open))
        doctor_add(d, DOC_PRETTY, row, "%s", "");
    else if (open && last)
        doctor_add(d, DOC_CUT_OFF, row, "%s", "");
    else if (holds(&bones, "}{") || holds(&bones, "},{"))
        doctor_add(d, DOC_TWO, row, "%s", "");
    else if (holds(&bones, ",}") || holds(&bones, ",]") || (*b && b[strlen(b) - 1] == ','))
        doctor_add(d, DOC_COMMA, row, "%s", "");
    else
        doctor_add(d, DOC_NOT_JSON, row, "%.120s", why->msg);
    str_release(&bones);
}
