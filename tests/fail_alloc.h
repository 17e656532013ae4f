/*
 * fail_alloc.h: makes the n-th allocation of a test fail. Tests that use it
 * are linked with the allocating functions and strdup wrapped.
 */
#ifndef SOTTO_TESTS_FAIL_ALLOC_H
#define SOTTO_TESTS_FAIL_ALLOC_H

/* The n-th allocation from now (from 1) fails, once; 0: none does. */
void fail_alloc_at(long n);
/* Allocations since the last call of fail_alloc_at. */
long fail_alloc_count(void);

#endif
