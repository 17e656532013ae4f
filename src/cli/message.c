/*
 * message.c: what the program says on standard error.
 *
 * Messages hold file names, column names and comments that others wrote: no
 * control character of theirs reaches the terminal.
 */
#include <string.h>

#include "cli/cli.h"

static const char *speaker;

void
cli_speak_as(const char *verb)
{
    speaker = verb;
}

/* Bytes 0x80 to 0x9f, in UTF-8 after 0xc2, are controls too. */
static bool
is_control(const unsigned char *text, size_t left)
{
    return text[0] < 0x20 || text[0] == 0x7f ||
           (text[0] == 0xc2 && left > 1 && text[1] < 0xa0);
}

void
cli_put(FILE *to, const char *text, size_t size)
{
    const unsigned char *at = (const unsigned char *)text;
    for (size_t i = 0; i < size; i++) {
        if (is_control(at + i, size - i)) {
            (void)fputc('?', to);
            i += at[i] == 0xc2 ? 1 : 0;
        } else {
            (void)fputc(at[i], to);
        }
    }
}

static void CLI_PRINTF(2) say(const char *kind, const char *format, ...);

static void
say_list(const char *kind, const char *format, va_list list)
{
    char text[1200];
    (void)vsnprintf(text, sizeof text, format, list);
    (void)fflush(stdout); /* so that both streams keep their order */
    (void)fprintf(stderr, "sotto%s%s: %s", speaker != NULL ? " " : "",
                  speaker != NULL ? speaker : "", kind);
    cli_put(stderr, text, strlen(text));
    (void)fputc('\n', stderr);
}

static void
say(const char *kind, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say_list(kind, format, list);
    va_end(list);
}

void
cli_error(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say_list("", format, list);
    va_end(list);
}

int
cli_bad(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say_list("", format, list);
    va_end(list);
    return CLI_EXIT_BAD;
}

void
cli_note(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say_list("note: ", format, list);
    va_end(list);
}

static int
exit_of(enum sotto_status status)
{
    switch (status) {
    case SOTTO_STATUS_OK:
        return CLI_EXIT_DONE;
    case SOTTO_STATUS_MEMORY:
    case SOTTO_STATUS_ENTROPY:
    case SOTTO_STATUS_IO:
        return CLI_EXIT_FAILED;
    case SOTTO_STATUS_PIN:
    case SOTTO_STATUS_SIGNATURE:
    case SOTTO_STATUS_REFUSED:
        return CLI_EXIT_REFUSED;
    default:
        return CLI_EXIT_BAD;
    }
}

int
cli_fail(const struct sotto_error *err)
{
    say("", "%s",
        err->message[0] != '\0' ? err->message
                                : sotto_status_message(err->status));
    return exit_of(err->status);
}

FILE *
cli_summary(const char *path)
{
    static const char *const names[] = {"/dev/stdout", "/dev/fd/1",
                                        "/proc/self/fd/1"};
    for (size_t i = 0; path != NULL && i < sizeof names / sizeof *names; i++) {
        if (strcmp(path, names[i]) == 0) {
            return stderr;
        }
    }
    return stdout;
}
