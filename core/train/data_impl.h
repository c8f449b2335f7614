/* data_impl.h - the inside of struct data; for data*.c only. */
#ifndef CORE_TRAIN_DATA_IMPL_H
#define CORE_TRAIN_DATA_IMPL_H

#include "core/train/data.h"

/* One record as ids: prompt, response, EOS. */
struct data_example {
    int64_t at;                                  /* in data.pool */
    int n, prompt;                               /* all ids; those of the prompt */
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

struct data {
    enum data_kind kind;
    const struct tok *tok;
    int max_len;
    int32_t eos;
    int64_t count[DATA_SPLITS];
    struct data_perm perm[DATA_SPLITS];
    /* instructions */
    struct data_owned *records;
    struct data_example *examples;
    size_t records_n;
    struct tok_ids pool;
    uint32_t *members[DATA_SPLITS];              /* indices into records, in file order */
    int templates[DATA_SPLITS], longest;
    /* text */
    const uint16_t *tokens[DATA_SPLITS];         /* behind the header of the mapping */
    int64_t tokens_n[DATA_SPLITS];
    void *map[DATA_SPLITS];
    size_t map_n[DATA_SPLITS];
};

/* data_records.c: read, check and split a JSONL file. */
MUST_USE enum pd_code data_read_records(struct data *d, const char *path,
                                        const struct data_options *opt, struct pd_err *err);
void data_free_records(struct data *d);
/* data_text.c: is this a token file; map it. */
bool data_is_token_file(const char *path);
MUST_USE enum pd_code data_map_text(struct data *d, enum data_split s, const char *path,
                                    struct pd_err *err);
void data_unmap_text(struct data *d);

#endif
