/* lab_list.c - the catalogue: every lab below the shipped folder and the
 * person's own, read at the start; a broken lab stays in the list with its
 * error, since one bad file must not hide the others. */
#include "core/base/base.h"

#include <dirent.h>
#include <unistd.h>

#include "core/base/path.h"
#include "labs/lab.h"

enum { LAB_LIST_MAX = 1000 };

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct lab_entry *)a)->id, ((const struct lab_entry *)b)->id);
}

static void add(struct lab_list *l, char *path, const char *folder)
{
    l->v = xrealloc_array(l->v, l->n + 1, sizeof *l->v);
    struct lab_entry *e = &l->v[l->n++];
    memset(e, 0, sizeof *e);
    e->path = path;
    if (lab_read(path, &e->lab, &e->err))
        e->lab = NULL;
    e->id = xstrdup(e->lab ? e->lab->id : folder);
}

static void add_folder(struct lab_list *l, const char *dir)
{
    DIR *d = opendir(dir);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d)) && l->n < LAB_LIST_MAX;) {
        if (e->d_name[0] == '.')
            continue;
        char *path = xasprintf("%s/%s/lab.yaml", dir, e->d_name);
        if (access(path, F_OK) == 0 && !lab_list_find(l, e->d_name))
            add(l, path, e->d_name);
        else
            free(path);
    }
    closedir(d);
}

struct lab_list *lab_list_load(const char *dir)
{
    struct lab_list *l = xcalloc(1, sizeof *l);
    if (dir) {
        add_folder(l, dir);
    } else {
        char *shipped = path_shipped("labs/content"), *own = path_home(PATH_DATA, "labs");
        if (shipped)
            add_folder(l, shipped);
        add_folder(l, own);
        free(shipped);
        free(own);
    }
    if (l->n)
        qsort(l->v, l->n, sizeof *l->v, by_id);
    return l;
}

void lab_list_free(struct lab_list *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n; i++) {
        lab_free(l->v[i].lab);
        free(l->v[i].path);
        free(l->v[i].id);
    }
    free(l->v);
    free(l);
}

const struct lab *lab_list_find(const struct lab_list *l, const char *id)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->v[i].id, id))
            return l->v[i].lab;
    return NULL;
}
