/* practice_registry.c - the practice cluster's registry, over HTTPS, with
 * podium's own client and with hand-made requests.
 *
 * "practice_registry serve DIR" runs one for tests/api/test_image.sh: it prints
 * "PORT CA_FILE" and serves until it is killed. User student, token "secret".
 */
#include "tests/t.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/json.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/io/http.h"
#include "k8s/image/digest.h"
#include "k8s/image/registry_client.h"
#include "k8s/practice/registry.h"
#include "k8s/practice/tls.h"
#include "tests/unit/image_keep.h"

static const char *check_login(void *arg UNUSED, const char *authorization)
{
    /* "student:secret" */
    bool ok = authorization && (str_eq(authorization, "Bearer secret") ||
                                str_eq(authorization, "Basic c3R1ZGVudDpzZWNyZXQ="));
    return ok ? "student" : NULL;
}

static int serve(const char *dir, int out)
{
    struct pd_err err = {0};
    struct tls_files tls;
    struct server *s;
    struct registry *r;
    struct loop *l = loop_new();
    char *store = path_join(dir, "registry"), line[4096];
    if (tls_open(dir, &tls, &err) != PD_OK)
        t_fail(__FILE__, __LINE__, "tls: %s", err.msg);
    struct server_tls pair = {tls.cert_pem, tls.key_pem};
    if (server_start(l, 0, &pair, check_login, NULL, &s, &err) != PD_OK ||
        registry_start(l, s, store, &r, &err) != PD_OK)
        t_fail(__FILE__, __LINE__, "start: %s", err.msg);
    str_fmt(line, sizeof line, "%d %s\n", server_port(s), tls.ca_path);
    if (write(out, line, strlen(line)) < 0)
        return 1;
    loop_run(l);
    return 0;
}

/* --- a server for the test --------------------------------------------------- */

static pid_t server_pid;
static rlim_t file_limit;             /* of the server's files; 0: none */
static char host[64];
static struct registry_auth auth;

