/* image_registry.c - the registry client against a scripted registry: retries,
 * resumed uploads and downloads, token login, redirects, and the sentences for
 * error answers. */
#include "tests/t.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/yaml.h"
#include "k8s/image/digest.h"
#include "k8s/image/registry_client.h"
#include "tests/unit/image_keep.h"

/* --- the scripted registry ------------------------------------------------------ */

/* One request and its answer. want: how the request line begins; header: a text
 * that the headers hold, or with ! in front do not; reply: status line and headers,
 * "\n" between them; cut: close after so many bytes of the body. $PORT in texts. */
struct step {
    const char *want, *header, *reply, *body;
    long cut;
    bool drop;                    /* no answer: close in the middle of the request */
};

static int port;
static pid_t registry_pid;

static char *fill(const char *text)
{
    struct str s;
    str_init(&s, 1 << 16);
    for (const char *p = text; *p;) {
        if (str_starts(p, "$PORT")) {
            str_printf(&s, "%d", port);
            p += 5;
        } else if (*p == '\n') {
            str_add(&s, "\r\n");
            p++;
        } else {
            str_addc(&s, *p++);
        }
    }
    return str_take(&s);
}

/* Headers into buf; the body is read and forgotten. False: the client left. */
static bool read_request(int fd, char *buf, size_t size, bool drop)
{
    size_t n = 0;
    char *end = NULL;
    while (!end && n + 1 < size) {
        ssize_t k = read(fd, buf + n, size - 1 - n);
        if (k <= 0)
            return false;
        n += (size_t)k;
        buf[n] = '\0';
        end = strstr(buf, "\r\n\r\n");
    }
    const char *length = strcasestr(buf, "\r\nContent-Length:");
    long left = length ? atol(length + 17) : 0;
    left -= (long)(n - (size_t)(end + 4 - buf));
    if (drop)
        return true;
    static char waste[65536];
    while (left > 0) {
        ssize_t k = read(fd, waste, sizeof waste);
        if (k <= 0)
            return false;
        left -= k;
    }
    end[2] = '\0';
    return true;
}

static void answer(int fd, const struct step *s)
{
    char *head = fill(s->reply);
    size_t n = s->body ? strlen(s->body) : 0, send = s->cut ? (size_t)s->cut : n;
    bool no_body = str_starts(s->want, "HEAD");
    dprintf(fd, "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n", head, n);
    if (!no_body && write(fd, s->body ? s->body : "", send) < 0)
        _exit(3);
    free(head);
}

static void run_script(int listener, const struct step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char buf[16384];
        int fd = accept(listener, NULL, NULL);
        if (fd < 0 || !read_request(fd, buf, sizeof buf, steps[i].drop))
            _exit(2);
        char *want = fill(steps[i].want), *header = steps[i].header ? fill(steps[i].header) : NULL;
        bool not = header && header[0] == '!';
        if (!str_starts(buf, want) || (header && (strcasestr(buf, header + not) != NULL) == not)) {
            dprintf(STDERR_FILENO, "step %zu: want \"%s\" with \"%s\", got:\n%s\n", i, want,
                    header ? header : "", buf);
            _exit(1);
        }
        if (steps[i].drop) {
            struct linger hard = {1, 0};
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        } else {
            answer(fd, &steps[i]);
        }
        close(fd);
        free(want);
        free(header);
    }
}

static void start(const struct step *steps, size_t n)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 8) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&at, &len) == 0);
    port = ntohs(at.sin_port);
    registry_pid = fork();
    if (registry_pid == 0) {
        run_script(fd, steps, n);
        /* nothing may follow */
        struct timeval tv = {0, 300000};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
        _exit(accept(fd, NULL, NULL) >= 0 ? 4 : 0);
    }
    close(fd);
}

#define SCRIPT(...)                                                                               \
    static const struct step script[] = {__VA_ARGS__};                                            \
    start(script, ARRAY_LEN(script))

static void check_script_done(void)
{
    int status;
    CHECK(waitpid(registry_pid, &status, 0) == registry_pid);
    CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the script ended with %x", status);
}

/* --- an image ----------------------------------------------------------------------- */

static struct pd_err err;
static struct registry_auth auth = {.plain_http = true};

