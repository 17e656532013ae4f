/*
 * test_report.c: reports: their layout, which point goes into which block, and
 * what is not a report.
 *
 * Two tapes take the noise away. With every byte 0xff all draws from tables
 * are the lowest, so Laplace noise is 0; with every byte 0x00 they are the
 * highest, so the truth is named (and a draw below a power of two is 0).
 */
#include "client/client_fixture.h"
#include "likelihood/likelihood.h"

static uint8_t ones[8192], zeros[8192];

static int
setup(void **state)
{
    (void)state;
    memset(ones, 0xff, sizeof ones);
    return 0;
}

static void
make(struct sotto_client *client, const struct sotto_value *values,
     const uint8_t *bytes, uint8_t *report)
{
    tape_start(bytes, bytes != NULL ? sizeof ones : 0);
    assert_int_equal(
        sotto_client_privatise(client, values, sotto_client_columns(client),
                               report, sotto_client_report_size(client)),
        SOTTO_STATUS_OK);
}

/* Blocks take consecutive entries of z, and stand one behind the other. */
static void
test_blocks(void **state)
{
    struct file file = file_make(everything());
    struct opened opened = client_open(file);
    struct sotto_client *client = opened.client;
    struct sotto_value values[4];
    uint8_t report[64];
    int32_t q[4];
    (void)state;
    everything_record(values);
    schema_apply(&client->encoder, values);
    forward_run(&client->encoder);
    domain_lattice(client->encoder.z, 2, 100, q);
    domain_lattice(client->encoder.z + 2, 2, 100, q + 2);
    device_wipe(client);
    make(client, values, ones, report);
    assert_true(q[0] != 0 || q[1] != 0 || q[2] != 0 || q[3] != 0);
    for (size_t i = 0; i < 4; i++) {
        int16_t y = (int16_t)(report[52 + 2 * i] | report[53 + 2 * i] << 8);
        assert_int_equal(y, q[i]);
    }
    assert_memory_equal(report + 36, ones, SOTTO_ID_SIZE);
    client_done(&opened);
    free(file.data);
}

/* A mechanism whose one part is a flip of a column, an argmax and a column. */
static const struct compose_spec *
triple(void)
{
    static const char *const values[] = {"a", "b"};
    static const float weight[] = {-1, 0, 1}, bias[] = {0, 0.5f, 0};
    static const struct schema_column columns[] = {
        {"n", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1},
        {"u", SOTTO_COLUMN_CATEGORY, 3, values, false, 0, 1},
        {"v", SOTTO_COLUMN_CATEGORY, 2, values, false, 0, 1},
    };
    static const struct layer layer = {1, 3, ACTIVATION_NONE, weight, bias};
    static const struct compose_part part = {
        "both", "flip", UNITS(2), 1,
        0,      0,      0,        {{true, 1, 0}, {false, 0, 3}, {true, 2, 0}},
        3};
    static const struct compose_spec spec = {
        "t", "c", "a", UNITS(2), columns, 3, &layer, 1, &part, 1};
    return &spec;
}

/* The symbol of factors (a, b, c) is (a k_b + b) k_c + c: the last runs
   fastest. The largest of (-n, 1/2, n) is 0, 1 or 2 as n is -1, 0 or 1. */
static void
test_order_of_factors(void **state)
{
    static const char *const names[] = {"a", "b", "?"};
    struct file file = file_make(triple());
    struct opened opened = client_open(file);
    (void)state;
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            for (int c = 0; c < 2; c++) {
                struct sotto_value values[3] = {value_number(b - 1),
                                                value_text(names[a]),
                                                value_text(c == 0 ? "a" : "?")};
                uint8_t report[53], tape_bytes[8192] = {0};
                /* 17 is no power of two: one 1 keeps the draw from being
                   rejected */
                tape_bytes[SOTTO_ID_SIZE + DRAW_TABLES_SIZE +
                           DRAW_SYMBOL_SIZE] = 1;
                make(opened.client, values, tape_bytes, report);
                assert_int_equal(report[52], (a * 3 + b) * 2 + c);
            }
        }
    }
    client_done(&opened);
    free(file.data);
}

static void
test_hash_and_magic(void **state)
{
    struct file file = file_make(small());
    struct opened opened = client_open(file);
    struct sotto_value value = value_number(1);
    uint8_t report[57];
    (void)state;
    make(opened.client, &value, zeros, report);
    assert_memory_equal(report, "STO1", 4);
    assert_memory_equal(report + 4, sotto_client_hash(opened.client), 32);
    assert_memory_equal(report + 36, zeros, 16);
    client_done(&opened);
    free(file.data);
}

