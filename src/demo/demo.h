/*
 * demo.h: what the demo found, and the page it is told on.
 *
 *     cmd_demo.c         runs the story, step by step
 *     demo_folder.c      the folder it may write in, and the files there
 *     demo_settings.c    the numbers behind it, in one place
 *     demo_mechanism.c   encoders, mechanisms, signatures
 *     demo_collect.c     reports are collected: the collector, or a file
 *     demo_devices.c     people's devices, which send to it
 *     demo_learn.c       classifiers from the reports, and their accuracy
 *     demo_people.c      what a few people's reports say, and all of them
 *     demo_page.c        report.html and by-hand.sh from struct demo
 *     demo_data.c        the digits, and the templates of these two;
 *     demo_template.c    scripts/embed.cmake makes both
 */
#ifndef SOTTO_DEMO_DEMO_H
#define SOTTO_DEMO_DEMO_H

#include "cli/cli.h"
#include "cli/watch.h"
#include "host/embedded.h"
#include "verb/records.h"

#define DEMO_MECHANISM "sotto demo" /* the mechanisms' name */
#define DEMO_LABEL "label"
#define DEMO_BUDGETS_MAX 6u
#define DEMO_FILES_MAX 48u
#define DEMO_PEOPLE 6u /* of whom the page tells */
#define DEMO_SIDE 14u
#define DEMO_PIXELS 196u /* DEMO_SIDE squared */
#define DEMO_CLASSES 10u
#define DEMO_SYMBOLS 11u    /* of the label: "other" is one */
#define DEMO_CODES_MAX 300u /* cells of 6,000 records, the most codes */
#define DEMO_CELLS 20u      /* of an epsilon, that the page shows */
#define DEMO_PATH_SIZE 4096u
#define DEMO_CAMPAIGNS "campaigns" /* the collector's folder of mechanisms */
#define DEMO_STORE "collected.db"

extern const struct embedded demo_data[]; /* digits */
extern const size_t demo_data_count;
extern const struct embedded demo_template[]; /* by-hand.sh, page.html */
extern const size_t demo_template_count;

/* Who learnt: from reports of a code and a label in one, knowing the channel;
   from reports of eight numbers and a label, knowing the noise; and from these
   as if there were none. */
enum demo_learner {
    DEMO_LEARNER_CODES = 0,
    DEMO_LEARNER_NUMBERS = 1,
    DEMO_LEARNER_PLAIN = 2,
    DEMO_LEARNERS = 3
};
extern const char *const demo_learner_name[DEMO_LEARNERS];

/* What is reported. */
enum demo_kind { DEMO_KIND_CODES = 0, DEMO_KIND_NUMBERS = 1 };
extern const char *const demo_kind_name[2];

/* ---- Settings ------------------------------------------------------------ */

/* What suits reports of numbers at an epsilon. */
struct demo_setting {
    double eps;
    double lambda; /* the record's share of it */
    double decay;
    double entropy;
};

/* How much work it is; less of it in a quick demo. */
struct demo_effort {
    const char *eps;               /* the list */
    uint32_t epochs;               /* of the contrastive encoder */
    uint32_t numbers_epochs;       /* of the variational one */
    uint32_t fit_epochs, restarts; /* of what learns from its reports */
    size_t prior;                  /* points */
    uint32_t particles;            /* of what learns from codes: a quarter of
                                      fit's own are as right, sooner */
    size_t devices;                /* that people's reports are sent from */
};

#define DEMO_TRAIN_EPS "8" /* of the two encoders' own files */
#define DEMO_CODE_D "32"   /* numbers that cells are cut from */
#define DEMO_TEMPERATURE "0.2"
#define DEMO_CODE_BATCH "128"
#define DEMO_CHANNEL "subset" /* signs would take as long again */
#define DEMO_D "8"            /* numbers that are reported */
#define DEMO_HIDDEN "128,64"
#define DEMO_RADIUS "10"
#define DEMO_EPS_PRE "26"
#define DEMO_BATCH "64"
#define DEMO_TRAIN_LAMBDA "0.7"
#define DEMO_RATE 0.02 /* of the classifiers from numbers */
#define DEMO_BATCHES 10u
#define DEMO_SHARE_WEIGHT 0.1

struct demo;
struct demo_budget;
const struct demo_effort *demo_effort(bool quick);
/* The epsilon that the headline is about, and whose reports take the whole way:
   the nearest to 2. */
const struct demo_budget *demo_headline(const struct demo *demo);
/* The setting for the epsilon nearest to this one. */
const struct demo_setting *demo_setting(double eps);

/* ---- What was found ------------------------------------------------------ */

/* One epsilon: what is reported, and what could be learnt. */
struct demo_budget {
    char text[32]; /* as it was given */
    double eps;
    const struct demo_setting *setting;
    size_t k;           /* codes */
    size_t pairs;       /* of a code and a label */
    size_t named;       /* in every report */
    size_t report_size; /* of codes */
    size_t numbers_size;
    double accuracy[DEMO_LEARNERS];
};

/* What a report says: pairs of a code and a label. */
struct demo_report {
    bool names[DEMO_CODES_MAX][DEMO_SYMBOLS];
};

