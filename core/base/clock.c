/* clock.c - replaceable time (clock.h). */
#include "core/base/clock.h"

#include <ctype.h>
#include <time.h>

static bool faked;
static int64_t fake_now;

static int64_t read_us(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t clock_ms(void) { return faked ? fake_now : read_us(CLOCK_MONOTONIC) / 1000; }
int64_t clock_wall_ms(void) { return faked ? fake_now : read_us(CLOCK_REALTIME) / 1000; }
int64_t clock_us(void) { return read_us(CLOCK_MONOTONIC); }

void clock_fake(int64_t wall_ms)
{
    faked = true;
    fake_now = wall_ms;
}

void clock_advance(int64_t ms)
{
    assert(faked);
    fake_now += ms;
}

void clock_real(void)
{
    faked = false;
}

char *clock_rfc3339(int64_t wall_us, int digits, char buf[36])
{
    time_t sec = (time_t)(wall_us / 1000000);
    int64_t us = wall_us % 1000000;
    if (us < 0) {
        us += 1000000;
        sec--;
    }
    struct tm tm;
    gmtime_r(&sec, &tm);
    size_t n = strftime(buf, 36, "%Y-%m-%dT%H:%M:%S", &tm);
    if (digits > 0) {
        char frac[16];
        snprintf(frac, sizeof frac, ".%06" PRId64 "000", us);
        n += (size_t)snprintf(buf + n, 36 - n, "%.*s", digits + 1, frac);
    }
    snprintf(buf + n, 36 - n, "Z");
    return buf;
}

/* "+08:00" or "Z": seconds east, false when malformed. */
static bool parse_zone(const char *s, int *offset)
{
    int h, m, n = 0;
    *offset = 0;
    if (strcmp(s, "Z") == 0 || strcmp(s, "z") == 0)
        return true;
    if ((*s != '+' && *s != '-') || sscanf(s + 1, "%2d:%2d%n", &h, &m, &n) != 2 || s[1 + n])
        return false;
    *offset = (h * 60 + m) * 60 * (*s == '-' ? -1 : 1);
    return true;
}

bool clock_parse_rfc3339(const char *s, int64_t *wall_us)
{
    struct tm tm = {0};
    int offset;
    const char *p = s ? strptime(s, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
    if (!p)
        return false;
    int64_t us = 0, unit = 100000;
    if (*p == '.') {
        if (!isdigit((unsigned char)*++p))
            return false;
        for (; isdigit((unsigned char)*p); p++, unit /= 10)
            us += (*p - '0') * unit;
    }
    if (!parse_zone(p, &offset))
        return false;
    *wall_us = ((int64_t)timegm(&tm) - offset) * 1000000 + us;
    return true;
}

/* apimachinery pkg/util/duration HumanDuration. */
char *clock_age(int64_t ms, char buf[16])
{
    long long s = ms / 1000, m = s / 60, h = m / 60, d = h / 24;
    if (s < 0)
        snprintf(buf, 16, "0s");
    else if (s < 120)
        snprintf(buf, 16, "%llds", s);
    else if (m < 10 && s % 60)
        snprintf(buf, 16, "%lldm%llds", m, s % 60);
    else if (m < 180)
        snprintf(buf, 16, "%lldm", m);
    else if (h < 8 && m % 60)
        snprintf(buf, 16, "%lldh%lldm", h, m % 60);
    else if (h < 48)
        snprintf(buf, 16, "%lldh", h);
    else if (h < 192 && h % 24)
        snprintf(buf, 16, "%lldd%lldh", d, h % 24);
    else if (d < 365 * 2)
        snprintf(buf, 16, "%lldd", d);
    else if (d < 365 * 8 && d / 365 && d % 365)
        snprintf(buf, 16, "%lldy%lldd", d / 365, d % 365);
    else
        snprintf(buf, 16, "%lldy", d / 365);
    return buf;
}
