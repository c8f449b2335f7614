/* tui_docs.c - docs/CONSOLE.md has the tables that the program makes. GOLDEN=1
 * writes them anew. */
#include "tests/t.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "tui/keys_cmd.h"

#define CONSOLE_MD PODIUM_SOURCE_DIR "/docs/CONSOLE.md"

static char *document(void)
{
    struct str s;
    struct pd_err err;
    str_init(&s, 1 << 20);
    CHECK_OK(path_read(CONSOLE_MD, 1 << 20, &s, &err));
    char *text = str_take(&s);
    str_release(&s);
    return text;
}

/* The text between <!-- name --> and <!-- end --> is this. */
static void table(const char *name, void (*make)(struct str *out))
{
    struct str want, all;
    struct pd_err err;
    char *doc = document(), *mark = xasprintf("<!-- %s -->\n", name);
    char *from = strstr(doc, mark), *to = from ? strstr(from, "<!-- end -->") : NULL;
    CHECK_MSG(to != NULL, "docs/CONSOLE.md has no place for %s", name);
    from += strlen(mark);
    str_init(&want, 1 << 20);
    make(&want);
    if (getenv("GOLDEN")) {
        str_init(&all, 1 << 20);
        str_append(&all, doc, (size_t)(from - doc));
        str_add(&all, want.p);
        str_add(&all, to);
        CHECK_OK(path_write_atomic(CONSOLE_MD, 0644, all.p, all.len, &err));
        str_release(&all);
    } else {
        CHECK_MSG((size_t)(to - from) == want.len && memcmp(from, want.p, want.len) == 0,
                  "the %s of docs/CONSOLE.md are not those of the program: make golden", name);
    }
    str_release(&want);
    free(mark);
    free(doc);
}

TEST(the_commands_are_those_of_the_program)
{
    i18n_init("en");
    table("commands", keys_cmd_commands);
}

TEST(the_settings_are_those_of_the_program)
{
    i18n_init("en");
    table("settings", keys_cmd_settings);
}

T_MAIN
