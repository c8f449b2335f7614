/* explain_image.c - an image that does not come: the registry's own words, and the
 * pull secrets that should have gone with the request (dx.h). */
#include "k8s/explain/auths.h"
#include "k8s/explain/dx.h"

struct image_rule {
    const char *has, *also;   /* both must stand in the message; also NULL: none */
    const char *cause, *text; /* %s: image, host (gettext key) */
    const char *fix, *fix2;
    enum sure sure;
};

/* In order: the more particular texts first. Texts of containerd, cri-o and docker. */
static const struct image_rule table[] = {
    {"server gave HTTP response to HTTPS client", NULL, "registry-http-not-https",
     N_("The registry of %s, %s, speaks plain HTTP; the node's container runtime tries HTTPS."),
     N_("On every node let containerd use HTTP for %s: /etc/containerd/certs.d/%s/hosts.toml with "
        "an "
        "http:// server (docker's insecure-registries does not reach containerd)."),
     N_("Or give the registry a certificate (TLS)."), SURE_CERTAIN},
    {"x509:", NULL, "registry-certificate-untrusted",
     N_("The node does not trust the certificate of the registry of %s, %s."),
     N_("Put the CA of %s into the trust of every node (/etc/containerd/certs.d/%s/hosts.toml, "
        "ca)."),
     N_("Check the certificate's names and its end of validity."), SURE_CERTAIN},
    {"toomanyrequests", NULL, "registry-rate-limit",
     N_("The registry refuses for now (429 Too Many Requests): the pull limit for %s at %s is used "
        "up."),
     N_("Wait, or pull with an account (imagePullSecrets); %s counts by account or address."),
     N_("Use a mirror in the lab, or an image that the node has (imagePullPolicy IfNotPresent)."),
     SURE_CERTAIN},
    {"429 Too Many Requests", NULL, "registry-rate-limit",
     N_("The registry refuses for now (429 Too Many Requests): the pull limit for %s at %s is used "
        "up."),
     N_("Wait, or pull with an account (imagePullSecrets); %s counts by account or address."),
     N_("Use a mirror in the lab, or an image that the node has (imagePullPolicy IfNotPresent)."),
     SURE_CERTAIN},
    {"proxyconnect", NULL, "registry-proxy-failing",
     N_("The node pulls %s from %s through a proxy, and the proxy does not answer."),
     N_("Check the proxy settings of the container runtime on the node; exempt a registry inside "
        "the network (NO_PROXY=%s)."),
     NULL, SURE_CERTAIN},
    {"500 Internal Server Error", NULL, "registry-unavailable",
     N_("The registry fails by itself (500 Internal Server Error): %s can't be pulled from %s."),
     N_("See the log of the registry %s; the kubelet goes on trying."), NULL, SURE_CERTAIN},
    {"502 Bad Gateway", NULL, "registry-unavailable",
     N_("The registry is not there behind its gateway (502 Bad Gateway): %s can't be pulled from "
        "%s."),
     N_("See whether the registry %s runs; the kubelet goes on trying."), NULL, SURE_CERTAIN},
    {"503 Service Unavailable", NULL, "registry-unavailable",
     N_("The registry is out of service (503 Service Unavailable): %s can't be pulled from %s."),
     N_("See whether the registry %s runs; the kubelet goes on trying."), NULL, SURE_CERTAIN},
    {"unexpected commit digest", NULL, "image-digest-mismatch",
     N_("What the registry sent for %s (from %s) is not what its digest says."),
     N_("Push the image again; a cache or proxy between the node and %s may hold a broken copy."),
     NULL, SURE_LIKELY},
    {"no longer supported since containerd", NULL, "image-format-unsupported",
     N_("The image %s (from %s) has a format (schema 1) that the node's containerd no longer "
        "reads."),
     N_("Build and push the image again with a tool of today."), NULL, SURE_CERTAIN},
    {"no such host", NULL, "registry-dns",
     N_("The node can't resolve the registry's name: pulling %s fails at the lookup of %s."),
     N_("Check how %s is spelt, then the DNS of the node (not of the cluster: the kubelet pulls)."),
     NULL, SURE_CERTAIN},
    {"server misbehaving", NULL, "registry-dns",
     N_("The node's DNS fails: pulling %s stops at the lookup of %s."),
     N_("Check the DNS server of the node; %s itself may be fine."), NULL, SURE_CERTAIN},
    {"Temporary failure in name resolution", NULL, "registry-dns",
     N_("The node's DNS fails: pulling %s stops at the lookup of %s."),
     N_("Check the DNS server of the node; %s itself may be fine."), NULL, SURE_CERTAIN},
    {"connection refused", NULL, "registry-unreachable",
     N_("Nothing listens at the registry of %s: %s refuses the connection."),
     N_("See whether the registry %s runs, and its port."), NULL, SURE_CERTAIN},
    {"Couldn't connect to server", NULL, "registry-unreachable",
     N_("Nothing listens at the registry of %s: %s refuses the connection."),
     N_("See whether the registry %s runs, and its port."), NULL, SURE_CERTAIN},
    {"Could not resolve host", NULL, "registry-dns",
     N_("The node can't resolve the registry's name: pulling %s fails at the lookup of %s."),
     N_("Check how %s is spelt, then the DNS of the node (not of the cluster: the kubelet pulls)."),
     NULL, SURE_CERTAIN},
    {"no route to host", NULL, "registry-unreachable",
     N_("The node has no way to the registry of %s: no route to %s."),
     N_("Check network and firewall between the node and %s."), NULL, SURE_CERTAIN},
    {"i/o timeout", NULL, "registry-timeout", N_("The registry of %s does not answer in time: %s."),
     N_("Check network, proxy and firewall between the node and %s."), NULL, SURE_CERTAIN},
    {"TLS handshake timeout", NULL, "registry-timeout",
     N_("The registry of %s does not answer in time: %s."),
     N_("Check network, proxy and firewall between the node and %s."), NULL, SURE_CERTAIN},
    {"context deadline exceeded", NULL, "registry-timeout",
     N_("The pull of %s from %s ran out of time."),
     N_("Check the way to %s; a large image over a slow link may need to be pulled beforehand."),
     NULL, SURE_LIKELY},
    {"no match for platform", NULL, "image-platform-mismatch",
     N_("The image %s (at %s) has no build for the node's processor."),
     N_("Build or choose the image for the node's platform, or select nodes of its architecture."),
     NULL, SURE_CERTAIN},
    {"no matching manifest for", NULL, "image-platform-mismatch",
     N_("The image %s (at %s) has no build for the node's processor."),
     N_("Build or choose the image for the node's platform, or select nodes of its architecture."),
     NULL, SURE_CERTAIN},
    {"no space left on device", NULL, "node-disk-full",
     N_("The node has no room left for the image %s (from %s)."),
     N_("Free the node's image disk (crictl rmi --prune), or use a smaller image."), NULL,
     SURE_CERTAIN},
    {"manifest unknown", NULL, "image-tag-not-found",
     N_("The registry has no such tag: %s is not found at %s."),
     N_("Look at the tags that there are and correct the image's tag."), NULL, SURE_CERTAIN},
    {"name unknown", NULL, "image-repository-not-found",
     N_("The registry has no such repository: %s is not found at %s."),
     N_("Check the image's name at %s."), NULL, SURE_CERTAIN},
    {"NAME_UNKNOWN", NULL, "image-repository-not-found",
     N_("The registry has no such repository: %s is not found at %s."),
     N_("Check the image's name at %s."), NULL, SURE_CERTAIN},
    {": not found", NULL, "image-tag-not-found",
     N_("The registry has no such image: %s is not found at %s."),
     N_("Look at the tags that there are and correct the image's name or tag."), NULL,
     SURE_CERTAIN},
    {"unexpected EOF", NULL, "image-download-broken", N_("The download of %s from %s broke off."),
     N_("It is tried again by itself; if it stays, look at the link, the proxy and the registry "
        "%s."),
     NULL, SURE_LIKELY},
};

