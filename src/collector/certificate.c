/*
 * certificate.c: the certificate that a collector shows, and its key.
 *
 * A handshake gets pointers and keeps them until it ends, so one that was
 * replaced is freed only when no handshake can have it any more: KEPT_S later,
 * at the next replacement, or at the end.
 */
#include "collector/certificate.h"

#include <gnutls/x509.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/clock.h"
#include "host/error.h"
#include "host/file.h"
#include "host/token_file.h"
#include "host/wipe.h"

#define PEM_MOST ((size_t)1 << 20)
#define CHAIN_MOST 16u
#define KEPT_S                                                                 \
    3700.0 /* a handshake ends within --request-time, an hour most             \
            */

struct certificate {
    struct certificate *next; /* the one before it */
    gnutls_pcert_st chain[CHAIN_MOST];
    unsigned size;
    gnutls_privkey_t key;
    uint64_t end;
    double replaced; /* host_seconds */
};

struct certificates {
    pthread_mutex_t lock;
    struct certificate *first; /* in use */
};

/* ---- One ----------------------------------------------------------------- */

void
certificate_free(struct certificate *one)
{
    if (one != NULL) {
        for (unsigned i = 0; i < one->size; i++) {
            gnutls_pcert_deinit(&one->chain[i]);
        }
        if (one->key != NULL) {
            gnutls_privkey_deinit(one->key);
        }
        free(one);
    }
}

uint64_t
certificate_end(const struct certificate *one)
{
    return one->end;
}

static bool
take_end(struct certificate *one)
{
    one->end = UINT64_MAX;
    for (unsigned i = 0; i < one->size; i++) {
        gnutls_x509_crt_t crt = NULL;
        time_t end = -1;
        if (gnutls_pcert_export_x509(&one->chain[i], &crt) == 0) {
            end = gnutls_x509_crt_get_expiration_time(crt);
            gnutls_x509_crt_deinit(crt);
        }
        if (end < 0) {
            return false;
        }
        one->end = (uint64_t)end < one->end ? (uint64_t)end : one->end;
    }
    return one->size > 0;
}

/* Whether the key is the certificate's. */
static bool
belongs(const struct certificate *one)
{
    uint8_t id[2][64];
    size_t size[2] = {sizeof id[0], sizeof id[1]};
    gnutls_pubkey_t pub = NULL;
    bool good =
        gnutls_pubkey_init(&pub) == 0 &&
        gnutls_pubkey_import_privkey(pub, one->key, 0, 0) == 0 &&
        gnutls_pubkey_get_key_id(pub, GNUTLS_KEYID_USE_SHA256, id[0],
                                 &size[0]) == 0 &&
        gnutls_pubkey_get_key_id(one->chain[0].pubkey, GNUTLS_KEYID_USE_SHA256,
                                 id[1], &size[1]) == 0 &&
        size[0] == size[1] && memcmp(id[0], id[1], size[0]) == 0;
    if (pub != NULL) {
        gnutls_pubkey_deinit(pub);
    }
    return good;
}

static bool
import_pem(struct certificate *one, const gnutls_datum_t *cert,
           const gnutls_datum_t *key)
{
    unsigned size = CHAIN_MOST;
    if (gnutls_pcert_list_import_x509_raw(
            one->chain, &size, cert, GNUTLS_X509_FMT_PEM,
            GNUTLS_X509_CRT_LIST_IMPORT_FAIL_IF_EXCEED) < 0) {
        return false;
    }
    one->size = size;
    return gnutls_privkey_init(&one->key) == 0 &&
           gnutls_privkey_import_x509_raw(one->key, key, GNUTLS_X509_FMT_PEM,
                                          NULL, 0) == 0 &&
           take_end(one) && belongs(one);
}

static enum sotto_status
read_pem(const char *path, gnutls_datum_t *ret_pem, struct sotto_error *err)
{
    size_t size = 0;
    enum sotto_status status =
        host_file_read(path, PEM_MOST, &ret_pem->data, &size, err);
    ret_pem->size = (unsigned)size;
    return status;
}

enum sotto_status
certificate_read(const char *cert, const char *key,
                 struct certificate **ret_one, struct sotto_error *err)
{
    struct certificate *one = calloc(1, sizeof *one);
    gnutls_datum_t cert_pem = {NULL, 0}, key_pem = {NULL, 0};
    enum sotto_status status;
    if (one == NULL) {
        return host_fail_memory(err);
    }
    status = read_pem(cert, &cert_pem, err);
    status = HOST_THEN(status, read_pem(key, &key_pem, err));
    if (status == SOTTO_STATUS_OK && !import_pem(one, &cert_pem, &key_pem)) {
        status = host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "'%s' and '%s' are no certificate and its key in "
                           "PEM form, without a password",
                           host_shown(cert), host_shown(key));
    }
    /* Only now: who has exchanged the two is told that. */
    status = HOST_THEN(status, token_file_check(key, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_one = one;
        one = NULL;
    }
    certificate_free(one);
    free(cert_pem.data);
    host_wipe_free(key_pem.data, key_pem.size);
    return status;
}

/* ---- Those there are ----------------------------------------------------- */

struct certificates *
certificates_new(void)
{
    struct certificates *all = calloc(1, sizeof *all);
    if (all != NULL) {
        (void)pthread_mutex_init(&all->lock, NULL);
    }
    return all;
}

static void
free_all(struct certificate *first)
{
    while (first != NULL) {
        struct certificate *next = first->next;
        certificate_free(first);
        first = next;
    }
}

void
certificates_free(struct certificates *all)
{
    if (all != NULL) {
        free_all(all->first);
        (void)pthread_mutex_destroy(&all->lock);
        free(all);
    }
}

void
certificates_put(struct certificates *all, struct certificate *one)
{
    double now = host_seconds();
    struct certificate **at, *old = NULL;
    (void)pthread_mutex_lock(&all->lock);
    if (all->first != NULL) {
        all->first->replaced = now;
    }
    one->next = all->first;
    all->first = one;
    for (at = &one->next; *at != NULL; at = &(*at)->next) {
        if (now - (*at)->replaced > KEPT_S) { /* and all behind it */
            old = *at;
            *at = NULL;
            break;
        }
    }
    (void)pthread_mutex_unlock(&all->lock);
    free_all(old);
}

uint64_t
certificates_end(struct certificates *all)
{
    uint64_t end = 0;
    if (all != NULL) {
        (void)pthread_mutex_lock(&all->lock);
        end = all->first != NULL ? all->first->end : 0;
        (void)pthread_mutex_unlock(&all->lock);
    }
    return end;
}

int
certificates_get(struct certificates *all, gnutls_pcert_st **ret_chain,
                 unsigned *ret_size, gnutls_privkey_t *ret_key)
{
    struct certificate *one = NULL;
    if (all != NULL) {
        (void)pthread_mutex_lock(&all->lock);
        one = all->first;
        (void)pthread_mutex_unlock(&all->lock);
    }
    if (one == NULL) {
        return -1;
    }
    *ret_chain = one->chain;
    *ret_size = one->size;
    *ret_key = one->key;
    return 0;
}
