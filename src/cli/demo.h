/*
 * demo.h: what the demo found, and the page it is told on.
 *
 *     cmd_demo.c        runs the story, step by step
 *     demo_folder.c     the folder it may write in
 *     demo_estimate.c   what the reports say, beside the truth
 *     demo_html.c       writes report.html from struct demo
 *     demo_plot.c       the page's pictures
 *     demo_data.c       the records, generated
 */
#ifndef SOTTO_CLI_DEMO_H
#define SOTTO_CLI_DEMO_H

#include "cli/cli.h"
#include "cli/records.h"

#define DEMO_ROWS_MAX 12u
#define DEMO_FILES_MAX 8u
#define DEMO_CONFIDENCE 0.95
#define DEMO_MECHANISM "sotto demo" /* the mechanism's name */

/* Lines of data/wdbc.csv, the header the first, each with its line break. */
extern const char *const demo_data[];
extern const size_t demo_data_lines;

/* One estimate beside the truth. */
struct demo_row {
    char name[64];
    char category[64]; /* "" for a mean */
    double truth;
    double value, low, high;
    double noise;                 /* deviation of `value` by noise alone */
    double range_low, range_high; /* of a mean's column; 0 and 1 else */
};

/* A field of the first person's record, and what their report says of it. */
struct demo_field {
    char name[64];
    char record[64];
    char report[64];
};

struct demo_file {
    char name[64];
    const char *what;
    size_t size;
    char hash[65]; /* SHA-256, hexadecimal */
};

struct demo {
    const char *folder;
    const char *eps; /* decimal text */
    bool simulated;
    uint64_t seed;
    double eps_total, eps_each, eps_label;
    size_t answers; /* columns, and shares of the budget */
    size_t auxiliary, people;
    size_t report_size;
    char hash[2 * SOTTO_HASH_SIZE + 1]; /* of the mechanism */
    char comment[256];                  /* of the signature */
    struct demo_row row[DEMO_ROWS_MAX];
    size_t rows;
    size_t covered; /* rows whose interval holds the truth */
    struct demo_field field[DEMO_ROWS_MAX];
    size_t fields;
    char *report_json; /* the first person's report */
    struct demo_file file[DEMO_FILES_MAX];
    size_t files;
};

/* What is open while the story runs. */
struct demo_story {
    const struct cli_args *args;
    struct demo demo;
    struct sotto_mechanism *mechanism;
    struct sotto_table *people;
    struct records records;
};

/* Makes the folder; one that is there must be empty or hold the demo.sotto of
   an earlier demo. Returns the exit status. */
int demo_folder_make(const char *path);

/* Fills the rows, the fields and report_json; returns the exit status. */
int demo_estimate(struct demo_story *story,
                  const struct sotto_report_reader *reader);

/* Whether the interval holds the truth. */
bool demo_row_covered(const struct demo_row *row);

/* The features the demo asks about, beside the diagnosis; NULL ends them. */
extern const char *const demo_features[];

/* Writes DIR/report.html. False, with the message printed, if it cannot. */
bool demo_html_write(const struct demo *demo, const char *path);

/* Text with &, <, > and quotes escaped. */
void demo_html_text(FILE *to, const char *text);

/* The pictures: inline SVG, coloured by the page's style. */
void demo_plot_means(FILE *to, const struct demo *demo);
void demo_plot_frequencies(FILE *to, const struct demo *demo);
void demo_plot_people(FILE *to, const struct demo *demo);
/* Half the interval's width at n people, as a share of the range. */
double demo_half_width(const struct demo *demo, const struct demo_row *row,
                       double n);

#endif
