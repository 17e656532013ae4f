/*
 * once.h: one person, one campaign, one report (invariant 5).
 */
#ifndef SOTTO_REPORT_ONCE_H
#define SOTTO_REPORT_ONCE_H

#include "report/report.h"

/* Makes the report of a record that only the caller knows. */
typedef enum sotto_status once_make(void *context, uint8_t *report,
                                    size_t size);

/*
 * Asks the ledger for the report that was charged like this, or else has one
 * made and kept. `report` has plan->size bytes and is wiped on failure.
 * Statuses: what ledger and `make` return; FORMAT (what the ledger kept is no
 * report of this mechanism).
 */
SOTTO_CHECKED enum sotto_status
once_report(const struct report_plan *plan,
            const struct sotto_ledger_port *ledger,
            const struct sotto_charge *charge, once_make *make, void *context,
            uint8_t *report, struct sotto_error *err);

#endif
