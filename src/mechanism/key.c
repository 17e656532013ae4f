/*
 * key.c: Ed25519 keys in minisign's files.
 *
 * The secret key's file holds, after its comment line, 158 bytes in base64:
 *
 *     0     2     4     6      38          46          54     62     126   158
 *     | Ed  | KDF | B2  | salt | opslimit  | memlimit  | id   | key  | check |
 *                                                      `--- encrypted -------'
 *
 * KDF is "Sc" if the last 104 bytes are xored with that many bytes of scrypt
 * of the password, and two zero bytes if they are plain. The check is
 * BLAKE2b-256 of "Ed", id and key; minisign leaves it zero in a plain key.
 * The public key's file holds "Ed", id and the 32 bytes of the point.
 *
 * Invariant: no plain secret is in memory that is neither guarded nor wiped.
 */
#include "mechanism/key.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "base/bytes.h"
#include "host/error.h"
#include "host/file.h"
#include "mechanism/armour.h"
#include "sotto/sotto.h"

#define ALGORITHM "Ed"
#define KDF_SCRYPT "Sc"
#define KDF_NONE "\0\0"
#define CHECK_BLAKE2B "B2"
#define TAG_SIZE ((size_t)2)
#define CHECK_SIZE 32u
#define SALT_SIZE 32u
#define PASSWORD_MAX ((size_t)1022) /* what minisign's prompt can read */
#define COMMENT_SIZE ((size_t)80)
#define LINE_SIZE(bytes)                                                       \
    (COMMENT_SIZE +                                                            \
     sodium_base64_ENCODED_LEN(bytes, sodium_base64_VARIANT_ORIGINAL))

/* Bytes only, so there is no padding and this is the file's own layout. */
struct sealed {
    uint8_t id[KEY_ID_SIZE];
    uint8_t key[KEY_SECRET_SIZE];
    uint8_t check[CHECK_SIZE];
};
struct secret_file {
    uint8_t algorithm[TAG_SIZE];
    uint8_t kdf[TAG_SIZE];
    uint8_t check_algorithm[TAG_SIZE];
    uint8_t salt[SALT_SIZE];
    uint8_t opslimit[8];
    uint8_t memlimit[8];
    struct sealed sealed;
};
struct public_file {
    uint8_t algorithm[TAG_SIZE];
    struct key_public key;
};
_Static_assert(sizeof(struct secret_file) == 158, "minisign's layout");
_Static_assert(sizeof(struct public_file) == 42, "minisign's layout");
_Static_assert(SALT_SIZE == crypto_pwhash_scryptsalsa208sha256_SALTBYTES,
               "scrypt's salt");

/* Everything secret that making a key needs, in one guarded allocation. */
struct workshop {
    uint8_t seed[crypto_sign_ed25519_SEEDBYTES];
    struct secret_file file;
    char text[LINE_SIZE(sizeof(struct secret_file))];
};

/* Makes libsodium ready. It aborts where the system has no entropy, so that is
   tried first. */
