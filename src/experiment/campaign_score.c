/*
 * campaign_score.c: how a model does on records whose labels are known: the
 * scores of an evaluation that a comparison of campaigns needs.
 */
#include "experiment/campaign.h"
#include "host/error.h"

static double
half_width(const struct sotto_score *score)
{
    return (score->high - score->low) / 2;
}

enum sotto_status
sotto_campaign_score(struct sotto_model *model, const struct sotto_table *test,
                     struct sotto_campaign_score *ret_score,
                     struct sotto_error *err)
{
    struct sotto_evaluation evaluation = {.rows = 0};
    const struct sotto_scores *scores;
    struct sotto_campaign_score score = {.rows = 0};
    enum sotto_status status =
        sotto_model_evaluate(model, test, false, 0, &evaluation, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    scores = evaluation.scores;
    score.rows = scores->rows;
    score.accuracy = scores->accuracy.value;
    score.share = scores->share.value;
    score.balanced = scores->balanced.value;
    score.auc = scores->auc.value;
    score.gain_error = half_width(&scores->gain) / scores->z;
    score.auc_error = half_width(&scores->auc) / scores->z;
    score.log_p = evaluation.log_p;
    for (size_t i = 0; i < scores->classes; i++) {
        score.named += scores->of[i].named > 0 ? 1 : 0;
    }
    *ret_score = score;
    return SOTTO_STATUS_OK;
}

enum sotto_status
sotto_campaign_score_number(struct sotto_model *model,
                            const struct sotto_table *test,
                            struct sotto_campaign_number *ret_number,
                            struct sotto_error *err)
{
    struct sotto_number_evaluation of;
    enum sotto_status status =
        sotto_model_evaluate_number(model, false, NULL, test, 0, 1, &of, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_number = (struct sotto_campaign_number){
            .rows = of.rows,
            .r2 = of.r2.value,
            .r2_error = half_width(&of.r2), /* with z = 1 */
            .rmse = of.rmse.value,
            .mae = of.mae.value,
            .mean = of.mean,
            .rmse_constant = of.rmse_constant};
    }
    return status;
}
