/*
 * settings.c: what can be set of a thing, as a table beside the thing.
 */
#include "host/settings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"

#define MESSAGE_SIZE 400u

/* Bytes of a field. */
static const size_t sizes[] = {[SETTING_WHOLE] = sizeof(uint32_t),
                               [SETTING_SIZE] = sizeof(size_t),
                               [SETTING_SEED] = sizeof(uint64_t),
                               [SETTING_NUMBER] = sizeof(double),
                               [SETTING_FLAG] = sizeof(bool),
                               [SETTING_WORD] = sizeof(const char *),
                               [SETTING_TEXT] = sizeof(const char *),
                               [SETTING_LIST] = sizeof(struct setting_list),
                               [SETTING_MANY] = sizeof(size_t)};

const struct setting *
settings_find(const struct setting *table, const char *name)
{
    for (; table->name != NULL; table++) {
        if (strcmp(table->name, name) == 0) {
            return table;
        }
    }
    return NULL;
}

const char *
setting_value_name(const struct setting *setting)
{
    if (setting->kind == SETTING_FLAG || setting->value != NULL) {
        return setting->value;
    }
    switch (setting->kind) {
    case SETTING_WHOLE:
    case SETTING_SIZE:
        return "N";
    case SETTING_SEED:
        return "S";
    case SETTING_NUMBER:
        return "V";
    case SETTING_LIST:
        return "N,N,...";
    default:
        return "TEXT";
    }
}

bool
setting_tell(const struct setting *setting, struct sotto_setting_info *ret_info)
{
    if (setting == NULL || setting->name == NULL) {
        return false;
    }
    *ret_info = (struct sotto_setting_info){
        .name = setting->name,
        .value = setting_value_name(setting),
        .initial = setting->initial,
        .help = setting->help,
        .many = setting->kind == SETTING_MANY,
        .needed = setting->needed,
        .number = setting->kind <= SETTING_NUMBER,
    };
    return true;
}

bool
settings_tell(const struct setting *table, size_t i,
              struct sotto_setting_info *ret_info)
{
    for (; table->name != NULL && i > 0; i--) {
        table++;
    }
    return setting_tell(table, ret_info);
}

/* ---- Reading ------------------------------------------------------------- */

enum sotto_status
settings_fail(struct sotto_error *err, const char *name, const char *format,
              ...)
{
    char message[MESSAGE_SIZE];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return host_about(
        host_fail(err, SOTTO_STATUS_USAGE, 0, "%s %s", name, message), err,
        SOTTO_ABOUT_SETTING, name);
}

/* strtoull would also take blanks and signs. */
bool
setting_read_whole(const char *text, uint64_t *ret_value)
{
    uint64_t value = 0;
    bool fits = *text != '\0';
    for (; fits && *text != '\0'; text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        fits = *text >= '0' && *text <= '9' &&
               value <= (UINT64_MAX - digit) / UINT64_C(10);
        value = 10 * value + digit;
    }
    *ret_value = value;
    return fits;
}

/* strtod would also take blanks, hexadecimals and words. */
bool
setting_read_number(const char *text, double *ret_value)
{
    char *end = NULL;
    if (*text == '\0' || strspn(text, "0123456789.eE+-") != strlen(text)) {
        return false;
    }
    *ret_value = strtod(text, &end);
    return *end == '\0' && isfinite(*ret_value);
}

static bool
is_within(const struct setting *setting, double value)
{
    return value >= setting->low && value <= setting->high;
}

static bool
read_list(const struct setting *setting, const char *text,
          struct setting_list *ret_list)
{
    struct setting_list list = {.count = 0};
    for (const char *at = text; at != NULL;) {
        char *end = NULL;
        unsigned long value = strtoul(at, &end, 10);
        if (*at < '0' || *at > '9' || !is_within(setting, (double)value) ||
            (*end != ',' && *end != '\0') || list.count == SETTING_LIST_MAX) {
            return false;
        }
        list.value[list.count++] = (uint32_t)value;
        at = *end == ',' ? end + 1 : NULL;
    }
    *ret_list = list;
    return true;
}

