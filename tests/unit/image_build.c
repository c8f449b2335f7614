/* image_build.c - the builder: the same digest whatever the circumstances, COPY's
 * rules, base images, errors with their place. */
#include "tests/t.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include <archive_entry.h>

#include "k8s/image/builder.h"
#include "k8s/image/layer_reader.h"
#include "k8s/image/unpack.h"
#include "tests/unit/image_keep.h"

static struct pd_err err;
static int cached, packed;

static void count(void *arg UNUSED, const struct builder_event *e)
{
    if (e->kind == BUILD_LAYER)
        *(e->cached ? &cached : &packed) += 1;
}

static char *at(const char *rel)
{
    return KEEP(xasprintf("%s/%s", t_dir(), rel));
}

static void put(const char *rel, const char *text, int mode)
{
    char *path = at(rel), *dir = KEEP(path_dir(path));
    struct pd_err e = {0};
    CHECK(path_mkdirs(dir, 0777, &e) == PD_OK);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    CHECK(fchmod(fd, (mode_t)mode) == 0);
    close(fd);
}

static struct layout *out;

static enum pd_code build(const char *context, struct image_desc *d, const char *arg)
{
    char *dir = at("out"), *store = at("store"), *cache = at("cache");
    struct builder_spec spec = {.context = context, .store_dir = store, .event = count};
    setenv("XDG_CACHE_HOME", cache, 1);
    if (!out)
        CHECK_OK(layout_open(dir, true, &out, &err));
    KEEP(out);
    spec.out = out;
    strv_init(&spec.build_args);
    if (arg)
        strv_push(&spec.build_args, arg);
    enum pd_code rc = builder_own.build(&spec, d, &err);
    strv_release(&spec.build_args);
    return rc;
}

static void write_context(const char *name, int mode)
{
    char rel[200];
#define P(x) str_fmt(rel, sizeof rel, "%s/%s", name, x)
    put(P("Dockerfile"), "FROM scratch\nWORKDIR /work\nCOPY . /app/\nCMD [\"/app/run\"]\n", 0644);
    put(P(".dockerignore"), "Dockerfile\n.dockerignore\n*.tmp\n", 0644);
    put(P("run"), "#!/bin/sh\n", mode & 0777);
    put(P("b/data.txt"), "data", mode & 0666);
    put(P("a/\xe6\xb7\xb1\xe3\x81\x84.txt"), "utf8", mode & 0666);
    put(P("junk.tmp"), "junk", 0600);
    char *link = KEEP(xasprintf("%s/%s/b/link", t_dir(), name));
    CHECK(symlink("data.txt", link) == 0);
#undef P
}

TEST(build_gives_the_same_digest_everywhere)
{
    struct image_desc first, other;
    umask(022);
    write_context("one", 0755);
    char *one = at("one"), *two = at("two/else/where");
    CHECK_OK(build(one, &first, NULL));
    CHECK(strcmp(first.digest, "") != 0);
    /* another path, umask, modes that keep the x bit, times, locale */
    umask(077);
    write_context("two/else/where", 0700);
    char *file = at("two/else/where/run");
    struct timespec t[2] = {{123456, 789}, {987654, 321}};
    CHECK(utimensat(AT_FDCWD, file, t, 0) == 0);
    setenv("LC_ALL", "C", 1);
    setenv("TZ", "Asia/Shanghai", 1);
    char *fresh = at("fresh");
    CHECK_OK(layout_open(fresh, true, &out, &err));
    KEEP(out);
    CHECK_OK(build(two, &other, NULL));
    CHECK_STR(other.digest, first.digest);
    /* another user */
    if (geteuid() == 0) {
        char *dir = at("user");
        CHECK(mkdir(dir, 0777) == 0 && chmod(dir, 0777) == 0 && chmod(t_dir(), 0755) == 0);
        pid_t pid = fork();
        if (pid == 0) {
            char *mine = KEEP(xasprintf("%s/layout", dir));
            bool ok = setgid(4242) == 0 && setuid(4242) == 0 &&
                      layout_open(mine, true, &out, &err) == PD_OK &&
                      build(one, &other, NULL) == PD_OK;
            _exit(ok && str_eq(other.digest, first.digest) ? 0 : 1);
        }
        int status;
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK_INT(status, 0);
    }
    /* what counts does change it */
    put("one/b/data.txt", "Data", 0644);
    CHECK_OK(build(one, &other, NULL));
    CHECK(strcmp(other.digest, first.digest) != 0);
}

