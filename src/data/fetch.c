/*
 * fetch.c: fetching a file from the network: a package through the program npm,
 * what is at an address through libcurl.
 *
 *     folder/  said        what npm printed
 *              *.tgz       npm's file, named by npm
 *              fetched     what was at the address
 *
 * npm works in the folder, reads nothing and prints to `said`. It is looked at
 * ten times a second, so that the caller can say stop, and so that it fetches
 * no more than can be used.
 */
#include "data/fetch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <curl/curl.h>

#include "data/source.h"
#include "host/error.h"
#include "host/text.h"

#define SAID_SHOWN ((size_t)240) /* characters of it in a message */
#define SAID "said"
#define FETCHED "fetched"
#define PAUSE 100000000 /* nanoseconds between two looks */
#define PATIENCE 30u    /* looks until one that was told to end is made to */

bool
fetch_is_address(const char *text)
{
    return strncasecmp(text, "http://", 7) == 0 ||
           strncasecmp(text, "https://", 8) == 0;
}

/* ---- Running a program -------------------------------------------------- */

static bool
prepare(const char *folder, posix_spawn_file_actions_t *actions,
        posix_spawnattr_t *attributes)
{
    sigset_t normal;
    (void)sigemptyset(&normal);
    (void)sigaddset(&normal, SIGPIPE);
    (void)sigaddset(&normal, SIGXFSZ);
    return posix_spawn_file_actions_addchdir_np(actions, folder) == 0 &&
           posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY,
                                            0) == 0 &&
           posix_spawn_file_actions_addopen(
               actions, 1, SAID, O_WRONLY | O_CREAT | O_APPEND, 0600) == 0 &&
           posix_spawn_file_actions_adddup2(actions, 1, 2) == 0 &&
           posix_spawnattr_setsigdefault(attributes, &normal) == 0 &&
           posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF) == 0;
}

/* Starts argv[0] in the folder; 0, or what kept it from starting. */
static int
start(char *const *argv, const char *folder, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = prepare(folder, &actions, &attributes)
                    ? posix_spawnp(ret_pid, argv[0], &actions, &attributes,
                                   argv, environ)
                    : ENOMEM;
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Bytes of all files in the folder. */
static uint64_t
measure_fetch(const char *folder)
{
    uint64_t size = 0;
    DIR *dir = opendir(folder);
    struct dirent *entry;
    struct stat about;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (fstatat(dirfd(dir), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) ==
                0 &&
            S_ISREG(about.st_mode)) {
            size += (uint64_t)about.st_size;
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return size;
}

static bool
is_going(const struct sotto_watch *watch, uint64_t size)
{
    return watch == NULL || watch->tick == NULL ||
           watch->tick(watch->context, "fetching", size, 0);
}

/*
 * Waits for the program's end, and says why it was told to end before that:
 * STOPPED, by the caller, or LIMIT. Ctrl-C in a terminal reaches the program
 * too, which may be gone first: so the caller is asked once more.
 */
static enum sotto_status
wait_for(pid_t pid, const char *folder, const struct sotto_watch *watch,
         int *ret_ended)
{
    const struct timespec pause = {0, PAUSE};
    enum sotto_status status = SOTTO_STATUS_OK;
    unsigned looks = 0;
    pid_t done = 0;
    while (done == 0 || (done < 0 && errno == EINTR)) {
        done = waitpid(pid, ret_ended, WNOHANG);
        if (done == 0) {
            (void)nanosleep(&pause, NULL);
        }
        if (status == SOTTO_STATUS_OK) {
            uint64_t size = measure_fetch(folder);
            status = !is_going(watch, size)    ? SOTTO_STATUS_STOPPED
                     : size > SOURCE_BYTES_MAX ? SOTTO_STATUS_LIMIT
                                               : SOTTO_STATUS_OK;
        }
        if (done == 0 && status != SOTTO_STATUS_OK) {
            (void)kill(pid, looks++ < PATIENCE ? SIGTERM : SIGKILL);
        }
    }
    if (done < 0) {
        *ret_ended = -1;
    }
    return status;
}

/* The beginning of what it said, on one line. */
static void
read_said(const char *folder, char text[SAID_SHOWN + 1])
{
    char *path = host_text_path("%s/%s", folder, SAID);
    FILE *file = path != NULL ? fopen(path, "rb") : NULL;
    size_t size = 0;
    if (file != NULL) {
        size = fread(text, 1, SAID_SHOWN, file);
        (void)fclose(file);
    }
    while (size > 0 && (unsigned char)text[size - 1] <= ' ') {
        size--;
    }
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)text[i] < ' ') {
            text[i] = ' ';
        }
    }
    text[size] = '\0';
    free(path);
}

static enum sotto_status
fail_start(const char *program, const char *what, int error,
           struct sotto_error *err)
{
    if (error == ENOENT) {
        return host_remedy(
            host_fail(err, SOTTO_STATUS_IO, 0,
                      "fetching %s needs the program %s, which is not "
                      "here: install it (Debian's package %s), or give "
                      "the file or folder yourself",
                      what, program, program),
            err, "from");
    }
    return host_fail(err, SOTTO_STATUS_IO, 0, "cannot start %s: %s", program,
                     strerror(error));
}

