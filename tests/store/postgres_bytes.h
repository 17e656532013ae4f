/*
 * postgres_bytes.h: stores on the tests' server, and what the server's files
 * hold of them, byte by byte: the numbers below REPORTS of mechanism 1.
 */
#ifndef SOTTO_TESTS_POSTGRES_BYTES_H
#define SOTTO_TESTS_POSTGRES_BYTES_H

#include "postgres_server.h"

#include <math.h>

#include <sodium.h>

#define REPORTS 600u

static char url[600];

static inline void
new_url(void)
{
    server_new_url(url, sizeof url);
}

/* ---- Bytes --------------------------------------------------------------- */

/* Something that is looked for: its first 8 bytes, and which report's it is. */
struct needle {
    uint64_t key;
    uint32_t report, found;
    size_t at; /* where first */
};

static inline int
compare_needles(const void *a, const void *b)
{
    const struct needle *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* All files of the server that may hold rows, one behind the other. */
static inline uint8_t *
read_server(size_t *ret_size)
{
    char command[900];
    struct stat info;
    server_say("CHECKPOINT");
    (void)snprintf(command, sizeof command,
                   "find '%s/pg/base' '%s/pg/pg_wal' '%s/pg.log' -type f "
                   "-exec cat {} + >'%s/all'",
                   folder, folder, folder, folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(stat(in_folder("all"), &info), 0);
    uint8_t *bytes = malloc((size_t)info.st_size);
    FILE *file = fopen(in_folder("all"), "rb");
    assert_non_null(bytes);
    assert_non_null(file);
    *ret_size = fread(bytes, 1, (size_t)info.st_size, file);
    assert_int_equal(*ret_size, info.st_size);
    (void)fclose(file);
    (void)unlink(in_folder("all"));
    return bytes;
}

/* How many of them are in the server's files. */
static inline size_t
search(struct needle *needle, size_t count)
{
    size_t size = 0, found = 0;
    uint8_t *bytes = read_server(&size);
    static uint8_t first[65536]; /* whether any begins so */
    memset(first, 0, sizeof first);
    qsort(needle, count, sizeof *needle, compare_needles);
    for (size_t i = 0; i < count; i++) {
        first[needle[i].key & 0xffff] = 1;
    }
    for (size_t at = 0; at + 8 <= size; at++) {
        struct needle wanted = {0};
        memcpy(&wanted.key, bytes + at, 8);
        struct needle *hit = first[wanted.key & 0xffff] == 0
                                 ? NULL
                                 : bsearch(&wanted, needle, count,
                                           sizeof *needle, compare_needles);
        if (hit != NULL) {
            hit->at = hit->found++ == 0 ? at : hit->at;
        }
    }
    for (size_t i = 0; i < count; i++) {
        found += needle[i].found > 0;
    }
    free(bytes);
    return found;
}

static inline struct needle *
payload_needles(void)
{
    static struct needle needle[REPORTS];
    for (uint32_t i = 0; i < REPORTS; i++) {
        needle[i] = (struct needle){mix(i ^ 0x5a5a5a5a), i, 0, 0};
    }
    return needle;
}

static inline struct needle *
id_needles(void)
{
    static struct needle needle[REPORTS];
    for (uint32_t i = 0; i < REPORTS; i++) {
        needle[i] = (struct needle){mix(i), i, 0, 0};
    }
    return needle;
}

/* By the key in the store. */
static inline struct needle *
tag_needles(const char *schema)
{
    static struct needle needle[REPORTS];
    char text[100];
    uint8_t tag[16], report[REPORT_SIZE];
    (void)snprintf(text, sizeof text, "SELECT tag_key FROM %s.secret", schema);
    PGresult *result =
        PQexecParams(server.db, text, 0, NULL, NULL, NULL, NULL, 1);
    assert_int_equal(PQgetlength(result, 0, 0), 32);
    for (uint32_t i = 0; i < REPORTS; i++) {
        fake_report(1, i, false, report);
        assert_int_equal(crypto_generichash_blake2b_salt_personal(
                             tag, sizeof tag, sotto_report_id(report), 16,
                             (const uint8_t *)PQgetvalue(result, 0, 0), 32,
                             NULL,
                             (const unsigned char *)"sotto.tag\0\0\0\0\0\0"),
                         0);
        needle[i] = (struct needle){0, i, 0, 0};
        memcpy(&needle[i].key, tag, 8);
    }
    PQclear(result);
    return needle;
}

static inline int
compare_places(const void *a, const void *b)
{
    const struct needle *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* How far first places follow the order of arrival: Kendall's S by its standard
   deviation for a random order; |z| > 5 has probability below 10^-6. */
static inline double
follows(struct needle *needle, size_t count)
{
    double sum = 0, k = (double)count;
    qsort(needle, count, sizeof *needle, compare_places);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            sum += needle[i].report < needle[j].report ? 1 : -1;
        }
    }
    return sum / sqrt(k * (k - 1) * (2 * k + 5) / 18);
}

/* The name of the last schema. */
static inline const char *
schema(void)
{
    return strrchr(url, 'D') + 1;
}

static inline long
ask_schema(const char *format)
{
    char text[900], path[60];
    (void)snprintf(path, sizeof path, "SET search_path = %s", schema());
    server_say(path);
    (void)snprintf(text, sizeof text, "%s", format);
    return server_ask(text);
}

#endif
