/*
 * decode_page.c: decode --html: what reports say, as a page to look at.
 */
#include "verb/decode_page.h"

#include <stdlib.h>
#include <string.h>

#include "cli/output_file.h"

int
decode_page_check(const struct cli_args *args)
{
    const char *path = cli_value(args, "html");
    const char *const others[] = {cli_value(args, "output"),
                                  cli_value(args, "analyst"),
                                  cli_value(args, "plan")};
    int status;
    if (path == NULL && cli_given(args, "plan")) {
        return cli_bad("--plan is drawn on the page: name it with --html");
    }
    if (path == NULL) {
        return CLI_EXIT_DONE;
    }
    status = output_file_check_option("html", path, others, 3);
    return CLI_THEN(status, output_file_check_option("html", path, args->word,
                                                     args->words));
}

/* What plan foretold, if a file of it was named. */
static int
read_plan(const struct cli_args *args, const struct decode_job *job,
          struct sotto_results_accuracy **ret_accuracy, size_t *ret_count)
{
    const char *path = cli_value(args, "plan");
    struct sotto_error err = {0};
    if (path == NULL) {
        return CLI_EXIT_DONE;
    }
    if (sotto_results_plan(path, job->info.eps, ret_accuracy, ret_count,
                           &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (*ret_count < 2) {
        cli_note("'%.240s' has no accuracies of two numbers of people at "
                 "epsilon %s: none are drawn",
                 path, job->info.eps_text);
    }
    return CLI_EXIT_DONE;
}

static int
write_page(const char *path, const char *html, size_t size)
{
    struct output_file file;
    if (!output_file_open(&file, path)) {
        return CLI_EXIT_FAILED;
    }
    (void)fwrite(html, 1, size, file.stream);
    return output_file_commit(&file) ? CLI_EXIT_DONE : CLI_EXIT_FAILED;
}

int
decode_page_write(const struct cli_args *args, const struct decode_job *job)
{
    const char *path = cli_value(args, "html");
    size_t count = (size_t)job->seen.reports;
    struct sotto_results_campaign campaign = {
        .name = job->info.campaign,
        .mechanism = job->mechanism,
        .simulated = job->seen.simulated > 0,
        .released = count,
        .estimate = count >= DECODE_REPORTS_LEAST ? job->estimate : NULL,
        .margins = count >= DECODE_REPORTS_LEAST ? job->margins : NULL,
        .counted = count};
    struct sotto_results results = {.title = "What reports say",
                                    .campaign = &campaign,
                                    .campaigns = 1,
                                    .confidence = job->confidence};
    struct sotto_results_accuracy *accuracy = NULL;
    struct sotto_error err = {0};
    char *html = NULL;
    size_t size = 0;
    if (path == NULL) {
        return CLI_EXIT_DONE;
    }
    int status = read_plan(args, job, &accuracy, &campaign.accuracies);
    campaign.accuracy = accuracy;
    if (status == CLI_EXIT_DONE) {
        status =
            sotto_results_page(&results, &html, &size, &err) == SOTTO_STATUS_OK
                ? write_page(path, html, size)
                : cli_fail(&err);
    }
    free(accuracy);
    free(html);
    return status;
}
