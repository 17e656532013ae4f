/*
 * once.c: one person, one campaign, one report (invariant 5).
 *
 *     begin --found--------------------------------------> the stored report
 *       |---refused, failed------------------------------> no report
 *       `---free---> privatise ---> commit --kept--------> the new report
 *                        `--no entropy--> cancel           `--failed--> none
 *
 * Nothing is released before it is kept, and whether anything is released is
 * decided by public facts alone, before the record is looked at (invariant 4).
 */
#include "base/bytes.h"
#include "base/status.h"
#include "client/device.h"

static enum sotto_status
make_and_keep(struct sotto_client *client,
              const struct sotto_ledger_port *ledger,
              const struct sotto_charge *charge,
              const struct sotto_value *values, size_t count, uint8_t *report,
              size_t size, struct sotto_error *err)
{
    enum sotto_status status =
        sotto_client_privatise(client, values, count, report, size);
    if (status != SOTTO_STATUS_OK) {
        ledger->cancel(ledger->context);
        return status_fail(err, status, 0, sotto_status_message(status));
    }
    return ledger->commit(ledger->context, charge, report, size, err);
}

enum sotto_status
sotto_client_report(struct sotto_client *client,
                    const struct sotto_ledger_port *ledger, const void *person,
                    size_t person_size, const struct sotto_value *values,
                    size_t count, uint8_t *report, size_t size,
                    struct sotto_error *err)
{
    struct sotto_charge charge = {(const uint8_t *)person,
                                  person_size,
                                  client->campaign.text,
                                  client->campaign.size,
                                  client->hash,
                                  client->eps,
                                  client->delta};
    enum sotto_status status;
    int found = 0;
    if (person_size == 0 || person_size > SOTTO_PERSON_MAX) {
        bytes_wipe(report, size);
        return status_fail(err, SOTTO_STATUS_USAGE, 0,
                           "a person's name must have 1 to 256 bytes");
    }
    if (count != client->sizes.columns || size != client->report_size) {
        bytes_wipe(report, size);
        return status_fail(err, SOTTO_STATUS_SIZE, 0,
                           sotto_status_message(SOTTO_STATUS_SIZE));
    }
    status = ledger->begin(ledger->context, &charge, report, size, &found, err);
    if (status == SOTTO_STATUS_OK && !found) {
        status = make_and_keep(client, ledger, &charge, values, count, report,
                               size, err);
    } else if (status == SOTTO_STATUS_OK &&
               (!report_valid(client, report, size) ||
                report_simulated(report))) {
        status = status_fail(err, SOTTO_STATUS_FORMAT, 0,
                             "what the ledger kept for this person is no "
                             "report of this mechanism: the ledger is damaged");
    }
    if (status != SOTTO_STATUS_OK) {
        bytes_wipe(report, size);
    }
    return status;
}