#define LAYER_TEXT "0123456789abcdef"
#define LAYER_DIGEST "sha256:9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f"

static struct layout *image(struct image_desc *out)
{
    static const char manifest[] =
        "{\"schemaVersion\":2,\"mediaType\":\"" MT_OCI_MANIFEST "\",\"config\":{\"mediaType\":\""
        MT_OCI_CONFIG "\",\"digest\":\"%s\",\"size\":%d},\"layers\":[{\"mediaType\":\"" MT_OCI_LAYER
        "\",\"digest\":\"" LAYER_DIGEST "\",\"size\":16}]}";
    static const char config[] = "{\"rootfs\":{\"diff_ids\":[\"" LAYER_DIGEST "\"]}}";
    struct layout *l;
    struct image_desc d;
    char *dir = KEEP(xasprintf("%s/layout", t_dir())), text[1000];
    CHECK_OK(layout_open(dir, true, &l, &err));
    KEEP(l);
    CHECK_OK(layout_put(l, MT_OCI_LAYER, LAYER_TEXT, 16, &d, &err));
    CHECK_STR(d.digest, LAYER_DIGEST);
    CHECK_OK(layout_put(l, MT_OCI_CONFIG, config, strlen(config), &d, &err));
    str_fmt(text, sizeof text, manifest, d.digest, (int)d.size);
    CHECK_OK(layout_put(l, MT_OCI_MANIFEST, text, strlen(text), out, &err));
    return l;
}

static enum pd_code push(const char *mount)
{
    struct image_desc d, out;
    struct image_ref ref;
    char text[100];
    struct layout *l = image(&d);
    str_fmt(text, sizeof text, "127.0.0.1:%d/lab/x:v1", port);
    CHECK_OK(ref_parse(text, &ref, &err));
    return registry_client_push(l, &d, &ref, mount, &auth, NULL, &out, &err);
}

#define UPLOADS "POST /v2/lab/x/blobs/uploads/"
#define HEAD_BLOB "HEAD /v2/lab/x/blobs/sha256:"
#define MANIFEST_PUT "PUT /v2/lab/x/manifests/v1", "Content-Type: " MT_OCI_MANIFEST

TEST(client_pushes_in_one_piece)
{
    SCRIPT({HEAD_BLOB, "!Authorization", "404 Not Found", NULL, 0, false},
           {UPLOADS " ", NULL, "202 Accepted\nLocation: /up/1?s=a", NULL, 0, false},
           {"PUT /up/1?s=a&digest=" LAYER_DIGEST, "Content-Length: 16", "201 Created", NULL, 0,
            false},
           {HEAD_BLOB, NULL, "200 OK", NULL, 0, false},
           {MANIFEST_PUT, "201 Created", NULL, 0, false});
    CHECK_OK(push(NULL));
    check_script_done();
}

TEST(client_mounts_from_another_repository)
{
    SCRIPT({HEAD_BLOB, NULL, "404 Not Found", NULL, 0, false},
           {UPLOADS "?mount=" LAYER_DIGEST "&from=lab/other", NULL, "201 Created", NULL, 0, false},
           {HEAD_BLOB, NULL, "200 OK", NULL, 0, false},
           {MANIFEST_PUT, "201 Created", NULL, 0, false});
    CHECK_OK(push("lab/other"));
    check_script_done();
}

TEST(client_retries_and_resumes_an_upload)
{
    SCRIPT({HEAD_BLOB, NULL, "503 Service Unavailable\nRetry-After: 0", NULL, 0, false},
           {HEAD_BLOB, NULL, "404 Not Found", NULL, 0, false},
           {UPLOADS, NULL, "202 Accepted\nLocation: http://127.0.0.1:$PORT/up/1", NULL, 0, false},
           {"PUT /up/1?digest=", NULL, NULL, NULL, 0, true},
           {"GET /up/1", NULL, "204 No Content\nLocation: /up/2\nRange: 0-5", NULL, 0, false},
           {"PATCH /up/2", "Content-Range: 6-15", "202 Accepted\nLocation: /up/3", NULL, 0, false},
           {"PUT /up/3?digest=" LAYER_DIGEST, "Content-Length: 0", "201 Created", NULL, 0, false},
           {HEAD_BLOB, NULL, "200 OK", NULL, 0, false},
           {MANIFEST_PUT, "201 Created", NULL, 0, false});
    CHECK_OK(push(NULL));
    check_script_done();
}

