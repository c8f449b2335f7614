/* input.h - bytes of a terminal in, keys out; a UTF-8 and escape parser of its
 * own, so that a sequence may arrive split at any byte.
 *
 * Key names: "a", "中", "Space", "Enter", "Tab", "S-Tab", "Backspace", "Esc",
 * "Up" "Down" "Left" "Right" "Home" "End" "PgUp" "PgDn" "Ins" "Del", "F1".."F12",
 * with "S-", "M-" (Alt), "C-" in front ("C-c", "M-x", "C-Right"). Both arrow
 * forms (CSI and SS3) are the same key. A bracketed paste is one event with its
 * text. Of the mouse come "Click@X,Y", "Wheel-Up@X,Y" and "Wheel-Down@X,Y", from
 * column and row 0; other reports and unknown sequences are swallowed whole.
 *
 * A lone ESC is the key Esc when nothing follows: the owner calls input_idle
 * INPUT_ESC_MS after input_waiting became true.
 */
#ifndef TUI_INPUT_H
#define TUI_INPUT_H

#include "core/base/str.h"
#include "core/base/utf8.h"

enum { INPUT_ESC_MS = 25, INPUT_PASTE_MOST = 1 << 20 };

typedef void input_fn(void *arg, const char *key, const char *paste);

struct input {
    int state;                   /* of input.c */
    char seq[64];                /* bytes of the sequence so far */
    int n;
    bool alt;                    /* the next character is an Alt one */
    struct utf8_feed utf8;
    struct str paste;
    int paste_match;             /* bytes of the closing ESC[201~ matched so far */
    input_fn *fn;                /* key, NULL or NULL, pasted text */
    void *arg;
};

void input_init(struct input *in, input_fn *fn, void *arg);
void input_release(struct input *in);
void input_feed(struct input *in, const char *bytes, size_t n);
bool input_waiting(const struct input *in);
void input_idle(struct input *in);

#endif
