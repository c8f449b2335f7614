/* image_report.h - what the image commands say: JSON lines (the format stands in
 * image_cmd.h) or text for people. One report a process.
 */
#ifndef K8S_IMAGE_IMAGE_REPORT_H
#define K8S_IMAGE_IMAGE_REPORT_H

#include "k8s/image/builder.h"
#include "k8s/image/unpack.h"

struct image_report {
    bool json;
    char last_digest[DIGEST_SIZE];    /* of the last progress line, and when */
    int64_t last_ms, last_done;
    int step, steps;
    bool bar;                         /* a progress line of text stands open */
};

void image_report_init(struct image_report *r, bool json);
void image_report_build(void *arg, const struct builder_event *e);
/* For struct registry_progress: what is "push" or "pull". */
void image_report_push(void *arg, const char *digest, int64_t done, int64_t total);
void image_report_pull(void *arg, const char *digest, int64_t done, int64_t total);
void image_report_unpack(void *arg, size_t n, size_t total, int64_t bytes);
/* im may be NULL (then no config). */
void image_report_done(struct image_report *r, const char *ref, const char *digest, int64_t bytes,
                       const struct image *im);
void image_report_error(struct image_report *r, const struct pd_err *err);

#endif
