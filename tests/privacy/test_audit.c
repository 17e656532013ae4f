/*
 * test_audit.c: the four attacks together: on sound mechanisms, on ones with
 * one thing broken, without memory, and where the system will not help.
 */
#include "mechanism/mechanism_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/device.h"
#include "fail_alloc.h"
#include "privacy/audit.h"

static struct sotto_error err;

/* Single steps take most of an audit's time: few are followed, unless a test
   is about them. */
static const struct sotto_audit_options quick = {
    .samples = 2000, .branches = 3000, .steps = 3000};
static const struct sotto_audit_options stepping = {.samples = 2000,
                                                    .branches = 3000};

static struct sotto_audit *
run_with(struct sotto_mechanism *mechanism,
         const struct sotto_audit_options *options)
{
    struct sotto_audit *audit = NULL;
    if (sotto_audit_run(mechanism, options, &audit, &err) != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
    return audit;
}

static struct sotto_audit *
run(struct sotto_mechanism *mechanism)
{
    return run_with(mechanism, &quick);
}

/* Whether a finding of this attack, violated or not, has these words. */
static bool
found(const struct sotto_audit *audit, const char *attack, bool violated,
      const char *words)
{
    struct sotto_audit_info info;
    sotto_audit_info(audit, &info);
    for (size_t i = 0; i < info.findings; i++) {
        const struct sotto_audit_finding *one = sotto_audit_finding(audit, i);
        if (strcmp(one->attack, attack) == 0 && one->violated == violated &&
            strstr(one->text, words) != NULL) {
            return true;
        }
    }
    return false;
}

static bool
violated(const struct sotto_audit *audit)
{
    struct sotto_audit_info info;
    sotto_audit_info(audit, &info);
    return info.violated;
}

/* ---- Sound --------------------------------------------------------------- */

static void
test_sound(void **state)
{
    static const struct compose_spec *const spec[] = {&fixture_plain,
                                                      &fixture_encoded};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct sotto_mechanism *mechanism = fixture_open(spec[i]);
        struct sotto_audit *audit = run_with(mechanism, &stepping);
        struct sotto_audit_info info;
        sotto_audit_info(audit, &info);
        assert_false(info.violated);
        assert_int_equal(info.parts, spec[i]->parts);
        assert_true(info.eps_stated == (double)spec[i]->eps / 1e12);
        assert_true(info.eps_exact <= info.eps_stated);
        assert_true(info.eps_lower >= 0 && info.eps_lower <= info.eps_stated);
        assert_true(info.samples == 2000 && info.alpha == 0.001);
        assert_true(info.delta_stated == 0);
        assert_true(info.sensitivity_found <= info.sensitivity_stated);
        for (size_t j = 0; j < info.parts; j++) {
            struct sotto_audit_part part;
            sotto_audit_part(audit, j, &part);
            assert_string_equal(part.channel, spec[i]->part[j].channel);
            assert_int_equal(part.blocks, spec[i]->part[j].blocks);
            assert_true(part.eps_exact == part.eps_stated);
            assert_true(part.sensitivity_found <= part.sensitivity_stated);
            assert_true(part.sensitivity_found > 0);
        }
        assert_true(found(audit, "restart", false, "of forked processes"));
        assert_false(found(audit, "restart", false, "fresh"));
        sotto_audit_free(audit);
        sotto_mechanism_free(mechanism);
    }
    sotto_audit_free(NULL);
}

static void
test_nothing_enumerated(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct sotto_audit_options options = quick;
    struct sotto_audit *audit = NULL;
    struct sotto_audit_info info;
    struct sotto_audit_part part;
    (void)state;
    options.branches = 1;
    assert_int_equal(sotto_audit_run(mechanism, &options, &audit, &err),
                     SOTTO_STATUS_OK);
    sotto_audit_info(audit, &info);
    sotto_audit_part(audit, 0, &part);
    assert_true(isnan(info.eps_exact) && isnan(part.eps_exact));
    assert_string_equal(part.scope, "nothing");
    assert_false(info.violated);
    assert_true(info.untried > 0);
    sotto_audit_free(audit);
    sotto_mechanism_free(mechanism);
}

