/* log_line.h - one line of a log as spans: records of the training log as
 * sentences, others as they are, with level, time, container and search hits.
 */
#ifndef TUI_LOG_LINE_H
#define TUI_LOG_LINE_H

#include "tui/app.h"

struct log_line_look {
    const struct app *a;
    const char *find;                /* "" none */
    bool wrap, times;
    int x;                           /* columns scrolled away, when not wrapped */
    int w;
};

/* Rows that a line takes in the width. */
int log_line_rows(const struct log_line_look *k, const struct log_line *l);
/* Rows from..from+most of it; id goes to its first row, `mark` marks it. */
void log_line_put(const struct log_line_look *k, const struct log_line *l, struct rows *out,
                  int id, bool mark, int from, int most);
/* A record of the training log as the sentence it is shown as; false: it is none. */
bool log_line_sentence(const struct log_line *l, struct str *out);
/* Level by its words: ROLE_LOG, ROLE_LOG_WARN, ROLE_LOG_ERROR. */
enum role log_line_level(const char *text);

#endif
