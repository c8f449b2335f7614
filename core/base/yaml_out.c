/* yaml_out.c - a JSON tree as YAML (yaml_out.h). A string that could be taken
 * for something else stands in double quotes; one with lines in a block. */
#include "core/base/yaml_out.h"

static bool is_word_of_yaml(const char *s)
{
    static const char *const words[] = {"null", "~", "true", "false", "yes", "no", "on", "off",
                                        "y", "n", ".inf", ".nan", "-", "<<", "="};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcasecmp(s, words[i]) == 0)
            return true;
    return false;
}

/* Plain only what no reader can take for a number, a date or a mark. */
static bool is_plain(const char *s)
{
    size_t n = strlen(s);
    if (n == 0 || is_word_of_yaml(s) || strchr("+-.0123456789 !&*?|>%@`\"'#,[]{}:~=", s[0]) ||
        s[n - 1] == ' ' || s[n - 1] == ':')
        return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < 0x20 || s[i] == 0x7F || (s[i] == ':' && s[i + 1] == ' ') ||
            (s[i] == ' ' && s[i + 1] == '#'))
            return false;
    return true;
}

/* A block keeps its text when every line begins and ends with more than blanks. */
static bool is_block(const char *s)
{
    size_t n = strlen(s);
    if (!strchr(s, '\n') || s[0] == ' ' || s[0] == '\n' || s[n - 1] != '\n' ||
        (n > 1 && s[n - 2] == '\n'))
        return false;
    for (const char *p = s; *p; p++)
        if (((unsigned char)*p < 0x20 && *p != '\n') || *p == 0x7F)
            return false;
    return true;
}

static void blanks(struct str *out, int n)
{
    for (int i = 0; i < n; i++)
        str_addc(out, ' ');
}

static void string(const struct json *j, int indent, struct str *out)
{
    const char *s = json_string_value(j);
    if (is_plain(s)) {
        str_add(out, s);
    } else if (is_block(s)) {
        str_add(out, "|");
        for (const char *p = s; *p;) {
            size_t n = strcspn(p, "\n");
            str_addc(out, '\n');
            if (n > 0)
                blanks(out, indent);
            str_append(out, p, n);
            p += n + (p[n] == '\n');
        }
    } else {
        json_print(j, 0, out);       /* a JSON string is a YAML one */
    }
}

static void key(const char *k, struct str *out)
{
    struct json *j = json_new_string(k);
    if (is_plain(k))
        str_add(out, k);
    else
        json_print(j, 0, out);
    json_free(j);
}

static void value(const struct json *j, int indent, bool in_list, struct str *out);

static bool is_empty(const struct json *j)
{
    return json_count(j) == 0;
}

static void scalar(const struct json *j, int indent, struct str *out)
{
    if (json_type(j) == JSON_STRING)
        string(j, indent, out);
    else
        json_print(j, 0, out);       /* also {} and [] */
}

static bool is_tree(const struct json *j)
{
    return (json_type(j) == JSON_OBJECT || json_type(j) == JSON_ARRAY) && !is_empty(j);
}

static void object(const struct json *j, int indent, bool in_list, struct str *out)
{
    bool first = true;
    for (const struct json *c = json_first(j); c; c = json_next(c)) {
        if (!first || !in_list)
            blanks(out, indent);
        first = false;
        key(json_key(c), out);
        str_add(out, is_tree(c) ? ":\n" : ": ");
        if (is_tree(c)) {
            value(c, json_type(c) == JSON_ARRAY ? indent : indent + 2, false, out);
        } else {
            scalar(c, indent + 2, out);
            str_addc(out, '\n');
        }
    }
}

static void array(const struct json *j, int indent, bool in_list, struct str *out)
{
    bool first = true;
    for (const struct json *c = json_first(j); c; c = json_next(c)) {
        if (!first || !in_list)
            blanks(out, indent);
        first = false;
        str_add(out, "- ");
        if (is_tree(c)) {
            value(c, indent + 2, true, out);
        } else {
            scalar(c, indent + 2, out);
            str_addc(out, '\n');
        }
    }
}

static void value(const struct json *j, int indent, bool in_list, struct str *out)
{
    if (json_type(j) == JSON_ARRAY)
        array(j, indent, in_list, out);
    else
        object(j, indent, in_list, out);
}

void yaml_out(const struct json *j, struct str *out)
{
    if (is_tree(j)) {
        value(j, 0, false, out);
        return;
    }
    scalar(j, 2, out);
    str_addc(out, '\n');
}
