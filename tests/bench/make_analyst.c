/*
 * make_analyst.c: a store of simulated reports and its mechanism, for
 * scripts/analyst_peers:
 *
 *     make_analyst FOLDER flip|subset REPORTS
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench_analyst.h"

int
main(int argc, char **argv)
{
    struct sotto_error err = {0};
    if (argc != 4) {
        (void)fprintf(stderr, "make_analyst FOLDER CHANNEL REPORTS\n");
        return 2;
    }
    if (bench_analyst_make(argv[1], argv[2], strtoull(argv[3], NULL, 10),
                           &err) != SOTTO_STATUS_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    return 0;
}