static const char *const denied[] = {"401 Unauthorized",
                                     "unauthorized",
                                     "pull access denied",
                                     "insufficient_scope",
                                     "authorization failed",
                                     "403 Forbidden",
                                     "no basic auth credentials",
                                     "authentication required",
                                     "requested access to the resource is denied"};

static const char *host_of(struct dx *d)
{
    char buf[256];
    return dx_say(d, "%s", auths_image_host(d->c.image, buf));
}

/* What the runtime said: the status may hold the back-off alone. */
static const char *message_of(struct dx *d, const struct snap_item **event)
{
    *event = dx_event(d, "Failed", "ailed to pull image");
    if (!*event)
        *event = dx_event(d, "Failed", "pull");
    const char *said = *event ? json_str((*event)->o, "message", "") : "";
    return dx_say(d, "%s %s", d->c.message, said);
}

static void cite_pull(struct dx *d, const struct snap_item *event)
{
    dx_cite(d, "%s.state.waiting.reason", d->c.at);
    dx_cite_event(d, event);
    dx_cite(d, "%s.state.waiting.message", d->c.at);
    dx_cite(d, "%s.image", d->c.at_spec);
}

/* --- pull secrets ------------------------------------------------------------------ */
static const struct snap_item *elsewhere(const struct dx *d, const char *name)
{
    const struct snap_list *l = &d->s->list[SNAP_SECRETS];
    for (size_t i = 0; i < l->n; i++)
        if (str_eq(json_str(l->v[i].o, "metadata.name", ""), name) &&
            !str_eq(json_str(l->v[i].o, "metadata.namespace", d->ns), d->ns))
            return &l->v[i];
    return NULL;
}

