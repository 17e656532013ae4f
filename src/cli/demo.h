/*
 * demo.h: what the demo found, and the page it is told on.
 *
 *     cmd_demo.c         runs the story, step by step
 *     demo_folder.c      the folder it may write in, and the files there
 *     demo_settings.c    the numbers behind it, in one place
 *     demo_privatise.c   mechanisms, signatures, reports
 *     demo_learn.c       classifiers from the reports, and their accuracy
 *     demo_people.c      what reports decode to
 *     demo_html.c        writes report.html from struct demo
 *     demo_style.c       the page's style
 *     demo_plot.c        the page's pictures
 *     demo_commands.c    the same by hand, with the other verbs
 *     demo_data.c        the digits; scripts/embed.cmake makes it
 */
#ifndef SOTTO_CLI_DEMO_H
#define SOTTO_CLI_DEMO_H

#include "cli/cli.h"
#include "cli/records.h"
#include "cli/watch.h"

#define DEMO_MECHANISM "sotto demo" /* the mechanisms' name */
#define DEMO_LABEL "label"
#define DEMO_BUDGETS_MAX 6u
#define DEMO_FILES_MAX 48u
#define DEMO_PEOPLE 6u /* of whom the page tells */
#define DEMO_SIDE 14u
#define DEMO_PIXELS 196u /* DEMO_SIDE squared */
#define DEMO_CLASSES 10u
#define DEMO_D 8u
#define DEMO_PATH_SIZE 4096u

/* An embedded file. */
struct demo_data {
    const char *name;
    const uint8_t *bytes;
    size_t size;
};
extern const struct demo_data demo_data[];
extern const size_t demo_data_count;

/* Who learnt: from our reports knowing the noise, from the same reports as if
   there were none, and from reports whose noise is on the pixels. */
enum demo_learner {
    DEMO_LEARNER_OURS = 0,
    DEMO_LEARNER_PLAIN = 1,
    DEMO_LEARNER_DIRECT = 2,
    DEMO_LEARNERS = 3
};
extern const char *const demo_learner_name[DEMO_LEARNERS];

/* ---- Settings ------------------------------------------------------------ */

/* What suits an epsilon. */
struct demo_setting {
    double eps;
    double lambda; /* the record's share of it */
    double decay;
    double entropy;
};

/* How much work it is; less of it in a quick demo. */
struct demo_effort {
    const char *eps; /* the list */
    uint32_t epochs; /* of the encoder */
    uint32_t fit_epochs, restarts;
    size_t prior;        /* points */
    size_t prior_direct; /* a point of 196 numbers costs more than one of 8 */
};

#define DEMO_HIDDEN_FIRST 128u /* the encoder's layers */
#define DEMO_HIDDEN_SECOND 64u
#define DEMO_RADIUS 10.0
#define DEMO_EPS_PRE 26.0
#define DEMO_BATCH 64u
#define DEMO_TRAIN_EPS "10" /* of demo.sotto, whose encoder the others have */
#define DEMO_TRAIN_LAMBDA 0.7
#define DEMO_RATE 0.02 /* of the classifiers */
#define DEMO_BATCHES 10u
#define DEMO_SHARE_WEIGHT 0.1

const struct demo_effort *demo_effort(bool quick);
/* The setting for the epsilon nearest to this one. */
const struct demo_setting *demo_setting(double eps);

/* ---- What was found ------------------------------------------------------ */

/* One epsilon: what it was spent on, and what could be learnt. */
struct demo_budget {
    char text[32]; /* as it was given */
    double eps;
    const struct demo_setting *setting;
    double eps_record, eps_label;
    size_t classes;     /* of the label, "other" one of them */
    size_t report_size; /* ours */
    size_t direct_size; /* with noise on the pixels */
    double accuracy[DEMO_LEARNERS];
};

/* What a report says. */
struct demo_report {
    int64_t value[DEMO_D];
    char label[16];
    float image[DEMO_PIXELS]; /* what the numbers decode to, 0 to 1 */
};

/* A person: in life, only `report` leaves the device, and one of them. */
struct demo_person {
    char label[16];
    float image[DEMO_PIXELS];
    struct demo_report report[DEMO_BUDGETS_MAX];
};

