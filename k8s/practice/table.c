/* table.c - the Table form of objects (table.h). Cells are in table_cells.c. */
#include "k8s/practice/table.h"

#include "k8s/practice/table_cells.h"

static struct json *definitions(const struct res *res)
{
    struct json *a = json_new_array();
    for (const struct res_column *c = res->columns; c->name; c++) {
        struct json *d = json_new_object();
        json_put_str(d, "name", c->name);
        json_put_str(d, "type", c->type);
        json_put_str(d, "format", c->format);
        json_put_str(d, "description", "");
        json_put_num(d, "priority", c->priority);
        json_append(a, d);
    }
    return a;
}

struct json *table_new(const struct res *res, bool columns)
{
    struct json *t = json_new_object();
    json_put_str(t, "kind", "Table");
    json_put_str(t, "apiVersion", "meta.k8s.io/v1");
    json_set(t, "metadata", json_new_object());
    json_set(t, "columnDefinitions", columns ? definitions(res) : json_new_null());
    json_set(t, "rows", json_new_array());
    return t;
}

static struct json *object_of(const struct json *obj, enum table_include include)
{
    if (include == TABLE_OBJECT)
        return json_copy(obj);
    struct json *p = json_new_object();
    json_put_str(p, "kind", "PartialObjectMetadata");
    json_put_str(p, "apiVersion", "meta.k8s.io/v1");
    json_set(p, "metadata", json_copy(json_get(obj, "metadata")));
    return p;
}

/* kubectl greys out rows of ended pods by this condition. */
static void add_conditions(struct json *row, const struct res *res, const struct json *obj)
{
    const char *phase = json_str(obj, "status.phase", "");
    if (strcmp(res->plural, "pods") != 0 ||
        (strcmp(phase, "Succeeded") != 0 && strcmp(phase, "Failed") != 0))
        return;
    struct json *c = json_from("{\"type\":\"Completed\",\"status\":\"True\"}");
    json_put_str(c, "reason", phase);
    json_put_str(c, "message", *phase == 'S' ? "The pod has completed successfully."
                                             : "The pod failed.");
    struct json *a = json_new_array();
    json_append(a, c);
    json_set(row, "conditions", a);
}

void table_add(struct json *table, const struct res *res, const struct json *obj,
               enum table_include include)
{
    struct json *row = json_new_object(), *cells = json_new_array();
    for (const struct res_column *c = res->columns; c->name; c++)
        json_append(cells, table_cells_make(res, c, obj));
    json_set(row, "cells", cells);
    add_conditions(row, res, obj);
    if (include != TABLE_NONE)
        json_set(row, "object", object_of(obj, include));
    json_append(json_get_mut(table, "rows"), row);
}

const char *table_cell(const struct json *row, const struct res *res, const char *column)
{
    int i = 0;
    for (const struct res_column *c = res->columns; c->name; c++, i++)
        if (!strcmp(c->name, column)) {
            const char *s = json_string_value(json_item(json_get(row, "cells"), i));
            return s ? s : "";
        }
    return "";
}
