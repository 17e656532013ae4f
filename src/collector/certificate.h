/*
 * certificate.h: the certificate that a collector shows, and its key, which can
 * be replaced while it runs: a handshake takes what there is when it begins.
 */
#ifndef SOTTO_COLLECTOR_CERTIFICATE_H
#define SOTTO_COLLECTOR_CERTIFICATE_H

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <stdint.h>

#include "sotto/sotto.h"

struct certificate;

/*
 * Reads a certificate with its chain and its key, PEM files; the key's must be
 * for its owner alone, as a token's. Statuses: IO, LIMIT, REFUSED, FORMAT (they
 * are none, or do not belong together), MEMORY.
 */
SOTTO_CHECKED enum sotto_status certificate_read(const char *cert,
                                                 const char *key,
                                                 struct certificate **ret_one,
                                                 struct sotto_error *err);
/* NULL is fine. */
void certificate_free(struct certificate *one);
/* The second of UTC when it ends, that of its chain which ends first. */
uint64_t certificate_end(const struct certificate *one);

/* The one in use, and those before it, which a handshake may still have. */
struct certificates;

/* NULL: no memory. */
struct certificates *certificates_new(void);
/* No handshake may be under way. NULL is fine. */
void certificates_free(struct certificates *all);
/* Puts one in the place of the last, and takes it over. */
void certificates_put(struct certificates *all, struct certificate *one);
/* When the one in use ends; 0: there is none. */
uint64_t certificates_end(struct certificates *all);
/* Gives a handshake what it needs, as GnuTLS wants it; -1: there is none. */
int certificates_get(struct certificates *all, gnutls_pcert_st **ret_chain,
                     unsigned *ret_size, gnutls_privkey_t *ret_key);

#endif
