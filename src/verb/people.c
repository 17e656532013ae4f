/*
 * people.c: rows of a table as people whose reports go through a ledger.
 *
 * Who is in a file is public, what they say is not (invariant 4): that a column
 * of people is not there is an error before the first of them is charged, and a
 * row that names nobody is told and stops nobody else.
 */
#include "verb/people.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"

int
people_check(const struct cli_args *args)
{
    bool ledger = cli_given(args, "ledger"), person = cli_given(args, "person");
    if (ledger && cli_given(args, "seed")) {
        return cli_bad("--ledger and --seed exclude each other: what is "
                       "simulated is never sent, so it costs nobody anything");
    }
    if (ledger && !person) {
        return cli_bad("--ledger needs --person COL, the column that tells "
                       "people apart");
    }
    if (person && !ledger) {
        return cli_bad("--person goes with --ledger L, which remembers who was "
                       "asked; make one with 'sotto ledger new'");
    }
    if (cli_given(args, "again") && !ledger) {
        return cli_bad("--again goes with --ledger L, which remembers what "
                       "people agreed to");
    }
    if (cli_given(args, "people") && !ledger) {
        return cli_bad("--people goes with --ledger L and --person COL");
    }
    return CLI_EXIT_DONE;
}

/* SQLite deletes what it finds under these names, or takes it for its own; the
   ledger's are those of the file behind a link. */
int
people_check_output(const struct cli_args *args, const char *option)
{
    static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
    const char *ledger = cli_value(args, "ledger");
    const char *output = cli_value(args, option);
    char *real = ledger != NULL ? realpath(ledger, NULL) : NULL;
    bool taken = false;
    if (real != NULL && output != NULL) {
        const char *name = strrchr(real, '/') + 1;
        const char *slash = strrchr(output, '/');
        const char *base = slash != NULL ? slash + 1 : output;
        size_t size = strlen(name);
        for (size_t i = 0; i < 3 && strncmp(base, name, size) == 0; i++) {
            taken = taken || strcmp(base + size, suffixes[i]) == 0;
        }
    }
    free(real);
    return taken ? cli_bad("--%s '%.240s' is a name that the ledger needs for "
                           "itself: choose another",
                           option, output)
                 : CLI_EXIT_DONE;
}

static int
find_column(const char *name, const struct sotto_table *table, const char *path,
            size_t *ret_column)
{
    size_t column = sotto_table_find(table, name);
    if (column == SIZE_MAX) {
        return cli_bad("--person: '%.240s' has no column \"%.80s\": name its "
                       "columns in the first line",
                       path, name);
    }
    *ret_column = column;
    return CLI_EXIT_DONE;
}

bool
people_named(const struct people *people, size_t row)
{
    struct sotto_value name =
        sotto_table_cell(people->table, row, people->column);
    return name.size > 0 && name.size <= SOTTO_PERSON_MAX;
}

/* Tells of rows that name nobody, which stop nobody else: by the first. */
static int
check_names(struct people *people, const char *path)
{
    const struct sotto_table *table = people->table;
    size_t first = 0;
    if (sotto_table_width(table, people->column) > 0) {
        return cli_bad("--person: an image names nobody");
    }
    for (size_t row = sotto_table_rows(table); row-- > 0;) {
        if (!people_named(people, row)) {
            people->unnamed++;
            first = row;
        }
    }
    if (people->unnamed > 0) {
        struct sotto_value cell =
            sotto_table_cell(table, first, people->column);
        cli_error("'%.240s', row %zu (line %zu), column \"%.80s\": %s; give "
                  "everybody 1 to %u bytes; rows without a report: %zu",
                  path, first + 1, sotto_table_line(table, first),
                  sotto_table_name(table, people->column),
                  cell.size == 0 ? "nobody is named (NA, NaN, null and ? stand "
                                   "for nothing)"
                                 : "the name is too long",
                  SOTTO_PERSON_MAX, people->unnamed);
    }
    return CLI_EXIT_DONE;
}

