/*
 * row_store.c: the rows of an experiment, in a CSV file that only grows.
 *
 * A line is `key,value`: the key's fields and the value's, RFC 4180 without
 * line breaks inside. Keys are compared as text, so what is written decides
 * what is the same; numbers are written in one way only.
 */
#include "experiment/row_store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/experiment.h"
#include "host/csv_field.h"
#include "host/error.h"
#include "host/file.h"
#include "host/text.h"

#define FILE_MOST ((size_t)1 << 30)
#define LINE_MOST ((size_t)1 << 20)
#define VALUE_FIELDS 5u

#define KEYS                                                                   \
    "experiment,mechanism,level,aux_share,eps,trial,draw,seed,setting,data,"   \
    "version,"
#define VALUES ",seconds,command,commit"
static const char old_header[] = KEYS "accuracy" VALUES "\n"; /* 0.1.0's */
#define HEADER_SIZE 256u
#define KEY_FIELDS 11u

struct row {
    char *key; /* the line's first fields, with the comma behind them */
    struct row_value value;
    char *command, *commit, *note; /* what value's point to */
};

struct row_store {
    char *path;
    char header[HEADER_SIZE];
    int fd;
    struct row *row;
    size_t count, room;
};

/* ---- CSV text ----------------------------------------------------------- */

static void
add_key(struct host_text *text, const struct row_key *key)
{
    char eps[EXPERIMENT_EPS_SIZE];
    experiment_eps_text(key->eps, eps);
    csv_field_add(text, key->experiment);
    host_text_print(text, ",");
    csv_field_add(text, key->mechanism);
    host_text_print(text, ",");
    csv_field_add(text, key->level);
    host_text_print(text, ",");
    csv_field_number(text, key->aux_share);
    host_text_print(text, ",%s,%ju,%ju,%ju,", eps, (uintmax_t)key->trial,
                    (uintmax_t)key->draw, (uintmax_t)key->seed);
    csv_field_add(text, key->setting);
    host_text_print(text, ",%s,", key->data);
    csv_field_add(text, key->version);
    host_text_print(text, ",");
}

static void
add_value(struct host_text *text, const struct row_value *value)
{
    csv_field_number(text, value->measured);
    host_text_print(text, ",");
    csv_field_number(text, value->seconds);
    host_text_print(text, ",");
    csv_field_add(text, value->command);
    host_text_print(text, ",");
    csv_field_add(text, value->commit);
    host_text_print(text, ",");
    csv_field_add(text, value->note);
    host_text_print(text, "\n");
}

/* The field's text without its quotes, which the caller frees. */
static char *
field_copy(const char *at, const char *end)
{
    char *copy = host_text_copy(at, (size_t)(end - at));
    if (copy != NULL) {
        csv_field_undo(copy, copy + (end - at));
    }
    return copy;
}

static bool
field_number(const char *at, const char *end, double *ret_number)
{
    char text[40], *stop;
    size_t size = (size_t)(end - at);
    if (size == 0 || size >= sizeof text) {
        return false;
    }
    memcpy(text, at, size);
    text[size] = '\0';
    *ret_number = strtod(text, &stop);
    return *stop == '\0' && isfinite(*ret_number);
}

/* ---- Rows in memory ----------------------------------------------------- */

static void
row_clear(struct row *row)
{
    free(row->key);
    free(row->command);
    free(row->commit);
    free(row->note);
    memset(row, 0, sizeof *row);
}

static void
clear_rows(struct row_store *store)
{
    for (size_t i = 0; i < store->count; i++) {
        row_clear(&store->row[i]);
    }
    store->count = 0;
}

/* Takes a line without its end. Statuses: FORMAT (it is no row), MEMORY. */
static enum sotto_status
parse_line(const char *line, const char *end, struct row *ret_row)
{
    const char *at[KEY_FIELDS + VALUE_FIELDS + 1];
    struct row row = {0};
    at[0] = line;
    for (size_t i = 0; i < KEY_FIELDS + VALUE_FIELDS; i++) {
        const char *stop = at[i] <= end ? csv_field_end(at[i], end) : NULL;
        if (stop == NULL) {
            return SOTTO_STATUS_FORMAT;
        }
        at[i + 1] = stop + 1;
    }
    const char *const *value = at + KEY_FIELDS;
    if (value[VALUE_FIELDS] != end + 1 ||
        !field_number(value[0], value[1] - 1, &row.value.measured) ||
        !field_number(value[1], value[2] - 1, &row.value.seconds)) {
        return SOTTO_STATUS_FORMAT;
    }
    row.key = host_text_copy(line, (size_t)(value[0] - line));
    row.command = field_copy(value[2], value[3] - 1);
    row.commit = field_copy(value[3], value[4] - 1);
    row.note = field_copy(value[4], end);
    if (row.key == NULL || row.command == NULL || row.commit == NULL ||
        row.note == NULL) {
        row_clear(&row);
        return SOTTO_STATUS_MEMORY;
    }
    row.value.command = row.command;
    row.value.commit = row.commit;
    row.value.note = row.note;
    *ret_row = row;
    return SOTTO_STATUS_OK;
}

