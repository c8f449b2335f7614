/* check_copy.c - a folder was copied out of a Pod whole, with its checksum. */
#include "core/base/i18n.h"
#include "labs/check_kinds.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {{"to", LK_PATH, true}, {"files", LK_NUM, false},
                                      {NULL, LK_ANY, false}};

static void eval(const struct check_ctx *c, struct evidence *ev)
{
    const char *to = json_str(c->args, "to", "");
    const struct json *f = session_fact(c->s, "copy");
    check_subject(ev, "%s", to);
    str_copy(ev->path, sizeof ev->path, "sha256");
    if (!f || !str_eq(json_str(f, "to", ""), to)) {
        check_set(ev, CHECK_NOT_YET, "%s", _("nothing has been copied yet"));
        return;
    }
    int64_t files = json_int(f, "files", 0), want = json_int(c->args, "files", 1);
    str_fmt(ev->expected, sizeof ev->expected, _("%" PRId64 " files or more"), want);
    str_fmt(ev->actual, sizeof ev->actual, "%" PRId64 ", sha256 %s", files,
            json_str(f, "sha256", ""));
    check_set(ev, files >= want ? CHECK_PASS : CHECK_WRONG, "%s",
              files >= want ? "" : _("the folder in the Pod has too few files"));
}

const struct check_kind check_copy = {"copy", keys, eval, NULL, false, NULL};
