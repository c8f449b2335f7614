/* glyph.h - every drawn sign in three sets, so that a screen holds on any
 * terminal: unicode; cjk, without the characters that East Asian terminals may
 * draw two columns wide; ascii.
 */
#ifndef TUI_GLYPH_H
#define TUI_GLYPH_H

#include "core/base/base.h"

enum glyph_set { GLYPH_UNICODE, GLYPH_CJK, GLYPH_ASCII, GLYPH_SET_COUNT };

/* X(enum, unicode, cjk, ascii): one column each */
#define GLYPHS(X)                                                                                 \
    X(G_H, "─", "-", "-")                                                                         \
    X(G_V, "│", "|", "|")                                                                         \
    X(G_TL, "┌", "+", "+")                                                                        \
    X(G_TR, "┐", "+", "+")                                                                        \
    X(G_BL, "└", "+", "+")                                                                        \
    X(G_BR, "┘", "+", "+")                                                                        \
    X(G_H2, "═", "=", "=")                                                                        \
    X(G_V2, "║", "#", "#")                                                                        \
    X(G_TL2, "╔", "#", "#")                                                                       \
    X(G_TR2, "╗", "#", "#")                                                                       \
    X(G_BL2, "╚", "#", "#")                                                                       \
    X(G_BR2, "╝", "#", "#")                                                                       \
    X(G_TICK_X, "┬", "+", "+")                                                                    \
    X(G_TICK_Y, "┤", "+", "+")                                                                    \
    X(G_CORNER, "└", "+", "+")                                                                    \
    X(G_MORE, "…", "~", "~")                                                                      \
    X(G_OK, "✓", "✓", "+")                                                                        \
    X(G_FAIL, "✗", "✗", "x")                                                                      \
    X(G_WAIT, "◌", "◌", "~")                                                                      \
    X(G_OPEN, "○", "o", "o")                                                                      \
    X(G_LOCKED, "·", ".", ".")                                                                    \
    X(G_LIVE, "●", "*", "*")                                                                      \
    X(G_ASK, "?", "?", "?")                                                                       \
    X(G_WARN, "!", "!", "!")                                                                      \
    X(G_HERE, "▸", ">", ">")                                                                      \
    X(G_EMA, "━", "⠒", "*")                                                                       \
    X(G_RAW, "⣿", "⣿", ":")                                                                       \
    X(G_VAL, "○", "o", "o")                                                                       \
    X(G_NAN, "×", "x", "x")                                                                       \
    X(G_BAR, "━", "#", "#")                                                                       \
    X(G_BAR_REST, "─", ".", ".")                                                                  \
    X(G_DOT, "·", ".", ".")                                                                       \
    X(G_RUN1, "x", "x", "x")                                                                      \
    X(G_RUN2, "+", "+", "%")                                                                      \
    X(G_RUN3, "◇", "^", "^")                                                                      \
    X(G_RUN4, "□", "#", "#")                                                                      \
    X(G_CURSOR_V, "│", "|", "|")                                                                  \
    X(G_BLOCK, "█", "#", "#")

#define GLYPH_ENUM(e, u, c, a) e,
enum glyph { GLYPHS(GLYPH_ENUM) GLYPH_COUNT };
#undef GLYPH_ENUM

const char *glyph_of(enum glyph_set set, enum glyph g);
/* Level 0..7 of a sparkline. */
const char *glyph_spark(enum glyph_set set, int level);
/* "unicode" "cjk-safe" "ascii"; -1 unknown. */
int glyph_set_by_name(const char *name);
/* The set that the environment asks for: ascii when the locale names a charset
 * other than UTF-8, or the terminal is known to lack the signs. */
enum glyph_set glyph_set_default(const char *term);
/* What an ascii terminal shows for a character: one of ' '..'~'. */
char glyph_to_ascii(uint32_t cp);

#endif
