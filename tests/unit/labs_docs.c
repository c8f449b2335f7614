/* labs_docs.c - docs/LAB-FORMAT.md names what the parser knows, and its example
 * is a lab. */
#include "tests/t.h"

#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "labs/action.h"
#include "labs/check.h"
#include "labs/lab.h"

static char *manual(void)
{
    struct str s;
    struct pd_err err;
    str_init(&s, 1 << 20);
    CHECK_OK(path_read(PODIUM_SOURCE_DIR "/docs/LAB-FORMAT.md", 1 << 20, &s, &err));
    char *text = str_take(&s);
    str_release(&s);
    return text;
}

/* The row of a kind in the table behind `heading`. */
static char *row_of(const char *doc, const char *heading, const char *kind)
{
    char *start = xasprintf("\n| `%s` | ", kind);
    const char *part = strstr(doc, heading), *row = part ? strstr(part, start) : NULL;
    free(start);
    return row ? xstrndup(row + 1, strcspn(row + 1, "\n")) : NULL;
}

static void check_keys(const char *doc, const char *heading, const char *kind,
                       const struct lab_key *keys)
{
    char *row = row_of(doc, heading, kind);
    CHECK_MSG(row != NULL, "%s has no row for %s", heading, kind);
    for (; keys->name; keys++) {
        char *word = xasprintf("`%s", keys->name);
        CHECK_MSG(strstr(row, word) != NULL, "%s: the key %s is not explained", kind, keys->name);
        free(word);
    }
    free(row);
}

TEST(every_kind_and_key_is_explained)
{
    char *doc = manual();
    for (size_t i = 0; i < action_kind_count(); i++)
        check_keys(doc, "## Actions", action_kind_at((int)i)->name,
                   action_kind_at((int)i)->keys);
    for (size_t i = 0; i < check_kind_count(); i++)
        check_keys(doc, "`kind` is one of", check_kind_at((int)i)->name,
                   check_kind_at((int)i)->keys);
    free(doc);
}

TEST(the_example_is_a_lab)
{
    char *doc = manual();
    struct lab *lab = NULL;
    struct pd_err err;
    const char *begin = strstr(doc, "```yaml\n") + 8, *end = strstr(begin, "```");
    CHECK_OK(lab_parse("example", begin, (size_t)(end - begin), NULL, &lab, &err));
    CHECK_STR(lab->id, "hello");
    CHECK_INT(lab->steps[0].solves_n, 1);
    lab_free(lab);
    free(doc);
}

T_MAIN
