/* session_warn.c - what the server warns of in its answers: said once each. */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/warning.h"
#include "labs/session_priv.h"

enum { WARNED_MAX = 64 };

void session_warned(struct session *s, struct api_row *r, const char *headers)
{
    struct strv *warned = &session_priv(s)->warned;
    char raw[400], text[400];
    struct str all;
    str_init(&all, 2000);
    while (warning_next(&headers, raw, sizeof raw)) {
        session_clean(text, sizeof text, raw);
        str_printf(&all, "%s%s", all.len ? "; " : "", text);
        if (strv_has(warned, text) || warned->n == WARNED_MAX)
            continue;
        strv_push(warned, text);
        session_say(s, PD_OK, _("the server warns: %s"), text);
    }
    if (all.len) {
        free(r->warning);
        r->warning = str_take(&all);
    }
    str_release(&all);
}