/* Simulated reports are told apart, and are reports otherwise. */
static void
test_simulated(void **state)
{
    struct file file = file_make(everything());
    struct opened opened = client_open(file);
    struct sotto_value values[4];
    struct seeded seeded;
    uint8_t report[64];
    (void)state;
    everything_record(values);
    seeded_init(&seeded, 1, 2);
    schema_apply(&opened.client->encoder, values);
    forward_run(&opened.client->encoder);
    report_simulate(&opened.client->report, &seeded.simulation, report);
    assert_memory_equal(report, "SIM1", 4);
    assert_true(report_valid(&opened.client->report, report, sizeof report));
    client_done(&opened);
    free(file.data);
}

/* What is no report: another size, magic or hash, a value out of range. The
   id and any value in range are free. */
static void
test_invalid(void **state)
{
    struct file file = file_make(everything());
    struct opened opened = client_open(file);
    struct sotto_client *client = opened.client;
    struct sotto_value values[4];
    uint8_t report[64], good[64];
    (void)state;
    everything_record(values);
    make(client, values, NULL, good);
    for (size_t size = 0; size <= 64; size++) {
        assert_true(report_valid(&client->report, good, size) == (size == 64));
    }
    for (size_t i = 0; i < 36; i++) {
        for (unsigned change = 1; change < 256; change++) {
            memcpy(report, good, sizeof report);
            report[i] ^= (uint8_t)change;
            assert_false(report_valid(&client->report, report, 64));
        }
    }
    memcpy(report, good, sizeof report);
    memset(report + 36, 0xab, SOTTO_ID_SIZE);
    assert_true(report_valid(&client->report, report, 64));
    memcpy(report + 52, "\xff\x7f", 2); /* 32767 is beyond the clamp */
    assert_false(report_valid(&client->report, report, 64));
    memcpy(report + 52, "\x00\x80", 2);
    assert_false(report_valid(&client->report, report, 64));
    memcpy(report, good, sizeof report);
    report[60] = 0; /* no symbol at all */
    report[61] = 0;
    assert_false(report_valid(&client->report, report, 64));
    report[60] = 0xff; /* too many */
    report[61] = 0x01;
    assert_false(report_valid(&client->report, report, 64));
    memcpy(report, good, sizeof report);
    report[61] |= 0x02; /* symbol 9 of 0..8 */
    assert_false(report_valid(&client->report, report, 64));
    memcpy(report, good, sizeof report);
    for (unsigned symbol = 0; symbol < 256; symbol++) {
        report[62] = (uint8_t)symbol;
        assert_true(report_valid(&client->report, report, 64) == (symbol < 5));
    }
    client_done(&opened);
    free(file.data);
}

/* Clamped at both ends of a lattice: exactly c, and c is valid. */
static void
test_clamped(void **state)
{
    struct file file = file_make(small());
    struct opened opened = client_open(file);
    struct sotto_value value = value_number(0);
    const struct channel_instance *instance =
        &opened.client->report.part[0].instance;
    struct likelihood_instance at;
    uint8_t report[57], beyond[57];
    int64_t y[2];
    (void)state;
    make(opened.client, &value, zeros, report);
    assert_true(report_valid(&opened.client->report, report, sizeof report));
    assert_int_equal(likelihood_init(&at, instance), SOTTO_STATUS_OK);
    at.likelihood->unpack(&at, report + 52, y);
    assert_int_equal(y[0], y[1]);
    assert_true(y[0] < -32 * 32); /* t = 2 16 / 1 = 32 */
    memcpy(beyond, report, sizeof beyond);
    beyond[52]--;
    assert_false(report_valid(&opened.client->report, beyond, sizeof beyond));
    client_done(&opened);
    free(file.data);
}

static const struct compose_spec *books(void);

/* The buffer's size must not show in a report's size: small and large needs
   both give reports, and the entropy asked for is what was measured. */
static void
test_measured_entropy(void **state)
{
    const struct compose_spec *specs[] = {small(), everything(), triple(),
                                          books()};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct file file = file_make(specs[i]);
        struct opened opened = client_open(file);
        struct sotto_value values[4];
        uint8_t report[64];
        uint64_t entropy;
        assert_int_equal(report_measure(&opened.client->report, &entropy),
                         sotto_client_report_size(opened.client));
        everything_record(values);
        make(opened.client, values, NULL, report);
        assert_int_equal(tape.calls, 1);
        tape_start(ones, (entropy + 7) / 8 * 8);
        assert_int_equal(
            sotto_client_privatise(opened.client, values,
                                   sotto_client_columns(opened.client), report,
                                   sotto_client_report_size(opened.client)),
            SOTTO_STATUS_OK);
        assert_int_equal(tape.used, (entropy + 7) / 8 * 8);
        client_done(&opened);
        free(file.data);
    }
}

/* ---- Codebooks of which a lot asks one ----------------------------------- */

