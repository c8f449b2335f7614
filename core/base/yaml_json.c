/* yaml_json.c - a YAML tree as JSON (yaml.h). Apart from the rest, so that a program
 * that only reads YAML needs no library for JSON. */
#include "core/base/yaml.h"

struct json *yaml_to_json(const struct ynode *n)
{
    struct json *j;
    switch (n ? n->kind : Y_NULL) {
    case Y_BOOL: return json_new_bool(n->number != 0);
    case Y_INT: return json_new_integer(n->integer);
    case Y_FLOAT: return json_new_number(n->number);
    case Y_STRING: return json_new_string(n->text);
    case Y_SEQ:
        j = json_new_array();
        for (const struct ynode *c = n->first; c; c = c->next)
            json_append(j, yaml_to_json(c));
        return j;
    case Y_MAP:
        j = json_new_object();
        for (const struct ynode *c = n->first; c; c = c->next)
            json_set(j, c->json_key ? c->json_key : c->key, yaml_to_json(c));
        return j;
    default: return json_new_null();
    }
}
