/* build_state.h - the newest image build and push, as the child's JSON lines
 * (k8s/image/image_cmd.h) tell it: what there is to do, how far each
 * instruction and each layer is. It stays to be read when all is over.
 */
#ifndef LABS_BUILD_STATE_H
#define LABS_BUILD_STATE_H

#include "core/base/err.h"
#include "core/base/json.h"
#include "core/base/str.h"

enum build_row_state { ROW_WAITING, ROW_RUNNING, ROW_DONE, ROW_CACHED, ROW_FAILED, ROW_SKIPPED,
                       ROW_STATE_COUNT };

struct build_row {
    char *text, *stage;           /* the instruction; "" outside a named stage */
    int line;                     /* of the Dockerfile */
    enum build_row_state state;
    int64_t started_ms, ms;
    int64_t size;                 /* of its layer; 0: none */
    char digest[80];
    int64_t done, total;          /* bytes packed or pulled while it runs */
};

/* One blob on its way. */
struct build_bar {
    char digest[80];
    int64_t done, total, started_ms, seen_ms;
    int64_t first;                /* bytes that were there when it was first seen */
};

enum build_phase { BUILD_NONE, BUILD_AT_WORK, BUILD_PUSHING, BUILD_OVER, BUILD_PUSHED,
                   BUILD_BROKEN };

enum { BUILD_LOG_LINES = 2000 };

struct build_state {
    enum build_phase phase;
    char ref[512], digest[80];    /* the image; digest when it is done */
    int64_t bytes;                /* of the image, when it is done */
    int64_t started_ms, push_started_ms;
    int64_t built_ms;             /* how long the build took, when it is over */
    struct build_row *rows;
    size_t n;
    struct build_bar *bars;       /* of the push */
    size_t nbars;
    struct json *findings;        /* array, as lint prints them */
    struct strv log;              /* the newest lines */
    struct pd_err err;            /* of BUILD_BROKEN */
    bool cancelled;
    bool in_push;                 /* what broke was the push */
};

void build_state_release(struct build_state *b);
void build_state_begin(struct build_state *b, const char *ref, int64_t now_ms);
void build_state_push(struct build_state *b, const char *ref, int64_t now_ms);
/* One record of the child. */
void build_state_record(struct build_state *b, const struct json *r, int64_t now_ms);
/* err NULL: it went well. Nothing happens when no build or push is at work. */
void build_state_end(struct build_state *b, const struct pd_err *err, int64_t now_ms);
/* How many rows are in a state. */
size_t build_state_count(const struct build_state *b, enum build_row_state state);

#endif
