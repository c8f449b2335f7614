/* practice_patch.c - the patches as tables: JSON Patch by RFC 6902's examples,
 * Merge Patch by RFC 7386's, the strategic merge with each of its directives.
 */
#include "core/base/base.h"

#include "k8s/practice/patch.h"
#include "tests/t.h"

struct row {
    const char *name, *doc, *patch, *want;       /* want NULL: refused, doc unchanged */
};

static void check(const struct row *r, const struct json *got)
{
    struct json *want = json_from(r->want);
    char *text = json_text(got, 0);
    CHECK_MSG(json_equal(got, want), "%s: got %s, want %s", r->name, text, r->want);
    free(text);
    json_free(want);
}

static const struct row rfc6902[] = {
    {"A.1 add a member", "{\"foo\":\"bar\"}",
     "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]", "{\"baz\":\"qux\",\"foo\":\"bar\"}"},
    {"A.2 add an element", "{\"foo\":[\"bar\",\"baz\"]}",
     "[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":\"qux\"}]",
     "{\"foo\":[\"bar\",\"qux\",\"baz\"]}"},
    {"A.3 remove a member", "{\"baz\":\"qux\",\"foo\":\"bar\"}",
     "[{\"op\":\"remove\",\"path\":\"/baz\"}]", "{\"foo\":\"bar\"}"},
    {"A.4 remove an element", "{\"foo\":[\"bar\",\"qux\",\"baz\"]}",
     "[{\"op\":\"remove\",\"path\":\"/foo/1\"}]", "{\"foo\":[\"bar\",\"baz\"]}"},
    {"A.5 replace", "{\"baz\":\"qux\",\"foo\":\"bar\"}",
     "[{\"op\":\"replace\",\"path\":\"/baz\",\"value\":\"boo\"}]",
     "{\"baz\":\"boo\",\"foo\":\"bar\"}"},
    {"A.6 move", "{\"foo\":{\"bar\":\"baz\",\"waldo\":\"fred\"},\"qux\":{\"corge\":\"grault\"}}",
     "[{\"op\":\"move\",\"from\":\"/foo/waldo\",\"path\":\"/qux/thud\"}]",
     "{\"foo\":{\"bar\":\"baz\"},\"qux\":{\"corge\":\"grault\",\"thud\":\"fred\"}}"},
    {"A.7 move an element", "{\"foo\":[\"all\",\"grass\",\"cows\",\"eat\"]}",
     "[{\"op\":\"move\",\"from\":\"/foo/1\",\"path\":\"/foo/3\"}]",
     "{\"foo\":[\"all\",\"cows\",\"eat\",\"grass\"]}"},
    {"A.8 test", "{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}",
     "[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"qux\"},{\"op\":\"test\",\"path\":\"/foo/"
     "1\",\"value\":2}]",
     "{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}"},
    {"A.9 failed test", "{\"baz\":\"qux\"}",
     "[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"bar\"}]", NULL},
    {"A.10 nested add", "{\"foo\":\"bar\"}",
     "[{\"op\":\"add\",\"path\":\"/child\",\"value\":{\"grandchild\":{}}}]",
     "{\"foo\":\"bar\",\"child\":{\"grandchild\":{}}}"},
    {"A.12 add to nothing", "{\"foo\":\"bar\"}",
     "[{\"op\":\"add\",\"path\":\"/baz/bat\",\"value\":\"qux\"}]", NULL},
    {"A.14 escapes", "{\"/\":9,\"~1\":10}", "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":10}]",
     "{\"/\":9,\"~1\":10}"},
    {"A.15 number is no string", "{\"/\":9,\"~1\":10}",
     "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":\"10\"}]", NULL},
    {"A.16 add at the end", "{\"foo\":[\"bar\"]}",
     "[{\"op\":\"add\",\"path\":\"/foo/-\",\"value\":[\"abc\",\"def\"]}]",
     "{\"foo\":[\"bar\",[\"abc\",\"def\"]]}"},
    {"copy", "{\"a\":{\"b\":1}}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/c\"}]",
     "{\"a\":{\"b\":1},\"c\":{\"b\":1}}"},
    {"all or nothing", "{\"a\":1}",
     "[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"remove\",\"path\":\"/a\"}]", NULL},
    {"leading zero", "{\"a\":[1,2]}", "[{\"op\":\"replace\",\"path\":\"/a/01\",\"value\":3}]",
     NULL},
    {"past the end", "{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/2\",\"value\":3}]", NULL},
    {"into itself", "{\"a\":{\"b\":{}}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b/c\"}]",
     NULL},
    {"whole document", "{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":{\"b\":2}}]",
     "{\"b\":2}"},
};

TEST(patch_json_by_rfc6902)
{
    for (size_t i = 0; i < ARRAY_LEN(rfc6902); i++) {
        const struct row *r = &rfc6902[i];
        struct json *doc = json_from(r->doc), *before = json_from(r->doc), *p = json_from(r->patch);
        struct pd_err err;
        enum pd_code code = patch_json(&doc, p, &err);
        CHECK_MSG((code == PD_OK) == (r->want != NULL), "%s: %s", r->name,
                  code ? err.msg : "passed");
        if (r->want)
            check(r, doc);
        else
            CHECK_MSG(json_equal(doc, before), "%s: a refused patch changed the document", r->name);
        json_free(doc);
        json_free(before);
        json_free(p);
    }
}

