/*
 * collector_place.c: a folder on disk with what a collector needs.
 *
 * The mechanism has eight numbers with Laplace noise, as many as P0's MNIST
 * encoder gives, and no layers to speak of: a collector runs none.
 */
#include "bench/collector_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/decimal.h"
#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "mechanism/compose.h"
#include "mechanism/mechanism.h"
#include "report/report.h"

#define NUMBERS 8u
#define SEED 1u

/* ---- The mechanism ------------------------------------------------------- */

static enum sotto_status
compose(struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    static const char *const name[NUMBERS] = {"a", "b", "c", "d",
                                              "e", "f", "g", "h"};
    static const float bias[NUMBERS];
    float weight[NUMBERS * NUMBERS] = {0};
    struct schema_column column[NUMBERS];
    const struct layer layer = {.in = NUMBERS,
                                .out = NUMBERS,
                                .activation = ACTIVATION_NONE,
                                .weight = weight,
                                .bias = bias};
    const struct compose_part part = {.covers = "features",
                                      .channel = "laplace",
                                      .eps = 4 * DECIMAL_UNIT,
                                      .blocks = 1,
                                      .d = NUMBERS,
                                      .l = 4096};
    const struct compose_spec spec = {.name = "bench",
                                      .campaign = COLLECTOR_PLACE_CAMPAIGN,
                                      .auxiliary = "not used",
                                      .eps = 4 * DECIMAL_UNIT,
                                      .column = column,
                                      .columns = NUMBERS,
                                      .layer = &layer,
                                      .layers = 1,
                                      .part = &part,
                                      .parts = 1};
    for (size_t i = 0; i < NUMBERS; i++) {
        weight[i * NUMBERS + i] = 1;
        column[i] = (struct schema_column){.name = name[i],
                                           .kind = SOTTO_COLUMN_NUMBER,
                                           .input = true,
                                           .scale = 1};
    }
    return compose_open(&spec, ret_mechanism, err);
}

/* Reports of records that differ. */
static enum sotto_status
simulate(struct collector_place *place, struct sotto_mechanism *mechanism,
         struct sotto_error *err)
{
    struct sotto_client *client = sotto_mechanism_client(mechanism);
    struct sotto_value value[NUMBERS];
    enum sotto_status status = SOTTO_STATUS_OK;
    memcpy(place->hash, sotto_client_hash(client), sizeof place->hash);
    place->report_size = sotto_client_report_size(client);
    place->reports = malloc(COLLECTOR_PLACE_KINDS * place->report_size);
    if (place->reports == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < COLLECTOR_PLACE_KINDS && status == SOTTO_STATUS_OK;
         i++) {
        for (size_t j = 0; j < NUMBERS; j++) {
            value[j] = (struct sotto_value){
                SOTTO_VALUE_NUMBER, (double)((i + j) % 3) / 2 - 0.5, NULL, 0};
        }
        status = sotto_simulate(mechanism, SEED, i, value, NUMBERS,
                                place->reports + i * place->report_size,
                                place->report_size);
    }
    return status == SOTTO_STATUS_OK
               ? status
               : host_fail(err, status, 0, "a report could not be made");
}

static enum sotto_status
make_mechanism(struct collector_place *place, const char *keys, const char *key,
               struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = NULL;
    enum sotto_status status = compose(&mechanism, err);
    status = HOST_THEN(status,
                       host_file_write(place->mechanism, 0600, true,
                                       mechanism->data, mechanism->size, err));
    status = HOST_THEN(status, sotto_key_generate(keys, NULL, err));
    status =
        HOST_THEN(status, sotto_sign_file(place->mechanism, key, NULL, err));
    status = HOST_THEN(status, simulate(place, mechanism, err));
    sotto_mechanism_free(mechanism);
    return status;
}

/* ---- The folder ---------------------------------------------------------- */

static enum sotto_status
make_folder(struct collector_place *place, const char *parent,
            struct sotto_error *err)
{
    const char *given = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe) */
    parent = parent != NULL                      ? parent
             : given != NULL && given[0] != '\0' ? given
                                                 : "/var/tmp";
    char *folder = host_text_path("%s/sotto-bench.XXXXXX", parent);
    if (folder == NULL) {
        return host_fail_memory(err);
    }
    if (mkdtemp(folder) == NULL) {
        free(folder);
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "no folder can be made in '%s': %s",
                         host_shown(parent), strerror(errno));
    }
    place->folder = folder;
    return SOTTO_STATUS_OK;
}

enum sotto_status
collector_place_init(struct collector_place *place, const char *parent,
                     struct sotto_error *err)
{
    char *keys = NULL, *key = NULL;
    *place = (struct collector_place){0};
    enum sotto_status status = make_folder(place, parent, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    place->mechanism =
        host_text_path("%s/" COLLECTOR_PLACE_CAMPAIGN ".sotto", place->folder);
    place->pub = host_text_path("%s/key.pub", place->folder);
    keys = host_text_path("%s/key", place->folder);
    key = host_text_path("%s/key.key", place->folder);
    status = place->mechanism != NULL && place->pub != NULL && keys != NULL &&
                     key != NULL
                 ? make_mechanism(place, keys, key, err)
                 : host_fail_memory(err);
    free(keys);
    free(key);
    return status;
}

/* The files of a folder; its folders stay. */
static void
remove_files(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        (void)unlinkat(dirfd(dir), entry->d_name, 0); /* . and .. stay */
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
}

/* A store has a folder of its own, with files. */
void
collector_place_clear(struct collector_place *place)
{
    DIR *dir = place->folder != NULL ? opendir(place->folder) : NULL;
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char *name = host_text_path("%s/%s", place->folder, entry->d_name);
        if (name != NULL && entry->d_name[0] != '.' && rmdir(name) != 0 &&
            errno == ENOTEMPTY) {
            remove_files(name);
            (void)rmdir(name);
        }
        free(name);
    }
    if (dir != NULL) {
        (void)closedir(dir);
        remove_files(place->folder);
        (void)rmdir(place->folder);
    }
    free(place->folder);
    free(place->mechanism);
    free(place->pub);
    free(place->reports);
    *place = (struct collector_place){0};
}

enum sotto_status
collector_place_store(const struct collector_place *place, const char *name,
                      char **ret_url, struct sotto_error *err)
{
    char *url = host_text_path("sqlite:%s/%s", place->folder, name);
    if (url == NULL) {
        return host_fail_memory(err);
    }
    *ret_url = url;
    return SOTTO_STATUS_OK;
}
