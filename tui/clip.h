/* clip.h - where copied text goes: always ~/.cache/podium/clip.txt (0600), and
 * to the first of these that is there:
 *
 *   tmux           inside tmux: load-buffer -w, which hands it on to the terminal
 *   wl-copy, xclip, xsel, pbcopy     at a display of this machine, not over SSH
 *   OSC 52         the terminal itself, up to 74,994 bytes of base64
 *
 * The message says which one. A program that fails is followed by OSC 52.
 */
#ifndef TUI_CLIP_H
#define TUI_CLIP_H

#include "core/io/loop.h"
#include "tui/term.h"

enum clip_way { CLIP_FILE, CLIP_OSC52, CLIP_PROGRAM };

struct clip_plan {
    enum clip_way way;
    const char *argv[6];         /* CLIP_PROGRAM */
};

typedef void clip_note_fn(void *arg, bool bad, const char *text);

/* What the environment asks for; has(program): is it on PATH. */
void clip_choose(bool (*has)(const char *program), const char *term, struct clip_plan *out);
bool clip_has(const char *program);
/* Copy; says so through note, at once or when a program has failed. */
void clip_copy(struct loop *l, struct tty *t, const char *text, clip_note_fn *note, void *arg);

#endif
