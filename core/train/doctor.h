/* doctor.h - what is wrong with a data set, row by row, before it is trained on.
 *
 * Reads JSON Lines, a JSON array or plain text and never stops at the first
 * fault: every finding is collected with the rows that have it. Rows are lines,
 * counted from 1 (in an array: items). Understood forms of a row:
 *   Alpaca      {"instruction", "input", "output"}
 *   completion  {"prompt", "completion"} (or "response", "answer")
 *   messages    {"messages": [{"role", "content"}]}
 *   ShareGPT    {"conversations": [{"from", "value"}]}, human and gpt
 *   text        {"text"}
 *
 * An error keeps a row (or the file) from being trained as it stands; a warning
 * is trained and probably not meant.
 */
#ifndef CORE_TRAIN_DOCTOR_H
#define CORE_TRAIN_DOCTOR_H

#include "core/train/tjson.h"
#include "core/train/tok.h"

/* What they mean: doctor_print.c. */
enum doc_kind {
    DOC_EMPTY_FILE, DOC_UTF16, DOC_BOM, DOC_BAD_UTF8, DOC_CRLF, DOC_NOT_JSON, DOC_CUT_OFF,
    DOC_PYTHON, DOC_NAN, DOC_COMMA, DOC_TWO, DOC_PRETTY, DOC_EMPTY_LINE, DOC_ARRAY, DOC_NO_OBJECT,
    DOC_NO_FORM, DOC_SHAREGPT, DOC_COLUMN, DOC_MISSING, DOC_NO_ANSWER, DOC_NO_QUESTION,
    DOC_NO_TURNS, DOC_NO_ASSISTANT, DOC_FIRST, DOC_LAST, DOC_TWICE, DOC_ROLE, DOC_TURN, DOC_SAME,
    DOC_CONFLICT, DOC_SPECIAL, DOC_CONTROL, DOC_MOJIBAKE, DOC_LONG, DOC_KINDS
};

enum { DOC_ROWS = 48, DOC_DETAIL = 200 };

struct doc_finding {
    enum doc_kind kind;
    char detail[DOC_DETAIL];
    int rows[DOC_ROWS];           /* the first of them */
    int n;                        /* how many in all; 0: the file as a whole */
};

struct doc_columns;               /* doctor_columns.c */
struct doc_seen;                  /* doctor_rows.c */

struct doctor {
    struct doc_finding *v;
    int n, cap;
    int rows, good;               /* records; of them without an error */
    int forms[5];                 /* rows of each form */
    struct doc_columns *columns;
    struct doc_seen *seen;
    const struct tok *tok;        /* NULL: tokens are not counted */
    int most;                     /* tokens; 0: any */
    int *lengths;                 /* of each record, in tokens */
    int lengths_n, lengths_cap;
    int64_t trained;              /* tokens of answers */
};

void doctor_init(struct doctor *d, const struct tok *tok, int most);
void doctor_release(struct doctor *d);
/* PD_IO when the file can't be read; what is wrong in it are findings. */
MUST_USE enum pd_code doctor_read(struct doctor *d, const char *path, struct pd_err *err);
/* Errors among the findings. */
int doctor_errors(const struct doctor *d);
void doctor_print(const struct doctor *d, const char *path, bool json, FILE *to);

/* --- between the parts ---- */
void doctor_add(struct doctor *d, enum doc_kind kind, int row, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
/* A line that is no JSON: which of the usual ones it is. */
void doctor_explain_line(struct doctor *d, const char *s, size_t n, int row, bool last,
                         const struct pd_err *why);
/* A parsed row. */
void doctor_row(struct doctor *d, const struct tjson *j, int row);
void doctor_text(struct doctor *d, const char *s, int row);
void doctor_chat(struct doctor *d, const struct tjson *list, bool sharegpt, int row);
void doctor_column(struct doctor *d, const char *key, enum tjson_type type, int row);
void doctor_columns_end(struct doctor *d);
void doctor_columns_free(struct doc_columns *c);
void doctor_seen_free(struct doc_seen *s);
/* "1-3, 5" of sorted rows; "…" when n is larger than what is kept. */
void doctor_ranges(const int *rows, int kept, int n, struct str *out);

#endif
