/*
 * test_stack.c: what a report leaves on the stack and in registers: nothing.
 *
 * Each report is made on a stack of the test's own, filled with a pattern. A
 * byte below the frame of sotto_client_privatise that is neither the pattern
 * nor 0 is left over from the making of the report, whatever it is; and
 * nowhere on the stack lies a number of the record, of x, z or q.
 */
#include "client_fixture.h"

#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#define OTHER_STACK true /* locals lie elsewhere */
#elif defined(__clang__) && !defined(__OPTIMIZE__)
#define OTHER_STACK true /* the wipe's own counter stays */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OTHER_STACK true
#endif
#endif
#if !defined(OTHER_STACK)
#define OTHER_STACK false
#endif

#define STACK_SIZE (1u << 18)
#define FRAMES 512u /* of the test's caller and sotto_client_privatise */
#define PATTERN 0xa5
#define D 5u

/* What runs on the stack, and what it ran for. */
struct run {
    ucontext_t here, there;
    uint8_t *stack;
    const uint8_t *top; /* its first frame */
    struct opened opened;
    const struct sotto_value *values;
    uint8_t *report;
    size_t size;
    bool bare; /* without what sotto_client_privatise adds */
};

static struct run run;

static const float weight[D] = {0.7123f, -0.3377f, 0.5511f, -0.2219f, 0.4417f};
static const float bias[D] = {0.0113f, 0.0271f, -0.0331f, 0.0453f, 0.0619f};

static void
run_bare(void)
{
    struct sotto_client *client = run.opened.client;
    report_begin(&client->report, &client->entropy, run.report);
    schema_apply(&client->encoder, run.values);
    forward_run(&client->encoder);
    report_finish(&client->report, &client->entropy, run.report);
    device_wipe(client);
}

static void
run_there(void)
{
    run.top = __builtin_frame_address(0);
    if (run.bare) {
        run_bare();
        return;
    }
    assert_int_equal(
        sotto_client_privatise(run.opened.client, run.values,
                               sotto_client_columns(run.opened.client),
                               run.report, run.size),
        SOTTO_STATUS_OK);
}

/* Makes a report on a fresh stack. */
static void
run_once(bool bare)
{
    memset(run.stack, PATTERN, STACK_SIZE);
    run.bare = bare;
    tape_start(NULL, 0);
    assert_int_equal(getcontext(&run.there), 0);
    run.there.uc_stack.ss_sp = run.stack;
    run.there.uc_stack.ss_size = STACK_SIZE;
    run.there.uc_link = &run.here;
    makecontext(&run.there, run_there, 0);
    assert_int_equal(swapcontext(&run.here, &run.there), 0);
}

/* How many bytes below the first frames are left over. */
static size_t
count_left(void)
{
    size_t left = 0;
    for (const uint8_t *at = run.stack; at < run.top - FRAMES; at++) {
        left += *at != PATTERN && *at != 0 ? 1 : 0;
    }
    return left;
}

static bool
holds(const void *bytes, size_t size)
{
    return memmem(run.stack, STACK_SIZE, bytes, size) != NULL;
}

/* Looks for x, z and every q of the record, as the device computes them. */
static void
check_numbers(void)
{
    struct sotto_client *client = run.opened.client;
    double number = run.values[0].number;
    schema_apply(&client->encoder, run.values);
    float x = client->encoder.x[0];
    forward_run(&client->encoder);
    assert_false(holds(&number, sizeof number));
    assert_false(holds(&x, sizeof x));
    for (size_t i = 0; i < D; i++) {
        assert_false(holds(&client->encoder.z[i], sizeof(float)));
    }
    for (uint32_t i = 0; i < client->report.parts; i++) {
        const struct report_part *part = &client->report.part[i];
        report_point(&client->report, part, 0, 0);
        for (uint32_t j = 0; j < channel_width(&part->instance); j++) {
            int32_t q = client->report.q[j];
            assert_true(part->place == NULL || q > 255 || q < -255);
            if (part->place != NULL) {
                assert_false(holds(&q, sizeof q));
            }
        }
    }
    device_wipe(client);
}

