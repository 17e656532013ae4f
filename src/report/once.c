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
#include "report/once.h"

#include "base/bytes.h"
#include "base/status.h"

static enum sotto_status
make_and_keep(const struct sotto_ledger_port *ledger,
              const struct sotto_charge *charge, once_make *make, void *context,
              uint8_t *report, size_t size, struct sotto_error *err)
{
    enum sotto_status status = make(context, report, size);
    if (status != SOTTO_STATUS_OK) {
        ledger->cancel(ledger->context);
        return status_fail(err, status, 0, sotto_status_message(status));
    }
    return ledger->commit(ledger->context, charge, report, size, err);
}

enum sotto_status
once_report(const struct report_plan *plan,
            const struct sotto_ledger_port *ledger,
            const struct sotto_charge *charge, once_make *make, void *context,
            uint8_t *report, struct sotto_error *err)
{
    size_t size = plan->size;
    int found = 0;
    enum sotto_status status =
        ledger->begin(ledger->context, charge, report, size, &found, err);
    if (status == SOTTO_STATUS_OK && !found) {
        status =
            make_and_keep(ledger, charge, make, context, report, size, err);
    } else if (status == SOTTO_STATUS_OK &&
               (!report_valid(plan, report, size) ||
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
