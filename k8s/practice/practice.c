/* practice.c - the practice cluster's folder, locks and files (practice.h). */
#include "k8s/practice/practice.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/mem.h"
#include "core/base/path.h"

char *practice_dir(struct pd_err *err)
{
    char *dir = path_home(PATH_STATE, "practice");
    if (path_mkdirs(dir, 0700, err) == PD_OK)
        return dir;
    free(dir);
    return NULL;
}

int practice_lock(const char *dir, const char *name, int wait_ms)
{
    char *path = path_join(dir, name);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int64_t until = clock_ms() + wait_ms;
    free(path);
    while (fd >= 0 && flock(fd, wait_ms < 0 ? LOCK_EX : LOCK_EX | LOCK_NB) != 0) {
        bool again = errno == EINTR || errno == EWOULDBLOCK;
        if (again && (wait_ms < 0 || clock_ms() < until)) {
            poll(NULL, 0, 10);
            continue;
        }
        close(fd);
        return -1;
    }
    return fd;
}

void practice_look(const char *dir, struct practice_state *out)
{
    struct pd_err err;
    struct json *j = NULL;
    char *path = path_join(dir, "server.json");
    memset(out, 0, sizeof *out);
    int fd = practice_lock(dir, "lock", 0);
    out->running = fd < 0;
    if (fd >= 0)
        close(fd);
    if (access(path, F_OK) == 0 && json_read_file(path, 4096, &j, &err) == PD_OK) {
        out->port = (int)json_int(j, "port", 0);
        out->pid = out->running ? (int)json_int(j, "pid", 0) : 0;
        out->since_ms = json_int(j, "since_ms", 0);
    }
    json_free(j);
    free(path);
}

/* Whole or not at all, but not synced: these files are made anew at each start,
 * and a sync each would cost a third of its time. */
static enum pd_code write_file(const char *path, const char *text, struct pd_err *err)
{
    char *temporary = xasprintf("%s.%d", path, (int)getpid());
    size_t n = strlen(text);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, text, n) == (ssize_t)n;
    if (fd >= 0)
        ok = close(fd) == 0 && ok;
    enum pd_code code = PD_OK;
    if (!ok || rename(temporary, path) != 0) {
        code = pd_fail_errno(err, PD_IO, "%s can't be written", path);
        unlink(temporary);
    }
    free(temporary);
    return code;
}

enum pd_code practice_write_state(const char *dir, int port, struct pd_err *err)
{
    char *path = path_join(dir, "server.json");
    struct json *j = json_new_object();
    json_put_num(j, "pid", getpid());
    json_put_num(j, "port", port);
    json_put_num(j, "since_ms", (double)clock_wall_ms());
    json_put_str(j, "version", PODIUM_VERSION);
    char *text = json_text(j, 0);
    enum pd_code code = write_file(path, text, err);
    free(text);
    json_free(j);
    free(path);
    return code;
}

static char *base64(const char *text)
{
    size_t n = strlen(text);
    char *out = xmalloc(n / 3 * 4 + 8);
    EVP_EncodeBlock((unsigned char *)out, (const unsigned char *)text, (int)n);
    return out;
}

enum pd_code practice_write_kubeconfig(const char *dir, const char *user, const char *token,
                                       const char *ca_pem, int port, struct pd_err *err)
{
    bool student = strcmp(user, "student") == 0;
    const char *context = student ? "podium-practice" : "podium-practice-admin";
    char *path = path_join(dir, student ? "kubeconfig" : "admin.kubeconfig");
    char *ca = base64(ca_pem);
    char *text = xasprintf(
        "apiVersion: v1\n"
        "kind: Config\n"
        "current-context: %s\n"
        "clusters:\n"
        "- name: podium-practice\n"
        "  cluster:\n"
        "    server: https://127.0.0.1:%d\n"
        "    certificate-authority-data: %s\n"
        "users:\n"
        "- name: %s\n"
        "  user:\n"
        "    token: %s\n"
        "contexts:\n"
        "- name: %s\n"
        "  context:\n"
        "    cluster: podium-practice\n"
        "    user: %s\n"
        "    namespace: default\n",
        context, port, ca, user, token, context, user);
    enum pd_code code = write_file(path, text, err);
    OPENSSL_cleanse(text, strlen(text));
    free(text);
    free(ca);
    free(path);
    return code;
}
