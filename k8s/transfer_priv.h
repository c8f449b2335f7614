/* transfer_priv.h - what transfer.c (life, checking) shares with its two
 * directions, transfer_down.c and transfer_up.c. */
#ifndef K8S_TRANSFER_PRIV_H
#define K8S_TRANSFER_PRIV_H

#include "k8s/client_io.h"
#include "k8s/copy.h"
#include "k8s/podcmd.h"
#include "k8s/tarwrite.h"
#include "k8s/transfer.h"

struct transfer_file {
    char *path;                          /* as the container names it */
    char sha256[65];
    int64_t size;
};

struct transfer {
    struct k8s *k;
    struct loop *loop;
    struct transfer_handlers h;
    struct transfer_result r;
    char *ns, *pod, *container, *remote, *local;
    bool up, plain, ended, opened;       /* plain: by cat; opened: a command ran */
    int tries, left, waits;
    struct exec *exec;
    struct podcmd *cmd;
    uint32_t timer;
    loop_fn *next;                       /* after the wait */
    struct str errors;                   /* stderr of the command */
    struct transfer_file *file;          /* what came or went */
    size_t files, cap;
    int wrong;                           /* sums that differ */
    char wrong_path[300];
    /* down */
    struct untar *untar;
    char *dir, *base, *to, *file_to, *dir_to;
    int64_t received, good;              /* good: when it broke last */
    int fd;                              /* by cat */
    /* up */
    struct tarwrite tar;
    bool planned, counted, append;
    size_t at;                           /* entry that the stream began at */
    int64_t sent, offset, asked_sum;
    int append_fd;
};

void transfer_down(struct transfer *t);
void transfer_up(struct transfer *t);
void transfer_down_release(struct transfer *t);
void transfer_up_release(struct transfer *t);

/* Start a command whose streams are the transfer's. */
void transfer_exec(struct transfer *t, char *const *argv, bool std_in,
                   const struct exec_handlers *h);
void transfer_ask(struct transfer *t, char *const *argv, podcmd_fn *fn);
void transfer_add(struct transfer *t, const char *path, int64_t size, const char *sha256);
/* The link broke: call `next` in a while, or end when nothing helps. */
void transfer_again(struct transfer *t, loop_fn *next, const char *how, const struct pd_err *why);
/* Call `next` in a second. */
void transfer_wait(struct transfer *t, loop_fn *next);
void transfer_said(struct transfer *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The command ended badly. */
void transfer_failed(struct transfer *t, int code, const struct pd_err *err);
void transfer_no_tar(struct transfer *t);
MUST_USE enum pd_code transfer_sha256(const char *path, char hex[65], struct pd_err *err);
/* All is there: compare the sums below `path`, then end. */
void transfer_check(struct transfer *t, const char *path, bool folder);
void transfer_end(struct transfer *t, const struct pd_err *err);

#endif
