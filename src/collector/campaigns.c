/*
 * campaigns.c: reading the signed mechanisms of a collector.
 */
#include "collector/campaigns.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "mechanism/minisign.h"

#define SUFFIX ".sotto"
#define SUFFIX_SIZE (sizeof SUFFIX - 1)
#define KEY_MOST ((size_t)65536) /* bytes of a file with a public key */

/* Whether a text can name a campaign: 1 to CAMPAIGNS_NAME_MOST letters, digits,
   - and _. */
static bool
is_name(const char *name, size_t size)
{
    bool good = size > 0 && size <= CAMPAIGNS_NAME_MOST;
    for (size_t i = 0; good && i < size; i++) {
        char c = name[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               (c >= '0' && c <= '9') || c == '-' || c == '_';
    }
    return good;
}

/* ---- One file ------------------------------------------------------------ */

/* The signature's text; verified against the bytes in memory once more, for
   the file may have changed since. */
static enum sotto_status
read_signature(struct campaign *campaign, const char *path, const char *pub,
               struct sotto_error *err)
{
    const struct sotto_mechanism *mechanism = campaign->mechanism;
    uint8_t *key = NULL;
    size_t key_size = 0;
    enum sotto_status status;
    char *name = host_text_path("%s" MINISIGN_SUFFIX, path);
    if (name == NULL) {
        return host_fail_memory(err);
    }
    status = host_file_read(name, MINISIGN_TEXT_MAX, &campaign->signature,
                            &campaign->signature_size, err);
    status =
        HOST_THEN(status, host_file_read(pub, KEY_MOST, &key, &key_size, err));
    status = HOST_THEN(status,
                       minisign_verify(mechanism->data, mechanism->size,
                                       (const char *)campaign->signature,
                                       campaign->signature_size,
                                       (const char *)key, key_size, NULL, err));
    free(key);
    free(name);
    return status;
}

/* What plan foretold of this budget, if it lies beside the mechanism. */
static enum sotto_status
read_plan(struct campaign *campaign, const char *path, struct sotto_error *err)
{
    struct sotto_mechanism_info info;
    enum sotto_status status = SOTTO_STATUS_OK;
    char *name =
        host_text_path("%.*s.plan", (int)(strlen(path) - SUFFIX_SIZE), path);
    if (name == NULL) {
        return host_fail_memory(err);
    }
    if (access(name, F_OK) == 0) {
        sotto_mechanism_info(campaign->mechanism, &info);
        status = sotto_results_plan(name, info.eps, &campaign->accuracy,
                                    &campaign->accuracies, err);
    }
    free(name);
    return status;
}

static enum sotto_status
read_campaign(struct campaigns *campaigns, const char *path, const char *name,
              size_t name_size, const char *pub, struct sotto_error *err)
{
    struct campaign *campaign;
    enum sotto_status status;
    if (!is_name(name, name_size)) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "'%s' names no campaign: a name has 1 to %zu letters, "
                         "digits, - and _, and .sotto behind it",
                         host_shown(path), CAMPAIGNS_NAME_MOST);
    }
    if (campaigns->count == CAMPAIGNS_MOST) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "there are more than %zu mechanisms; a collector "
                         "takes no more",
                         CAMPAIGNS_MOST);
    }
    campaign = &campaigns->campaign[campaigns->count++];
    campaign->name = host_text_copy(name, name_size);
    if (campaign->name == NULL) {
        return host_fail_memory(err);
    }
    status = sotto_mechanism_read_verified(path, pub, NULL,
                                           &campaign->mechanism, err);
    status =
        HOST_THEN(status, sotto_mechanism_check_sent(campaign->mechanism, err));
    status = HOST_THEN(status, read_signature(campaign, path, pub, err));
    status = HOST_THEN(status, read_plan(campaign, path, err));
    return status;
}

/* ---- All of them --------------------------------------------------------- */

/* The name that a file gives its campaign: what is between the last slash and
   .sotto; 0: it has another ending. */
static size_t
name_size(const char *file)
{
    size_t size = strlen(file);
    bool ends =
        size >= SUFFIX_SIZE && strcmp(file + size - SUFFIX_SIZE, SUFFIX) == 0;
    return ends ? size - SUFFIX_SIZE : 0;
}

