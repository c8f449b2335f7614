"""Turn `tmux capture-pane -e -p` on stdin into an SVG picture on stdout.
    tmux capture-pane -e -p -t NAME | python3 tests/pty/picture.py > docs/pictures/X.svg"""
import html
import re
import sys
import unicodedata

BASE = ["#1c1c1c", "#d55e00", "#5f9f5f", "#e69f00", "#5f87af", "#cc79a7", "#56b4e9", "#d0d0d0",
        "#808080", "#ff8700", "#87d787", "#f0e442", "#87afff", "#ff87d7", "#87d7ff", "#ffffff"]
FG, BG = "#d0d0d0", "#1c1c1c"
CELL_W, CELL_H = 8.4, 17


def colour(n):
    if n < 16:
        return BASE[n]
    if n < 232:
        n -= 16
        return "#%02x%02x%02x" % tuple(0 if v == 0 else 55 + 40 * v
                                       for v in (n // 36, n // 6 % 6, n % 6))
    return "#%02x%02x%02x" % ((8 + 10 * (n - 232),) * 3)


class Style:
    def __init__(self):
        self.fg, self.bg, self.bold, self.reverse = None, None, False, False

    def apply(self, codes):
        codes = [int(c or 0) for c in codes]
        while codes:
            c = codes.pop(0)
            if c == 0:
                self.__init__()
            elif c == 1:
                self.bold = True
            elif c == 7:
                self.reverse = True
            elif c in (22, 27):
                self.bold, self.reverse = self.bold and c != 22, self.reverse and c != 27
            elif c in (38, 48) and codes[:1] == [5]:
                self.set(c == 38, colour(codes[1]))
                codes = codes[2:]
            elif c in (38, 48) and codes[:1] == [2]:
                self.set(c == 38, "#%02x%02x%02x" % tuple(codes[1:4]))
                codes = codes[4:]
            elif c in (39, 49):
                self.set(c == 39, None)
            elif 30 <= c <= 37 or 40 <= c <= 47:
                self.set(c < 40, BASE[c % 10])
            elif 90 <= c <= 97 or 100 <= c <= 107:
                self.set(c < 100, BASE[c % 10 + 8])

    def set(self, is_fg, value):
        if is_fg:
            self.fg = value
        else:
            self.bg = value

    def key(self):
        fg, bg = self.fg or FG, self.bg or BG
        return (bg, fg, self.bold) if self.reverse else (fg, bg, self.bold)


def width(ch):
    if unicodedata.combining(ch):
        return 0
    return 2 if unicodedata.east_asian_width(ch) in "WF" else 1


def runs(line, style):
    """(column, columns, text, style) of one line."""
    out, column = [], 0
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        m = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if m:
            style.apply(m.group(1).split(";"))
            continue
        for ch in part.replace("\x0e", "").replace("\x0f", ""):
            w = width(ch)
            out.append((column, w, ch, style.key()))
            column += w
    return out, column


def main():
    lines = sys.stdin.read().rstrip("\n").split("\n")
    style, rows, columns = Style(), [], 0
    for line in lines:
        cells, n = runs(line, style)
        rows.append(cells)
        columns = max(columns, n)
    w, h = columns * CELL_W + 16, len(rows) * CELL_H + 16
    print('<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" '
          'font-family="DejaVu Sans Mono, Noto Sans Mono CJK SC, monospace" font-size="14">'
          % (w, h))
    print('<rect width="100%%" height="100%%" rx="6" fill="%s"/>' % BG)
    for y, cells in enumerate(rows):
        for column, n, ch, (fg, bg, bold) in cells:
            if bg != BG:
                print('<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>'
                      % (8 + column * CELL_W, 8 + y * CELL_H, n * CELL_W + .2, CELL_H, bg))
        i = 0
        while i < len(cells):
            key, j = cells[i][3], i
            # one text element for each run of narrow ASCII cells, one for each other cell
            while j < len(cells) and cells[j][3] == key and ord(cells[j][2]) < 128:
                j += 1
            j = max(j, i + 1)
            text = "".join(c[2] for c in cells[i:j])
            if text.strip():
                print('<text x="%.1f" y="%.1f" fill="%s"%s textLength="%.1f" '
                      'xml:space="preserve">%s</text>'
                      % (8 + cells[i][0] * CELL_W, 8 + y * CELL_H + 13, key[0],
                         ' font-weight="bold"' if key[2] else "",
                         sum(c[1] for c in cells[i:j]) * CELL_W, html.escape(text)))
            i = j
    print("</svg>")


if __name__ == "__main__":
    main()
