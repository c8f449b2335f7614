/* train_tar.c - the tar writer: the machine's tar reads back what was there,
 * and the same content gives the same bytes. */
#include "core/base/base.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/train/tar.h"
#include "tests/t.h"

/* Paths live as long as their test. */
static void *kept[4096];
static size_t kept_n;
static char *keep(char *p)
{
    CHECK(kept_n < ARRAY_LEN(kept));
    kept[kept_n++] = p;
    return p;
}

static void write_file(const char *dir, const char *rel, const char *text, int mode)
{
    struct pd_err err;
    char *path = path_join(dir, rel), *above = path_dir(path);
    CHECK_OK(path_mkdirs(above, 0755, &err));
    CHECK_OK(path_write_atomic(path, mode, text, strlen(text), &err));
    CHECK(chmod(path, (mode_t)mode) == 0);
    free(path);
    free(above);
}

static struct str archive(const char *dir, const char *file, int64_t mtime)
{
    struct pd_err err;
    struct str s;
    int fd = open(file, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CHECK(fd >= 0);
    CHECK_OK(tar_write(dir, fd, mtime, &err));
    close(fd);
    str_init(&s, 64 << 20);
    CHECK_OK(path_read(file, 64 << 20, &s, &err));
    return s;
}

static int run(const char *const *argv)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *tree(const char *name)
{
    char *root = keep(path_join(t_dir(), name));
    write_file(root, "adapter_config.json", "{}\n", 0644);
    write_file(root, "run.sh", "#!/bin/sh\n", 0755);
    write_file(root, "empty", "", 0600);
    write_file(root, "a/b/deep.txt", "deep\n", 0644);
    write_file(root, "a.txt", "beside\n", 0644);
    write_file(root, "\xe4\xb8\xad\xe6\x96\x87/x", "zh\n", 0644);
    char name_99[160] = {0}, link[200] = {0};
    memset(name_99, 'n', 150);
    memset(link, 'l', 150);
    write_file(root, name_99, "long name\n", 0644);
    struct str big;
    str_init(&big, 1 << 20);
    for (int i = 0; i < 20000; i++)
        str_printf(&big, "%d\n", i);
    write_file(root, "big", big.p, 0644);
    str_release(&big);
    char *at = keep(path_join(root, "link")), *at2 = keep(path_join(root, "longlink"));
    CHECK(symlink("a/b/deep.txt", at) == 0 && symlink(link, at2) == 0);
    return root;
}

TEST(the_machines_tar_reads_it_back)
{
    const char *root = tree("tree");
    char *file = keep(path_join(t_dir(), "t.tar")), *to = keep(path_join(t_dir(), "out"));
    struct str s = archive(root, file, 1700000000);
    CHECK(s.len % 512 == 0);
    CHECK(mkdir(to, 0755) == 0);
    CHECK_INT(run((const char *[]){"tar", "-C", to, "-xpf", file, NULL}), 0);
    CHECK_INT(run((const char *[]){"diff", "-r", "--no-dereference", root, to, NULL}), 0);
    struct stat st;
    char *script = keep(path_join(to, "run.sh")), *plain = keep(path_join(to, "empty"));
    CHECK(stat(script, &st) == 0 && (st.st_mode & 0777) == 0755 && st.st_mtime == 1700000000);
    CHECK(stat(plain, &st) == 0 && (st.st_mode & 0777) == 0644);
    str_release(&s);
}

TEST(the_same_content_gives_the_same_bytes)
{
    const char *a = tree("one"), *b;
    umask(077);
    b = tree("two");
    char *fa = keep(path_join(t_dir(), "a.tar")), *fb = keep(path_join(t_dir(), "b.tar"));
    struct str sa = archive(a, fa, 0), sb = archive(b, fb, 0);
    CHECK_INT(sa.len, sb.len);
    CHECK(memcmp(sa.p, sb.p, sa.len) == 0);
    str_release(&sa);
    str_release(&sb);
}

/* Fields of the first header, of a folder with one file of 3 bytes. */
TEST(the_header_is_ustar)
{
    char *root = keep(path_join(t_dir(), "r")), *file = keep(path_join(t_dir(), "r.tar"));
    write_file(root, "f", "abc", 0640);
    struct str s = archive(root, file, 0);
    CHECK_INT(s.len, 512 + 512 + 1024);
    CHECK_STR(s.p, "f");
    CHECK_STR(s.p + 100, "0000644");
    CHECK_STR(s.p + 108, "0000000");
    CHECK_STR(s.p + 124, "00000000003");
    CHECK_STR(s.p + 136, "00000000000");
    CHECK_STR(s.p + 257, "ustar");
    CHECK(memcmp(s.p + 263, "00", 2) == 0 && s.p[156] == '0');
    unsigned sum = 0;
    for (int i = 0; i < 512; i++)
        sum += i >= 148 && i < 156 ? ' ' : (unsigned char)s.p[i];
    CHECK_INT(strtol(s.p + 148, NULL, 8), sum);
    CHECK(memcmp(s.p + 512, "abc", 4) == 0);
    for (size_t i = 1024; i < s.len; i++)
        CHECK(s.p[i] == 0);
    str_release(&s);
}

TEST(names_are_sorted)
{
    static const char *const made[] = {"m", "z", "a", "k/x", "k.", "b"};
    static const char *const want[] = {"a", "b", "k/", "k/x", "k.", "m", "z"};
    char *root = keep(path_join(t_dir(), "s")), *file = keep(path_join(t_dir(), "s.tar"));
    for (size_t i = 0; i < ARRAY_LEN(made); i++)
        write_file(root, made[i], "", 0644);
    struct str s = archive(root, file, 0);
    CHECK_INT(s.len, (ARRAY_LEN(want) + 2) * 512);
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        CHECK_STR(s.p + i * 512, want[i]);
    str_release(&s);
}

TEST(one_file_alone)
{
    char *file = keep(path_join(t_dir(), "one.tar")), *f = keep(path_join(t_dir(), "solo"));
    write_file(t_dir(), "solo", "x", 0644);
    struct str s = archive(f, file, 0);
    CHECK_STR(s.p, "solo");
    CHECK_INT(s.len, 2048);
    str_release(&s);
}

TEST(what_it_can_not_write_is_an_error)
{
    struct pd_err err = {0};
    char *root = keep(path_join(t_dir(), "r")), *fifo = keep(path_join(root, "pipe"));
    int fd = open("/dev/null", O_WRONLY), full = open("/dev/full", O_WRONLY);
    CHECK(fd >= 0 && full >= 0);
    CHECK_INT(tar_write(root, fd, 0, &err), PD_IO);
    write_file(root, "f", "abc", 0644);
    CHECK_INT(tar_write(root, full, 0, &err), PD_IO);
    CHECK(mkfifo(fifo, 0600) == 0);
    CHECK_INT(tar_write(root, fd, 0, &err), PD_UNSUPPORTED);
    CHECK_STR(err.src, "pipe");
}

T_MAIN
