/*
 * minisign.c: signatures in minisign's format.
 *
 *     untrusted comment: anything, not covered by any signature
 *     base64 of "ED", key id (8), signature of BLAKE2b-512(data) (64)
 *     trusted comment: text
 *     base64 of the signature of (signature (64), text) (64)
 *
 * Every byte but the untrusted comment's is either fixed or covered: the
 * second signature ties the comment to the first, so a comment cannot be
 * moved to another file. Base64 has one spelling per content, and nothing may
 * follow: a signature cannot be changed and stay valid.
 */
#include "mechanism/minisign.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>

#include "host/error.h"
#include "host/file.h"
#include "host/printable.h"
#include "host/text.h"
#include "host/utf8.h"
#include "mechanism/armour.h"
#include "sotto/sotto.h"

#define PREHASHED "ED"
#define LEGACY "Ed"
#define TAG_SIZE ((size_t)2)
#define HASH_SIZE ((size_t)64)
#define SIGNATURE_SIZE ((size_t)64)
#define COMMENT_MAX (ARMOUR_TRUSTED_MAX - sizeof ARMOUR_TRUSTED)
#define BASE64_SIZE(bytes)                                                     \
    sodium_base64_ENCODED_LEN(bytes, sodium_base64_VARIANT_ORIGINAL)

/* Bytes only, so there is no padding and this is the file's own layout. */
struct signature_line {
    uint8_t algorithm[TAG_SIZE];
    uint8_t id[KEY_ID_SIZE];
    uint8_t signature[SIGNATURE_SIZE];
};
_Static_assert(sizeof(struct signature_line) == 74, "minisign's layout");

struct signature {
    struct signature_line line;
    const char *comment; /* in the text, not terminated */
    size_t comment_size;
    uint8_t global[SIGNATURE_SIZE];
};

/* What the second signature covers. */
struct covered {
    uint8_t signature[SIGNATURE_SIZE];
    char comment[COMMENT_MAX];
};

/* ---- Comments ----------------------------------------------------------- */

/* Length of the longest beginning of a comment that is printable or tabs. */
static size_t
printable_length(const char *comment, size_t size)
{
    const uint8_t *text = (const uint8_t *)comment;
    size_t at = 0;
    while (at < size) {
        uint32_t character;
        size_t length = host_utf8_decode(text + at, size - at, &character);
        if (length == 0 || !(character == '\t' || host_printable(character))) {
            break;
        }
        at += length;
    }
    return at;
}

/* ---- Verifying ---------------------------------------------------------- */

static enum sotto_status
signature_parse(const char *text, size_t size, struct signature *signature,
                struct sotto_error *err)
{
    struct armour armour = {.text = text, .size = size};
    const char *untrusted;
    size_t untrusted_size;
    if (!armour_comment(&armour, ARMOUR_UNTRUSTED, ARMOUR_UNTRUSTED_MAX,
                        &untrusted, &untrusted_size) ||
        !armour_bytes(&armour, (uint8_t *)&signature->line,
                      sizeof signature->line) ||
        !armour_comment(&armour, ARMOUR_TRUSTED, ARMOUR_TRUSTED_MAX,
                        &signature->comment, &signature->comment_size) ||
        !armour_bytes(&armour, signature->global, sizeof signature->global) ||
        !armour_at_end(&armour)) {
        return host_fail(err, SOTTO_STATUS_SIGNATURE, armour.at,
                         "not a minisign signature, or a damaged one; get it "
                         "again, or sign again");
    }
    size_t good = printable_length(signature->comment, signature->comment_size);
    if (good != signature->comment_size) {
        return host_fail(err, SOTTO_STATUS_SIGNATURE,
                         (size_t)(signature->comment - text) + good,
                         "the signature's trusted comment holds characters "
                         "that cannot be shown safely");
    }
    return SOTTO_STATUS_OK;
}

/* Whether it is of the right kind and by the right key. */
static enum sotto_status
signature_check_key(const struct signature *signature,
                    const struct key_public *pub, struct sotto_error *err)
{
    const struct signature_line *line = &signature->line;
    if (memcmp(line->algorithm, LEGACY, TAG_SIZE) == 0) {
        return host_fail(err, SOTTO_STATUS_SIGNATURE, 0,
                         "a legacy signature, not prehashed; sign again with "
                         "'sotto sign' or without minisign's -l");
    }
    if (memcmp(line->algorithm, PREHASHED, TAG_SIZE) != 0) {
        return host_fail(err, SOTTO_STATUS_SIGNATURE, 0,
                         "a signature of a kind this version does not know");
    }
    if (memcmp(line->id, pub->id, KEY_ID_SIZE) != 0) {
        return host_fail(err, SOTTO_STATUS_SIGNATURE, 0,
                         "signed with key %016" PRIX64 ", but key %016" PRIX64
                         " was expected; give the signer's public key if you "
                         "trust that signer",
                         key_id_number(line->id), key_id_number(pub->id));
    }
    return SOTTO_STATUS_OK;
}

