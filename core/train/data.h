/* data.h - from files to batches of ids and labels.
 *
 * Two kinds of data stand behind one struct:
 *   instructions  records, as lines of JSON or one JSON array, in the forms of
 *                 data_forms.h. A pair becomes prompt + response + EOS, a
 *                 conversation what the model's chat template makes of it.
 *                 Only responses (every turn of the assistant) and what ends
 *                 them are trained (labels elsewhere DATA_IGNORE).
 *   text          a token file (data_text_build): one flat stream, EOS between
 *                 documents, memory-mapped; every token is trained.
 *
 * Labels are shifted already: labels[t] is the id that position t must
 * predict, i.e. ids[t + 1], or DATA_IGNORE. Rows are padded on the right with
 * EOS to the longest of the batch; masks go by length, never by id, so that
 * the EOS behind a response is trained although padding has the same id.
 *
 * With packing a row holds several whole records one behind the other, or the
 * documents of a window of text, each by itself: its positions begin at 0, and
 * nothing of one is seen or predicted from another.
 *
 * Batches are a pure function of (data, seed, index): the examples of epoch e
 * are permuted by (seed, e), the epochs follow each other without a gap, and
 * batch k takes places k·rows … k·rows + rows − 1. Resuming needs no state.
 */
#ifndef CORE_TRAIN_DATA_H
#define CORE_TRAIN_DATA_H

#include "core/train/tok.h"

#define DATA_IGNORE (-100)

enum data_kind { DATA_INSTRUCTIONS, DATA_TEXT };
enum data_split { DATA_TRAIN, DATA_VAL, DATA_SPLITS };

struct data_options {
    int max_len;                  /* T: longest row. Instructions: a longer record is an error
                                   * (0: 512). Text: the window (0: 256). */
    double val_fraction;          /* instructions: of the templates; 0: 0.15. Templates are
                                   * ordered by a hash of their name, the first validate. */
    const char *val_templates;    /* "a,b,c": exactly these instead; NULL: by fraction */
    const char *val_path;         /* text: the token file of the validation split; NULL: none */
    int32_t eos;                  /* -1: tok_eos */
    const char *model;            /* the folder with the chat template; NULL: none */
    bool chat_pairs;              /* pairs go into the chat template too */
    bool train_prompt;            /* everything is trained */
    bool packing;
    const char *too_long;         /* error (NULL), truncate (the end is cut off, with it the
                                   * EOS) or drop */
};

struct data_batch {
    int rows, len;                /* B and T of this batch */
    int32_t *ids, *labels;        /* [rows, len], row-major */
    int32_t *pos;                 /* [rows, len]: position within its record or document */
    int *lens;                    /* [rows]: used positions of each row */
    int64_t trained;              /* labels that are not DATA_IGNORE */
    int64_t *places;              /* [rows]: a number of the row's first record in the
                                   * endless stream; those behind it count on */
    int max_rows, max_len;        /* the room */
};
/* The only allocation: batches are filled in place afterwards. */
void data_batch_init(struct data_batch *b, int max_rows, int max_len);
void data_batch_release(struct data_batch *b);

struct data;

/* path: *.jsonl (instructions), or a token file (text; recognised by its
 * magic). Errors are PD_DATA with file and line: encoding, BOM, CRLF, a
 * missing or unknown key, an empty output, a duplicate, a record that is too
 * long, a split without records. tok is borrowed and must outlive the data
 * (text: it must be the tokenizer the file was made with, checked by
 * fingerprint). */
MUST_USE enum pd_code data_open(const char *path, const struct tok *tok,
                                const struct data_options *opt, struct data **out,
                                struct pd_err *err);
void data_free(struct data *d);

enum data_kind data_kind(const struct data *d);
int data_max_len(const struct data *d);          /* longest row there can be */
int64_t data_count(const struct data *d, enum data_split s);     /* examples (windows) */
int64_t data_tokens(const struct data *d, enum data_split s);    /* trained tokens in one epoch */
int64_t data_cut(const struct data *d);          /* records that were truncated */
int64_t data_dropped(const struct data *d);      /* … or left out, for their length */
int data_templates(const struct data *d, enum data_split s);     /* different templates */
int64_t data_rows(const struct data *d, enum data_split s);      /* rows of one epoch */
double data_padding(const struct data *d);       /* training: share of rows × data_max_len that
                                                  * no token fills */

/* Batch `index` of the shuffled endless stream. rows <= b->max_rows. PD_DATA
 * when nothing in it is trained (all masked) or the split is empty. */
MUST_USE enum pd_code data_batch(struct data *d, enum data_split s, uint64_t seed,
                                 int64_t index, int rows, struct data_batch *b,
                                 struct pd_err *err);
/* The lines of the first records of that batch into lines[most]; how many (0: text). */
int data_batch_lines(struct data *d, enum data_split s, uint64_t seed, int64_t index, int rows,
                     int most, int *lines);
/* Epochs end with a batch of their own, the last one smaller, instead of running
 * on into the next epoch; and how many batches one has. */
void data_whole_epochs(struct data *d, bool on);
int64_t data_batches(const struct data *d, int rows);
double data_epoch(const struct data *d, int64_t index, int rows);  /* epochs before that batch */
/* In the order of the file, each example once; b->rows is 0 behind the last. */
void data_eval_batch(struct data *d, enum data_split s, int64_t index, int rows,
                     struct data_batch *b);

/* One record, for evaluating and generating. Strings are borrowed from d. */
struct data_record {
    const char *instruction, *input, *output, *template, *lang;
    int line;
};
bool data_record(const struct data *d, enum data_split s, int64_t i, struct data_record *out);

/* The Alpaca prompt, up to and with "### Response:\n"; lang "zh" has a Chinese
 * form, every other the English one. input may be "" or NULL. */
void data_prompt(const char *lang, const char *instruction, const char *input, struct str *out);

/* Make a token file from UTF-8 text files; a line that holds only a form feed
 * (U+000C) ends a document. Written atomically. *tokens counts with EOS. */
MUST_USE enum pd_code data_text_build(const struct tok *tok, const char *const *paths, size_t n,
                                      const char *out_path, int64_t *tokens,
                                      struct pd_err *err);

/* Mean negative log-likelihood a token (nats) of the validation split under
 * the unigram distribution of the training split (add-one smoothing, trained
 * tokens only): the line that a model must beat. NaN without validation. */
double data_unigram_loss(struct data *d);

#endif