/* Whether `text` is one of the words that bars divide. */
static bool
is_word(const char *words, const char *text)
{
    size_t size = strlen(text);
    for (const char *at = words; at != NULL; at = strchr(at, '|')) {
        at += *at == '|' ? 1 : 0;
        if (strcspn(at, "|") == size && strncmp(at, text, size) == 0) {
            return true;
        }
    }
    return false;
}

static enum sotto_status
fail_value(const struct setting *setting, const char *text,
           struct sotto_error *err)
{
    double low = setting->low, high = setting->high;
    const char *name = setting->name;
    switch (setting->kind) {
    case SETTING_WHOLE:
    case SETTING_SIZE:
        return settings_fail(err, name,
                             "%.80s is not a whole number from %.0f to %.0f",
                             text, low, high);
    case SETTING_SEED:
        return settings_fail(err, name,
                             "%.80s is not a whole number from 0 to "
                             "18446744073709551615",
                             text);
    case SETTING_NUMBER:
        return settings_fail(err, name,
                             "%.80s is not a number from %.10g to %.10g", text,
                             low, high);
    case SETTING_LIST:
        return settings_fail(err, name,
                             "%.80s: up to %u numbers from %.0f to %.0f with "
                             "commas between, as 400,150,50",
                             text, SETTING_LIST_MAX, low, high);
    case SETTING_FLAG:
        return settings_fail(err, name, "%.80s: say yes or no", text);
    default:
        return settings_fail(err, name, "%.80s is none of %s", text,
                             setting->value);
    }
}

/* Fills the field at `at`; false if the text does not suit. */
static bool
fill_settings(const struct setting *setting, const char *text, void *at)
{
    uint64_t whole = 0;
    double number = 0;
    bool fits = true;
    switch (setting->kind) {
    case SETTING_WHOLE:
        fits = setting_read_whole(text, &whole) &&
               is_within(setting, (double)whole);
        *(uint32_t *)at = fits ? (uint32_t)whole : *(uint32_t *)at;
        return fits;
    case SETTING_SIZE:
        fits = setting_read_whole(text, &whole) &&
               is_within(setting, (double)whole);
        *(size_t *)at = fits ? (size_t)whole : *(size_t *)at;
        return fits;
    case SETTING_SEED:
        fits = setting_read_whole(text, &whole);
        *(uint64_t *)at = fits ? whole : *(uint64_t *)at;
        return fits;
    case SETTING_NUMBER:
        fits = setting_read_number(text, &number) && is_within(setting, number);
        *(double *)at = fits ? number : *(double *)at;
        return fits;
    case SETTING_FLAG:
        whole = *text == '\0' || strcmp(text, "yes") == 0 ? 1 : 0;
        fits = whole == 1 || strcmp(text, "no") == 0;
        *(bool *)at = fits ? whole == 1 : *(bool *)at;
        return fits;
    case SETTING_LIST:
        return read_list(setting, text, at);
    case SETTING_MANY:
        ++*(size_t *)at;
        return true;
    case SETTING_WORD:
        fits = is_word(setting->value, text);
        break;
    case SETTING_TEXT:
    default:
        break;
    }
    *(const char **)at = fits ? text : *(const char **)at;
    return fits;
}

void
settings_init(const struct setting *table, void *own)
{
    for (; table->name != NULL; table++) {
        void *at = (char *)own + table->offset;
        memset(at, 0, sizes[table->kind]);
        if (table->initial != NULL) {
            (void)fill_settings(table, table->initial, at);
        }
    }
}

enum sotto_status
settings_put(const struct setting *table, void *own, const char *name,
             const char *text, struct sotto_error *err)
{
    const struct setting *setting = settings_find(table, name);
    if (setting == NULL) {
        return settings_fail(err, name, "is no setting here");
    }
    text = text == NULL && setting->kind == SETTING_FLAG ? "" : text;
    if (text == NULL) {
        return settings_fail(err, name, "needs a value");
    }
    return fill_settings(setting, text, (char *)own + setting->offset)
               ? SOTTO_STATUS_OK
               : fail_value(setting, text, err);
}

