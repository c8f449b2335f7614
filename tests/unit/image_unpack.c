/* image_unpack.c - layers that try to leave the root, whiteouts, hard links,
 * symlinked folders, damaged blobs; as the user who runs the tests, and as an
 * unprivileged one when that is root. */
#include "tests/t.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/digest.h"
#include "k8s/image/unpack.h"
#include "tests/unit/image_keep.h"

/* One entry: kind "d" folder, "f" file, "l" symlink, "h" hard link, "c" device. */
struct item {
    char kind;
    const char *path, *data;      /* data: content or link target */
    int mode;
};

static char *make_layer(const char *name, const struct item *items, size_t n, bool gzip)
{
    char *path = KEEP(xasprintf("%s/%s.tar", t_dir(), name));
    struct archive *a = archive_write_new();
    archive_write_set_format_pax_restricted(a);
    if (gzip)
        archive_write_add_filter_gzip(a);
    CHECK(archive_write_open_filename(a, path) == ARCHIVE_OK);
    for (size_t i = 0; i < n; i++) {
        const struct item *it = &items[i];
        struct archive_entry *e = archive_entry_new();
        archive_entry_set_pathname(e, it->path);
        archive_entry_set_perm(e, (mode_t)(it->mode ? it->mode : it->kind == 'd' ? 0755 : 0644));
        archive_entry_set_mtime(e, 1000000, 0);
        archive_entry_set_filetype(e, it->kind == 'd' ? AE_IFDIR : it->kind == 'l' ? AE_IFLNK
                                      : it->kind == 'c' ? AE_IFCHR : AE_IFREG);
        if (it->kind == 'l')
            archive_entry_set_symlink(e, it->data);
        if (it->kind == 'h')
            archive_entry_set_hardlink(e, it->data);
        if (it->kind == 'f')
            archive_entry_set_size(e, (la_int64_t)strlen(it->data));
        CHECK(archive_write_header(a, e) >= ARCHIVE_WARN);
        if (it->kind == 'f')
            archive_write_data(a, it->data, strlen(it->data));
        archive_entry_free(e);
    }
    CHECK(archive_write_close(a) == ARCHIVE_OK);
    archive_write_free(a);
    return path;
}

static int root_fd(const char *name)
{
    char *path = KEEP(xasprintf("%s/%s", t_dir(), name));
    mkdir(path, 0755);
    int fd = open(path, O_RDONLY | O_DIRECTORY);
    CHECK(fd >= 0);
    return fd;
}

static struct unpack_stats stats;
static struct pd_err err;

static enum pd_code apply(int root, const char *layer)
{
    struct unpack_options opt = {.keep_owner = false};
    return unpack_layer(layer, NULL, NULL, root, &opt, &stats, &err);
}

#define LAYER(name, ...)                                                                          \
    make_layer(name, (const struct item[]){__VA_ARGS__},                                          \
               sizeof((const struct item[]){__VA_ARGS__}) / sizeof(struct item), true)

static const char *content(int root, const char *path)
{
    static char buf[200];
    int fd = openat(root, path, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof buf - 1);
    if (fd >= 0)
        close(fd);
    if (n < 0)
        return "(none)";
    buf[n] = '\0';
    return buf;
}

