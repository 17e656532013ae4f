/*
 * json_print.h: printing JSON objects, one a line.
 *
 *     json_begin(stdout);
 *     json_text(stdout, "name", name);
 *     json_number(stdout, "eps", 4);
 *     json_end(stdout);
 *
 * Every field is preceded by a comma unless it is the first of its object;
 * the state is one flag, so objects do not nest and belong to one stream at a
 * time.
 */
#ifndef SOTTO_CLI_JSON_PRINT_H
#define SOTTO_CLI_JSON_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

void json_begin(FILE *to);
/* Ends the object and the line. */
void json_end(FILE *to);

/* Text; NULL becomes null, bytes that are not UTF-8 become U+FFFD. */
void json_text(FILE *to, const char *key, const char *text);
/* The shortest decimal that reads back the same; null if not finite. */
void json_number(FILE *to, const char *key, double number);
/* A number whose exact decimal text is at hand: digits[.digits]. */
void json_decimal(FILE *to, const char *key, const char *text);
void json_size(FILE *to, const char *key, size_t number);
/* A list of numbers, each as json_number's. */
void json_numbers(FILE *to, const char *key, const double *number,
                  size_t count);
/* A list of texts, none of them NULL, and one of counts. */
void json_texts(FILE *to, const char *key, const char *const *text,
                size_t count);
void json_sizes(FILE *to, const char *key, const size_t *number, size_t count);
void json_bool(FILE *to, const char *key, bool truth);

#define JSON_NUMBER_SIZE 32u
/* The shortest decimal, at most 17 digits, that reads back the same. */
void json_shortest(double number, char text[JSON_NUMBER_SIZE]);

#endif
