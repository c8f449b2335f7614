/* yaml.c - YAML documents as kubectl reads them (yaml.h): events of libyaml to
 * trees. Typing of plain scalars is in yaml_scalar.c. */
#include "core/base/yaml.h"

#include <yaml.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/yaml_scalar.h"

enum { MAX_NODES = 100000, MAX_DEPTH = 100, MAX_TEXT = 64 << 20 };

struct anchor {
    const char *name;
    struct ynode *node;
    bool open;                   /* its end has not been read */
    struct anchor *next;
};

/* A document and the arena that holds its nodes. */
struct doc {
    struct ydoc pub;
    struct arena arena;
};

struct build {
    yaml_parser_t parser;
    const char *name;
    struct doc *doc;
    struct anchor *anchors;
    int nodes, depth;
    int line0;                   /* lines before the text */
    bool first_only;             /* yaml_parse_first */
    struct pd_err *err;
};

static enum pd_code fail_mark(struct build *b, const yaml_mark_t *m, const char *what)
{
    return pd_fail_at(b->err, PD_PARSE, b->name, b->line0 + (int)m->line + 1,
                      (int)m->column + 1, "%s", what);
}

static enum pd_code next_event(struct build *b, yaml_event_t *ev)
{
    if (yaml_parser_parse(&b->parser, ev))
        return PD_OK;
    char text[300];
    const yaml_parser_t *p = &b->parser;
    yaml_mark_t at = p->problem_mark;
    if (p->error == YAML_READER_ERROR) {
        size_t n = MIN(p->problem_offset, (size_t)(p->input.string.end - p->input.string.start));
        at = (yaml_mark_t){0};
        for (const unsigned char *c = p->input.string.start; n > 0; n--, c++) {
            at.column++;
            if (*c == '\n') {
                at.line++;
                at.column = 0;
            }
        }
    }
    str_fmt(text, sizeof text, _("not valid YAML: %s%s%s"), p->problem ? p->problem : "unknown",
            p->context ? ", " : "", p->context ? p->context : "");
    return fail_mark(b, &at, text);
}

static struct ynode *new_node(struct build *b, enum ykind kind, const yaml_mark_t *m)
{
    struct ynode *n = arena_alloc(&b->doc->arena, sizeof *n);
    n->kind = kind;
    n->line = b->line0 + (int)m->line + 1;
    n->col = (int)m->column + 1;
    return n;
}

static enum pd_code count_node(struct build *b, const yaml_mark_t *m)
{
    if (++b->nodes > MAX_NODES)
        return fail_mark(b, m, _("the document has more than 100,000 nodes"));
    return PD_OK;
}

/* A deep copy, so that every node has one parent. */
static enum pd_code copy_node(struct build *b, const struct ynode *from, const yaml_mark_t *m,
                              struct ynode **out)
{
    enum pd_code code = count_node(b, m);
    if (code != PD_OK)
        return code;
    struct ynode *n = arena_alloc(&b->doc->arena, sizeof *n), **tail = &n->first;
    *n = *from;
    n->first = n->next = NULL;
    for (const struct ynode *c = from->first; c; c = c->next) {
        code = copy_node(b, c, m, tail);
        if (code != PD_OK)
            return code;
        tail = &(*tail)->next;
    }
    *out = n;
    return PD_OK;
}

/* From where a node begins its anchor is known: one of the same name inside it
 * comes later, and wins. */
static struct anchor *add_anchor(struct build *b, const yaml_char_t *name, struct ynode *n)
{
    struct anchor *a = arena_alloc(&b->doc->arena, sizeof *a);
    a->node = n;
    if (!name)
        return a;
    a->name = arena_strdup(&b->doc->arena, (const char *)name);
    a->next = b->anchors;
    b->anchors = a;
    return a;
}

static enum pd_code build_alias(struct build *b, yaml_event_t *ev, struct ynode **out)
{
    char text[200];
    const char *name = (const char *)ev->data.alias.anchor;
    struct anchor *a = b->anchors;
    while (a && strcmp(a->name, name) != 0)
        a = a->next;
    if (a && !a->open)
        return copy_node(b, a->node, &ev->start_mark, out);
    if (a)
        str_fmt(text, sizeof text, _("the value of the anchor &%s contains itself"), name);
    else
        str_fmt(text, sizeof text, _("the alias *%s has no anchor before it"), name);
    return fail_mark(b, &ev->start_mark, text);
}

static void build_scalar(struct build *b, yaml_event_t *ev, struct ynode **out)
{
    struct ynode *n = new_node(b, Y_STRING, &ev->start_mark);
    n->text = arena_strdup(&b->doc->arena, (const char *)ev->data.scalar.value);
    n->quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    struct yscalar s = yaml_scalar_of(n->text, ev->data.scalar.plain_implicit,
                                      (const char *)ev->data.scalar.tag);
    n->kind = s.kind;
    n->number = s.number;
    n->integer = s.integer;
    n->flaw = s.flaw;
    *out = n;
    add_anchor(b, ev->data.scalar.anchor, n);
}

static enum pd_code build_node(struct build *b, yaml_event_t *ev, struct ynode **out);

