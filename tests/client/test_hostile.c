/*
 * test_hostile.c: mechanism files over images, wrong in every number and cut
 * at every byte. None may do worse than be refused; one that opens makes a
 * valid report. Memory ends where the client was told it ends, so that a
 * sanitizer sees a step beyond.
 */
#include "image_fixture.h"

#define WORK_MOST (UINT64_C(1) << 24) /* multiply-adds: more takes too long */
#define INPUTS 72u

/* 6 x 6 x 2, a skip over two, both pools and a dense layer; two parts. */
static struct file
sample(struct net *net)
{
    static const struct compose_part parts[] = {
        {"features", "laplace", UNITS(1), 2, 0, 3, 16, {{0}}, 0, 0},
        {"both",
         "signs",
         UNITS(1),
         1,
         0,
         0,
         0,
         {{false, 0, 4}, {true, 1, 0}},
         2,
         0},
    };
    static const char *const values[] = {"v", "w"};
    static const struct schema_column columns[] = {
        {"b", SOTTO_COLUMN_BYTES, INPUTS, NULL, false, 127.5, 1 / 127.5},
        {"c", SOTTO_COLUMN_CATEGORY, 3, values, false, 0, 1},
    };
    struct compose_spec spec = {"h", "c",  "a", UNITS(3), columns,
                                2,   NULL, 0,   parts,    2};
    struct file file = {NULL, 0};
    struct sotto_error err;
    net_init(net, 6, 6, 2);
    net_conv(net, 3, 1, 1, 4, 0, "relu");
    net_conv(net, 3, 1, 1, 5, 0, "tanh");
    net_conv(net, 5, 1, 2, 4, 2, "sigmoid");
    net_pool(net, 2, 2, 1, LAYER_POOL_MAX);
    net_pool(net, 3, 2, 1, LAYER_POOL_MEAN);
    net_conv(net, 1, 1, 0, 4, 1, "relu");
    net_dense(net, 7, "none");
    spec.layer = net->layer;
    spec.layers = net->layers;
    if (compose_bytes(&spec, &file.data, &file.size, &err) != SOTTO_STATUS_OK) {
        fail_msg("compose: %s", err.message);
    }
    return file;
}

static void
use(struct sotto_client *client)
{
    uint8_t bytes[INPUTS], *report;
    size_t columns = sotto_client_columns(client);
    size_t size = sotto_client_report_size(client);
    struct sotto_value values[2] = {value_bytes(bytes, sizeof bytes),
                                    value_text("w")};
    assert_true(columns <= 2);
    if (client->sizes.work > WORK_MOST) {
        return;
    }
    memset(bytes, 77, sizeof bytes);
    report = malloc(size);
    assert_non_null(report);
    assert_int_equal(
        sotto_client_privatise(client, values, columns, report, size),
        SOTTO_STATUS_OK);
    assert_true(report_valid(&client->report, report, size));
    free(report);
}

/* Opens what opens, and uses it; returns whether it did. */
static bool
try_use(struct file file)
{
    size_t need = 0;
    struct sotto_client *client = NULL;
    struct sotto_error err;
    uint8_t *workspace;
    enum sotto_status status;
    poison(&err);
    status = sotto_client_size(file.data, file.size, &need, &err);
    if (status == SOTTO_STATUS_OK) {
        workspace = malloc(need);
        assert_non_null(workspace);
        status = sotto_client_open(file.data, file.size, NULL, workspace, need,
                                   &client, &err);
        if (status == SOTTO_STATUS_OK) {
            use(client);
        }
        sotto_client_close(client);
        free(workspace);
    }
    if (status != SOTTO_STATUS_OK) {
        check_error(&err, status, file.size);
        assert_true(status == SOTTO_STATUS_FORMAT ||
                    status == SOTTO_STATUS_LIMIT ||
                    status == SOTTO_STATUS_BUDGET);
    }
    return status == SOTTO_STATUS_OK;
}

/* ---- Every number ------------------------------------------------------- */

/* Where products of two or three wrap to something small, and their
   neighbours; and what is small itself. */
