/* session_parts.h - parts of the session's state: what the shown step needs of
 * the cluster, its scene, and clearing up.
 */
#ifndef LABS_SESSION_PARTS_H
#define LABS_SESSION_PARTS_H

#include "core/base/json.h"

/* What the shown step's requirements make of it. */
enum step_mode { MODE_REAL, MODE_ASKING, MODE_SKIPPED, MODE_READING, MODE_SIMULATED };
struct step_need {
    enum step_mode mode;
    bool recorded;                /* SIMULATED by a recorded run */
    bool whole;                   /* it is the lab's requirement, not the step's */
    char why[400];                /* shown unless REAL: what is missing, and the lab's reason */
};

/* The scene of the shown step: what setup and faults make before it. */
enum scene_state { SCENE_READY, SCENE_WANTED, SCENE_RUNNING, SCENE_FAILED };
struct scene {
    enum scene_state state;
    int step, done, total;        /* done, total: actions */
    char title[96];               /* of the running one; "" when it must not be told */
    char text[512];               /* of FAILED: why */
};

/* Clearing up: first what there is, then (said yes) it goes. */
enum clean_state { CLEAN_NONE, CLEAN_LOOKING, CLEAN_ASKING, CLEAN_RUNNING, CLEAN_DONE,
                   CLEAN_FAILED };
struct clean {
    enum clean_state state;
    struct json *items;           /* ["jobs/NAME", …]; never NULL after CLEAN_ASKING */
    int deleted, left;
    char text[512];               /* of FAILED */
};

#endif
