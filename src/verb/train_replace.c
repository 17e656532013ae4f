/*
 * train_replace.c: sotto train over a file that is there.
 *
 * Reports name the mechanism that made them by its hash, and only its own file
 * reads them: a mechanism that is gone takes its reports with it. So train
 * writes over nothing unless --force says so. A signature is of the bytes it
 * was made for: beside another mechanism it is removed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output_file.h"
#include "host/text.h"
#include "verb/train_kinds.h"

#define SIGNATURE ".minisig"
#define TITLE_MOST 120u /* characters, docs/format.md */

int
train_check_replace(const struct cli_args *args, const char *path)
{
    if (cli_given(args, "force") || !output_file_written(path)) {
        return CLI_EXIT_DONE;
    }
    return cli_bad("'%.240s' is there already, and reports that were made with "
                   "it cannot be read without it: choose another name, or say "
                   "--force to replace it",
                   path);
}

void
train_read_hash(const char *path, char ret_hash[TRAIN_HASH_SIZE])
{
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_mechanism_info info;
    struct sotto_error err = {0};
    ret_hash[0] = '\0';
    if (output_file_written(path) &&
        sotto_mechanism_read(path, &mechanism, &err) == SOTTO_STATUS_OK) {
        sotto_mechanism_info(mechanism, &info);
        (void)snprintf(ret_hash, TRAIN_HASH_SIZE, "%s", info.hash);
        sotto_mechanism_free(mechanism);
    }
}

int
train_remove_signature(const char *path, const char old[TRAIN_HASH_SIZE])
{
    char hash[TRAIN_HASH_SIZE];
    char *name = host_text_path("%s" SIGNATURE, path);
    int status = CLI_EXIT_DONE;
    if (name == NULL) {
        return cli_no_memory();
    }
    train_read_hash(path, hash);
    if (output_file_written(name) && strcmp(hash, old) != 0) {
        if (unlink(name) == 0) {
            cli_note("removed '%.240s', the signature of an older mechanism: "
                     "sign the new one",
                     name);
        } else {
            cli_error("'%.240s' is the signature of an older mechanism, and it "
                      "cannot be removed: %s",
                      name, strerror(errno));
            status = CLI_EXIT_FAILED;
        }
    }
    free(name);
    return status;
}

/* Whether a title of a mechanism may hold the character. */
static bool
is_titled(char c)
{
    return c >= 0x20 && c <= 0x7e && c != '"' && c != '\\';
}

char *
train_stem(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t size = strlen(name), tail = strlen(".sotto");
    if (size > tail && strcmp(name + size - tail, ".sotto") == 0) {
        size -= tail;
    }
    char *stem = host_text_copy(name, size <= TITLE_MOST ? size : TITLE_MOST);
    for (char *at = stem; at != NULL && *at != '\0'; at++) {
        if (!is_titled(*at)) {
            *at = '_';
        }
    }
    return stem;
}
