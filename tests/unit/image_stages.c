/* image_stages.c - builds of several stages: what is copied between them, from
 * images and archives, here-documents, owners and modes, and the cache. */
#include "tests/t.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/builder.h"
#include "k8s/image/layer_reader.h"
#include "tests/unit/image_keep.h"

static struct pd_err err;
static int cached, packed, skipped;
static struct layout *out;

static void count(void *arg UNUSED, const struct builder_event *e)
{
    if (e->kind == BUILD_LAYER)
        *(e->cached ? &cached : &packed) += 1;
    for (size_t i = 0; e->kind == BUILD_PLAN && i < e->plan->n; i++)
        skipped += !e->plan->v[i].needed;
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

static enum pd_code build(struct image_desc *d, const char *target, const char *arg)
{
    char *dir = at("out"), *store = at("store"), *cache = at("cache"), *c = at("c");
    struct builder_spec spec = {.context = c, .store_dir = store, .event = count,
                                .target = target};
    setenv("XDG_CACHE_HOME", cache, 1);
    if (!out)
        CHECK_OK(layout_open(dir, true, &out, &err));
    KEEP(out);
    spec.out = out;
    cached = packed = skipped = 0;
    memset(&err, 0, sizeof err);
    strv_init(&spec.build_args);
    if (arg)
        strv_push(&spec.build_args, arg);
    enum pd_code rc = builder_own.build(&spec, d, &err);
    strv_release(&spec.build_args);
    return rc;
}

static struct image *image(const struct image_desc *d)
{
    struct image *im;
    CHECK_OK(image_load(out, d, &im, &err));
    return KEEP(im);
}

/* The entries of a layer, a line each: "path mode uid:gid size". */
static const char *entries(const struct image *im, size_t i)
{
    struct str s;
    struct layer_reader *r;
    struct archive_entry *e;
    char *path = KEEP(layout_blob_path(out, im->layers[i].desc.digest));
    str_init(&s, 1 << 16);
    CHECK_OK(layer_reader_open(path, &r, &err));
    for (;;) {
        CHECK_OK(layer_reader_next(r, &e, &err));
        if (!e)
            break;
        str_printf(&s, "%s %o %d:%d %d\n", archive_entry_pathname(e),
                   (unsigned)archive_entry_perm(e), (int)archive_entry_uid(e),
                   (int)archive_entry_gid(e), (int)archive_entry_size(e));
    }
    layer_reader_close(r);
    return KEEP(s.p);
}

TEST(stages_copy_keeps_owner_and_mode)
{
    struct image_desc d;
    put("c/Dockerfile",
        "ARG NAME=tool\n"
        "FROM scratch AS unused\nRUN never\n"
        "FROM scratch AS Tools\nARG NAME\nENV E=1\n"
        "COPY --chown=7:8 --chmod=4750 a /bin/$NAME\n"
        "COPY --chmod=600 b /etc/b\nWORKDIR /w\n"
        "FROM tools\n"                                     /* a stage as base: its ENV too */
        "COPY --from=tools /bin/tool /one\n"
        "COPY --from=1 --chown=1:1 /etc /two\n"
        "ENV N=$NAME\n", 0644);
    put("c/a", "aa", 0644);
    put("c/b", "b", 0644);
    CHECK_OK(build(&d, NULL, NULL));
    struct image *im = image(&d);
    CHECK_INT(skipped, 1);
    CHECK_INT(im->n, 5);
    CHECK_STR(entries(im, 0), "bin/ 755 7:8 0\nbin/tool 4750 7:8 2\n");
    CHECK_STR(entries(im, 3), "one 4750 7:8 2\n");
    CHECK_STR(entries(im, 4), "two/ 755 1:1 0\ntwo/b 600 1:1 1\n");
    CHECK_STR(json_str(im->config_json, "config.Env[1]", ""), "E=1");
    CHECK_STR(json_str(im->config_json, "config.Env[2]", ""), "N=tool");
    CHECK_STR(json_str(im->config_json, "config.WorkingDir", ""), "/w");
    CHECK_OK(build(&d, "tools", NULL));
    CHECK_INT(image(&d)->n, 3);
    CHECK_INT(build(&d, "tool", NULL), PD_USAGE);
    CHECK_INT(build(&d, "unused", NULL), PD_ENGINE);
    CHECK_INT(err.line, 3);
    /* nothing is left of the unpacked stages */
    DIR *dir = opendir(at("cache/podium/roots"));
    int left = 0;
    for (struct dirent *e; dir && (e = readdir(dir));)
        left += e->d_name[0] != '.';
    CHECK(dir != NULL);
    closedir(dir);
    CHECK_INT(left, 0);
}

TEST(stages_copy_from_an_image)
{
    struct image_desc base, d;
    char *oci = at("oci");
    CHECK_OK(layout_open(oci, true, &out, &err));
    KEEP(out);
    put("c/Dockerfile", "FROM scratch\nCOPY --chown=3:4 passwd f /etc/\nONBUILD ENV HOOK=ran\n"
                        "ONBUILD COPY --chown=li:staff f /hook\n", 0644);
    put("c/passwd", "root:x:0:0::/:\nli:x:1000:1001::/:\n", 0644);
    put("c/f", "f", 0644);
    CHECK_OK(build(&base, NULL, NULL));
    CHECK_OK(layout_tag(out, "v1", &base, &err));
    char *text = KEEP(xasprintf("FROM oci:%s:v1 AS hooked\nFROM scratch\nCOPY --from=oci:%s:v1 "
                                "/etc/f /f\n", oci, oci));
    out = NULL;
    put("c/Dockerfile", text, 0644);
    CHECK_OK(build(&d, NULL, NULL));
    CHECK_STR(entries(image(&d), 0), "f 644 3:4 1\n");
    CHECK_INT(build(&d, "hooked", NULL), PD_IMAGE);          /* no /etc/group there */
    CHECK_HAS(err.msg, "etc/group");
    text = KEEP(xasprintf("FROM oci:%s:v1\nCOPY --chown=li f /g\n", oci));
    put("c/Dockerfile", text, 0644);
    CHECK_INT(build(&d, NULL, NULL), PD_IMAGE);
    put("c/group", "staff:x:50:\n", 0644);
    out = NULL;
    char *oci2 = at("oci2");
    CHECK_OK(layout_open(oci2, true, &out, &err));
    KEEP(out);
    put("c/Dockerfile", "FROM scratch\nCOPY passwd group f /etc/\nONBUILD ENV HOOK=ran\n"
                        "ONBUILD COPY --chown=li:staff f /hook\n", 0644);
    CHECK_OK(build(&base, NULL, NULL));
    CHECK_OK(layout_tag(out, "v1", &base, &err));
    out = NULL;
    put("c/Dockerfile", KEEP(xasprintf("FROM oci:%s:v1\nCOPY --chown=li f /g\n", oci2)), 0644);
    CHECK_OK(build(&d, NULL, NULL));
    struct image *im = image(&d);
    CHECK_STR(entries(im, 1), "hook 644 1000:50 1\n");
    CHECK_STR(entries(im, 2), "g 644 1000:1001 1\n");
    CHECK_STR(json_str(im->config_json, "config.Env[1]", ""), "HOOK=ran");
    CHECK(!json_has(im->config_json, "config.OnBuild"));
}

static void write_tar(const char *path, bool gzip)
{
    struct archive *a = archive_write_new();
    struct archive_entry *e = archive_entry_new();
    archive_write_set_format_pax_restricted(a);
    if (gzip)
        archive_write_add_filter_gzip(a);
    CHECK(archive_write_open_filename(a, path) == ARCHIVE_OK);
    archive_entry_set_pathname(e, "in/deep.txt");
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0640);
    archive_entry_set_uid(e, 5);
    archive_entry_set_gid(e, 6);
    archive_entry_set_size(e, 3);
    CHECK(archive_write_header(a, e) == ARCHIVE_OK && archive_write_data(a, "abc", 3) == 3);
    archive_entry_free(e);
    CHECK(archive_write_close(a) == ARCHIVE_OK);
    archive_write_free(a);
}

