/*
 * address.h: where a campaign's reports go.
 */
#ifndef SOTTO_SENDER_ADDRESS_H
#define SOTTO_SENDER_ADDRESS_H

#include <stdbool.h>

#include "sotto/client.h"

#define ADDRESS_HOST_MOST 253u
#define ADDRESS_NAME_MOST 64u
#define ADDRESS_HOST_SIZE (ADDRESS_HOST_MOST + 16) /* with a port */
#define ADDRESS_PATH_SIZE (ADDRESS_NAME_MOST + 32)
#define ADDRESS_URL_SIZE (ADDRESS_HOST_SIZE + ADDRESS_PATH_SIZE + 16)

/* One spelling for one place: in small letters, without a default port. */
struct address {
    char url[ADDRESS_URL_SIZE];   /* SCHEME://HOST/v1/campaigns/NAME */
    char host[ADDRESS_HOST_SIZE]; /* as the line Host has it */
    char path[ADDRESS_PATH_SIZE]; /* /v1/campaigns/NAME */
    bool tls;
};

/*
 * Reads https://HOST[:PORT]/v1/campaigns/NAME; http for localhost and for
 * loopback addresses alone. No user, no query, nothing behind the name, of
 * letters, digits, - and _. Statuses: USAGE.
 */
SOTTO_CHECKED enum sotto_status address_parse(const char *text,
                                              struct address *ret_address,
                                              struct sotto_error *err);

#endif