/* A person: in life, only `report` leaves the device, and one of them. */
struct demo_person {
    char label[16];
    size_t symbol; /* the label's */
    float image[DEMO_PIXELS];
    struct demo_report report[DEMO_BUDGETS_MAX];
};

/* A code: what auxiliary images that have it look like, which is public, and
   the label that all reports together give it. */
struct demo_cell {
    char label[16];
    double sure;  /* probability of it, the mean over those images */
    double share; /* of the auxiliary images */
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
    size_t devices, requests; /* of them to the collector */
    size_t cells;             /* that codes are put together from */
    char comment[256];        /* of the signature */
    struct demo_budget budget[DEMO_BUDGETS_MAX];
    size_t budgets;
    double clean; /* accuracy without privacy */
    struct demo_person person[DEMO_PEOPLE];
    size_t persons;
    struct demo_cell cell[DEMO_BUDGETS_MAX][DEMO_CELLS]; /* largest first */
    struct demo_file file[DEMO_FILES_MAX];
    size_t files;
};

/* What is open while the story runs. */
struct demo_story {
    const struct cli_args *args;
    struct demo demo;
    struct watch watch;
    struct sotto_table *auxiliary, *people, *test;
    struct sotto_codebook *codebook;
    struct sotto_mechanism *numbers; /* numbers.sotto */
    struct sotto_analyst *analyst;   /* numbers.analyst */
};

/* ---- Files --------------------------------------------------------------- */

/* Makes the folder; one that is there must be empty, or an earlier demo's, also
   one that was stopped: it has the first file a demo writes, or its
   encoder.sotto.
   Returns the exit status. */
int demo_folder_make(const char *path);
/* The path of a file in the folder. */
const char *demo_place(const struct demo *demo, const char *name,
                       char path[DEMO_PATH_SIZE]);
/* Makes a folder in it; of one that is there, removes the files whose names
   begin with `prefix`, an earlier demo's. */
int demo_folder_clear(const struct demo *demo, const char *name,
                      const char *prefix);
/* Writes a file of it. */
int demo_write(const struct demo *demo, const char *name, const void *data,
               size_t size);
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

/* encoder.sotto and encoder.analyst from the auxiliary images, and the cells
   they fall into. */
int demo_train_codes(struct demo_story *story);
/* numbers.sotto and numbers.analyst. */
int demo_train_numbers(struct demo_story *story);
/* collector.key and collector.pub. */
int demo_keys(struct demo_story *story);
/* The campaign of an epsilon: a point of its number is an underscore there. */
const char *demo_campaign(const struct demo_budget *budget,
                          char name[DEMO_NAME_SIZE]);
/* The path of a mechanism: DIR/KIND-EPS.sotto; but of the headline's codes
   DIR/campaigns/CAMPAIGN.sotto, from where the collector serves it. */
const char *demo_mechanism_place(const struct demo *demo, enum demo_kind kind,
                                 const struct demo_budget *budget,
                                 char path[DEMO_PATH_SIZE]);
/* The mechanism of an epsilon, at its place, signed, read back and checked;
   with codes, their number is chosen, and DIR/codes-EPS.analyst is made. The
   caller frees it. */
int demo_mechanism(struct demo_story *story, enum demo_kind kind,
                   struct demo_budget *budget,
                   struct sotto_mechanism **ret_mechanism);
/* Makes the report of the person in a row, as their device would. */
enum sotto_status demo_simulate(const struct demo_story *story,
                                struct sotto_mechanism *mechanism,
                                struct sotto_records *records, size_t row,
                                uint8_t *report, size_t size,
                                struct sotto_error *err);
/*
 * Reports are collected, one of each person. Those of the headline's codes: a
 * collector starts, devices send to it, and they are read from its store. Those
 * of others, who would be asked in another life, are written to
 * KIND-EPS.reports and read back. The caller frees the reader.
 */
int demo_collect(struct demo_story *story, enum demo_kind kind,
                 const struct demo_budget *budget,
                 struct sotto_mechanism *mechanism,
                 struct sotto_report_reader **ret_reader);
/* Every device has its turn: the first fetches codes-EPS.sotto, and all send to
   the collector at that port. */
int demo_devices(struct demo_story *story, const struct demo_budget *budget,
                 struct sotto_mechanism *mechanism, unsigned port);
/* Learns, writes the model and measures it. `ret_model`, if not NULL, receives
   the model, which the caller frees. */
int demo_learn(struct demo_story *story, struct demo_budget *budget,
               enum demo_learner learner, struct sotto_mechanism *mechanism,
               const struct sotto_analyst *analyst,
               const struct sotto_report_reader *reader,
               struct sotto_model **ret_model);
/* The same from the people's true records and labels. */
int demo_learn_clean(struct demo_story *story,
                     struct sotto_mechanism *mechanism);
/* Fills persons. What a device sent only the device knows: their reports are
   made once more. */
int demo_people(struct demo_story *story, size_t budget,
                struct sotto_mechanism *mechanism);
/* Fills the cells of an epsilon. */
int demo_cells(struct demo_story *story, size_t budget,
               const struct sotto_analyst *analyst, struct sotto_model *model);

/* ---- The page ------------------------------------------------------------ */

/* Writes DIR/by-hand.sh, the commands that do all this again, to files of their
   own, and DIR/report.html. Returns the exit status. */
int demo_page_write(const struct demo *demo);

#endif
