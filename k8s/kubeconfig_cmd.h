/* kubeconfig_cmd.h - `podium kubeconfig explain|check|view|contexts`: why can't I
 * connect, answered from the files and, if asked, by trying.
 *
 * Exit codes: 0 fine, 1 it can't connect so (or kubectl would refuse), 2 usage.
 */
#ifndef K8S_KUBECONFIG_CMD_H
#define K8S_KUBECONFIG_CMD_H

int kubeconfig_cmd(int argc, char **argv);

#endif
