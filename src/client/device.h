/*
 * device.h: an opened mechanism, and the stages a record passes through.
 *
 *     values --schema--> x, symbols --encoder--> z --domain--> q --channel-->
 *     report
 *
 * A struct sotto_client lies at the start of the caller's workspace; all it
 * points to lies in the workspace or in the caller's mechanism file.
 */
#ifndef SOTTO_CLIENT_DEVICE_H
#define SOTTO_CLIENT_DEVICE_H

#include "channel/channel.h"
#include "encode/layer.h"
#include "client/reader.h"
#include "client/wiring.h"
#include "random/random.h"
#include "sotto/client.h"

#define DEVICE_COLUMNS_MAX 4096u
#define DEVICE_LAYERS_MAX WIRING_LAYERS_MAX
#define DEVICE_PARTS_MAX 4096u
#define DEVICE_FACTORS_MAX 4u
#define DEVICE_WIDTH_MAX (1u << 20)  /* entries of x, z or a layer */
#define DEVICE_POINTS_MAX (1u << 16) /* domains of one report */
#define DEVICE_OWN_MAX (1u << 24)    /* bytes of channels' own parameters */
#define DEVICE_DRAWN_MAX (1u << 26)  /* bytes of entropy that a report draws */
#define DEVICE_WORK_MAX (UINT64_C(1) << 32) /* multiply-adds of a record */
#define DEVICE_KERNEL_MAX 31u
#define DEVICE_STRIDE_MAX 16u
#define DEVICE_HEADER_MAX (1u << 24) /* bytes of JSON */
#define DEVICE_TEXT_MAX 120u         /* characters of a name */
#define DEVICE_ENTROPY_MAX 4096u     /* bytes fetched at a time */

enum device_column_kind {
    DEVICE_COLUMN_NUMBER = 0,
    DEVICE_COLUMN_CATEGORY = 1,
    DEVICE_COLUMN_BYTES = 2
};

/* Column i of a record. */
struct device_column {
    enum device_column_kind kind;
    uint32_t count;      /* bytes, or symbols with the last one for "other" */
    uint32_t inputs;     /* entries of x it fills, 0 for none */
    bool missing;        /* a missing value is told from others */
    bool clip;           /* number: x is kept from -1 to 1 */
    const uint8_t *text; /* name, then count-1 values, each NUL-terminated */
};

/* One factor of a symbol: a category column, or the largest of k outputs; or
   (k = 2) whether the largest of `choices` outputs is the symbol of `column`.
 */
struct device_factor {
    bool is_column, equal;
    uint32_t at; /* the column, or the first entry of z */
    uint32_t k;
    uint32_t column, choices; /* `equal` */
};

/* Puts d floats into a domain of numbers with radius l, whatever they are. */
typedef void domain_function(const float *z, uint32_t d, uint32_t l,
                             int32_t *ret_q);

/* One channel and where its q comes from; `blocks` domains in a row. */
struct device_part {
    struct channel_instance instance;
    uint32_t blocks;
    uint32_t from;          /* numbers: first entry of z */
    domain_function *place; /* numbers: z to q; NULL for symbols */
    uint32_t factors;       /* symbols: how many */
    struct device_factor factor[DEVICE_FACTORS_MAX];
    struct reader_word covers; /* features, label or both */
};

/* What the workspace must hold; known after a first reading. */
struct device_sizes {
    uint32_t columns, layers, parts;
    uint32_t inputs;   /* entries of x */
    uint32_t width;    /* widest of x and all layers */
    uint32_t q;        /* entries of the largest q */
    uint64_t channels; /* bytes of the channels' own parameters */
    uint64_t floats;   /* of the forward pass: a width for each buffer */
    uint64_t work;     /* multiply-adds of one record */
};

struct sotto_client {
    const uint8_t *mechanism;
    size_t mechanism_size;
    size_t workspace_size;
    uint8_t hash[SOTTO_HASH_SIZE];
    bool uneven; /* numbers so small that its time could tell of a record */
    struct device_sizes sizes;
    struct reader_word name, campaign, auxiliary, eps_text, delta_text;
    struct reader_word central_eps, central_delta; /* empty: none is stated */
    uint64_t expires; /* seconds since 1970; 0: never */
    uint32_t version; /* of the grammar: 1 or 2 */
    uint64_t eps;     /* stated total, units of 10^-12 */
    uint64_t delta;   /* likewise; 0: pure */
    size_t report_size;

