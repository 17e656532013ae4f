/*
 * experiment_base.c: the little that experiments share: how epsilons are
 * written, hashes, seeds, folders.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <sodium.h>

#include "data/dataset.h"
#include "experiment/experiment.h"
#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "table/gunzip.h"

#define FILE_MOST ((size_t)1 << 31)

/* 12 places, as budgets have them, without the noughts at the end. */
void
experiment_eps_text(double eps, char text[EXPERIMENT_EPS_SIZE])
{
    if (!isfinite(eps)) {
        (void)snprintf(text, EXPERIMENT_EPS_SIZE, "none");
        return;
    }
    int size = snprintf(text, EXPERIMENT_EPS_SIZE, "%.12f", eps);
    while (size > 0 && text[size - 1] == '0') {
        text[--size] = '\0';
    }
    if (size > 0 && text[size - 1] == '.') {
        text[--size] = '\0';
    }
}

void
experiment_hash(const void *data, size_t size,
                char ret_hash[EXPERIMENT_HASH_SIZE])
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    (void)crypto_hash_sha256(hash, data, size);
    (void)sodium_bin2hex(ret_hash, EXPERIMENT_HASH_SIZE, hash, sizeof hash);
}

enum sotto_status
experiment_hash_file(const char *path, char ret_hash[EXPERIMENT_HASH_SIZE],
                     struct sotto_error *err)
{
    uint8_t *data = NULL, *plain = NULL;
    size_t size = 0;
    enum sotto_status status =
        host_file_read(path, FILE_MOST, &data, &size, err);
    if (status == SOTTO_STATUS_OK && gunzip_detect(data, size)) {
        status = gunzip_bytes(data, size, FILE_MOST, path, &plain, &size, err);
    }
    if (status == SOTTO_STATUS_OK) {
        experiment_hash(plain != NULL ? plain : data, size, ret_hash);
    }
    free(plain);
    free(data);
    return status;
}

uint64_t
experiment_seed(const char *purpose, uint64_t seed, uint32_t trial,
                uint32_t draw, double eps)
{
    char text[160], eps_text[EXPERIMENT_EPS_SIZE];
    unsigned char hash[crypto_hash_sha256_BYTES];
    uint64_t result = 0;
    experiment_eps_text(eps, eps_text);
    (void)snprintf(text, sizeof text,
                   "%s seed %ju trial %ju draw %ju "
                   "eps %s",
                   purpose, (uintmax_t)seed, (uintmax_t)trial, (uintmax_t)draw,
                   eps_text);
    (void)crypto_hash_sha256(hash, (const unsigned char *)text, strlen(text));
    for (size_t i = 0; i < sizeof result; i++) {
        result = result << 8 | hash[i];
    }
    return result;
}

enum sotto_status
experiment_folder(const char *given, char **ret_folder, struct sotto_error *err)
{
    char *folder = NULL;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (given == NULL) {
        status = dataset_folder("experiments", &folder, err);
    } else if ((folder = host_text_copy(given, strlen(given))) == NULL) {
        status = host_fail_memory(err);
    }
    if (folder != NULL) {
        status = host_folder_make(folder, 0777, err);
    }
    if (status != SOTTO_STATUS_OK) {
        free(folder);
        return status;
    }
    *ret_folder = folder;
    return SOTTO_STATUS_OK;
}

enum sotto_status
experiment_lock(const char *folder, int *ret_lock, struct sotto_error *err)
{
    char *path = host_text_path("%s/%s", folder, "lock");
    if (path == NULL) {
        return host_fail_memory(err);
    }
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    int error = errno;
    free(path);
    if (lock < 0) {
        return host_fail(err, SOTTO_STATUS_IO, 0, "cannot write in '%s': %s",
                         host_shown(folder), strerror(error));
    }
    if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
        (void)close(lock);
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "another experiment is running in '%s': wait for it, "
                         "or name another folder",
                         host_shown(folder));
    }
    *ret_lock = lock;
    return SOTTO_STATUS_OK;
}
