/* progress_disk.c - how far a lab is by the files of its work folder, for lists
 * of labs: the session reads its own lab's progress by messages. */
#include <sys/stat.h>

#include "core/base/path.h"
#include "labs/progress.h"

enum { PROGRESS_DISK_MOST = 4 << 20 };

static bool read_beside(const char *dir, const char *name, struct str *out)
{
    struct pd_err err = {0};
    char *path = path_join(dir, name);
    str_init(out, PROGRESS_DISK_MOST);
    bool ok = path_read(path, PROGRESS_DISK_MOST, out, &err) == PD_OK;
    free(path);
    return ok;
}

int progress_disk_done(const struct lab *lab)
{
    struct str snapshot, journal;
    struct progress_found found;
    char *dir = lab_work_dir(lab);
    bool has = read_beside(dir, ".progress.json", &snapshot);
    bool more = read_beside(dir, ".progress.jsonl", &journal);
    struct json *state = progress_load(lab->id, 0, has ? snapshot.p : NULL,
                                       more ? journal.p : NULL, &found);
    int done = 0;
    for (int i = 0; i < lab->steps_n; i++)
        done += progress_done(state, lab->steps[i].id);
    json_free(state);
    str_release(&snapshot);
    str_release(&journal);
    free(dir);
    return done;
}

int64_t progress_disk_changed(const struct lab *lab)
{
    struct stat st;
    char *dir = lab_work_dir(lab), *path = path_join(dir, ".progress.jsonl");
    int64_t at = stat(path, &st) == 0 ? (int64_t)st.st_mtime : 0;
    free(path);
    free(dir);
    return at;
}