/* The digest of a known context: a change of format is a change of every image. */
TEST(build_digest_is_fixed)
{
    struct image_desc d;
    put("c/Dockerfile", "FROM scratch\nCOPY hello /\nENTRYPOINT [\"/hello\"]\n", 0644);
    put("c/hello", "hello\n", 0755);
    char *c = at("c");
    CHECK_OK(build(c, &d, NULL));
    struct image *im;
    CHECK_OK(image_load(out, &d, &im, &err));
    KEEP(im);
    CHECK_STR(im->layers[0].diff_id,
              "sha256:1ae252da58ef6ca034cb0e2b3a974c4903e8e288ba050a4c3049f9eb25bf0c14");
    CHECK_STR(json_str(im->config_json, "created", ""), "1970-01-01T00:00:00Z");
    CHECK_STR(json_str(im->config_json, "architecture", ""), "amd64");
    CHECK_INT(json_count(json_get(im->config_json, "history")), 2);
    CHECK_OK(build(c, &d, "SOURCE_DATE_EPOCH=86400"));
    CHECK_OK(image_load(out, &d, &im, &err));
    KEEP(im);
    CHECK_STR(json_str(im->config_json, "created", ""), "1970-01-02T00:00:00Z");
    CHECK_INT(build(c, &d, "SOURCE_DATE_EPOCH=soon"), PD_USAGE);
}

TEST(build_takes_layers_from_the_cache)
{
    struct image_desc a, b;
    write_context("one", 0755);
    char *one = at("one"), *blob;
    CHECK_OK(build(one, &a, NULL));
    CHECK_INT(packed, 2);
    CHECK_OK(build(one, &b, NULL));
    CHECK_INT(cached, 2);
    CHECK_STR(a.digest, b.digest);
    /* a blob that is gone is packed again */
    struct image *im;
    CHECK_OK(image_load(out, &a, &im, &err));
    KEEP(im);
    blob = KEEP(layout_blob_path(out, im->layers[1].desc.digest));
    CHECK(unlink(blob) == 0);
    CHECK_OK(build(one, &b, NULL));
    CHECK_INT(packed, 3);
    CHECK_STR(a.digest, b.digest);
}

static int unpack(const struct image_desc *d, const char *name)
{
    struct image *im;
    struct unpack_options opt = {0};
    struct unpack_stats stats = {0};
    char *root = at(name);
    CHECK_OK(image_load(out, d, &im, &err));
    KEEP(im);
    CHECK_OK(unpack_image(out, im, root, &opt, &stats, &err));
    int fd = open(root, O_RDONLY | O_DIRECTORY);
    CHECK(fd >= 0);
    return fd;
}

static bool is(int root, const char *path, mode_t type, int perm)
{
    struct stat st;
    return fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && (st.st_mode & S_IFMT) == type &&
           (perm < 0 || (int)(st.st_mode & 07777) == perm);
}

/* The names in a layer, a line each. */
static const char *names_in(const struct image_layer *layer)
{
    static struct str s;
    struct layer_reader *r;
    struct archive_entry *e;
    char *path = KEEP(layout_blob_path(out, layer->desc.digest));
    str_init(&s, 1 << 16);
    CHECK_OK(layer_reader_open(path, &r, &err));
    for (;;) {
        CHECK_OK(layer_reader_next(r, &e, &err));
        if (!e)
            break;
        str_printf(&s, "%s\n", archive_entry_pathname(e));
    }
    CHECK_OK(layer_reader_finish(r, layer->desc.digest, layer->diff_id, &err));
    layer_reader_close(r);
    return KEEP(s.p);
}

