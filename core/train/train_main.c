/* train_main.c - podium-train: the training core as a program. Commands stand
 * in cmd.c; this file reads the command line and catches the signals (as
 * process 1 of a container a signal without a handler is ignored).
 */
#include <signal.h>

#include "core/base/i18n.h"
#include "core/train/cmd.h"
#include "core/train/options.h"

static volatile int stop;

static void on_signal(int sig)
{
    stop = sig;
}

static void catch_signals(void)
{
    static const int caught[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction sa = {.sa_handler = on_signal};
    for (size_t i = 0; i < ARRAY_LEN(caught); i++)
        sigaction(caught[i], &sa, NULL);
    signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
    struct options o;
    struct pd_err err;
    char text[1200];
    int rc;
    i18n_init(NULL);
    catch_signals();
    if (options_parse(argc, argv, &o, &err) != PD_OK) {
        fprintf(stderr, "podium-train: %s\n", pd_describe(&err, text, sizeof text));
        rc = TRAINER_USAGE;
    } else if (o.version) {
        printf("podium-train %s\n", PODIUM_VERSION);
        rc = TRAINER_DONE;
    } else if (o.help) {
        options_help(o.command, stdout);
        rc = TRAINER_DONE;
    } else if (o.print_config) {
        options_print(&o, stdout);
        rc = TRAINER_DONE;
    } else {
        rc = cmd_run(&o, &stop);
    }
    options_release(&o);
    return rc;
}
