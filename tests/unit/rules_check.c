/* rules_check.c - what is wrong with manifests: cause, place, the facts that the
 * answer must name; the cases of tests/cases/manifest. */
#include "tests/t.h"

#include <dirent.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/rules/check.h"

static struct pd_err err;
static struct str said;

static struct check *run(const char *text)
{
    struct check_options o = {.ns = "class-a"};
    struct check_style style = {0, false};
    struct check *c = check_run("m.yaml", text, strlen(text), &o);
    str_release(&said);
    str_init(&said, 1 << 20);
    check_print(c, text, strlen(text), &style, &said);
    return c;
}

static const struct check_finding *cause(const struct check *c, const char *id)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->v[i].cause, id))
            return &c->v[i];
    return NULL;
}

/* A Job with `rest` in its container, its lines from 12 on; `spec`: in the pod's
 * spec, `job`: in the Job's. */
#define META "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: ft\n"
#define POD(spec) "  template:\n    spec:\n      restartPolicy: Never\n" spec \
                  "      containers:\n      - name: trainer\n        image: r/x:1\n"
#define JOB(rest) META "spec:\n" POD("") rest
#define OBJECT(kind, rest) "apiVersion: v1\nkind: " kind "\nmetadata:\n  name: a\n" rest

struct expectation {
    const char *text, *cause;
    int line, col;
    const char *mention;         /* parts of the answer, "|" between them */
};

static void expect(const struct expectation *x)
{
    struct strv parts;
    struct check *c = run(x->text);
    const struct check_finding *f = cause(c, x->cause);
    CHECK_MSG(f != NULL, "no %s in:\n%s\nof:\n%s", x->cause, said.p, x->text);
    CHECK_MSG(f->line == x->line && (!x->col || f->col == x->col), "%s at %d:%d, want %d:%d\n%s",
              x->cause, f->line, f->col, x->line, x->col, said.p);
    CHECK_MSG(*f->next != '\0', "%s has no next step", x->cause);
    strv_init(&parts);
    strv_split(&parts, x->mention, '|');
    for (size_t i = 0; i < parts.n; i++)
        CHECK_MSG(strstr(said.p, parts.v[i]) != NULL, "\"%s\" is not in:\n%s", parts.v[i], said.p);
    strv_release(&parts);
    str_release(&said);
    check_free(c);
}

TEST(check_of_a_good_manifest_is_silent)
{
    struct check *c = run(JOB("        env:\n        - {name: A, value: \"1\"}\n        args: "
                              "[\"--x\", \"2\"]\n        resources: {limits: {cpu: 500m, memory: "
                              "8Gi, habana.ai/gaudi: 1}}\n"));
    CHECK_MSG(c->n == 0, "%s", said.p);
    CHECK_INT(c->objects_n, 1);
    check_free(c);
}

