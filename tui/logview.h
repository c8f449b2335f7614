/* logview.h - where a person is in the log: following its end, or held at a
 * line, with search, marks and sideways place.
 */
#ifndef TUI_LOGVIEW_H
#define TUI_LOGVIEW_H

#include "tui/logindex.h"

enum { LOGVIEW_MARKS = 32 };

struct logview {
    char find[128];                  /* the search; "" none is active */
    char find_before[128];           /* what Esc in the search line goes back to */
    uint64_t line_before;            /* 0 and follow_before: it was followed */
    int off_before;
    bool follow_before;
    bool times;
    int x;                           /* columns scrolled away */
    uint64_t line;                   /* held: the line under the cursor */
    int off;                         /* rows of the pane above it; < 0: it begins above */
    uint64_t mark[LOGVIEW_MARKS];    /* marked lines, rising */
    int marks;
    uint64_t serial;                 /* of the log that all this is about */
    struct logindex index;           /* not state: remembered arithmetic */
};

#endif
