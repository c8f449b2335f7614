/* table.h - objects as rows of meta.k8s.io/v1 Table, with the columns of the
 * resource table and the cells that kubectl shows.
 */
#ifndef K8S_PRACTICE_TABLE_H
#define K8S_PRACTICE_TABLE_H

#include "core/base/json.h"
#include "k8s/res.h"

enum table_include { TABLE_METADATA, TABLE_NONE, TABLE_OBJECT };

/* An empty Table; columns: with its columnDefinitions. */
struct json *table_new(const struct res *res, bool columns);
void table_add(struct json *table, const struct res *res, const struct json *obj,
               enum table_include include);
/* One cell as text, "" when there is no such column (for tests and messages). */
const char *table_cell(const struct json *row, const struct res *res, const char *column);

#endif
