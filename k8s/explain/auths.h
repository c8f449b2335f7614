/* auths.h - what may be known of a Secret: all but its values. */
#ifndef K8S_EXPLAIN_AUTHS_H
#define K8S_EXPLAIN_AUTHS_H

#include "core/base/json.h"

/* Takes the values out of a Secret object, in place. Key names stay as `keys`
 * (an array); for registry credentials `hosts` names the registries they are
 * for, without users or passwords. */
void auths_only(struct json *secret);
/* The registry host of an image name: "registry.lab:5000/a/b:1" gives
 * "registry.lab:5000"; a name without a host belongs to docker.io. buf >= 256. */
const char *auths_image_host(const char *image, char buf[256]);
/* Is a host of the Secret's credentials the one of the image? */
bool auths_has_host(const struct json *secret, const char *host);

#endif
