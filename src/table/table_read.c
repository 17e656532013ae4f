/*
 * table_read.c: reads a table from a file or from bytes, whichever of the
 * formats it is in. Apart from table.c, so that a program that only looks at
 * tables needs no library that decodes images.
 */
#include "table/table_read.h"

#include <sys/stat.h>

#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "host/wipe.h"
#include "table/csv.h"
#include "table/dialect.h"
#include "table/foreign.h"
#include "table/gunzip.h"
#include "table/idx.h"
#include "table/npy.h"
#include "table/png_folder.h"
#include "table/table.h"

/* Replaces gzipped bytes by what they hold. */
static enum sotto_status
decompress(uint8_t **bytes, size_t *size, const char *name,
           struct sotto_error *err)
{
    uint8_t *plain;
    size_t plain_size;
    if (!gunzip_detect(*bytes, *size)) {
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status = gunzip_bytes(*bytes, *size, TABLE_MAX_BYTES,
                                            name, &plain, &plain_size, err);
    if (status == SOTTO_STATUS_OK) {
        host_wipe_free(*bytes, *size);
        *bytes = plain;
        *size = plain_size;
    }
    return status;
}

bool
table_read_indexed(const struct sotto_table *table)
{
    return table->columns[0].named && table->columns[0].name[0] == '\0';
}

/* Consumes *bytes on success. */
static enum sotto_status
parse_text(uint8_t **bytes, size_t *size, const char *name,
           const struct sotto_table_options *options,
           struct sotto_table **ret_table, struct sotto_error *err)
{
    struct sotto_table_reading reading = {0};
    struct csv_way way = {.header = -1};
    struct sotto_table *table = NULL;
    if (options != NULL) {
        reading = options->reading;
        way.header = options->header;
        way.threads = options->threads;
    }
    reading.indexed = false;
    dialect_guess(*bytes, *size, &reading);
    enum sotto_status status =
        dialect_translate(bytes, size, &reading, name, err);
    status =
        HOST_THEN(status, csv_parse(*bytes, *size, name, &way, &table, err));
    if (status == SOTTO_STATUS_OK) {
        reading.indexed = table_read_indexed(table) &&
                          sotto_table_drop(table, 0, err) == SOTTO_STATUS_OK;
        table->reading = reading;
        *ret_table = table;
    }
    return status;
}

enum sotto_status
table_read_owned(uint8_t *bytes, size_t size, const char *name,
                 const struct sotto_table_options *options,
                 struct sotto_table **ret_table, struct sotto_error *err)
{
    enum sotto_status status = decompress(&bytes, &size, name, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }

    if (idx_detect(bytes, size)) {
        status = idx_parse(bytes, size, name, ret_table, err);
    } else if (npy_detect(bytes, size)) {
        status = npy_parse(bytes, size, name, ret_table, err);
    } else {
        status = foreign_check(bytes, size, name, err);
        status = HOST_THEN(
            status, parse_text(&bytes, &size, name, options, ret_table, err));
    }
done:
    if (status != SOTTO_STATUS_OK) {
        host_wipe_free(bytes, size);
    }
    return status;
}

enum sotto_status
sotto_table_read(const char *path, const struct sotto_table_options *options,
                 struct sotto_table **ret_table, struct sotto_error *err)
{
    uint8_t *bytes;
    size_t size;
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        return host_about(png_folder_read(path, 0, ret_table, err), err,
                          SOTTO_ABOUT_FILE, path);
    }
    enum sotto_status status =
        host_file_read(path, TABLE_MAX_BYTES, &bytes, &size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    return host_about(table_read_owned(bytes, size, host_shown(path), options,
                                       ret_table, err),
                      err, SOTTO_ABOUT_FILE, path);
}

enum sotto_status
sotto_table_parse(const void *data, size_t size, const char *name,
                  const struct sotto_table_options *options,
                  struct sotto_table **ret_table, struct sotto_error *err)
{
    if (size > TABLE_MAX_BYTES) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "%s: has %zu bytes, more than %zu, the most that is "
                         "read: split it",
                         host_shown(name), size, TABLE_MAX_BYTES);
    }
    uint8_t *bytes = host_text_copy(data, size);
    if (bytes == NULL) {
        return host_fail_memory(err);
    }
    return table_read_owned(bytes, size, host_shown(name), options, ret_table,
                            err);
}
