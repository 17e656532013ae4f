/*
 * verbs.c: sotto's verbs, in the order of its help.
 */
#include "cli/cli.h"

const struct cli_program cli_program = {
    .name = "sotto",
    .about = "learn from records that never leave their owners' devices.",
    .start = "demo",
    .verb = {&cmd_demo,     &cmd_try,        &cmd_data,      &cmd_schema,
             &cmd_plan,     &cmd_train,      &cmd_keygen,    &cmd_sign,
             &cmd_verify,   &cmd_inspect,    &cmd_privatise, &cmd_send,
             &cmd_serve,    &cmd_store,      &cmd_export,    &cmd_decode,
             &cmd_fit,      &cmd_predict,    &cmd_evaluate,  &cmd_choose,
             &cmd_validate, &cmd_tune,       &cmd_ledger,    &cmd_account,
             &cmd_audit,    &cmd_experiment, &cmd_bench},
    .verbs = 27,
    .inspect_model = cmd_inspect_model,
    .kernels = sotto_work_kernels,
};
