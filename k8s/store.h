/* store.h - the cache of one watched resource: objects by uid, in the order of
 * namespace and name, with a generation that grows with every change.
 *
 * Feed it from watch.h (store_handlers makes the glue) or by hand. A list
 * keeps the generation when nothing in it changed. Objects are borrowed until
 * the next change.
 */
#ifndef K8S_STORE_H
#define K8S_STORE_H

#include "k8s/watch.h"

struct store;

struct store *store_new(void);
void store_free(struct store *s);

void store_begin(struct store *s);
void store_item(struct store *s, struct json *obj);              /* taken */
void store_end(struct store *s);                 /* what the list did not name is gone */
/* true when the store changed: an older resourceVersion, or a DELETED of
 * another uid under the same name, changes nothing. */
bool store_event(struct store *s, enum watch_type type, struct json *obj);   /* obj taken */

size_t store_count(const struct store *s);
const struct json *store_at(const struct store *s, size_t i);
const struct json *store_find(const struct store *s, const char *ns, const char *name);
const struct json *store_uid(const struct store *s, const char *uid);
uint64_t store_generation(const struct store *s);
bool store_synced(const struct store *s);        /* a first list has come */

/* Handlers that fill the store and then call `changed` (or NULL). */
struct watch_handlers store_handlers(struct store *s, void (*changed)(void *arg), void *arg);

#endif
