/* job_index.c - completed indexes of an Indexed Job as text: "0,2-5". */
#include "k8s/practice/job_in.h"

void job_index_parse(const char *text, bool *set, int64_t n)
{
    while (*text) {
        char *end;
        int64_t from = strtoll(text, &end, 10), to = from;
        if (end == text)
            return;
        if (*end == '-')
            to = strtoll(end + 1, &end, 10);
        for (int64_t i = MAX(from, 0); i <= to && i < n; i++)
            set[i] = true;
        text = *end == ',' ? end + 1 : end;
        if (*end && *end != ',')
            return;
    }
}

/* Two neighbours are listed, three and more are a range. */
void job_index_print(const bool *set, int64_t n, struct str *out)
{
    for (int64_t i = 0; i < n; i++) {
        if (!set[i])
            continue;
        int64_t from = i;
        while (i + 1 < n && set[i + 1])
            i++;
        str_printf(out, "%s%" PRId64, out->len ? "," : "", from);
        if (i > from)
            str_printf(out, "%c%" PRId64, i == from + 1 ? ',' : '-', i);
    }
}