/* Text, noise and zeros by turns: the layer reads back, and noise costs little. */
TEST(build_packs_every_kind_of_bytes)
{
    enum { PART = 300000, PARTS = 7 };
    struct image_desc d;
    struct image *im;
    char *data = KEEP(xmalloc(PART * PARTS + 1)), *c = at("c");
    uint32_t x = 1;
    for (size_t i = 0; i < PART * PARTS; i++) {
        x = x * 1664525 + 1013904223;
        size_t kind = i / PART % 3;
        data[i] = kind == 0 ? "some text "[i % 10] : kind == 1 ? (char)(x >> 24 | 1) : 'z';
    }
    data[PART * PARTS] = '\0';
    put("c/Dockerfile", "FROM scratch\nCOPY data /\n", 0644);
    put("c/data", data, 0644);
    CHECK_OK(build(c, &d, NULL));
    CHECK_OK(image_load(out, &d, &im, &err));
    KEEP(im);
    CHECK_STR(names_in(&im->layers[0]), "data\n");
    CHECK(im->layers[0].desc.size < 2 * PART + PART / 5);
    int root = unpack(&d, "root"), fd = openat(root, "data", O_RDONLY);
    char *back = KEEP(xcalloc(1, PART * PARTS + 1));
    CHECK(read(fd, back, PART * PARTS) == PART * PARTS);
    CHECK(memcmp(data, back, PART * PARTS) == 0);
}

TEST(build_copy_follows_dockers_rules)
{
    struct image_desc d;
    put("c/Dockerfile",
        "FROM scratch\n"
        "ARG DIR=args\n"
        "WORKDIR /w\n"
        "COPY file renamed\n"                     /* a new name, relative */
        "COPY file into/\n"                       /* into a folder that is made */
        "COPY dir /copied\n"                      /* the contents, not the folder */
        "COPY dir/*.py file /globbed/\n"          /* several */
        "COPY --chmod=600 --chown=0:0 file /modes/f\n"
        "COPY [\"with space\", \"/sp ace/\"]\n"
        "COPY file /$DIR/${NO:-x}\n"
        "COPY link /followed\n"
        "WORKDIR sub\n"
        "COPY file .\n", 0644);
    put("c/file", "1", 0644);
    put("c/dir/a.py", "2", 0644);
    put("c/dir/deep/b.py", "3", 0755);
    put("c/with space", "4", 0644);
    char *link = at("c/link"), *inner = at("c/dir/inner");
    CHECK(symlink("file", link) == 0 && symlink("a.py", inner) == 0);
    char *c = at("c");
    CHECK_OK(build(c, &d, NULL));
    int root = unpack(&d, "root");
    CHECK(is(root, "w/renamed", S_IFREG, 0644));
    CHECK(is(root, "w/into/file", S_IFREG, 0644));
    CHECK(is(root, "copied/a.py", S_IFREG, 0644) && is(root, "copied/deep/b.py", S_IFREG, 0755));
    CHECK(is(root, "copied/inner", S_IFLNK, -1) && !is(root, "copied/dir", S_IFDIR, -1));
    CHECK(is(root, "globbed/a.py", S_IFREG, -1) && is(root, "globbed/file", S_IFREG, -1));
    CHECK(!is(root, "globbed/b.py", S_IFREG, -1));
    CHECK(is(root, "modes/f", S_IFREG, 0600));
    CHECK(is(root, "sp ace/with space", S_IFREG, -1));
    CHECK(is(root, "args/x", S_IFREG, -1));
    CHECK(is(root, "followed", S_IFREG, -1));
    CHECK(is(root, "w/sub/file", S_IFREG, -1));
    struct image *im;
    CHECK_OK(image_load(out, &d, &im, &err));
    KEEP(im);
    CHECK_STR(json_str(im->config_json, "config.WorkingDir", ""), "/w/sub");
}