int
people_open(const struct cli_args *args, const struct sotto_table *table,
            const char *path, struct sotto_ledger *ledger,
            struct people *ret_people)
{
    const char *name = cli_value(args, "ledger");
    struct people people = {
        .ledger = ledger, .borrowed = ledger != NULL, .table = table};
    struct sotto_error err = {0};
    if (name == NULL) {
        *ret_people = people;
        return CLI_EXIT_DONE;
    }
    int status =
        find_column(cli_value(args, "person"), table, path, &people.column);
    status = CLI_THEN(status, check_names(&people, path));
    if (status == CLI_EXIT_DONE && ledger == NULL &&
        sotto_ledger_open(name, &people.ledger, &err) != SOTTO_STATUS_OK) {
        status = cli_fail(&err);
    }
    if (status == CLI_EXIT_DONE) {
        sotto_ledger_again(people.ledger, cli_given(args, "again"));
        people.inner = sotto_ledger_port(people.ledger);
        *ret_people = people;
    }
    return status;
}

void
people_close(struct people *people)
{
    if (!people->borrowed) {
        sotto_ledger_free(people->ledger);
    }
    people->ledger = NULL;
}

int
people_exit(const struct people *people)
{
    return people->refused > 0   ? CLI_EXIT_REFUSED
           : people->unnamed > 0 ? CLI_EXIT_BAD
                                 : CLI_EXIT_DONE;
}

/* ---- The ledger's port, watched ----------------------------------------- */

/* A record, and where its report goes. */
struct people_task {
    struct sotto_client *client;
    const struct sotto_value *values;
    size_t count;
    uint8_t *report;
};

static bool
has_schedule(const struct people *people)
{
    return people->late.schedule.encoder > 0;
}

static enum sotto_status
watch_begin(void *context, const struct sotto_charge *charge, uint8_t *report,
            size_t size, int *ret_found, struct sotto_error *err)
{
    struct people *people = context;
    enum sotto_status status = people->inner.begin(
        people->inner.context, charge, report, size, ret_found, err);
    people->found = status == SOTTO_STATUS_OK && *ret_found;
    return status;
}

static enum sotto_status
watch_commit(void *context, const struct sotto_charge *charge,
             const uint8_t *report, size_t size, struct sotto_error *err)
{
    struct people *people = context;
    const struct people_task *task = people->task;
    enum sotto_status status =
        has_schedule(people)
            ? late_make(&people->late, task->client, task->values, task->count,
                        task->report /* which `report` is */, size)
            : SOTTO_STATUS_OK;
    if (status != SOTTO_STATUS_OK) {
        people->inner.cancel(people->inner.context);
        return host_fail(err, status, 0, "%s", sotto_status_message(status));
    }
    return people->inner.commit(people->inner.context, charge, report, size,
                                err);
}

static void
watch_cancel(void *context)
{
    struct people *people = context;
    people->inner.cancel(people->inner.context);
}

enum sotto_status
people_report(struct people *people, struct sotto_client *client, size_t row,
              const struct sotto_value *values, size_t count, uint8_t *report,
              size_t size, struct sotto_error *err)
{
    struct sotto_ledger_port port = {people, watch_begin, watch_commit,
                                     watch_cancel};
    const struct people_task task = {client, values, count, report};
    struct sotto_value name =
        sotto_table_cell(people->table, row, people->column);
    struct sotto_value *missing = calloc(count, sizeof *missing);
    if (missing == NULL) {
        return host_fail_memory(err);
    }
    people->task = &task;
    enum sotto_status status = sotto_client_report(
        client, &port, name.data, name.size,
        has_schedule(people) ? missing : values, count, report, size, err);
    people->task = NULL;
    free(missing);
    if (has_schedule(people) && status == SOTTO_STATUS_OK && !people->found) {
        late_rest(&people->late);
    }
    if (status == SOTTO_STATUS_REFUSED) {
        people->refused++;
    } else if (status == SOTTO_STATUS_OK && people->found) {
        people->replayed++;
    } else if (status == SOTTO_STATUS_OK) {
        people->made++;
    }
    return status;
}
