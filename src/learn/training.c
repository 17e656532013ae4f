/*
 * training.c: sotto_train: the encoders; for a codebook the choice of its
 * codes, which are tried out by learning from them; for a task the function
 * that a model is.
 */
#include "encoder/encoder.h"
#include "learn/function.h"

enum sotto_status
sotto_train(const struct sotto_table *table, const char *kind,
            const struct sotto_train_options *options, const char *path,
            const char *analyst_path, struct sotto_train_facts *ret_facts,
            struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    struct sotto_train_options own = *options;
    const struct sotto_schema_column *label =
        own.schema != NULL ? sotto_schema_label(own.schema) : NULL;
    if (own.label == NULL && label != NULL) {
        own.label = label->name;
    }
    return encoder_train(encoder_registry, kind,
                         (struct encoder_job){.table = table,
                                              .options = &own,
                                              .path = path,
                                              .analyst_path = analyst_path,
                                              .choose = sotto_codebook_choose,
                                              .function = learn_function,
                                              .facts = ret_facts,
                                              .ret_mechanism = ret_mechanism},
                         err);
}