TEST(client_begins_again_when_the_upload_is_lost)
{
    SCRIPT({HEAD_BLOB, NULL, "404 Not Found", NULL, 0, false},
           {UPLOADS, NULL, "202 Accepted\nLocation: /up/1", NULL, 0, false},
           {"PUT /up/1?digest=", NULL, "502 Bad Gateway\nRetry-After: 0", NULL, 0, false},
           {"GET /up/1", NULL, "404 Not Found", NULL, 0, false},
           {UPLOADS, NULL, "202 Accepted\nLocation: /up/9", NULL, 0, false},
           {"PATCH /up/9", "Content-Range: 0-15", "202 Accepted\nLocation: /up/9", NULL, 0, false},
           {"PUT /up/9?digest=", NULL, "201 Created", NULL, 0, false},
           {HEAD_BLOB, NULL, "200 OK", NULL, 0, false},
           {MANIFEST_PUT, "201 Created", NULL, 0, false});
    CHECK_OK(push(NULL));
    check_script_done();
}

TEST(client_does_not_retry_413)
{
    SCRIPT({HEAD_BLOB, NULL, "404 Not Found", NULL, 0, false},
           {UPLOADS, NULL, "202 Accepted\nLocation: /up/1", NULL, 0, false},
           {"PUT /up/1?digest=", NULL, "413 Request Entity Too Large\nContent-Type: text/html",
            "<html><head><title>413 Request Entity Too Large</title></head></html>", 0, false});
    CHECK_INT(push(NULL), PD_LIMIT);
    CHECK_HAS(err.msg, "413");
    CHECK_HAS(err.msg, "16 B");
    CHECK_HAS(err.hint, "client_max_body_size");
    check_script_done();
}

TEST(client_asks_the_realm_for_a_token)
{
    auth.user = xstrdup("me");
    auth.password = xstrdup("pw");
    SCRIPT({HEAD_BLOB, "!Authorization",
            "401 Unauthorized\nWWW-Authenticate: Bearer realm=\"http://127.0.0.1:$PORT/token\","
            "service=\"the registry\",scope=\"repository:lab/x:pull,push\"", NULL, 0, false},
           {"GET /token?service=the%20registry&scope=repository:lab/x:pull,push ",
            "Authorization: Basic bWU6cHc=", "200 OK", "{\"token\":\"T1\"}", 0, false},
           {HEAD_BLOB, "Authorization: Bearer T1", "200 OK", NULL, 0, false},
           {HEAD_BLOB, "Authorization: Bearer T1", "200 OK", NULL, 0, false},
           {MANIFEST_PUT, "201 Created", NULL, 0, false});
    CHECK_OK(push(NULL));
    check_script_done();
}

TEST(client_answers_a_basic_challenge)
{
    char *config = KEEP(xasprintf("%s/config.json", t_dir()));
    SCRIPT({HEAD_BLOB, "!Authorization", "401 Unauthorized\nWWW-Authenticate: Basic realm=\"x\"",
            NULL, 0, false},
           {HEAD_BLOB, "Authorization: Basic bWU6cHc=", "200 OK", NULL, 0, false},
           {HEAD_BLOB, "Authorization: Basic bWU6cHc=", "200 OK", NULL, 0, false},
           {MANIFEST_PUT, "201 Created", NULL, 0, false});
    /* from docker's config.json, for this host alone */
    char *text = KEEP(xasprintf("{\"auths\":{\"other.example\":{\"auth\":\"eDp5\"},"
                           "\"127.0.0.1:%d\":{\"auth\":\"bWU6cHc=\"}}}", port));
    CHECK_OK(path_write_atomic(config, 0600, text, strlen(text), &err));
    setenv("DOCKER_CONFIG", t_dir(), 1);
    CHECK_OK(push(NULL));
    check_script_done();
}

