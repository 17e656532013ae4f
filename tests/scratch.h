/*
 * scratch.h: a folder of its own for each test that writes files.
 */
#ifndef SOTTO_TESTS_SCRATCH_H
#define SOTTO_TESTS_SCRATCH_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64];

/* Makes the folder; -1 if it cannot be made, as a cmocka set-up returns. */
static inline int
scratch_make(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/sotto-test.XXXXXX");
    return mkdtemp(folder) == NULL ? -1 : 0;
}

/* Removes it with all that is in it; 0, as a cmocka tear-down returns. */
static inline int
scratch_remove(void)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* The two as cmocka calls them. */
static inline int
scratch_set_up(void **state)
{
    (void)state;
    return scratch_make();
}

static inline int
scratch_tear_down(void **state)
{
    (void)state;
    return scratch_remove();
}

/* FOLDER/name; valid until the eighth call after it. */
static inline const char *
in_folder(const char *name)
{
    static char paths[8][512];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* How many files the folder holds, temporary ones and all; -1: no folder. */
static inline int
entries(void)
{
    int count = 0;
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        return -1;
    }
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    }
    (void)closedir(dir);
    return count;
}

#endif
