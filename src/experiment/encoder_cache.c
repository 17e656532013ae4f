/*
 * encoder_cache.c: trained encoders by the hash of what decides them.
 *
 * The trainers write each file in one step, so a file that is there is whole;
 * of two, one may be missing after a crash, and then both are made again.
 */
#include "experiment/encoder_cache.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/experiment.h"
#include "host/error.h"
#include "host/file.h"
#include "host/text.h"

static char *
path_of(const char *folder, const char *hash, const char *ending)
{
    return host_text_path("%s/encoders/%.32s%s", folder, hash, ending);
}

enum sotto_status
encoder_files_init(struct encoder_files *files, const char *folder,
                   const char *configuration, struct sotto_error *err)
{
    char hash[EXPERIMENT_HASH_SIZE];
    enum sotto_status status;
    experiment_hash(configuration, strlen(configuration), hash);
    *files = (struct encoder_files){
        .mechanism = path_of(folder, hash, ".sotto"),
        .analyst = path_of(folder, hash, ".analyst"),
        .checkpoint = path_of(folder, hash, ".checkpoint"),
    };
    char *note = path_of(folder, hash, ".txt");
    char *encoders = host_text_path("%s/%s", folder, "encoders");
    if (files->mechanism == NULL || files->analyst == NULL ||
        files->checkpoint == NULL || note == NULL || encoders == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = host_folder_make(encoders, 0777, err);
    if (status == SOTTO_STATUS_OK && access(note, F_OK) != 0) {
        status = host_file_write(note, 0666, false, configuration,
                                 strlen(configuration), err);
    }
done:
    free(encoders);
    free(note);
    if (status != SOTTO_STATUS_OK) {
        encoder_files_clear(files);
    }
    return status;
}

void
encoder_files_clear(struct encoder_files *files)
{
    free(files->mechanism);
    free(files->analyst);
    free(files->checkpoint);
    memset(files, 0, sizeof *files);
}

bool
encoder_files_there(const struct encoder_files *files)
{
    return access(files->mechanism, R_OK) == 0 &&
           access(files->analyst, R_OK) == 0;
}
