/* cmd.h - every command of the console in one table: its name, its keys, where
 * they hold, what the key row and the help say, and what it does.
 *
 * The table drives dispatch, the key row, the help overlay and the palette, so
 * that what is shown is what works. Commands without a function go to the
 * session under their own name (labs/session.h).
 */
#ifndef TUI_CMD_H
#define TUI_CMD_H

#include "tui/app.h"

typedef void cmd_fn(struct app *a, const char *arg, struct effects *out);
typedef bool cmd_when(const struct app *a);

struct cmd {
    const char *name;            /* as typed in the palette */
    const char *keys;            /* separated by blanks; "" none */
    unsigned views;              /* where the keys hold */
    unsigned row;                /* views whose key row shows it */
    int rank;                    /* order in the key row, low first */
    const char *label;           /* in the key row (gettext key) */
    const char *help;            /* one line (gettext key) */
    cmd_fn *run;                 /* NULL: of the session */
    cmd_when *when;              /* NULL: always */
};

size_t cmd_count(void);
const struct cmd *cmd_at(size_t i);
/* The command of a key in a view: the first that can run now, else the first;
 * NULL: none. */
const struct cmd *cmd_for_key(const struct app *a, enum view view, const char *key);
/* The keys of a command in a view, the person's own map applied. */
const char *cmd_keys(const struct app *a, const struct cmd *c, enum view view);
const struct cmd *cmd_by_name(const char *name);
bool cmd_enabled(const struct cmd *c, const struct app *a);
/* It belongs to an open lab alone. */
bool cmd_of_lab(const struct cmd *c);
/* The first of `keys` as people read it: "Space", "^C", "?", "Up". */
const char *cmd_key_label(const char *keys, char buf[16]);
/* What the key row says: "pause", or "resume" while the run is held. */
const char *cmd_label(const struct cmd *c, const struct app *a);
/* All of them: "j Down". */
const char *cmd_keys_label(const char *keys, char buf[48]);

/* cmd_move.c, cmd_view.c, cmd_curve.c, cmd_train.c */
cmd_fn cmd_down, cmd_up, cmd_page_down, cmd_page_up, cmd_top, cmd_bottom, cmd_enter;
cmd_fn cmd_next_pane, cmd_prev_pane, cmd_zoom, cmd_tab, cmd_tab_cluster, cmd_tab_log,
    cmd_tab_curve, cmd_tab_api, cmd_tab_why, cmd_why, cmd_back, cmd_quit, cmd_interrupt, cmd_help,
    cmd_palette, cmd_language, cmd_theme, cmd_glyphs, cmd_mouse, cmd_redraw, cmd_suspend, cmd_copy,
    cmd_copy_pane, cmd_follow, cmd_wrap, cmd_filter, cmd_open_lab, cmd_api_body, cmd_edit_open,
    cmd_edit_save, cmd_edit_close, cmd_edit_reload;
cmd_fn cmd_big, cmd_keys_show;
cmd_fn cmd_smooth_up, cmd_smooth_down, cmd_log_y, cmd_clip, cmd_band, cmd_live, cmd_fit,
    cmd_zoom_in, cmd_zoom_out, cmd_pan_left, cmd_pan_right, cmd_inspect_step, cmd_dots, cmd_export,
    cmd_x_axis, cmd_goto, cmd_step_lines, cmd_compare, cmd_compare_pick;
cmd_fn cmd_train_toggle, cmd_train_step, cmd_train_rate, cmd_train_inspect, cmd_train_walk,
    cmd_walk_next, cmd_walk_prev, cmd_tab_build, cmd_tab_train;
cmd_when cmd_has_panes, cmd_can_zoom, cmd_log_held, cmd_has_walk_more;
cmd_fn cmd_step_takeover, cmd_edit_fault;
cmd_when cmd_has_fault, cmd_has_manifest, cmd_has_conflict;
cmd_when cmd_has_actions, cmd_has_hint, cmd_has_edit, cmd_has_run, cmd_has_next, cmd_has_op,
    cmd_run_live, cmd_run_held, cmd_has_walk, cmd_has_cursor;