static enum sotto_status
read_folder(struct campaigns *campaigns, DIR *folder, const char *path,
            const char *pub, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (struct dirent *entry = readdir(folder);
         status == SOTTO_STATUS_OK && entry != NULL; entry = readdir(folder)) {
        size_t size = name_size(entry->d_name);
        if (size > 0 && entry->d_name[0] != '.') {
            char *file = host_text_path("%s/%s", path, entry->d_name);
            status = file == NULL
                         ? host_fail_memory(err)
                         : read_campaign(campaigns, file, entry->d_name, size,
                                         pub, err);
            free(file);
        }
    }
    return status;
}

static enum sotto_status
read_all(struct campaigns *campaigns, const char *path, const char *pub,
         struct sotto_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    struct stat stat_of;
    enum sotto_status status;
    DIR *folder;
    if (stat(path, &stat_of) != 0) {
        return host_fail(err, SOTTO_STATUS_IO, 0, "cannot read '%s': %s",
                         host_shown(path), strerror(errno));
    }
    if (!S_ISDIR(stat_of.st_mode)) {
        return read_campaign(campaigns, path, name, name_size(name), pub, err);
    }
    folder = opendir(path);
    if (folder == NULL) {
        return host_fail(err, SOTTO_STATUS_IO, 0, "cannot read '%s': %s",
                         host_shown(path), strerror(errno));
    }
    status = read_folder(campaigns, folder, path, pub, err);
    (void)closedir(folder);
    if (status == SOTTO_STATUS_OK && campaigns->count == 0) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "'%s' holds no mechanism: put NAME.sotto and "
                           "NAME.sotto.minisig there",
                           host_shown(path));
    }
    return status;
}

static int
compare_names(const void *a, const void *b)
{
    return strcmp(((const struct campaign *)a)->name,
                  ((const struct campaign *)b)->name);
}

static bool
same_mechanism(const struct campaign *a, const struct campaign *b)
{
    return memcmp(a->mechanism->shape.hash, b->mechanism->shape.hash,
                  SOTTO_HASH_SIZE) == 0;
}

static enum sotto_status
check_different(const struct campaigns *campaigns, struct sotto_error *err)
{
    for (size_t i = 0; i < campaigns->count; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct campaign *a = &campaigns->campaign[j];
            const struct campaign *b = &campaigns->campaign[i];
            if (same_mechanism(a, b)) {
                return host_fail(err, SOTTO_STATUS_INPUT, 0,
                                 "'%s' and '%s' are the same mechanism under "
                                 "two names; remove one",
                                 a->name, b->name);
            }
        }
    }
    return SOTTO_STATUS_OK;
}

static struct campaigns *
make_campaigns(size_t room)
{
    struct campaigns *campaigns = calloc(1, sizeof *campaigns);
    if (campaigns != NULL) {
        atomic_init(&campaigns->holders, 1);
        campaigns->campaign = calloc(room, sizeof *campaigns->campaign);
        if (campaigns->campaign == NULL) {
            free(campaigns);
            campaigns = NULL;
        }
    }
    return campaigns;
}

enum sotto_status
campaigns_read(const char *path, const char *pub,
               struct campaigns **ret_campaigns, struct sotto_error *err)
{
    struct campaigns *campaigns = make_campaigns(CAMPAIGNS_MOST);
    enum sotto_status status;
    if (campaigns == NULL) {
        return host_fail_memory(err);
    }
    status = read_all(campaigns, path, pub, err);
    if (status == SOTTO_STATUS_OK) {
        qsort(campaigns->campaign, campaigns->count,
              sizeof *campaigns->campaign, compare_names);
        status = check_different(campaigns, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_campaigns = campaigns;
    } else {
        campaigns_release(campaigns);
    }
    return status;
}

enum sotto_status
campaigns_from(const char *name, struct sotto_mechanism *mechanism,
               const char *signature, struct campaigns **ret_campaigns,
               struct sotto_error *err)
{
    struct campaigns *campaigns = NULL;
    struct campaign *campaign;
    enum sotto_status status = sotto_mechanism_check_sent(mechanism, err);
    if (status == SOTTO_STATUS_OK) {
        campaigns = make_campaigns(1);
        status = campaigns != NULL ? status : host_fail_memory(err);
    }
    if (status != SOTTO_STATUS_OK) {
        sotto_mechanism_free(mechanism);
        return status;
    }
    campaign = campaigns->campaign;
    campaigns->count = 1;
    campaign->mechanism = mechanism;
    campaign->name = host_text_copy(name, strlen(name));
    campaign->signature = host_text_copy(signature, strlen(signature));
    campaign->signature_size = strlen(signature);
    if (campaign->name == NULL || campaign->signature == NULL) {
        campaigns_release(campaigns);
        return host_fail_memory(err);
    }
    *ret_campaigns = campaigns;
    return SOTTO_STATUS_OK;
}

/* ---- One behind the other ------------------------------------------------ */

static enum sotto_status
check_names(const struct campaigns *now, const struct campaigns *next,
            struct sotto_error *err)
{
    for (size_t i = 0; i < next->count; i++) {
        const struct campaign *after = &next->campaign[i];
        const uint8_t *before =
            campaigns_find_hash(now, after->name, strlen(after->name));
        if (before != NULL && memcmp(before, after->mechanism->shape.hash,
                                     SOTTO_HASH_SIZE) != 0) {
            return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                             "'%s' is another mechanism than before: devices "
                             "that fetch one name must get one mechanism; give "
                             "the new one a name of its own",
                             after->name);
        }
    }
    return SOTTO_STATUS_OK;
}