static void
check_spec(const struct compose_spec *spec, const struct sotto_value *values,
           bool numbers)
{
    struct file file = file_make(spec);
    run.opened = client_open(file);
    run.values = values;
    run.size = sotto_client_report_size(run.opened.client);
    run.report = malloc(run.size);
    assert_non_null(run.report);
    run_once(false);
    assert_int_equal(count_left(), 0);
    if (numbers) {
        check_numbers();
    }
    run_once(true); /* which would be seen */
    assert_true(count_left() > 0);
    client_done(&run.opened);
    free(run.report);
    free(file.data);
}

static void
test_leaves_nothing(void **state)
{
    static const struct schema_column column = {
        "n", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0.01, 0.77};
    static const struct layer layer = {1, D, ACTIVATION_TANH, weight, bias};
    static const struct compose_part parts[] = {
        {"features", "laplace", UNITS(1), 1, 0, D, 4096, {{0}}, 0},
        {"features", "gaussian", UNITS(1), 1, 0, D, 4096, {{0}}, 0, 1000000},
        {"features", "duchi", UNITS(1), 1, 0, D, 4096, {{0}}, 0},
        {"features", "window", UNITS(1), 1, 0, 1, 4096, {{0}}, 0},
        {"features", "flip", UNITS(1), 1, 0, 0, 0, {{false, 0, D}}, 1},
        {"features", "subset", UNITS(1), 1, 0, 0, 0, {{false, 0, D}}, 1},
    };
    const struct sotto_value record = value_number(0.9173);
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct compose_spec spec = {"s", "c",    "a", UNITS(1),  &column,
                                          1,   &layer, 1,   &parts[i], 1};
        print_message("%s\n", parts[i].channel);
        check_spec(&spec, &record, true);
    }
}

static void
test_leaves_nothing_of_everything(void **state)
{
    struct sotto_value values[4];
    (void)state;
    everything_record(values);
    check_spec(everything(), values, false);
}

#if defined(__x86_64__) && defined(__has_attribute)
#if __has_attribute(zero_call_used_regs)
/* The vector registers, which the encoder's floats pass through. */
static void
test_clears_registers(void **state)
{
    static float lane[16][4];
    struct file file = file_make(everything());
    struct opened opened = client_open(file);
    struct sotto_value values[4];
    uint8_t report[64];
    (void)state;
    everything_record(values);
    tape_start(NULL, 0);
    enum sotto_status status =
        sotto_client_privatise(opened.client, values, 4, report, sizeof report);
#define KEEP(n) __asm__ volatile("movups %%xmm" #n ", %0" : "=m"(lane[n]))
    KEEP(0);
    KEEP(1);
    KEEP(2);
    KEEP(3);
    KEEP(4);
    KEEP(5);
    KEEP(6);
    KEEP(7);
    KEEP(8);
    KEEP(9);
    KEEP(10);
    KEEP(11);
    KEEP(12);
    KEEP(13);
    KEEP(14);
    KEEP(15);
    assert_int_equal(status, SOTTO_STATUS_OK);
    for (size_t i = 0; i < 16; i++) {
        for (size_t j = 0; j < 4; j++) {
            assert_true(lane[i][j] == 0);
        }
    }
    client_done(&opened);
    free(file.data);
}
#define TESTS_REGISTERS true
#endif
#endif

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaves_nothing),
        cmocka_unit_test(test_leaves_nothing_of_everything),
#if defined(TESTS_REGISTERS)
        cmocka_unit_test(test_clears_registers),
#endif
    };
    if (OTHER_STACK) {
        return 0;
    }
    run.stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return run.stack == MAP_FAILED ? 1
                                   : cmocka_run_group_tests(tests, NULL, NULL);
}
