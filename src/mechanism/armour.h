/*
 * armour.h: the text around minisign's binary structures: comment lines and
 * base64 lines, read strictly.
 *
 *     untrusted comment: anything           one comment line
 *     RWQoE5MKgqXtDh4i9eZk...               one line, the bytes in base64
 */
#ifndef SOTTO_MECHANISM_ARMOUR_H
#define SOTTO_MECHANISM_ARMOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARMOUR_UNTRUSTED "untrusted comment: "
#define ARMOUR_TRUSTED "trusted comment: "
#define ARMOUR_UNTRUSTED_MAX ((size_t)1024) /* minisign's line limits, with */
#define ARMOUR_TRUSTED_MAX ((size_t)8192)   /* the prefix and a NUL */

/* A text being read. The caller sets the first three and zeroes `at`. */
struct armour {
    const char *text; /* not terminated */
    size_t size;
    bool mailed; /* keys get mailed and pasted: allow CR LF, and no line break
                    at the very end */
    size_t at;   /* how far it has been read, for messages */
};

/*
 * Reads a line `prefix`, then a comment; the whole is shorter than `max`
 * bytes. The comment stays in the text. False: it is not there, or too long,
 * or holds a NUL.
 */
bool armour_comment(struct armour *armour, const char *prefix, size_t max,
                    const char **ret_comment, size_t *ret_size);
/*
 * Reads a line that is the base64 of exactly `size` bytes, in the one
 * spelling there is for them. False: it is not; `bytes` then holds nothing
 * to be used.
 */
bool armour_bytes(struct armour *armour, uint8_t *bytes, size_t size);
/* Whether all has been read. */
bool armour_at_end(const struct armour *armour);

#endif