static void start_server(const char *dir)
{
    int p[2];
    char line[4096] = "", ca[4000];
    int port = 0;
    struct str pem;
    struct pd_err err;
    CHECK(pipe(p) == 0);
    server_pid = fork();
    if (server_pid == 0) {
        struct rlimit limit = {file_limit, file_limit};
        signal(SIGXFSZ, SIG_IGN);
        if (file_limit && setrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(1);
        _exit(serve(dir, p[1]));
    }
    close(p[1]);
    CHECK(read(p[0], line, sizeof line - 1) > 0);
    close(p[0]);
    CHECK(sscanf(line, "%d %3999s", &port, ca) == 2);
    str_fmt(host, sizeof host, "127.0.0.1:%d", port);
    str_init(&pem, 1 << 16);
    CHECK_OK(path_read(ca, 1 << 16, &pem, &err));
    auth = (struct registry_auth){.ca_pem = KEEP(str_take(&pem)), .token = KEEP(xstrdup("secret"))};
}

static void stop_server(int signo)
{
    kill(server_pid, signo);
    waitpid(server_pid, NULL, 0);
}

struct answer {
    struct http_response r;
    struct str body;
};

static void ask(struct answer *a, const char *method, const char *path, const char *type,
                const char *body, const char *header)
{
    struct pd_err err = {0};
    struct strv headers;
    char *base = KEEP(xasprintf("https://%s", host));
    struct http_target *t = KEEP(http_target_new(base));
    t->ca_pem = xstrdup(auth.ca_pem);
    t->bearer = xstrdup(auth.token);
    strv_init(&headers);
    if (header)
        strv_push(&headers, header);
    struct http_request q = {.method = method, .path = path, .content_type = type, .body = body,
                             .body_len = body ? strlen(body) : 0, .headers = &headers,
                             .accept = "*/*", .timeout_ms = 20000};
    str_init(&a->body, 1 << 20);
    memset(&a->r, 0, sizeof a->r);
    CHECK_OK(http_run(t, &q, &a->r, &a->body, &err));
    KEEP(a->body.p);
    strv_release(&headers);
}

static int status(const char *method, const char *path)
{
    struct answer a;
    ask(&a, method, path, NULL, NULL, NULL);
    return a.r.status;
}

static const char *error_code(struct answer *a)
{
    struct json *j;
    struct pd_err err;
    CHECK_OK(json_parse(a->body.p, a->body.len, &j, &err));
    KEEP(j);
    return json_str(j, "errors[0].code", "");
}

/* An image of one small layer in a layout. */
static struct layout *make_image(struct image_desc *out, const char *data)
{
    struct pd_err err = {0};
    struct layout *l;
    struct image_desc layer, config;
    char *dir = KEEP(xasprintf("%s/layout", t_dir()));
    CHECK_OK(layout_open(dir, true, &l, &err));
    KEEP(l);
    CHECK_OK(layout_put(l, MT_OCI_LAYER, data, strlen(data), &layer, &err));
    char *text = KEEP(xasprintf("{\"architecture\":\"amd64\",\"os\":\"linux\",\"rootfs\":{\"type\":"
                           "\"layers\",\"diff_ids\":[\"%s\"]}}", layer.digest));
    CHECK_OK(layout_put(l, MT_OCI_CONFIG, text, strlen(text), &config, &err));
    char *manifest = KEEP(xasprintf(
        "{\"schemaVersion\":2,\"mediaType\":\"%s\",\"config\":{\"mediaType\":\"%s\",\"digest\":"
        "\"%s\",\"size\":%lld},\"layers\":[{\"mediaType\":\"%s\",\"digest\":\"%s\","
        "\"size\":%lld}]}",
        MT_OCI_MANIFEST, MT_OCI_CONFIG, config.digest, (long long)config.size, MT_OCI_LAYER,
        layer.digest, (long long)layer.size));
    CHECK_OK(layout_put(l, MT_OCI_MANIFEST, manifest, strlen(manifest), out, &err));
    return l;
}

static struct image_ref reference(const char *repo_and_tag)
{
    struct image_ref ref;
    struct pd_err err = {0};
    char text[256];
    str_fmt(text, sizeof text, "%s/%s", host, repo_and_tag);
    CHECK_OK(ref_parse(text, &ref, &err));
    return ref;
}

static void push(struct layout *l, const struct image_desc *d, const char *to, const char *mount)
{
    struct image_desc out;
    struct pd_err err = {0};
    struct image_ref ref = reference(to);
    CHECK_OK(registry_client_push(l, d, &ref, mount, &auth, NULL, &out, &err));
    CHECK_STR(out.digest, d->digest);
}

static void check_pull(const char *from, const char *digest, const char *dir)
{
    struct pd_err err = {0};
    struct layout *l;
    struct image_desc got;
    struct image *im;
    struct image_ref ref = reference(from);
    char *path = KEEP(xasprintf("%s/%s", t_dir(), dir));
    CHECK_OK(layout_open(path, true, &l, &err));
    KEEP(l);
    CHECK_OK(registry_client_pull(l, &ref, &auth, NULL, &got, &err));
    CHECK_STR(got.digest, digest);
    CHECK_OK(image_load(l, &got, &im, &err));
    KEEP(im);
    CHECK_INT(im->n, 1);
    CHECK(layout_has(l, im->layers[0].desc.digest, im->layers[0].desc.size));
}

/* --- tests --------------------------------------------------------------------- */

TEST(registry_wants_a_login)
{
    struct answer a;
    start_server(t_dir());
    CHECK_INT(status("GET", "/v2/"), 200);
    auth.token[0] = 'x';
    ask(&a, "GET", "/v2/", NULL, NULL, NULL);
    CHECK_INT(a.r.status, 401);
    CHECK_HAS(a.r.www_authenticate, "Basic realm=");
    CHECK_STR(error_code(&a), "UNAUTHORIZED");
    CHECK_INT(status("PUT", "/v2/a/manifests/x"), 401);
    stop_server(SIGTERM);
}

TEST(registry_gives_back_what_was_pushed)
{
    struct image_desc d;
    start_server(t_dir());
    struct layout *l = make_image(&d, "layer one");
    push(l, &d, "lab/train:v1", NULL);
    push(l, &d, "lab/train:v2", NULL);
    check_pull("lab/train:v1", d.digest, "back");
    char by_digest[200];
    str_fmt(by_digest, sizeof by_digest, "lab/train@%s", d.digest);
    check_pull(by_digest, d.digest, "back2");
    struct answer a;
    ask(&a, "GET", "/v2/lab/train/tags/list", NULL, NULL, NULL);
    CHECK_HAS(a.body.p, "\"tags\":[\"v1\",\"v2\"]");
    ask(&a, "GET", "/v2/lab/train/tags/list?n=1", NULL, NULL, NULL);
    CHECK_HAS(a.body.p, "\"tags\":[\"v1\"]");
    ask(&a, "GET", "/v2/lab/train/tags/list?n=1&last=v1", NULL, NULL, NULL);
    CHECK_HAS(a.body.p, "\"tags\":[\"v2\"]");
    ask(&a, "GET", "/v2/_catalog", NULL, NULL, NULL);
    CHECK_HAS(a.body.p, "[\"lab/train\"]");
    stop_server(SIGTERM);
}

TEST(registry_survives_kill_9)
{
    struct image_desc d;
    start_server(t_dir());
    struct layout *l = make_image(&d, "kept layer");
    push(l, &d, "lab/kept:v1", NULL);
    stop_server(SIGKILL);
    start_server(t_dir());
    check_pull("lab/kept:v1", d.digest, "back");
    stop_server(SIGTERM);
}

TEST(registry_mounts_between_repositories)
{
    struct image_desc d;
    struct answer a;
    start_server(t_dir());
    struct layout *l = make_image(&d, "mounted layer");
    push(l, &d, "lab/one:v1", NULL);
    char digest[DIGEST_TEXT], path[300];
    digest_of("mounted layer", 13, digest);
    str_fmt(path, sizeof path, "/v2/lab/two/blobs/%s", digest);
    CHECK_INT(status("HEAD", path), 404);
    str_fmt(path, sizeof path, "/v2/lab/two/blobs/uploads/?mount=%s&from=lab/one", digest);
    ask(&a, "POST", path, NULL, NULL, NULL);
    CHECK_INT(a.r.status, 201);
    CHECK_STR(a.r.digest, digest);
    str_fmt(path, sizeof path, "/v2/lab/two/blobs/%s", digest);
    CHECK_INT(status("HEAD", path), 200);
    ask(&a, "GET", path, NULL, NULL, "Range: bytes=8-");
    CHECK_INT(a.r.status, 206);
    CHECK_STR(a.body.p, "layer");
    ask(&a, "GET", path, NULL, NULL, "Range: bytes=0-6");
    CHECK_STR(a.body.p, "mounted");
    ask(&a, "GET", path, NULL, NULL, "Range: bytes=99-");
    CHECK_INT(a.r.status, 416);
    CHECK_INT(status("DELETE", path), 202);
    CHECK_INT(status("GET", path), 404);
    /* from a repository that lacks it: an ordinary upload is opened */
    str_fmt(path, sizeof path, "/v2/lab/two/blobs/uploads/?mount=%s&from=lab/three", digest);
    ask(&a, "POST", path, NULL, NULL, NULL);
    CHECK_INT(a.r.status, 202);
    stop_server(SIGTERM);
}

TEST(registry_takes_pieces_in_order_only)
{
    struct answer a;
    char digest[DIGEST_TEXT], where[600], url[800];
    start_server(t_dir());
    digest_of("abcdef", 6, digest);
    ask(&a, "POST", "/v2/p/blobs/uploads/", NULL, NULL, NULL);
    CHECK_INT(a.r.status, 202);
    str_copy(where, sizeof where, a.r.location);
    ask(&a, "PATCH", where, "application/octet-stream", "abc", "Content-Range: 0-2");
    CHECK_INT(a.r.status, 202);
    CHECK_STR(a.r.range, "0-2");
    ask(&a, "PATCH", where, "application/octet-stream", "xyz", "Content-Range: 9-11");
    CHECK_INT(a.r.status, 416);
    CHECK_STR(a.r.range, "0-2");
    ask(&a, "GET", where, NULL, NULL, NULL);
    CHECK_INT(a.r.status, 204);
    CHECK_STR(a.r.range, "0-2");
    str_fmt(url, sizeof url, "%s?digest=%s", where, digest);
    ask(&a, "PUT", url, "application/octet-stream", "def", "Content-Range: 3-5");
    CHECK_INT(a.r.status, 201);
    CHECK_STR(a.r.digest, digest);
    str_fmt(url, sizeof url, "/v2/p/blobs/%s", digest);
    ask(&a, "GET", url, NULL, NULL, NULL);
    CHECK_STR(a.body.p, "abcdef");
    ask(&a, "GET", where, NULL, NULL, NULL);
    CHECK_INT(a.r.status, 404);
    CHECK_STR(error_code(&a), "BLOB_UPLOAD_UNKNOWN");
    stop_server(SIGTERM);
}

TEST(registry_refuses_wrong_digests)
{
    struct answer a;
    char digest[DIGEST_TEXT], url[400];
    start_server(t_dir());
    digest_of("right", 5, digest);
    str_fmt(url, sizeof url, "/v2/p/blobs/uploads/?digest=%s", digest);
    ask(&a, "POST", url, "application/octet-stream", "wrong", NULL);
    CHECK_INT(a.r.status, 400);
    CHECK_STR(error_code(&a), "DIGEST_INVALID");
    str_fmt(url, sizeof url, "/v2/p/blobs/%s", digest);
    CHECK_INT(status("GET", url), 404);
    str_fmt(url, sizeof url, "/v2/p/blobs/uploads/?digest=%s", digest);
    ask(&a, "POST", url, "application/octet-stream", "right", NULL);
    CHECK_INT(a.r.status, 201);
    CHECK_INT(status("GET", "/v2/p/blobs/sha256:..%2f..%2fetc"), 400);
    CHECK_INT(status("GET", "/v2/a%2f..%2fb/manifests/x"), 400);
    CHECK_INT(status("GET", "/v2/UP/manifests/x"), 400);
    stop_server(SIGTERM);
}

TEST(registry_checks_manifests)
{
    static const struct {
        const char *type, *body;
        int status;
        const char *code;
    } cases[] = {
        {MT_OCI_MANIFEST, "{", 400, "MANIFEST_INVALID"},
        {MT_OCI_MANIFEST, "{\"schemaVersion\":1}", 400, "MANIFEST_INVALID"},
        {MT_OCI_MANIFEST, "{\"schemaVersion\":2,\"mediaType\":\"" MT_OCI_INDEX "\"}", 400,
         "MANIFEST_INVALID"},
        {"text/plain", "{\"schemaVersion\":2}", 400, "MANIFEST_INVALID"},
        {MT_OCI_MANIFEST,
         "{\"schemaVersion\":2,\"config\":{\"size\":1,\"digest\":\"sha256:000000000000000000000000"
         "0000000000000000000000000000000000000000\"},\"layers\":[]}", 400,
         "MANIFEST_BLOB_UNKNOWN"},
    };
    struct answer a;
    start_server(t_dir());
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ask(&a, "PUT", "/v2/m/manifests/t", cases[i].type, cases[i].body, NULL);
        CHECK_MSG(a.r.status == cases[i].status && str_eq(error_code(&a), cases[i].code),
                  "case %zu: %d %s", i, a.r.status, a.body.p);
    }
    ask(&a, "GET", "/v2/m/manifests/t", NULL, NULL, NULL);
    CHECK_STR(error_code(&a), "NAME_UNKNOWN");
    struct image_desc d;
    push(make_image(&d, "x"), &d, "m:t", NULL);
    ask(&a, "GET", "/v2/m/manifests/other", NULL, NULL, NULL);
    CHECK_STR(error_code(&a), "MANIFEST_UNKNOWN");
    char url[200];
    str_fmt(url, sizeof url, "/v2/m/manifests/%s", d.digest);
    CHECK_INT(status("DELETE", url), 202);
    CHECK_INT(status("HEAD", "/v2/m/manifests/t"), 404);
    stop_server(SIGTERM);
}