/* cmd_lab.c */
cmd_fn cmd_quiz_answer, cmd_step_notes, cmd_step_solution;
cmd_when cmd_has_question, cmd_has_notes, cmd_has_solution;
void cmd_lab_cleanup_ask(struct app *a);     /* what was found: delete it? */

/* cmd_confirm.c: the buttons of a question (tui/confirm.h) */
cmd_fn cmd_confirm_yes, cmd_confirm_no, cmd_confirm_switch, cmd_confirm_enter;

/* cmd_catalogue.c */
cmd_fn cmd_labs_sort, cmd_lab_reset, cmd_lab_reset_now, cmd_lab_restore;
cmd_when cmd_has_progress;
bool cmd_reset_message(struct app *a, const struct msg *m);
/* cmd_settings.c */
cmd_fn cmd_settings, cmd_set, cmd_set_next, cmd_set_prev, cmd_set_auto, cmd_undo;
cmd_when cmd_has_undo;
void cmd_set_from(struct app *a, const struct msg *m);
/* The person's own files came or changed; false: this is none of them. */
bool cmd_own_file(struct app *a, const struct msg *m);
/* cmd_shell.c: messages, keys, help, filters of lists */
/* A credential plugin that runs while we connect is ended: true when there was one. */
bool cmd_login_end(struct app *a, struct effects *out);
cmd_fn cmd_messages, cmd_keys_screen, cmd_list_filter, cmd_list_all, cmd_help_down, cmd_help_up,
    cmd_help_page_down, cmd_help_page_up, cmd_help_top, cmd_help_bottom, cmd_help_erase;
cmd_when cmd_help_below, cmd_help_above;

/* cmd_log.c */
cmd_fn cmd_log_times, cmd_log_left, cmd_log_right, cmd_log_find, cmd_log_next, cmd_log_prev,
    cmd_log_mark, cmd_log_jump, cmd_log_goto, cmd_log_since, cmd_log_save;
cmd_when cmd_log_searching, cmd_log_marked, cmd_has_log, cmd_has_lines;
void cmd_log_move(struct app *a, int by, bool page);
/* The whole text of the line under the cursor, NULL: there is none. */
const char *cmd_log_line_text(const struct app *a);

/* cmd_lists.c: the lists of the cluster and the objects in them */
cmd_fn cmd_api_errors, cmd_api_filter, cmd_pods, cmd_nodes, cmd_events, cmd_sort_name,
    cmd_sort_age, cmd_sort_status,
    cmd_sort_node, cmd_rows_filter, cmd_warnings, cmd_describe, cmd_yaml, cmd_owner, cmd_pod_node,
    cmd_nodes_look, cmd_pod_events, cmd_pod_log, cmd_pod_previous, cmd_pod_delete;
cmd_when cmd_has_pod, cmd_has_owner, cmd_has_node, cmd_has_lab;
void cmd_show_log(struct app *a);

/* cmd_conn.c: contexts, namespaces, the connection and one's rights */
cmd_fn cmd_ctx, cmd_ctx_use, cmd_ctx_probe, cmd_ns, cmd_ns_use, cmd_ns_probe, cmd_ns_type,
    cmd_conn, cmd_conn_retry, cmd_rights, cmd_rights_copy, cmd_can;
cmd_when cmd_has_missing;
/* cmd_stream.c: a shell in a container, ports that lead into pods */
cmd_fn cmd_pod_shell, cmd_shell_in, cmd_shell_show, cmd_shell_back, cmd_shell_end, cmd_shell_up,
    cmd_shell_down, cmd_pod_forward, cmd_forward_open, cmd_forwards, cmd_forward_stop;
cmd_when cmd_has_shell, cmd_shell_runs, cmd_shell_above, cmd_shell_below, cmd_has_forward;

/* Ask for one argument of a command in the input line. */
void cmd_ask(struct app *a, const char *title, const char *command, const char *start);

#endif
