/* logindex.c - lines that pass, lines that match (logindex.h). */
#include "tui/logindex.h"

#include "core/base/mem.h"

void logindex_release(struct logindex *x)
{
    free(x->kept.v);
    free(x->hits.v);
    memset(x, 0, sizeof *x);
}

const char *logindex_match(const char *text, const char *needle)
{
    for (const char *p = needle; *p; p++)
        if (*p >= 'A' && *p <= 'Z')
            return strstr(text, needle);
    return strcasestr(text, needle);
}

/* Each word of the needle stands in the text: else no sentence of it has them. */
static bool may_have(const char *text, const char *needle)
{
    char word[128];
    for (const char *p = needle; *p;) {
        size_t n = strcspn(p, " ");
        str_copy(word, MIN(n + 1, sizeof word), p);
        if (n > 0 && !strcasestr(text, word))
            return false;
        p += n + (p[n] == ' ');
    }
    return true;
}

bool logindex_has(const struct logindex *x, const struct log_line *l, const char *needle)
{
    struct str seen;
    bool has;
    if (!x->shown || l->text[0] != '{')
        return logindex_match(l->text, needle) != NULL;
    if (!may_have(l->text, needle) && !strstr(l->text, "\"answer\""))
        return false;
    str_init(&seen, 8192);
    has = logindex_match(x->shown(l, &seen) ? seen.p : l->text, needle) != NULL;
    str_release(&seen);
    return has;
}

static bool passes(const struct logindex *x, const struct log_line *l, const char *filter)
{
    bool inverse = *filter == '!';
    const char *want = filter + inverse;
    if (l->kind != LOG_TEXT || !*want)
        return true;
    return logindex_has(x, l, want) != inverse;
}

static void add(struct logindex_set *set, uint64_t line)
{
    if (set->n == set->cap) {
        set->cap = set->cap ? 2 * set->cap : 256;
        set->v = xrealloc_array(set->v, set->cap, sizeof *set->v);
    }
    set->v[set->n++] = line;
}

static void empty(struct logindex_set *set)
{
    set->from = set->n = 0;
}

/* Dropped lines leave at the front; the array is closed up now and then. */
static void drop(struct logindex_set *set, uint64_t first)
{
    while (set->from < set->n && set->v[set->from] < first)
        set->from++;
    if (set->from > 4096 && set->from > set->n / 2) {
        memmove(set->v, set->v + set->from, (set->n - set->from) * sizeof *set->v);
        set->n -= set->from;
        set->from = 0;
    }
}

const struct log_line *logindex_text(const struct session *s, uint64_t line)
{
    if (line < s->log_dropped || line - s->log_dropped >= session_log_count(s))
        return NULL;
    return session_log_line(s, (size_t)(line - s->log_dropped));
}

static void look(struct logindex *x, const struct session *s, uint64_t line)
{
    const struct log_line *l = logindex_text(s, line);
    if (!l || !passes(x, l, x->filter))
        return;
    if (x->filter[0])
        add(&x->kept, line);
    if (x->find[0] && l->kind == LOG_TEXT && logindex_has(x, l, x->find))
        add(&x->hits, line);
}

/* Among the hits of a shorter needle are those of the longer one. */
static void narrow(struct logindex *x, const struct session *s, const char *find)
{
    size_t n = x->hits.from;
    str_copy(x->find, sizeof x->find, find);
    for (size_t i = x->hits.from; i < x->hits.n; i++) {
        const struct log_line *l = logindex_text(s, x->hits.v[i]);
        if (l && logindex_has(x, l, find))
            x->hits.v[n++] = x->hits.v[i];
    }
    x->hits.n = n;
}

void logindex_update(struct logindex *x, const struct session *s, const char *filter,
                     const char *find)
{
    uint64_t end = s->log_dropped + session_log_count(s);
    bool same_log = x->serial == s->log_view.serial && x->next <= end;
    bool longer = x->find[0] && str_starts(find, x->find);
    if (!same_log || !str_eq(filter, x->filter) || (!str_eq(find, x->find) && !longer)) {
        x->serial = s->log_view.serial;
        x->next = s->log_dropped;
        str_copy(x->filter, sizeof x->filter, filter);
        str_copy(x->find, sizeof x->find, find);
        empty(&x->kept);
        empty(&x->hits);
    } else if (!str_eq(find, x->find)) {
        narrow(x, s, find);
    }
    drop(&x->kept, s->log_dropped);
    drop(&x->hits, s->log_dropped);
    x->next = MAX(x->next, s->log_dropped);
    if (x->filter[0] || x->find[0])
        for (; x->next < end; x->next++)
            look(x, s, x->next);
    x->next = end;
}

/* The first index in set whose line is not below `line`. */
static size_t lower(const struct logindex_set *set, uint64_t line)
{
    size_t lo = set->from, hi = set->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (set->v[mid] < line)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

size_t logindex_count(const struct logindex *x, const struct session *s)
{
    return x->filter[0] ? x->kept.n - x->kept.from : session_log_count(s);
}

uint64_t logindex_line(const struct logindex *x, const struct session *s, size_t place)
{
    return x->filter[0] ? x->kept.v[x->kept.from + place] : s->log_dropped + place;
}

size_t logindex_place(const struct logindex *x, const struct session *s, uint64_t line)
{
    if (x->filter[0])
        return lower(&x->kept, line) - x->kept.from;
    size_t place = line > s->log_dropped ? (size_t)(line - s->log_dropped) : 0;
    return MIN(place, session_log_count(s));
}

size_t logindex_hits(const struct logindex *x)
{
    return x->hits.n - x->hits.from;
}

size_t logindex_hit_place(const struct logindex *x, uint64_t line, bool *hit)
{
    size_t i = lower(&x->hits, line);
    *hit = i < x->hits.n && x->hits.v[i] == line;
    return i - x->hits.from;
}

uint64_t logindex_hit(const struct logindex *x, size_t place)
{
    return x->hits.v[x->hits.from + place];
}