/* Room for one more. */
static bool
grow_rows(struct row_store *store)
{
    struct row *row =
        host_grow(store->row, sizeof *row, store->count, &store->room);
    store->row = row != NULL ? row : store->row;
    return row != NULL;
}

static const struct row *
find_text(const struct row_store *store, const char *key)
{
    for (size_t i = 0; i < store->count; i++) {
        if (strcmp(store->row[i].key, key) == 0) {
            return &store->row[i];
        }
    }
    return NULL;
}

/* Adds the whole lines of `text`, of which the first is the header. */
static enum sotto_status
take_lines(struct row_store *store, const char *text, const char *end,
           struct sotto_error *err)
{
    size_t number = 1;
    const char *line = text;
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        enum sotto_status status = SOTTO_STATUS_MEMORY;
        bool first = number == 1;
        if (first) {
            size_t size = strlen(store->header);
            bool same = (size_t)(stop + 1 - line) == size &&
                        memcmp(line, store->header, size) == 0;
            status = same ? SOTTO_STATUS_OK : SOTTO_STATUS_FORMAT;
        } else if (grow_rows(store)) {
            status = parse_line(line, stop, &store->row[store->count]);
        }
        if (status == SOTTO_STATUS_MEMORY) {
            return host_fail_memory(err);
        }
        if (status != SOTTO_STATUS_OK) {
            return host_fail(err, SOTTO_STATUS_INPUT, (size_t)(line - text),
                             "'%s', line %zu: not a row of this experiment; "
                             "move the file away to start anew, or mend the "
                             "line",
                             host_shown(store->path), number);
        }
        store->count += first ? 0 : 1;
        number++;
        line = stop + 1;
    }
    return SOTTO_STATUS_OK;
}

/* ---- The file ----------------------------------------------------------- */

static enum sotto_status
fail_write(const struct row_store *store, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_IO, 0, "cannot write '%s': %s",
                     host_shown(store->path), strerror(errno));
}

/* Writes at the end and waits for the disk. */
static enum sotto_status
append(const struct row_store *store, const char *data, size_t size,
       struct sotto_error *err)
{
    while (size > 0) {
        ssize_t put = write(store->fd, data, size);
        if (put < 0 && errno != EINTR) {
            return fail_write(store, err);
        }
        data += put > 0 ? put : 0;
        size -= put > 0 ? (size_t)put : 0;
    }
    return fsync(store->fd) == 0 ? SOTTO_STATUS_OK : fail_write(store, err);
}

/* Gives every whole line of an older file an empty note, in one step, if all of
   them are rows; the file is then another, and opened anew. */
static enum sotto_status
add_notes(struct row_store *store, const char *text, size_t size,
          struct sotto_error *err)
{
    struct host_text made;
    size_t skip = sizeof old_header - 1;
    enum sotto_status status;
    host_text_init(&made, FILE_MOST);
    host_text_add(&made, store->header, strlen(store->header));
    for (const char *at = text + skip, *end = text + size, *stop;
         at < end && (stop = memchr(at, '\n', (size_t)(end - at))) != NULL;
         at = stop + 1) {
        host_text_add(&made, at, (size_t)(stop - at));
        host_text_add(&made, ",\n", 2);
    }
    status = made.failed
                 ? host_fail_memory(err)
                 : take_lines(store, made.data, made.data + made.size, err);
    clear_rows(store); /* they are read from the new file, too */
    status = HOST_THEN(status, host_file_write(store->path, 0666, false,
                                               made.data, made.size, err));
    host_text_clear(&made);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    int fd = open(store->path, O_RDWR | O_APPEND | O_CLOEXEC);
    if (fd < 0) {
        return fail_write(store, err);
    }
    (void)close(store->fd);
    store->fd = fd;
    return SOTTO_STATUS_OK;
}