TEST(client_credentials_are_for_their_host_only)
{
    auth.token = xstrdup("secret");
    auth.host = xstrdup("other.example:443");
    SCRIPT({HEAD_BLOB, "!Authorization", "401 Unauthorized\nWWW-Authenticate: Basic realm=\"x\"",
            NULL, 0, false});
    CHECK_INT(push(NULL), PD_AUTH);
    check_script_done();
}

/* --- pulling -------------------------------------------------------------------------- */

#define CONFIG_TEXT "{\"rootfs\":{\"diff_ids\":[\"" LAYER_DIGEST "\"]}}"

static char manifest_text[1000];

static enum pd_code pull(struct layout **l, struct image_desc *out)
{
    struct image_ref ref;
    char text[100], *dir = KEEP(xasprintf("%s/pulled", t_dir()));
    CHECK_OK(layout_open(dir, true, l, &err));
    KEEP(*l);
    str_fmt(text, sizeof text, "127.0.0.1:%d/lab/x:v1", port);
    CHECK_OK(ref_parse(text, &ref, &err));
    return registry_client_pull(*l, &ref, &auth, NULL, out, &err);
}

static void make_manifest(void)
{
    char digest[DIGEST_TEXT];
    digest_of(CONFIG_TEXT, strlen(CONFIG_TEXT), digest);
    str_fmt(manifest_text, sizeof manifest_text,
            "{\"schemaVersion\":2,\"mediaType\":\"" MT_OCI_MANIFEST "\",\"config\":{\"mediaType\":"
            "\"" MT_OCI_CONFIG "\",\"digest\":\"%s\",\"size\":%zu},\"layers\":[{\"mediaType\":\""
            MT_OCI_LAYER "\",\"digest\":\"" LAYER_DIGEST "\",\"size\":16}]}", digest,
            strlen(CONFIG_TEXT));
}

#define GET_BLOB "GET /v2/lab/x/blobs/" LAYER_DIGEST
#define GET_MANIFEST "GET /v2/lab/x/manifests/v1", "Accept: " MT_OCI_MANIFEST ", " MT_OCI_INDEX,  \
                     "200 OK\nContent-Type: " MT_OCI_MANIFEST, manifest_text, 0, false
#define GET_CONFIG "GET /v2/lab/x/blobs/", NULL, "200 OK", CONFIG_TEXT, 0, false

TEST(client_resumes_a_download)
{
    struct layout *l;
    struct image_desc d;
    make_manifest();
    auth.user = xstrdup("me");
    auth.password = xstrdup("pw");
    SCRIPT({GET_MANIFEST}, {GET_CONFIG},
           {GET_BLOB, "!Range:", "200 OK", LAYER_TEXT, 6, false},
           {GET_BLOB, "Range: bytes=6-", "307 Temporary Redirect\nLocation: "
            "http://localhost:$PORT/storage/blob", "", 0, false},
           {"GET /storage/blob", "Range: bytes=6-", "206 Partial Content", "6789abcdef", 0, false});
    CHECK_OK(pull(&l, &d));
    CHECK(layout_has(l, LAYER_DIGEST, 16));
    check_script_done();
}

TEST(client_starts_over_where_ranges_are_unknown)
{
    struct layout *l;
    struct image_desc d;
    make_manifest();
    SCRIPT({GET_MANIFEST}, {GET_CONFIG},
           {GET_BLOB, NULL, "200 OK", LAYER_TEXT, 6, false},
           {GET_BLOB, "Range: bytes=6-", "200 OK", LAYER_TEXT, 0, false});
    CHECK_OK(pull(&l, &d));
    CHECK(layout_has(l, LAYER_DIGEST, 16));
    check_script_done();
}

TEST(client_redirects_carry_no_login)
{
    struct layout *l;
    struct image_desc d;
    make_manifest();
    auth.token = xstrdup("secret");
    SCRIPT({GET_MANIFEST}, {GET_CONFIG},
           {GET_BLOB, "Authorization: Bearer secret",
            "307 Temporary Redirect\nLocation: http://localhost:$PORT/storage", NULL, 0, false},
           {"GET /storage", "!Authorization", "200 OK", LAYER_TEXT, 0, false});
    CHECK_OK(pull(&l, &d));
    check_script_done();
}

