"""Reads what podium-plot wrote: the SVG's lines against the numbers of the CSV,
the PNG's pixels where the curve must be."""
import math
import struct
import sys
import xml.etree.ElementTree as ET
import zlib

SVG = "{http://www.w3.org/2000/svg}"


def rows(path):
    with open(path) as f:
        head = f.readline().strip().split(",")
        return [dict(zip(head, line.rstrip("\n").split(","))) for line in f]


def ema(values, w):
    last, power, out = 0.0, 1.0, []
    for y in values:
        if not math.isfinite(y):
            out.append(None)
            continue
        last, power = w * last + (1 - w) * y, power * w
        out.append(last / (1 - power))
    return out


def points(d):
    """Coordinates of a path of M and L commands."""
    words = d.replace("M", " ").replace("L", " ").split()
    return [(float(words[i]), float(words[i + 1])) for i in range(0, len(words) - 1, 2)]


def fit(pairs):
    """Is y = a + b x for all pairs, to half a pixel?"""
    (x0, y0), (x1, y1) = min(pairs), max(pairs)
    b = (y1 - y0) / (x1 - x0)
    worst = max(abs(y0 + b * (x - x0) - y) for x, y in pairs)
    assert worst < 0.5, "off by %g pixels" % worst
    return b


def svg(svg_path, csv_path, w):
    data = [r for r in rows(csv_path) if r["loss"]]
    loss = [float(r["loss"]) for r in data]
    steps = [float(r["step"]) for r in data]
    root = ET.parse(svg_path).getroot()
    paths = [points(e.get("d")) for e in root.iter(SVG + "path")
             if e.get("d") and e.get("d").count("L") > 100]
    finite = [i for i, y in enumerate(loss) if math.isfinite(y)]
    assert len(paths) >= 2, "%d long paths" % len(paths)
    for path, want in zip(paths[:2], (loss, ema(loss, w))):
        assert len(path) == len(finite), "%d points of %d" % (len(path), len(finite))
        assert fit([(steps[i], p[0]) for i, p in zip(finite, path)]) > 0
        assert fit([(want[i], p[1]) for i, p in zip(finite, path)]) < 0


def decode(path):
    raw = open(path, "rb").read()
    assert raw[:8] == b"\x89PNG\r\n\x1a\n"
    at, data, size = 8, b"", None
    while at < len(raw):
        n, kind = struct.unpack(">I4s", raw[at:at + 8])
        body = raw[at + 8:at + 8 + n]
        assert struct.unpack(">I", raw[at + 8 + n:at + 12 + n])[0] == zlib.crc32(kind + body)
        if kind == b"IHDR":
            size = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            data += body
        at += 12 + n
    width, height, depth, colour = size
    channels = {2: 3, 6: 4}[colour]
    assert depth == 8
    flat, out, before = zlib.decompress(data), [], bytes(width * channels)
    for y in range(height):
        at = y * (width * channels + 1)
        line = bytearray(flat[at + 1:at + 1 + width * channels])
        for i in range(len(line)):
            a = line[i - channels] if i >= channels else 0
            b = before[i]
            c = before[i - channels] if i >= channels else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[flat[at]]) & 255
        out.append(line)
        before = bytes(line)
    return width, height, channels, out


def png(path, width, height):
    w, h, ch, lines = decode(path)
    assert (w, h) == (width, height), (w, h)
    blue = [0] * w                       # the average, #0060A8
    for line in lines:
        for x in range(w):
            r, g, b = line[x * ch:x * ch + 3]
            blue[x] += abs(r - 0x00) + abs(g - 0x60) + abs(b - 0xA8) < 60
    inside = [blue[x] > 0 for x in range(90, w - 40)]
    assert sum(inside) > 0.95 * len(inside), "the average has holes: %d of %d" % (
        sum(inside), len(inside))
    assert tuple(lines[0][:3]) == (255, 255, 255)


if sys.argv[1] == "svg":
    svg(sys.argv[2], sys.argv[3], float(sys.argv[4]))
else:
    png(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