/* The mean of a class, as all reports together tell it, decoded. */
struct demo_mean {
    char label[16];
    size_t reports; /* that name it */
    float image[DEMO_PIXELS];
};

struct demo_file {
    char name[64];
    const char *what;
    size_t size;
    char hash[65]; /* SHA-256, hexadecimal */
};

struct demo {
    const char *folder;
    const struct demo_effort *effort;
    bool quick;
    uint64_t seed;
    size_t auxiliary, people, test;
    size_t mechanism_size; /* bytes of the file */
    char comment[256];     /* of the signature */
    struct demo_budget budget[DEMO_BUDGETS_MAX];
    size_t budgets;
    double clean; /* accuracy without privacy */
    struct demo_person person[DEMO_PEOPLE];
    size_t persons;
    struct demo_mean mean[DEMO_BUDGETS_MAX][DEMO_CLASSES];
    struct demo_file file[DEMO_FILES_MAX];
    size_t files;
};

/* What is open while the story runs. */
struct demo_story {
    const struct cli_args *args;
    struct demo demo;
    struct watch watch;
    struct sotto_table *auxiliary, *people, *test;
    struct sotto_mechanism *mechanism; /* demo.sotto */
    struct sotto_mechanism *direct;    /* direct.sotto */
    struct sotto_analyst *analyst;
};

/* ---- Files --------------------------------------------------------------- */

/* Makes the folder; one that is there must be empty, or an earlier demo's, also
   one that was stopped: it has the first file a demo writes, or its demo.sotto.
   Returns the exit status. */
int demo_folder_make(const char *path);
/* The path of a file in the folder. */
const char *demo_place(const struct demo *demo, const char *name,
                       char path[DEMO_PATH_SIZE]);
/* Writes the embedded files, and reads them into the three tables. */
int demo_unpack(struct demo_story *story);
/* Puts a file of the folder on the page's list. */
int demo_list(struct demo *demo, const char *name, const char *what);

/* "KIND-4.ENDING": the file of an epsilon. */
#define DEMO_NAME_SIZE 64u
const char *demo_name(const char *kind, const struct demo_budget *budget,
                      const char *ending, char name[DEMO_NAME_SIZE]);

/* ---- Steps: each returns the exit status --------------------------------- */

/* Prints what went wrong, or that it was stopped; the exit status. */
int demo_fail(const struct sotto_error *err);

/* demo.sotto and demo.analyst from the auxiliary images, signed and checked;
   direct.sotto. */
int demo_train(struct demo_story *story);
int demo_sign(struct demo_story *story);
int demo_train_direct(struct demo_story *story);
/* A mechanism at another epsilon, and the people's reports with it, read back;
   the caller frees both. */
int demo_collect(struct demo_story *story, const char *kind,
                 const struct sotto_mechanism *from,
                 const struct demo_budget *budget,
                 struct sotto_mechanism **ret_mechanism,
                 struct sotto_report_reader **ret_reader);
/* How a classifier is learnt. */
struct sotto_fit_options demo_fit_options(const struct demo *demo,
                                          const struct demo_budget *budget,
                                          enum demo_learner learner);
/* Learns, writes the model and measures it. */
int demo_learn(struct demo_story *story, struct demo_budget *budget,
               enum demo_learner learner, struct sotto_mechanism *mechanism,
               const struct sotto_report_reader *reader);
/* The same from the people's true records and labels. */
int demo_learn_clean(struct demo_story *story);
/* Fills persons (at the first budget) and means. */
int demo_people(struct demo_story *story, size_t budget,
                const struct sotto_mechanism *mechanism,
                const struct sotto_report_reader *reader);

/* ---- The page ------------------------------------------------------------ */

/* Writes DIR/report.html. False, with the message printed, if it cannot. */
bool demo_html_write(const struct demo *demo, const char *path);
/* Text with &, <, > and quotes escaped. */
void demo_html_text(FILE *to, const char *text);
void demo_style(FILE *to);
/* Inline SVG, coloured by the page's style. */
void demo_plot_accuracy(FILE *to, const struct demo *demo);
void demo_plot_digit(FILE *to, const float image[DEMO_PIXELS],
                     const char *title);
/* The probability that flip leaves a label as it is. */
double demo_keep(const struct demo_budget *budget);
/* The commands that do all this again, to files of their own. */
void demo_commands(FILE *to, const struct demo *demo);

#endif
