/* rowset.c - sorted and filtered rows that follow a table (rowset.h). */
#include "tui/rowset.h"

#include "core/base/mem.h"

enum { LIVE = 1, PASS = 2, MOVED = 4, MANY = 64, TEXT = 1400 };

void rowset_init(struct rowset *r, const struct rowset_kind *kind, void *arg, bool ready)
{
    memset(r, 0, sizeof *r);
    r->ready = ready;
    r->kind = kind;
    r->arg = arg;
}

static void forget(struct rowset *r, size_t i)
{
    if ((r->flags[i] & LIVE) && r->kind->gone)
        r->kind->gone(r->arg, (int)i);
    json_free(r->held[i]);
    free(r->lower[i]);
    r->held[i] = NULL;
    r->lower[i] = NULL;
    r->flags[i] &= MOVED;
}

static void empty(struct rowset *r)
{
    for (size_t i = 0; i < r->cap; i++)
        forget(r, i);
    if (r->cap)
        memset(r->flags, 0, r->cap);
    r->n = r->shown_n = r->moved_n = 0;
    r->at = 0;
    r->stale = true;
}

void rowset_release(struct rowset *r)
{
    empty(r);
    free(r->held);
    free(r->lower);
    free(r->flags);
    free(r->order[0]);
    free(r->order[1]);
    free(r->show);
    free(r->moved);
    memset(r, 0, sizeof *r);
}

/* --- filter --- */

static bool has_capital(const char *s)
{
    for (; *s; s++)
        if (*s >= 'A' && *s <= 'Z')
            return true;
    return false;
}

bool rowset_pass(const char *filter, const char *text)
{
    bool inverse = *filter == '!';
    const char *want = filter + inverse;
    if (!*want)
        return true;
    bool has = (has_capital(want) ? strstr(text, want) : strcasestr(text, want)) != NULL;
    return has != inverse;
}

static void lower(char *s)
{
    for (; *s; s++)
        if (*s >= 'A' && *s <= 'Z')
            *s += 'a' - 'A';
}

static void keep_text(struct rowset *r, int i)
{
    char buf[TEXT];
    r->kind->text(r->arg, i, buf, sizeof buf);
    lower(buf);
    r->lower[i] = xstrdup(buf);
}

/* Against the kept small letters; capitals need the text itself besides. */
static bool passes(struct rowset *r, int i)
{
    const char *filter = r->filter;
    char buf[TEXT], want[sizeof r->filter];
    if (r->only && r->kind->passes && !r->kind->passes(r->arg, i))
        return false;
    if (!filter[0] || str_eq(filter, "!"))
        return true;
    if (!r->lower[i])
        keep_text(r, i);
    str_copy(want, sizeof want, filter + (*filter == '!'));
    lower(want);
    bool may = strstr(r->lower[i], want) != NULL;
    if (!may || !has_capital(filter))
        return may != (*filter == '!');
    r->kind->text(r->arg, i, buf, sizeof buf);
    return rowset_pass(filter, buf);
}

static void judge(struct rowset *r, int i)
{
    uint8_t now = passes(r, i) ? PASS : 0;
    r->stale = r->stale || now != (r->flags[i] & PASS);
    r->flags[i] = (uint8_t)((r->flags[i] & ~PASS) | now);
}

/* --- order --- */

static int compare(const struct rowset *r, int which, int a, int b)
{
    int c = which ? r->kind->compare(r->arg, r->sort, a, b) : 0;
    if (c == 0)
        c = r->kind->compare(r->arg, 0, a, b);
    return c ? c : (a > b) - (a < b);
}

/* By one key. Equals of the first order stand by their number; those of another
 * keep their places, which are of the first order. */
static bool ordered(const struct rowset *r, int sort, int a, int b)
{
    int c = r->kind->compare(r->arg, sort, a, b);
    return c ? c < 0 : sort || a < b;
}

/* Stable, and at once where it is in order already. */
static void merge_sort(const struct rowset *r, int sort, int *v, int *tmp, int n)
{
    int half = n / 2, i = 0, k = half, out = 0;
    if (n < 2)
        return;
    merge_sort(r, sort, v, tmp, half);
    merge_sort(r, sort, v + half, tmp, n - half);
    if (ordered(r, sort, v[half - 1], v[half]))
        return;
    memcpy(tmp, v, (size_t)half * sizeof *v);
    while (i < half && k < n)
        v[out++] = ordered(r, sort, tmp[i], v[k]) ? tmp[i++] : v[k++];
    while (i < half)
        v[out++] = tmp[i++];
}

static void sort_all(struct rowset *r, int which, int n)
{
    int *tmp = xmalloc(((size_t)n / 2 + 1) * sizeof *tmp);
    merge_sort(r, which ? r->sort : 0, r->order[which], tmp, n);
    free(tmp);
}