static void
test_one_report(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    size_t size = mechanism->shape.report_size;
    uint8_t *report = malloc(size + 1);
    (void)state;
    assert_int_equal(sotto_audit_one(mechanism, report, size, &err),
                     SOTTO_STATUS_OK);
    assert_true(report_valid(mechanism->device.report, report, size));
    assert_int_equal(sotto_audit_one(mechanism, report, size + 1, &err),
                     SOTTO_STATUS_SIZE);
    free(report);
    sotto_mechanism_free(mechanism);
}

/* ---- One thing broken ---------------------------------------------------- */

/* Replay: a domain twice as large as stated. */
static void
place_outside(const float *z, uint32_t d, uint32_t l, int32_t *ret_q)
{
    domain_lattice(z, d, 2 * l, ret_q);
}

static void
test_replay_finds_a_leak_of_the_domain(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct sotto_audit *audit;
    struct sotto_audit_info info;
    (void)state;
    mechanism->device.report->part[1].place = place_outside;
    audit = run(mechanism);
    sotto_audit_info(audit, &info);
    assert_true(found(audit, "replay", true, "part 2 (laplace)"));
    assert_true(info.violated);
    assert_true(info.sensitivity_stated == 64);
    assert_true(info.sensitivity_found == 128);
    sotto_audit_free(audit);
    sotto_mechanism_free(mechanism);
}

/* Sample: the sampler says the truth, log p knows nothing of it. */
static void
tell_truth(const struct channel_instance *instance, const int32_t *q,
           struct random *random, uint8_t *ret_wire)
{
    channel_find(channel_exact, "flip", 4)
        ->sample(instance, q, random, ret_wire);
    ret_wire[0] = (uint8_t)q[0];
}

static void
test_sample_and_enumerate_find_the_truth(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    struct channel broken = *channel_find(channel_exact, "flip", 4);
    struct sotto_audit *audit;
    (void)state;
    broken.sample = tell_truth;
    mechanism->device.report->part[0].instance.channel = &broken;
    audit = run(mechanism);
    assert_true(violated(audit));
    assert_true(found(audit, "enumerate", true, "part 1 (flip)"));
    assert_true(found(audit, "sample", true, "epsilon is at least"));
    sotto_audit_free(audit);
    sotto_mechanism_free(mechanism);
}

/* Restart: noise that is no noise. */
static int
same_bytes(void *context, void *buffer, size_t size)
{
    (void)context;
    memset(buffer, 0x35, size);
    return 0;
}

static void
test_restart_finds_other_entropy(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct entropy *entropy = &mechanism->client->entropy;
    struct sotto_audit *audit;
    (void)state;
    entropy->random.fill = same_bytes;
    audit = run(mechanism);
    assert_true(violated(audit));
    assert_true(found(audit, "restart", true, "the same random id"));
    sotto_audit_free(audit);
    sotto_mechanism_free(mechanism);
}

/* Restart: more steps for one record than for another. */
static volatile uint32_t sink;

static void
dawdle(const float *z, uint32_t d, uint32_t l, int32_t *ret_q)
{
    domain_lattice(z, d, l, ret_q);
    for (int32_t i = 0; i < ret_q[0]; i++) {
        sink++;
    }
}

static void
test_restart_counts_steps(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct sotto_audit *audit;
    (void)state;
    mechanism->device.report->part[0].place = dawdle;
    audit = run_with(mechanism, &stepping);
    assert_true(found(audit, "restart", true, "invariant 7") ||
                found(audit, "restart", false, "could not be counted"));
    sotto_audit_free(audit);
    sotto_mechanism_free(mechanism);
}

/* ---- The caller's ledger and fresh processes ------------------------------
 */

static int
refuse_fresh(void *context, uint8_t *report, size_t size)
{
    (void)context;
    (void)report;
    (void)size;
    return -1;
}

static int
repeat_fresh(void *context, uint8_t *report, size_t size)
{
    (void)context;
    memset(report, 0x11, size);
    return 0;
}

static const struct sotto_ledger_port *
no_ledger(void *context)
{
    (void)context;
    return NULL;
}

static void
test_what_the_caller_gives(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    struct sotto_audit_options options = quick;
    struct sotto_audit *audit = NULL;
    (void)state;
    options.ledger = no_ledger;
    options.fresh = refuse_fresh;
    assert_int_equal(sotto_audit_run(mechanism, &options, &audit, &err),
                     SOTTO_STATUS_OK);
    assert_false(violated(audit));
    assert_true(found(audit, "restart", false, "ledger could not be tried"));
    assert_true(found(audit, "restart", false, "fresh processes could not"));
    sotto_audit_free(audit);
    options.fresh = repeat_fresh;
    assert_int_equal(sotto_audit_run(mechanism, &options, &audit, &err),
                     SOTTO_STATUS_OK);
    assert_true(found(audit, "restart", true, "of fresh processes"));
    sotto_audit_free(audit);
    sotto_mechanism_free(mechanism);
}

