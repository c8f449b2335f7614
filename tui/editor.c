/* editor.c - starting an editor in the foreground (editor.h). */
#include "tui/editor.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/str.h"

const char *editor_command(void)
{
    const char *v = getenv("VISUAL"), *e = getenv("EDITOR");
    if (v && *v)
        return v;
    return e && *e ? e : NULL;
}

static void become(char *const *argv)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(argv[0], argv);
    _exit(127);
}

enum pd_code editor_start(const char *path, int *pid, struct pd_err *err)
{
    struct strv argv;
    strv_init(&argv);
    strv_split(&argv, editor_command(), ' ');
    strv_push(&argv, path);
    fflush(NULL);
    *pid = fork();
    if (*pid == 0)
        become(argv.v);
    strv_release(&argv);
    return *pid > 0 ? PD_OK : pd_fail_errno(err, PD_IO, _("the editor can't be started"));
}

bool editor_ended(int pid, int *code)
{
    int status;
    if (waitpid(pid, &status, WNOHANG) != pid)
        return false;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}
