/* config.c - ~/.config/podium/config.yaml: read with every mistake's place,
 * changed a line at a time (settings.h). */
#include "core/base/i18n.h"
#include "core/base/yaml.h"
#include "tui/settings.h"

static void read_one(const char *name, const struct ynode *n, const char *values[SET_COUNT],
                     struct faults *faults)
{
    const char *names[SET_COUNT];
    char choices[160];
    int i = settings_by_name(n->key);
    for (size_t k = 0; k < SET_COUNT; k++)
        names[k] = settings_at(k)->name;
    if (i < 0 && str_starts(n->key, "x-"))
        return;
    if (i < 0) {
        const char *near = str_nearest(n->key, names, SET_COUNT);
        faults_add(faults, name, n->key_line, n->key_col,
                   near ? _("there is no setting '%.40s'; did you mean '%s'?")
                        : _("there is no setting '%.40s'%s"), n->key, near ? near : "");
    } else if (n->kind == Y_MAP || n->kind == Y_SEQ || n->kind == Y_NULL ||
               !settings_ok((enum setting)i, n->text)) {
        faults_add(faults, name, n->line, n->col, _("%s can't be '%.40s'; it is one of: %s"),
                   n->key, n->text ? n->text : "", settings_choices((enum setting)i, choices,
                                                                    sizeof choices));
    } else {
        values[i] = n->text;
    }
}

void config_parse(const char *name, const char *text, size_t len, const char *values[SET_COUNT],
                  struct ydoc **docs, struct faults *faults)
{
    struct pd_err err = {0};
    for (int i = 0; i < SET_COUNT; i++)
        values[i] = NULL;
    *docs = NULL;
    if (yaml_parse(name, text, len, docs, &err) != PD_OK) {
        faults_add_err(faults, &err);
        return;
    }
    const struct ynode *root = *docs ? (*docs)->root : NULL;
    if (!root || root->kind == Y_NULL)
        return;
    if (root->kind != Y_MAP)
        faults_add(faults, name, root->line, root->col, _("settings are lines of NAME: value"));
    for (const struct ynode *n = root->kind == Y_MAP ? root->first : NULL; n; n = n->next)
        read_one(name, n, values, faults);
}

/* --- changing one line ------------------------------------------------------------ */
/* Byte offset of a line (1-based). */
static size_t line_start(const char *text, int line)
{
    const char *p = text;
    while (line > 1 && (p = strchr(p, '\n'))) {
        p++;
        line--;
    }
    return p ? (size_t)(p - text) : strlen(text);
}

/* Where a plain or quoted scalar on one line ends. */
static size_t value_end(const char *text, size_t from)
{
    size_t i = from, end = from;
    if (text[i] == '"' || text[i] == '\'') {
        char quote = text[i++];
        while (text[i] && text[i] != '\n' && text[i] != quote)
            i += text[i] == '\\' && text[i + 1] ? 2 : 1;
        return i + (text[i] == quote);
    }
    for (; text[i] && text[i] != '\n' && text[i] != '\r'; i++) {
        if (text[i] == '#' && i > from && text[i - 1] == ' ')
            break;
        if (text[i] != ' ')
            end = i + 1;
    }
    return end;
}

static void append(const char *text, const char *name, const char *value, struct str *out)
{
    size_t n = strlen(text);
    str_add(out, text);
    if (n > 0 && text[n - 1] != '\n')
        str_addc(out, '\n');
    str_printf(out, "%s: %s\n", name, value);
}

static void replace(const char *text, const struct ynode *n, const char *value, struct str *out)
{
    size_t line = line_start(text, n->key_line), from = line_start(text, n->line);
    size_t next = line_start(text, n->line + 1);
    from += (size_t)(n->col - 1);
    if (!value) {                /* the whole line goes */
        str_append(out, text, line);
        str_add(out, text + next);
        return;
    }
    str_append(out, text, from);
    str_add(out, value);
    str_add(out, text + MAX(value_end(text, from), from));
}

/* The edited text says what it should and nothing else has gone. */
static bool proves(const char *text, const char *name, const char *value, size_t entries)
{
    struct ydoc *docs = NULL;
    struct pd_err err = {0};
    if (yaml_parse("config", text, strlen(text), &docs, &err) != PD_OK)
        return false;
    const struct ynode *root = docs ? docs->root : NULL;
    const struct ynode *n = root && root->kind == Y_MAP ? yaml_get(root, name) : NULL;
    bool ok = (value ? n && str_eq(n->text, value) : !n) && yaml_count(root) == entries;
    yaml_docs_free(docs);
    return ok;
}

bool config_edit(const char *text, const char *name, const char *value, struct str *out)
{
    struct ydoc *docs = NULL;
    struct pd_err err = {0};
    if (yaml_parse("config", text, strlen(text), &docs, &err) != PD_OK)
        return false;
    const struct ynode *root = docs ? docs->root : NULL;
    bool map = root && root->kind == Y_MAP, none = !root || root->kind == Y_NULL;
    const struct ynode *n = map ? yaml_get(root, name) : NULL;
    size_t entries = map ? yaml_count(root) : 0;
    if (n && n->line == n->key_line)
        replace(text, n, value, out);
    else if (!n && value && (map || none))
        append(text, name, value, out);
    else if (!n && !value)
        str_add(out, text);
    yaml_docs_free(docs);
    return !out->full && proves(out->p, name, value, entries + (value && !n) - (!value && n));
}
