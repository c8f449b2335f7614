/* labs_stage.c - laying out a build context: what is copied, and what a lab may
 * not reach. */
#include "tests/t.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "labs/lab_stage.h"

static char *lab, *context;

static void begin(void)
{
    struct pd_err err;
    lab = path_join(t_dir(), "lab");
    context = path_join(t_dir(), "context");
    char *file = path_join(lab, "data/deep/f"), *dir = path_dir(file);
    CHECK_OK(path_mkdirs(dir, 0700, &err));
    CHECK_OK(path_write_atomic(file, 0700, "hello", 5, &err));
    free(dir);
    free(file);
    /* the records are not what is looked at here */
    CHECK(freopen("/dev/null", "w", stdout) != NULL);
}

static int stage(const char *pair)
{
    char *argv[] = {(char *)"stage", lab, context, (char *)pair, NULL};
    return lab_stage(4, argv);
}

TEST(a_folder_is_copied_whole_and_again)
{
    struct str s;
    struct stat sb;
    struct pd_err err;
    begin();
    CHECK_INT(stage("in/side=data"), 0);
    CHECK_INT(stage("in/side=data"), 0);
    char *copy = path_join(context, "in/side/deep/f");
    str_init(&s, 100);
    CHECK_OK(path_read(copy, 100, &s, &err));
    CHECK_STR(s.p, "hello");
    CHECK(stat(copy, &sb) == 0);
    CHECK_INT(sb.st_mode & 0777, 0755);            /* whatever the umask and the source say */
    str_release(&s);
    free(copy);
}

TEST(nothing_outside_of_the_lab_is_reached)
{
    begin();
    char *link = path_join(lab, "link");
    CHECK(symlink("/etc/passwd", link) == 0);
    CHECK_INT(stage("x=link"), 1);
    char *folder = path_join(lab, "folder");       /* nor by a link on the way */
    CHECK(symlink("/etc", folder) == 0);
    CHECK_INT(stage("x=folder/passwd"), 1);
    free(folder);
    CHECK_INT(stage("x=../lab/data"), 1);
    CHECK_INT(stage("x=/etc/passwd"), 1);
    CHECK_INT(stage("../x=data"), 1);
    CHECK_INT(stage("x=none"), 1);
    CHECK_INT(stage("data"), 1);
    char *x = path_join(context, "x");
    CHECK(access(x, F_OK) != 0);
    free(x);
    free(link);
}

T_MAIN
