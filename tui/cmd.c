/* cmd.c - the table of commands (cmd.h). */
#include "tui/cmd.h"

#include "core/base/i18n.h"

enum { CAT = VIEW_CATALOGUE, STEP = VIEW_STEP, CLUSTER = VIEW_CLUSTER, LOG = VIEW_LOG,
       CURVE = VIEW_CURVE, API = VIEW_API, LAB = VIEWS_LAB, MAIN = VIEWS_MAIN,
       SETTINGS = VIEW_SETTINGS, MESSAGES = VIEW_MESSAGES, KEYS = VIEW_KEYS, OVER = VIEWS_OVER,
       ROWS = VIEWS_ROWS, PICK = VIEWS_PICK, HELP = VIEW_HELP, EDIT = VIEW_EDIT,
       CONFIRM = VIEW_CONFIRM, ALL = VIEWS_MAIN | VIEW_HELP };

static const struct cmd table[] = {
    {"lab.open", "Enter", CAT, CAT, 1, N_("open"), N_("open the selected lab"), cmd_open_lab, NULL},

    {"lab.reset", "R", CAT, CAT, 3, N_("start over"),
     N_("start the selected lab over; its files are kept aside"), cmd_lab_reset,
     cmd_has_progress},
    {"lab.reset.now", "", CONFIRM, 0, 0, "", N_("start a lab over: ID"), cmd_lab_reset_now, NULL},
    {"lab.restore", "", CONFIRM, 0, 0, "", N_("bring a lab back: ID STEPS FOLDER"),
     cmd_lab_restore, NULL},
    {"labs.sort", "s", CAT, CAT, 5, N_("sort"), N_("by track, name, time or state"), cmd_labs_sort,
     NULL},

    {"log.find", "/", LOG, LOG, 1, N_("search"), N_("search in the log"), cmd_log_find,
     cmd_has_lines},
    {"log.next", "n", LOG, LOG, 2, N_("next hit"), N_("go to the next hit"), cmd_log_next,
     cmd_log_searching},
    {"log.prev", "N", LOG, LOG, 3, N_("hit before"), N_("go to the hit before"), cmd_log_prev,
     cmd_log_searching},
    {"log.keep", "f", LOG, LOG, 4, N_("follow"), N_("follow the end of the log"),
     cmd_follow, cmd_log_held},
    {"log.filter", "&", LOG, LOG, 5, N_("filter"), N_("show only lines with a text"), cmd_filter,
     NULL},
    {"log.wrap", "w", LOG, LOG, 8, N_("wrap"), N_("wrap long lines"), cmd_wrap,
     cmd_has_lines},
    {"log.times", "t", LOG, LOG, 9, N_("times"), N_("when each line was written"), cmd_log_times,
     cmd_has_lines},
    {"log.since", "S", LOG, LOG, 10, N_("since"),
     N_("the log since when: tail, head, 1m, 5m, 1h"), cmd_log_since, cmd_has_log},
    {"log.previous", "p", LOG, LOG, 11, N_("previous"),
     N_("the log of the container before this one, and back"), NULL, cmd_has_log},
    {"log.containers", "a", LOG, LOG, 12, N_("all"),
     N_("the logs of all containers of the pod, and back"), NULL, cmd_has_log},
    {"log.mark", "m", LOG, LOG, 13, N_("mark"), N_("mark the line, and back"), cmd_log_mark,
     cmd_has_lines},
    {"log.jump", "'", LOG, 0, 0, "", N_("go to the next mark"), cmd_log_jump, cmd_log_marked},
    {"log.save", "C-s", LOG, LOG, 14, N_("save"), N_("write the whole log to a file"),
     cmd_log_save, cmd_has_lines},
    {"log.left", "< Left", LOG, 0, 0, "", N_("move left in long lines"), cmd_log_left, NULL},
    {"log.right", "> Right", LOG, 0, 0, "", N_("move right in long lines"), cmd_log_right, NULL},
    {"log.clear", "", LAB, 0, 0, "", N_("empty the log on the screen"), NULL, cmd_has_lines},
    {"log.goto", "", LAB, 0, 0, "", N_("the log line of a step: N"), cmd_log_goto, cmd_has_lines},

    {"pod.describe", "Enter d", VIEW_PODS | VIEW_EVENTS, VIEW_PODS | VIEW_EVENTS, 1, N_("details"),
     N_("all about the selected object, with its phase times"), cmd_describe, NULL},
    {"pod.log", "l", VIEW_PODS | VIEW_OBJECT, VIEW_PODS | VIEW_OBJECT, 2, N_("log"),
     N_("follow the log of the selected pod"), cmd_pod_log, cmd_has_pod},
    {"pod.previous", "p", VIEW_PODS | VIEW_OBJECT, VIEW_OBJECT, 3, N_("previous"),
     N_("the log of the container before"), cmd_pod_previous, cmd_has_pod},
    {"pod.shell", "s", VIEW_PODS | VIEW_OBJECT, VIEW_PODS | VIEW_OBJECT, 4, N_("shell"),
     N_("a shell in a container of the selected pod"), cmd_pod_shell, cmd_has_pod},
    {"pod.forward", "F", VIEW_PODS | VIEW_OBJECT, VIEW_OBJECT, 9, N_("forward"),
     N_("lead a port of this machine into the selected pod"), cmd_pod_forward, cmd_has_pod},
    {"forwards", "f", VIEW_PODS | VIEW_OBJECT, 0, 0, "",
     N_("the ports of this machine that lead into pods"), cmd_forwards, NULL},
    {"forward.open", "", CONFIRM, 0, 0, "", N_("lead a port into the pod: [HERE:]PORT"),
     cmd_forward_open, NULL},
    {"forward.stop", "x C-d", VIEW_FORWARDS, VIEW_FORWARDS, 1, N_("stop"),
     N_("stop the selected port-forward"), cmd_forward_stop, cmd_has_forward},
    {"shell", "", VIEW_PODS, 0, 0, "", N_("back to the shell that is open"), cmd_shell_show,
     cmd_has_shell},
    {"shell.in", "", CONFIRM, 0, 0, "", N_("a shell in a container: NAME"), cmd_shell_in, NULL},
    {"shell.back", "C-]", VIEW_SHELL, VIEW_SHELL, 1, N_("back"),
     N_("leave the pane; the shell goes on"), cmd_shell_back, NULL},
    {"shell.end", "C-\\", VIEW_SHELL, VIEW_SHELL, 2, N_("hang up"), N_("end the shell"),
     cmd_shell_end, cmd_shell_runs},
    {"shell.up", "S-PgUp", VIEW_SHELL, VIEW_SHELL, 3, N_("up"), N_("a page up in what has gone"),
     cmd_shell_up, cmd_shell_above},
    {"shell.down", "S-PgDn", VIEW_SHELL, VIEW_SHELL, 4, N_("down"),
     N_("a page down again"), cmd_shell_down, cmd_shell_below},
    {"pod.yaml", "y", VIEW_PODS | VIEW_NODES | VIEW_OBJECT, VIEW_PODS | VIEW_NODES | VIEW_OBJECT, 5,
     N_("YAML"), N_("the whole object as YAML"), cmd_yaml, NULL},
    {"pod.events", "e", VIEW_PODS | VIEW_OBJECT, VIEW_OBJECT, 6, N_("events"),
     N_("the events of the selected pod"), cmd_pod_events, cmd_has_pod},
    {"pod.node", "o", VIEW_PODS | VIEW_OBJECT, VIEW_OBJECT, 7, N_("node"),
     N_("the node that the pod is on"), cmd_pod_node, cmd_has_node},
    {"pod.owner", "J", VIEW_OBJECT, VIEW_OBJECT, 8, N_("owner"), N_("the Job that owns the pod"),
     cmd_owner, cmd_has_owner},
    {"pod.end", "C-d", VIEW_PODS | VIEW_OBJECT, VIEW_PODS | VIEW_OBJECT, 12, N_("delete"),
     N_("delete the selected pod; asks first"), cmd_pod_delete, cmd_has_pod},
    {"rows.filter", "/", ROWS, ROWS, 3, N_("filter"), N_("show only rows with a text"),
     cmd_rows_filter, NULL},
    {"sort.name", "N", ROWS, ROWS, 9, N_("by name"), N_("sort by name; again: the other way"),
     cmd_sort_name, NULL},
    {"sort.age", "A", ROWS, ROWS, 10, N_("by age"), N_("sort by age; again: the other way"),
     cmd_sort_age, NULL},
    {"sort.status", "S", VIEW_PODS, VIEW_PODS, 11, N_("by status"), N_("sort by status"),
     cmd_sort_status, NULL},
    {"sort.node", "O", VIEW_PODS, 0, 0, "", N_("sort by node"), cmd_sort_node, NULL},
    {"events.warnings", "W", VIEW_EVENTS, VIEW_EVENTS, 4, N_("warnings"),
     N_("warnings alone, and back"), cmd_warnings, NULL},
    {"node.describe", "Enter d", VIEW_NODES, VIEW_NODES, 1, N_("details"),
     N_("all about the selected node, and who holds its devices"), cmd_describe, NULL},
    {"nodes.look", "C-r", VIEW_NODES, VIEW_NODES, 4, N_("read anew"),
     N_("read the pods of all namespaces anew"), cmd_nodes_look, NULL},

    {"step.run", "r", LAB, LAB & ~CURVE & ~LOG, 1, N_("run"), N_("run what this step does"), NULL,
     cmd_has_actions},
    {"step.preview", "D", LAB, STEP, 12, N_("preview"),
     N_("check this step's manifest, and see what it would change"), NULL, cmd_has_manifest},
    {"step.takeover", "O", STEP, STEP, 2, N_("take over"),
     N_("apply, and take the fields of other managers over"), cmd_step_takeover,
     cmd_has_conflict},
    {"step.edit", "e", LAB, LAB & ~CURVE & ~LOG, 2, N_("edit"),
     N_("edit the file of this step"), NULL, cmd_has_edit},
    {"step.check", "c", LAB & ~CURVE, LAB & ~CURVE & ~LOG, 3, N_("check"),
     N_("check this step now"), NULL, cmd_has_lab},
    {"step.hint", "H", LAB, LAB & ~CURVE & ~LOG, 4, N_("hint"), N_("show the next hint"), NULL,
     cmd_has_hint},
    {"step.next", "n", LAB, LAB & ~CURVE & ~LOG, 5, N_("next step"),
     N_("go to the next step"), NULL, cmd_has_next},
    {"quiz.answer", "Enter", STEP, STEP, 2, N_("answer"), N_("answer the question"),
     cmd_quiz_answer, cmd_has_question},
    {"step.solution", "V", LAB, STEP, 5, N_("solution"),
     N_("show the solution, after the last hint; it is recorded"), cmd_step_solution,
     cmd_has_solution},
    {"step.notes", "m", LAB & ~LOG, STEP, 9, N_("notes"), N_("the notes to this step"),
     cmd_step_notes, cmd_has_notes},
    {"lab.cleanup", "", LAB, 0, 0, "", N_("look what this lab made in the cluster, and delete it"),
     NULL, NULL},
    {"lab.simulate", "", LAB, 0, 0, "", N_("go to the practice cluster"), NULL, NULL},
    {"step.prev", "N", LAB, 0, 0, "", N_("go to the step before"), NULL, NULL},
    {"op.cancel", "X", LAB, LAB, 6, N_("cancel"), N_("cancel the running operation"), NULL,
     cmd_has_op},

    {"train.toggle", "Space", LAB, LAB, 7, N_("pause"),
     N_("pause or resume the training"), cmd_train_toggle, cmd_run_live},
    {"train.step", "a", LAB & ~LOG, CURVE | VIEW_TRAIN, 8, N_("one step"),
     N_("train one step, then hold"), cmd_train_step, cmd_run_live},
    {"train.rate", "R", LAB, CURVE | VIEW_TRAIN, 9, N_("rate"),
     N_("set the learning rate"), cmd_train_rate, cmd_run_live},
    {"train.inspect", "I", LAB, CURVE | VIEW_TRAIN, 16, N_("look inside"),
     N_("ask the trainer for norms or a tensor"), cmd_train_inspect, cmd_run_live},
    {"train.walk", "Enter", VIEW_TRAIN, VIEW_TRAIN, 1, N_("walk"),
     N_("walk through the next step, stage by stage"), cmd_train_walk, cmd_run_live},
    {"walk.next", "Right", VIEW_TRAIN, VIEW_TRAIN, 2, N_("stage"),
     N_("the next stage of the step"), cmd_walk_next, cmd_has_walk_more},
    {"walk.prev", "Left", VIEW_TRAIN, 0, 0, "", N_("the stage before"), cmd_walk_prev,
     cmd_has_walk},
    {"train.save", "W", LAB, CURVE | VIEW_TRAIN, 15, N_("save"), N_("save a checkpoint now"), NULL,
     cmd_run_live},
    {"train.pause", "", LAB, 0, 0, "", N_("pause the training"), NULL, cmd_run_live},
    {"train.resume", "", LAB, 0, 0, "", N_("resume the training"), NULL, cmd_run_live},
    {"train.quit", "", LAB, 0, 0, "", N_("end the training after a last checkpoint"), NULL,
     cmd_run_live},

    {"curve.inspect", "i", CURVE, CURVE, 10, N_("inspect"),
     N_("a cursor on the curve; Left and Right move it"), cmd_inspect_step, cmd_has_run},
    {"curve.in", "+ =", CURVE, CURVE, 11, N_("zoom in"), N_("zoom in"), cmd_zoom_in, cmd_has_run},
    {"curve.out", "-", CURVE, 0, 0, "", N_("zoom out"), cmd_zoom_out, NULL},
    {"curve.left", "Left <", CURVE, 0, 0, "", N_("move the cursor or the view left"), cmd_pan_left,
     NULL},
    {"curve.right", "Right >", CURVE, 0, 0, "", N_("move the cursor or the view right"),
     cmd_pan_right, NULL},
    {"curve.fit", "0", CURVE, 0, 0, "", N_("show the whole run"), cmd_fit, NULL},
    {"curve.live", ".", CURVE, 0, 0, "", N_("back to the live end"), cmd_live, NULL},
    {"curve.smooth", "S", CURVE, 0, 0, "", N_("smooth more"), cmd_smooth_up, NULL},
    {"curve.rough", "s", CURVE, CURVE, 12, N_("smooth less"), N_("smooth less"), cmd_smooth_down,
     cmd_has_run},
    {"curve.log", "l", CURVE, CURVE, 13, N_("log"),
     N_("logarithmic axes: y, x, both, none"), cmd_log_y, cmd_has_run},
    {"curve.clip", "o", CURVE, 0, 0, "", N_("cut outliers away (says how many)"), cmd_clip, NULL},
    {"curve.x", "x", CURVE, 0, 0, "", N_("x: step, tokens, epoch or time"), cmd_x_axis,
     cmd_has_run},
    {"curve.goto", "", CURVE, 0, 0, "", N_("put the cursor on a step"), cmd_goto, cmd_has_run},
    {"curve.lines", "Enter", CURVE, CURVE, 10, N_("log lines"),
     N_("the log lines of the step under the cursor"), cmd_step_lines, cmd_has_cursor},
    {"curve.compare", "c", CURVE, CURVE, 12, N_("compare"),
     N_("show other runs beside this one"), cmd_compare, NULL},
    {"runs.pick", "Enter", VIEW_RUNS, VIEW_RUNS, 1, N_("show or hide"),
     N_("show this run beside the curve, or hide it"), cmd_compare_pick, NULL},
    {"curve.band", "w b", CURVE, 0, 0, "", N_("raw points on or off"), cmd_band, NULL},
    {"curve.dots", "A", CURVE, 0, 0, "", N_("draw with braille, blocks or ASCII"), cmd_dots, NULL},
    {"curve.export", "E", CURVE, CURVE, 14, N_("export"),
     N_("write the curve: CSV, SVG, PNG or text"), cmd_export, cmd_has_run},

    {"api.filter", "/", API, API, 9, N_("filter"), N_("show only requests with a text"),
     cmd_api_filter, NULL},
    {"api.failed", "F", API, API, 10, N_("failed"), N_("failed requests alone, and back"),
     cmd_api_errors, NULL},
    {"api.body", "Enter v", API, API, 8, N_("body"), N_("show what was sent"), cmd_api_body, NULL},
    {"cluster.open", "Enter", CLUSTER, CLUSTER, 8, N_("open"),
     N_("the log of the selected pod; on a heading its list"), cmd_enter, NULL},
    {"cluster.describe", "d", CLUSTER, CLUSTER, 10, N_("details"),
     N_("all about the selected pod, with its phase times"), cmd_describe, cmd_has_pod},
    {"pods", "", MAIN, 0, 0, "", N_("all pods of the namespace"), cmd_pods, NULL},
    {"nodes", "", MAIN, 0, 0, "", N_("nodes and accelerators, and who holds them"), cmd_nodes,
     NULL},
    {"events", "", MAIN, 0, 0, "", N_("all events of the namespace"), cmd_events, NULL},
    {"ctx", "", MAIN, 0, 0, "", N_("the contexts of your kubeconfig files; a name goes there"),
     cmd_ctx, NULL},
    {"ctx.go", "Enter", VIEW_CTX, VIEW_CTX, 1, N_("switch"), N_("go to the selected context"),
     cmd_ctx_use, NULL},
    {"ctx.ask", "p", VIEW_CTX, VIEW_CTX, 2, N_("ask"),
     N_("does the cluster of the selected context answer?"), cmd_ctx_probe, NULL},
    {"ns", "", MAIN, 0, 0, "", N_("the namespaces to choose from; a name goes there"), cmd_ns,
     NULL},
    {"ns.go", "Enter", VIEW_NS, VIEW_NS, 1, N_("switch"), N_("go to the selected namespace"),
     cmd_ns_use, NULL},
    {"ns.ask", "p", VIEW_NS, VIEW_NS, 2, N_("ask"),
     N_("what may be done in the selected namespace?"), cmd_ns_probe, NULL},
    {"ns.type", "n", VIEW_NS, VIEW_NS, 3, N_("any name"),
     N_("go to a namespace by its name, listed or not"), cmd_ns_type, NULL},
    {"conn", "", MAIN, 0, 0, "", N_("server, user, certificates, latency, age of the lists"),
     cmd_conn, NULL},
    {"conn.again", "C-r", VIEW_CONN, VIEW_CONN, 1, N_("ask again"),
     N_("ask again who you are; without a link, try now"), cmd_conn_retry, NULL},
    {"rights", "", MAIN, 0, 0, "", N_("what you may do here, and the Role to ask for"),
     cmd_rights, NULL},
    {"can", "", MAIN, 0, 0, "", N_("may you do this? VERB RESOURCE"), cmd_can, NULL},
    {"rights.copy", "y", VIEW_RIGHTS, VIEW_RIGHTS, 1, N_("copy Role"),
     N_("copy the Role that would give what is missing"), cmd_rights_copy, cmd_has_missing},
    {"rights.again", "C-r", VIEW_RIGHTS, VIEW_RIGHTS, 2, N_("ask again"),
     N_("ask again what you may do"), cmd_rights, NULL},

    {"down", "j Down", MAIN, 0, 0, "", N_("down"), cmd_down, NULL},
    {"up", "k Up", MAIN, 0, 0, "", N_("up"), cmd_up, NULL},
    {"page.down", "PgDn C-f", MAIN, 0, 0, "", N_("page down"), cmd_page_down, NULL},
    {"page.up", "PgUp C-b", MAIN, 0, 0, "", N_("page up"), cmd_page_up, NULL},
    {"top", "g Home", MAIN, 0, 0, "", N_("to the beginning"), cmd_top, NULL},
    {"bottom", "G End", MAIN, 0, 0, "", N_("to the end"), cmd_bottom, NULL},

    {"tab.cluster", "1", LAB, 0, 0, "", N_("nodes, pods and events"), cmd_tab_cluster, NULL},
    {"tab.log", "2", LAB, 0, 0, "", N_("the log"), cmd_tab_log, NULL},
    {"tab.curve", "3", LAB, 0, 0, "", N_("the loss curve"), cmd_tab_curve, NULL},
    {"tab.api", "4", LAB, 0, 0, "", N_("the API calls, as kubectl would"), cmd_tab_api, NULL},
    {"tab.build", "6", LAB, 0, 0, "", N_("the image build and push"), cmd_tab_build, NULL},
    {"tab.why", "5", LAB, 0, 0, "", N_("what is wrong, and the next step"), cmd_tab_why, NULL},
    {"tab.train", "7", LAB, 0, 0, "", N_("steer the training, walk through a step"),
     cmd_tab_train, NULL},
    {"why", "w", VIEW_STEP | CLUSTER | API | VIEW_WHY | VIEW_PODS | VIEW_OBJECT,
     CLUSTER | VIEW_WHY | VIEW_PODS | VIEW_OBJECT, 9, N_("why"),
     N_("explain the selected pod, or the lab's Job"), cmd_why, NULL},
    {"pane.next", "Tab", LAB | CAT, LAB, 20, N_("focus"), N_("the next pane"), cmd_next_pane,
     cmd_has_panes},
    {"pane.prev", "S-Tab", LAB | CAT, 0, 0, "", N_("the pane before"), cmd_prev_pane, NULL},
    {"zoom", "z", LAB, LAB, 21, N_("zoom"), N_("this pane alone, and back"), cmd_zoom,
     cmd_can_zoom},

    {"copy", "y", MAIN & ~(VIEW_PODS | VIEW_NODES | VIEW_OBJECT | VIEW_RIGHTS), 0, 0, "",
     N_("copy the selected row"), cmd_copy, NULL},
    {"copy.row", "c", ROWS, 0, 0, "", N_("copy the selected row"), cmd_copy, NULL},
    {"copy.pane", "Y", MAIN, VIEW_YAML, 5, N_("copy all"), N_("copy the pane as text"),
     cmd_copy_pane, NULL},
    {"language", "L", MAIN, CAT, 22, N_("language"), N_("English or Chinese"), cmd_language, NULL},
    {"theme", "T", MAIN, CAT, 23, N_("theme"), N_("the next theme"), cmd_theme,
     NULL},
    {"glyphs", "", MAIN, 0, 0, "", N_("signs: unicode, cjk-safe or ascii"), cmd_glyphs, NULL},
    {"big", "", MAIN | HELP, 0, 0, "", N_("big mode for a projector, on or off"), cmd_big, NULL},
    {"keys.show", "", MAIN | HELP, 0, 0, "", N_("show the keys that are pressed, on or off"),
     cmd_keys_show, NULL},
    {"mouse", "M", MAIN | HELP, 0, 0, "", N_("the mouse for podium, or for selecting text"),
     cmd_mouse, NULL},
    {"redraw", "C-l", ALL | EDIT | CONFIRM, 0, 0, "", N_("draw the screen anew"), cmd_redraw, NULL},
    {"suspend", "C-z", ALL | EDIT | CONFIRM, 0, 0, "", N_("stop podium and go to the shell"),
     cmd_suspend, NULL},
    {"interrupt", "C-c", ALL | EDIT | CONFIRM, 0, 0, "", N_("cancel what runs; twice: leave"),
     cmd_interrupt, NULL},
    {"palette", ":", MAIN, MAIN, 30, N_("commands"), N_("run any command by name"), cmd_palette,
     NULL},
    {"settings", "", MAIN, 0, 0, "", N_("language, colours, signs and the rest"), cmd_settings,
     NULL},
    {"set", "", MAIN, 0, 0, "", N_("one setting: NAME VALUE"), cmd_set, NULL},
    {"keys", "", MAIN, 0, 0, "", N_("all commands and their keys"), cmd_keys_screen, NULL},
    {"messages", "!", MAIN, 0, 0, "", N_("the last errors in full, and what was said before"),
     cmd_messages, NULL},
    {"undo", "u", MAIN, SETTINGS | CAT, 6, N_("undo"), N_("take the last change back"), cmd_undo,
     cmd_has_undo},
    {"set.next", "Right Enter Space", SETTINGS, SETTINGS, 1, N_("next"), N_("the next choice"),
     cmd_set_next, NULL},
    {"set.prev", "Left", SETTINGS, SETTINGS, 2, N_("previous"), N_("the choice before"),
     cmd_set_prev, NULL},
    {"set.auto", "Del Backspace", SETTINGS, SETTINGS, 3, N_("auto"),
     N_("what podium would choose by itself"), cmd_set_auto, NULL},
    {"list.filter", "/", CAT | KEYS | PICK, CAT | KEYS | PICK, 4, N_("filter"),
     N_("show only what has a text"), cmd_list_filter, NULL},

    {"list.all", "Esc", CAT, 0, 0, "", N_("show all labs again"), cmd_list_all, NULL},

    {"help", "? F1", ALL, MAIN, 31, N_("help"), N_("this help"), cmd_help, NULL},
    {"help.down", "Down", HELP, 0, 0, "", N_("down"), cmd_help_down, NULL},
    {"help.up", "Up", HELP, 0, 0, "", N_("up"), cmd_help_up, NULL},
    {"help.page.down", "PgDn", HELP, HELP, 1, N_("page down"), N_("page down"),
     cmd_help_page_down, cmd_help_below},
    {"help.page.up", "PgUp", HELP, HELP, 2, N_("page up"), N_("page up"), cmd_help_page_up,
     cmd_help_above},
    {"help.top", "Home", HELP, 0, 0, "", N_("to the beginning"), cmd_help_top, NULL},
    {"help.bottom", "End", HELP, 0, 0, "", N_("to the end"), cmd_help_bottom, NULL},
    {"help.erase", "Backspace", HELP, 0, 0, "", N_("take a letter off the filter"),
     cmd_help_erase, NULL},
    {"back", "Esc q", LAB | OVER, LAB | OVER, 32, N_("back"), N_("one level back"), cmd_back,
     NULL},
    {"help.close", "Esc", HELP, HELP, 32, N_("close"), N_("close the help"), cmd_back, NULL},
    {"quit", "q", CAT, CAT, 32, N_("quit"), N_("leave podium"), cmd_quit, NULL},

    {"edit.save", "C-s", EDIT, EDIT, 1, N_("save"), N_("save the file"), cmd_edit_save, NULL},
    {"edit.close", "Esc", EDIT, EDIT, 2, N_("close"), N_("close the editor"), cmd_edit_close, NULL},
    {"edit.fault", "C-n", EDIT, EDIT, 4, N_("next fault"),
     N_("go to the next line that something is wrong with"), cmd_edit_fault, cmd_has_fault},
    {"edit.reload", "C-r", EDIT, EDIT, 3, N_("start over"),
     N_("take the file as it is on disk"), cmd_edit_reload, NULL},
    {"confirm.enter", "Enter", CONFIRM, CONFIRM, 1, N_("the marked one"),
     N_("press the marked button"), cmd_confirm_enter, NULL},
    {"confirm.switch", "Tab Left Right S-Tab h l", CONFIRM, CONFIRM, 2, N_("other button"),
     N_("mark the other button"), cmd_confirm_switch, NULL},
    {"confirm.yes", "y", CONFIRM, CONFIRM, 3, N_("do it"), N_("do what was asked for"),
     cmd_confirm_yes, NULL},
    {"confirm.no", "n Esc q", CONFIRM, CONFIRM, 4, N_("cancel"), N_("do nothing"), cmd_confirm_no,
     NULL},
    {"edit.open", "", EDIT, 0, 0, "", N_("open a file in the editor"), cmd_edit_open, NULL},
};

