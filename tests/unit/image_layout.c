/* image_layout.c - the OCI layout: blobs, tags, damage, several writers; and what
 * image_load refuses. */
#include "tests/t.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/digest.h"
#include "k8s/image/image.h"
#include "tests/unit/image_keep.h"

static struct layout *open_layout(const char *name)
{
    struct layout *l;
    struct pd_err err = {0};
    char *dir = KEEP(xasprintf("%s/%s", t_dir(), name));
    CHECK_OK(layout_open(dir, true, &l, &err));
    KEEP(l);
    return l;
}

static struct image_desc put(struct layout *l, const char *mt, const char *text)
{
    struct image_desc d;
    struct pd_err err = {0};
    CHECK_OK(layout_put(l, mt, text, strlen(text), &d, &err));
    return d;
}

TEST(layout_digest_is_sha256)
{
    char d[DIGEST_TEXT];
    digest_of("abc", 3, d);
    CHECK_STR(d, "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(layout_keeps_blobs_and_tags)
{
    struct layout *l = open_layout("a");
    struct image_desc x = put(l, MT_OCI_MANIFEST, "{}"), y = put(l, MT_OCI_MANIFEST, "{ }"), got;
    struct pd_err err = {0};
    struct str text;
    CHECK_INT(layout_find(l, NULL, &got, &err), PD_NOTFOUND);
    CHECK_OK(layout_tag(l, "v1", &x, &err));
    CHECK_OK(layout_find(l, NULL, &got, &err));          /* the only one */
    CHECK_STR(got.digest, x.digest);
    CHECK_OK(layout_tag(l, "v2", &x, &err));
    CHECK_OK(layout_find(l, NULL, &got, &err));          /* two tags, one image */
    CHECK_OK(layout_tag(l, "v2", &y, &err));
    CHECK_INT(layout_find(l, NULL, &got, &err), PD_NOTFOUND);
    CHECK_HAS(err.hint, "v1, v2");
    CHECK_OK(layout_find(l, "v2", &got, &err));
    CHECK_STR(got.digest, y.digest);
    CHECK_INT(got.size, 3);
    CHECK_INT(layout_find(l, "v3", &got, &err), PD_NOTFOUND);
    CHECK_HAS(err.msg, "\"v3\"");
    str_init(&text, 100);
    CHECK_OK(layout_read(l, y.digest, 100, &text, &err));
    CHECK_STR(text.p, "{ }");
    KEEP(text.p);
    CHECK(layout_has(l, y.digest, 3) && !layout_has(l, y.digest, 4));
}

TEST(layout_finds_damage)
{
    struct layout *l = open_layout("a");
    struct image_desc d = put(l, MT_OCI_MANIFEST, "{\"a\":1}");
    struct pd_err err = {0};
    struct str text;
    char *path = KEEP(layout_blob_path(l, d.digest));
    CHECK_OK(path_write_atomic(path, 0644, "{\"a\":2}", 7, &err));
    str_init(&text, 100);
    CHECK_INT(layout_read(l, d.digest, 100, &text, &err), PD_IMAGE);
    CHECK_HAS(err.msg, "damaged");
    KEEP(text.p);
}

TEST(layout_writer_verifies_digest_and_size)
{
    struct layout *l = open_layout("a");
    struct layout_writer *w;
    struct image_desc out;
    struct pd_err err = {0};
    char digest[DIGEST_TEXT];
    digest_of("hello", 5, digest);
    CHECK_OK(layout_writer_new(l, &w, &err));
    CHECK_OK(layout_writer_write(w, "hellO", 5, &err));
    CHECK_INT(layout_writer_commit(w, digest, 5, &out, &err), PD_IMAGE);
    CHECK(!layout_has(l, digest, -1));
    CHECK_OK(layout_writer_new(l, &w, &err));
    CHECK_OK(layout_writer_write(w, "hello", 5, &err));
    CHECK_INT(layout_writer_commit(w, digest, 6, &out, &err), PD_IMAGE);
    CHECK_OK(layout_writer_new(l, &w, &err));
    CHECK_OK(layout_writer_write(w, "hel", 3, &err));
    CHECK_OK(layout_writer_write(w, "lo", 2, &err));
    CHECK_OK(layout_writer_commit(w, digest, 5, &out, &err));
    CHECK(layout_has(l, digest, 5));
}

TEST(layout_is_shared_by_processes)
{
    struct layout *l = open_layout("a");
    struct image_desc d = put(l, MT_OCI_MANIFEST, "{}");
    struct pd_err err = {0};
    enum { PROCESSES = 4, TAGS = 20 };
    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            for (int i = 0; i < TAGS; i++) {
                char tag[32];
                str_fmt(tag, sizeof tag, "p%d-%d", p, i);
                if (layout_tag(l, tag, &d, &err) != PD_OK)
                    _exit(1);
            }
            _exit(0);
        }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        CHECK(wait(&status) > 0 && status == 0);
    }
    struct json *index;
    CHECK_OK(layout_index(l, &index, &err));
    KEEP(index);
    CHECK_INT(json_count(json_get(index, "manifests")), PROCESSES * TAGS);
}

