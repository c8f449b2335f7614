/* labs_model.c - a pretrained model is found, or fetched, checked and unpacked: a
 * wheel of our own behind a server that cuts, lies and goes on where it was. */
#include "labs/model.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "tests/api/client_fake.h"

enum { SIZE = 200000 };
static char *wheel;               /* the bytes that the server has */
static size_t wheel_n;
static char content[SIZE];
static struct model_known known = {
    .id = "m", .title = "M", .file = "m.gguf", .bytes = SIZE, .package = "p", .module = "p",
    .member = "p/m.gguf"};
static char file_sum[65], wheel_sum[65];

static void make_wheel(void)
{
    char path[400];
    struct pd_err err;
    struct str bytes;
    struct archive *a = archive_write_new();
    struct archive_entry *e = archive_entry_new();
    for (size_t i = 0; i < SIZE; i++)
        content[i] = (char)(i * 7919 >> 5);
    snprintf(path, sizeof path, "%s/w.zip", t_dir());
    archive_write_set_format_zip(a);
    CHECK(archive_write_open_filename(a, path) == ARCHIVE_OK);
    archive_entry_set_pathname(e, "p/m.gguf");
    archive_entry_set_size(e, SIZE);
    archive_entry_set_filetype(e, AE_IFREG);
    CHECK(archive_write_header(a, e) == ARCHIVE_OK);
    CHECK(archive_write_data(a, content, SIZE) == SIZE);
    archive_entry_free(e);
    archive_write_free(a);
    str_init(&bytes, 1 << 20);
    CHECK_OK(path_read(path, 1 << 20, &bytes, &err));
    wheel = bytes.p;
    wheel_n = bytes.len;
    CHECK_OK(model_sha256(path, wheel_sum, &err));
    snprintf(path, sizeof path, "%s/raw", t_dir());
    CHECK_OK(path_write_atomic(path, 0644, content, SIZE, &err));
    CHECK_OK(model_sha256(path, file_sum, &err));
    known.wheel_bytes = (int64_t)wheel_n;
    known.wheel_sha256 = wheel_sum;
    known.sha256 = file_sum;
    setenv("XDG_DATA_HOME", t_dir(), 1);
    unsetenv("PODIUM_MODELS");
}

/* The whole, or what a Range asks for; the first answer breaks in the middle. */
static void serve(struct fake_conn *c)
{
    while (fake_request(c)) {
        char head[300], range[64] = "";
        fake_header(c, "Range", range, sizeof range);
        size_t from = str_starts(range, "bytes=") ? (size_t)atol(range + 6) : 0;
        bool cut = __atomic_fetch_add(&c->s->counter[0], 1, __ATOMIC_SEQ_CST) == 0;
        snprintf(head, sizeof head, "HTTP/1.1 %d OK\r\nContent-Length: %zu\r\n\r\n",
                 from ? 206 : 200, wheel_n - from);
        fake_say(c, head);
        fake_put(c, wheel + from, cut ? wheel_n / 2 : wheel_n - from);
        if (cut)
            return;
    }
}

static void serve_page(struct fake_conn *c)
{
    while (fake_request(c))
        fake_reply(c, 200, "text/html", "", "<html>sign in</html>");
}

static void serve_none(struct fake_conn *c)
{
    while (fake_request(c))
        fake_reply(c, 404, "text/plain", "", "no");
}

static int64_t told;
static void tell(void *arg, int64_t done, int64_t total)
{
    CHECK(done >= told && total == *(int64_t *)arg);
    told = done;
}

static enum pd_code get(struct fake *f, struct pd_err *err)
{
    char base[64], url[128];
    struct model_progress p = {tell, &known.wheel_bytes};
    snprintf(url, sizeof url, "%s/w.whl", fake_base(f, base));
    told = 0;
    return model_get(&known, url, &p, err);
}

TEST(a_cut_fetch_goes_on_and_the_file_is_checked)
{
    struct pd_err err;
    make_wheel();
    struct fake f = fake_start(serve);
    CHECK(model_file(&known) == NULL);
    CHECK(get(&f, &err) != PD_OK);
    CHECK_HAS(err.hint, "PODIUM_MODELS");
    CHECK(model_file(&known) == NULL);
    CHECK_OK(get(&f, &err));
    CHECK_INT(told, (int64_t)wheel_n);
    char *path = model_file(&known), hex[65];
    CHECK(path != NULL);
    CHECK_OK(model_sha256(path, hex, &err));
    CHECK_STR(hex, file_sum);
    CHECK(strstr(f.s->head, "Range: bytes=") || strstr(f.s->head, "range: bytes="));
    char *part = xasprintf("%s.whl.part", path);
    CHECK(access(part, F_OK) != 0);
    free(part);
    free(path);
    free(wheel);
}

TEST(another_file_is_refused)
{
    struct pd_err err;
    make_wheel();
    struct fake page = fake_start(serve_page), none = fake_start(serve_none);
    CHECK_INT(get(&page, &err), PD_PROTO);
    CHECK_HAS(err.msg, "is not the model");
    CHECK_HAS(err.hint, "nothing was kept");
    CHECK_INT(get(&none, &err), PD_HTTP);
    CHECK_HAS(err.msg, "404");
    CHECK(model_file(&known) == NULL);
    free(wheel);
}

static void lay(const char *dir, size_t n)
{
    struct pd_err err;
    char path[500];
    CHECK_OK(path_mkdirs(dir, 0755, &err));
    snprintf(path, sizeof path, "%s/m.gguf", dir);
    CHECK_OK(path_write_atomic(path, 0644, content, n, &err));
}

TEST(a_python_package_is_found_unless_it_is_cut_off)
{
    char dir[400];
    make_wheel();
    free(wheel);
    setenv("VIRTUAL_ENV", t_dir(), 1);
    snprintf(dir, sizeof dir, "%s/lib/python3.11/site-packages/p", t_dir());
    lay(dir, SIZE - 1);
    CHECK(model_file(&known) == NULL);
    lay(dir, SIZE);
    char *path = model_file(&known);
    CHECK(path != NULL);
    CHECK_HAS(path, "site-packages/p/m.gguf");
    free(path);
    snprintf(dir, sizeof dir, "%s/given", t_dir());
    lay(dir, SIZE);
    setenv("PODIUM_MODELS", dir, 1);
    path = model_file(&known);
    CHECK(path != NULL);
    CHECK_HAS(path, "given/m.gguf");
    free(path);
}

TEST(names)
{
    struct pd_err err;
    CHECK(model_by_id("smollm2-135m-instruct", &err) == model_at(0));
    CHECK(!model_by_id("smolm2-135m-instruct", &err));
    CHECK_HAS(err.hint, "smollm2-135m-instruct");
    CHECK(!model_by_id("x", &err));
    CHECK_HAS(err.hint, "model list");
}

T_MAIN
