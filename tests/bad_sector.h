/*
 * bad_sector.h: makes part of a file one that the disk does not give or take.
 * Tests that use it are linked with pread and pwrite wrapped.
 */
#ifndef SOTTO_TESTS_BAD_SECTOR_H
#define SOTTO_TESTS_BAD_SECTOR_H

#include <stddef.h>
#include <sys/types.h>

#define BAD_SECTORS 8u

/* From now on reading any of `size` bytes from `at` on, in whatever file is
   there under that name, fails with EIO; BAD_SECTORS at most. */
void bad_sector_reads(const char *path, off_t at, size_t size);
/* From now on the disk takes nothing. */
void bad_sector_writes(void);
/* All is well again. */
void bad_sector_none(void);

#endif
