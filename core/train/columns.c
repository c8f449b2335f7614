/* columns.c - two texts side by side (columns.h). */
#include "core/train/columns.h"

#include "core/base/utf8.h"

/* The last place up to s + n, behind a blank or a wide character, where a line
 * may break; 0: none. */
static size_t break_before(const char *s, size_t n)
{
    size_t best = 0, at = 0;
    int len;
    while (at < n) {
        uint32_t cp = utf8_decode(s + at, n - at, &len);
        at += (size_t)len;
        if (cp == ' ' || utf8_width(cp) == 2)
            best = at;
    }
    return best;
}

size_t columns_line(const char *s, int width, size_t *skip)
{
    size_t whole = strcspn(s, "\n"), n = utf8_cut(s, width);
    if (n >= whole) {
        *skip = s[whole] == '\n';
        return whole;
    }
    int first;
    uint32_t next = utf8_decode(s + n, whole - n, &first);
    if (next != ' ' && utf8_width(next) != 2) {
        size_t at = break_before(s, n);
        n = at ? at : n;
    }
    if (n == 0) {                                  /* narrower than a character */
        utf8_decode(s, whole, &first);
        n = (size_t)first;
    }
    *skip = s[n] == ' ';
    return n;
}

static void print_cell(const char *s, size_t n, int width, struct str *out)
{
    struct str cell;
    str_init(&cell, 1 << 16);
    str_append(&cell, s, n);
    str_add(out, cell.p);
    for (int w = utf8_str_width(cell.p); w < width; w++)
        str_addc(out, ' ');
    str_release(&cell);
}

void columns_print(const char *left, const char *right, int width, struct str *out)
{
    while (*left || *right) {
        size_t skip_left = 0, skip_right = 0;
        size_t l = columns_line(left, width, &skip_left);
        size_t r = columns_line(right, width, &skip_right);
        print_cell(left, l, width, out);
        str_add(out, " │");
        size_t shown = r;
        while (shown && right[shown - 1] == ' ')
            shown--;
        str_add(out, shown ? " " : "");
        str_append(out, right, shown);
        str_addc(out, '\n');
        left += l + skip_left;
        right += r + skip_right;
    }
}
