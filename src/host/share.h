/*
 * share.h: a share as a percentage for people, rounded to the side that keeps
 * a bound true.
 */
#ifndef SOTTO_HOST_SHARE_H
#define SOTTO_HOST_SHARE_H

#include <stdint.h>

#define SHARE_TEXT_SIZE 48u

/* Writes a share of at most 10^12 units of 10^-12, such as "73.2%": from 10% on
   with one place, from 1%, 0.1% and 0.01% with one more each, below with
   five, and none at all as "0%". Rounded up; down. */
void share_write_most(uint64_t units, char text[SHARE_TEXT_SIZE]);
void share_write_least(uint64_t units, char text[SHARE_TEXT_SIZE]);

#endif