TEST(stages_add_unpacks_archives)
{
    struct image_desc d;
    put("c/Dockerfile",
        "FROM scratch\nADD a.tgz /un/\nADD --chown=9:9 plain.tar /p\nADD text.tar /t/\n"
        "COPY a.tgz /kept/\nADD --unpack=false a.tgz /whole/\n", 0644);
    put("c/text.tar", "no archive at all, only text that is longer than a header of 32\n", 0644);
    write_tar(at("c/a.tgz"), true);
    write_tar(at("c/plain.tar"), false);
    CHECK_OK(build(&d, NULL, NULL));
    struct image *im = image(&d);
    CHECK_STR(entries(im, 0), "un/ 755 0:0 0\nun/in/ 755 0:0 0\nun/in/deep.txt 640 5:6 3\n");
    CHECK_STR(entries(im, 1), "p/ 755 9:9 0\np/in/ 755 9:9 0\np/in/deep.txt 640 9:9 3\n");
    CHECK_HAS(entries(im, 2), "t/text.tar 644");
    CHECK_HAS(entries(im, 3), "kept/a.tgz 644");
    CHECK_HAS(entries(im, 4), "whole/a.tgz 644");
}

TEST(stages_heredocs_become_files)
{
    struct image_desc d;
    put("c/Dockerfile",
        "FROM scratch\nENV WHO=you\nARG HOW=well\n"
        "COPY --chmod=755 <<EOF /say\nhi $WHO \"${HOW}\"\\$x\nEOF\n"
        "COPY <<'a.txt' <<-b.txt /d/\n$WHO\na.txt\n\t\tz\n\tb.txt\n", 0644);
    CHECK_OK(build(&d, NULL, NULL));
    struct image *im = image(&d);
    CHECK_STR(entries(im, 0), "say 755 0:0 16\n");           /* hi you "well"$x */
    CHECK_STR(entries(im, 1), "d/ 755 0:0 0\nd/a.txt 644 0:0 5\nd/b.txt 644 0:0 2\n");
    put("c/Dockerfile", "FROM scratch\nCOPY <<EOF /\nx\nEOF\n", 0644);
    CHECK_OK(build(&d, NULL, NULL));
    CHECK_STR(entries(image(&d), 0), "EOF 644 0:0 2\n");
    put("c/Dockerfile", "FROM scratch\nCOPY <<EOF /a\n${X:?missing}\nEOF\n", 0644);
    CHECK_INT(build(&d, NULL, NULL), PD_PARSE);
    CHECK_INT(err.line, 3);
}