TEST(registry_never_acknowledges_what_is_not_stored)
{
    enum { BIG = 300000 };
    struct answer a;
    char digest[DIGEST_TEXT], url[300], *big = KEEP(xcalloc(1, BIG + 1));
    memset(big, 'x', BIG);
    digest_of(big, BIG, digest);
    file_limit = 100000;                  /* the disk is full behind 100 kB */
    start_server(t_dir());
    str_fmt(url, sizeof url, "/v2/p/blobs/uploads/?digest=%s", digest);
    ask(&a, "POST", url, "application/octet-stream", big, NULL);
    CHECK_MSG(a.r.status >= 500, "%d", a.r.status);
    str_fmt(url, sizeof url, "/v2/p/blobs/%s", digest);
    CHECK_INT(status("HEAD", url), 404);
    digest_of("small", 5, digest);
    str_fmt(url, sizeof url, "/v2/p/blobs/uploads/?digest=%s", digest);
    ask(&a, "POST", url, "application/octet-stream", "small", NULL);
    CHECK_INT(a.r.status, 201);
    stop_server(SIGTERM);
}

/* An upload that is cut goes on where the registry says it stands. */
TEST(registry_keeps_a_cut_upload)
{
    struct answer a;
    char digest[DIGEST_TEXT], where[600], url[800];
    start_server(t_dir());
    digest_of("abcdef", 6, digest);
    ask(&a, "POST", "/v2/p/blobs/uploads/", NULL, NULL, NULL);
    str_copy(where, sizeof where, a.r.location);
    ask(&a, "PATCH", where, "application/octet-stream", "abcd", NULL);
    CHECK_INT(a.r.status, 202);
    /* the digest of a part is refused, and nothing of it is kept */
    str_fmt(url, sizeof url, "%s?digest=%s", where, digest);
    ask(&a, "PUT", url, NULL, NULL, NULL);
    CHECK_INT(a.r.status, 400);
    ask(&a, "GET", where, NULL, NULL, NULL);
    CHECK_INT(a.r.status, 404);
    ask(&a, "POST", "/v2/p/blobs/uploads/", NULL, NULL, NULL);
    str_copy(where, sizeof where, a.r.location);
    CHECK_INT(status("DELETE", where), 204);
    CHECK_INT(status("GET", where), 404);
    stop_server(SIGTERM);
}

int main(int argc, char **argv)
{
    if (argc == 3 && str_eq(argv[1], "serve"))
        return serve(argv[2], STDOUT_FILENO);
    return t_main(argc, argv);
}
