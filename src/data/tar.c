/*
 * tar.c: the files in a tar archive in memory, one after another.
 *
 *     header, 512 bytes | content, filled up to a multiple of 512 | ... | zeros
 *
 *     0 name  100 mode ...  124 size  136 time  148 sum  156 type  157 ...
 *
 * Every header's sum is checked. Nothing is written anywhere and no path is
 * followed, so what an archive names can do no harm.
 */
#include "data/tar.h"

#include <string.h>

#include "host/error.h"

#define BLOCK ((size_t)512)
#define NAME_SIZE ((size_t)100)
#define SIZE_AT 124u
#define SIZE_SIZE 12u
#define SUM_AT 148u
#define SUM_SIZE 8u
#define TYPE_AT 156u

/* An octal number after blanks, ended by a blank, a NUL or the field. */
static bool
read_octal(const uint8_t *field, size_t size, uint64_t *ret_number)
{
    uint64_t number = 0;
    size_t at = 0;
    while (at < size && field[at] == ' ') {
        at++;
    }
    size_t first = at;
    while (at < size && field[at] >= '0' && field[at] <= '7') {
        number = 8 * number + (uint64_t)(field[at++] - '0');
    }
    if (at == first || (at < size && field[at] != ' ' && field[at] != '\0')) {
        return false;
    }
    *ret_number = number;
    return true;
}

/* The sum of a header's bytes, its own field taken as blanks. */
static bool
sum_right(const uint8_t *header)
{
    uint64_t stated, sum = 0;
    for (size_t i = 0; i < BLOCK; i++) {
        sum += i >= SUM_AT && i < SUM_AT + SUM_SIZE ? ' ' : header[i];
    }
    return read_octal(header + SUM_AT, SUM_SIZE, &stated) && stated == sum;
}

bool
tar_detect(const uint8_t *bytes, size_t size)
{
    return size >= BLOCK && sum_right(bytes);
}

static bool
is_zero(const uint8_t *header)
{
    uint8_t any = 0;
    for (size_t i = 0; i < BLOCK; i++) {
        any |= header[i];
    }
    return any == 0;
}

/* Links, devices and folders have no content, whatever their size says. */
static bool
has_content(uint8_t type)
{
    return type < '1' || type > '6';
}

static bool
is_file(uint8_t type)
{
    return type == '0' || type == '\0' || type == '7';
}

/*
 * The record "path" of a pax header, whose records are "SIZE KEY=VALUE\n" with
 * the size of the whole record; the last one counts. False: malformed.
 */
static bool
read_pax(struct tar *tar, const char *text, size_t size)
{
    static const char key[] = "path=";
    size_t key_size = sizeof key - 1;
    while (size > 0) {
        size_t length = 0, at = 0;
        while (at < size && text[at] >= '0' && text[at] <= '9' &&
               length <= size) {
            length = 10 * length + (size_t)(text[at++] - '0');
        }
        if (at == 0 || length > size || length < at + 2 || text[at] != ' ' ||
            text[length - 1] != '\n') {
            return false;
        }
        at++;
        if (length - 1 - at >= key_size &&
            memcmp(text + at, key, key_size) == 0) {
            tar->long_name = text + at + key_size;
            tar->long_size = length - 1 - at - key_size;
        }
        text += length;
        size -= length;
    }
    return true;
}

/* What is behind the last slash of a path. */
static void
put_base(const char *path, size_t size, struct tar_file *file)
{
    size_t at = size;
    while (at > 0 && path[at - 1] != '/') {
        at--;
    }
    file->base = path + at;
    file->base_size = size - at;
}

/* An entry that says something about the next one, or nothing of use. */
static bool
read_other(struct tar *tar, uint8_t type, const char *text, size_t size)
{
    if (type == 'x') {
        return read_pax(tar, text, size);
    }
    if (type == 'L') {
        tar->long_name = text;
        tar->long_size = strnlen(text, size);
    } else if (type != 'g' && type != 'K') {
        tar->long_name = NULL;
    }
    return true;
}

/* Checks the header at `at` and that its content is there. */
static enum sotto_status
read_header(const struct tar *tar, size_t *ret_size, struct sotto_error *err)
{
    const uint8_t *header = tar->bytes + tar->at;
    size_t left = tar->size - tar->at - BLOCK;
    uint64_t size = 0;
    if (!sum_right(header)) {
        return host_fail(err, SOTTO_STATUS_INPUT, tar->at,
                         "%s: the tar archive is damaged at byte %zu: fetch "
                         "or make it again",
                         tar->name, tar->at);
    }
    if (has_content(header[TYPE_AT]) &&
        (!read_octal(header + SIZE_AT, SIZE_SIZE, &size) || size > left)) {
        return host_fail(err, SOTTO_STATUS_INPUT, tar->at + SIZE_AT,
                         "%s: the tar archive is cut short, or a file in it "
                         "is too large: fetch or make it again",
                         tar->name);
    }
    *ret_size = (size_t)size;
    return SOTTO_STATUS_OK;
}

enum sotto_status
tar_next(struct tar *tar, struct tar_file *ret_file, bool *ret_found,
         struct sotto_error *err)
{
    while (tar->size - tar->at >= BLOCK && !is_zero(tar->bytes + tar->at)) {
        const uint8_t *header = tar->bytes + tar->at;
        const uint8_t *content = header + BLOCK;
        size_t size = 0;
        enum sotto_status status = read_header(tar, &size, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        size_t left = tar->size - tar->at - BLOCK;
        size_t filled = (size + BLOCK - 1) / BLOCK * BLOCK;
        tar->at += BLOCK + (filled < left ? filled : left);
        if (is_file(header[TYPE_AT])) {
            const char *name = (const char *)header;
            struct tar_file file = {.data = content, .size = size};
            if (tar->long_name != NULL) {
                put_base(tar->long_name, tar->long_size, &file);
            } else {
                put_base(name, strnlen(name, NAME_SIZE), &file);
            }
            tar->long_name = NULL;
            *ret_file = file;
            *ret_found = true;
            return SOTTO_STATUS_OK;
        }
        if (!read_other(tar, header[TYPE_AT], (const char *)content, size)) {
            return host_fail(err, SOTTO_STATUS_INPUT,
                             (size_t)(content - tar->bytes),
                             "%s: the tar archive has a malformed pax header "
                             "at byte %zu: fetch or make it again",
                             tar->name, (size_t)(content - tar->bytes));
        }
    }
    *ret_found = false;
    return SOTTO_STATUS_OK;
}
