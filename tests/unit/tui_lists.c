/* tui_lists.c - the lists of the cluster: sorting, filtering, the selection held
 * by identity, objects opened from them, and the end of a pod. */
#include "tests/screens/fixture.h"
#include "tui/cmd_lists.h"
#include "tui/columns.h"
#include "tui/panel.h"

static struct app *open_list(const char *name, int cols, int rows)
{
    struct app *a = fx_app("en", cols, rows, GLYPH_UNICODE);
    fx_crowd(a->s);
    fx_run_command(a, name, NULL);
    return a;
}

static const char *pod_at(const struct app *a, int i)
{
    struct lists_pods l = lists_pods(a->lists, a->s, &a->list[LIST_PODS]);
    return i < l.n ? l.v[l.order[i]].name : "";
}

static void type(struct app *a, const char *text)
{
    for (; *text; text++) {
        char key[2] = {*text, '\0'};
        fx_key(a, key);
    }
}

TEST(pods_sort_by_name_age_status_and_back)
{
    struct app *a = open_list("pods", 120, 40);
    CHECK_STR(pod_at(a, 0), "dataaccess-0");
    CHECK_STR(pod_at(a, 4), "lora-gaudi-x7k2p");
    fx_key(a, "A");
    CHECK_STR(pod_at(a, 0), "lora-gaudi-x7k2p");         /* the youngest first */
    CHECK_STR(pod_at(a, 4), "dataaccess-0");
    fx_key(a, "A");
    CHECK_STR(pod_at(a, 0), "dataaccess-0");
    fx_key(a, "S");
    CHECK_STR(pod_at(a, 0), "lora-gaudi-x7k2p");         /* ContainerCreating */
    fx_key(a, "N");
    CHECK_STR(pod_at(a, 0), "dataaccess-0");
    fx_free(a);
}

TEST(the_filter_works_while_it_is_typed)
{
    struct app *a = open_list("pods", 120, 40);
    fx_key(a, "/");
    type(a, "oom");
    CHECK_INT(lists_pods(a->lists, a->s, &a->list[LIST_PODS]).n, 1);
    fx_key(a, "Enter");
    CHECK_STR(cmd_lists_pod(a), "lora-gaudi-oom-9vq4d");
    fx_run_command(a, "rows.filter", "!oom");
    CHECK_INT(lists_pods(a->lists, a->s, &a->list[LIST_PODS]).n, 4);
    fx_key(a, "Esc");                        /* takes the filter off, then goes back */
    CHECK_INT(lists_pods(a->lists, a->s, &a->list[LIST_PODS]).n, 5);
    CHECK_INT(a->focus, PANEL_PODS);
    fx_key(a, "Esc");
    CHECK_INT(a->focus, PANEL_CATALOGUE);
    fx_free(a);
}

TEST(the_selection_stays_on_its_pod)
{
    struct app *a = open_list("pods", 120, 40);
    fx_key(a, "j");
    fx_key(a, "j");
    CHECK_STR(cmd_lists_pod(a), "lora-gaudi-run-4k9wz");
    fx_key(a, "A");
    CHECK_STR(cmd_lists_pod(a), "lora-gaudi-run-4k9wz");
    fx_pod(a->s, "aaa-first", "2026-11-30T01:00:00Z", "", "\"cpu\":\"1\"",
           "{\"phase\":\"Pending\"}");
    fx_key(a, "N");
    CHECK_STR(cmd_lists_pod(a), "lora-gaudi-run-4k9wz");
    fx_free(a);
}

static struct json *deletion(struct app *a, const char *const *keys, size_t n)
{
    struct json *found = NULL;
    for (size_t i = 0; i < n; i++) {
        struct effects out;
        struct json *body = json_new_object();
        json_put_str(body, "key", keys[i]);
        struct msg *m = msg_new(MSG_KEY, body);
        m->at_ms = FIXTURE_NOW;
        effects_init(&out);
        app_apply(a, m, &out);
        for (size_t k = 0; k < out.n; k++)
            if (out.v[k].kind == EFF_DELETE && !found)
                found = json_copy(out.v[k].args);
        effects_release(&out);
        msg_free(m);
    }
    return found;
}

/* The uid is that of the moment of the question, and the default is Cancel. */
TEST(why_opens_over_the_list_and_leads_back)
{
    struct app *a = open_list("pods", 120, 40);
    fx_key(a, "/");
    type(a, "oom");
    fx_key(a, "Enter");
    a->scroll[PANEL_WHY] = 7;
    fx_key(a, "w");
    CHECK_STR(a->why.object, "pod/lora-gaudi-oom-9vq4d");
    CHECK_INT(a->focus, PANEL_WHY);
    CHECK_INT(a->scroll[PANEL_WHY], 0);
    fx_key(a, "Esc");
    CHECK_INT(a->focus, PANEL_PODS);
    fx_free(a);
}