static const char *const numbers[] = {
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
    "9",
    "30",
    "31",
    "32",
    "63",
    "64",
    "65",
    "1023",
    "1024",
    "1048575",
    "1048576",
    "1048577",
    "65535",
    "65536",
    "2097152",
    "16777216",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "4294967297",
    "4294967298",
    "1431655766", /* 3 n = 2 */
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "18446744073709551617",
    "340282366920938463463374607431768211456"};
#define NUMBERS (sizeof numbers / sizeof numbers[0])

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The header with its digits [from, to) replaced. */
static struct file
with_number(struct file file, size_t from, size_t to, const char *number)
{
    size_t data, size = header_size(file, &data), added = strlen(number);
    const char *header = (const char *)file.data + 8;
    char *changed = malloc(size + added);
    struct file forged;
    assert_non_null(changed);
    memcpy(changed, header, from);
    memcpy(changed + from, number, added);
    memcpy(changed + from + added, header + to, size - to);
    forged = file_join(changed, size - (to - from) + added, file.data + data,
                       file.size - data);
    free(changed);
    return forged;
}

static void
test_every_number(void **state)
{
    static struct net net;
    struct file file = sample(&net);
    const char *header = (const char *)file.data + 8;
    size_t data, size = header_size(file, &data), places = 0, opened = 0, to;
    (void)state;
    tape_start(NULL, 0);
    assert_true(try_use(file));
    for (size_t from = 0; from < size; from = to + 1) {
        for (to = from; to < size && is_digit(header[to]); to++) {
        }
        if (to == from) {
            continue;
        }
        places++;
        for (size_t i = 0; i < NUMBERS; i++) {
            struct file forged = with_number(file, from, to, numbers[i]);
            opened += try_use(forged);
            free(forged.data);
        }
    }
    print_message("%zu numbers, %zu files opened\n", places, opened);
    assert_true(places > 100 && opened > places);
    free(file.data);
    free(net.weights);
}

/* ---- Every length ------------------------------------------------------- */

/* Cut, and cut with a header that still has its length: tensors are missing
   from the end on. One more byte is one too many. */
static void
test_every_length(void **state)
{
    static struct net net;
    struct file file = sample(&net);
    size_t data;
    (void)state;
    (void)header_size(file, &data);
    for (size_t size = 0; size < file.size; size += size < data ? 1 : 5) {
        struct file cut = {malloc(size > 0 ? size : 1), size};
        assert_non_null(cut.data);
        memcpy(cut.data, file.data, size);
        assert_false(try_use(cut));
        free(cut.data);
    }
    file.data = realloc(file.data, file.size + 1);
    assert_non_null(file.data);
    file.data[file.size++] = 0;
    assert_false(try_use(file));
    free(file.data);
    free(net.weights);
}

/* ---- Skips between images of as many entries ---------------------------- */

/* 6 x 6 x 4 comes in, 3 x 12 x 4, 4 x 9 x 4 or 6 x 6 x 4 comes out: only the
   last can be added, though all have 144 entries. */
static void
test_skip_of_another_shape(void **state)
{
    static const uint32_t shapes[][2] = {{3, 12}, {4, 9}, {6, 6}, {9, 4}};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        static struct net net;
        struct sotto_error err;
        enum sotto_status status;
        net_init(&net, 6, 6, 4);
        net_pool(&net, 1, 1, 0, LAYER_POOL_MAX);
        net_dense(&net, 144, "none");
        net.height = shapes[i][0];
        net.width = shapes[i][1];
        net.channels = 4;
        net_conv(&net, 1, 1, 0, 4, 3, "none"); /* over the dense layer */
        poison(&err);
        status = net_open_1(&net, &err);
        assert_int_equal(status, shapes[i][0] == 6 ? SOTTO_STATUS_OK
                                                   : SOTTO_STATUS_FORMAT);
        if (status != SOTTO_STATUS_OK) {
            assert_non_null(strstr(err.message, "different shapes"));
        }
        free(net.weights);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_number),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_skip_of_another_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