static void
prehash(const uint8_t *data, size_t size, uint8_t hash[HASH_SIZE])
{
    (void)crypto_generichash(hash, HASH_SIZE, data, size, NULL, 0);
}

static size_t
cover(struct covered *covered, const uint8_t *signature, const char *comment,
      size_t comment_size)
{
    memcpy(covered->signature, signature, SIGNATURE_SIZE);
    memcpy(covered->comment, comment, comment_size);
    return SIGNATURE_SIZE + comment_size;
}

/* Both signatures themselves. */
static enum sotto_status
signature_check(const struct signature *signature, const struct key_public *pub,
                const uint8_t *data, size_t size, struct sotto_error *err)
{
    uint8_t hash[HASH_SIZE];
    struct covered covered;
    size_t covered_size = cover(&covered, signature->line.signature,
                                signature->comment, signature->comment_size);
    prehash(data, size, hash);
    if (crypto_sign_ed25519_verify_detached(signature->line.signature, hash,
                                            sizeof hash, pub->point) != 0) {
        return host_fail(err, SOTTO_STATUS_SIGNATURE, 0,
                         "the signature is not of this content: one of them "
                         "was changed; do not use it");
    }
    if (crypto_sign_ed25519_verify_detached(signature->global,
                                            (const uint8_t *)&covered,
                                            covered_size, pub->point) != 0) {
        return host_fail(err, SOTTO_STATUS_SIGNATURE, 0,
                         "the signature's trusted comment was changed; do not "
                         "use it");
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
minisign_verify(const uint8_t *data, size_t size, const char *signature_text,
                size_t signature_size, const char *pub_text, size_t pub_size,
                char **ret_comment, struct sotto_error *err)
{
    struct signature signature;
    struct key_public pub;
    enum sotto_status status = key_public_parse(pub_text, pub_size, &pub, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = signature_parse(signature_text, signature_size, &signature, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = signature_check_key(&signature, &pub, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = signature_check(&signature, &pub, data, size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (ret_comment != NULL) {
        char *comment =
            host_text_copy(signature.comment, signature.comment_size);
        if (comment == NULL) {
            return host_fail_memory(err);
        }
        *ret_comment = comment;
    }
    return SOTTO_STATUS_OK;
}

/* Reads PATH.minisig: a signature that is not there is a wrong one. */
static enum sotto_status
signature_read(const char *path, char **ret_text, size_t *ret_size,
               struct sotto_error *err)
{
    struct sotto_error inner;
    uint8_t *text;
    enum sotto_status status =
        host_file_read(path, MINISIGN_TEXT_MAX, &text, ret_size, &inner);
    if (status == SOTTO_STATUS_OK) {
        *ret_text = (char *)text;
        return status;
    }
    if (status == SOTTO_STATUS_MEMORY) {
        return host_fail_memory(err);
    }
    if (access(path, F_OK) != 0) {
        return host_fail(
            err, SOTTO_STATUS_SIGNATURE, 0,
            "no signature: there is no '%s'; sign the mechanism "
            "first (sotto sign), or get the signature from whoever "
            "sent you the mechanism",
            host_shown(path));
    }
    return host_fail(err, SOTTO_STATUS_SIGNATURE, 0, "no signature: %s",
                     inner.message);
}

enum sotto_status
minisign_verify_bytes(const char *path, const uint8_t *data, size_t size,
                      const char *pub_path, char **ret_comment,
                      struct sotto_error *err)
{
    struct sotto_error inner;
    char *text = NULL;
    char *pub = NULL;
    size_t text_size, pub_size = 0;
    char *text_path = key_file_name(path, MINISIGN_SUFFIX);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (text_path == NULL) {
        return host_fail_memory(err);
    }
    status = key_text_read(pub_path, &pub, &pub_size, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    status = signature_read(text_path, &text, &text_size, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    status = minisign_verify(data, size, text, text_size, pub, pub_size,
                             ret_comment, &inner);
    if (status == SOTTO_STATUS_FORMAT) {
        (void)key_fail_in(err, pub_path, &inner);
    } else if (status != SOTTO_STATUS_OK) {
        (void)key_fail_in(err, text_path, &inner);
    }
done:
    key_text_free(pub, pub_size);
    free(text);
    free(text_path);
    return status;
}

enum sotto_status
sotto_verify_file(const char *path, const char *pub_path, char **ret_comment,
                  struct sotto_error *err)
{
    uint8_t *data;
    size_t size;
    enum sotto_status status =
        host_file_read(path, MINISIGN_DATA_MAX, &data, &size, err);
    if (status == SOTTO_STATUS_OK) {
        status =
            minisign_verify_bytes(path, data, size, pub_path, ret_comment, err);
        free(data);
    }
    return status;
}

/* ---- Signing ------------------------------------------------------------ */

/* The signature file's text, from its parts. NULL: no memory. */
static char *
signature_text(const struct signature_line *line, const char *comment,
               const uint8_t global[SIGNATURE_SIZE])
{
    static const char format[] =
        ARMOUR_UNTRUSTED "signature from sotto with key %016" PRIX64
                         "\n%s\n" ARMOUR_TRUSTED "%s\n%s\n";
    char first[BASE64_SIZE(sizeof *line)];
    char second[BASE64_SIZE(SIGNATURE_SIZE)];
    /* Above what the two %s and the number grow to. */
    size_t size =
        sizeof format + 16 + sizeof first + strlen(comment) + sizeof second;
    char *text = malloc(size);
    if (text != NULL) {
        (void)sodium_bin2base64(first, sizeof first, (const uint8_t *)line,
                                sizeof *line, sodium_base64_VARIANT_ORIGINAL);
        (void)sodium_bin2base64(second, sizeof second, global, SIGNATURE_SIZE,
                                sodium_base64_VARIANT_ORIGINAL);
        (void)snprintf(text, size, format, key_id_number(line->id), first,
                       comment, second);
    }
    return text;
}

enum sotto_status
minisign_sign(const uint8_t *data, size_t size, const struct key_secret *key,
              const char *comment, char **ret_text, size_t *ret_size,
              struct sotto_error *err)
{
    struct signature_line line;
    struct covered covered;
    uint8_t hash[HASH_SIZE];
    uint8_t global[SIGNATURE_SIZE];
    size_t comment_size = strlen(comment);
    if (comment_size > COMMENT_MAX ||
        printable_length(comment, comment_size) != comment_size) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the trusted comment must be one line of printable "
                         "UTF-8, at most %zu bytes",
                         COMMENT_MAX);
    }
    memcpy(line.algorithm, PREHASHED, TAG_SIZE);
    memcpy(line.id, key->id, KEY_ID_SIZE);
    prehash(data, size, hash);
    (void)crypto_sign_ed25519_detached(line.signature, NULL, hash, sizeof hash,
                                       key->seed_and_point);
    size_t covered_size =
        cover(&covered, line.signature, comment, comment_size);
    (void)crypto_sign_ed25519_detached(global, NULL, (const uint8_t *)&covered,
                                       covered_size, key->seed_and_point);
    char *text = signature_text(&line, comment, global);
    if (text == NULL) {
        return host_fail_memory(err);
    }
    *ret_text = text;
    *ret_size = strlen(text);
    return SOTTO_STATUS_OK;
}

/*
 * The trusted comment as minisign writes it, so that its readers find the
 * time and the name where they look for them. What cannot be shown in the
 * file's name is replaced.
 */
static void
describe(const char *path, char *comment, size_t size)
{
    const char *slash = strrchr(path, '/');
    char name[256];
    (void)snprintf(name, sizeof name, "%s", slash == NULL ? path : slash + 1);
    size_t length = strlen(name);
    for (size_t at = printable_length(name, length); at < length;
         at += printable_length(name + at, length - at)) {
        name[at] = '?';
    }
    for (char *tab = strchr(name, '\t'); tab != NULL; tab = strchr(tab, '\t')) {
        *tab = '?';
    }
    (void)snprintf(comment, size, "timestamp:%jd\tfile:%s\thashed",
                   (intmax_t)time(NULL), name);
}

/* Reads and opens a key's file; messages name it. */
static enum sotto_status
read_secret(const char *path, const char *password, struct key_secret **ret_key,
            struct sotto_error *err)
{
    struct sotto_error inner;
    char *text = NULL;
    size_t size = 0;
    enum sotto_status status = key_text_read(path, &text, &size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = key_secret_parse(text, size, password, ret_key, &inner);
    if (status != SOTTO_STATUS_OK) {
        (void)key_fail_in(err, path, &inner);
    }
    key_text_free(text, size);
    return status;
}

enum sotto_status
minisign_sign_bytes(const char *path, const uint8_t *data, size_t size,
                    const char *secret_path, const char *password,
                    struct sotto_error *err)
{
    char comment[512];
    struct key_secret *key = NULL;
    char *text = NULL;
    size_t text_size = 0;
    char *text_path = key_file_name(path, MINISIGN_SUFFIX);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (text_path == NULL) {
        return host_fail_memory(err);
    }
    status = read_secret(secret_path, password, &key, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    describe(path, comment, sizeof comment);
    status = minisign_sign(data, size, key, comment, &text, &text_size, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    status = host_file_write(text_path, 0644, false, text, text_size, err);
done:
    key_secret_free(key);
    free(text);
    free(text_path);
    return status;
}

enum sotto_status
sotto_sign_file(const char *path, const char *key_path, const char *password,
                struct sotto_error *err)
{
    uint8_t *data;
    size_t size;
    enum sotto_status status =
        host_file_read(path, MINISIGN_DATA_MAX, &data, &size, err);
    if (status == SOTTO_STATUS_OK) {
        status = minisign_sign_bytes(path, data, size, key_path, password, err);
        free(data);
    }
    return status;
}
