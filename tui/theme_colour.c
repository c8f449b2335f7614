/* theme_colour.c - colours as numbers: what a terminal has of them, how well
 * they are told apart, also by eyes that lack a kind of cone (theme.h). */
#include <math.h>

#include "tui/theme.h"

/* The 16 colours as xterm shows them. */
static const int32_t ansi_rgb[16] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
                                     0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
                                     0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};

int32_t theme_ansi_rgb(int i)
{
    return ansi_rgb[i & 15];
}

static int distance(int32_t a, int32_t b)
{
    int dr = (a >> 16 & 255) - (b >> 16 & 255), dg = (a >> 8 & 255) - (b >> 8 & 255);
    int db = (a & 255) - (b & 255);
    return 2 * dr * dr + 4 * dg * dg + 3 * db * db;
}

int32_t theme_xterm_rgb(int i)
{
    if (i < 16)
        return theme_ansi_rgb(i);
    static const int level[6] = {0, 95, 135, 175, 215, 255};
    if (i >= 232) {
        int v = 8 + 10 * (i - 232);
        return v << 16 | v << 8 | v;
    }
    i -= 16;
    return level[i / 36] << 16 | level[i / 6 % 6] << 8 | level[i % 6];
}

static int nearest(int32_t rgb, int from, int to, bool cube)
{
    int best = from, best_d = INT32_MAX;
    for (int i = from; i < to; i++) {
        int d = distance(rgb, cube ? theme_xterm_rgb(i) : theme_ansi_rgb(i));
        if (d < best_d) {
            best_d = d;
            best = i;
        }
    }
    return best;
}

int theme_index(const struct colour *c, int colours)
{
    if (c->rgb == COLOUR_DEFAULT || colours < 8)
        return -1;
    if (colours > 256)
        return MAX(c->rgb, 8);   /* below 8 are the 8 colours */
    if (colours == 256)
        return nearest(c->rgb, 16, 256, true);
    int i = c->ansi >= 0 ? c->ansi : nearest(c->rgb, 0, 16, false);
    if (colours < 16 && i == 8)
        return -1;               /* grey; without its brightness it would be black */
    return colours >= 16 ? i : i & 7;
}

static double luminance(int32_t rgb)
{
    double sum = 0;
    static const double weight[3] = {0.2126, 0.7152, 0.0722};
    for (int i = 0; i < 3; i++) {
        double v = (rgb >> (16 - 8 * i) & 255) / 255.0;
        sum += weight[i] * (v <= 0.03928 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    return sum;
}

double theme_contrast(int32_t a, int32_t b)
{
    double la = luminance(a), lb = luminance(b);
    return (MAX(la, lb) + 0.05) / (MIN(la, lb) + 0.05);
}

/* --- eyes ------------------------------------------------------------------------- */
static void linear(int32_t rgb, double out[3])
{
    for (int i = 0; i < 3; i++) {
        double v = (rgb >> (16 - 8 * i) & 255) / 255.0;
        out[i] = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
    }
}

/* Machado, Oliveira, Fernandes 2009, full severity, on linear RGB. */
static void see(enum theme_eyes eyes, double v[3])
{
    static const double matrix[THEME_EYES][3][3] = {
        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
        {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216},
         {-0.003882, -0.048116, 1.051998}},
        {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413},
         {-0.011820, 0.042940, 0.968881}},
        {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602},
         {0.004733, 0.691367, 0.303900}}};
    double in[3] = {v[0], v[1], v[2]};
    for (int r = 0; r < 3; r++) {
        v[r] = 0;
        for (int c = 0; c < 3; c++)
            v[r] += matrix[eyes][r][c] * in[c];
        v[r] = MIN(MAX(v[r], 0.0), 1.0);
    }
}

static double lab_f(double t)
{
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

/* CIE L*a*b*, white D65. */
static void lab(const double rgb[3], double out[3])
{
    static const double xyz[3][3] = {{0.4124564, 0.3575761, 0.1804375},
                                     {0.2126729, 0.7151522, 0.0721750},
                                     {0.0193339, 0.1191920, 0.9503041}};
    static const double white[3] = {0.95047, 1.0, 1.08883};
    double f[3];
    for (int r = 0; r < 3; r++)
        f[r] = lab_f((xyz[r][0] * rgb[0] + xyz[r][1] * rgb[1] + xyz[r][2] * rgb[2]) / white[r]);
    out[0] = 116 * f[1] - 16;
    out[1] = 500 * (f[0] - f[1]);
    out[2] = 200 * (f[1] - f[2]);
}

double theme_distance(int32_t a, int32_t b, enum theme_eyes eyes)
{
    double va[3], vb[3], la[3], lb[3];
    linear(a, va);
    linear(b, vb);
    see(eyes, va);
    see(eyes, vb);
    lab(va, la);
    lab(vb, lb);
    return sqrt((la[0] - lb[0]) * (la[0] - lb[0]) + (la[1] - lb[1]) * (la[1] - lb[1]) +
                (la[2] - lb[2]) * (la[2] - lb[2]));
}
