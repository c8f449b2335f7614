/* registry_sync.c - a thread that makes files durable: fdatasync, rename to the
 * final name, fsync of the folder. It touches nothing but the jobs it is given;
 * their ends come back to the loop through an eventfd. */
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/practice/registry_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct registry_sync {
    struct loop *loop;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct registry_job *todo, **todo_end, *done, **done_end;
    bool stop;
    int event;
};

static int sync_folder(const char *path)
{
    char *dir = path_dir(path);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    free(dir);
    return rc;
}

static int publish(struct registry_file *f)
{
    int rc = fdatasync(f->fd) != 0 ? errno : 0;
    if (close(f->fd) != 0 && rc == 0)
        rc = errno;
    f->fd = -1;
    if (rc == 0 && rename(f->tmp, f->final) != 0)
        rc = errno;
    return rc == 0 ? sync_folder(f->final) : rc;
}

static void run_job(struct registry_job *j)
{
    for (int i = 0; i < j->n && j->error == 0; i++)
        j->error = publish(&j->f[i]);
}

static void free_job(struct registry_job *j)
{
    for (int i = 0; i < j->n; i++) {
        if (j->f[i].fd >= 0)
            close(j->f[i].fd);
        unlink(j->f[i].tmp);
        free(j->f[i].tmp);
        free(j->f[i].final);
    }
    free(j);
}

static void *worker(void *arg)
{
    struct registry_sync *s = arg;
    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        struct registry_job *j = s->todo;
        if (!j) {
            pthread_cond_wait(&s->wake, &s->lock);
            continue;
        }
        s->todo = j->next;
        if (!s->todo)
            s->todo_end = &s->todo;
        pthread_mutex_unlock(&s->lock);
        run_job(j);
        pthread_mutex_lock(&s->lock);
        j->next = NULL;
        *s->done_end = j;
        s->done_end = &j->next;
        uint64_t one = 1;
        if (write(s->event, &one, sizeof one) < 0)
            PD_BUG("eventfd");
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void on_event(void *arg, int fd, int events UNUSED)
{
    struct registry_sync *s = arg;
    uint64_t n;
    if (read(fd, &n, sizeof n) < 0 && errno != EAGAIN)
        PD_BUG("eventfd");
    pthread_mutex_lock(&s->lock);
    struct registry_job *list = s->done;
    s->done = NULL;
    s->done_end = &s->done;
    pthread_mutex_unlock(&s->lock);
    while (list) {
        struct registry_job *j = list;
        list = j->next;
        j->done(j->arg, j->error);
        free_job(j);
    }
}

enum pd_code registry_sync_start(struct loop *l, struct registry_sync **out, struct pd_err *err)
{
    struct registry_sync *s = xcalloc(1, sizeof *s);
    s->loop = l;
    s->todo_end = &s->todo;
    s->done_end = &s->done;
    s->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->wake, NULL);
    errno = s->event < 0 ? errno : pthread_create(&s->thread, NULL, worker, s);
    if (s->event < 0 || errno != 0) {
        pd_fail_errno(err, PD_IO, "no thread for the registry");
        if (s->event >= 0)
            close(s->event);
        free(s);
        return PD_IO;
    }
    loop_fd(l, s->event, LOOP_READ, on_event, s);
    *out = s;
    return PD_OK;
}

void registry_sync_add(struct registry_sync *s, struct registry_job *j)
{
    pthread_mutex_lock(&s->lock);
    j->next = NULL;
    *s->todo_end = j;
    s->todo_end = &j->next;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
}

static void free_list(struct registry_job *j)
{
    while (j) {
        struct registry_job *next = j->next;
        free_job(j);
        j = next;
    }
}

void registry_sync_stop(struct registry_sync *s)
{
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    loop_fd_remove(s->loop, s->event);
    free_list(s->todo);
    free_list(s->done);
    close(s->event);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->wake);
    free(s);
}
