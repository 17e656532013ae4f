/*
 * postgres_server.h: a PostgreSQL server of the tests' own, of Debian's
 * package, in the scratch folder, on a socket there and nowhere else. It
 * refuses to be root's: then it is nobody's.
 */
#ifndef SOTTO_TESTS_POSTGRES_SERVER_H
#define SOTTO_TESTS_POSTGRES_SERVER_H

#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store_fixture.h"

#define SKIPPED 77 /* there is no PostgreSQL on this machine */

static struct {
    char bin[200], data[128], socket[128];
    pid_t id; /* 0: none runs */
    PGconn *db;
} server;

/* ---- Programs ------------------------------------------------------------ */

/* The latest one there is. */
static inline bool
server_find(void)
{
    glob_t found;
    bool there =
        glob("/usr/lib/postgresql/*/bin/postgres", 0, NULL, &found) == 0 &&
        found.gl_pathc > 0;
    if (there) {
        (void)snprintf(server.bin, sizeof server.bin, "%s",
                       found.gl_pathv[found.gl_pathc - 1]);
        *strrchr(server.bin, '/') = '\0';
        globfree(&found);
    }
    return there;
}

/* Becomes a program, as nobody if this is root; what it says goes to a file. */
_Noreturn static inline void
server_become(const char *const words[])
{
    char *plain[40] = {NULL};
    char program[300], log[200];
    const struct passwd *nobody = getpwnam("nobody");
    (void)snprintf(program, sizeof program, "%s/%s", server.bin, words[0]);
    (void)snprintf(log, sizeof log, "%s.log", server.data);
    int to = open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    (void)dup2(to, 1);
    (void)dup2(to, 2);
    (void)setpgid(0, 0); /* signals are for whom they name */
    if (getuid() == 0 &&
        (nobody == NULL || setgroups(0, NULL) != 0 ||
         setgid(nobody->pw_gid) != 0 || setuid(nobody->pw_uid) != 0)) {
        _exit(126);
    }
    for (size_t i = 0; words[i] != NULL; i++) {
        plain[i] = strdup(i == 0 ? program : words[i]); /* it looks beside it */
    }
    if (prctl(PR_SET_PDEATHSIG, SIGQUIT) == 0 && chdir("/") == 0) {
        (void)execv(program, plain);
    }
    _exit(127);
}

static inline void
server_run(const char *const words[])
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        server_become(words);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0) {
        char command[300];
        (void)snprintf(command, sizeof command, "cat '%s.log'", server.data);
        fail_msg("%s ended with %d (%d)", words[0], status, system(command));
    }
}

/* ---- Its life ------------------------------------------------------------ */

static inline void
server_make(void)
{
    const struct passwd *nobody = getpwnam("nobody");
    (void)snprintf(server.data, sizeof server.data, "%s/pg", folder);
    (void)snprintf(server.socket, sizeof server.socket, "%s/pg", folder);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(mkdir(server.data, 0700), 0);
    if (getuid() == 0) {
        assert_non_null(nobody);
        assert_int_equal(chown(server.data, nobody->pw_uid, nobody->pw_gid), 0);
    }
    const char *const words[] = {"initdb", "-D", server.data,   "-U",
                                 "sotto",  "-A", "trust",       "-E",
                                 "UTF8",   "-N", "--no-locale", NULL};
    server_run(words);
}

/* Memory of its own kind, for a bare system may have no /dev/shm. */
static inline void
server_launch(void)
{
    const char *const words[] = {"postgres",
                                 "-D",
                                 server.data,
                                 "-k",
                                 server.socket,
                                 "-c",
                                 "listen_addresses=",
                                 "-c",
                                 "dynamic_shared_memory_type=mmap",
                                 "-c",
                                 "max_connections=20",
                                 "-c",
                                 "shared_buffers=32MB",
                                 "-c",
                                 "autovacuum=off",
                                 NULL};
    server.id = fork();
    if (server.id == 0) {
        server_become(words);
    }
    assert_true(server.id > 0);
}

/* Till it takes connections; half a minute is for slow machines. One whose
   predecessor was killed ends at once while that one's processes live. */
static inline void
server_start(void)
{
    char text[300];
    (void)snprintf(text, sizeof text, "host=%s user=sotto dbname=postgres",
                   server.socket);
    server_launch();
    for (unsigned i = 0; i < 1500; i++) {
        server.db = PQconnectdb(text);
        if (PQstatus(server.db) == CONNECTION_OK) {
            return;
        }
        PQfinish(server.db);
        server.db = NULL;
        (void)nanosleep(&(struct timespec){0, 20000000}, NULL);
        if (waitpid(server.id, NULL, WNOHANG) == server.id) {
            server_launch();
        }
    }
    fail_msg("the server of %s does not start", server.data);
}

/* SIGINT ends it in order; SIGQUIT at once, and what follows is as after a
   crash; SIGKILL is one. */
static inline void
server_stop(int number)
{
    int status = 0;
    PQfinish(server.db);
    server.db = NULL;
    if (server.id > 0) {
        (void)kill(server.id, number);
        (void)waitpid(server.id, &status, 0);
    }
    server.id = 0;
}

static inline void
server_say(const char *text)
{
    PGresult *result = PQexec(server.db, text);
    if (PQresultStatus(result) != PGRES_COMMAND_OK &&
        PQresultStatus(result) != PGRES_TUPLES_OK) {
        fail_msg("%s: %s", text, PQerrorMessage(server.db));
    }
    PQclear(result);
}

/* The number that a statement gives. */
static inline long
server_ask(const char *text)
{
    PGresult *result = PQexec(server.db, text);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        fail_msg("%s: %s", text, PQerrorMessage(server.db));
    }
    long number = strtol(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return number;
}

static inline int
server_set_up(void **state)
{
    if (setup(state) != 0) {
        return -1;
    }
    server_make();
    server_start();
    return 0;
}

static inline int
server_tear_down(void **state)
{
    server_stop(SIGINT);
    return teardown(state);
}

/* ---- Stores -------------------------------------------------------------- */

/* Names a store that is not there yet, in a schema of its own, and makes
   `window_keys` a folder of its own. */
static inline void
server_new_url(char *to, size_t room)
{
    static unsigned number;
    static char keys[200];
    char text[64];
    (void)snprintf(text, sizeof text, "CREATE SCHEMA s%u", ++number);
    server_say(text);
    (void)snprintf(to, room,
                   "postgres:///postgres?host=%s&user=sotto&"
                   "options=-csearch_path%%3Ds%u",
                   server.socket, number);
    (void)snprintf(keys, sizeof keys, "%s/keys%u", folder, number);
    window_keys = keys;
}

#endif
