/* explain_hub.c - what the Hugging Face hub answers a program in a pod: no token, a
 * token that is not granted, no such name, no way there (dx.h). */
#include "k8s/explain/dx.h"

static bool named_env(const struct dx *d, const char *name)
{
    for (const struct json *e = json_first(json_get(d->c.spec, "env")); e; e = json_next(e))
        if (str_eq(json_str(e, "name", ""), name))
            return true;
    return false;
}

/* A variable that was meant to be the token; its index, -1 none. */
static int token_like(const struct dx *d, const char **name)
{
    int i = 0;
    for (const struct json *e = json_first(json_get(d->c.spec, "env")); e; e = json_next(e), i++) {
        *name = json_str(e, "name", "");
        if (strstr(*name, "TOKEN") && (strstr(*name, "HF") || strstr(*name, "HUGGING")))
            return i;
    }
    return -1;
}

/* The name of the repository that the hub was asked for; "" not seen. */
static const char *repository(struct dx *d)
{
    static const char *const before[] = {"huggingface.co/api/models/",
                                         "huggingface.co/api/datasets/", "Access to model ",
                                         "huggingface.co/"};
    for (size_t i = 0; i < ARRAY_LEN(before); i++) {
        const char *name = dx_between(d, d->s->log, before[i], " \n'\")?");
        const char *end = name ? strstr(name, "/resolve/") : NULL;
        if (name && strchr(name, '/'))
            return end ? dx_say(d, "%.*s", (int)(end - name), name) : name;
    }
    return "";
}

static void asked_for(struct dx *d)
{
    const char *name = repository(d);
    if (name[0])
        dx_line(d, _("Asked for: %s."), name);
}

static const struct {
    const char *has, *cause, *text, *fix;
    enum sure sure;
} answers[] = {
    {"404 Client Error", "hf-repository-not-found",
     N_("The hub has no repository or file of that name (404): %s"),
     N_("Correct the name: copy it from the page of the model or data set."), SURE_CERTAIN},
    {"429 Client Error", "hf-rate-limit", N_("The hub refuses for now (429 Too Many Requests): %s"),
     N_("Send a token (HF_TOKEN), start fewer pods at once, and keep the files on a volume "
        "(HF_HOME)."),
     SURE_CERTAIN},
    {"We couldn't connect to", "hf-hub-unreachable",
     N_("The hub can't be reached from the pod, and the files are not in its cache: %s"),
     N_("Let the pod reach the hub or a mirror (HF_ENDPOINT, HTTPS_PROXY), or put the files on a "
        "volume and set HF_HUB_OFFLINE=1."),
     SURE_CERTAIN},
    {"LocalEntryNotFoundError", "hf-hub-unreachable",
     N_("The hub can't be reached from the pod, and the files are not in its cache: %s"),
     N_("Let the pod reach the hub or a mirror (HF_ENDPOINT, HTTPS_PROXY), or put the files on a "
        "volume and set HF_HUB_OFFLINE=1."),
     SURE_CERTAIN},
    {"OfflineModeIsEnabled", "hf-files-not-cached",
     N_("HF_HUB_OFFLINE is set, and the files are not in the cache: %s"),
     N_("Download them before into HF_HOME on a volume, or take HF_HUB_OFFLINE away."),
     SURE_CERTAIN},
};

static bool answered(struct dx *d)
{
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        const char *line = dx_log(d, answers[i].has);
        if (!line)
            continue;
        dx_found(d, answers[i].cause, W_APP + 4, answers[i].sure, "%s",
                 dx_fill(d, answers[i].text, line, "", ""));
        asked_for(d);
        dx_cite_end(d, line);
        dx_cite(d, "%s.env", d->c.at_spec);
        dx_fix(d, "%s", _(answers[i].fix));
        return true;
    }
    return false;
}

bool dx_hub(struct dx *d)
{
    const char *gated = dx_log(d, "gated repo"), *denied = dx_log(d, "not in the authorized list");
    const char *line = dx_log(d, "401 Client Error"), *name = "";
    bool sent = named_env(d, "HF_TOKEN") || named_env(d, "HUGGING_FACE_HUB_TOKEN") ||
                named_env(d, "HF_TOKEN_PATH") || json_count(json_get(d->c.spec, "envFrom")) > 0;
    bool hub = dx_log(d, "huggingface") != NULL;
    if (denied || (gated && dx_log(d, "403"))) {
        dx_found(d, "hf-gated-model", W_APP + 6, SURE_CERTAIN, "%s",
                 _("The model is gated: the token is known, but its owner has not been granted "
                   "access "
                   "(403)."));
        asked_for(d);
        dx_cite_end(d, denied ? denied : gated);
        dx_fix(d, "%s",
               _("Accept the model's licence on its page with the account of the token, and wait "
                 "until access is granted."));
        return true;
    }
    if (hub && !line)
        return answered(d);
    if (!hub)
        return false;
    int at = token_like(d, &name);
    bool misnamed = at >= 0 && !str_eq(name, "HF_TOKEN") && !str_eq(name, "HUGGING_FACE_HUB_TOKEN");
    if (sent) {
        dx_found(d, "hf-token-invalid", W_APP + 4, SURE_LIKELY, "%s",
                 _("The hub answers 401: the token is not accepted, or the repository's name is "
                   "wrong (both "
                   "give 401)."));
        dx_fix(d, "%s",
               _("Check the name of the repository, then the token (hf auth whoami); a secret that "
                 "was base64-encoded twice is a common reason."));
    } else {
        dx_found(d, "hf-token-not-sent", W_APP + 5, SURE_LIKELY,
                 misnamed ? _("The hub answers 401 as to a stranger: no token reaches it. The "
                              "container sets "
                              "%s, which is not read; the name is HF_TOKEN.")
                          : _("The hub answers 401 as to a stranger: no token reaches it, the "
                              "container has no "
                              "HF_TOKEN.%s"),
                 misnamed ? name : "");
        dx_fix(d, "%s", _("Set HF_TOKEN from a Secret (env, valueFrom.secretKeyRef)."));
        dx_fix(d, "%s", _("If it then still answers 401, check the repository's name."));
    }
    asked_for(d);
    dx_cite_end(d, line);
    if (at >= 0)
        dx_cite(d, "%s.env[%d].name", d->c.at_spec, at);
    return true;
}
