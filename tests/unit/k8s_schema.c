/* k8s_schema.c - the schema table: whole, ordered, and right in known places. */
#include "k8s/schema.h"
#include "core/base/str.h"
#include "tests/t.h"

#include <openssl/sha.h>

TEST(schema_knows_the_job)
{
    const struct schema_type *t = schema_type("batch/v1", "Job");
    CHECK(t != NULL);
    const struct schema_field *f = schema_at(t, "spec.template.spec.containers[0].image");
    CHECK(f && f->base == SCHEMA_STRING && f->proto == 2);
    f = schema_at(t, "spec.template.spec.containers");
    CHECK(f && f->shape == SCHEMA_LIST && f->list == SCHEMA_LISTMAP);
    CHECK_STR(f->merge_key, "name");
    CHECK_STR(f->list_keys, "name");
    f = schema_at(t, "metadata.labels['app.kubernetes.io/name']");
    CHECK(f && f->shape == SCHEMA_MAP && f->base == SCHEMA_STRING);
    f = schema_at(t, "spec.template.spec.containers[0].resources.limits.cpu");
    CHECK(f && f->base == SCHEMA_QUANTITY);
    CHECK(!schema_at(t, "spec.tmplate"));
    CHECK(!schema_type("batch/v1", "Jobs"));
}

TEST(schema_names_are_sorted_and_complete)
{
    const struct schema_type *t, *before = NULL;
    int n = 0;
    for (; (t = schema_each(n)); n++) {
        CHECK(!before || strcmp(before->name, t->name) < 0);
        for (int i = 1; i < t->n; i++)
            CHECK_MSG(strcmp(t->field[i - 1].name, t->field[i].name) < 0, "%s.%s", t->name,
                      t->field[i].name);
        CHECK(schema_named(t->name) == t);
        before = t;
    }
    CHECK(n > 200);
}

TEST(schema_finds_inlined_messages_by_number)
{
    const struct schema_type *t = schema_named("core.v1.Volume");
    const struct schema_field *f = schema_proto(t, 2);
    CHECK(f && f->base == SCHEMA_OBJECT);
    CHECK_STR(f->ref->name, "core.v1.VolumeSource");
    CHECK_STR(f->name, "");
    CHECK(schema_proto(f->ref, 19) && !strcmp(schema_proto(f->ref, 19)->name, "configMap"));
}

TEST(schema_has_enumerations_and_strategies)
{
    const struct schema_type *t = schema_type("v1", "Pod");
    CHECK_STR(schema_at(t, "spec.restartPolicy")->enums, "Always|Never|OnFailure");
    CHECK(schema_at(t, "spec.volumes")->retain_keys);
    CHECK(schema_at(t, "spec.containers[0].ports[0].protocol")->def != NULL);
    CHECK(schema_named("meta.v1.LabelSelector")->atomic);
    CHECK_STR(schema_at(t, "spec.containers[0].ports")->list_keys, "containerPort,protocol");
}

TEST(schema_data_is_what_the_generator_wrote)
{
    size_t n;
    const char *text = schema_data_text(&n);
    unsigned char md[32];
    char hex[65], *source = NULL;
    size_t cap = 0;
    SHA256((const unsigned char *)text, n, md);
    for (int i = 0; i < 32; i++)
        str_fmt(hex + 2 * i, 3, "%02x", md[i]);
    FILE *f = fopen(PODIUM_SOURCE_DIR "/k8s/schema_data.c", "r");
    CHECK(f != NULL);
    CHECK(getdelim(&source, &cap, 0, f) > 0);
    CHECK_HAS(source, hex);
    free(source);
    fclose(f);
}

T_MAIN