/* Three codebooks of two codes: the bytes of a column in threes of two. */
static const struct compose_spec *
books(void)
{
    static const char *const values[] = {"a", "b"};
    static const struct schema_column columns[] = {
        {"b", SOTTO_COLUMN_BYTES, 6, NULL, false, 0, 1},
        {"v", SOTTO_COLUMN_CATEGORY, 3, values, false, 0, 1},
    };
    static const struct compose_part parts[] = {
        {"label", "flip", UNITS(1), 1, 0, 0, 0, {{true, 1, 0}}, 1},
        {"both",
         "flip",
         UNITS(2),
         1,
         0,
         0,
         0,
         {{false, 0, 2}, {true, 1, 0}},
         2,
         .books = 3}};
    static const struct compose_spec spec = {"b", "c",  "a", UNITS(3), columns,
                                             2,   NULL, 0,   parts,    2};
    return &spec;
}

/* The lot is the payload's first byte, and the part that has books takes the
   lot's run of outputs; others do not move. */
static void
test_book_asked(void **state)
{
    static const uint8_t record[6] = {9, 1, 1, 9, 9, 1}; /* codes 0, 1, 0 */
    struct file file = file_make(books());
    struct opened opened = client_open(file);
    struct sotto_value values[2] = {value_bytes(record, 6), value_text("b")};
    uint8_t report[55], bytes[8192] = {0};
    (void)state;
    assert_int_equal(sotto_client_report_size(opened.client), sizeof report);
    for (unsigned book = 0; book < 3; book++) {
        /* A uniform below 3 is floor(3 U / 2^96), drawn behind the id: of its
           three words the highest decides. Zeros name the truth. */
        bytes[SOTTO_ID_SIZE] = 1;
        bytes[SOTTO_ID_SIZE + 11] = (uint8_t)(book * 86);
        /* 5 is no power of two: one 1 keeps the draw from being rejected */
        bytes[SOTTO_ID_SIZE + 12 + 2 * (DRAW_TABLES_SIZE + DRAW_SYMBOL_SIZE) +
              12] = 1;
        make(opened.client, values, bytes, report);
        assert_int_equal(report[52], book);
        assert_int_equal(report[53], 1);
        assert_int_equal(report[54], (book == 1 ? 1 : 0) * 3 + 1);
        assert_true(report_valid(&opened.client->report, report, 55));
        assert_int_equal(report_book(&opened.client->report, report), book);
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        report[52] = (uint8_t)byte;
        assert_int_equal(report_valid(&opened.client->report, report, 55),
                         byte < 3);
    }
    client_done(&opened);
    free(file.data);
}

static uint8_t changing[6];

static void
change_record(void)
{
    static const uint8_t other[6] = {1, 9, 1, 9, 1, 9}; /* codes 1, 1, 1 */
    memcpy(changing, other, sizeof changing);
}

/* Id and lot are drawn before the record is read (invariant 4): a record that
   changes when the system is asked for entropy is reported as changed. */
static void
test_lot_before_record(void **state)
{
    static const uint8_t record[6] = {9, 1, 9, 1, 9, 1}; /* codes 0, 0, 0 */
    struct file file = file_make(books());
    struct opened opened = client_open(file);
    struct sotto_value values[2] = {value_bytes(changing, 6), value_text("b")};
    uint8_t report[55], bytes[8192] = {0};
    (void)state;
    bytes[SOTTO_ID_SIZE] = 1;
    bytes[SOTTO_ID_SIZE + 12 + 2 * (DRAW_TABLES_SIZE + DRAW_SYMBOL_SIZE) + 12] =
        1;
    memcpy(changing, record, sizeof changing);
    make(opened.client, values, bytes, report);
    assert_int_equal(report[54], 1);
    tape_start(bytes, sizeof bytes);
    tape.asked = change_record;
    assert_int_equal(
        sotto_client_privatise(opened.client, values, 2, report, 55),
        SOTTO_STATUS_OK);
    assert_int_equal(tape.calls, 1);
    assert_int_equal(report[52], 0);
    assert_int_equal(report[54], 3 + 1);
    client_done(&opened);
    free(file.data);
}

/* A lot needs entropy: without, there is no report. */
static void
test_lot_without_entropy(void **state)
{
    struct file file = file_make(books());
    struct opened opened = client_open(file);
    struct sotto_value values[2] = {value_missing(), value_missing()};
    uint8_t report[55], nothing[55] = {0};
    (void)state;
    memset(report, 0xa5, sizeof report);
    tape_start(NULL, 0);
    tape.failing_call = 1;
    assert_int_equal(
        sotto_client_privatise(opened.client, values, 2, report, 55),
        SOTTO_STATUS_ENTROPY);
    assert_memory_equal(report, nothing, sizeof report);
    client_done(&opened);
    free(file.data);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_order_of_factors),
        cmocka_unit_test(test_hash_and_magic),
        cmocka_unit_test(test_simulated),
        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_clamped),
        cmocka_unit_test(test_measured_entropy),
        cmocka_unit_test(test_book_asked),
        cmocka_unit_test(test_lot_before_record),
        cmocka_unit_test(test_lot_without_entropy),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
