/* runfile.h - a finished run from a file: a run log (docs/RUNLOG.md, as a pod's
 * log or `podium-train` gives it, other lines skipped), or a CSV as podium
 * writes it (any columns; "step" and "loss" are needed, of the others those
 * that podium knows are taken).
 */
#ifndef LABS_RUNFILE_H
#define LABS_RUNFILE_H

#include "labs/run.h"

/* Fills r (run_init has been called; r->pod becomes the file's name). PD_PARSE
 * with the line when it is neither, PD_IO when it can't be read. */
MUST_USE enum pd_code runfile_load(const char *path, struct run *r, struct pd_err *err);

#endif
