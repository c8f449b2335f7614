/* store.c - objects in SQLite (store.h). The one place that knows sqlite3. */
#include "k8s/practice/store.h"

#include <sqlite3.h>

#include "core/base/mem.h"
#include "core/base/str.h"

struct store {
    sqlite3 *db;
    sqlite3_stmt *put, *drop, *revision;
};

static const char setup[] =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=1000;"
    "CREATE TABLE IF NOT EXISTS object("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, ns TEXT NOT NULL,"
    "  name TEXT NOT NULL, body TEXT NOT NULL, UNIQUE(kind, ns, name));";

static enum pd_code failed(struct store *s, struct pd_err *err, const char *what)
{
    int rc = sqlite3_errcode(s->db);
    enum pd_code code = rc == SQLITE_FULL ? PD_LIMIT : PD_IO;
    pd_fail(err, code, "the cluster's store: %s: %s", what, sqlite3_errmsg(s->db));
    if (rc == SQLITE_FULL)
        pd_set_hint(err, "free space on the disk that holds it, then repeat the request");
    return code;
}

static enum pd_code prepare(struct store *s, struct pd_err *err)
{
    const struct {
        sqlite3_stmt **to;
        const char *sql;
    } all[] = {
        {&s->put, "INSERT OR REPLACE INTO object(id, kind, ns, name, body) VALUES(?,?,?,?,?)"},
        {&s->drop, "DELETE FROM object WHERE kind=? AND ns=? AND name=?"},
        {&s->revision, "UPDATE sqlite_sequence SET seq=max(seq, ?) WHERE name='object'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (sqlite3_prepare_v2(s->db, all[i].sql, -1, all[i].to, NULL) != SQLITE_OK)
            return failed(s, err, "its tables can't be used");
    return PD_OK;
}

enum pd_code store_open(const char *path, struct store **out, struct pd_err *err)
{
    struct store *s = xcalloc(1, sizeof *s);
    enum pd_code code = PD_OK;
    if (sqlite3_open(path, &s->db) != SQLITE_OK)
        code = failed(s, err, "it can't be opened");
    if (code == PD_OK) {
        sqlite3_busy_timeout(s->db, 2000);
        if (sqlite3_exec(s->db, setup, NULL, NULL, NULL) != SQLITE_OK)
            code = failed(s, err, "it can't be set up");
    }
    if (code == PD_OK)
        code = prepare(s, err);
    if (code != PD_OK) {
        str_copy(err->src, sizeof err->src, path);
        store_close(s);
        return code;
    }
    *out = s;
    return PD_OK;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    sqlite3_finalize(s->put);
    sqlite3_finalize(s->drop);
    sqlite3_finalize(s->revision);
    sqlite3_close(s->db);
    free(s);
}

int64_t store_revision(struct store *s)
{
    sqlite3_stmt *q = NULL;
    int64_t rv = 0;
    if (sqlite3_prepare_v2(s->db, "SELECT seq FROM sqlite_sequence WHERE name='object'", -1, &q,
                           NULL) == SQLITE_OK &&
        sqlite3_step(q) == SQLITE_ROW)
        rv = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return rv;
}

enum pd_code store_load(struct store *s, void (*fn)(void *arg, const struct store_change *c),
                        void *arg, struct pd_err *err)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(s->db, "SELECT id, kind, ns, name, body FROM object ORDER BY id",
                                -1, &q, NULL);
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(q);
        if (rc != SQLITE_ROW)
            break;
        struct store_change c = {.rv = sqlite3_column_int64(q, 0),
                                 .kind = (const char *)sqlite3_column_text(q, 1),
                                 .ns = (const char *)sqlite3_column_text(q, 2),
                                 .name = (const char *)sqlite3_column_text(q, 3),
                                 .text = (const char *)sqlite3_column_text(q, 4)};
        fn(arg, &c);
    }
    enum pd_code code = rc == SQLITE_DONE ? PD_OK : failed(s, err, "it can't be read");
    sqlite3_finalize(q);
    return code;
}

static bool step(sqlite3_stmt *q)
{
    int rc = sqlite3_step(q);
    sqlite3_reset(q);
    return rc == SQLITE_DONE;
}

static bool write_one(struct store *s, const struct store_change *c)
{
    sqlite3_stmt *q = c->text ? s->put : s->drop;
    int i = 1;
    if (c->text)
        sqlite3_bind_int64(q, i++, c->rv);
    sqlite3_bind_text(q, i++, c->kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, i++, c->ns, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, i++, c->name, -1, SQLITE_STATIC);
    if (c->text)
        sqlite3_bind_text(q, i, c->text, -1, SQLITE_STATIC);
    return step(q);
}

enum pd_code store_write(struct store *s, const struct store_change *c, size_t n,
                         int64_t revision, struct pd_err *err)
{
    bool ok = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    for (size_t i = 0; ok && i < n; i++)
        ok = write_one(s, &c[i]);
    if (ok) {
        sqlite3_bind_int64(s->revision, 1, revision);
        ok = step(s->revision);
    }
    ok = ok && sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    if (ok)
        return PD_OK;
    enum pd_code code = failed(s, err, "a write was refused");
    if (!sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return code;
}

void store_tidy(struct store *s)
{
    sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}
