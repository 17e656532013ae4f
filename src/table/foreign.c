/*
 * foreign.c: files that hold tables in forms that are not read here, told by
 * their first bytes. Whoever has one wants to know how to save it.
 */
#include "table/foreign.h"

#include <string.h>

#include "host/error.h"

/* Starts are as long as it takes that no header of a CSV file has them. */
#define ROW(start, what)                                                       \
    {                                                                          \
        (start), sizeof(start) - 1, (what)                                     \
    }
#define SHEET "save the sheet as CSV"
#define FRAME "save it as CSV, from pandas by to_csv(FILE, index=False)"
#define FROM_R "save it as CSV, by write.csv(x, FILE, row.names=FALSE)"
#define OWN "records are wanted here, as CSV"

static const struct {
    const char *start;
    size_t size;
    const char *what;
} rows[] = {
    ROW("PK\003\004", "a zip archive, as .xlsx and .ods are: " SHEET),
    ROW("\xd0\xcf\x11\xe0", "an old Excel workbook: " SHEET),
    ROW("PAR1\025", "a Parquet file: " FRAME),
    ROW("ARROW1\0\0", "an Arrow or Feather file: " FRAME),
    ROW("\x80\003", "a pickle: " FRAME),
    ROW("\x80\004", "a pickle: " FRAME),
    ROW("\x80\005", "a pickle: " FRAME),
    ROW("SQLite format 3", "an SQLite database: export the table as CSV"),
    ROW("RDX2\nX\n", "R's own data: " FROM_R),
    ROW("RDX3\nX\n", "R's own data: " FROM_R),
    ROW("X\n\0\0", "R's own data: " FROM_R),
    ROW("{\"", "JSON: " FRAME),
    ROW("[{", "JSON: " FRAME),
    ROW("{\n", "JSON: " FRAME),
    ROW("[\n", "JSON: " FRAME),
    ROW("<!DOCTYPE", "a web page: perhaps the download asked for a login"),
    ROW("<html", "a web page: perhaps the download asked for a login"),
    ROW("%PDF", "a PDF document: " OWN),
    ROW("\x89PNG", "one image: give the folder that the images are in"),
    ROW("version https://git-lfs", "a pointer of Git LFS: fetch the file that "
                                   "it stands for, by git lfs pull"),
    ROW("untrusted comment:", "a key or a signature: " OWN),
};

enum sotto_status
foreign_check(const uint8_t *bytes, size_t size, const char *name,
              struct sotto_error *err)
{
    static const char own[] = "{\"__metadata__\":";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (size >= rows[i].size &&
            memcmp(bytes, rows[i].start, rows[i].size) == 0) {
            return host_fail(err, SOTTO_STATUS_INPUT, 0, "%s: this is %s", name,
                             rows[i].what);
        }
    }
    if (size >= 8 + sizeof own - 1 &&
        memcmp(bytes + 8, own, sizeof own - 1) == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "%s: this is a mechanism or a model: " OWN, name);
    }
    return SOTTO_STATUS_OK;
}
