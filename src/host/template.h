/*
 * template.h: a text with holes, filled from JSON values.
 *
 *     {{name}}              the value: a text or a whole number, escaped
 *     {{#name}}...{{/name}} what is between, once for each object of an array,
 *                           where its names hide those outside; or once if the
 *                           value is true, never if it is false
 *     {{^name}}...{{/name}} what is between, if the value is false
 *
 * A section's tag at the end of a line takes the line's end with it. A section
 * holds none of its own name.
 */
#ifndef SOTTO_HOST_TEMPLATE_H
#define SOTTO_HOST_TEMPLATE_H

#include <jansson.h>

#include "host/text.h"

/*
 * Appends the template, filled: values with &, <, > and double quotes escaped,
 * for HTML between tags and in quoted attributes. text->failed is set if memory
 * gave out, a name has no value of the kind, or a tag has no end.
 */
void host_template_fill(struct host_text *text, const char *template,
                        const json_t *values);

#endif
