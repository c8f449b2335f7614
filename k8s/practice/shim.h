/* shim.h - what the kubelet and podium-shim share: the folder of a container,
 * its spec and state files, and the frames on its socket.
 *
 * One folder a container attempt:
 *   spec    written by the kubelet before the start
 *   state   written by the shim, atomically: after the start and after the end
 *   lock    flock held by the shim while it lives
 *   sock    a Unix socket: watch, attach, exec, stop
 * The log is where the spec says, in CRI form (crilog.h).
 *
 * spec and state are text, one "key value" a line; in values "\\" is a
 * backslash and "\n" a newline; keys may repeat (argv, env, bind). No JSON:
 * the shim is static and small.
 *
 * `podium-shim run DIR` starts the container in a process that has nothing to
 * do with its starter any more (setsid, forked twice, no fds, no environment)
 * and returns 0 when the program runs, else 1 with one sentence on stderr.
 */
#ifndef K8S_PRACTICE_SHIM_H
#define K8S_PRACTICE_SHIM_H

#include "core/base/err.h"
#include "core/base/str.h"

struct shim_bind {
    char *from, *to;              /* host path; absolute path in the container */
    char *sub;                    /* only this, inside from; made when missing; or NULL */
    bool read_only;
};

struct shim_spec {
    char *name;                   /* of the container */
    char *rootfs;                 /* the unpacked image */
    char *cwd;                    /* in the container; made when missing */
    char *hostname;
    char *log;                    /* path of the log file */
    char *cgroup;                 /* name of its cgroup ("podium-UID-NAME-0") */
    struct strv argv, env;
    struct shim_bind *bind;
    size_t binds;
    int uid, gid;
    bool std_in, stdin_once, tty;
    int64_t memory;               /* bytes, 0: no limit */
    int64_t cpu_millis;           /* 0: no limit */
    int64_t log_max;              /* rotate beyond this many bytes */
    int log_keep;                 /* files kept beside the current one */
    char *force;                  /* "" or a sandbox kind to use alone (tests) */
};

struct shim_state {
    int pid;                      /* of the container's process, in the host's numbers */
    int64_t started_us;           /* wall, 0: never */
    int64_t finished_us;          /* wall, 0: still running */
    int exit_code;                /* 128 + signal when it was killed */
    int signal;
    char reason[32];              /* "Completed" "Error" "OOMKilled" "StartError" */
    char message[512];            /* for people, may be "" */
    char isolation[32];           /* sandbox kind */
    char missing[512];            /* what is not isolated or limited, "" when all is */
};

void shim_spec_init(struct shim_spec *s);
void shim_spec_release(struct shim_spec *s);
void shim_spec_add_bind(struct shim_spec *s, const char *from, const char *sub, const char *to,
                        bool read_only);
/* Without a sync (it runs in the server's loop): after a crash of the machine
 * the container is gone anyway. */
MUST_USE enum pd_code shim_spec_write(const struct shim_spec *s, const char *dir,
                                      struct pd_err *err);
MUST_USE enum pd_code shim_spec_read(const char *dir, struct shim_spec *out, struct pd_err *err);
MUST_USE enum pd_code shim_state_write(const struct shim_state *s, const char *dir,
                                       struct pd_err *err);
/* false: there is none yet. */
bool shim_state_read(const char *dir, struct shim_state *out);
bool shim_alive(const char *dir);             /* the lock is held */
/* A small file at once, replacing an old one by rename; not synced. */
MUST_USE enum pd_code shim_file(const char *path, int mode, const void *p, size_t n,
                                struct pd_err *err);

/* --- the socket -------------------------------------------------------------
 * Frames: type (1 byte), length (4 bytes, little endian), payload. The first
 * frame of a client says what the connection is for. */
enum { SHIM_FRAME_HEAD = 5, SHIM_FRAME_MAX = 1 << 20 };
/* client to shim */
#define SHIM_WATCH 'W'            /* then STATE frames come: now and at the end */
#define SHIM_ATTACH 'A'           /* payload: letters "i" stdin, "o" stdout, "e" stderr */
#define SHIM_EXEC 'X'             /* payload: flags letters ("iote"), then argv, each after a NUL */
#define SHIM_STDIN '0'
#define SHIM_STDIN_END 'E'
#define SHIM_RESIZE 'R'           /* "COLS ROWS" */
#define SHIM_STOP 'K'             /* "GRACE_MS": SIGTERM, then SIGKILL; any connection */
/* shim to client */
#define SHIM_STDOUT '1'
#define SHIM_STDERR '2'
#define SHIM_STATE 'S'            /* text of the state file */
#define SHIM_EXIT 'C'             /* exec: the exit code in decimal; attach: the process ended */
#define SHIM_ERROR '!'            /* exec could not start: a sentence */

/* A listening socket at DIR/sock, or a connected one (blocking connect, then
 * non-blocking); -1 with errno. DIR may be longer than a sockaddr. */
int shim_listen(const char *dir);
int shim_connect(const char *dir);
bool shim_frame(struct str *out, char type, const void *p, size_t n);
/* One frame at the front of buf: bytes used, 0 when more is needed, -1 when
 * it is too long. *payload points into buf. */
long shim_parse(const char *buf, size_t len, char *type, const char **payload, size_t *n);

#endif
