/* fuzz: core/base k8s/image/unpack.c k8s/image/layer_reader.c k8s/image/inroot.c
 * fuzz: k8s/image/tree.c k8s/image/digest.c k8s/image/layout.c k8s/image/layout_index.c
 * fuzz: k8s/image/image.c k8s/image/ref.c */
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/unpack.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *dir, *root;

static void clean_up(void)
{
    struct pd_err err;
    if (path_remove_tree(dir, &err) != PD_OK)
        abort();
}

/* A layer unpacks, or is refused; whatever it is, nothing appears beside the root. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct unpack_options opt = {.max_bytes = 1 << 20};
    struct unpack_stats stats = {0};
    struct pd_err err;
    struct stat st;
    char path[64];
    if (!dir) {
        dir = xstrdup("/tmp/podium-fuzz-XXXXXX");
        if (!mkdtemp(dir))
            abort();
        root = path_join(dir, "a/root");
        atexit(clean_up);
    }
    int fd = memfd_create("layer", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || path_mkdirs(root, 0755, &err) != PD_OK)
        abort();
    int rootfd = open(root, O_RDONLY | O_DIRECTORY);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (unpack_layer(path, NULL, NULL, rootfd, &opt, &stats, &err) == PD_OK && stats.bytes < 0)
        abort();
    close(rootfd);
    close(fd);
    char *beside = path_join(dir, "a");
    if (stat(beside, &st) != 0 || st.st_nlink != 3 || stat(dir, &st) != 0 || st.st_nlink != 3)
        abort();
    free(beside);
    if (path_remove_tree(root, &err) != PD_OK)
        abort();
    return 0;
}
