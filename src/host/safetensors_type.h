/*
 * safetensors_type.h: what safetensors.c and safetensors_write.c share.
 */
#ifndef SOTTO_HOST_SAFETENSORS_TYPE_H
#define SOTTO_HOST_SAFETENSORS_TYPE_H

#include <stdbool.h>

#include "host/safetensors.h"

/* "F32" and so on; NULL for what is no type. */
const char *safetensors_type_name(enum safetensors_type type);
/* Bytes in an element; 0 for what is no type. */
size_t safetensors_type_size(enum safetensors_type type);
/* Bytes in the tensor by its type and shape; false if they are too many. */
bool safetensors_size(const struct safetensors_entry *entry, size_t *ret_size);

#endif