static enum sotto_status
prepare_library(struct sotto_error *err)
{
    uint8_t probe;
    if (sotto_entropy(&probe, sizeof probe) != 0 || sodium_init() < 0) {
        return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                         "the system gave no entropy, which keys and "
                         "signatures need; see that getrandom works");
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
key_fail_in(struct sotto_error *err, const char *path,
            const struct sotto_error *inner)
{
    (void)host_fail(err, inner->status, inner->position, "'%s': %s",
                    host_shown(path), inner->message);
    return host_about(inner->status, err, SOTTO_ABOUT_FILE, path);
}

uint64_t
key_id_number(const uint8_t id[KEY_ID_SIZE])
{
    return bytes_load(id, 8);
}

/* ---- Public keys -------------------------------------------------------- */

enum sotto_status
key_public_parse(const char *text, size_t size, struct key_public *ret_key,
                 struct sotto_error *err)
{
    struct armour armour = {.text = text, .size = size, .mailed = true};
    struct public_file file;
    const char *comment;
    size_t comment_size;
    enum sotto_status status = prepare_library(err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (!armour_comment(&armour, ARMOUR_UNTRUSTED, ARMOUR_UNTRUSTED_MAX,
                        &comment, &comment_size) ||
        !armour_bytes(&armour, (uint8_t *)&file, sizeof file) ||
        !armour_at_end(&armour)) {
        return host_fail(err, SOTTO_STATUS_FORMAT, armour.at,
                         "not a public key; give the .pub file that "
                         "'sotto keygen' or 'minisign -G' wrote");
    }
    if (memcmp(file.algorithm, ALGORITHM, TAG_SIZE) != 0) {
        return host_fail(err, SOTTO_STATUS_FORMAT, armour.at,
                         "a public key of another kind than Ed25519");
    }
    *ret_key = file.key;
    return SOTTO_STATUS_OK;
}

/* ---- Secret keys -------------------------------------------------------- */

static void
checksum(const struct secret_file *file, uint8_t check[CHECK_SIZE])
{
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, CHECK_SIZE);
    (void)crypto_generichash_update(&state, file->algorithm, TAG_SIZE);
    (void)crypto_generichash_update(&state, file->sealed.id, KEY_ID_SIZE);
    (void)crypto_generichash_update(&state, file->sealed.key, KEY_SECRET_SIZE);
    (void)crypto_generichash_final(&state, check, CHECK_SIZE);
    sodium_memzero(&state, sizeof state);
}

/*
 * Encrypts or decrypts, which are the same. False: scrypt could not get
 * memory.
 */
static bool
apply_password(struct secret_file *file, const char *password)
{
    uint8_t stream[sizeof file->sealed];
    uint8_t *sealed = (uint8_t *)&file->sealed;
    bool good = crypto_pwhash_scryptsalsa208sha256(
                    stream, sizeof stream, password, strlen(password),
                    file->salt, bytes_load(file->opslimit, 8),
                    (size_t)bytes_load(file->memlimit, 8)) == 0;
    for (size_t i = 0; good && i < sizeof stream; i++) {
        sealed[i] ^= stream[i];
    }
    sodium_memzero(stream, sizeof stream);
    return good;
}

/*
 * Reads the file's structure, nothing encrypted. Limits above those minisign
 * itself uses are refused: they would only serve to take all our memory.
 */
static enum sotto_status
secret_file_parse(const char *text, size_t size, struct secret_file *file,
                  bool *ret_encrypted, struct sotto_error *err)
{
    struct armour armour = {.text = text, .size = size, .mailed = true};
    const char *comment;
    size_t comment_size;
    if (!armour_comment(&armour, ARMOUR_UNTRUSTED, ARMOUR_UNTRUSTED_MAX,
                        &comment, &comment_size) ||
        !armour_bytes(&armour, (uint8_t *)file, sizeof *file) ||
        !armour_at_end(&armour)) {
        return host_fail(err, SOTTO_STATUS_FORMAT, armour.at,
                         "not a secret key; give the .key file that "
                         "'sotto keygen' or 'minisign -G' wrote");
    }
    bool scrypt = memcmp(file->kdf, KDF_SCRYPT, TAG_SIZE) == 0;
    if (memcmp(file->algorithm, ALGORITHM, TAG_SIZE) != 0 ||
        memcmp(file->check_algorithm, CHECK_BLAKE2B, TAG_SIZE) != 0 ||
        (!scrypt && memcmp(file->kdf, KDF_NONE, TAG_SIZE) != 0)) {
        return host_fail(err, SOTTO_STATUS_FORMAT, armour.at,
                         "a secret key of a kind this version does not know");
    }
    if (scrypt && (bytes_load(file->opslimit, 8) >
                       crypto_pwhash_scryptsalsa208sha256_OPSLIMIT_SENSITIVE ||
                   bytes_load(file->memlimit, 8) >
                       crypto_pwhash_scryptsalsa208sha256_MEMLIMIT_SENSITIVE)) {
        return host_fail(err, SOTTO_STATUS_FORMAT, armour.at,
                         "the secret key asks for more work to decrypt it "
                         "than any key minisign makes");
    }
    *ret_encrypted = scrypt;
    return SOTTO_STATUS_OK;
}

/*
 * Whether the key is whole. The public half must be that of the secret half:
 * signing with a wrong one would give the secret away, and minisign's plain
 * keys have no checksum that would tell.
 */
static bool
secret_file_is_sound(const struct secret_file *file, bool encrypted)
{
    uint8_t check[CHECK_SIZE];
    uint8_t point[KEY_PUBLIC_SIZE];
    uint8_t pair[KEY_SECRET_SIZE];
    checksum(file, check);
    bool good =
        sodium_memcmp(check, file->sealed.check, sizeof check) == 0 ||
        (!encrypted && sodium_is_zero(file->sealed.check, CHECK_SIZE) == 1);
    (void)crypto_sign_ed25519_seed_keypair(point, pair, file->sealed.key);
    good = good && sodium_memcmp(pair, file->sealed.key, sizeof pair) == 0;
    sodium_memzero(pair, sizeof pair);
    sodium_memzero(check, sizeof check);
    return good;
}

/* Decrypts if need be, and checks. */
static enum sotto_status
secret_file_open(struct secret_file *file, bool encrypted, const char *password,
                 struct sotto_error *err)
{
    if (encrypted && password == NULL) {
        return host_fail(err, SOTTO_STATUS_SIGNATURE, 0,
                         "the secret key is encrypted; give its password");
    }
    if (encrypted && !apply_password(file, password)) {
        return host_fail(err, SOTTO_STATUS_MEMORY, 0,
                         "out of memory: decrypting this key takes %" PRIu64
                         " MiB",
                         bytes_load(file->memlimit, 8) >> 20);
    }
    if (secret_file_is_sound(file, encrypted)) {
        return SOTTO_STATUS_OK;
    }
    if (encrypted) {
        return host_fail(err, SOTTO_STATUS_SIGNATURE, 0,
                         "wrong password for the secret key");
    }
    return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                     "the secret key is damaged: its parts do not belong "
                     "together; use a copy of it");
}

