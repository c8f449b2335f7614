/* golden.h - screens as text against tests/screens/NAME.txt, in three sizes and
 * two languages. GOLDEN=1 rewrites them. */
#ifndef TESTS_SCREENS_GOLDEN_H
#define TESTS_SCREENS_GOLDEN_H

#include "tests/screens/fixture.h"
#include "tests/screens/invariants.h"

static const struct { const char *name; int cols, rows; } sizes[] = {
    {"40x12", 40, 12}, {"80x24", 80, 24}, {"120x40", 120, 40}};

UNUSED static void compare(const struct app *a, const char *name)
{
    struct str got, want;
    struct pd_err err = {0};
    char *path = xasprintf(PODIUM_SOURCE_DIR "/tests/screens/%s.txt", name);
    fx_screen(a, &got);
    str_init(&want, 1 << 20);
    if (getenv("GOLDEN"))
        CHECK_OK(path_write_atomic(path, 0644, got.p, got.len, &err));
    CHECK_OK(path_read(path, 1 << 20, &want, &err));
    if (strcmp(got.p, want.p) != 0)
        t_fail(path, 1, "the screen differs; it is now:\n%s", got.p);
    str_release(&got);
    str_release(&want);
    free(path);
}

/* The Chinese screens need $B/locale, which `make all` builds. */
UNUSED static void need_catalogue(void)
{
    i18n_init("zh");
    if (str_eq(_("help"), "help"))
        t_skip("the Chinese catalogue is not built: make all");
}

UNUSED static void all_sizes(const char *what, setup_fn *setup)
{
    static const char *const langs[] = {"en", "zh"};
    for (size_t l = 0; l < ARRAY_LEN(langs); l++)
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
            if (str_eq(langs[l], "zh"))
                need_catalogue();
            struct app *a = fx_app(langs[l], sizes[i].cols, sizes[i].rows, GLYPH_UNICODE);
            char name[64];
            setup(a);
            compare(a, str_fmt(name, sizeof name, "%s-%s-%s", what, sizes[i].name, langs[l]));
            fx_free(a);
        }
    iv_all(what, setup);
}

#endif
