/* pace.c - arithmetic of pace.h. */
#include "tui/pace.h"

#include "core/base/str.h"

void pace_init(struct pace *p)
{
    const char *slow = getenv("PODIUM_SLOW");
    memset(p, 0, sizeof *p);
    p->painted_ms = p->resized_ms = -PACE_SLOW_MS;
    p->forced = slow && str_eq(slow, "1");
}

int64_t pace_wait(const struct pace *p, int frames_a_second, bool key, int64_t now_ms)
{
    int64_t every = key ? PACE_KEY_MS : 1000 / MAX(frames_a_second, 1);
    if (p->slow || p->forced)
        every = PACE_SLOW_MS;
    return MAX(p->painted_ms + every - now_ms, 0);
}

void pace_painted(struct pace *p, int64_t now_ms)
{
    p->painted_ms = now_ms;
}

void pace_took(struct pace *p, int64_t waited_ms)
{
    p->good = waited_ms > PACE_BLOCKED_MS ? 0 : p->good + 1;
    if (waited_ms > PACE_BLOCKED_MS)
        p->slow = true;
    else if (p->good >= PACE_GOOD_FRAMES)
        p->slow = false;
}

int64_t pace_resize_wait(const struct pace *p, int64_t now_ms)
{
    return MAX(p->resized_ms + PACE_RESIZE_MS - now_ms, 0);
}
