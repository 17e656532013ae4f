/*
 * password.h: a key's password, from a file or from the terminal.
 */
#ifndef SOTTO_CLI_PASSWORD_H
#define SOTTO_CLI_PASSWORD_H

#include <stdbool.h>

#define PASSWORD_SIZE 1026u /* the longest is 1024 bytes */

/*
 * Both fill `password`, which the caller wipes with explicit_bzero, and return
 * the exit status: the message, if any, has been printed.
 */

/* The first line of the file at `path`. */
int password_read(const char *path, char password[PASSWORD_SIZE]);
/* Asks on the terminal, without echo; twice if `repeat`. */
int password_ask(bool repeat, char password[PASSWORD_SIZE]);

#endif
