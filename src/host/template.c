/*
 * template.c: a text with holes, filled from JSON values. Values are never
 * read as a template, and every one of them is escaped: there is no other way
 * in.
 */
#include "host/template.h"

#include <string.h>

#define NAME_SIZE 32u

/* Names are looked up here, then in what is around it. */
struct scope {
    const json_t *values;
    const struct scope *outer;
};

static void
add_escaped(struct host_text *text, const char *from)
{
    while (*from != '\0') {
        size_t plain = strcspn(from, "&<>\"");
        host_text_add(text, from, plain);
        from += plain;
        if (*from != '\0') {
            host_text_print(text, "%s",
                            *from == '&'   ? "&amp;"
                            : *from == '<' ? "&lt;"
                            : *from == '>' ? "&gt;"
                                           : "&quot;");
            from++;
        }
    }
}

static const json_t *
find_value(const struct scope *scope, const char *name)
{
    const json_t *value = NULL;
    for (; value == NULL && scope != NULL; scope = scope->outer) {
        value = json_object_get(scope->values, name);
    }
    return value;
}

static void
add_value(struct host_text *text, const json_t *value)
{
    if (json_is_string(value)) {
        add_escaped(text, json_string_value(value));
    } else if (json_is_integer(value)) {
        host_text_print(text, "%lld", (long long)json_integer_value(value));
    } else {
        text->failed = true;
    }
}

static void fill_section(struct host_text *text, const char *at,
                         const char *end, const struct scope *scope);

/* Appends a section, from `at` to `end`, as often as its value says. */
static void
add_section(struct host_text *text, const char *at, const char *end, char kind,
            const json_t *value, const struct scope *scope)
{
    if (json_is_array(value) && kind == '#') {
        for (size_t i = 0; i < json_array_size(value); i++) {
            struct scope inner = {json_array_get(value, i), scope};
            fill_section(text, at, end, &inner);
        }
    } else if (!json_is_boolean(value)) {
        text->failed = true;
    } else if (json_is_true(value) == (kind == '#')) {
        fill_section(text, at, end, scope);
    }
}

/* Finds the "{{/name}}" of a section before `end`; NULL: there is none. */
static const char *
find_end(const char *at, const char *end, const char *name)
{
    char tag[NAME_SIZE + 8];
    (void)snprintf(tag, sizeof tag, "{{/%s}}", name);
    const char *found = strstr(at, tag);
    return found != NULL && found < end ? found : NULL;
}

/* The place behind a section's tag whose "}}" is at `at`. */
static const char *
skip_tag(const char *at)
{
    return at[2] == '\n' ? at + 3 : at + 2;
}

/* Appends what the tag at `at` stands for; returns the place behind it, or NULL
   if it is not a tag that can be read. */
static const char *
fill_tag(struct host_text *text, const char *at, const char *end,
         const struct scope *scope)
{
    char name[NAME_SIZE] = "", kind = at[2];
    bool section = kind == '#' || kind == '^';
    const char *from = at + (section ? 3 : 2), *close = strstr(from, "}}");
    if (close == NULL || close >= end || (size_t)(close - from) >= NAME_SIZE) {
        return NULL;
    }
    memcpy(name, from, (size_t)(close - from));
    const json_t *value = find_value(scope, name);
    if (!section) {
        add_value(text, value);
        return close + 2;
    }
    const char *last = find_end(close, end, name);
    if (last == NULL) {
        return NULL;
    }
    add_section(text, skip_tag(close), last, kind, value, scope);
    return skip_tag(strstr(last, "}}"));
}

static void
fill_section(struct host_text *text, const char *at, const char *end,
             const struct scope *scope)
{
    while (at < end && !text->failed) {
        const char *tag = strstr(at, "{{");
        tag = tag != NULL && tag < end ? tag : end;
        host_text_add(text, at, (size_t)(tag - at));
        at = tag < end ? fill_tag(text, tag, end, scope) : end;
        if (at == NULL) {
            text->failed = true;
            return;
        }
    }
}

void
host_template_fill(struct host_text *text, const char *template,
                   const json_t *values)
{
    struct scope scope = {values, NULL};
    fill_section(text, template, template + strlen(template), &scope);
}
