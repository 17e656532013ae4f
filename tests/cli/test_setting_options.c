/*
 * test_setting_options.c: settings become options with their defaults behind
 * the help; options given become settings again; and JSON says what they stand
 * at. The program's files are in no library, so the one under test is included.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/json_print.c"
#include "cli/setting_options.c"

int
cli_no_memory(void)
{
    return CLI_EXIT_FAILED;
}

const char *
cli_value(const struct cli_args *args, const char *name)
{
    for (size_t i = 0; i < args->given_count; i++) {
        if (strcmp(args->given[i].option->name, name) == 0) {
            return args->given[i].value;
        }
    }
    return NULL;
}

static bool
tell_setting(size_t i, struct sotto_setting_info *ret_info)
{
    static const struct sotto_setting_info infos[] = {
        {.name = "store", .value = "URL", .help = "where", .needed = true},
        {.name = "window",
         .value = "S",
         .initial = "600",
         .help = "seconds",
         .number = true},
        {.name = "plain", .help = "no TLS"},
        {.name = "most", .value = "N", .help = "of them", .number = true},
        {.name = "listen", .value = "H", .initial = "any", .help = "place"},
    };
    bool is_there = i < sizeof infos / sizeof *infos;
    if (is_there) {
        *ret_info = infos[i];
    }
    return is_there;
}

static const struct cli_option own = {0, false, false, "json", NULL, ""};
static const struct cli_verb verb = {.setting_at = tell_setting};

static void
test_options(void **state)
{
    const struct cli_option *of = setting_options_of(tell_setting);
    (void)state;
    assert_string_equal(of[0].name, "store");
    assert_true(of[0].needed);
    assert_string_equal(of[0].what, "where");
    assert_string_equal(of[1].what, "seconds (600)");
    assert_false(of[1].needed);
    assert_null(of[2].value);
    assert_null(of[5].name);
    assert_ptr_equal(setting_options_of(tell_setting), of);
}

static void
test_given(void **state)
{
    const struct cli_option *of = setting_options_of(tell_setting);
    struct cli_given given[] = {{&of[0], "sqlite:s"}, {&own, ""}, {&of[2], ""}};
    const struct cli_args args = {
        .verb = &verb, .given = given, .given_count = 3};
    size_t count = 9;
    struct sotto_setting *set = setting_options_given(&args, of, &count);
    (void)state;
    assert_int_equal(count, 2);
    assert_string_equal(set[0].name, "store");
    assert_string_equal(set[0].value, "sqlite:s");
    assert_string_equal(set[1].name, "plain");
    free(set);
}

/* Paths and addresses of the caller's are left out. */
static void
test_json(void **state)
{
    const struct cli_option *of = setting_options_of(tell_setting);
    struct cli_given given[] = {
        {&of[0], "sqlite:s"}, {&of[2], ""}, {&of[3], "7"}};
    const struct cli_args args = {
        .verb = &verb, .given = given, .given_count = 3};
    char got[200] = "";
    FILE *to = fmemopen(got, sizeof got, "w");
    (void)state;
    json_begin(to);
    setting_options_json(to, &args);
    json_end(to);
    (void)fclose(to);
    assert_string_equal(
        got, "{\"settings\": \"window=600 plain=yes most=7 listen=any\"}\n");
}

/* Of two kinds that have a setting of one name, one may take it often. */
static void
test_often(void **state)
{
    static struct setting_options options;
    const struct sotto_setting_info once = {.name = "target", .help = "one"};
    const struct sotto_setting_info often = {
        .name = "target", .help = "several", .many = true};
    (void)state;
    setting_options_put(&options, &once);
    assert_false(options.option[0].many);
    setting_options_put(&options, &often);
    assert_int_equal(options.count, 1);
    assert_true(options.option[0].many);
    assert_string_equal(options.option[0].what, "one");
    setting_options_put(&options, &once);
    assert_true(options.option[0].many);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_often),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_given),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
