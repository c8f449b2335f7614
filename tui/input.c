/* input.c - the state machine of input.h. Forms: ECMA-48 control sequences,
 * xterm's SS3 and modifier parameters, the Linux console's ESC [ [ A. */
#include "tui/input.h"

enum { ST_GROUND, ST_ESC, ST_CSI, ST_SS3, ST_LINUX, ST_PASTE, ST_X10, ST_STRING, ST_STRING_ESC };

static const char paste_end[] = "\033[201~";

void input_init(struct input *in, input_fn *fn, void *arg)
{
    memset(in, 0, sizeof *in);
    str_init(&in->paste, INPUT_PASTE_MOST);
    in->fn = fn;
    in->arg = arg;
}

void input_release(struct input *in)
{
    str_release(&in->paste);
}

static void emit(struct input *in, const char *prefix, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, "%s%s", prefix, name);
    in->fn(in->arg, key, NULL);
}

static void emit_char(struct input *in, uint32_t cp)
{
    const char *alt = in->alt ? "M-" : "";
    char text[5] = "";
    in->alt = false;
    if (cp == ' ') {
        emit(in, alt, "Space");
        return;
    }
    text[utf8_encode(cp, text)] = '\0';
    emit(in, alt, text);
}

/* C0 controls and DEL. */
static void emit_control(struct input *in, unsigned char b)
{
    static const struct { unsigned char byte; const char *name; } named[] = {
        {'\t', "Tab"}, {'\r', "Enter"}, {'\n', "Enter"}, {0x7f, "Backspace"}, {0x08, "Backspace"},
        {0, "C-Space"}};
    const char *alt = in->alt ? "M-" : "";
    char name[4];
    in->alt = false;
    for (size_t i = 0; i < ARRAY_LEN(named); i++) {
        if (named[i].byte == b) {
            emit(in, alt, named[i].name);
            return;
        }
    }
    snprintf(name, sizeof name, "C-%c", b < 27 ? 'a' + b - 1 : b + 64);
    emit(in, alt, name);
}

struct seq_name {
    int code;
    const char *name;
};

static const char *lookup(const struct seq_name *t, size_t n, int code)
{
    for (size_t i = 0; i < n; i++)
        if (t[i].code == code)
            return t[i].name;
    return NULL;
}

static const struct seq_name finals[] = {
    {'A', "Up"}, {'B', "Down"}, {'C', "Right"}, {'D', "Left"}, {'H', "Home"}, {'F', "End"},
    {'P', "F1"}, {'Q', "F2"},   {'R', "F3"},    {'S', "F4"},   {'Z', "Tab"},  {'M', "Enter"}};
static const struct seq_name tildes[] = {
    {1, "Home"}, {2, "Ins"},  {3, "Del"},  {4, "End"},  {5, "PgUp"},  {6, "PgDn"},  {7, "Home"},
    {8, "End"},  {11, "F1"},  {12, "F2"},  {13, "F3"},  {14, "F4"},   {15, "F5"},   {17, "F6"},
    {18, "F7"},  {19, "F8"},  {20, "F9"},  {21, "F10"}, {23, "F11"},  {24, "F12"}};

static const char *modifier(int m, char out[8])
{
    int bits = m > 1 ? m - 1 : 0;
    snprintf(out, 8, "%s%s%s", bits & 4 ? "C-" : "", bits & 2 ? "M-" : "", bits & 1 ? "S-" : "");
    return out;
}

/* ESC [ < button ; column ; row M (SGR) or three bytes (X10), both from 1.
 * Releases, drags and other buttons say nothing. */
static void mouse(struct input *in, int button, int x, int y)
{
    static const struct { int button; const char *name; } known[] = {
        {0, "Click"}, {64, "Wheel-Up"}, {65, "Wheel-Down"}};
    char where[32];
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (known[i].button == (button & ~0x1c) && x > 0 && y > 0)     /* without modifiers */
            emit(in, known[i].name, str_fmt(where, sizeof where, "@%d,%d", x - 1, y - 1));
}

static void end_csi(struct input *in, char final)
{
    int first = 0, second = 0;
    char mod[8];
    in->seq[in->n] = '\0';
    in->state = ST_GROUND;
    if (in->seq[0] == '<') {
        int button = -1, x = 0, y = 0;
        if (final == 'M' && sscanf(in->seq + 1, "%d;%d;%d", &button, &x, &y) == 3)
            mouse(in, button, x, y);
        return;
    }
    if (strchr("?>=", in->seq[0]) && in->seq[0])
        return;                                  /* reports */
    sscanf(in->seq, "%d;%d", &first, &second);
    if (final == '~' && first == 200) {
        in->state = ST_PASTE;
        in->paste_match = 0;
        str_clear(&in->paste);
        return;
    }
    if (final == 'M' && in->n == 0) {
        in->state = ST_X10;                      /* three more bytes */
        return;
    }
    const char *name = final == '~' ? lookup(tildes, ARRAY_LEN(tildes), first)
                                    : lookup(finals, ARRAY_LEN(finals), final);
    if (final >= 'P' && final <= 'S' && first > 1)
        return;                                  /* where the cursor stands, no F3 */
    if (name && final != 'M')
        emit(in, final == 'Z' ? "S-" : modifier(second, mod), name);
}