TEST(check_finds_what_stands_in_the_text)
{
    static const struct expectation cases[] = {
        {META "spec:\n\ttemplate: {}\n", "tab", 6, 1, "tab|blanks"},
        {"apiVersion: v1\nkind: Pod\nmetadata:\n  name\xEF\xBC\x9A" "a\n", "pasted-character", 4, 7,
         "U+FF1A|FULLWIDTH COLON"},
        {"apiVersion: v1\nkind: Pod\nmetadata:\n\xC2\xA0 name: a\n", "pasted-character", 4, 1,
         "U+00A0|NBSP"},
        {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: \xE2\x80\x9C" "a\xE2\x80\x9D\n",
         "pasted-character", 4, 9, "U+201C|curly"},
        {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  \xE2\x80\x93 "
         "name: a\n", "pasted-character", 7, 3, "U+2013"},
        {JOB("        command: \xE3\x80\x90\"a\"\xE3\x80\x91\n"), "pasted-character", 12, 18,
         "U+3010"},
        {JOB("        args: [\"a\"\xEF\xBC\x8C \"b\"]\n"), "pasted-character", 12, 19, "U+FF0C"},
        {JOB("        tty: {{ .Values.tty }}\n"), "template-left", 12, 14, "helm template"},
        {JOB("        workingDir: \"{{ .Values.dir }}\"\n"), "template-left", 12, 22, "{{ }}"},
        {"<!DOCTYPE html>\n<html>\n", "html-page", 1, 1, "HTML|Raw"},
        {JOB("        workingDir: &quot;/x&quot;\n"), "html-copied", 12, 21, "&quot;"},
        {"<<<<<<< HEAD\n" JOB(""), "merge-conflict", 1, 1, ">>>>>>>"},
        {"```yaml\n" JOB("") "```\n", "markdown-fence", 1, 1, "Markdown"},
        {"$ kubectl apply -f - <<EOF\n" JOB(""), "shell-around", 1, 1, "prompt"},
        {JOB("        workingDir: <your folder>\n"), "placeholder-left", 12, 21, "<your folder>"},
        {"\xFF\xFE" "a\0", "encoding", 1, 1, "UTF-16|UTF-8"},
        {"# nothing\n", "no-object", 1, 1, "no object"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        expect(&cases[i]);
}

TEST(check_lets_texts_hold_anything)
{
    struct check *c = run(OBJECT("ConfigMap", "data:\n  greeting: \"\xE4\xBD\xA0\xE5\xA5\xBD"
                                              "\xEF\xBC\x9A\xE2\x80\x9Cx\xE2\x80\x9D\"\n"
                                              "  t: \xE4\xBD\xA0\xEF\xBC\x9A\xE5\xA5\xBD\n"
                                  "  script: |\n    \xE2\x80\x93 a\xEF\xBC\x9A {{ x }}\n"
                                              "    <div>\n\tx\n  # \xEF\xBC\x9A\n"));
    CHECK_MSG(check_errors(c) == 0 || cause(c, "tab"), "%s", said.p);
    CHECK(!cause(c, "pasted-character") && !cause(c, "html-copied") && !cause(c, "template-left"));
    check_free(c);
}

TEST(check_tells_what_yaml_stumbles_over)
{
    static const struct expectation cases[] = {
        {META "spec:\n  template:\n    spec:\n      containers:\n      - name: a\n"
              "       image: x\n",
         "indentation", 10, 8, "neighbours"},
        {META "spec:\n  a: b: c\n", "colon-in-value", 6, 0, "quotes"},
        {META "spec:\n  template:{}\n  x: y\n", "blank-missing", 6, 1, "key: value"},
        {JOB("") JOB(""), "separator-missing", 12, 1, "---|line 12"},
        {JOB("        image: r/y:2\n"), "duplicate-key", 12, 9, "image|line 11"},
        {JOB("        workingDir: @x\n"), "special-character", 12, 21, "quotes"},
        {JOB("        args: [\"a\", \"b\"\n"), "bracket-open", 13, 0, "close"},
        {JOB("        workingDir: \"C:\\data\"\n"), "escape", 12, 0, "single quotes"},
        {OBJECT("ConfigMap", "data:\n  y: \"1\"\n"), "key-changed", 6, 3, "\"true\"|\"y\":"},
        {OBJECT("ConfigMap", "data: {x: .inf}\n"), "not-yaml", 5, 11, "infinity|quotes"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        expect(&cases[i]);
}

TEST(check_knows_kinds_and_versions)
{
    static const struct expectation cases[] = {
        {"kind: Job\nmetadata: {name: a}\n", "no-kind-or-version", 1, 1, "apiVersion: batch/v1"},
        {"apiVersion: batch/v1\nmetadata: {name: a}\n", "no-kind-or-version", 1, 1, "kind: Job"},
        {"apiVersion: v1\nkind: Job\nmetadata: {name: a}\n", "api-version-wrong", 1, 1,
         "no matches for kind \"Job\" in version \"v1\"|batch/v1"},
        {"apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: a}\n", "api-version-gone", 1,
         1, "1.25|batch/v1"},
        {"apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: a}\n",
         "api-version-gone", 1, 1, "1.16|apps/v1"},
        {"apiVersion: policy/v1beta1\nkind: PodSecurityPolicy\nmetadata: {name: a}\n",
         "api-version-gone", 1, 1, "1.25"},
        {"apiVersion: batch/v1\nkind: job\nmetadata: {name: a}\n", "kind-unknown", 2, 1,
         "kind: Job"},
        {"apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: a}\n", "kind-unknown", 2, 1,
         "kind: Deployment"},
        {"- a\n", "not-an-object", 1, 1, "map"},
    };
    struct check *c = run("apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: a}\n");
    CHECK_MSG(c->n == 0, "%s", said.p);
    check_free(c);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        expect(&cases[i]);
}

TEST(check_explains_fields_and_types)
{
    static const struct expectation cases[] = {
        {JOB("        imagePullSecrets: [{name: x}]\n"), "field-wrong-level", 12, 9,
         "unknown field \"spec.template.spec.containers[0].imagePullSecrets\"|belongs to "
         "spec.template.spec"},
        {META "spec:\n  image: x\n" POD(""), "field-wrong-level", 6, 3,
         "spec.template.spec.containers[]"},
        {JOB("        comand: [x]\n"), "field-misspelt", 12, 9, "did you mean command?"},
        {JOB("        imagepullpolicy: Always\n"), "field-misspelt", 12, 9, "imagePullPolicy"},
        {JOB("        command: python train.py\n"), "command-not-list", 12, 9,
         "[\"python\", \"train.py\"]"},
        {JOB("        command: cd /x && python t.py\n"), "command-not-list", 12, 9,
         "\"sh\", \"-c\""},
        {JOB("        args: [--epochs, 3]\n"), "argument-not-string", 12, 26, "\"3\""},
        {JOB("        env: [{name: A, value: true}]\n"), "env-value-not-string", 12, 25,
         "cannot unmarshal bool|\"true\""},
        {META "spec:\n  parallelism: \"2\"\n" POD(""), "not-a-number", 6, 3, "parallelism: 2"},
        {META "spec:\n  suspend: \"true\"\n" POD(""), "not-a-boolean", 6, 3, "suspend: true"},
        {JOB("        resources: {limits: {memory: 8GB}}\n"), "quantity-invalid", 12, 30,
         "8GB|write 8Gi"},
        {JOB("        resources: {limits: {memory: 8 Gi}}\n"), "quantity-invalid", 12, 30,
         "write 8Gi"},
        {JOB("        resources: {limits: {cpu: 2 cores}}\n"), "quantity-invalid", 12, 30,
         "write 2"},
        {META "spec:\n" POD("      nodeSelector: {gpu: true}\n"), "node-selector-not-string", 9, 22,
         "\"true\""},
        {META "spec:\n  template:\n    spec:\n      containers: {name: a}\n", "not-a-list", 8, 7,
         "\"- \""},
        {OBJECT("Secret", "data: {t: plain!}\n"), "secret-not-base64", 5, 8,
         "illegal base64 data at input byte 5|stringData"},
        {OBJECT("Secret", "data: {t: aGVsbG8}\n"), "secret-not-base64", 5, 8, "input byte 4"},
        {META "spec:\n  labels: {a: b}\n" POD(""), "field-wrong-level", 6, 3,
         "spec.template.metadata"},
        {JOB("        env:\n        - {name: A, value: a}\n        - {name: A, value: b}\n"),
         "duplicate-entry", 14, 12, "duplicate entries for key [name=\"A\"]"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        expect(&cases[i]);
}

TEST(check_refuses_as_the_server_does)
{
    static const struct expectation cases[] = {
        {META "spec:\n  template:\n    spec:\n      containers: [{name: a, image: x}]\n",
         "job-restart-policy-missing", 7, 5, "Never|OnFailure"},
        {JOB("        restartPolicy: Never\n"), "field-wrong-level", 12, 9,
         "beside containers"},
        {JOB("        resources: {limits: {a.b/c: 8}, requests: {a.b/c: 6}}\n"),
         "extended-resource-requests-limits", 12, 0, "a.b/c|equal"},
        {JOB("        resources: {requests: {a.b/c: 6}}\n"), "extended-resource-requests-limits",
         12, 0, "Limit must be set|limits"},
        {JOB("        resources: {limits: {a.b/c: 0.5}}\n"), "extended-resource-fraction", 12, 30,
         "must be an integer"},
        {JOB("        resources: {limits: {cpu: 1}, requests: {cpu: 2}}\n"), "request-above-limit",
         12, 0, "must be less than or equal to cpu limit of 1"},
        {"apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: ft\n  labels:\n    owner: li wei\n"
         "spec:\n" POD(""), "label-value-invalid", 6, 5, "owner"},
        {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: My_Map\n", "name-invalid", 4, 3,
         "lowercase RFC 1123"},
        {"apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n", "name-missing", 3, 1, "metadata.name"},
        {META "spec:\n  backoffLimit: -1\n" POD(""), "negative-number", 6, 3, "-1"},
        {META "spec:\n" POD("      tolerations: [{key: a, operator: exists}]\n"),
         "toleration-operator", 9, 0, "Exists"},
        {JOB("        imagePullPolicy: always\n"), "image-pull-policy-invalid", 12, 9,
         "IfNotPresent"},
        {JOB("        volumeMounts: [{name: d, mountPath: /d}]\n"), "volume-mount-without-volume",
         12, 0, "Not found: \"d\""},
        {JOB("        ports: [{containerPort: 99999}]\n"), "port-range", 12, 0, "65535"},
        {JOB("      - name: trainer\n        image: y\n"), "duplicate-name", 12, 9,
         "Duplicate value: \"trainer\""},
        {META "spec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n"
              "      - name: a\n", "image-missing", 10, 9, "image"},
        {OBJECT("PersistentVolumeClaim", "spec:\n  accessModes: [RWX]\n  resources: {requests: "
                                         "{storage: 1Gi}}\n"), "pvc-access-modes", 6, 3,
         "ReadWriteOnce"},
        {OBJECT("PersistentVolumeClaim", "spec:\n  accessModes: [ReadWriteOnce]\n"), "pvc-size", 5,
         0, "storage"},
        {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  selector: "
         "{matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: c}}\n    spec: "
         "{containers: [{name: a, image: x}]}\n", "selector-mismatch", 7, 0, "matchLabels"},
        {OBJECT("Pod", "spec:\n  volumes: [{name: d, hostPath: {path: /x, type: directory}}]\n"
                       "  containers: [{name: a, image: x}]\n"), "host-path-type", 6, 0,
         "DirectoryOrCreate"},
        {"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\nspec:\n  serviceName: x\n"
         "  selector: {}\n  template:\n    spec:\n      containers:\n      - name: c\n",
         "image-missing", 10, 9, "image"},
        {"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec:\n  schedule: x\n"
         "  jobTemplate:\n    spec:\n      template:\n        spec:\n          containers:\n"
         "          - {name: C, image: x}\n", "name-invalid", 11, 14, "lowercase RFC 1123"},
        {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: other\n",
         "namespace-mismatch", 5, 3, "other|class-a"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        expect(&cases[i]);
}

TEST(check_warns_of_what_is_hardly_meant)
{
    static const struct expectation cases[] = {
        {JOB("        resources: {limits: {cpu: 500M}}\n"), "cpu-unit", 12, 30, "500m"},
        {JOB("        resources: {limits: {memory: 512m}}\n"), "memory-unit", 12, 30, "512Mi"},
        {JOB("        command: [\"python train.py\"]\n"), "command-one-word", 12, 0, "no shell"},
        {META "spec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n"
              "      - {name: a, image: LLM/x:1}\n", "image-name", 10, 0, "small letters"},
        {OBJECT("Secret", "data: {t: aGVsbG8K}\n"), "secret-newline", 5, 0, "printf|\\n"},
        {OBJECT("Secret", "data: {t: aGVsbG8xCg==}\n"), "secret-newline", 5, 0, "printf"},
        {OBJECT("PersistentVolumeClaim", "spec:\n  accessModes: [ReadWriteMany]\n  resources: "
                                         "{requests: {storage: 1Gi}}\n"), "pvc-read-write-many", 6,
         0, "ReadWriteOnce"},
        {META "spec:\n  ttlSecondsAfterFinished: 0\n" POD(""), "ttl-short", 6, 0, "86400"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        expect(&cases[i]);
    struct check *c = run(OBJECT("Secret", "data: {a: aGVsbG8=, b: aGVsbG8x, c: aGVsbG8xMg==}\n"));
    CHECK_MSG(c->n == 0, "%s", said.p);
    check_free(c);
}

/* What can't be changed is found with what was there, or with the server's words. */
TEST(check_finds_changes_that_can_not_be)
{
    static const char after[] = META "spec:\n" POD("") "        command: [x]\n";
    struct manifest *before = NULL;
    struct check_options o = {0};
    CHECK_OK(manifest_parse("b", JOB(""), strlen(JOB("")), NULL, NULL, &before, &err));
    o.before = before;
    struct check *c = check_run("m", after, strlen(after), &o);
    const struct check_finding *f = cause(c, "field-immutable");
    CHECK(f && f->line == 12 && strstr(f->said, "field is immutable"));
    CHECK_HAS(f->why, "spec.template.spec.containers[0].command");
    check_free(c);
    c = check_run("m", JOB(""), strlen(JOB("")), &o);
    CHECK_INT(c->n, 0);
    check_free(c);
    manifest_free(before);
    o = (struct check_options){.answer = "The Job \"ft\" is invalid: \n* spec.template: Invalid "
                                         "value: {}: field is immutable\n* metadata.name: Invalid "
                                         "value: \"x\": no\n"};
    c = check_run("m", after, strlen(after), &o);
    CHECK_INT(c->n, 2);
    CHECK_INT(cause(c, "field-immutable")->line, 6);
    check_free(c);
    o.answer = "{\"kind\":\"Status\",\"message\":\"jobs.batch is forbidden: exceeded quota: q\"}";
    c = check_run("m", after, strlen(after), &o);
    CHECK(c->n == 1 && strstr(c->v[0].said, "exceeded quota"));
    check_free(c);
}

TEST(check_lists_a_bad_volume_once)
{
    struct check *c = run(META "spec:\n" POD("      volumes: [{name: D_}]\n")
                          "        volumeMounts: [{name: D_, mountPath: /d}]\n");
    CHECK(cause(c, "name-invalid") != NULL);       /* and so it can't be mounted, as there */
    CHECK_MSG(cause(c, "volume-mount-without-volume") != NULL, "%s", said.p);
    CHECK_INT(check_errors(c), 2);
    check_free(c);
}

TEST(check_tells_one_fault_once)
{
    struct check *c = run("apiVersion: v1\nkind: ConfigMap\nmetadata:\n\xC2\xA0 name: a\n");
    CHECK_MSG(check_errors(c) == 1, "%s", said.p);
    check_free(c);
    c = run(JOB("        env:\n        - {name: A, value: 3}\n        - {value: b}\n"));
    CHECK_MSG(check_errors(c) == 2, "%s", said.p);
    check_free(c);
}

TEST(check_never_shows_a_secret)
{
    struct check *c = run(OBJECT("Secret", "data: {t: hunter2-plain}\nstringData: {u: 42}\n"));
    CHECK(check_errors(c) == 2);
    CHECK_MSG(!strstr(said.p, "hunter2"), "%s", said.p);
    check_free(c);
}

/* --- the cases of tests/cases/manifest --- */

static void one_case(const char *dir)
{
    struct str text, want;
    struct ydoc *y = NULL;
    char *file = path_join(dir, "manifest.yaml"), *expected = path_join(dir, "expected.yaml");
    str_init(&text, 1 << 20);
    str_init(&want, 1 << 20);
    CHECK_OK(path_read(file, 1 << 20, &text, &err));
    CHECK_OK(yaml_read_file(expected, &y, &err));
    struct check *c = run(text.p);
    const char *primary = yaml_str(y->root, "primary_cause", "");
    const struct ynode *m = yaml_get(y->root, "must_mention");
    for (m = m ? m->first : NULL; m; m = m->next) {
        struct strv any;
        bool hit = false;
        strv_init(&any);
        strv_split(&any, m->text, '|');
        for (size_t i = 0; i < any.n; i++)
            hit = hit || strcasestr(said.p, any.v[i]);
        strv_release(&any);
        CHECK_MSG(hit, "%s: \"%s\" is not in:\n%s", dir, m->text, said.p);
    }
    CHECK_MSG(!*primary || cause(c, primary), "%s: no %s in:\n%s", dir, primary, said.p);
    CHECK_MSG((check_errors(c) > 0) == (*primary != '\0'), "%s: %s", dir, said.p);
    check_free(c);
    yaml_docs_free(y);
    str_release(&text);
    str_release(&want);
    free(file);
    free(expected);
}

TEST(check_answers_the_cases)
{
    static const char root[] = PODIUM_SOURCE_DIR "/tests/cases/manifest";
    DIR *d = opendir(root);
    int n = 0;
    CHECK(d != NULL);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (e->d_name[0] == '.')
            continue;
        char *dir = path_join(root, e->d_name);
        one_case(dir);
        free(dir);
        n++;
    }
    closedir(d);
    CHECK(n >= 5);
}

TEST(check_speaks_chinese)
{
    CHECK(i18n_set("zh"));
    struct check *c = run(JOB("        imagePullSecrets: [{name: x}]\n"));
    const struct check_finding *f = cause(c, "field-wrong-level");
    CHECK(f && strstr(f->said, "unknown field"));    /* the server's sentence stays as it is */
    check_free(c);
}

T_MAIN
