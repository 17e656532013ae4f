/*
 * password.c: a key's password, from a file or from the terminal.
 *
 * On the terminal nothing typed is shown, and a signal that would end the
 * program meanwhile first gives the terminal its echo back.
 */
#include "cli/password.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/cli.h"

static volatile sig_atomic_t interrupted;
static pthread_t asking; /* the thread that waits for the password */

/* A signal to the process may come to any thread that does not hold it back (a
   library may have some of its own), and would not end the waiting there. */
static void
keep_terminal(int number)
{
    if (pthread_equal(pthread_self(), asking)) {
        interrupted = number;
    } else {
        (void)pthread_kill(asking, number);
    }
}

/*
 * read() of one byte. With `heard`, the signals not in it are delivered
 * only while this waits, so none comes unseen just before the waiting begins.
 */
static ssize_t
read_byte(int fd, const sigset_t *heard, char *ret_byte)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (heard != NULL && ppoll(&ready, 1, NULL, heard) < 0) {
        return -1;
    }
    return read(fd, ret_byte, 1);
}

/* Reads one line, without its end, byte by byte so that nothing behind it is
   taken and no buffer keeps a copy. False: too long, a NUL, or an error. */
static bool
read_line(int fd, const sigset_t *heard, char password[PASSWORD_SIZE])
{
    size_t size = 0;
    char byte = 0;
    ssize_t got;
    while ((got = read_byte(fd, heard, &byte)) == 1 && byte != '\n') {
        if (size + 2 > PASSWORD_SIZE || byte == '\0') {
            return false;
        }
        password[size++] = byte;
    }
    if (size > 0 && password[size - 1] == '\r') {
        size--;
    }
    password[size] = '\0';
    return got >= 0;
}

static int
check_password(const char *where, const char *password)
{
    if (password[0] == '\0') {
        return cli_bad("the password %s is empty", where);
    }
    return CLI_EXIT_DONE;
}

int
password_read(const char *path, char password[PASSWORD_SIZE])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        cli_error("cannot read '%.240s': %s; check the name after "
                  "--password-file",
                  path, strerror(errno));
        return CLI_EXIT_FAILED;
    }
    bool read = read_line(fd, NULL, password);
    (void)close(fd);
    if (!read) {
        return cli_bad("'%.240s' holds no password: its first line must have "
                       "at most 1024 bytes, none of them zero",
                       path);
    }
    return check_password("in the file", password);
}

/* One line from the terminal at `fd` with echo off. */
static bool
ask_once(int fd, const char *prompt, char password[PASSWORD_SIZE])
{
    struct termios old, silent;
    struct sigaction action = {.sa_handler = keep_terminal}, interrupt,
                     terminate;
    sigset_t held, heard;
    if (tcgetattr(fd, &old) != 0) {
        return false;
    }
    silent = old;
    silent.c_lflag &= ~(tcflag_t)ECHO;
    interrupted = 0;
    asking = pthread_self();
    (void)sigemptyset(&held);
    (void)sigaddset(&held, SIGINT);
    (void)sigaddset(&held, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &held, &heard);
    (void)sigaction(SIGINT, &action, &interrupt);
    (void)sigaction(SIGTERM, &action, &terminate);
    bool good = tcsetattr(fd, TCSAFLUSH, &silent) == 0 &&
                write(fd, prompt, strlen(prompt)) > 0 &&
                read_line(fd, &heard, password);
    (void)tcsetattr(fd, TCSAFLUSH, &old);
    (void)!write(fd, "\n", 1);
    (void)sigaction(SIGINT, &interrupt, NULL);
    (void)sigaction(SIGTERM, &terminate, NULL);
    (void)sigprocmask(SIG_SETMASK, &heard, NULL);
    if (interrupted != 0) {
        explicit_bzero(password, PASSWORD_SIZE);
        (void)raise(interrupted);
    }
    return good && interrupted == 0;
}

int
password_ask(bool repeat, char password[PASSWORD_SIZE])
{
    char again[PASSWORD_SIZE];
    int status = CLI_EXIT_DONE;
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return cli_bad("a password is needed and there is no terminal to ask "
                       "on: give --password-file FILE%s",
                       repeat ? ", or --no-password for a key that whoever "
                                "reads the file can sign with"
                              : "");
    }
    if (!ask_once(fd, repeat ? "New password: " : "Password: ", password) ||
        (repeat && !ask_once(fd, "The same again: ", again))) {
        status = cli_bad("no password was read: it has at most 1024 bytes");
    } else if (repeat && strcmp(password, again) != 0) {
        status = cli_bad("the two passwords differ: try again");
    } else {
        status = check_password("typed", password);
    }
    explicit_bzero(again, sizeof again);
    (void)close(fd);
    return status;
}