TEST(build_from_a_layout_keeps_symlinked_folders)
{
    struct image_desc base, d;
    put("base/Dockerfile", "FROM scratch\nCOPY root /\nENTRYPOINT [\"/x\"]\nCMD [\"old\"]\n"
                           "ENV A=1 B=2\n", 0644);
    put("base/root/usr/bin/tool", "tool", 0755);
    char *link = at("base/root/bin"), *b = at("base"), *c = at("c"), *oci = at("baseoci");
    CHECK(symlink("usr/bin", link) == 0);
    CHECK_OK(layout_open(oci, true, &out, &err));
    KEEP(out);
    CHECK_OK(build(b, &base, NULL));
    CHECK_OK(layout_tag(out, "v1", &base, &err));
    out = NULL;
    char *text = KEEP(xasprintf("ARG TAG=v1\nFROM oci:%s:$TAG\nCOPY mine /bin/\nCOPY mine /bin\n"
                           "COPY mine /bin/other\nENV A=3\nENTRYPOINT [\"/y\"]\n", oci));
    put("c/Dockerfile", text, 0644);
    put("c/mine", "mine", 0755);
    CHECK_OK(build(c, &d, NULL));
    int root = unpack(&d, "root");
    CHECK(is(root, "bin", S_IFLNK, -1));
    CHECK(is(root, "usr/bin/mine", S_IFREG, 0755) && is(root, "usr/bin/other", S_IFREG, 0755));
    CHECK(is(root, "usr/bin/tool", S_IFREG, 0755));
    struct image *im;
    struct image_run run;
    CHECK_OK(image_load(out, &d, &im, &err));
    KEEP(im);
    image_run_init(im, &run);
    CHECK_STR(names_in(&im->layers[1]), "usr/bin/mine\n");
    CHECK_STR(names_in(&im->layers[3]), "usr/bin/other\n");
    CHECK_STR(run.entrypoint.v[0], "/y");
    CHECK_INT(run.cmd.n, 0);                  /* the base's CMD was for its own ENTRYPOINT */
    CHECK(strv_has(&run.env, "A=3") && strv_has(&run.env, "B=2") && !strv_has(&run.env, "A=1"));
    CHECK_INT(run.env.n, 3);                  /* and PATH */
    image_run_release(&run);
}

TEST(build_errors_have_their_place)
{
    static const struct {
        const char *text, *arg;
        enum pd_code code;
        int line, col;
        const char *msg;
    } cases[] = {
        {"FROM scratch\nCOPY nofile /\n", NULL, PD_IMAGE, 2, 6, "nofile is not in the build"},
        {"FROM scratch\nCOPY ../up /\n", NULL, PD_IMAGE, 2, 6, "outside the build context"},
        {"FROM scratch\nCOPY *.nothing /\n", NULL, PD_IMAGE, 2, 6, "matches *.nothing"},
        {"FROM scratch\nCOPY [x /\n", NULL, PD_PARSE, 2, 6, "malformed"},
        {"FROM scratch\nCOPY file file /x\n", NULL, PD_PARSE, 2, 16, "must be a folder"},
        {"FROM scratch\nCOPY secret /\n", NULL, PD_IMAGE, 2, 6, "left out by .dockerignore"},
        {"FROM scratch\nCOPY file /f\nCOPY file /f/g\n", NULL, PD_IMAGE, 3, 1, "is a file"},
        {"FROM Scratch\nCOPY file /f\n", NULL, PD_IMAGE, 1, 6, "lowercase"},
        {"FROM oci:/nowhere\n", NULL, PD_IMAGE, 1, 6, "no OCI image layout"},
        {"ARG X\nFROM $X\n", NULL, PD_PARSE, 2, 6, "is empty"},
        {"FROM scratch\nARG NAME\n", "NAEM=1", PD_USAGE, 0, 0, "NAEM belongs to no ARG"},
        {"FROM scratch\nENV A='x\n", NULL, PD_PARSE, 2, 7, "single quote"},
        {"FROM scratch\nCOPY --chmod=999 file /\n", NULL, PD_PARSE, 2, 6, "octal"},
        {"FROM scratch\nCOPY --chown=bob file /\n", NULL, PD_IMAGE, 2, 6, "who \"bob\" is"},
        {"FROM scratch\nCOPY pipe /\n", NULL, PD_IMAGE, 2, 1, "neither a file"},
        {"FROM scratch\nEXPOSE 99999\n", NULL, PD_PARSE, 2, 8, "is no port"},
        {"FROM scratch\nRUN x\n", NULL, PD_ENGINE, 2, 1, "engine"},
    };
    struct image_desc d;
    char *c = at("c"), *pipe = at("c/pipe");
    put("c/file", "1", 0644);
    put("c/secret", "1", 0644);
    put("c/.dockerignore", "secret\n", 0644);
    CHECK(mkfifo(pipe, 0600) == 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        put("c/Dockerfile", cases[i].text, 0644);
        memset(&err, 0, sizeof err);
        enum pd_code rc = build(c, &d, cases[i].arg);
        CHECK_MSG(rc == cases[i].code, "case %zu: %s: %s", i, pd_id(rc), err.msg);
        CHECK_HAS(err.msg, cases[i].msg);
        CHECK_MSG(err.line == cases[i].line && err.col == cases[i].col, "case %zu (%s): %d:%d", i,
                  err.msg, err.line, err.col);
        CHECK(err.hint[0]);
    }
}