static bool exists(int root, const char *path)
{
    struct stat st;
    return fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

TEST(unpack_stays_inside_the_root)
{
    int root = root_fd("root"), outside = root_fd("out");
    char *out = KEEP(xasprintf("%s/out", t_dir()));
    char *dots = KEEP(xasprintf("dots%s/dots", out)), *up = "../out/up";
    char *absolute = KEEP(xasprintf("%s/absolute", out));
    CHECK_OK(apply(root, LAYER("a", {'f', up, "1", 0}, {'f', absolute, "2", 0},
                               {'l', "link", out, 0}, {'f', "link/through", "3", 0},
                               {'l', "dots", "../../../../../../..", 0},
                               {'f', dots, "4", 0}, {'d', "..", "", 0})));
    struct stat st;
    CHECK(fstat(outside, &st) == 0);
    CHECK_INT(st.st_nlink, 2);
    CHECK(!exists(outside, "up") && !exists(outside, "absolute") && !exists(outside, "through") &&
          !exists(outside, "dots"));
    CHECK_STR(content(root, "out/up"), "1");
}

TEST(unpack_symlinked_folders_lead_inside)
{
    int root = root_fd("root");
    CHECK_OK(apply(root, LAYER("a", {'d', "usr/", "", 0}, {'d', "usr/bin/", "", 0},
                               {'l', "bin", "usr/bin", 0}, {'l', "abs", "/usr/bin", 0},
                               {'f', "bin/one", "1", 0}, {'f', "abs/two", "2", 0},
                               {'l', "up", "../../usr/bin", 0}, {'f', "up/three", "3", 0})));
    CHECK_STR(content(root, "usr/bin/one"), "1");
    CHECK_STR(content(root, "usr/bin/two"), "2");
    CHECK_STR(content(root, "usr/bin/three"), "3");
    struct stat st;
    CHECK(fstatat(root, "bin", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode));
    /* an upper layer that names the folder itself replaces the link */
    CHECK_OK(apply(root, LAYER("b", {'d', "bin/", "", 0}, {'f', "bin/own", "4", 0})));
    CHECK_STR(content(root, "bin/own"), "4");
    CHECK(!exists(root, "usr/bin/own"));
}

TEST(unpack_whiteouts_act_on_lower_layers)
{
    int root = root_fd("root");
    CHECK_OK(apply(root, LAYER("a", {'f', "keep", "1", 0}, {'f', "gone", "2", 0},
                               {'d', "dir/", "", 0}, {'f', "dir/a", "3", 0},
                               {'f', "dir/sub/b", "4", 0}, {'d', "full/", "", 0},
                               {'f', "full/x", "5", 0}, {'l', "lnk", "keep", 0})));
    CHECK_OK(apply(root, LAYER("b", {'f', ".wh.gone", "", 0}, {'f', "dir/new", "6", 0},
                               {'f', "dir/.wh..wh..opq", "", 0}, {'f', "dir/late", "7", 0},
                               {'f', ".wh.full", "", 0}, {'f', ".wh.lnk", "", 0},
                               {'f', ".wh.never", "", 0})));
    CHECK(exists(root, "keep") && !exists(root, "gone") && !exists(root, "full"));
    CHECK(!exists(root, "dir/a") && !exists(root, "dir/sub"));
    CHECK(exists(root, "dir/new") && exists(root, "dir/late"));
    CHECK(!exists(root, "lnk"));
    CHECK_STR(content(root, "keep"), "1");
    CHECK(!exists(root, ".wh.gone") && !exists(root, "dir/.wh..wh..opq"));
    /* recreated in the same layer, the whiteout first or last */
    CHECK_OK(apply(root, LAYER("c", {'f', "keep", "new", 0}, {'f', ".wh.keep", "", 0})));
    CHECK_STR(content(root, "keep"), "new");
}

TEST(unpack_whiteouts_name_nothing_outside)
{
    int root = root_fd("root"), outside = root_fd("out");
    close(openat(outside, "precious", O_CREAT | O_WRONLY, 0600));
    char *out = KEEP(xasprintf("%s/out", t_dir()));
    enum pd_code rc = apply(root, LAYER("a", {'l', "l", out, 0}, {'f', "l/.wh.precious", "", 0}));
    CHECK(rc == PD_OK);
    rc = apply(root, LAYER("b", {'f', ".wh...", "", 0}));
    CHECK_INT(rc, PD_IMAGE);
    rc = apply(root, LAYER("c", {'f', "a/.wh.", "", 0}));
    CHECK_INT(rc, PD_IMAGE);
    CHECK(exists(outside, "precious"));
}

TEST(unpack_hard_links_stay_inside)
{
    int root = root_fd("root"), outside = root_fd("out");
    close(openat(outside, "secret", O_CREAT | O_WRONLY, 0600));
    CHECK_OK(apply(root, LAYER("a", {'f', "d/one", "1", 0}, {'h', "two", "d/one", 0},
                               {'h', "./three", "/d/one", 0})));
    struct stat a, b;
    CHECK(fstatat(root, "d/one", &a, 0) == 0 && fstatat(root, "two", &b, 0) == 0);
    CHECK_INT(a.st_ino, b.st_ino);
    CHECK_INT(a.st_nlink, 3);
    char *target = KEEP(xasprintf("%s/out/secret", t_dir()));
    CHECK_INT(apply(root, LAYER("b", {'h', "stolen", target, 0})), PD_IMAGE);
    CHECK_HAS(err.msg, "hard link");
    CHECK_INT(apply(root, LAYER("c", {'h', "stolen", "../out/secret", 0})), PD_IMAGE);
    /* a file over one name leaves the other as it was */
    CHECK_OK(apply(root, LAYER("d", {'f', "two", "new", 0})));
    CHECK_STR(content(root, "d/one"), "1");
    CHECK_STR(content(root, "two"), "new");
}

TEST(unpack_replaces_kinds)
{
    int root = root_fd("root");
    CHECK_OK(apply(root, LAYER("a", {'f', "d/x/y", "1", 0}, {'f', "f", "2", 0},
                               {'l', "l", "f", 0})));
    CHECK_OK(apply(root, LAYER("b", {'f', "d", "file", 0}, {'d', "f/", "", 0},
                               {'f', "l", "own", 0})));
    CHECK_STR(content(root, "d"), "file");
    CHECK(exists(root, "f/."));
    CHECK_STR(content(root, "l"), "own");
}

TEST(unpack_sets_modes_and_times)
{
    int root = root_fd("root");
    umask(077);
    CHECK_OK(apply(root, LAYER("a", {'d', "d/", "", 0755}, {'f', "d/x", "1", 0755},
                               {'f', "s", "2", 04755}, {'f', "r", "3", 0444},
                               {'d', "ro/", "", 0555}, {'f', "ro/in", "4", 0})));
    struct stat st;
    CHECK(fstatat(root, "d", &st, 0) == 0);
    CHECK_INT(st.st_mode & 07777, 0755);
    CHECK_INT(st.st_mtime, 1000000);
    CHECK(fstatat(root, "d/x", &st, 0) == 0);
    CHECK_INT(st.st_mode & 07777, 0755);
    CHECK_INT(st.st_mtime, 1000000);
    CHECK(fstatat(root, "s", &st, 0) == 0);
    CHECK_INT(st.st_mode & 07777, 0755);          /* no setuid unless the owner is kept */
    CHECK(fstatat(root, "r", &st, 0) == 0);
    CHECK_INT(st.st_mode & 07777, 0444);
    CHECK(fstatat(root, "ro", &st, 0) == 0);
    CHECK_INT(st.st_mode & 0700, 0700);           /* stays removable */
}

TEST(unpack_skips_devices_without_root)
{
    int root = root_fd("root");
    CHECK_OK(apply(root, LAYER("a", {'c', "dev/null", "", 0}, {'f', "x", "1", 0})));
    CHECK(!exists(root, "dev/null"));
    CHECK_INT(stats.skipped_devices, 1);
}

TEST(unpack_verifies_digests)
{
    int root = root_fd("root");
    struct unpack_options opt = {0};
    char digest[DIGEST_TEXT], diff[DIGEST_TEXT];
    struct str text;
    struct pd_err e = {0};
    const struct item items[] = {{'f', "x", "1", 0}};
    char *plain = make_layer("plain", items, 1, false), *zip = make_layer("zip", items, 1, true);
    str_init(&text, 1 << 20);
    CHECK(path_read(plain, 1 << 20, &text, &e) == PD_OK);
    digest_of(text.p, text.len, diff);
    str_clear(&text);
    CHECK(path_read(zip, 1 << 20, &text, &e) == PD_OK);
    digest_of(text.p, text.len, digest);
    KEEP(text.p);
    CHECK_INT(unpack_layer(zip, digest, diff, root, &opt, &stats, &err), PD_OK);
    CHECK_INT(unpack_layer(plain, diff, diff, root, &opt, &stats, &err), PD_OK);
    CHECK_INT(unpack_layer(zip, diff, diff, root, &opt, &stats, &err), PD_IMAGE);
    CHECK_HAS(err.msg, "damaged");
    CHECK_INT(unpack_layer(zip, digest, digest, root, &opt, &stats, &err), PD_IMAGE);
    CHECK_HAS(err.msg, "config promises");
    /* cut in the middle */
    CHECK(truncate(zip, (off_t)text.len / 2) == 0);
    CHECK_INT(unpack_layer(zip, digest, diff, root, &opt, &stats, &err), PD_IMAGE);
}

TEST(unpack_has_a_ceiling)
{
    int root = root_fd("root");
    struct unpack_options opt = {.max_bytes = 5};
    struct unpack_stats s = {0};
    CHECK_INT(unpack_layer(LAYER("a", {'f', "x", "123", 0}, {'f', "y", "456", 0}), NULL, NULL, root,
                           &opt, &s, &err), PD_LIMIT);
}

TEST(unpack_deep_and_odd_names)
{
    int root = root_fd("root");
    char deep[3000] = "";
    for (int i = 0; i < 200; i++)
        memcpy(deep + 10 * i, "folder-00/", 11);
    memcpy(deep + 2000, "end", 4);
    CHECK_OK(apply(root, LAYER("a", {'f', deep, "deep", 0},
                               {'f', "\xe6\xb7\xb1/\xc3\xa9", "utf8", 0},
                               {'f', "sp ace/new\nline", "odd", 0}, {'f', "latin\xe9", "raw", 0},
                               {'f', "./././a//b/./c", "dots", 0})));
    CHECK_STR(content(root, deep), "deep");
    CHECK_STR(content(root, "\xe6\xb7\xb1/\xc3\xa9"), "utf8");
    CHECK_STR(content(root, "sp ace/new\nline"), "odd");
    CHECK_STR(content(root, "latin\xe9"), "raw");
    CHECK_STR(content(root, "a/b/c"), "dots");
}

TEST(unpack_works_unprivileged)
{
    if (geteuid() != 0)
        t_skip("the other tests run unprivileged already");
    char *dir = KEEP(xasprintf("%s/home", t_dir()));
    char *a = LAYER("a", {'d', "ro/", "", 0555}, {'f', "ro/x", "1", 0},
                    {'f', "etc/shadow", "s", 0600},
                    {'c', "dev/null", "", 0});
    char *b = LAYER("b", {'f', "ro/.wh.x", "", 0}, {'f', "ro/y", "2", 0});
    CHECK(mkdir(dir, 0755) == 0 && chown(dir, 12345, 12345) == 0);
    CHECK(chmod(t_dir(), 0755) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (setgid(12345) != 0 || setuid(12345) != 0)
            _exit(9);
        int root = open(dir, O_RDONLY | O_DIRECTORY);
        _exit(apply(root, a) == PD_OK && apply(root, b) == PD_OK && exists(root, "ro/y") &&
              !exists(root, "ro/x") && exists(root, "etc/shadow") ? 0 : 1);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_INT(status, 0);
}

T_MAIN