TEST(patch_merge_by_rfc7386)
{
    static const struct row rows[] = {
        {"1", "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"2", "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
        {"3", "{\"a\":\"b\"}", "{\"a\":null}", "{}"},
        {"4", "{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
        {"5", "{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"6", "{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
        {"7", "{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
        {"8", "{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
        {"9", "[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
        {"10", "{\"a\":\"foo\"}", "null", "null"},
        {"11", "{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
        {"12", "[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
        {"13", "{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct json *doc = json_from(rows[i].doc), *p = json_from(rows[i].patch);
        patch_merge(&doc, p);
        check(&rows[i], doc);
        json_free(doc);
        json_free(p);
    }
}

#define POD(body) "{\"kind\":\"Pod\",\"spec\":{" body "}}"
static const struct row strategic[] = {
    {"merges by name",
     POD("\"containers\":[{\"name\":\"a\",\"image\":\"1\"},{\"name\":\"b\",\"image\":\"2\"}]"),
     POD("\"containers\":[{\"name\":\"b\",\"image\":\"3\"}]"),
     POD("\"containers\":[{\"name\":\"a\",\"image\":\"1\"},{\"name\":\"b\",\"image\":\"3\"}]")},
    {"appends a new one", POD("\"containers\":[{\"name\":\"a\"}]"),
     POD("\"containers\":[{\"name\":\"b\",\"command\":null}]"),
     POD("\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]")},
    {"$patch delete", POD("\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]"),
     POD("\"containers\":[{\"name\":\"a\",\"$patch\":\"delete\"}]"),
     POD("\"containers\":[{\"name\":\"b\"}]")},
    {"$patch replace of a list", POD("\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]"),
     POD("\"containers\":[{\"$patch\":\"replace\"},{\"name\":\"c\"}]"),
     POD("\"containers\":[{\"name\":\"c\"}]")},
    {"$patch replace of an object", POD("\"securityContext\":{\"runAsUser\":1,\"fsGroup\":2}"),
     POD("\"securityContext\":{\"$patch\":\"replace\",\"fsGroup\":3}"),
     POD("\"securityContext\":{\"fsGroup\":3}")},
    {"atomic list is replaced", POD("\"containers\":[{\"name\":\"a\",\"args\":[\"x\",\"y\"]}]"),
     POD("\"containers\":[{\"name\":\"a\",\"args\":[\"z\"]}]"),
     POD("\"containers\":[{\"name\":\"a\",\"args\":[\"z\"]}]")},
    {"nested list",
     POD("\"containers\":[{\"name\":\"a\",\"env\":[{\"name\":\"A\",\"value\":\"1\"},{\"name\":"
         "\"B\",\"value\":\"2\"}]}]"),
     POD("\"containers\":[{\"name\":\"a\",\"env\":[{\"name\":\"B\",\"value\":\"3\"}]}]"),
     POD("\"containers\":[{\"name\":\"a\",\"env\":[{\"name\":\"A\",\"value\":\"1\"},{\"name\":"
         "\"B\",\"value\":\"3\"}]}]")},
    {"$retainKeys", POD("\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]"),
     POD("\"volumes\":[{\"name\":\"v\",\"$retainKeys\":[\"name\",\"hostPath\"],\"hostPath\":{"
         "\"path\":\"/x\"}}]"),
     POD("\"volumes\":[{\"name\":\"v\",\"hostPath\":{\"path\":\"/x\"}}]")},
    {"$setElementOrder", POD("\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]"),
     POD("\"$setElementOrder/"
         "containers\":[{\"name\":\"c\"},{\"name\":\"b\"},{\"name\":\"a\"}],\"containers\":[{"
         "\"name\":\"c\"}]"),
     POD("\"containers\":[{\"name\":\"c\"},{\"name\":\"b\"},{\"name\":\"a\"}]")},
    {"$deleteFromPrimitiveList", "{\"metadata\":{\"finalizers\":[\"a\",\"b\",\"c\"]}}",
     "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"b\"]}}",
     "{\"metadata\":{\"finalizers\":[\"a\",\"c\"]}}"},
    {"primitive list merges", "{\"metadata\":{\"finalizers\":[\"a\"]}}",
     "{\"metadata\":{\"finalizers\":[\"a\",\"b\"]}}",
     "{\"metadata\":{\"finalizers\":[\"a\",\"b\"]}}"},
    {"null removes", POD("\"nodeName\":\"n\",\"hostname\":\"h\""), POD("\"nodeName\":null"),
     POD("\"hostname\":\"h\"")},
    {"no merge key", POD("\"containers\":[{\"name\":\"a\"}]"),
     POD("\"containers\":[{\"image\":\"x\"}]"), NULL},
    {"unknown directive", POD("\"containers\":[{\"name\":\"a\"}]"),
     POD("\"containers\":[{\"name\":\"a\",\"$patch\":\"explode\"}]"), NULL},
};

TEST(patch_strategic_with_every_directive)
{
    const struct schema_type *t = schema_type("v1", "Pod");
    for (size_t i = 0; i < ARRAY_LEN(strategic); i++) {
        const struct row *r = &strategic[i];
        struct json *doc = json_from(r->doc), *p = json_from(r->patch);
        struct pd_err err;
        enum pd_code code = patch_strategic(t, doc, p, &err);
        CHECK_MSG((code == PD_OK) == (r->want != NULL), "%s: %s", r->name,
                  code ? err.msg : "passed");
        if (r->want)
            check(r, doc);
        json_free(doc);
        json_free(p);
    }
}

T_MAIN
