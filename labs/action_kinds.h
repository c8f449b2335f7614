/* action_kinds.h - the entries of the action table, one a file action_NAME.c. */
#ifndef LABS_ACTION_KINDS_H
#define LABS_ACTION_KINDS_H

#include "labs/action.h"

extern const struct action_kind action_apply, action_build, action_push, action_train, action_copy,
    action_exec, action_delete, action_model;

#endif
