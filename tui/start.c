/* start.c - what a console is told before it shows anything (start.h). */
#include "tui/start.h"

#include <time.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/yaml.h"
#include "labs/progress.h"
#include "tui/settings.h"

enum { START_FILE_MOST = 64 << 10 };

void start_command(const struct start *s, const char *name, const char *a, const char *b,
                   const char *c)
{
    const char *const v[] = {a, b, c};
    struct json *body = json_new_object(), *args = json_new_array();
    json_put_str(body, "name", name);
    for (size_t i = 0; i < ARRAY_LEN(v) && v[i]; i++)
        json_append(args, json_new_string(v[i]));
    json_set(body, "args", args);
    s->send(s->arg, msg_new(MSG_COMMAND, body));
}

/* --- settings --------------------------------------------------------------------- */
/* PODIUM_THEME and its kin. */
static const char *from_environment(enum setting i)
{
    char name[48] = "PODIUM_";
    for (size_t n = 7, k = 0; settings_at(i)->name[k] && n < sizeof name - 1; k++) {
        char ch = settings_at(i)->name[k];
        name[n++] = (char)(ch >= 'a' && ch <= 'z' ? ch - 32 : ch);
    }
    const char *value = getenv(name), *still = getenv("REDUCE_MOTION");
    if (value && *value)
        return value;
    bool reduce = i == SET_MOTION && still && *still && !str_eq(still, "0");
    return reduce ? "reduced" : NULL;    /* what other programs heed as well */
}

/* One of the person's files, before the first paint; the effect that watches
 * it comes from the state. */
static void own_file(const struct start *s, const char *path)
{
    struct str text;
    struct pd_err err = {0};
    struct json *body = json_new_object();
    str_init(&text, START_FILE_MOST);
    json_put_str(body, "path", path);
    if (path_read(path, START_FILE_MOST, &text, &err) == PD_OK)
        json_put_str(body, "text", text.p);
    else
        json_put_bool(body, "missing", true);
    str_release(&text);
    s->send(s->arg, msg_new(MSG_FILE, body));
}

static int zone_minutes(void)
{
    time_t now = (time_t)(clock_wall_ms() / 1000);
    struct tm tm;
    return localtime_r(&now, &tm) ? (int)(tm.tm_gmtoff / 60) : 0;
}

static void set_from(const struct start *s, enum setting i, const char *value, const char *from)
{
    if (value)
        start_command(s, "set.from", settings_at(i)->name, value, from);
}

void start_look(const struct start *s, const char *glyphs, const char *theme)
{
    i18n_init(NULL);             /* what the environment says; an option comes later */
    char zone[16], *config = path_home(PATH_CONFIG, "config.yaml");
    char *keys = path_home(PATH_CONFIG, "keys.yaml");
    set_from(s, SET_LANG, i18n_lang(), "auto");
    set_from(s, SET_GLYPHS, glyphs, "auto");
    set_from(s, SET_THEME, theme, "auto");
    start_command(s, "clock.zone", str_fmt(zone, sizeof zone, "%d", zone_minutes()), NULL, NULL);
    start_command(s, "files", config, keys, NULL);
    for (int i = 0; i < SET_COUNT; i++)
        set_from(s, (enum setting)i, from_environment((enum setting)i), "env");
    for (int i = 0; i < SET_COUNT; i++)
        set_from(s, (enum setting)i, s->o->set[i], "flag");
    own_file(s, config);
    own_file(s, keys);
    free(config);
    free(keys);
}

/* What the file says of one setting, to buf; NULL: nothing. */
static const char *from_file(enum setting i, char buf[64])
{
    const char *values[SET_COUNT] = {NULL};
    struct ydoc *docs = NULL;
    struct faults faults = {0};
    struct str text;
    struct pd_err err = {0};
    char *path = path_home(PATH_CONFIG, "config.yaml");
    str_init(&text, START_FILE_MOST);
    if (path_read(path, START_FILE_MOST, &text, &err) == PD_OK)
        config_parse(path, text.p, text.len, values, &docs, &faults);
    bool said = values[i] != NULL;
    str_copy(buf, 64, said ? values[i] : "");
    yaml_docs_free(docs);
    faults_release(&faults);
    str_release(&text);
    free(path);
    return said ? buf : NULL;
}

bool start_switch(const struct console_options *o, enum setting i)
{
    static const char *const yes[] = {"on", "true", "yes", "1"};
    char buf[64];
    const char *value = o->set[i];
    value = value ? value : from_environment(i);
    value = value ? value : from_file(i, buf);
    for (size_t k = 0; value && k < ARRAY_LEN(yes); k++)
        if (strcasecmp(value, yes[k]) == 0)
            return true;
    return false;
}

/* --- session ---------------------------------------------------------------------- */
void start_session(const struct start *s, const struct lab_list *labs)
{
    start_command(s, "session.start", s->o->context ? s->o->context : "", NULL, NULL);
    for (size_t i = 0; i < labs->n; i++) {
        const struct lab *lab = labs->v[i].lab;
        int done = lab ? progress_disk_done(lab) : 0;
        char text[16];
        if (done > 0)
            start_command(s, "lab.progress", lab->id, str_fmt(text, sizeof text, "%d", done), NULL);
    }
    if (s->o->open)
        start_command(s, "lab.open", s->o->open, NULL, NULL);
}

enum pd_code start_journal(const struct start *s, const struct app *a, uint64_t seed,
                           struct journal **out, struct pd_err *err)
{
    *out = NULL;
    if (!s->o->record)
        return PD_OK;
    struct json *head = json_new_object();
    json_put_str(head, "lang", i18n_lang());
    json_put_str(head, "theme", a->theme);
    json_put_num(head, "glyphs", a->glyphs);
    json_put_str(head, "context", s->o->context);
    json_put_str(head, "labs", s->o->labs);
    json_put_num(head, "seed", (double)seed);
    enum pd_code rc = journal_create(s->o->record, head, out, err);
    json_free(head);
    return rc;
}