TEST(client_refuses_changed_blobs)
{
    struct layout *l;
    struct image_desc d;
    make_manifest();
    SCRIPT({GET_MANIFEST}, {GET_CONFIG}, {GET_BLOB, NULL, "200 OK", "0123456789abcdeX", 0, false});
    CHECK_INT(pull(&l, &d), PD_IMAGE);
    CHECK_HAS(err.msg, "changed on its way");
    CHECK(!layout_has(l, LAYER_DIGEST, -1));
    check_script_done();
}

TEST(client_refuses_another_manifest_than_asked_for)
{
    struct image_ref ref;
    struct image_desc d;
    struct layout *l = image(&d);
    char text[200];
    SCRIPT({"GET /v2/lab/x/manifests/sha256:", NULL, "200 OK\nContent-Type: " MT_OCI_MANIFEST,
            "{\"schemaVersion\":2}", 0, false});
    str_fmt(text, sizeof text, "127.0.0.1:%d/lab/x@" LAYER_DIGEST, port);
    CHECK_OK(ref_parse(text, &ref, &err));
    CHECK_INT(registry_client_pull(l, &ref, &auth, NULL, &d, &err), PD_IMAGE);
    CHECK_HAS(err.msg, "another manifest");
    check_script_done();
}

/* --- sentences ------------------------------------------------------------------------- */

TEST(client_errors_say_what_to_do)
{
    static const struct {
        int status;
        const char *type, *body;
        enum pd_code code;
        const char *msg, *hint;
    } cases[] = {
        {401, "application/json", "{\"errors\":[{\"code\":\"UNAUTHORIZED\",\"message\":\"no\"}]}",
         PD_AUTH, "UNAUTHORIZED, no", "--kubeconfig"},
        {403, "application/json", "{\"errors\":[{\"code\":\"DENIED\"}]}", PD_FORBIDDEN, "DENIED",
         "owner"},
        {404, "application/json", "{\"errors\":[{\"code\":\"MANIFEST_UNKNOWN\"}]}", PD_NOTFOUND,
         "MANIFEST_UNKNOWN", "tag"},
        {413, "text/html", "<html><body>\n<h1>Too big</h1>", PD_LIMIT, "Too big", "nginx"},
        {413, "", "", PD_LIMIT, "Payload Too Large", "client_max_body_size"},
        {502, "text/html", "<html><head><title>502 Bad Gateway</title>", PD_HTTP,
         "502 Bad Gateway", ""},
        {500, "text/plain", "\x1b[31mboo", PD_HTTP, "HTTP 500", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pd_err e = {0};
        CHECK_INT(registry_client_error(cases[i].status, cases[i].type, cases[i].body,
                                        strlen(cases[i].body), "push of layer x", 5, &e),
                  cases[i].code);
        CHECK_HAS(e.msg, cases[i].msg);
        CHECK_HAS(e.hint, cases[i].hint);
        CHECK(!strchr(e.msg, '\x1b'));
    }
}

/* The recorded exchange: a proxy before the registry refuses a layer of 1.2 GiB. */
TEST(client_explains_a_413_of_a_proxy)
{
    struct ydoc *doc;
    struct pd_err e = {0};
    char *path = KEEP(path_join(PODIUM_SOURCE_DIR,
                           "tests/cases/registry/002-413-html-body/exchange.yaml"));
    CHECK_OK(yaml_read_file(path, &doc, &err));
    KEEP(doc);
    const struct ynode *r = yaml_get(doc->root, "response");
    const struct ynode *length = yaml_at(doc->root, "request.headers.Content-Length");
    const char *body = yaml_str(r, "body", "");
    CHECK_INT(registry_client_error((int)yaml_get(r, "status")->number,
                                    yaml_str(yaml_get(r, "headers"), "Content-Type", ""), body,
                                    strlen(body), "push of layer sha256:0c6a",
                                    atoll(length->text), &e), PD_LIMIT);
    CHECK_HAS(e.msg, "413");
    CHECK_HAS(e.msg, "1.2 GiB");
    CHECK_HAS(e.hint, "client_max_body_size");
    CHECK(!strstr(e.msg, "JSON") && !strstr(e.msg, "retry"));
}

T_MAIN