static bool secret_missing(struct dx *d, const struct snap_item *pull)
{
    const struct snap_item *event = dx_event(d, "FailedToRetrieveImagePullSecret", "");
    for (const struct json *r = json_first(json_at(d->o, "spec.imagePullSecrets")); r;
         r = json_next(r)) {
        const char *name = json_str(r, "name", "");
        bool told = event && strstr(json_str(event->o, "message", ""), name);
        bool gone = d->s->list[SNAP_SECRETS].known && !dx_find(d, SNAP_SECRETS, d->ns, name);
        if (!told && !gone)
            continue;
        const struct snap_item *other = elsewhere(d, name);
        dx_found(d, "image-pull-secret-missing", W_ROOT, SURE_CERTAIN,
                 _("The pull secret %s is not in the pod's namespace %s, so the registry is asked "
                   "without credentials."),
                 name, d->ns);
        if (other)
            dx_line(d,
                    _("There is a secret %s in namespace %s; a pod can use those of its own "
                      "namespace only."),
                    name, json_str(other->o, "metadata.namespace", ""));
        dx_cite_event(d, event);
        dx_cite(d, "spec.imagePullSecrets[0].name");
        dx_cite_item(d, other, "metadata.namespace");
        dx_cite(d, "metadata.namespace");
        cite_pull(d, pull);
        dx_fix(d, _("Create the secret %s in namespace %s."), name, d->ns);
        dx_command(d, "kubectl -n %s create secret docker-registry %s --docker-server=%s ...",
                   d->ns, name, host_of(d));
        return true;
    }
    return false;
}

static const char *hosts_text(struct dx *d, const struct json *secret)
{
    struct str s;
    str_init(&s, 1024);
    for (const struct json *h = json_first(json_get(secret, "hosts")); h; h = json_next(h))
        str_printf(&s, "%s%s", s.len ? ", " : "", json_string_value(h));
    const char *out = dx_say(d, "%s", s.p);
    str_release(&s);
    return out;
}

/* The secret is there, but for another registry, or of another type. */
static bool secret_wrong(struct dx *d, const struct snap_item *pull)
{
    const char *host = host_of(d);
    for (const struct json *r = json_first(json_at(d->o, "spec.imagePullSecrets")); r;
         r = json_next(r)) {
        const struct snap_item *secret = dx_find(d, SNAP_SECRETS, d->ns, json_str(r, "name", ""));
        const char *type = secret ? json_str(secret->o, "type", "") : "";
        if (!secret || auths_has_host(secret->o, host))
            continue;
        if (!str_starts(type, "kubernetes.io/dockerc")) {
            dx_found(d, "image-pull-secret-wrong-type", W_ROOT, SURE_CERTAIN,
                     _("The pull secret %s is of type %s; the kubelet reads "
                       "kubernetes.io/dockerconfigjson only."),
                     json_str(r, "name", ""), type);
            dx_cite_item(d, secret, "type");
        } else if (json_count(json_get(secret->o, "hosts")) > 0) {
            dx_found(d, "image-pull-secret-wrong-host", W_ROOT, SURE_CERTAIN,
                     _("The pull secret %s is for %s, the image comes from %s: its credentials are "
                       "not "
                       "sent. Host and port must be equal."),
                     json_str(r, "name", ""), hosts_text(d, secret->o), host);
            dx_cite_item(d, secret, "hosts[0]");
        } else {
            continue;
        }
        cite_pull(d, pull);
        dx_fix(d, _("Make the secret anew for the registry %s."), host);
        dx_command(d, "kubectl -n %s create secret docker-registry %s --docker-server=%s ...",
                   d->ns, json_str(r, "name", ""), host);
        return true;
    }
    return false;
}

