/* text.h - measuring, cutting and wrapping text in columns, CJK included. */
#ifndef TUI_TEXT_H
#define TUI_TEXT_H

#include "core/base/str.h"

/* The first line of s in `width` columns: bytes that stand in it go to *len
 * (trailing blanks not counted), the result is where the next line starts.
 * Breaks at '\n', at blanks, and between wide characters but never before a
 * closing or after an opening punctuation mark. Always makes progress. */
size_t text_break(const char *s, int width, size_t *len);
/* s cut to `width` columns, with `ellipsis` at the end when it was longer. */
void text_fit(const char *s, int width, const char *ellipsis, struct str *out);
/* The middle goes, the end tells most: names that differ at their end. */
void text_fit_middle(const char *s, int width, const char *ellipsis, struct str *out);
/* The same from the left: the end of s stays. */
void text_fit_left(const char *s, int width, const char *ellipsis, struct str *out);
/* 0.00012 -> "1.2e-4", 1284 -> "1284", 0.947 -> "0.947", 0.00214: a number in at most
 * 7 columns. NaN gives "-". buf >= 24. */
char *text_number(double v, char buf[24]);
/* Seconds: "42s", "8m36s", "1h05m". NaN gives "-". buf >= 24. */
char *text_span(double seconds, char buf[24]);
/* "312/3980 MB": amounts with one unit. buf >= 48. */
char *text_amount(double done, double total, const char *unit, char buf[48]);

#endif
