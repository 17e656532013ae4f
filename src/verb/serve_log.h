/*
 * serve_log.h: what a collector says of its work, a line each on standard
 * error: for people, for systemd's journal, or as JSON.
 */
#ifndef SOTTO_VERB_SERVE_LOG_H
#define SOTTO_VERB_SERVE_LOG_H

#include <pthread.h>
#include <stdbool.h>

#include "sotto/collecting.h"

struct serve_log {
    pthread_mutex_t lock; /* threads of the collector speak, too */
    bool json;
    bool journal; /* standard error is the journal's, which has the time */
};

void serve_log_init(struct serve_log *log, bool json);
void serve_log_clear(struct serve_log *log);
/* `log` of struct sotto_collector_options, whose context is one of these. */
void serve_log_write(void *log, enum sotto_log_level level, const char *code,
                     const char *text);

#endif