TEST(stages_copy_flags)
{
    struct image_desc d;
    put("c/Dockerfile",
        "FROM scratch\n"
        "COPY --exclude=*.o --exclude=deep/skip src /x/\n"
        "COPY --parents src/./deep/*.py src/top.c /y/\n"
        "COPY --chmod=u=rwX,go=rX src/top.c src/deep /z/\n"
        "COPY --parents src/deep /w\n", 0644);
    put("c/src/top.c", "1", 0644);
    put("c/src/top.o", "2", 0644);
    put("c/src/deep/m.py", "3", 0755);
    put("c/src/deep/skip/n", "4", 0644);
    CHECK_OK(build(&d, NULL, NULL));
    struct image *im = image(&d);
    CHECK_STR(entries(im, 0), "x/ 755 0:0 0\nx/deep/ 755 0:0 0\nx/deep/m.py 755 0:0 1\n"
                              "x/top.c 644 0:0 1\n");
    CHECK_STR(entries(im, 1), "y/ 755 0:0 0\ny/deep/ 755 0:0 0\ny/deep/m.py 755 0:0 1\n"
                              "y/src/ 755 0:0 0\ny/src/top.c 644 0:0 1\n");
    CHECK_STR(entries(im, 2), "z/ 755 0:0 0\nz/m.py 755 0:0 1\nz/skip/ 755 0:0 0\n"
                              "z/skip/n 644 0:0 1\nz/top.c 644 0:0 1\n");
    CHECK_HAS(entries(im, 3), "w/src/deep/skip/n 644");
}

/* Each change of an input packs the layers that it is in, and no others. */
TEST(stages_cache_follows_every_input)
{
    struct image_desc a, b;
    static const char file[] = "FROM scratch AS one\nARG V=1\nCOPY a /a$V\n"
                               "FROM scratch\nCOPY --from=one / /x/\nCOPY dir /dir/\n";
    put("c/Dockerfile", file, 0644);
    put("c/a", "a", 0644);
    put("c/dir/f", "f", 0644);
    put("c/dir/g", "g", 0644);
    CHECK_OK(build(&a, NULL, NULL));
    CHECK_INT(packed, 3);
    CHECK_OK(build(&b, NULL, NULL));
    CHECK_INT(cached, 3);
    CHECK_STR(a.digest, b.digest);
    CHECK_OK(build(&b, NULL, "V=2"));                        /* an ARG */
    CHECK_INT(packed, 2);
    CHECK(!str_eq(a.digest, b.digest));
    put("c/a", "b", 0644);                                   /* bytes of the same length */
    CHECK_OK(build(&b, NULL, NULL));
    CHECK_INT(packed, 2);
    put("c/a", "b", 0755);                                   /* a mode */
    CHECK_OK(build(&b, NULL, NULL));
    CHECK_INT(packed, 2);
    put("c/.dockerignore", "dir/g\n", 0644);                 /* what is left out */
    CHECK_OK(build(&b, NULL, NULL));
    CHECK_INT(packed, 1);
    put("c/Dockerfile", "FROM scratch\nCOPY --chown=1 dir /dir/\n", 0644);      /* an owner */
    CHECK_OK(build(&b, NULL, NULL));
    CHECK_INT(packed, 1);
    put("c/Dockerfile", file, 0644);                         /* and back again */
    put("c/.dockerignore", "", 0644);
    put("c/a", "a", 0644);
    CHECK_OK(build(&b, NULL, NULL));
    CHECK_INT(cached, 3);
    CHECK_STR(a.digest, b.digest);
}

T_MAIN
