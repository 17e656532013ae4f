/*
 * smaller_probe.c: opens mechanisms of the fuzz corpus, which lie behind one
 * byte, and prints what the device says of each; compiled together with the
 * trusted sources alone.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sotto/client.h"

int
sotto_entropy(void *buffer, size_t size)
{
    (void)buffer;
    (void)size;
    return -1;
}

static void
try_file(const char *path)
{
    static uint64_t data[1 << 16], workspace[1 << 20];
    struct sotto_error err;
    const char *said = err.message;
    struct sotto_client *client = NULL;
    FILE *file = fopen(path, "rb");
    size_t size;
    if (file == NULL || fgetc(file) == EOF) {
        exit(EXIT_FAILURE);
    }
    size = fread(data, 1, sizeof data, file);
    (void)fclose(file);
    if (sotto_client_open(data, size, NULL, workspace, sizeof workspace,
                          &client, &err) == SOTTO_STATUS_OK) {
        said = "opened";
    }
    (void)printf("%s\n", said);
}

int
main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        try_file(argv[i]);
    }
    return EXIT_SUCCESS;
}
