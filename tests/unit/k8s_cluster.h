/* k8s_cluster.h - the server of a test that runs on a practice cluster of its own
 * or, with FAULTS_KUBECONFIG (all rights) and FAULTS_NS, on a real one.
 */
#ifndef TESTS_K8S_CLUSTER_H
#define TESTS_K8S_CLUSTER_H

#include <sys/wait.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "k8s/client.h"
#include "tests/t.h"

static inline void cluster_shell(const char *text)
{
    char bin[4096], *full;
    ssize_t n = readlink("/proc/self/exe", bin, sizeof bin - 1);
    CHECK(n > 0);
    bin[n] = '\0';
    for (int up = 0; up < 2; up++)
        *strrchr(bin, '/') = '\0';
    full = xasprintf("cd %s && exec >>log 2>&1; \"%s/podium-practice\" %s", t_dir(), bin, text);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", full, (char *)NULL);
        _exit(127);
    }
    int status;
    waitpid(pid, &status, 0);
    free(full);
    CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "podium-practice %s failed", text);
}

static inline void cluster_stop(void)
{
    cluster_shell("reset");
}

static inline void cluster_start(void)
{
    static const char *const unset[] = {"KUBECONFIG", "XDG_STATE_HOME", "XDG_DATA_HOME",
                                        "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"};
    setenv("HOME", t_dir(), 1);
    for (size_t i = 0; i < ARRAY_LEN(unset); i++)
        unsetenv(unset[i]);
    cluster_shell("start");
    atexit(cluster_stop);
    cluster_shell("kubeconfig --admin > config");
}

/* Who may do everything; the namespace to work in is returned. */
static inline const char *cluster_open(struct kube_context *x)
{
    struct pd_err err;
    char path[4200];
    const char *given = getenv("FAULTS_KUBECONFIG");
    if (!given)
        cluster_start();
    str_fmt(path, sizeof path, "%s/config", t_dir());
    struct kube_options o = {.kubeconfig = given ? given : path};
    CHECK_OK(kubeconfig_open(&o, x, &err));
    return getenv("FAULTS_NS") ? getenv("FAULTS_NS") : "default";
}

#endif
