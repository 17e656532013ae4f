/*
 * values.c: the values that fill a template.
 */
#include "host/values.h"

#include <stdarg.h>

void
host_values_text(json_t *values, const char *name, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)json_object_set_new(values, name, json_vsprintf(format, list));
    va_end(list);
}

void
host_values_size(json_t *values, const char *name, size_t size)
{
    (void)json_object_set_new(values, name, json_integer((json_int_t)size));
}

void
host_values_bool(json_t *values, const char *name, bool value)
{
    (void)json_object_set_new(values, name, json_boolean(value));
}

void
host_values_take(json_t *values, const char *name, struct host_text *text)
{
    (void)json_object_set_new(
        values, name,
        text->failed ? NULL : json_stringn(text->data, text->size));
    host_text_clear(text);
}

json_t *
host_values_list(json_t *values, const char *name, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        if (json_array_append_new(list, json_object()) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return json_object_set_new(values, name, list) == 0 ? list : NULL;
}
