/*
 * sotto/sotto.h: everything beyond the device, all parts together:
 *
 *     work.h          files being written, long work being watched
 *     tables.h        records of a curator, and data sets by name
 *     schemas.h       what the columns of a table are, and its problems
 *     mechanisms.h    mechanism files, keys and signatures
 *     reports.h       reports, simulation, and what reports estimate
 *     results.h       a page to look at: promises, estimates, liars
 *     training.h      making mechanisms; analyst files
 *     fitting.h       learning from reports
 *     tuning.h        choosing settings by private answers
 *     accounting.h    privacy arithmetic
 *     ledgers.h       the ledger behind a device
 *     collecting.h    the collector, the device's sender, the analyst's side
 *     auditing.h      trying to break a mechanism's claim
 *     simulating.h    whole campaigns on tables in memory
 *     trying.h        what a campaign would come to on one's own table
 *     seen.h          the rows that a mechanism was fitted to
 *     experiments.h   the papers' experiments, and benchmarks
 *     planning.h      what a campaign will come to, before it begins
 *
 * The library never prints, exits or aborts, with one exception: GMP, behind
 * sotto_audit_run, ends the program where there is no memory. Functions that
 * can fail return an enum sotto_status and fill `err` (which may be NULL).
 * Results come out through `ret_` parameters, untouched on failure. Every
 * `_free(NULL)` is fine. Objects are for one thread at a time unless said
 * otherwise.
 */
#ifndef SOTTO_SOTTO_H
#define SOTTO_SOTTO_H

#include "sotto/accounting.h"
#include "sotto/auditing.h"
#include "sotto/client.h"
#include "sotto/collecting.h"
#include "sotto/experiments.h"
#include "sotto/fitting.h"
#include "sotto/ledgers.h"
#include "sotto/mechanisms.h"
#include "sotto/planning.h"
#include "sotto/records.h"
#include "sotto/reports.h"
#include "sotto/results.h"
#include "sotto/schemas.h"
#include "sotto/scores.h"
#include "sotto/seen.h"
#include "sotto/simulating.h"
#include "sotto/tables.h"
#include "sotto/training.h"
#include "sotto/trying.h"
#include "sotto/tuning.h"
#include "sotto/work.h"

#endif