size_t cmd_count(void)
{
    return ARRAY_LEN(table);
}

const struct cmd *cmd_at(size_t i)
{
    return &table[i];
}

const char *cmd_keys(const struct app *a, const struct cmd *c, enum view view)
{
    return keymap_keys(&a->keymap, c, view);
}

const struct cmd *cmd_for_key(const struct app *a, enum view view, const char *key)
{
    const struct cmd *first = NULL;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (!(table[i].views & view) || !keymap_has(cmd_keys(a, &table[i], view), key))
            continue;
        if (cmd_enabled(&table[i], a))
            return &table[i];
        first = first ? first : &table[i];
    }
    return first;
}

const struct cmd *cmd_by_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (str_eq(table[i].name, name))
            return &table[i];
    return NULL;
}

bool cmd_of_lab(const struct cmd *c)
{
    return (c->views & VIEWS_LAB) && !(c->views & (VIEW_CATALOGUE | VIEWS_OVER));
}

bool cmd_enabled(const struct cmd *c, const struct app *a)
{
    return !c->when || c->when(a);
}

static void pretty(const char *key, size_t n, char *buf, size_t size)
{
    if (n > 2 && key[0] == 'C' && key[1] == '-')
        snprintf(buf, size, "^%c", key[2] >= 'a' && key[2] <= 'z' ? key[2] - 32 : key[2]);
    else
        snprintf(buf, size, "%.*s", (int)n, key);
}

const char *cmd_key_label(const char *keys, char buf[16])
{
    pretty(keys, strcspn(keys, " "), buf, 16);
    return buf;
}

const char *cmd_label(const struct cmd *c, const struct app *a)
{
    return c->run == cmd_train_toggle && cmd_run_held(a) ? _("resume") : _(c->label);
}

const char *cmd_keys_label(const char *keys, char buf[48])
{
    size_t used = 0;
    buf[0] = '\0';
    for (const char *p = keys; *p && used < 40;) {
        size_t w = strcspn(p, " ");
        if (used)
            buf[used++] = ' ';
        pretty(p, w, buf + used, 48 - used);
        used = strlen(buf);
        p += w + (p[w] == ' ');
    }
    return buf;
}