/* Reads the file, in the form of today. */
static enum sotto_status
read_all(struct row_store *store, uint8_t **ret_data, size_t *ret_size,
         struct sotto_error *err)
{
    size_t old = sizeof old_header - 1;
    enum sotto_status status =
        host_file_read(store->path, FILE_MOST, ret_data, ret_size, err);
    if (status != SOTTO_STATUS_OK || *ret_size < old ||
        strstr(store->header, ",accuracy,") == NULL ||
        memcmp(*ret_data, old_header, old) != 0) {
        return status;
    }
    status = add_notes(store, (const char *)*ret_data, *ret_size, err);
    free(*ret_data);
    *ret_data = NULL;
    status = HOST_THEN(status, host_file_read(store->path, FILE_MOST, ret_data,
                                              ret_size, err));
    return status;
}

/* Reads what is there and makes the file whole again. */
static enum sotto_status
recover(struct row_store *store, struct sotto_error *err)
{
    uint8_t *data = NULL;
    size_t size = 0, whole;
    enum sotto_status status = read_all(store, &data, &size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    whole = size;
    while (whole > 0 && data[whole - 1] != '\n') {
        whole--;
    }
    const char *text = (const char *)data;
    status = take_lines(store, text, text + whole, err);
    if (status == SOTTO_STATUS_OK && whole < size &&
        ftruncate(store->fd, (off_t)whole) != 0) {
        status = fail_write(store, err);
    }
    if (status == SOTTO_STATUS_OK && whole == 0) {
        status = append(store, store->header, strlen(store->header), err);
    }
    free(data);
    return status;
}

enum sotto_status
row_store_open(const char *folder, const char *name, const char *measure,
               struct row_store **ret_store, struct sotto_error *err)
{
    enum sotto_status status;
    struct host_text path;
    struct row_store *store = calloc(1, sizeof *store);
    host_text_init(&path, LINE_MOST);
    if (store == NULL) {
        return host_fail_memory(err);
    }
    store->fd = -1;
    (void)snprintf(store->header, sizeof store->header,
                   KEYS "%s" VALUES ",note\n", measure);
    host_text_print(&path, "%s/%s.csv", folder, name);
    if (path.failed) {
        status = host_fail_memory(err);
        goto done;
    }
    store->path = path.data;
    host_text_init(&path, 0);
    store->fd =
        open(store->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (store->fd < 0) {
        status = fail_write(store, err);
        goto done;
    }
    status = recover(store, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    *ret_store = store;
    store = NULL;
done:
    host_text_clear(&path);
    row_store_close(store);
    return status;
}

void
row_store_close(struct row_store *store)
{
    if (store == NULL) {
        return;
    }
    clear_rows(store);
    if (store->fd >= 0) {
        (void)close(store->fd);
    }
    free(store->row);
    free(store->path);
    free(store);
}

const struct row_value *
row_store_find(const struct row_store *store, const struct row_key *key)
{
    struct host_text text;
    const struct row *row = NULL;
    host_text_init(&text, LINE_MOST);
    add_key(&text, key);
    if (!text.failed) {
        row = find_text(store, text.data);
    }
    host_text_clear(&text);
    return row != NULL ? &row->value : NULL;
}

/* Rows move when the list grows, but values are looked up anew each time they
   are needed, so nobody holds an old one. */
enum sotto_status
row_store_add(struct row_store *store, const struct row_key *key,
              const struct row_value *value, const struct row_value **ret_value,
              struct sotto_error *err)
{
    struct host_text text;
    struct row row = {0};
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    host_text_init(&text, LINE_MOST);
    add_key(&text, key);
    add_value(&text, value);
    if (!text.failed && grow_rows(store)) {
        status = parse_line(text.data, text.data + text.size - 1, &row);
    }
    if (status == SOTTO_STATUS_MEMORY) {
        status = host_fail_memory(err);
        goto done;
    }
    if (status != SOTTO_STATUS_OK) {
        status = host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "a row without a number cannot be kept");
        goto done;
    }
    status = append(store, text.data, text.size, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    store->row[store->count++] = row;
    memset(&row, 0, sizeof row);
    if (ret_value != NULL) {
        *ret_value = &store->row[store->count - 1].value;
    }
done:
    row_clear(&row);
    host_text_clear(&text);
    return status;
}
