/* keys_cmd.c - `podium keys` (keys_cmd.h). */
#include "tui/keys_cmd.h"

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/utf8.h"
#include "tui/cmd.h"
#include "tui/settings.h"

const char keys_cmd_help[] =
    N_("usage: podium keys             all commands, their keys and where they hold\n"
       "       podium keys lint FILE   check a key map; the console reads\n"
       "                               ~/.config/podium/keys.yaml\n"
       "       podium keys --markdown  the tables of docs/CONSOLE.md\n"
       "\n"
       "Exit codes: 0 fine, 1 mistakes, 2 usage.\n");

/* What people press or type; the rest is run by questions and by undo. */
static bool shown(const struct cmd *c)
{
    return c->keys[0] || (c->views & VIEWS_MAIN);
}

/* "catalogue, step"; "everywhere", "in a lab". */
static const char *places(unsigned views, char *buf, size_t size)
{
    size_t used = 0;
    bool all = (views & VIEWS_MAIN) == VIEWS_MAIN, lab = (views & VIEWS_LAB) == VIEWS_LAB;
    buf[0] = '\0';
    if (all || lab)
        used = (size_t)snprintf(buf, size, "%s", all ? _("everywhere") : _("in a lab"));
    for (size_t i = 0; keymap_view_at(i); i++) {
        unsigned v = keymap_view_at(i);
        if (!(views & v) || (all && (v & VIEWS_MAIN)) || (lab && (v & VIEWS_LAB)) || used >= size)
            continue;
        used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
                                 keymap_view_name(v));
    }
    return buf;
}

/* A bar would end the cell. */
static void cell(struct str *out, const char *text)
{
    for (; *text; text++)
        str_printf(out, *text == '|' ? "\\%c" : "%c", *text);
}

void keys_cmd_commands(struct str *out)
{
    char keys[48], where[256];
    str_add(out, "| command | keys | where | what it does |\n|---|---|---|---|\n");
    for (size_t i = 0; i < cmd_count(); i++) {
        const struct cmd *c = cmd_at(i);
        if (!shown(c))
            continue;
        cmd_keys_label(c->keys, keys);
        str_printf(out, "| `%s` | ", c->name);
        cell(out, keys);
        str_printf(out, " | %s | %s |\n", places(c->views, where, sizeof where), _(c->help));
    }
}

void keys_cmd_settings(struct str *out)
{
    char choices[200];
    str_add(out, "| setting | choices | by itself | what it does |\n|---|---|---|---|\n");
    for (size_t i = 0; settings_at(i); i++) {
        const struct setting_def *d = settings_at(i);
        str_printf(out, "| `%s` | %s | %s | %s |\n", d->name,
                   settings_choices((enum setting)i, choices, sizeof choices), d->fallback,
                   _(d->help));
    }
}

static void column(const char *text, int width)
{
    printf("%s%*s", text, MAX(width - utf8_str_width(text), 1), "");
}

static int list(void)
{
    for (size_t i = 0; i < cmd_count(); i++) {
        const struct cmd *c = cmd_at(i);
        char keys[48], where[256];
        if (!shown(c))
            continue;
        column(c->name, 18);
        column(cmd_keys_label(c->keys, keys), 18);
        column(places(c->views, where, sizeof where), 24);
        puts(_(c->help));
    }
    return 0;
}

static int lint(const char *path)
{
    struct str text;
    struct keymap map = {0};
    struct faults faults = {0};
    struct pd_err err = {0};
    char buf[1024];
    str_init(&text, KEYMAP_BYTES_MOST);
    if (path_read(path, KEYMAP_BYTES_MOST, &text, &err) != PD_OK)
        faults_add_err(&faults, &err);
    else
        keymap_parse(path, text.p, text.len, &map, &faults);
    for (size_t i = 0; i < faults.n; i++) {
        const struct pd_err *e = &faults.v[i];
        if (e->code != PD_OK && !e->line)
            printf("%s\n", pd_describe(e, buf, sizeof buf));
        else
            printf("%s:%d:%d: %s%s\n", e->src, e->line, e->col, e->code ? "" : _("note: "), e->msg);
    }
    int bad = faults.bad > 0;
    if (!bad)
        printf(_("%s: %zu commands have other keys\n"), path, map.n);
    keymap_release(&map);
    faults_release(&faults);
    str_release(&text);
    return bad;
}

static int markdown(void)
{
    struct str out;
    str_init(&out, 1 << 20);
    keys_cmd_commands(&out);
    str_addc(&out, '\n');
    keys_cmd_settings(&out);
    fputs(out.p, stdout);
    str_release(&out);
    return 0;
}

int keys_cmd(int argc, char **argv)
{
    if (argc == 1)
        return list();
    if (argc == 2 && str_eq(argv[1], "--markdown"))
        return markdown();
    if (argc == 3 && str_eq(argv[1], "lint"))
        return lint(argv[2]);
    bool help = argc == 2 && str_eq(argv[1], "--help");
    fputs(_(keys_cmd_help), help ? stdout : stderr);
    return help ? 0 : 2;
}
