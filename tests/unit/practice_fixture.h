/* practice_fixture.h - an API server's inside without its HTTP side, for tests. */
#ifndef TESTS_UNIT_PRACTICE_FIXTURE_H
#define TESTS_UNIT_PRACTICE_FIXTURE_H

#include "core/base/mem.h"
#include "k8s/practice/api_int.h"
#include "k8s/practice/initial.h"
#include "tests/t.h"

struct fixture {
    struct loop *loop;
    struct api *api;
    struct initial *initial;
};

static const struct api_user tester = {"admin", NULL, true, "tester"};

static inline void fixture_open(struct fixture *f, const char *dir)
{
    struct pd_err err;
    f->loop = loop_new();
    struct api_config c = {.loop = f->loop, .dir = dir, .registry_host = "127.0.0.1:1",
                           .ca_file = "/dev/null", .system_token = "t"};
    CHECK_OK(api_open(&c, &f->api, &err));
    f->initial = initial_start(f->api, "PEM");
    loop_turn(f->loop, 0);
    loop_turn(f->loop, 0);
}

static inline void fixture_close(struct fixture *f)
{
    initial_stop(f->initial);
    api_close(f->api);
    loop_free(f->loop);
}

/* Create from text; the HTTP code; the message or the object's text in *out. */
static inline int fixture_create(struct fixture *f, const char *text, struct str *out)
{
    struct json *o = json_from(text);
    const struct res *res = res_of(o);
    struct api_result r;
    CHECK_MSG(res != NULL, "no resource for %s", text);
    api_create(f->api, &tester, res,
               json_str(o, "metadata.namespace", res->namespaced ? "default" : ""), o, &r);
    str_clear(out);
    if (r.code >= 400)
        str_add(out, json_str(r.body, "message", ""));
    else
        json_print(r.body, 0, out);
    int code = r.code;
    api_result_release(&r);
    json_free(o);
    return code;
}

#endif
