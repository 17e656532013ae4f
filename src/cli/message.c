/*
 * message.c: what the program says on standard error.
 *
 * Messages hold file names, column names and comments that others wrote: no
 * control character of theirs, nor what is not UTF-8, reaches the terminal.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "host/printable.h"
#include "host/utf8.h"

#define SHOWN_SIZE ((size_t)4200)

static const char *speaker;

void
cli_speak_as(const char *verb)
{
    speaker = verb;
}

/* Copies the next character, or '?' in place of one that is not to be shown; a
   byte that begins no character is replaced alone: a terminal that is not set
   to UTF-8 takes 0x80 to 0x9f for controls. How many bytes of `text` it was. */
static size_t
take_shown(const char *text, size_t size, char ret_shown[8])
{
    uint32_t character = 0;
    size_t length = host_utf8_decode((const uint8_t *)text, size, &character);
    bool plain = length > 0 && host_printable(character);
    (void)snprintf(ret_shown, 8, "%.*s", plain ? (int)length : 1,
                   plain ? text : "?");
    return length > 0 ? length : 1;
}

void
cli_put(FILE *to, const char *text, size_t size)
{
    char shown[8];
    while (size > 0) {
        size_t length = take_shown(text, size, shown);
        (void)fputs(shown, to);
        text += length;
        size -= length;
    }
}

size_t
cli_width(const char *text)
{
    char shown[8];
    size_t left = strlen(text), width = 0;
    while (left > 0) {
        size_t length = take_shown(text, left, shown);
        text += length;
        left -= length;
        width++;
    }
    return width;
}

void
cli_put_padded(FILE *to, const char *text, size_t width)
{
    char shown[8];
    size_t left = strlen(text), used = 0;
    for (; left > 0 && used < width; used++) {
        size_t length = take_shown(text, left, shown);
        (void)fputs(shown, to);
        text += length;
        left -= length;
    }
    (void)fprintf(to, "%*s", (int)(width - used), "");
}

const char *
cli_shown(const char *text)
{
    static char buffer[4][SHOWN_SIZE];
    static unsigned next;
    char *to = buffer[next++ % 4];
    size_t left = strlen(text), used = 0, length;
    for (; left > 0 && used + 8 < SHOWN_SIZE; text += length, left -= length) {
        length = take_shown(text, left, to + used);
        used += strlen(to + used);
    }
    to[used] = '\0';
    return to;
}

static void CLI_PRINTF(2)
    say_message(const char *kind, const char *format, ...);

__attribute__((format(printf, 2, 0))) static void
say_list(const char *kind, const char *format, va_list list)
{
    char text[1200];
    /* Every caller starts it. NOLINTNEXTLINE(clang-analyzer-valist.*) */
    (void)vsnprintf(text, sizeof text, format, list);
    (void)fflush(stdout); /* so that both streams keep their order */
    (void)fprintf(stderr, "%s%s%s: %s", cli_program.name,
                  speaker != NULL ? " " : "", speaker != NULL ? speaker : "",
                  kind);
    cli_put(stderr, text, strlen(text));
    (void)fputc('\n', stderr);
}

static void
say_message(const char *kind, const char *format, ...)
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

static bool hushed;

void
cli_hush(bool hush)
{
    hushed = hush;
}

void
cli_note(const char *format, ...)
{
    va_list list;
    if (hushed) {
        return;
    }
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
    case SOTTO_STATUS_STOPPED:
    case SOTTO_STATUS_CHECK:
        return CLI_EXIT_FAILED;
    case SOTTO_STATUS_PIN:
    case SOTTO_STATUS_SIGNATURE:
    case SOTTO_STATUS_REFUSED:
        return CLI_EXIT_REFUSED;
    default:
        return CLI_EXIT_BAD;
    }
}

/* Whether the verb that speaks has such an option. */
static bool
has_option(const char *name, size_t size)
{
    const struct cli_option *option;
    for (size_t v = 0; v < cli_program.verbs && speaker != NULL; v++) {
        const struct cli_verb *verb = cli_program.verb[v];
        if (strcmp(verb->name, speaker) != 0) {
            continue;
        }
        for (size_t i = 0; (option = cli_option_at(verb, i)) != NULL; i++) {
            if (strlen(option->name) == size &&
                strncmp(option->name, name, size) == 0) {
                return true;
            }
        }
    }
    return false;
}

bool
cli_names_option(const struct sotto_error *err)
{
    return err->about == SOTTO_ABOUT_SETTING &&
           has_option(err->subject, strlen(err->subject));
}

int
cli_exit(enum sotto_status status, const struct sotto_error *err)
{
    return status == SOTTO_STATUS_OK ? CLI_EXIT_DONE : cli_fail(err);
}

int
cli_no_memory(void)
{
    cli_error("out of memory");
    return CLI_EXIT_FAILED;
}

static bool pipe_failed; /* a file that is standard output could not be
                             written */

/* Of a pipe, POLLERR says that its reading end is closed. */
bool
cli_output_gone(bool lost)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return (lost || pipe_failed) && poll(&out, 1, 0) == 1 &&
           (out.revents & POLLERR) != 0;
}

/* Whether it was standard output, and nobody reads that any more. */
static bool
fails_by_pipe(const struct sotto_error *err)
{
    bool written = err->status == SOTTO_STATUS_IO &&
                   err->about == SOTTO_ABOUT_FILE &&
                   cli_summary(err->subject) == stderr;
    pipe_failed = pipe_failed || (written && cli_output_gone(true));
    return written && pipe_failed;
}

int
cli_fail(const struct sotto_error *err)
{
    char hint[2 * sizeof err->remedy + 8] = "";
    size_t used = 0;
    if (fails_by_pipe(err)) {
        return CLI_EXIT_FAILED; /* main.c ends as other programs do */
    }
    for (const char *at = err->remedy; *at != '\0'; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        if (has_option(at, size)) {
            used +=
                (size_t)snprintf(hint + used, sizeof hint - used, "%s--%.*s",
                                 used > 0 ? ", " : " (", (int)size, at);
        }
        at += size;
    }
    say_message(cli_names_option(err) ? "--" : "", "%s%s%s",
                err->message[0] != '\0' ? err->message
                                        : sotto_status_message(err->status),
                hint, used > 0 ? ")" : "");
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