/* Runs a program to its end; `what` is what it fetches. */
static enum sotto_status
run_fetch(char *const *argv, const char *what, const char *folder,
          const struct sotto_watch *watch, struct sotto_error *err)
{
    char said[SAID_SHOWN + 1];
    pid_t pid = 0;
    int ended = 0;
    int error = start(argv, folder, &pid);
    if (error != 0) {
        return fail_start(argv[0], what, error, err);
    }
    enum sotto_status status = wait_for(pid, folder, watch, &ended);
    if (status == SOTTO_STATUS_STOPPED) {
        return host_fail(err, status, 0, "stopped while fetching %s", what);
    }
    if (status == SOTTO_STATUS_LIMIT) {
        return host_fail(err, status, 0, "%s is more than %zu bytes", what,
                         SOURCE_BYTES_MAX);
    }
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0) {
        return SOTTO_STATUS_OK;
    }
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == 127) {
        return fail_start(argv[0], what, ENOENT, err);
    }
    read_said(folder, said);
    return host_remedy(
        host_fail(err, SOTTO_STATUS_IO, 0,
                  "%s could not fetch %s: %s; a file or folder from "
                  "elsewhere can be given",
                  argv[0], what, said[0] != '\0' ? said : "it said nothing"),
        err, "from");
}

/* ---- A package ---------------------------------------------------------- */

/* The .tgz file in the folder; NULL if there is none, or no memory. */
static char *
find_package(const char *folder)
{
    char *path = NULL;
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir != NULL && path == NULL && (entry = readdir(dir)) != NULL) {
        size_t size = strlen(entry->d_name);
        if (size > 4 && strcmp(entry->d_name + size - 4, ".tgz") == 0) {
            path = host_text_path("%s/%s", folder, entry->d_name);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return path;
}

enum sotto_status
fetch_package(const char *package, const char *folder,
              const struct sotto_watch *watch, char **ret_path,
              struct sotto_error *err)
{
    char program[] = "npm", pack[] = "pack", scripts[] = "--ignore-scripts";
    char quiet[] = "--loglevel=error",
         *name = host_text_copy(package, strlen(package));
    char *argv[] = {program, pack, scripts, quiet, name, NULL};
    if (name == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status = run_fetch(argv, package, folder, watch, err);
    free(name);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    char *path = find_package(folder);
    if (path == NULL) {
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "npm pack %s left no .tgz file", package);
    }
    *ret_path = path;
    return SOTTO_STATUS_OK;
}

/* ---- What is at an address ----------------------------------------------- */

struct download {
    FILE *to;
    const struct sotto_watch *watch;
    size_t done, most;
    enum sotto_status ended; /* why it was ended early; OK: it was not */
};

static size_t
take_bytes(char *data, size_t one, size_t size, void *context)
{
    struct download *download = context;
    (void)one;
    if (size > download->most - download->done) {
        download->ended = SOTTO_STATUS_LIMIT;
        return 0;
    }
    download->done += size;
    return fwrite(data, 1, size, download->to);
}

static int
watch_bytes(void *context, curl_off_t all, curl_off_t done, curl_off_t up_all,
            curl_off_t up)
{
    struct download *download = context;
    (void)all;
    (void)done;
    (void)up_all;
    (void)up;
    if (!is_going(download->watch, download->done)) {
        download->ended = SOTTO_STATUS_STOPPED;
    }
    return download->ended != SOTTO_STATUS_OK;
}

static CURLcode
prepare_transfer(CURL *easy, const char *address, struct download *download,
                 char *why)
{
    const CURLcode set[] = {
        curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, why),
        curl_easy_setopt(easy, CURLOPT_URL, address),
        curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https"),
        curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L),
        curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https"),
        curl_easy_setopt(easy, CURLOPT_MAXREDIRS, 50L),
        curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L),
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L),
        curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L),
        curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE,
                         (curl_off_t)download->most),
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes),
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, download),
        curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, watch_bytes),
        curl_easy_setopt(easy, CURLOPT_XFERINFODATA, download)};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        if (set[i] != CURLE_OK) {
            return set[i];
        }
    }
    return CURLE_OK;
}

static enum sotto_status
fail_transfer(const char *address, const struct download *download,
              CURLcode said, const char *why, struct sotto_error *err)
{
    if (said == CURLE_OUT_OF_MEMORY) {
        return host_fail_memory(err);
    }
    if (download->ended == SOTTO_STATUS_STOPPED) {
        return host_fail(err, SOTTO_STATUS_STOPPED, 0,
                         "stopped while fetching %s", host_shown(address));
    }
    if (download->ended == SOTTO_STATUS_LIMIT ||
        said == CURLE_FILESIZE_EXCEEDED) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "%s is more than %zu bytes", host_shown(address),
                         download->most);
    }
    return host_remedy(
        host_fail(err, SOTTO_STATUS_IO, 0,
                  "could not fetch %s: %.200s; a file or folder from "
                  "elsewhere can be given",
                  host_shown(address),
                  why[0] != '\0' ? why : curl_easy_strerror(said)),
        err, "from");
}

enum sotto_status
fetch_address(const char *address, const char *folder, size_t most,
              const struct sotto_watch *watch, char **ret_path,
              struct sotto_error *err)
{
    struct download download = {.watch = watch, .most = most};
    char why[CURL_ERROR_SIZE] = "";
    char *path = host_text_path("%s/%s", folder, FETCHED);
    CURL *easy = curl_easy_init();
    enum sotto_status status = SOTTO_STATUS_OK;
    if (path == NULL || easy == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    download.to = fopen(path, "wbx");
    if (download.to == NULL) {
        status = host_fail(err, SOTTO_STATUS_IO, 0, "cannot write '%s': %s",
                           host_shown(path), strerror(errno));
        goto done;
    }
    CURLcode said = prepare_transfer(easy, address, &download, why);
    said = said == CURLE_OK ? curl_easy_perform(easy) : said;
    if (fclose(download.to) != 0 && said == CURLE_OK) {
        said = CURLE_WRITE_ERROR;
    }
    if (said != CURLE_OK) {
        status = fail_transfer(address, &download, said, why, err);
        goto done;
    }
    *ret_path = path;
    path = NULL;
done:
    curl_easy_cleanup(easy);
    free(path);
    return status;
}
