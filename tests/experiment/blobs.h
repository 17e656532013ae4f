/*
 * blobs.h: a small set of pictures in MNIST's layout: ten classes, each a
 * disc in a place of its own.
 */
#ifndef SOTTO_TESTS_BLOBS_H
#define SOTTO_TESTS_BLOBS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static inline void
blobs_number(FILE *to, unsigned number)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        (void)fputc((int)(number >> shift & 255), to);
    }
}

/* Classes go round, 7 apart, so that every share of the rows has them all. */
static inline void
blobs_image(FILE *to, unsigned row)
{
    int label = (int)(row * 7 % 10);
    int cx = 5 + 6 * (label % 4), cy = 5 + 8 * (label / 4);
    for (int y = 0; y < 28; y++) {
        for (int x = 0; x < 28; x++) {
            int inside = (x - cx) * (x - cx) + (y - cy) * (y - cy) < 16;
            int noise = (int)((row * 31u + (unsigned)(x * 7 + y * 13)) % 90);
            (void)fputc(inside != 0 ? 160 + noise : 0, to);
        }
    }
}

/* FOLDER/KIND-images-idx3-ubyte and -labels-idx1-ubyte; 0 if written. */
static inline int
blobs_pair(const char *folder, const char *kind, unsigned count)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s-images-idx3-ubyte", folder, kind);
    FILE *images = fopen(path, "wb");
    (void)snprintf(path, sizeof path, "%s/%s-labels-idx1-ubyte", folder, kind);
    FILE *labels = fopen(path, "wb");
    if (images == NULL || labels == NULL) {
        return -1;
    }
    blobs_number(images, 0x803);
    blobs_number(images, count);
    blobs_number(images, 28);
    blobs_number(images, 28);
    blobs_number(labels, 0x801);
    blobs_number(labels, count);
    for (unsigned i = 0; i < count; i++) {
        blobs_image(images, i);
        (void)fputc((int)(i * 7 % 10), labels);
    }
    return fclose(images) + fclose(labels);
}

static inline int
blobs_write(const char *folder, unsigned train, unsigned test)
{
    return blobs_pair(folder, "train", train) +
           blobs_pair(folder, "t10k", test);
}

#endif