TEST(layout_says_what_is_missing)
{
    struct layout *l;
    struct pd_err err = {0};
    CHECK_INT(layout_open(t_dir(), false, &l, &err), PD_IMAGE);
    CHECK_HAS(err.msg, "oci-layout");
    CHECK(err.hint[0]);
}

/* --- images --------------------------------------------------------------------- */

static enum pd_code load_text(const char *manifest, struct pd_err *err)
{
    struct layout *l = open_layout("m");
    struct image_desc d = put(l, MT_OCI_MANIFEST, manifest);
    struct image *im = NULL;
    enum pd_code rc = image_load(l, &d, &im, err);
    image_free(im);
    return rc;
}

TEST(image_refuses_what_is_no_image)
{
    static const struct {
        const char *manifest, *msg;
    } cases[] = {
        {"{\"schemaVersion\":1}", "no image manifest"},
        {"{\"schemaVersion\":2}", "no image manifest"},
        {"{\"schemaVersion\":2,\"config\":{}}", "no sha256 digest"},
        {"{\"schemaVersion\":2,\"config\":{\"digest\":\"sha256:../../../../../../etc/passwd\"}}",
         "no sha256 digest"},
        {"{\"schemaVersion\":2,\"manifests\":[{\"platform\":{\"os\":\"linux\",\"architecture\":"
         "\"arm64\"}}]}", "only: linux/arm64"},
        {"[1]", "no image manifest"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pd_err err = {0};
        CHECK_MSG(load_text(cases[i].manifest, &err) != PD_OK, "case %zu was taken", i);
        CHECK_HAS(err.msg, cases[i].msg);
    }
}

TEST(image_takes_amd64_of_an_index)
{
    struct layout *l = open_layout("i");
    struct pd_err err = {0};
    struct image *im;
    struct image_desc config = put(l, MT_OCI_CONFIG,
                                   "{\"rootfs\":{\"diff_ids\":[]},\"config\":{\"Env\":[\"A=b\"],"
                                   "\"Entrypoint\":[\"/x\"],\"WorkingDir\":\"/w\"}}");
    char *text = KEEP(xasprintf("{\"schemaVersion\":2,\"config\":{\"digest\":\"%s\",\"size\":%lld},"
                           "\"layers\":[]}", config.digest, (long long)config.size));
    struct image_desc m = put(l, MT_DOCKER_MANIFEST, text);
    char *index = KEEP(xasprintf(
        "{\"schemaVersion\":2,\"mediaType\":\"" MT_DOCKER_LIST "\",\"manifests\":["
        "{\"digest\":\"%s\",\"size\":1,\"platform\":{\"os\":\"linux\",\"architecture\":\"arm64\"}},"
        "{\"digest\":\"%s\",\"size\":%lld,\"platform\":"
        "{\"os\":\"linux\",\"architecture\":\"amd64\"}}]}", config.digest, m.digest,
        (long long)m.size));
    struct image_desc d = put(l, MT_DOCKER_LIST, index);
    CHECK_OK(image_load(l, &d, &im, &err));
    KEEP(im);
    CHECK_STR(im->manifest.digest, m.digest);
    struct image_run run;
    image_run_init(im, &run);
    CHECK_STR(run.entrypoint.v[0], "/x");
    CHECK_STR(run.env.v[0], "A=b");
    CHECK_STR(run.workdir, "/w");
    CHECK_STR(run.user, "");
    image_run_release(&run);
}

TEST(image_places_are_layouts_or_references)
{
    struct image_place p;
    struct pd_err err = {0};
    char *store = KEEP(xasprintf("%s/store", t_dir()));
    char *text = KEEP(xasprintf("oci:%s/x:t", t_dir()));
    CHECK_OK(image_place_open("lab/train", store, false, &p, &err));
    CHECK_STR(p.tag, "docker.io/lab/train:latest");
    image_place_release(&p);
    CHECK_INT(image_place_open(text, store, false, &p, &err), PD_IMAGE);
    CHECK_OK(image_place_open(text, store, true, &p, &err));
    CHECK_STR(p.tag, "t");
    image_place_release(&p);
    CHECK_INT(image_place_open("oci:", store, true, &p, &err), PD_USAGE);
    CHECK_INT(image_place_open("UP", store, true, &p, &err), PD_IMAGE);
}

T_MAIN
