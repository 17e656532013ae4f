/*
 * decimal.c: epsilon and delta, read exactly from decimal text.
 */
#include "base/decimal.h"

#include "base/status.h"

static int
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static enum sotto_status
fail_text(struct sotto_error *err, size_t position)
{
    return status_fail(
        err, SOTTO_STATUS_FORMAT, position,
        "epsilon and delta must be plain decimal numbers such as 0.5");
}

static enum sotto_status
fail_digits(struct sotto_error *err, size_t position)
{
    return status_fail(err, SOTTO_STATUS_LIMIT, position,
                       "epsilon and delta may have at most 7 digits before the "
                       "point and 12 after it");
}

enum sotto_status
decimal_read(const char *text, size_t size, uint64_t *ret_units,
             struct sotto_error *err)
{
    uint64_t units = 0;
    size_t i = 0, whole, places = 0;
    while (i < size && is_digit(text[i]) && i <= 7) {
        units = units * 10 + (uint64_t)(text[i++] - '0');
    }
    whole = i;
    if (whole == 0 || (whole > 1 && text[0] == '0')) {
        return fail_text(err, 0);
    }
    if (whole > 7) {
        return fail_digits(err, 7);
    }
    if (i < size && text[i] == '.') {
        i++;
        while (i < size && is_digit(text[i]) && places < DECIMAL_DIGITS) {
            units = units * 10 + (uint64_t)(text[i++] - '0');
            places++;
        }
        if (places == 0) {
            return fail_text(err, i);
        }
    }
    if (i < size) {
        return is_digit(text[i]) ? fail_digits(err, i) : fail_text(err, i);
    }
    while (places++ < DECIMAL_DIGITS) {
        units *= 10;
    }
    *ret_units = units;
    return SOTTO_STATUS_OK;
}

enum sotto_status
decimal_read_eps(const char *text, size_t size, uint64_t *ret_units,
                 struct sotto_error *err)
{
    uint64_t units;
    enum sotto_status status = decimal_read(text, size, &units, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (units < DECIMAL_EPS_MIN) {
        return status_fail(err, SOTTO_STATUS_BUDGET, 0,
                           "epsilon is too small: at least 0.000001");
    }
    if (units > DECIMAL_EPS_MAX) {
        return status_fail(err, SOTTO_STATUS_BUDGET, 0,
                           "epsilon is too large to protect anyone: "
                           "at most 32");
    }
    *ret_units = units;
    return SOTTO_STATUS_OK;
}

enum sotto_status
decimal_read_delta(const char *text, size_t size, uint64_t *ret_units,
                   struct sotto_error *err)
{
    uint64_t units;
    enum sotto_status status = decimal_read(text, size, &units, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (units < DECIMAL_DELTA_MIN || units > DECIMAL_DELTA_MAX) {
        return status_fail(err, SOTTO_STATUS_BUDGET, 0,
                           "delta must lie between 0.000000000001 and 0.01");
    }
    *ret_units = units;
    return SOTTO_STATUS_OK;
}
