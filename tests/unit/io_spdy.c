/* io_spdy.c - SPDY frames: parsing at every cut, header blocks both ways and a
 * recorded one of kubectl's library, what is not valid; and base64 next to it. */
#include "core/io/spdy.h"
#include "tests/t.h"

static const char *const pairs[] = {"port", "8080", "requestid", "7", "streamtype", "data", NULL};

static long parse(const struct str *s, size_t at, struct spdy_frame *f)
{
    return spdy_parse((const unsigned char *)s->p + at, s->len - at, f);
}

TEST(spdy_header_blocks_come_back)
{
    struct spdy_zip *a = spdy_zip_new(), *b = spdy_zip_new();
    struct str s;
    str_init(&s, 1 << 16);
    for (uint32_t id = 1; id < 9; id += 2) {     /* one stream of zlib over all of them */
        struct spdy_frame f;
        struct strv got;
        str_clear(&s);
        spdy_syn(a, &s, SPDY_SYN_STREAM, id, id == 1 ? SPDY_FIN : 0, pairs);
        for (size_t cut = 0; cut < s.len; cut++)
            CHECK_INT(spdy_parse((const unsigned char *)s.p, cut, &f), 0);
        CHECK_INT(parse(&s, 0, &f), (long)s.len);
        CHECK(f.type == SPDY_SYN_STREAM && f.stream == id && f.flags == (id == 1 ? SPDY_FIN : 0));
        strv_init(&got);
        CHECK(spdy_headers(b, &f, &got));
        CHECK_INT(got.n, 6);
        CHECK_STR(spdy_header(&got, "port"), "8080");
        CHECK_STR(spdy_header(&got, "streamtype"), "data");
        CHECK_STR(spdy_header(&got, "nothing"), "");
        strv_release(&got);
    }
    str_release(&s);
    spdy_zip_free(a);
    spdy_zip_free(b);
}

/* Made by kubectl's own SPDY library: error stream 1, data stream 3 of one pair. */
TEST(spdy_reads_what_kubectl_writes)
{
    static const unsigned char recorded[] = {
#include "tests/unit/io_spdy_recorded.h"
    };
    struct spdy_zip *z = spdy_zip_new();
    size_t at = 0;
    static const char *const types[] = {"error", "data"};
    for (int i = 0; i < 2; i++) {
        struct spdy_frame f;
        struct strv got;
        long n = spdy_parse(recorded + at, sizeof recorded - at, &f);
        CHECK(n > 0 && f.type == SPDY_SYN_STREAM);
        CHECK_INT(f.stream, 1 + 2 * i);
        strv_init(&got);
        CHECK(spdy_headers(z, &f, &got));
        CHECK_STR(spdy_header(&got, "streamtype"), types[i]);
        CHECK_STR(spdy_header(&got, "port"), "8080");
        CHECK_STR(spdy_header(&got, "requestid"), "0");
        strv_release(&got);
        at += (size_t)n;
    }
    CHECK_INT(at, sizeof recorded);
    spdy_zip_free(z);
}

TEST(spdy_data_reset_and_ping)
{
    struct str s;
    struct spdy_frame f;
    str_init(&s, 1 << 16);
    spdy_data(&s, 3, true, "abc", 3);
    spdy_reset(&s, 3, SPDY_CANCEL);
    spdy_control(&s, SPDY_PING, 0, "\0\0\0\2", 4);
    long n = parse(&s, 0, &f);
    CHECK(n == 11 && f.type == SPDY_DATA && f.stream == 3 && f.flags == SPDY_FIN && f.n == 3);
    CHECK(memcmp(f.p, "abc", 3) == 0);
    long m = parse(&s, (size_t)n, &f);
    CHECK(m == 16 && f.type == SPDY_RST_STREAM && f.stream == 3 && f.status == SPDY_CANCEL);
    CHECK_INT(parse(&s, (size_t)(n + m), &f), 12);
    CHECK(f.type == SPDY_PING && f.stream == 2);
    str_release(&s);
}

TEST(spdy_refuses_what_is_not_valid)
{
    static const struct { unsigned char b[10]; } bad[] = {
        {{0x80, 2, 0, 1, 0, 0, 0, 20}},              /* SPDY/2 */
        {{0x80, 3, 0, 3, 0, 0, 0, 4, 0, 0}},         /* RST_STREAM that is too short */
        {{0x80, 3, 0, 1, 0, 1, 0, 1, 0, 0}},         /* a header block above 64 KiB */
    };
    struct spdy_frame f;
    unsigned char room[80];
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        memset(room, 0, sizeof room);
        memcpy(room, bad[i].b, sizeof bad[i].b);
        CHECK_INT(spdy_parse(room, sizeof room, &f), -1);
    }
    struct spdy_zip *z = spdy_zip_new();
    struct strv got;
    strv_init(&got);
    static const unsigned char junk[] = "0123456789 is no zlib stream";
    f = (struct spdy_frame){.type = SPDY_SYN_STREAM, .p = junk, .n = sizeof junk};
    CHECK(!spdy_headers(z, &f, &got));
    strv_release(&got);
    spdy_zip_free(z);
}

T_MAIN