static enum pd_code build_seq(struct build *b, yaml_event_t *start, struct ynode **out)
{
    struct ynode *seq = new_node(b, Y_SEQ, &start->start_mark), **tail = &seq->first;
    struct anchor *a = add_anchor(b, start->data.sequence_start.anchor, seq);
    a->open = true;
    for (;;) {
        yaml_event_t ev;
        enum pd_code code = next_event(b, &ev);
        if (code != PD_OK)
            return code;
        if (ev.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&ev);
            break;
        }
        code = build_node(b, &ev, tail);
        yaml_event_delete(&ev);
        if (code != PD_OK)
            return code;
        tail = &(*tail)->next;
    }
    a->open = false;
    *out = seq;
    return PD_OK;
}

static struct ynode *child(const struct ynode *map, const char *key)
{
    for (struct ynode *c = map->first; c; c = c->next)
        if (c->json_key && strcmp(c->json_key, key) == 0)
            return c;
    return NULL;
}

/* Members of base at `<<`: as go-yaml v2 has it, one that stands before the
 * `<<` is replaced, and one behind it replaces (struct member's `merged`). */
static enum pd_code merge_map(struct build *b, struct ynode *map, const struct ynode *base,
                              const yaml_mark_t *m)
{
    for (const struct ynode *c = base->first; c; c = c->next) {
        struct ynode **at = &map->first;
        while (*at && !(c->json_key && str_eq((*at)->json_key, c->json_key)))
            at = &(*at)->next;
        struct ynode *old = *at;
        enum pd_code code = copy_node(b, c, m, at);
        if (code != PD_OK)
            return code;
        (*at)->next = old ? old->next : NULL;
        (*at)->merged = true;
    }
    return PD_OK;
}

/* `<<: *base` or `<<: [*a, *b]`, where the earlier wins. */
static enum pd_code merge_into(struct build *b, struct ynode *map, const struct ynode *base,
                               const yaml_mark_t *m)
{
    size_t n = base->kind == Y_SEQ ? yaml_count(base) : 1;
    if (base->kind == Y_MAP)
        return merge_map(b, map, base, m);
    while (base->kind == Y_SEQ && n-- > 0) {
        const struct ynode *c = base->first;
        for (size_t i = 0; i < n; i++)
            c = c->next;
        if (c->kind != Y_MAP)
            return fail_mark(b, m, _("the value of << is no map"));
        enum pd_code code = merge_map(b, map, c, m);
        if (code != PD_OK)
            return code;
    }
    return base->kind == Y_SEQ ? PD_OK : fail_mark(b, m, _("the value of << is no map"));
}

/* The key of a member into *k: its text, type and place. An alias of a scalar
 * will do. */
static enum pd_code read_key(struct build *b, yaml_event_t *ev, struct ynode **k)
{
    enum pd_code code = PD_OK;
    if (ev->type == YAML_SCALAR_EVENT)
        build_scalar(b, ev, k);
    else if (ev->type == YAML_ALIAS_EVENT)
        code = build_alias(b, ev, k);
    if (code == PD_OK && (!*k || (*k)->kind == Y_SEQ || (*k)->kind == Y_MAP))
        code = fail_mark(b, &ev->start_mark, _("a key that is a list or a map"));
    return code;
}

/* The name of the member in *value; refused when the map has it already, but for
 * one that only a merge has brought: then *value takes its place. */
static enum pd_code name_member(struct build *b, struct ynode *map, const struct ynode *key,
                                struct ynode *value, const yaml_mark_t *m)
{
    char text[300], buf[40];
    struct yscalar s = {key->kind, key->number, key->integer, key->flaw};
    const char *flaw, *name = yaml_scalar_key(&s, key->text, buf, &flaw);
    value->merged = false;
    value->key = key->text;
    value->json_key = name == key->text ? name : name ? arena_strdup(&b->doc->arena, name) : NULL;
    value->flaw = flaw ? flaw : value->flaw;
    value->key_line = b->line0 + (int)m->line + 1;
    value->key_col = (int)m->column + 1;
    struct ynode *old = name ? child(map, name) : NULL;
    value->repeats_line = old && !old->merged ? old->key_line : 0;
    if (value->repeats_line && !b->first_only) {
        str_fmt(text, sizeof text, _("the key \"%s\" stands twice; first at line %d"), key->text,
                old->key_line);
        return fail_mark(b, m, text);
    }
    struct ynode **at = &map->first;
    while (*at && *at != old)
        at = &(*at)->next;
    value->next = old ? old->next : NULL;
    *at = value;
    return PD_OK;
}

/* One member: the key event is given, the value is read. */
static enum pd_code build_member(struct build *b, struct ynode *map, yaml_event_t *key)
{
    yaml_event_t ev;
    struct ynode *k = NULL, *value = NULL;
    bool merge = key->type == YAML_SCALAR_EVENT &&
                 str_eq((const char *)key->data.scalar.value, "<<") &&
                 key->data.scalar.plain_implicit;
    enum pd_code code = read_key(b, key, &k);
    if (code != PD_OK || (code = next_event(b, &ev)) != PD_OK)
        return code;
    code = build_node(b, &ev, &value);
    yaml_event_delete(&ev);
    if (code != PD_OK)
        return code;
    return merge ? merge_into(b, map, value, &key->start_mark)
                 : name_member(b, map, k, value, &key->start_mark);
}

