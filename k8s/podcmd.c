/* podcmd.c - a short command in a container (podcmd.h). */
#include "k8s/podcmd.h"

#include "core/base/mem.h"

enum { OUT_MAX = 16 << 20, ERRORS_MAX = 4096 };

struct podcmd {
    struct exec *exec;
    struct str out, errors;
    podcmd_fn *fn;
    void *arg;
};

static void cmd_free(struct podcmd *c)
{
    exec_close(c->exec);
    str_release(&c->out);
    str_release(&c->errors);
    free(c);
}

void podcmd_cancel(struct podcmd *c)
{
    if (c)
        cmd_free(c);
}

static void on_output(void *arg, int channel, const char *p, size_t n)
{
    struct podcmd *c = arg;
    str_append(channel == 2 ? &c->errors : &c->out, p, n);
}

static void on_exit_code(void *arg, int code, const struct pd_err *err)
{
    struct podcmd *c = arg;
    c->exec = NULL;
    podcmd_fn *fn = c->fn;
    void *fn_arg = c->arg;
    struct str out = c->out, errors = c->errors;
    free(c);                             /* fn may start the next one */
    fn(fn_arg, code, &out, &errors, err);
    str_release(&out);
    str_release(&errors);
}

struct podcmd *podcmd_start(struct k8s *k, const struct exec_spec *spec, podcmd_fn *fn, void *arg)
{
    struct exec_handlers h = {.output = on_output, .exit = on_exit_code};
    struct podcmd *c = xcalloc(1, sizeof *c);
    h.arg = c;
    c->fn = fn;
    c->arg = arg;
    str_init(&c->out, OUT_MAX);
    str_init(&c->errors, ERRORS_MAX);
    c->exec = exec_start(k, spec, &h);
    return c;
}

bool podcmd_missing(int code, const struct pd_err *err)
{
    return code == 126 || code == 127 ||
           (code < 0 && err && (strstr(err->msg, "executable file not found") ||
                                strstr(err->msg, "no such file or directory")));
}

bool podcmd_cut(int code, const struct pd_err *err)
{
    return code < 0 && err && (err->code == PD_NET || err->code == PD_TIMEOUT ||
                               err->code == PD_PROTO);
}