static const struct campaigns_past *
find_past(const struct campaigns *campaigns, const char *name, size_t size)
{
    for (size_t i = 0; campaigns->past != NULL && i < campaigns->pasts; i++) {
        const struct campaigns_past *past = &campaigns->past[i];
        if (strlen(past->name) == size && memcmp(past->name, name, size) == 0) {
            return past;
        }
    }
    return NULL;
}

enum sotto_status
campaigns_follow(const struct campaigns *now, struct campaigns *next,
                 struct sotto_error *err)
{
    enum sotto_status status = check_names(now, next, err);
    struct campaigns_past *past;
    size_t count = now->pasts;
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    past = calloc(now->pasts + now->count, sizeof *past);
    if (past == NULL) {
        return host_fail_memory(err);
    }
    if (now->past != NULL) {
        memcpy(past, now->past, count * sizeof *past);
    }
    for (size_t i = 0; i < now->count; i++) {
        const struct campaign *one = &now->campaign[i];
        size_t size = strlen(one->name);
        const uint8_t *hash = campaigns_find_hash(now, one->name, size);
        if (hash != NULL && find_past(now, one->name, size) == NULL) {
            memcpy(past[count].name, one->name, size);
            memcpy(past[count++].hash, hash, SOTTO_HASH_SIZE);
        }
    }
    free(next->past);
    next->past = past;
    next->pasts = count;
    return SOTTO_STATUS_OK;
}

/* ---- Holding ------------------------------------------------------------- */

struct campaigns *
campaigns_hold(struct campaigns *campaigns)
{
    atomic_fetch_add_explicit(&campaigns->holders, 1, memory_order_relaxed);
    return campaigns;
}

void
campaigns_release(struct campaigns *campaigns)
{
    if (campaigns == NULL ||
        atomic_fetch_sub_explicit(&campaigns->holders, 1,
                                  memory_order_acq_rel) != 1) {
        return;
    }
    for (size_t i = 0; i < campaigns->count; i++) {
        struct campaign *campaign = &campaigns->campaign[i];
        free(campaign->name);
        sotto_mechanism_free(campaign->mechanism);
        free(campaign->signature);
        free(campaign->accuracy);
    }
    free(campaigns->campaign);
    free(campaigns->past);
    free(campaigns);
}

struct campaign *
campaigns_find(const struct campaigns *campaigns, const char *name, size_t size)
{
    for (size_t i = 0; i < campaigns->count; i++) {
        struct campaign *campaign = &campaigns->campaign[i];
        if (strlen(campaign->name) == size &&
            memcmp(campaign->name, name, size) == 0) {
            return campaign;
        }
    }
    return NULL;
}

const uint8_t *
campaigns_find_hash(const struct campaigns *campaigns, const char *name,
                    size_t size)
{
    const struct campaign *campaign = campaigns_find(campaigns, name, size);
    const struct campaigns_past *past = find_past(campaigns, name, size);
    if (campaign != NULL) {
        return campaign->mechanism->shape.hash;
    }
    return past != NULL ? past->hash : NULL;
}