/* ---- Surroundings -------------------------------------------------------- */

static size_t
count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;
    assert_non_null(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    (void)closedir(folder);
    return count;
}

static void
test_nothing_is_left_behind(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    size_t before = count_descriptors();
    (void)state;
    sotto_audit_free(run(mechanism));
    assert_int_equal(count_descriptors(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    sotto_mechanism_free(mechanism);
}

static void
reap(int signal)
{
    (void)signal;
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
}

static void
interrupt(int signal)
{
    (void)signal;
}

/* A caller that ignores its children, one that reaps them, and one that is
   interrupted a thousand times a second. */
static void
test_signals_of_the_caller(void **state)
{
    void (*handler[])(int) = {SIG_IGN, reap, SIG_DFL};
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
        struct sigaction own = {.sa_handler = handler[i]}, now, alarm;
        struct sotto_audit *audit;
        alarm = (struct sigaction){.sa_handler = interrupt};
        assert_int_equal(sigaction(SIGCHLD, &own, NULL), 0);
        assert_int_equal(sigaction(SIGALRM, &alarm, NULL), 0);
        (void)setitimer(ITIMER_REAL, i == 2 ? &often : &never, NULL);
        audit = run(mechanism);
        (void)setitimer(ITIMER_REAL, &never, NULL);
        assert_false(violated(audit));
        assert_true(found(audit, "restart", false, "forked processes show"));
        assert_int_equal(sigaction(SIGCHLD, NULL, &now), 0);
        assert_true(now.sa_handler == handler[i]); /* as it was */
        sotto_audit_free(audit);
        sotto_mechanism_free(mechanism);
    }
    (void)signal(SIGCHLD, SIG_DFL);
}

/* From here on this process may not call ptrace. */
static int
forbid_tracing(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

static int
audit_untraced(void)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    struct sotto_audit *audit = run(mechanism);
    bool good = !violated(audit) &&
                found(audit, "restart", false, "could not be interposed") &&
                found(audit, "restart", false, "could not be counted") &&
                found(audit, "restart", false, "forked processes show");
    return good ? 0 : 2;
}

static void
test_tracing_is_refused(void **state)
{
    pid_t child = fork();
    int status = 0;
    (void)state;
    if (child == 0) {
        _exit(forbid_tracing() != 0 ? 77 : audit_untraced());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- Memory -------------------------------------------------------------- */

/* Every allocation fails once; false if something else came of it. */
static bool
survive_lack_of_memory(void)
{
    struct sotto_audit_options options = {.samples = 50, .branches = 60};
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    enum sotto_status status;
    bool good = true;
    long n = 0, all;
    do {
        struct sotto_audit *audit = NULL;
        memset(&err, 0xa5, sizeof err);
        fail_alloc_at(n += n < 12 ? 1 : 37);
        status = sotto_audit_run(mechanism, &options, &audit, &err);
        all = fail_alloc_count();
        good = good && (status == SOTTO_STATUS_OK) == (audit != NULL) &&
               (status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        sotto_audit_free(audit);
    } while (good && all >= n);
    fail_alloc_at(0);
    sotto_mechanism_free(mechanism);
    return good && status == SOTTO_STATUS_OK && n > 12;
}

/* Without tracing, which takes long and allocates nothing. */
static void
test_memory(void **state)
{
    pid_t child = fork();
    int status = 0;
    (void)state;
    if (child == 0) {
        (void)forbid_tracing();
        _exit(survive_lack_of_memory() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),
        cmocka_unit_test(test_nothing_enumerated),
        cmocka_unit_test(test_one_report),
        cmocka_unit_test(test_replay_finds_a_leak_of_the_domain),
        cmocka_unit_test(test_sample_and_enumerate_find_the_truth),
        cmocka_unit_test(test_restart_finds_other_entropy),
        cmocka_unit_test(test_restart_counts_steps),
        cmocka_unit_test(test_what_the_caller_gives),
        cmocka_unit_test(test_nothing_is_left_behind),
        cmocka_unit_test(test_signals_of_the_caller),
        cmocka_unit_test(test_tracing_is_refused),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
