/* session_text.c - the texts that `log` checks wait for, looked for in the run's
 * log line by line as it comes: whatever log is on show, and however long ago
 * the line was. */
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "labs/session_priv.h"
#include "labs/vars.h"

struct run_text {
    char *has, *line;                 /* line: the newest that has it, NULL: none yet */
    struct run_text *next;
};

void session_text_free(struct session *s)
{
    struct session_priv *p = session_priv(s);
    while (p->texts) {
        struct run_text *t = p->texts;
        p->texts = t->next;
        free(t->has);
        free(t->line);
        free(t);
    }
    free(p->text_last);
    p->text_last = NULL;
}

static struct run_text *find(const struct session *s, const char *has)
{
    struct run_text *t = session_priv(s)->texts;
    while (t && strcmp(t->has, has) != 0)
        t = t->next;
    return t;
}

static void want(struct session *s, const struct lab_check *check)
{
    char missing[64];
    struct json *args = str_eq(check->kind_name, "log") ? vars_json(s->vars, check->args, missing)
                                                        : NULL;
    const char *has = json_str(args, "has", NULL);
    if (has && !find(s, has)) {
        struct run_text *t = xcalloc(1, sizeof *t);
        t->has = xstrdup(has);
        t->next = session_priv(s)->texts;
        session_priv(s)->texts = t;
    }
    json_free(args);
}

void session_text_begin(struct session *s)
{
    session_text_free(s);
    for (int i = 0; s->lab && i < s->lab->steps_n; i++)
        for (int k = 0; k < s->lab->steps[i].checks_n; k++)
            want(s, &s->lab->steps[i].checks[k]);
}

void session_text_line(struct session *s, const char *text)
{
    struct session_priv *p = session_priv(s);
    struct str clean;
    if (!p->texts)
        return;
    str_init(&clean, 2 * SESSION_LINE_BYTES);
    utf8_clean(text, MIN(strlen(text), (size_t)SESSION_LINE_BYTES), false, &clean);
    for (struct run_text *t = p->texts; t; t = t->next) {
        if (!strstr(clean.p, t->has))
            continue;
        free(t->line);
        t->line = xstrdup(clean.p);
    }
    free(p->text_last);
    p->text_last = str_take(&clean);
    str_release(&clean);
}

bool session_text_seen(const struct session *s, const char *has, const char **line,
                       const char **last)
{
    const struct run_text *t = find(s, has);
    *line = t ? t->line : NULL;
    *last = session_priv(s)->text_last ? session_priv(s)->text_last : "";
    return t != NULL;
}