static void insert(struct rowset *r, int which, int n, int number)
{
    int low = 0, high = n, *v = r->order[which];
    while (low < high) {
        int mid = (low + high) / 2;
        if (compare(r, which, v[mid], number) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    memmove(v + low + 1, v + low, (size_t)(n - low) * sizeof *v);
    v[low] = number;
}

/* Take out what went or moved, then put in what moved; answers how many there are. */
static int reorder(struct rowset *r, int which)
{
    int n = 0, *v = r->order[which];
    bool many = r->moved_n > MANY;
    for (int i = 0; i < r->n; i++)
        if ((r->flags[v[i]] & (MOVED | LIVE)) == LIVE)
            v[n++] = v[i];
    for (int i = 0; i < r->moved_n; i++) {
        int number = r->moved[i];
        if (!(r->flags[number] & LIVE))
            continue;
        if (many)
            v[n] = number;
        else
            insert(r, which, n, number);
        n++;
    }
    if (many && which)
        memcpy(v, r->order[0], (size_t)n * sizeof *v);
    if (many)
        sort_all(r, which, n);
    return n;
}

static void place_moved(struct rowset *r)
{
    if (!r->moved_n)
        return;
    int n = reorder(r, 0);
    if (r->sort)
        reorder(r, 1);
    for (int i = 0; i < r->moved_n; i++)
        r->flags[r->moved[i]] &= (uint8_t)~MOVED;
    r->n = n;
    r->moved_n = 0;
    r->stale = true;
}

/* --- the table --- */

static void room(struct rowset *r, size_t n)
{
    if (n <= r->cap)
        return;
    size_t cap = MAX(n, 2 * r->cap);
    r->held = xrealloc_array(r->held, cap, sizeof *r->held);
    r->lower = xrealloc_array(r->lower, cap, sizeof *r->lower);
    r->flags = xrealloc_array(r->flags, cap, sizeof *r->flags);
    int **arrays[] = {&r->order[0], &r->order[1], &r->show, &r->moved};
    for (size_t i = 0; i < ARRAY_LEN(arrays); i++)
        *arrays[i] = xrealloc_array(*arrays[i], cap + 1, sizeof(int));
    memset(r->held + r->cap, 0, (cap - r->cap) * sizeof *r->held);
    memset(r->lower + r->cap, 0, (cap - r->cap) * sizeof *r->lower);
    memset(r->flags + r->cap, 0, (cap - r->cap) * sizeof *r->flags);
    r->cap = cap;
    r->kind->room(r->arg, cap);
}

static void moves(struct rowset *r, int number)
{
    if (r->flags[number] & MOVED)
        return;
    r->flags[number] |= MOVED;
    r->moved[r->moved_n++] = number;
}

static void look(struct rowset *r, const struct table *t, size_t i)
{
    const struct json *now = table_at(t, i);
    if (!now) {
        if (r->flags[i] & LIVE)
            moves(r, (int)i);
        forget(r, i);
        return;
    }
    if (r->held[i] && json_share_same(r->held[i], now))
        return;
    struct json *old = r->held[i];
    bool is_new = !(r->flags[i] & LIVE);
    r->held[i] = json_share(now);
    free(r->lower[i]);
    r->lower[i] = NULL;
    /* the old version is held until what was read of it is no longer looked at */
    bool moved = r->kind->take(r->arg, (int)i, r->held[i], !is_new) || is_new;
    json_free(old);
    r->flags[i] |= LIVE;
    if (r->ready)
        keep_text(r, (int)i);
    if (moved)
        moves(r, (int)i);
    judge(r, (int)i);
}

void rowset_follow(struct rowset *r, const struct table *t)
{
    uint64_t end = table_log_end(t);
    size_t n = table_numbers(t);
    if (r->of != t->index) {
        empty(r);
        r->of = t->index;
    }
    if (r->at == end)
        return;
    room(r, n);
    if (r->at < table_log_first(t))
        for (size_t i = 0; i < n; i++)
            look(r, t, i);
    else
        for (; r->at < end; r->at++)
            look(r, t, table_log(t, r->at));
    r->at = end;
    place_moved(r);
}

/* --- the choice --- */

/* A longer filter can only leave out; "!…" only let in. */
static void take_filter(struct rowset *r, const struct rowset_choice *c)
{
    bool narrows = r->only == c->only && r->filter[0] && r->filter[0] != '!' &&
                   str_starts(c->filter, r->filter);
    if (r->only == c->only && str_eq(r->filter, c->filter))
        return;
    str_copy(r->filter, sizeof r->filter, c->filter);
    r->only = c->only;
    for (int i = 0; i < r->n; i++) {
        int number = r->order[0][i];
        if (!narrows || (r->flags[number] & PASS))
            judge(r, number);
    }
}

void rowset_choose(struct rowset *r, const struct rowset_choice *c)
{
    take_filter(r, c);
    if (c->sort != r->sort) {
        r->sort = c->sort;
        r->stale = true;
        if (r->sort && r->n) {
            memcpy(r->order[1], r->order[0], (size_t)r->n * sizeof *r->order[1]);
            sort_all(r, 1, r->n);
        }
    }
    r->stale = r->stale || r->reverse != c->reverse;
    r->reverse = c->reverse;
    if (!r->stale)
        return;
    const int *v = r->order[r->sort ? 1 : 0];
    r->shown_n = 0;
    for (int i = 0; i < r->n; i++) {
        int number = v[r->reverse ? r->n - 1 - i : i];
        if (r->flags[number] & PASS)
            r->show[r->shown_n++] = number;
    }
    r->shown = r->show;
    r->stale = false;
}
