/* theme_cmd.c - podium theme: list, lint (theme.h). */
#include "core/base/i18n.h"
#include "core/base/str.h"
#include "tui/theme.h"

static int usage(void)
{
    fputs(_("usage: podium theme list\n"
            "       podium theme lint NAME|FILE...\n"), stderr);
    return 2;
}

static int complain(const struct pd_err *err)
{
    char buf[1024];
    fprintf(stderr, "podium: %s\n", pd_describe(err, buf, sizeof buf));
    return 1;
}

static int list(void)
{
    int code = 0;
    for (int i = 0; theme_name(i); i++) {
        struct theme t;
        struct pd_err err = {0};
        if (theme_load(theme_name(i), &t, &err) == PD_OK)
            printf("%-16s%-8s%s\n", t.name, t.variant,
                   str_eq(theme_name(i), theme_default(256)) ? _("chosen here by itself") : "");
        else
            code = complain(&err);
    }
    return code;
}

static void say(void *arg, const char *what)
{
    printf("%s: %s\n", (const char *)arg, what);
}

static int lint_one(char *name)
{
    struct theme t;
    struct pd_err err = {0};
    char path[512];
    bool file = strstr(name, ".yaml") && !strchr(name, '/');
    if (theme_load(file ? str_fmt(path, sizeof path, "./%s", name) : name, &t, &err) != PD_OK)
        return complain(&err);
    int n = theme_lint(&t, say, name);
    if (n > 0)
        printf(_("%s: %d to mend\n"), name, n);
    else
        printf(_("%s: readable with 8, 16, 256 and all colours; states and series can be told "
                 "apart\n"), name);
    return n > 0;
}

int theme_cmd(int argc, char **argv)
{
    int code = 0;
    if (argc == 2 && str_eq(argv[1], "list"))
        return list();
    if (argc < 3 || !str_eq(argv[1], "lint"))
        return usage();
    for (int i = 2; i < argc; i++)
        if (lint_one(argv[i]) != 0)
            code = 1;
    return code;
}
