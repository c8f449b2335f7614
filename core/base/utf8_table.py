"""Make core/base/utf8_table.c from Python's copy of the Unicode database:
python3 core/base/utf8_table.py > core/base/utf8_table.c"""
import unicodedata
def ranges(pred):
    out=[];start=None
    for cp in range(0x110000):
        if pred(cp):
            if start is None: start=cp
        elif start is not None:
            out.append((start,cp-1)); start=None
    if start is not None: out.append((start,0x10ffff))
    return out
def wide(cp):
    if 0xd800<=cp<=0xdfff: return False
    c=chr(cp)
    if unicodedata.category(c) in('Mn','Me','Cf'): return False
    return unicodedata.east_asian_width(c) in 'WF' or 0x20000<=cp<=0x3fffd and (cp&0xffff)<=0xfffd or 0x4e00<=cp<=0x9fff or 0x3400<=cp<=0x4dbf or 0xf900<=cp<=0xfaff
def zero(cp):
    if cp in(0xad,): return False
    if 0xd800<=cp<=0xdfff: return False
    return unicodedata.category(chr(cp)) in('Mn','Me','Cf') or 0x1160<=cp<=0x11ff
def amb(cp):
    if 0xd800<=cp<=0xdfff or 0xe000<=cp<=0xf8ff or cp>=0xf0000: return False
    c=chr(cp)
    if zero(cp) or wide(cp): return False
    return unicodedata.east_asian_width(c)=='A'
print("""/* utf8_table.c - display widths, from the Unicode Character Database %s
 * (EastAsianWidth, general categories). Generated; sorted, inclusive ranges. */
#include "core/base/utf8_table.h"
"""%unicodedata.unidata_version)
for name,pred in(('wide',wide),('zero',zero),('ambiguous',amb)):
    r=ranges(pred)
    print("const struct utf8_range utf8_%s[] = {"%name)
    line="   "
    for a,b in r:
        t=" {0x%x, 0x%x},"%(a,b)
        if len(line)+len(t)>98: print(line); line="   "
        line+=t
    print(line); print("};"); print("const size_t utf8_%s_n = sizeof utf8_%s / sizeof utf8_%s[0];\n"%(name,name,name))