enum sotto_status
key_secret_parse(const char *text, size_t size, const char *password,
                 struct key_secret **ret_key, struct sotto_error *err)
{
    struct secret_file *file = NULL;
    struct key_secret *key = NULL;
    bool encrypted;
    enum sotto_status status = prepare_library(err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    file = sodium_malloc(sizeof *file);
    key = sodium_malloc(sizeof *key);
    if (file == NULL || key == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = secret_file_parse(text, size, file, &encrypted, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    status = secret_file_open(file, encrypted, password, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    memcpy(key->id, file->sealed.id, sizeof key->id);
    memcpy(key->seed_and_point, file->sealed.key, sizeof key->seed_and_point);
    *ret_key = key;
    key = NULL;
done:
    key_secret_free(key);
    sodium_free(file);
    return status;
}

void
key_secret_free(struct key_secret *key)
{
    sodium_free(key); /* which wipes; NULL is fine */
}

enum sotto_status
key_text_read(const char *path, char **ret_text, size_t *ret_size,
              struct sotto_error *err)
{
    uint8_t *text;
    enum sotto_status status =
        host_file_read(path, KEY_TEXT_MAX, &text, ret_size, err);
    if (status == SOTTO_STATUS_LIMIT) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "'%s' is too large to be a key", host_shown(path));
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_text = (char *)text;
    }
    return status;
}

void
key_text_free(char *text, size_t size)
{
    if (text != NULL) {
        sodium_memzero(text, size);
    }
    free(text);
}

enum sotto_status
sotto_key_encrypted(const char *path, bool *ret_encrypted,
                    struct sotto_error *err)
{
    struct sotto_error inner;
    struct secret_file *file = NULL;
    char *text = NULL;
    size_t size = 0;
    enum sotto_status status = prepare_library(err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    status = key_text_read(path, &text, &size, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    file = sodium_malloc(sizeof *file);
    if (file == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = secret_file_parse(text, size, file, ret_encrypted, &inner);
    if (status != SOTTO_STATUS_OK) {
        status = key_fail_in(err, path, &inner);
    }
done:
    sodium_free(file);
    key_text_free(text, size);
    return status;
}

/* ---- Making keys -------------------------------------------------------- */

static enum sotto_status
check_password(const char *password, struct sotto_error *err)
{
    size_t length = password == NULL ? 1 : strlen(password);
    if (length == 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the password is empty; choose one, or ask for a key "
                         "without a password");
    }
    if (length > PASSWORD_MAX ||
        (password != NULL && strpbrk(password, "\r\n") != NULL)) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the password must be one line of at most %zu bytes",
                         PASSWORD_MAX);
    }
    return SOTTO_STATUS_OK;
}

/*
 * Encrypts with minisign's limits, 1 GiB, and, as minisign does, with half of
 * them again and again if the memory is not there; but never with less than
 * what libsodium calls interactive, 16 MiB.
 */
static bool
encrypt(struct secret_file *file, const char *password)
{
    uint64_t ops = crypto_pwhash_scryptsalsa208sha256_OPSLIMIT_SENSITIVE;
    uint64_t memory = crypto_pwhash_scryptsalsa208sha256_MEMLIMIT_SENSITIVE;
    memcpy(file->kdf, KDF_SCRYPT, TAG_SIZE);
    while (ops >= crypto_pwhash_scryptsalsa208sha256_OPSLIMIT_INTERACTIVE &&
           memory >= crypto_pwhash_scryptsalsa208sha256_MEMLIMIT_INTERACTIVE) {
        bytes_store(file->opslimit, 8, ops);
        bytes_store(file->memlimit, 8, memory);
        if (apply_password(file, password)) {
            return true;
        }
        ops /= 2;
        memory /= 2;
    }
    return false;
}

/*
 * Draws a pair. Entropy comes through our own import: libsodium's generator
 * would abort where there is none (invariant 3).
 */
static enum sotto_status
make_pair(struct workshop *shop, const char *password,
          struct public_file *public, struct sotto_error *err)
{
    struct secret_file *file = &shop->file;
    memset(file, 0, sizeof *file);
    if (sotto_entropy(shop->seed, sizeof shop->seed) != 0 ||
        sotto_entropy(public->key.id, sizeof public->key.id) != 0 ||
        (password != NULL &&
         sotto_entropy(file->salt, sizeof file->salt) != 0)) {
        return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                         "the system gave no entropy; no key was made");
    }
    memcpy(public->algorithm, ALGORITHM, TAG_SIZE);
    memcpy(file->algorithm, ALGORITHM, TAG_SIZE);
    memcpy(file->check_algorithm, CHECK_BLAKE2B, TAG_SIZE);
    memcpy(file->sealed.id, public->key.id, KEY_ID_SIZE);
    (void)crypto_sign_ed25519_seed_keypair(public->key.point, file->sealed.key,
                                           shop->seed);
    checksum(file, file->sealed.check);
    if (password != NULL && !encrypt(file, password)) {
        return host_fail_memory(err);
    }
    return SOTTO_STATUS_OK;
}

/* One comment line and one base64 line, into `text` of LINE_SIZE(size). */
static void
write_text(char *text, const char *what, const uint8_t id[KEY_ID_SIZE],
           const void *bytes, size_t size)
{
    int length = snprintf(text, COMMENT_SIZE,
                          ARMOUR_UNTRUSTED "sotto %s key %016" PRIX64 "\n",
                          what, key_id_number(id));
    char *line = text + length;
    size_t room =
        sodium_base64_encoded_len(size, sodium_base64_VARIANT_ORIGINAL);
    (void)sodium_bin2base64(line, room, bytes, size,
                            sodium_base64_VARIANT_ORIGINAL);
    line[room - 1] = '\n';
    line[room] = '\0';
}

/*
 * Writes both files or none. Both are begun before either gets its name, so
 * what usually goes wrong (a file that exists, a folder that does not, a full
 * disk) goes wrong before there is anything to take back.
 */
static enum sotto_status
write_pair(const char *key_path, const char *key_text, const char *pub_path,
           const char *pub_text, struct sotto_error *err)
{
    struct sotto_output *key = NULL;
    struct sotto_output *pub = NULL;
    enum sotto_status status =
        sotto_output_new(key_path, 0600, true, &key, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    status = sotto_output_new(pub_path, 0644, true, &pub, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    status = sotto_output_write(key, key_text, strlen(key_text), err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    status = sotto_output_write(pub, pub_text, strlen(pub_text), err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    status = sotto_output_commit(key, err);
    key = NULL;
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    status = sotto_output_commit(pub, err);
    pub = NULL;
    if (status != SOTTO_STATUS_OK) {
        (void)unlink(key_path);
    }
done:
    sotto_output_free(key);
    sotto_output_free(pub);
    return status;
}

char *
key_file_name(const char *prefix, const char *suffix)
{
    size_t size = strlen(prefix) + strlen(suffix) + 1;
    char *path = malloc(size);
    if (path != NULL) {
        (void)snprintf(path, size, "%s%s", prefix, suffix);
    }
    return path;
}

enum sotto_status
sotto_key_generate(const char *prefix, const char *password,
                   struct sotto_error *err)
{
    char pub_text[LINE_SIZE(sizeof(struct public_file))];
    struct public_file public;
    struct workshop *shop = NULL;
    char *key_path = key_file_name(prefix, ".key");
    char *pub_path = key_file_name(prefix, ".pub");
    enum sotto_status status = check_password(password, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    status = prepare_library(err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    shop = sodium_malloc(sizeof *shop);
    if (shop == NULL || key_path == NULL || pub_path == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = make_pair(shop, password, &public, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    write_text(shop->text, password == NULL ? "secret" : "encrypted secret",
               public.key.id, &shop->file, sizeof shop->file);
    write_text(pub_text, "public", public.key.id, &public, sizeof public);
    status = write_pair(key_path, shop->text, pub_path, pub_text, err);
done:
    sodium_free(shop);
    free(key_path);
    free(pub_path);
    return status;
}