TEST(a_deletion_is_asked_for_and_pinned)
{
    struct app *a = open_list("pods", 120, 40);
    static const char *const cancel[] = {"j", "C-d", "Enter"}, *const yes[] = {"C-d", "y"};
    struct json *d = deletion(a, cancel, ARRAY_LEN(cancel));
    CHECK(d == NULL);
    CHECK_STR(cmd_lists_pod(a), "lora-gaudi-oom-9vq4d");
    d = deletion(a, yes, ARRAY_LEN(yes));
    CHECK(d != NULL);
    CHECK_STR(json_str(d, "name", ""), "lora-gaudi-oom-9vq4d");
    CHECK_STR(json_str(d, "uid", ""), "uid-lora-gaudi-oom-9vq4d");
    CHECK_STR(json_str(d, "resource", ""), "pods");
    json_free(d);
    fx_free(a);
}

TEST(an_event_leads_to_its_object_and_a_pod_to_its_node_and_job)
{
    struct app *a = open_list("events", 120, 40);
    struct lists_events l = lists_events(a->lists, a->s, &a->list[LIST_EVENTS]);
    CHECK_INT(l.n, 5);
    CHECK_INT(l.warnings, 2);
    fx_key(a, "W");
    CHECK_INT(lists_events(a->lists, a->s, &a->list[LIST_EVENTS]).n, 2);
    fx_key(a, "W");
    for (int i = 0; i < 3; i++)
        fx_key(a, "j");
    fx_key(a, "Enter");
    CHECK_INT(a->focus, PANEL_OBJECT);
    CHECK_STR(a->object.name, "lora-gaudi-run-4k9wz");
    fx_key(a, "o");
    CHECK_INT(a->focus, PANEL_NODES);
    CHECK_STR(a->list[LIST_NODES].picked, "gaudi-0");
    fx_key(a, "Esc");
    fx_key(a, "J");
    CHECK_STR(a->object.kind, "Job");
    fx_free(a);
}

/* In a list of many thousands only the rows on show are made. */
TEST(a_long_list_costs_a_screenful)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    for (int i = 0; i < 3000; i++) {
        char name[64];
        fx_pod(a->s, str_fmt(name, sizeof name, "pod-%05d", i), "2026-11-30T01:00:00Z", "gaudi-0",
               "\"cpu\":\"1\"", "{\"phase\":\"Running\"}");
    }
    fx_run_command(a, "pods", NULL);
    fx_key(a, "G");
    CHECK_STR(cmd_lists_pod(a), "pod-02999");
    struct rows rows;
    rows_init(&rows, GLYPH_UNICODE);
    panel_of(PANEL_PODS)->rows(a, &rows, 116, 35);
    CHECK(rows.n <= 35);
    CHECK_INT(rows.ids, 3002);
    rows_release(&rows);
    fx_key(a, "g");
    CHECK_STR(cmd_lists_pod(a), "dataaccess-0");
    fx_free(a);
}

/* Used and free make what there is, on the screen too. */
TEST(nodes_say_who_holds_what)
{
    struct app *a = open_list("nodes", 120, 40);
    struct str s;
    fx_screen(a, &s);
    CHECK_HAS(s.p, "8 in all, >=3 used, <=5 free");
    CHECK_HAS(s.p, "2  stu-07/lora-gaudi-run-4k9wz");
    CHECK_HAS(s.p, "1  stu-07/lora-gaudi-x7k2p");
    str_release(&s);
    table_init(&a->s->all_pods, "pods@all");
    const struct json *p = json_first(session_table(a->s, "pods")->items);
    for (; p; p = json_next(p))
        table_put(&a->s->all_pods, p);
    a->s->all_pods.synced = true;
    a->s->all_pods.generation++;
    fx_screen(a, &s);
    CHECK_HAS(s.p, "8 in all, 3 used, 5 free");
    CHECK(!strstr(s.p, ">="));
    str_release(&s);
    a->s->all_pods.forbidden = true;
    a->s->all_pods.generation++;
    fx_screen(a, &s);
    CHECK_HAS(s.p, "ask for a ClusterRole with list on pods");
    str_release(&s);
    fx_free(a);
}

