/* image_ref.c - image references against the distribution grammar. */
#include "tests/t.h"

#include "core/base/mem.h"
#include "core/base/str.h"
#include "k8s/image/ref.h"

#define D "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST(ref_reads_and_completes)
{
    static const struct {
        const char *text, *full;
    } cases[] = {
        {"ubuntu", "docker.io/library/ubuntu:latest"},
        {"ubuntu:22.04", "docker.io/library/ubuntu:22.04"},
        {"nvidia/cuda:11.7.1-base", "docker.io/nvidia/cuda:11.7.1-base"},
        {"docker.io/ubuntu", "docker.io/library/ubuntu:latest"},
        {"index.docker.io/ubuntu", "docker.io/library/ubuntu:latest"},
        {"docker.io/library/ubuntu:a", "docker.io/library/ubuntu:a"},
        {"localhost/x", "localhost/x:latest"},
        {"localhost:5000/x/y:v1", "localhost:5000/x/y:v1"},
        {"127.0.0.1:6443/lab/train:v1", "127.0.0.1:6443/lab/train:v1"},
        {"quay.io/a/b@" D, "quay.io/a/b@" D},
        {"quay.io/a/b:t@" D, "quay.io/a/b:t@" D},
        {"[::1]:5000/x", "[::1]:5000/x:latest"},
        {"[2001:db8::1]/x:y", "[2001:db8::1]/x:y"},
        {"a.b/c__d/e--f.g_h", "a.b/c__d/e--f.g_h:latest"},
        {"Foo/bar", "Foo/bar:latest"},              /* an upper-case first part is a host */
        {"host:80/x", "host:80/x:latest"},
        {"x:_", "docker.io/library/x:_"},
        {"x:A.b-c", "docker.io/library/x:A.b-c"},
        {"registry-1.docker.io/x", "registry-1.docker.io/x:latest"},
        {"vault.habana.ai/gaudi-docker/1.24.0/ubuntu22.04/habanalabs/pytorch-installer-2.10.0",
         "vault.habana.ai/gaudi-docker/1.24.0/ubuntu22.04/habanalabs/"
         "pytorch-installer-2.10.0:latest"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct image_ref r;
        struct pd_err err = {0};
        char full[REF_TEXT_MAX];
        enum pd_code rc = ref_parse(cases[i].text, &r, &err);
        CHECK_MSG(rc == PD_OK, "%s: %s", cases[i].text, err.msg);
        CHECK_STR(ref_format(&r, full), cases[i].full);
        struct image_ref again;               /* the complete form is a fixed point */
        CHECK_OK(ref_parse(full, &again, &err));
        CHECK_STR(ref_format(&again, full), cases[i].full);
    }
}

TEST(ref_refuses_with_the_reference_packages_words)
{
    static const struct {
        const char *text, *msg;
    } cases[] = {
        {"", "invalid reference format"},
        {":", "invalid reference format"},
        {"Ubuntu", "invalid reference format: repository name (library/Ubuntu) must be lowercase"},
        {"quay.io/A/b", "invalid reference format: repository name (A/b) must be lowercase"},
        {"x:", "invalid reference format"},
        {"x:-a", "invalid reference format"},
        {"x:a b", "invalid reference format"},
        {"x y", "invalid reference format"},
        {"x/", "invalid reference format"},
        {"/x", "invalid reference format"},
        {"a//b", "invalid reference format"},
        {"a..b", "invalid reference format"},
        {"a___b", "invalid reference format"},
        {"-a", "invalid reference format"},
        {"a-", "invalid reference format"},
        {"host:port/x", "invalid reference format"},
        {"x@" "sha256:abc", "invalid reference format"},
        {"x@sha256:0123456789abcdef0123456789abcdef01", "invalid checksum digest length"},
        {"x@md5:0123456789abcdef0123456789abcdef", "unsupported digest algorithm"},
        {"x@" D "0", "invalid checksum digest length"},
        {"<your-registry>/llm:v1", "invalid reference format"},
        {"https://a.b/c", "invalid reference format"},
        {"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
         "invalid repository name (0123456789abcdef0123456789abcdef0123456789abcdef0123456789"
         "abcdef), cannot specify 64-byte hexadecimal strings"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct image_ref r;
        struct pd_err err = {0};
        enum pd_code rc = ref_parse(cases[i].text, &r, &err);
        CHECK_MSG(rc == PD_IMAGE, "\"%s\" was taken", cases[i].text);
        CHECK_STR(err.msg, cases[i].msg);
        CHECK(err.hint[0]);
    }
}

TEST(ref_lengths_have_their_limits)
{
    struct image_ref r;
    struct pd_err err = {0};
    char text[600];
    memset(text, 'a', sizeof text);
    str_copy(text, 5, "x.y/");
    text[4] = 'a';
    text[4 + 255] = '\0';
    CHECK_OK(ref_parse(text, &r, &err));
    text[4 + 255] = 'a';
    text[4 + 256] = '\0';
    CHECK_INT(ref_parse(text, &r, &err), PD_IMAGE);
    CHECK_STR(err.msg, "repository name must not be more than 255 characters");
    str_copy(text, 3, "x:");
    memset(text + 2, 't', 129);
    text[2 + 128] = '\0';
    CHECK_OK(ref_parse(text, &r, &err));
    text[2 + 128] = 't';
    text[2 + 129] = '\0';
    CHECK_INT(ref_parse(text, &r, &err), PD_IMAGE);
}

TEST(ref_digests_are_lower_hex_of_the_right_length)
{
    CHECK(ref_digest_valid(D));
    CHECK(!ref_digest_valid("sha256:ABCDEF6789abcdef0123456789abcdef"
                            "0123456789abcdef0123456789abcdef"));
    CHECK(!ref_digest_valid("sha256:../../../../etc/passwd"));
    CHECK(!ref_digest_valid(""));
    CHECK(!ref_digest_valid("sha256:"));
}

T_MAIN
