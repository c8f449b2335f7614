/* data_impl.h - the inside of struct data; for data*.c only. */
#ifndef CORE_TRAIN_DATA_IMPL_H
#define CORE_TRAIN_DATA_IMPL_H

#include "core/train/data.h"
#include "core/train/tok_chat.h"

/* One record as ids; which of them are trained: data.mask. */
struct data_example {
    int64_t at;                                  /* in data.pool and data.mask */
    int n, trained;                              /* all ids; the labels among them */
};

struct data_owned {                              /* a record's strings */
    char *instruction, *input, *output, *template, *lang;
    int line;
};

/* The permutation in use, of one split: places of epoch `epoch` by `seed`. */
struct data_perm {
    uint32_t *v;
    uint64_t seed;
    int64_t epoch;                               /* -1: none yet */
};

/* Records that share a row: bin k holds members[first[k] … first[k + 1]), places in
 * the training split. n 0: each record has a row of its own. */
struct data_bins {
    uint32_t *first, *members;
    int64_t n;
};

struct data {
    enum data_kind kind;
    const struct tok *tok;
    int max_len;
    int32_t eos;
    bool whole_epochs;
    bool packing;                                /* text: documents by themselves */
    struct data_bins bins;                       /* records */
    int64_t count[DATA_SPLITS];
    struct data_perm perm[DATA_SPLITS];
    /* instructions */
    struct data_owned *records;
    struct data_example *examples;
    size_t records_n;
    struct tok_ids pool, mask;                   /* mask: 1 where the id is trained */
    struct tok_chat *chat;                       /* NULL until a row needs it */
    int64_t cut, dropped;                        /* records that were too long */
    uint32_t *members[DATA_SPLITS];              /* indices into records, in file order */
    int templates[DATA_SPLITS], longest;
    /* text */
    const uint16_t *tokens[DATA_SPLITS];         /* behind the header of the mapping */
    int64_t tokens_n[DATA_SPLITS];
    void *map[DATA_SPLITS];
    size_t map_n[DATA_SPLITS];
};

/* The reading of one file. */
struct data_reader {
    struct data *d;
    const struct data_options *opt;
    const char *path;
    struct pd_err *err;
    int line;                                    /* of an array: the item */
    size_t cap;
    bool strict;                                 /* a row of the course's form was there */
    struct str prompt;
};

/* data_records.c: read and check a file of records. */
MUST_USE enum pd_code data_read_records(struct data *d, const char *path,
                                        const struct data_options *opt, struct pd_err *err);
void data_free_records(struct data *d);
void data_owned_release(struct data_owned *o);
/* data_encode.c: the ids and the mask of the last record, which may go again
 * when it is too long. */
MUST_USE enum pd_code data_encode_pair(struct data_reader *r, bool alpaca);
MUST_USE enum pd_code data_encode_text(struct data_reader *r);
MUST_USE enum pd_code data_encode_chat(struct data_reader *r, const struct tok_message *m,
                                       size_t n);
bool data_knows_policy(const char *name);
bool data_has_prompt(const char *lang);
/* data_split.c */
MUST_USE enum pd_code data_check_duplicates(struct data_reader *r);
MUST_USE enum pd_code data_make_split(struct data_reader *r);
uint64_t data_hash(const char *s);
/* data_pack.c: bins of d->max_len tokens. */
void data_pack(struct data *d);
void data_bins_release(struct data_bins *b);
/* data_text.c: is this a token file; map it. */
bool data_is_token_file(const char *path);
MUST_USE enum pd_code data_map_text(struct data *d, enum data_split s, const char *path,
                                    struct pd_err *err);
void data_unmap_text(struct data *d);

#endif
