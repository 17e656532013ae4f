/*
 * bench_reading.c: how fast a table is read, beside others in the same run.
 *
 * The tables are made up, and kept in memory: what is timed is reading, not the
 * disk. Every reader turns each number into a double. Ours hands out the file
 * as tables of 16,384 rows (sotto_table_stream_open); pandas and Python's csv
 * make one table of it.
 */
#include "bench/bench_reading.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "bench/peer.h"
#include "host/clock.h"
#include "host/error.h"
#include "random/draw.h"
#include "random/seeded.h"

#define ROWS ((size_t)16384)
#define LINE_MAX_SIZE 256u
#define AGREED 1e-9 /* of a sum */

const struct bench_reading_size bench_reading_full = {32000000, 3, true};

struct text {
    char *bytes;
    size_t size;
    double sum;
    size_t rows;
};

/* ---- Tables -------------------------------------------------------------- */

/* Numbers as measurements have them: 1 to 17 digits. */
static int
put_numbers(struct random *random, char *line, size_t room)
{
    double u = draw_below(random, 1000000) / 1e6;
    return snprintf(
        line, room, "%u,%.4f,%.2f,%u,%.6f,%u,%.3f,%.1f,%.8g,%.4f,%u,%.17g\n",
        draw_below(random, 100000), 100 * u - 50, 1e5 * u,
        draw_below(random, 2), 2 * u - 1, draw_below(random, 120), 10 * u,
        300 * u, u * 1e-3, u * u, draw_below(random, 1000000000), sqrt(u));
}

/* Numbers between texts, some of them in quotes. */
static int
put_mixed(struct random *random, char *line, size_t room)
{
    static const char *const names[] = {"John", "Mary", "Ann \"\"Annie\"\""};
    static const char *const colours[] = {"red", "green", "blue", "NA", ""};
    return snprintf(
        line, room, "%u,\"Smith, %s\",%s,%.2f,\"visit %u\",%s,%.3f\n",
        draw_below(random, 1000000), names[draw_below(random, 3)],
        colours[draw_below(random, 5)], draw_below(random, 1000000) / 1e2,
        draw_below(random, 1000), draw_below(random, 2) != 0 ? "yes" : "no",
        draw_below(random, 1000) / 1e3);
}

static const struct kind {
    const char *name, *header;
    const char *columns; /* that are numbers, from 0 */
    int (*put)(struct random *random, char *line, size_t room);
    bool packed;
} kinds[] = {
    {"read numbers", "a,b,c,d,e,f,g,h,i,j,k,l\n", "0,1,2,3,4,5,6,7,8,9,10,11",
     put_numbers, false},
    {"read numbers and texts", "id,name,colour,amount,note,ok,p\n", "0,3,6",
     put_mixed, false},
    {"read numbers, gzipped", "a,b,c,d,e,f,g,h,i,j,k,l\n",
     "0,1,2,3,4,5,6,7,8,9,10,11", put_numbers, true},
};

static enum sotto_status
make_text(const struct kind *kind, size_t bytes, struct text *ret_text,
          struct sotto_error *err)
{
    struct seeded seeded;
    char *text = malloc(bytes + LINE_MAX_SIZE);
    size_t size = strlen(kind->header);
    if (text == NULL) {
        return host_fail_memory(err);
    }
    seeded_init(&seeded, 1, 0);
    memcpy(text, kind->header, size);
    while (size < bytes) {
        size += (size_t)kind->put(&seeded.random, text + size, LINE_MAX_SIZE);
    }
    *ret_text = (struct text){.bytes = text, .size = size};
    return SOTTO_STATUS_OK;
}

/* The text, or what gzip makes of it, for readers to open. */
static enum sotto_status
make_file(const struct kind *kind, const struct text *text,
          struct peer_file *ret_file, struct sotto_error *err)
{
    z_stream z = {0};
    if (!kind->packed) {
        return peer_file_write(ret_file, text->bytes, text->size, err);
    }
    uint8_t *packed = malloc(text->size);
    if (packed == NULL || deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8,
                                       Z_DEFAULT_STRATEGY) != Z_OK) {
        free(packed);
        return host_fail_memory(err);
    }
    z.next_in = (z_const Bytef *)text->bytes;
    z.avail_in = (uInt)text->size;
    z.next_out = packed;
    z.avail_out = (uInt)text->size;
    int said = deflate(&z, Z_FINISH);
    size_t size = text->size - z.avail_out;
    (void)deflateEnd(&z);
    enum sotto_status status =
        said == Z_STREAM_END
            ? peer_file_write(ret_file, packed, size, err)
            : host_fail(err, SOTTO_STATUS_CHECK, 0, "gzip made no file");
    free(packed);
    return status;
}

/* ---- Ours ---------------------------------------------------------------- */

static double
sum_table(const struct sotto_table *table)
{
    double sum = 0;
    for (size_t i = 0; i < sotto_table_columns(table); i++) {
        for (size_t row = 0; row < sotto_table_rows(table); row++) {
            double number = sotto_table_cell(table, row, i).number;
            sum += isnan(number) ? 0 : number;
        }
    }
    return sum;
}