enum sotto_status
settings_set(const struct setting *table, void *own,
             const struct sotto_setting *set, size_t sets,
             struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    settings_init(table, own);
    for (size_t i = 0; i < sets && status == SOTTO_STATUS_OK; i++) {
        status = settings_put(table, own, set[i].name, set[i].value, err);
    }
    return status;
}

/* A number that a caller put into its field, as a number of any kind. */
static double
number_at(const struct setting *setting, const void *at)
{
    switch (setting->kind) {
    case SETTING_WHOLE:
        return *(const uint32_t *)at;
    case SETTING_SIZE:
        return (double)*(const size_t *)at;
    default:
        return *(const double *)at;
    }
}

static bool
is_ranged(const struct setting *setting)
{
    return setting->kind == SETTING_WHOLE || setting->kind == SETTING_SIZE ||
           setting->kind == SETTING_NUMBER;
}

/* Whether a field is 0 or NULL, and that is no value of its own. */
static bool
is_open(const struct setting *setting, const void *at)
{
    return is_ranged(setting)
               ? number_at(setting, at) == 0 && !is_within(setting, 0)
               : (setting->kind == SETTING_WORD ||
                  setting->kind == SETTING_TEXT) &&
                     *(const char *const *)at == NULL;
}

enum sotto_status
settings_complete(const struct setting *table, void *own,
                  struct sotto_error *err)
{
    for (; table->name != NULL; table++) {
        void *at = (char *)own + table->offset;
        char text[32];
        if (is_open(table, at)) {
            if (table->needed) {
                return settings_fail(err, table->name, "is missing");
            }
            if (table->initial != NULL) {
                (void)fill_settings(table, table->initial, at);
            }
        } else if (is_ranged(table) &&
                   !is_within(table, number_at(table, at))) {
            (void)snprintf(text, sizeof text, "%.10g", number_at(table, at));
            return fail_value(table, text, err);
        }
    }
    return SOTTO_STATUS_OK;
}

/* ---- Writing ------------------------------------------------------------- */

/* The shortest decimal that reads back the same. */
static void
print_number(struct host_text *text, double number)
{
    char shortest[32];
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(shortest, sizeof shortest, "%.*g", digits, number);
        if (strtod(shortest, NULL) == number) {
            break;
        }
    }
    host_text_print(text, "%s", shortest);
}

static void
print_value(struct host_text *text, const struct setting *setting,
            const void *at)
{
    const struct setting_list *list = at;
    const char *word;
    switch (setting->kind) {
    case SETTING_WHOLE:
        host_text_print(text, "%lu", (unsigned long)*(const uint32_t *)at);
        return;
    case SETTING_SIZE:
    case SETTING_MANY:
        host_text_print(text, "%zu", *(const size_t *)at);
        return;
    case SETTING_SEED:
        host_text_print(text, "%llu",
                        (unsigned long long)*(const uint64_t *)at);
        return;
    case SETTING_NUMBER:
        print_number(text, *(const double *)at);
        return;
    case SETTING_FLAG:
        host_text_print(text, "%s", *(const bool *)at ? "yes" : "no");
        return;
    case SETTING_LIST:
        for (size_t i = 0; i < list->count; i++) {
            host_text_print(text, "%s%lu", i > 0 ? "," : "",
                            (unsigned long)list->value[i]);
        }
        return;
    default:
        word = *(const char *const *)at;
        host_text_print(text, "%s", word != NULL ? word : "");
    }
}

/* Whether a setting without a default was not given: its field is 0. */
static bool
is_unset(const struct setting *setting, const void *own)
{
    const char *at = (const char *)own + setting->offset;
    size_t i = 0;
    while (i < sizes[setting->kind] && at[i] == 0) {
        i++;
    }
    return setting->initial == NULL && i == sizes[setting->kind];
}

void
settings_text(const struct setting *table, const void *own, bool late,
              struct host_text *text)
{
    const char *between = "";
    for (; table->name != NULL; table++) {
        if ((late || !table->late) && !is_unset(table, own)) {
            host_text_print(text, "%s%s=", between, table->name);
            print_value(text, table, (const char *)own + table->offset);
            between = " ";
        }
    }
}
