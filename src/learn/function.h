/*
 * function.h: a model as a function of the record, for a mechanism that is
 * trained for it.
 */
#ifndef SOTTO_LEARN_FUNCTION_H
#define SOTTO_LEARN_FUNCTION_H

#include "encoder/encoder.h"

/* An encoder_function_fn (encoder/encoder.h). */
enum sotto_status learn_function(const char *path,
                                 struct encoder_function *ret_function,
                                 struct sotto_error *err);

#endif
