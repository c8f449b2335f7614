/* lint_secrets.c - secrets that end up in the image: names that promise one in
 * ARG and ENV, and values that look like one anywhere. A value is never shown. */
#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/lint_priv.h"

static const char *const parts[] = {"APIKEY", "AUTH", "CREDENTIAL", "CREDENTIALS", "PASSWORD",
                                    "PWORD", "PASSWD", "PASS", "SECRET", "TOKEN", "PASSPHRASE"};

static bool part_is(const char *name, const char *part)
{
    size_t n = strlen(part);
    for (const char *p = name; p; p = strchr(p, '_')) {
        p += *p == '_';
        if (strncasecmp(p, part, n) == 0 && (p[n] == '_' || !p[n]))
            return true;
    }
    return false;
}

/* HF_TOKEN, AWS_SECRET_ACCESS_KEY, API_KEY; not TOKENIZERS_PARALLELISM, MAX_TOKEN_LENGTH,
 * GPG_KEY, X_PUBLIC_KEY, DB_PASSWORD_FILE. */
static bool promises_secret(const char *name)
{
    static const char *const harmless[] = {"PUBLIC", "GPG", "FILE", "PATH", "LENGTH", "MAX", "URL",
                                           "COUNT", "LIMIT", "TYPE", "EXPIRE", "ENABLED", "MODE"};
    for (size_t i = 0; i < ARRAY_LEN(harmless); i++)
        if (part_is(name, harmless[i]))
            return false;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (part_is(name, parts[i]))
            return true;
    return part_is(name, "KEY") && (part_is(name, "API") || part_is(name, "ACCESS") ||
                                    part_is(name, "PRIVATE") || part_is(name, "SSH"));
}

/* What services give out begins alike. */
static const struct shape {
    const char *head, *what;
    size_t least;
} shapes[] = {
    {"hf_", N_("a Hugging Face token"), 20},     {"ghp_", N_("a GitHub token"), 20},
    {"github_pat_", N_("a GitHub token"), 20},   {"glpat-", N_("a GitLab token"), 15},
    {"sk-", N_("an API key"), 24},               {"AKIA", N_("an AWS key"), 16},
    {"xoxb-", N_("a Slack token"), 15},          {"-----BEGIN", N_("a private key"), 10},
    {"wandb_", N_("a Weights & Biases key"), 30}};

static const struct shape *find_shape(const char *text, const char **at)
{
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
        for (const char *p = text; (p = strstr(p, shapes[i].head)); p++) {
            size_t n = 0;
            while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '-')
                n++;
            bool starts = p == text || !(isalnum((unsigned char)p[-1]) || p[-1] == '_' ||
                                         p[-1] == '-');
            if (starts && n >= shapes[i].least) {
                *at = p;
                return &shapes[i];
            }
        }
    return NULL;
}

static void names(struct lint_work *w, const struct df_instr *in)
{
    for (size_t i = 0; i < in->nwords; i++) {
        const char *text = in->words[i].text;
        size_t n = strcspn(text, "=");
        char *name = xstrndup(text, n);
        bool empty = !text[n] || !text[n + 1];
        if (promises_secret(name) && (in->op == DF_ARG || !empty)) {
            struct lint_finding *f =
                lint_add(w, "secret-in-arg-or-env", LINT_WARNING, lint_at_word(&in->words[i]),
                         in->op == DF_ENV
                             ? _("ENV %s: who has the image reads it (podium image inspect)")
                             : _("ARG %s: its value stays in the image's history"), name);
            lint_evidence(f, _("line %d: %s %s=…"), in->words[i].line,
                          dockerfile_op_name(in->op), name);
            lint_next(f, _("give it when the container runs: a Kubernetes Secret as env %s; in a "
                           "build RUN --mount=type=secret,id=%s"), name, name);
        }
        free(name);
    }
}

void lint_secrets(struct lint_work *w)
{
    for (size_t i = 0; i < w->df->n; i++) {
        const struct df_instr *in = &w->df->v[i];
        const char *at;
        if (in->op == DF_ARG || in->op == DF_ENV)
            names(w, in);
        const struct shape *s = find_shape(in->rest, &at);
        for (size_t h = 0; !s && h < in->nheredocs; h++)
            s = find_shape(in->heredocs[h].text, &at);
        if (!s)
            continue;
        char *head = xasprintf("%.6s", at);
        struct lint_finding *f =
            lint_add(w, "secret-in-text", LINT_ERROR, lint_find(w, in, head),
                     _("%s stands in the Dockerfile (%s…): it is in the image and in every copy "
                       "of this file"), _(s->what), s->head);
        lint_evidence(f, _("line %d: %s … %s…"), in->line, dockerfile_op_name(in->op), s->head);
        lint_next(f, "%s", _("take it back at the service that gave it, then give a new one as a "
                             "Kubernetes Secret"));
        free(head);
    }
}
