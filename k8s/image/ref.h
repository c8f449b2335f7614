/* ref.h - image references: "ubuntu", "127.0.0.1:5000/lab/train:v1",
 * "quay.io/a/b:t@sha256:…".
 *
 * The grammar is that of the distribution project's reference package, with
 * its normalisation: no domain means docker.io, one component there means
 * library/, neither tag nor digest means :latest. Errors carry the text that a
 * kubelet shows with InvalidImageName ("invalid reference format: repository
 * name (library/Foo) must be lowercase").
 */
#ifndef K8S_IMAGE_REF_H
#define K8S_IMAGE_REF_H

#include "core/base/err.h"

enum { REF_REGISTRY_MAX = 256, REF_REPO_MAX = 255, REF_TAG_MAX = 128, REF_TEXT_MAX = 1024 };

struct image_ref {
    char registry[REF_REGISTRY_MAX + 1];  /* "docker.io", "[::1]:5000": as written */
    char repository[REF_REPO_MAX + 1];    /* "library/ubuntu" */
    char tag[REF_TAG_MAX + 1];            /* "" when only a digest was given */
    char digest[160];                     /* "sha256:…" or "" */
    bool default_tag;                     /* the tag "latest" was not written */
};

/* PD_IMAGE with the reason; the hint says which characters are allowed. */
MUST_USE enum pd_code ref_parse(const char *text, struct image_ref *out, struct pd_err *err);
/* Complete form "registry/repository[:tag][@digest]" into buf; returns buf. */
char *ref_format(const struct image_ref *r, char buf[REF_TEXT_MAX]);
/* What a manifest URL ends with: the digest when there is one, else the tag. */
const char *ref_target(const struct image_ref *r);
/* Host to dial: docker.io's API lives on registry-1.docker.io. */
const char *ref_api_host(const struct image_ref *r);

bool ref_repository_valid(const char *s); /* path components, lower case, <= 255 */
bool ref_tag_valid(const char *s);        /* [A-Za-z0-9_][A-Za-z0-9_.-]{0,127} */
bool ref_digest_valid(const char *s);     /* sha256:64 lower hex (sha512 likewise) */

#endif