TEST(build_settings_reach_the_config)
{
    struct image_desc d;
    struct image *im;
    put("c/Dockerfile",
        "ARG V=9\nFROM scratch\nARG V\nARG W=w$V\n"
        "ENV A=$V B=\"$A-$W\"\nENV C=$A\nLABEL v=$V \"k.x\"='a b'\nUSER 1000:1000\n"
        "EXPOSE 80 53/udp\nSTOPSIGNAL SIGINT\nVOLUME /data\nMAINTAINER Li\n"
        "EXPOSE 8000-8002\nHEALTHCHECK --interval=1m30s --retries=2 CMD curl x\n"
        "ONBUILD COPY a b\nCMD echo $A\n", 0644);
    char *c = at("c");
    CHECK_OK(build(c, &d, NULL));
    CHECK_OK(image_load(out, &d, &im, &err));
    KEEP(im);
    const struct json *j = json_get(im->config_json, "config");
    CHECK_STR(json_str(j, "Env[1]", ""), "A=9");
    CHECK_STR(json_str(j, "Env[2]", ""), "B=-w9");        /* A as it was before the line */
    CHECK_STR(json_str(j, "Env[3]", ""), "C=9");
    CHECK_STR(json_str(j, "Labels.v", ""), "9");
    CHECK_STR(json_str(j, "Labels['k.x']", ""), "a b");
    CHECK_STR(json_str(j, "User", ""), "1000:1000");
    CHECK(json_has(j, "ExposedPorts['80/tcp']") && json_has(j, "ExposedPorts['53/udp']"));
    CHECK_STR(json_str(j, "StopSignal", ""), "SIGINT");
    CHECK(json_has(j, "Volumes['/data']"));
    CHECK_STR(json_str(im->config_json, "author", ""), "Li");
    CHECK(json_has(j, "ExposedPorts['8002/tcp']") && !json_has(j, "ExposedPorts['8003/tcp']"));
    CHECK_STR(json_str(j, "Healthcheck.Test[0]", ""), "CMD-SHELL");
    CHECK_STR(json_str(j, "Healthcheck.Test[1]", ""), "curl x");
    CHECK_NEAR(json_num(j, "Healthcheck.Interval", 0), 90e9, 0);
    CHECK_INT(json_int(j, "Healthcheck.Retries", 0), 2);
    CHECK_STR(json_str(j, "OnBuild[0]", ""), "COPY a b");
    CHECK_STR(json_str(j, "Cmd[0]", ""), "/bin/sh");
    CHECK_STR(json_str(j, "Cmd[2]", ""), "echo $A");
    CHECK_OK(build(c, &d, "V=7"));
    CHECK_OK(image_load(out, &d, &im, &err));
    KEEP(im);
    CHECK_STR(json_str(im->config_json, "config.Env[1]", ""), "A=7");
}

T_MAIN
