/* columns.h - two texts side by side on a terminal, wrapped by display width.
 *
 * A line breaks behind a blank, or between wide characters, or anywhere when a
 * word is longer than the column; line ends of the text are kept. Chinese
 * counts two columns a character.
 */
#ifndef CORE_TRAIN_COLUMNS_H
#define CORE_TRAIN_COLUMNS_H

#include "core/base/str.h"

/* Append rows "left │ right", each side `width` columns wide. */
void columns_print(const char *left, const char *right, int width, struct str *out);
/* How many bytes of s (no line end in them) make the next line of `width`
 * columns; *skip: blanks and the line end behind it that are left out. */
size_t columns_line(const char *s, int width, size_t *skip);

#endif
