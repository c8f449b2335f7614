/* k8s_identity.c - who a connection says it is: certificates, token claims,
 * plugins and proxies in words, and no secret among them. */
#include "tests/t.h"

#include "core/base/mem.h"
#include "k8s/identity.h"

/* CN stu-07, O class-2026 and admins, until 2027-12-01T04:40:47Z. */
static const char cert[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBwjCCAWmgAwIBAgIUeoWi5GS1oKU8psKK89WJV5I+XaIwCgYIKoZIzj0EAwIw\n"
    "NzETMBEGA1UECgwKY2xhc3MtMjAyNjEPMA0GA1UECgwGYWRtaW5zMQ8wDQYDVQQD\n"
    "DAZzdHUtMDcwHhcNMjYxMjAxMDQ0MDQ3WhcNMjcxMjAxMDQ0MDQ3WjA3MRMwEQYD\n"
    "VQQKDApjbGFzcy0yMDI2MQ8wDQYDVQQKDAZhZG1pbnMxDzANBgNVBAMMBnN0dS0w\n"
    "NzBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNOgbo0a5Hg2U0fqiyg7L9K3yCSE\n"
    "fbAJRBTZYcio0TWArQlFI2wZZ0cH8WF/l/d/MkLrlVz1HD62cpj5zXHqDgWjUzBR\n"
    "MB0GA1UdDgQWBBSSRxMhoVIluAva8vyJih5L8oB4tTAfBgNVHSMEGDAWgBSSRxMh\n"
    "oVIluAva8vyJih5L8oB4tTAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cA\n"
    "MEQCIAU2+HkV0Eup0GbPSj0YO96/ayD2/T1Ei6/dtjvwtVtzAiBNNdmzhiEnB27X\n"
    "OaJcmwuf52tyRQn+NXX3133cbOtEEQ==\n"
    "-----END CERTIFICATE-----\n";

/* {"iss", "sub": "system:serviceaccount:lab:bot", "aud": ["api"], "exp": 1796010000,
 * "secret_claim": "hunter2"}, signed by nobody. */
static const char token[] =
    "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2lkcC5leGFtcGxlIiwic3ViIjoic3lzdGVtOnN"
    "lcnZpY2VhY2NvdW50OmxhYjpib3QiLCJhdWQiOlsiYXBpIl0sImV4cCI6MTc5NjAxMDAwMCwic2VjcmV"
    "0X2NsYWltIjoiaHVudGVyMiJ9.c2lnbmF0dXJlLXRoYXQtbWF0dGVycw";

static struct json *of(void (*fill)(struct kube_context *x))
{
    struct kube_context x;
    kube_context_init(&x);
    x.ns = xstrdup("lab");
    x.server = xstrdup("https://api.example:6443");
    fill(&x);
    struct json *j = identity_of(&x);
    kube_context_release(&x);
    return j;
}

static void by_cert(struct kube_context *x)
{
    x->cert_pem = xstrdup(cert);
    x->key_pem = xstrdup("-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n");
    x->ca_pem = xstrdup(cert);
}

TEST(a_certificate_names_user_and_groups)
{
    struct json *j = of(by_cert);
    char *text = json_text(j, 0);
    CHECK_STR(json_str(j, "auth.how", ""), "certificate");
    CHECK_STR(json_str(j, "auth.name", ""), "stu-07");
    CHECK_STR(json_str(j, "auth.groups[0]", ""), "class-2026");
    CHECK_STR(json_str(j, "auth.groups[1]", ""), "admins");
    CHECK_INT(json_int(j, "auth.expires_ms", 0), INT64_C(1827636047000));
    CHECK_STR(json_str(j, "certs[0].what", ""), "ca");
    CHECK_STR(json_str(j, "certs[1].what", ""), "client");
    CHECK_INT(json_int(j, "certs[1].expires_ms", 0), INT64_C(1827636047000));
    CHECK(!strstr(text, "PRIVATE") && !strstr(text, "BEGIN"));
    free(text);
    json_free(j);
}

static void by_token(struct kube_context *x)
{
    x->token = xstrdup(token);
}

TEST(of_a_token_names_and_times_alone_are_told)
{
    struct json *j = of(by_token);
    char *text = json_text(j, 0);
    CHECK_STR(json_str(j, "auth.how", ""), "token");
    CHECK_STR(json_str(j, "auth.name", ""), "system:serviceaccount:lab:bot");
    CHECK_STR(json_str(j, "auth.issuer", ""), "https://idp.example");
    CHECK_STR(json_str(j, "auth.audience", ""), "api");
    CHECK_INT(json_int(j, "auth.expires_ms", 0), INT64_C(1796010000000));
    CHECK_MSG(!strstr(text, "hunter2") && !strstr(text, "c2lnbmF0") && !strstr(text, "eyJ"),
              "a secret is told: %s", text);
    free(text);
    json_free(j);
}

TEST(a_token_that_is_no_jwt_has_no_claims)
{
    static const char *const bad[] = {"abc", "a.b", "x.e30.y.z", "..", "x.e30", "x.!!!!.y",
                                      "x.W10.y", "x.eyJhIjo.y", ""};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK_MSG(identity_claims(bad[i]) == NULL, "%s", bad[i]);
    struct json *j = identity_claims("x.e30.y");
    CHECK(j != NULL);
    json_free(j);
    CHECK(identity_claims(NULL) == NULL);
}

TEST(the_certificate_that_ends_first_counts)
{
    char *two = xasprintf("%s# text between\n%s", cert, cert), *none = xstrdup("no PEM");
    struct json *j = identity_cert(two);
    CHECK_STR(json_str(j, "subject", ""), "stu-07");
    json_free(j);
    CHECK(identity_cert(none) == NULL);
    CHECK(identity_cert(NULL) == NULL);
    free(two);
    free(none);
}

static void by_plugin(struct kube_context *x)
{
    x->exec.command = xstrdup("aws");
    x->as = xstrdup("teacher");
    strv_push(&x->as_groups, "staff");
    x->proxy = xstrdup("http://me:pa55word@proxy.example:3128");
    x->insecure = true;
}

TEST(plugin_impersonation_and_proxy_are_told_without_a_password)
{
    struct json *j = of(by_plugin);
    char *text = json_text(j, 0);
    CHECK_STR(json_str(j, "auth.how", ""), "exec plugin");
    CHECK_STR(json_str(j, "auth.plugin", ""), "aws");
    CHECK_STR(json_str(j, "auth.as", ""), "teacher");
    CHECK_STR(json_str(j, "auth.as_groups[0]", ""), "staff");
    CHECK_STR(json_str(j, "proxy", ""), "http://proxy.example:3128");
    CHECK_STR(json_str(j, "proxy_from", ""), "kubeconfig");
    CHECK(json_bool(j, "insecure", false));
    CHECK_MSG(!strstr(text, "pa55word"), "%s", text);
    free(text);
    json_free(j);
}

TEST(what_a_plugin_gave_is_told_as_its_token_and_its_own_end)
{
    struct json *j = of(by_plugin), *auth = json_get_mut(j, "auth");
    identity_given(auth, token, NULL, 0);
    CHECK_STR(json_str(auth, "name", ""), "system:serviceaccount:lab:bot");
    CHECK_INT(json_int(auth, "expires_ms", 0), INT64_C(1796010000000));
    identity_given(auth, token, NULL, INT64_C(1796000000000));     /* the plugin knows better */
    CHECK_INT(json_int(auth, "expires_ms", 0), INT64_C(1796000000000));
    identity_given(auth, NULL, cert, 0);
    CHECK_STR(json_str(auth, "name", ""), "stu-07");
    json_free(j);
}

static void by_nothing(struct kube_context *x UNUSED)
{
    setenv("HTTPS_PROXY", "http://env.example:8080", 1);
}

TEST(a_proxy_of_the_environment_is_named_by_its_variable)
{
    struct json *j = of(by_nothing);
    CHECK_STR(json_str(j, "auth.how", ""), "none");
    CHECK_HAS(json_str(j, "proxy", ""), "env.example:8080");
    CHECK_STR(json_str(j, "proxy_from", ""), "HTTPS_PROXY");
    json_free(j);
    unsetenv("HTTPS_PROXY");
}

T_MAIN
