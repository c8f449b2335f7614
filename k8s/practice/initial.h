/* initial.h - what stands in a fresh cluster: namespaces, service accounts, the
 * default storage class, the CA config map, roles and bindings; and the upkeep
 * that Kubernetes does for each namespace.
 */
#ifndef K8S_PRACTICE_INITIAL_H
#define K8S_PRACTICE_INITIAL_H

#include "k8s/practice/api.h"

struct initial;

/* Makes what is missing, gives each namespace its service account and CA, ends
 * namespaces that are being deleted, forgets Events after an hour. */
struct initial *initial_start(struct api *a, const char *ca_pem);
void initial_stop(struct initial *in);

#endif
