/* layout_priv.h - the inside of a layout, for layout*.c only. */
#ifndef K8S_IMAGE_LAYOUT_PRIV_H
#define K8S_IMAGE_LAYOUT_PRIV_H

#include "k8s/image/layout.h"

struct layout {
    char *dir;
};

#endif
