/* clip.c - the way of copied text (clip.h). */
#include "tui/clip.h"

#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/io/child.h"
#include "tui/kind.h"

bool clip_has(const char *program)
{
    const char *path = getenv("PATH");
    char file[512];
    while (path && *path) {
        size_t n = strcspn(path, ":");
        str_fmt(file, sizeof file, "%.*s/%s", (int)n, path, program);
        if (n > 0 && access(file, X_OK) == 0)
            return true;
        path += n + (path[n] == ':');
    }
    return false;
}

static bool set(const char *name)
{
    const char *v = getenv(name);
    return v && *v;
}

static const struct {
    const char *display;         /* the variable that a display has; NULL: macOS */
    const char *argv[6];
} programs[] = {
    {"WAYLAND_DISPLAY", {"wl-copy"}},
    {"DISPLAY", {"xclip", "-selection", "clipboard"}},
    {"DISPLAY", {"xsel", "--input", "--clipboard"}},
    {NULL, {"pbcopy"}},
};

void clip_choose(bool (*has)(const char *program), const char *term, struct clip_plan *out)
{
    static const char *const deaf[] = {"linux", "vt100", "vt102", "vt220", "ansi", "cons25"};
    static const char *const tmux[6] = {"tmux", "load-buffer", "-w", "-"};
    *out = (struct clip_plan){.way = CLIP_OSC52};
    if (kind_is_tmux() && has("tmux")) {
        out->way = CLIP_PROGRAM;
        memcpy(out->argv, tmux, sizeof tmux);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(deaf); i++)
        if (str_eq(deaf[i], term))
            out->way = CLIP_FILE;
    if (kind_is_remote())        /* a clipboard of the machine over there helps nobody */
        return;
    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        if ((programs[i].display && !set(programs[i].display)) || !has(programs[i].argv[0]))
            continue;
        out->way = CLIP_PROGRAM;
        memcpy(out->argv, programs[i].argv, sizeof out->argv);
        return;
    }
}

struct copying {
    struct tty *tty;
    char *text, *path;
    size_t characters;
    clip_note_fn *note;
    void *arg;
};

static void done(struct copying *c)
{
    free(c->text);
    free(c->path);
    free(c);
}

static void by_terminal(struct copying *c)
{
    char text[480];
    bool sent = term_copy(c->tty, c->text);
    if (sent)
        str_fmt(text, sizeof text, _("sent %zu characters to the terminal's clipboard (OSC 52), "
                                     "and to %s"), c->characters, c->path);
    else
        str_fmt(text, sizeof text, _("%zu characters are too many for the terminal's clipboard; "
                                     "they are in %s"), c->characters, c->path);
    c->note(c->arg, !sent, text);
}

static void ended(void *arg, int code, int signo, const char *stderr_text UNUSED)
{
    struct copying *c = arg;
    if (code != 0 || signo != 0)
        by_terminal(c);
    done(c);
}

static bool by_program(struct loop *l, struct copying *c, const struct clip_plan *plan)
{
    struct pd_err err = {0};
    struct child *child;
    char *argv[6] = {0}, text[480];
    for (size_t i = 0; i < ARRAY_LEN(argv) - 1 && plan->argv[i]; i++)
        argv[i] = (char *)(uintptr_t)plan->argv[i];
    struct child_spec spec = {.argv = argv, .want_stdin = true, .exit = ended, .arg = c};
    if (child_start(l, &spec, &child, &err) != PD_OK)
        return false;
    child_write(child, c->text, strlen(c->text));
    child_close_stdin(child);
    c->note(c->arg, false, str_fmt(text, sizeof text,
                                   _("copied %zu characters with %s, and to %s"), c->characters,
                                   argv[0], c->path));
    return true;
}

void clip_copy(struct loop *l, struct tty *t, const char *text, clip_note_fn *note, void *arg)
{
    struct copying *c = xcalloc(1, sizeof *c);
    struct clip_plan plan;
    struct pd_err err = {0};
    char said[480];
    *c = (struct copying){t, xstrdup(text), path_home(PATH_CACHE, "clip.txt"), 0, note, arg};
    for (const char *p = text; *p; p++)
        c->characters += ((unsigned char)*p & 0xC0) != 0x80;
    bool kept = path_write_atomic(c->path, 0600, text, strlen(text), &err) == PD_OK;
    clip_choose(clip_has, term_name(t), &plan);
    if (plan.way == CLIP_PROGRAM && by_program(l, c, &plan))
        return;
    if (plan.way != CLIP_FILE)
        by_terminal(c);
    else if (kept)
        note(arg, false, str_fmt(said, sizeof said, _("wrote %zu characters to %s; this terminal "
                                                      "has no clipboard"), c->characters, c->path));
    else
        note(arg, true, err.msg);
    done(c);
}