static void refused(struct dx *d, const struct snap_item *pull, const char *message)
{
    const char *host = host_of(d);
    bool has_secret = json_count(json_at(d->o, "spec.imagePullSecrets")) > 0;
    bool hub = str_eq(host, "docker.io") && strstr(message, "does not exist");
    if (secret_missing(d, pull) || secret_wrong(d, pull))
        return;
    if (hub && !has_secret) {
        dx_found(d, "image-name-or-access", W_NAMED, SURE_LIKELY,
                 _("docker.io either has no repository for %s or wants to know who asks: it "
                   "answers "
                   "the same in both cases."),
                 d->c.image);
        if (!strchr(d->c.image, '/'))
            dx_line(d,
                    _("A name without a registry is looked for at docker.io/library/%s. An image "
                      "that was built on another machine must be pushed to a registry and named "
                      "with it."),
                    d->c.image);
        dx_fix(d, "%s",
               _("Write the image's whole name, with its registry; if it is private, add "
                 "imagePullSecrets."));
    } else if (!has_secret) {
        dx_found(d, "image-pull-unauthorized", W_ROOT, SURE_CERTAIN,
                 _("The registry %s wants credentials for %s, and the pod names no pull secret."),
                 host, d->c.image);
        dx_fix(d,
               _("Create a docker-registry secret for %s and name it in imagePullSecrets (of the "
                 "pod "
                 "or its service account)."),
               host);
        dx_command(d, "kubectl -n %s create secret docker-registry regcred --docker-server=%s ...",
                   d->ns, host);
    } else {
        dx_found(d, "image-pull-unauthorized", W_NAMED, SURE_LIKELY,
                 _("The registry %s refuses the credentials of the pull secret %s for %s."), host,
                 json_str(d->o, "spec.imagePullSecrets[0].name", ""), d->c.image);
        dx_cite(d, "spec.imagePullSecrets[0].name");
        dx_fix(d, "%s",
               _("Renew user and password in the secret, and check that they may read this "
                 "repository."));
    }
    cite_pull(d, pull);
}

/* --- names and policy ---------------------------------------------------------------- */
static bool by_state(struct dx *d)
{
    if (str_eq(d->c.waiting, "InvalidImageName")) {
        dx_found(d, "image-name-invalid", W_ROOT, SURE_CERTAIN,
                 _("\"%s\" is no image name that can be read (InvalidImageName)."), d->c.image);
        for (const char *p = d->c.image; *p; p++)
            if (*p >= 'A' && *p <= 'Z') {
                dx_line(d, "%s", _("The repository part must be lower case."));
                break;
            }
        if (strstr(d->c.image, "://"))
            dx_line(d, "%s", _("There must be no https:// in front."));
        dx_fix(d, "%s", _("Write it as registry/repository:tag."));
    } else if (str_eq(d->c.waiting, "ErrImageNeverPull")) {
        dx_found(d, "image-never-pull", W_ROOT, SURE_CERTAIN,
                 _("The node does not have the image %s, and imagePullPolicy Never forbids to pull "
                   "it."),
                 d->c.image);
        dx_cite(d, "%s.imagePullPolicy", d->c.at_spec);
        dx_fix(d, "%s",
               _("Load the image on that node, or push it to a registry and use "
                 "IfNotPresent."));
    } else {
        return false;
    }
    cite_pull(d, dx_event(d, "Failed", ""));
    return true;
}

static bool pulling_fails(const struct dx *d)
{
    static const char *const reasons[] = {"ErrImagePull", "ImagePullBackOff", "RegistryUnavailable",
                                          "ImageInspectError"};
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (str_eq(d->c.waiting, reasons[i]))
            return true;
    return false;
}

void dx_image(struct dx *d)
{
    const struct snap_item *event;
    if (by_state(d) || !pulling_fails(d))
        return;
    const char *message = message_of(d, &event), *host = host_of(d);
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        const struct image_rule *r = &table[i];
        if (!strstr(message, r->has) || (r->also && !strstr(message, r->also)))
            continue;
        dx_found(d, r->cause, W_ROOT, r->sure, "%s", dx_fill(d, r->text, d->c.image, host, ""));
        if (json_str(d->o, "spec.nodeName", NULL))
            dx_line(d, _("The node that pulls: %s."), json_str(d->o, "spec.nodeName", ""));
        cite_pull(d, event);
        dx_fix(d, "%s", dx_fill(d, r->fix, host, host, ""));
        if (r->fix2)
            dx_fix(d, "%s", dx_fill(d, r->fix2, host, "", ""));
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(denied); i++)
        if (strstr(message, denied[i])) {
            refused(d, event, message);
            return;
        }
    if (secret_missing(d, event))
        return;
    dx_found(d, "image-pull-failed", W_GENERIC, SURE_NOT,
             _("The image %s can't be pulled from %s; the runtime's text fits no known cause."),
             d->c.image, host);
    cite_pull(d, event);
    dx_fix(d, "%s", _("Try the pull on the node (crictl pull) and read what it says."));
}
