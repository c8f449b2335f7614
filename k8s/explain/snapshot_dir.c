/* snapshot_dir.c - reads a snapshot from a folder of files (snapshot.h). */
#include <dirent.h>

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/yaml.h"
#include "k8s/explain/snapshot.h"

enum { FILE_CEILING = 64 << 20 };

static bool object_file(const char *name)
{
    return str_ends(name, ".json") || str_ends(name, ".yaml") || str_ends(name, ".yml");
}

/* "expected.yaml" of a test case and notes of a person are no objects. */
static void add_tree(struct snapshot *s, struct json *tree, const char *name)
{
    if (str_starts(name, "image-config")) {
        s->image = tree;
        s->image_file = arena_strdup(&s->arena, name);
        s->owned = xrealloc_array(s->owned, s->owned_n + 1, sizeof(struct json *));
        s->owned_cap = s->owned_n + 1;
        s->owned[s->owned_n++] = tree;
    } else if (json_str(tree, "kind", NULL)) {
        snapshot_add(s, tree, name);
    } else {
        json_free(tree);
    }
}

static enum pd_code read_yaml(struct snapshot *s, const char *path, const char *name,
                              struct pd_err *err)
{
    struct ydoc *docs = NULL;
    enum pd_code rc = yaml_read_file(path, &docs, err);
    for (const struct ydoc *d = docs; rc == PD_OK && d; d = d->next)
        if (d->root)
            add_tree(s, yaml_to_json(d->root), name);
    yaml_docs_free(docs);
    return rc;
}

static enum pd_code read_one(struct snapshot *s, const char *dir, const char *name,
                             struct pd_err *err)
{
    char *path = path_join(dir, name);
    struct json *tree = NULL;
    struct str text;
    enum pd_code rc = PD_OK;
    if (str_eq(name, "log.txt")) {
        str_init(&text, FILE_CEILING);
        rc = path_read(path, FILE_CEILING, &text, err);
        if (rc == PD_OK)
            snapshot_log(s, text.p, name);
        str_release(&text);
    } else if (str_ends(name, ".json") || str_eq(name, "image-config")) {
        rc = json_read_file(path, FILE_CEILING, &tree, err);
        if (rc == PD_OK)
            add_tree(s, tree, name);
    } else {
        rc = read_yaml(s, path, name, err);
    }
    free(path);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool list_files(struct strv *names, const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        if (e->d_name[0] != '.' && (object_file(e->d_name) || str_eq(e->d_name, "log.txt") ||
                                    str_eq(e->d_name, "image-config")))
            strv_push(names, e->d_name);
    if (d)
        closedir(d);
    if (names->n)
        qsort(names->v, names->n, sizeof names->v[0], by_name);
    return d != NULL;
}

enum pd_code snapshot_read_dir(struct snapshot *s, const char *dir, struct pd_err *err)
{
    static const char *const asked[] = {"pod.json", "job.json", "pod.yaml", "job.yaml"};
    struct strv names;
    enum pd_code rc = PD_OK;
    const char *first = NULL;
    strv_init(&names);
    if (!list_files(&names, dir))
        rc = pd_fail_errno(err, PD_IO, _("can't read the folder %s"), dir);
    for (size_t i = 0; rc == PD_OK && i < ARRAY_LEN(asked) && !first; i++)
        if (strv_has(&names, asked[i]))
            first = asked[i];
    if (rc == PD_OK && first)
        rc = read_one(s, dir, first, err);
    for (size_t i = 0; rc == PD_OK && i < names.n; i++)
        if (!str_eq(names.v[i], first))
            rc = read_one(s, dir, names.v[i], err);
    strv_release(&names);
    if (rc == PD_OK && !s->object) {
        rc = pd_fail(err, PD_USAGE,
                     _("%s holds neither a Pod nor a Job (pod.json, job.json)"), dir);
        pd_set_hint(err, "kubectl get pod NAME -o json > %.150s/pod.json", dir);
    }
    return rc;
}