/* Reads all of a file; adds up its numbers if `text` is to be told. */
static enum sotto_status
read_all(const char *path, unsigned threads, struct text *text,
         struct sotto_error *err)
{
    const struct sotto_table_options options = {.header = 1,
                                                .threads = threads};
    struct sotto_table_stream *stream = NULL;
    struct sotto_table *table = NULL;
    enum sotto_status status =
        sotto_table_stream_open(path, &options, ROWS, &stream, err);
    do {
        table = NULL;
        status =
            HOST_THEN(status, sotto_table_stream_next(stream, &table, err));
        if (table != NULL && text != NULL) {
            text->sum += sum_table(table);
            text->rows += sotto_table_rows(table);
        }
        sotto_table_free(table);
    } while (status == SOTTO_STATUS_OK && table != NULL);
    sotto_table_stream_close(stream);
    return status;
}

/* The best time of several. */
static enum sotto_status
time_ours(const struct peer_file *file, unsigned threads, int times,
          double *ret_seconds, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    double best = INFINITY;
    for (int i = 0; i < times && status == SOTTO_STATUS_OK; i++) {
        (void)lseek(file->fd, 0, SEEK_SET); /* which whoever opens it shares */
        double start = host_seconds();
        status = read_all(file->path, threads, NULL, err);
        best = fmin(best, host_seconds() - start);
    }
    *ret_seconds = best;
    return status;
}

/* ---- Peers --------------------------------------------------------------- */

static const struct way {
    const char *name, *setting;
} ways[] = {
    {"wc", "wc -l"}, {"csv", "Python's csv, float()"}, {"pandas", "pandas"}};
#define WAYS (sizeof ways / sizeof *ways)

/* Seconds of a peer, 0 if it is not here; its sum must be ours. */
static enum sotto_status
time_peer(const struct kind *kind, const struct way *way,
          const struct peer_file *file, const struct text *text, int times,
          double *ret_seconds, struct sotto_error *err)
{
    char count[16];
    const char *const args[] = {
        file->path, way->name,     kind->packed ? "1" : "0",
        count,      kind->columns, NULL};
    const struct peer_threads threads = {2, 1};
    struct peer_result result = {0, 0, 0};
    double expected = way == ways ? (double)text->rows + 1 : text->sum;
    (void)snprintf(count, sizeof count, "%d", times);
    *ret_seconds = 0;
    if (peer_run(peer_script_text("reading.py"), args, &threads, &result,
                 NULL) != SOTTO_STATUS_OK) {
        return SOTTO_STATUS_OK; /* pandas may not be installed */
    }
    if (!(fabs(result.value - expected) <= AGREED * fabs(expected))) {
        return host_fail(err, SOTTO_STATUS_CHECK, 0,
                         "%s: %s comes to %.17g, and sotto to %.17g",
                         kind->name, way->setting, result.value, expected);
    }
    *ret_seconds = result.seconds;
    return SOTTO_STATUS_OK;
}

/* ---- All of it ----------------------------------------------------------- */

struct reading {
    const struct bench_reading_size *size;
    void (*row)(void *context, const struct sotto_bench_row *row);
    void *context;
    double seconds[WAYS]; /* of each peer; 0: it is not here */
};

static void
emit(const struct reading *reading, const struct kind *kind,
     const char *setting, double megabytes, double seconds, size_t peer)
{
    struct sotto_bench_row row = {.name = kind->name,
                                  .setting = setting,
                                  .rate = megabytes / seconds,
                                  .microseconds = 1e6 * seconds / megabytes};
    if (peer < WAYS) {
        row.ratio = reading->seconds[peer] / seconds;
        row.against = ways[peer].setting;
    }
    reading->row(reading->context, &row);
}

static enum sotto_status
measure_peers(struct reading *reading, const struct kind *kind,
              const struct peer_file *file, const struct text *text,
              struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < WAYS; i++) {
        reading->seconds[i] = 0;
        if (reading->size->peers) {
            status = HOST_THEN(status, time_peer(kind, &ways[i], file, text,
                                                 reading->size->times,
                                                 &reading->seconds[i], err));
        }
        if (status == SOTTO_STATUS_OK && reading->seconds[i] > 0) {
            emit(reading, kind, ways[i].setting, (double)text->size / 1e6,
                 reading->seconds[i], WAYS);
        }
    }
    return status;
}

static enum sotto_status
measure_ours(const struct reading *reading, const struct kind *kind,
             const struct peer_file *file, const struct text *text,
             struct sotto_error *err)
{
    static const char *const settings[] = {"sotto, 1 thread",
                                           "sotto, 2 threads"};
    enum sotto_status status = SOTTO_STATUS_OK;
    for (unsigned threads = 1; threads <= 2; threads++) {
        double seconds = 0;
        status =
            HOST_THEN(status, time_ours(file, threads, reading->size->times,
                                        &seconds, err));
        for (size_t i = 1; status == SOTTO_STATUS_OK && i < WAYS; i++) {
            bool here = reading->seconds[i] > 0;
            if (here || i == 1) {
                emit(reading, kind, settings[threads - 1],
                     (double)text->size / 1e6, seconds, here ? i : WAYS);
            }
        }
    }
    return status;
}