    struct device_column *column;
    struct layer *layer;
    struct device_part *part;
    uint8_t *channels; /* used from the front */
    const double *shift;
    const double *scale;
    const uint8_t *text;
    size_t text_size;

    /* What one record leaves behind; wiped after every report. */
    float *x;
    float *z;        /* the encoder's output */
    float *input;    /* what went into the last layer */
    float *buffer;   /* x, z and all between lie in it */
    int32_t *symbol; /* of each category column */
    int32_t *q;
    struct entropy entropy;
    uint8_t entropy_buffer[DEVICE_ENTROPY_MAX];
};

/* manifest.c: reads the whole header. Without a client only the sizes are
   gathered; with one, `sizes` are those gathered before, and it is filled. */
void manifest_read(struct reader *reader, struct device_sizes *sizes,
                   struct sotto_client *client);

/* layer.c: reads layer `at`; of version 1 or 2. What it takes is not looked
   at. */
struct layer layer_read(struct reader *reader, uint32_t version, uint32_t at);

/* bundle.c: checks the layout of tensors against the manifest and points the
   client at them. */
void bundle_bind(struct reader *reader, struct sotto_client *client);

/* schema.c: values to x and symbols. Total on content (invariant 4). */
void schema_apply(struct sotto_client *client,
                  const struct sotto_value *values);

/* forward.c: x to z. */
float (*forward_activation(enum activation activation))(float);
/* The buffers as every run finds them, with x for z. */
void forward_start(struct sotto_client *client);
void forward_run(struct sotto_client *client);
/* x to the output of the first `layers` layers, as z: for analysts. Either run
   may write over x: schema_apply comes before each. */
void forward_run_to(struct sotto_client *client, uint32_t layers);

/* image.c: layers over images. `added` is NULL or what is added. */
void image_conv(const struct layer *layer, const float *x, const float *added,
                float *y);
void image_pool(const struct layer *layer, const float *x, float *y);

/* domain.c: z to q, by integer arithmetic (invariant 1). */
domain_function domain_lattice;
domain_function domain_ball;
domain_function domain_cube;
int32_t domain_largest(const float *z, uint32_t k);

/* The name of a channel's domain in a manifest. */
const char *domain_key(enum channel_domain domain);
/* What places points in it; NULL for symbols. */
domain_function *domain_place(enum channel_domain domain);

/* report.c: z and symbols to a report. From here on the instructions executed
   depend on neither the record nor the noise (invariant 7). */
#define REPORT_MAGIC_SIZE 4u
#define REPORT_HEADER_SIZE (REPORT_MAGIC_SIZE + SOTTO_HASH_SIZE + SOTTO_ID_SIZE)
#define REPORT_MAGIC "STO1"
#define REPORT_MAGIC_SIMULATED "SIM1"
/* Bytes of a report; 0 if beyond DEVICE_POINTS_MAX domains. */
size_t report_measure(const struct sotto_client *client, uint64_t *ret_entropy);
void report_make(struct sotto_client *client, struct entropy *entropy,
                 uint8_t *ret_report);
/* The same steps for a simulation: another type of source, another mark. */
void report_simulate(struct sotto_client *client, struct simulation *simulation,
                     uint8_t *ret_report);
/* The point of a part's block, in client->q, once z and symbols are there. */
void report_point(const struct sotto_client *client,
                  const struct device_part *part, uint32_t block);
/* Whether the bytes are a report of this mechanism, simulated or not. */
bool report_valid(const struct sotto_client *client, const uint8_t *report,
                  size_t size);
/* Whether it bears the mark of a simulation: never to be released. */
bool report_simulated(const uint8_t *report);

/* client.c: sotto_client_open, which refuses an uneven mechanism; or, to look
   at `uneven` ones too, for analysts: no report is made with one. */
enum sotto_status device_open(const void *mechanism, size_t size,
                              const uint8_t *pin, void *workspace,
                              size_t workspace_size, bool uneven,
                              struct sotto_client **ret_client,
                              struct sotto_error *err);

/* Wipes everything the last record left in the workspace. */
void device_wipe(struct sotto_client *client);

#endif