static void feed_csi(struct input *in, unsigned char b)
{
    if (in->n == 0 && b == '[') {
        in->state = ST_LINUX;
    } else if (b >= 0x40 && b <= 0x7e) {
        end_csi(in, (char)b);
        in->n = 0;
    } else if (b < 0x20) {
        in->state = ST_GROUND;                   /* broken off */
        in->n = 0;
        emit_control(in, b);
    } else if (in->n < (int)sizeof in->seq - 1) {
        in->seq[in->n++] = (char)b;
    }
}

static void feed_ss3(struct input *in, unsigned char b)
{
    const char *name = lookup(finals, ARRAY_LEN(finals), b);
    in->state = ST_GROUND;
    if (name && b != 'Z')
        emit(in, "", name);
}

static void feed_linux(struct input *in, unsigned char b)
{
    static const char *const f[] = {"F1", "F2", "F3", "F4", "F5"};
    in->state = ST_GROUND;
    if (b >= 'A' && b <= 'E')
        emit(in, "", f[b - 'A']);
}

static void feed_paste(struct input *in, unsigned char b)
{
    if (b == (unsigned char)paste_end[in->paste_match]) {
        if (++in->paste_match == (int)sizeof paste_end - 1) {
            in->state = ST_GROUND;
            in->fn(in->arg, NULL, in->paste.p);
            str_clear(&in->paste);
        }
        return;
    }
    str_append(&in->paste, paste_end, (size_t)in->paste_match);
    in->paste_match = 0;
    if (b == (unsigned char)paste_end[0])
        in->paste_match = 1;
    else
        str_addc(&in->paste, (char)b);
}

static void feed_ground(struct input *in, unsigned char b)
{
    uint32_t cp = 0;
    bool inside = in->utf8.need > 0;
    if (!inside && b == 0x1b) {
        in->state = ST_ESC;
        return;
    }
    if (!inside && (b < 0x20 || b == 0x7f)) {
        emit_control(in, b);
        return;
    }
    enum utf8_got got = utf8_push(&in->utf8, b, &cp);
    if (got == UTF8_CHAR)
        emit_char(in, cp);
    else if (got == UTF8_BAD_AGAIN)
        feed_ground(in, b);
}

/* An answer of the terminal (ESC ] ... up to BEL or ESC \): no part of it is
 * typed. A control character ends it too, so that keys are never lost for good. */
static void feed_string(struct input *in, unsigned char b)
{
    in->n = 1;
    if (b == 0x1b) {
        in->state = ST_STRING_ESC;
    } else if (b < 0x20) {
        in->state = ST_GROUND;
        if (b != 0x07)
            emit_control(in, b);
    }
}

static void feed_esc(struct input *in, unsigned char b)
{
    in->n = 0;
    in->state = ST_GROUND;
    if (b == '[') {
        in->state = ST_CSI;
    } else if (b == 'O') {
        in->state = ST_SS3;
    } else if (b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_') {
        in->seq[0] = (char)b;
        in->state = ST_STRING;
    } else if (b == 0x1b) {
        emit(in, "", "Esc");                     /* the second may begin a sequence */
        in->state = ST_ESC;
    } else {
        in->alt = true;
        feed_ground(in, b);
    }
}

static void feed_string_esc(struct input *in, unsigned char b)
{
    in->state = ST_GROUND;
    if (b != '\\')
        feed_esc(in, b);
}

static void feed_x10(struct input *in, unsigned char b)
{
    in->seq[in->n++] = (char)b;
    if (in->n == 3) {
        const unsigned char *s = (const unsigned char *)in->seq;
        in->n = 0;
        in->state = ST_GROUND;
        mouse(in, s[0] - 32, s[1] - 32, s[2] - 32);
    }
}

void input_feed(struct input *in, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char b = (unsigned char)bytes[i];
        switch (in->state) {
        case ST_GROUND: feed_ground(in, b); break;
        case ST_ESC: feed_esc(in, b); break;
        case ST_CSI: feed_csi(in, b); break;
        case ST_SS3: feed_ss3(in, b); break;
        case ST_LINUX: feed_linux(in, b); break;
        case ST_PASTE: feed_paste(in, b); break;
        case ST_X10: feed_x10(in, b); break;
        case ST_STRING: feed_string(in, b); break;
        case ST_STRING_ESC: feed_string_esc(in, b); break;
        }
    }
}

/* Only an ESC, ESC [, ESC O or ESC ] may also be a person's keys; a longer sequence
 * waits for its end. */
bool input_waiting(const struct input *in)
{
    bool may_be_alt = in->state == ST_CSI || in->state == ST_SS3 || in->state == ST_STRING;
    return in->state == ST_ESC || (may_be_alt && in->n == 0);
}

void input_idle(struct input *in)
{
    int state = in->state;
    if (!input_waiting(in))
        return;
    in->state = ST_GROUND;
    char key[2] = {in->seq[0], '\0'};
    if (state == ST_ESC)
        emit(in, "", "Esc");
    else if (state == ST_STRING)
        emit(in, "M-", key);
    else
        emit(in, "M-", state == ST_CSI ? "[" : "O");
}