static enum sotto_status
measure_kind(struct reading *reading, const struct kind *kind,
             struct sotto_error *err)
{
    struct text text = {0};
    struct peer_file file = {0};
    enum sotto_status status =
        make_text(kind, reading->size->bytes, &text, err);
    status = HOST_THEN(status, make_file(kind, &text, &file, err));
    if (status == SOTTO_STATUS_OK) {
        (void)lseek(file.fd, 0, SEEK_SET);
        status = read_all(file.path, 1, &text, err);
    }
    status = HOST_THEN(status, measure_peers(reading, kind, &file, &text, err));
    status = HOST_THEN(status, measure_ours(reading, kind, &file, &text, err));
    peer_file_close(&file);
    free(text.bytes);
    return status;
}

enum sotto_status
bench_reading_run(const struct bench_reading_size *size,
                  void (*row)(void *context, const struct sotto_bench_row *),
                  void *context, struct sotto_error *err)
{
    struct reading reading = {.size = size, .row = row, .context = context};
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        status = HOST_THEN(status, measure_kind(&reading, &kinds[i], err));
    }
    return status;
}

/* ---- Memory -------------------------------------------------------------- */

/* In the child: the header, then the rows over and over, into a pipe. */
static void
feed_pipe(int to, const struct text *text, size_t header, size_t bytes)
{
    size_t at = 0;
    while (bytes > 0) {
        size_t left = text->size - at;
        ssize_t put = write(to, text->bytes + at, left < bytes ? left : bytes);
        if (put <= 0) {
            break;
        }
        at += (size_t)put;
        bytes -= (size_t)put;
        at = at == text->size ? header : at;
    }
    _exit(0);
}

static enum sotto_status
read_pipe(int from, size_t line, size_t step,
          void (*row)(void *context, const struct sotto_bench_row *),
          void *context, struct sotto_error *err)
{
    const struct sotto_table_options options = {.header = 1};
    struct sotto_table_stream *stream = NULL;
    struct sotto_table *table = NULL;
    char path[32], setting[64];
    size_t rows = 0, told = 0;
    double start = host_seconds();
    (void)snprintf(path, sizeof path, "/dev/fd/%d", from);
    enum sotto_status status =
        sotto_table_stream_open(path, &options, ROWS, &stream, err);
    do {
        table = NULL;
        status =
            HOST_THEN(status, sotto_table_stream_next(stream, &table, err));
        rows += table != NULL ? sotto_table_rows(table) : 0;
        sotto_table_free(table);
        bool last = table == NULL && rows * line > told * step;
        if (status == SOTTO_STATUS_OK && (last || rows * line / step > told)) {
            told = rows * line / step;
            double megabytes = (double)(rows * line) / 1e6;
            double seconds = host_seconds() - start;
            (void)snprintf(setting, sizeof setting, "%zu rows, %.1f GB", rows,
                           megabytes / 1e3);
            row(context, &(struct sotto_bench_row){
                             .name = "read from a pipe",
                             .setting = setting,
                             .rate = megabytes / seconds,
                             .microseconds = 1e6 * seconds / megabytes,
                             .memory_ours = peer_own_memory()});
        }
    } while (status == SOTTO_STATUS_OK && table != NULL);
    sotto_table_stream_close(stream);
    return status;
}

enum sotto_status
bench_reading_memory(size_t bytes, size_t step,
                     void (*row)(void *context, const struct sotto_bench_row *),
                     void *context, struct sotto_error *err)
{
    static char rows[1 << 16];
    static const char line[] = "1234,5.678,9.25,\"a, b\",word,0.12345\n";
    static const char header[] = "first,b,c,d,word,and-one-name-more-\n";
    _Static_assert(sizeof line == sizeof header, "rows of one length");
    const size_t size = sizeof line - 1, count = sizeof rows / size;
    const struct text text = {.bytes = rows, .size = count * size};
    int ends[2];
    for (size_t i = 0; i < count; i++) {
        memcpy(rows + i * size, line, size);
    }
    memcpy(rows, header, size);
    if (pipe(ends) != 0) {
        return host_fail(err, SOTTO_STATUS_IO, 0, "no pipe to read from");
    }
    pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        feed_pipe(ends[1], &text, size, bytes - bytes % size);
    }
    (void)close(ends[1]);
    enum sotto_status status =
        child > 0 ? read_pipe(ends[0], size, step, row, context, err)
                  : host_fail(err, SOTTO_STATUS_IO, 0, "no process to write");
    (void)close(ends[0]);
    if (child > 0) {
        (void)waitpid(child, NULL, 0);
    }
    return status;
}
