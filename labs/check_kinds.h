/* check_kinds.h - the entries of the check table, one a file check_NAME.c. */
#ifndef LABS_CHECK_KINDS_H
#define LABS_CHECK_KINDS_H

#include "labs/check.h"

extern const struct check_kind check_object, check_count, check_condition, check_event, check_log,
    check_file, check_image, check_metric, check_adapter, check_control, check_copy, check_absent,
    check_exec, check_model;

#endif