static enum pd_code build_map(struct build *b, yaml_event_t *start, struct ynode **out)
{
    struct ynode *map = new_node(b, Y_MAP, &start->start_mark);
    struct anchor *a = add_anchor(b, start->data.mapping_start.anchor, map);
    a->open = true;
    for (;;) {
        yaml_event_t key;
        enum pd_code code = next_event(b, &key);
        if (code != PD_OK)
            return code;
        if (key.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&key);
            break;
        }
        code = build_member(b, map, &key);
        yaml_event_delete(&key);
        if (code != PD_OK)
            return code;
    }
    a->open = false;
    *out = map;
    return PD_OK;
}

static enum pd_code build_node(struct build *b, yaml_event_t *ev, struct ynode **out)
{
    enum pd_code code = count_node(b, &ev->start_mark);
    if (code != PD_OK)
        return code;
    if (b->depth >= MAX_DEPTH)
        return fail_mark(b, &ev->start_mark, _("nested deeper than 100 levels"));
    b->depth++;
    if (ev->type == YAML_SCALAR_EVENT)
        build_scalar(b, ev, out);
    else if (ev->type == YAML_SEQUENCE_START_EVENT)
        code = build_seq(b, ev, out);
    else if (ev->type == YAML_MAPPING_START_EVENT)
        code = build_map(b, ev, out);
    else if (ev->type == YAML_ALIAS_EVENT)
        code = build_alias(b, ev, out);
    else
        code = fail_mark(b, &ev->start_mark, _("not valid YAML"));
    b->depth--;
    return code;
}

static enum pd_code build_doc(struct build *b, struct ydoc ***tail)
{
    yaml_event_t ev;
    b->doc = xcalloc(1, sizeof *b->doc);
    arena_init(&b->doc->arena, (size_t)MAX_TEXT * 4);
    **tail = &b->doc->pub;
    *tail = &b->doc->pub.next;
    b->anchors = NULL;
    b->nodes = 0;
    enum pd_code code = next_event(b, &ev);
    if (code != PD_OK)
        return code;
    code = build_node(b, &ev, &b->doc->pub.root);
    yaml_event_delete(&ev);
    const struct ynode *root = b->doc->pub.root;
    if (root && root->kind == Y_NULL && !root->quoted && !root->text[0])
        b->doc->pub.root = NULL;                    /* "---" with nothing behind it */
    return code;
}

static enum pd_code parse_text(struct build *b, const char *text, size_t len, struct ydoc **out)
{
    struct ydoc *docs = NULL, **tail = &docs;
    bool end = false;
    if (len > MAX_TEXT)
        return pd_fail_at(b->err, PD_LIMIT, b->name, 0, 0, _("the file is larger than 64 MiB"));
    if (!yaml_parser_initialize(&b->parser))
        PD_BUG("out of memory in libyaml");
    yaml_parser_set_input_string(&b->parser, (const unsigned char *)text, len);
    enum pd_code code = PD_OK;
    while (code == PD_OK && !end) {
        yaml_event_t ev;
        code = next_event(b, &ev);
        if (code != PD_OK)
            break;
        end = ev.type == YAML_STREAM_END_EVENT;
        if (ev.type == YAML_DOCUMENT_START_EVENT) {
            code = build_doc(b, &tail);
            end = b->first_only;
        }
        yaml_event_delete(&ev);
    }
    yaml_parser_delete(&b->parser);
    if (code != PD_OK) {
        yaml_docs_free(docs);
        return code;
    }
    *out = docs;
    return PD_OK;
}

enum pd_code yaml_parse(const char *name, const char *text, size_t len, struct ydoc **out,
                        struct pd_err *err)
{
    return yaml_parse_part(name, 1, text, len, out, err);
}

enum pd_code yaml_parse_part(const char *name, int line, const char *text, size_t len,
                             struct ydoc **out, struct pd_err *err)
{
    struct build b = {.name = name, .err = err, .line0 = line - 1};
    return parse_text(&b, text, len, out);
}

enum pd_code yaml_parse_first(const char *name, const char *text, size_t len, struct ydoc **out,
                              struct pd_err *err)
{
    struct build b = {.name = name, .err = err, .first_only = true};
    return parse_text(&b, text, len, out);
}

enum pd_code yaml_read_file(const char *path, struct ydoc **out, struct pd_err *err)
{
    struct str s;
    str_init(&s, MAX_TEXT);
    enum pd_code code = path_read(path, MAX_TEXT, &s, err);
    if (code == PD_OK)
        code = yaml_parse(path, s.p, s.len, out, err);
    str_release(&s);
    return code;
}

void yaml_docs_free(struct ydoc *docs)
{
    while (docs) {
        struct ydoc *next = docs->next;
        struct doc *d = (struct doc *)docs;
        arena_release(&d->arena);
        free(d);
        docs = next;
    }
}