TEST(a_section_says_what_it_may_not_see)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    struct str s;
    fx_lab(a);
    struct table *nodes = fx_table(a->s, "nodes");
    table_clear(nodes);
    nodes->forbidden = true;
    nodes->generation++;
    fx_key(a, "1");
    fx_screen(a, &s);
    CHECK_HAS(s.p, "not allowed: list nodes");
    CHECK_HAS(s.p, "dataaccess-0");          /* the other sections are there */
    str_release(&s);
    nodes->forbidden = nodes->synced = false;
    nodes->generation++;
    fx_screen(a, &s);
    CHECK_HAS(s.p, "loading");               /* not "none": its list has not come */
    str_release(&s);
    nodes->synced = true;
    nodes->generation++;
    fx_screen(a, &s);
    CHECK_HAS(s.p, "Nodes 0");
    str_release(&s);
    fx_free(a);
}

/* The title of a list, before and after its list has come. */
static void title_counts(const char *resource, const char *named, const char *count)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    struct str s;
    fx_lab(a);
    struct table *t = fx_table(a->s, resource);
    table_clear(t);
    t->synced = false;
    t->forbidden = true;
    t->generation++;
    fx_run_command(a, resource, NULL);
    fx_screen(a, &s);
    CHECK_HAS(s.p, named);
    CHECK(!strstr(s.p, count));
    str_release(&s);
    t->forbidden = false;
    t->synced = true;
    t->generation++;
    fx_screen(a, &s);
    CHECK_HAS(s.p, count);
    str_release(&s);
    fx_free(a);
}

TEST(titles_count_only_what_is_known)
{
    title_counts("nodes", "Nodes  ", "ready 0/0");
    title_counts("pods", "Pods stu-07", "Pods stu-07  0");
    title_counts("events", "Events stu-07", "Events stu-07  0");
}

TEST(headings_open_their_lists)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    fx_lab(a);
    fx_key(a, "1");
    CHECK_STR(cmd_lists_pod(a), "dataaccess-0");
    fx_key(a, "k");
    fx_key(a, "Enter");
    CHECK_INT(a->focus, PANEL_PODS);
    fx_key(a, "Esc");
    fx_key(a, "k");
    fx_key(a, "Enter");
    CHECK_INT(a->focus, PANEL_NODES);
    fx_key(a, "Esc");
    fx_key(a, "G");
    fx_key(a, "Enter");
    CHECK_INT(a->focus, PANEL_EVENTS);
    fx_free(a);
}

TEST(columns_go_by_what_they_are_worth)
{
    struct column c[] = {{"a", 10, 30, 100, false, 0}, {"b", 5, 5, 10, false, 0},
                         {"c", 5, 8, 50, false, 0}, {"d", 5, 0, 90, false, 0}};
    columns_fit(c, 4, 60);
    CHECK_INT(c[0].width, 30);
    CHECK_INT(c[2].width, 8);
    CHECK_INT(c[3].width, 0);                /* nothing to say */
    columns_fit(c, 4, 17);
    CHECK_INT(c[1].width, 0);
    CHECK_INT(c[0].width + c[2].width + 1, 17);
    columns_fit(c, 4, 12);
    CHECK_INT(c[2].width, 0);
    CHECK_INT(c[0].width, 12);
}

TEST(requests_are_filtered_and_counted)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    struct str s;
    fx_lab(a);
    fx_api(a->s);
    fx_key(a, "4");
    fx_key(a, "z");
    fx_screen(a, &s);
    CHECK_HAS(s.p, "1 failed");
    CHECK_HAS(s.p, "watching");
    str_release(&s);
    fx_key(a, "F");
    fx_screen(a, &s);
    CHECK_HAS(s.p, "DELETE");
    CHECK(!strstr(s.p, "PATCH"));
    str_release(&s);
    fx_key(a, "Esc");
    fx_key(a, "/");
    type(a, "jobs");
    fx_key(a, "Enter");
    fx_screen(a, &s);
    CHECK(strstr(s.p, "PATCH") && !strstr(s.p, "DELETE"));
    str_release(&s);
    fx_free(a);
}

TEST(a_request_that_waits_counts_down_and_warnings_stand_with_theirs)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    struct str s;
    fx_lab(a);
    fx_api(a->s);
    struct api_row *r = &a->s->api[a->s->api_n - 1];
    r->status = 429;
    r->retry_at_ms = a->now_ms + 2100;
    free(r->warning);
    r->warning = xstrdup("batch/v1beta1 is deprecated");
    fx_key(a, "4");
    fx_key(a, "z");
    fx_screen(a, &s);
    CHECK_HAS(s.p, "again in 3s");
    CHECK_HAS(s.p, "! batch/v1beta1 is deprecated");
    CHECK(panel_api.ages(a));
    str_release(&s);
    a->now_ms += 2100;
    fx_screen(a, &s);
    CHECK(!strstr(s.p, "again in"));
    CHECK(!panel_api.ages(a));
    str_release(&s);
    fx_free(a);
}

T_MAIN
