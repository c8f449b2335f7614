/* shim_in.h - between the files of the program podium-shim alone. */
#ifndef K8S_PRACTICE_SHIM_IN_H
#define K8S_PRACTICE_SHIM_IN_H

#include "k8s/practice/cgroup.h"
#include "k8s/practice/crilog.h"
#include "k8s/practice/sandbox.h"

/* A program and our ends of its pipes; with a terminal in and out are the
 * same master and err is -1. */
struct shim_proc {
    pid_t pid;                        /* 0: none */
    int in, out, err;                 /* -1: closed */
    bool tty, in_end, reaped;
    int status;                       /* of waitpid */
    struct str pending;               /* bytes for its stdin */
};

enum shim_role { SHIM_ROLE_NEW, SHIM_ROLE_WATCH, SHIM_ROLE_ATTACH, SHIM_ROLE_EXEC };

struct shim_conn {
    struct shim_conn *next;
    int fd;                           /* -1: gone, freed at the end of the turn */
    enum shim_role role;
    bool want_in, want_out, want_err, ending;
    struct str in, out;
    struct shim_proc x;               /* SHIM_ROLE_EXEC */
};

struct shim {
    const char *dir;
    struct shim_spec spec;
    struct shim_state state;
    enum sandbox_kind kind;
    struct shim_proc main;
    struct crilog log;
    struct cgroup cgroup;
    struct shim_conn *conns;
    int listener, signals;
    int64_t kill_at;                  /* clock_ms of the SIGKILL, 0: none */
    int64_t sample_at;                /* of the next memory sample, 0: none */
    int64_t drain_at, leave_at;       /* after the end of main; 0: not yet */
    int64_t oom_rss;                  /* what the sample that ended it saw */
    bool done;                        /* main's end is in the state file */
};

/* shim_run.c: start the container, then serve until it ended. told is the
 * pipe to the starter: "" is success, else the sentence. Never returns. */
NORETURN void shim_run(const char *dir, int lock, int told);
void shim_stop(struct shim *s, int64_t grace_ms);

/* shim_proc.c */
/* Pipes or a terminal for p; the child's ends go to io. */
bool shim_proc_pipes(struct shim_proc *p, bool want_in, bool tty, struct sandbox_io *io);
void shim_proc_close_child_ends(struct sandbox_io *io);
void shim_proc_feed(struct shim_proc *p, const char *data, size_t n);
void shim_proc_flush(struct shim_proc *p);            /* write what is pending */
void shim_proc_end_input(struct shim_proc *p);        /* when all of it is written */
void shim_proc_close(struct shim_proc *p);
int shim_exit_code(int status, int *signo);

/* shim_conn.c */
void shim_conn_accept(struct shim *s);
void shim_conn_read(struct shim *s, struct shim_conn *c);
void shim_conn_write(struct shim *s, struct shim_conn *c);
void shim_conn_send(struct shim_conn *c, char type, const void *p, size_t n);
void shim_conn_drop(struct shim *s, struct shim_conn *c);
void shim_conn_sweep(struct shim *s);                 /* free the dropped */
void shim_conn_broadcast(struct shim *s, int stream, const char *p, size_t n);
void shim_conn_state(struct shim *s, struct shim_conn *c);
/* The exec of c ended and its pipes are dry: tell and close. */
void shim_conn_finish_exec(struct shim *s, struct shim_conn *c);

#endif
