/*
 * test_opened.c: whoever opens a mechanism says which channels it may name. A
 * toy channel, which reports the symbol itself, opens with a list that has it;
 * a device, whose list is the exact one, refuses the same file.
 */
#include "client_fixture.h"

static enum sotto_status
init_echo(struct channel_instance *instance, void *own)
{
    (void)own;
    instance->wire_size = 1;
    instance->entropy_size = 4;
    return SOTTO_STATUS_OK;
}

static void
sample_echo(const struct channel_instance *instance, const int32_t *q,
            struct random *random, uint8_t *ret_wire)
{
    (void)instance;
    (void)random_u32(random);
    ret_wire[0] = (uint8_t)(0x40 + q[0]);
}

static bool
check_echo(const struct channel_instance *instance, const uint8_t *wire)
{
    return wire[0] >= 0x40 && wire[0] - 0x40u < instance->size;
}

static const struct channel echo = {.name = "echo",
                                    .domain = CHANNEL_DOMAIN_SYMBOLS,
                                    .promise = "hides nothing",
                                    .init = init_echo,
                                    .sample = sample_echo,
                                    .valid = check_echo};

/* The small mechanism, whose flip is now an echo. */
static struct file
make_echo_file(void)
{
    struct file file = file_make(small());
    size_t place;
    struct file forged = forge(file, "\"flip\"", "\"echo\"", true, &place);
    free(file.data);
    return forged;
}

static void
test_toy_list(void **state)
{
    const struct channel *const list[] = {
        channel_find(channel_exact, "laplace", 7), &echo, NULL};
    struct file file = make_echo_file();
    struct sotto_client *client = NULL;
    struct sotto_value value = value_number(1); /* z_0 is the larger */
    struct sotto_error err;
    size_t need = 0;
    (void)state;
    assert_int_equal(device_size(file.data, file.size, list, &need, &err),
                     SOTTO_STATUS_OK);
    uint8_t *workspace = malloc(need);
    assert_non_null(workspace);
    assert_int_equal(device_open(file.data, file.size, list, NULL, workspace,
                                 need, UINT64_MAX, false, &client, &err),
                     SOTTO_STATUS_OK);
    const struct report_plan *plan = device_view(client).report;
    uint8_t *report = malloc(plan->size);
    assert_non_null(report);
    assert_ptr_equal(plan->part[1].instance.channel, &echo);
    tape_start(NULL, 0);
    assert_int_equal(
        sotto_client_privatise(client, &value, 1, report, plan->size),
        SOTTO_STATUS_OK);
    assert_int_equal(report[plan->size - 1], 0x40);
    assert_true(report_valid(plan, report, plan->size));
    sotto_client_close(client);
    free(report);
    free(workspace);
    free(file.data);
}

static void
test_exact_list(void **state)
{
    struct file file = make_echo_file();
    struct sotto_client *client = NULL;
    uint64_t workspace[1024] = {0};
    struct sotto_error err;
    size_t need = 0;
    (void)state;
    poison(&err);
    assert_int_equal(sotto_client_size(file.data, file.size, &need, &err),
                     SOTTO_STATUS_FORMAT);
    check_error(&err, SOTTO_STATUS_FORMAT, file.size);
    assert_non_null(strstr(err.message, "a channel this device does not know"));
    assert_int_equal(need, 0);
    poison(&err);
    assert_int_equal(sotto_client_open(file.data, file.size, NULL, workspace,
                                       sizeof workspace, &client, &err),
                     SOTTO_STATUS_FORMAT);
    check_error(&err, SOTTO_STATUS_FORMAT, file.size);
    assert_null(client);
    assert_int_equal(workspace[0], 0);
    free(file.data);
}

/* The view is of the client's own plans and says what the manifest does. */
static void
test_view(void **state)
{
    struct file file = file_make(everything());
    struct opened opened = client_open(file);
    struct device_view view = device_view(opened.client);
    (void)state;
    assert_true(reader_is(view.terms->name, "everything"));
    assert_true(reader_is(view.terms->eps_text, "4"));
    assert_true(view.terms->eps == UNITS(4) && view.terms->delta == 0);
    assert_int_equal(view.terms->version, 1);
    assert_false(view.terms->uneven);
    assert_ptr_equal(view.terms->text, view.encoder->column[0].text);
    assert_int_equal(view.encoder->columns, 4);
    assert_int_equal(view.encoder->layers, 4);
    assert_int_equal(view.report->parts, 4);
    assert_int_equal(view.report->size,
                     sotto_client_report_size(opened.client));
    assert_ptr_equal(view.report->hash, sotto_client_hash(opened.client));
    assert_ptr_equal(view.entropy, &opened.client->entropy);
    client_done(&opened);
    free(file.data);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_toy_list),
        cmocka_unit_test(test_exact_list),
        cmocka_unit_test(test_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
