/*
 * torch.c: runs PyTorch on the same networks, in a process of its own.
 *
 * OpenBLAS's own threads are switched off for it: with them on top of its own
 * it is several times slower.
 */
#include "bench/torch.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PYTHON "/usr/bin/python3"

/* argv: batch, threads. Prints samples a second, the median of rounds. */
static const char program[] =
    "import sys, time, torch\n"
    "n, threads = int(sys.argv[1]), int(sys.argv[2])\n"
    "torch.set_num_threads(threads)\n"
    "sizes = [784, 400, 150, 50, 8, 50, 150, 400, 784]\n"
    "layers = []\n"
    "for i in range(8):\n"
    "    layers.append(torch.nn.Linear(sizes[i], sizes[i + 1]))\n"
    "    if i not in (3, 7):\n"
    "        layers.append(torch.nn.ReLU())\n"
    "net = torch.nn.Sequential(*layers)\n"
    "try:\n"
    "    adam = torch.optim.Adam(net.parameters(), foreach=True)\n"
    "except TypeError:\n"
    "    adam = torch.optim.Adam(net.parameters())\n"
    "data = (torch.rand(2000, 784) > 0.5).float()\n"
    "loss = torch.nn.BCEWithLogitsLoss(reduction=\"sum\")\n"
    "times = []\n"
    "stop = time.perf_counter() + 4\n"
    "while time.perf_counter() < stop:\n"
    "    start = time.perf_counter()\n"
    "    x = data[torch.randint(0, 2000, (n,))]\n"
    "    value = loss(net(x), x) / n\n"
    "    adam.zero_grad(set_to_none=True)\n"
    "    value.backward()\n"
    "    adam.step()\n"
    "    times.append(time.perf_counter() - start)\n"
    "times.sort()\n"
    "print(n / times[len(times) // 2])\n";

/* Starts it with its output in a pipe; the pipe's end, or -1. */
static int
start(size_t batch, unsigned threads, pid_t *ret_child)
{
    char batch_text[24];
    char threads_text[24];
    char name[] = "python3";
    char option[] = "-c";
    char source[sizeof program];
    char *arguments[] = {name, option, source, batch_text, threads_text, NULL};
    char one[] = "OPENBLAS_NUM_THREADS=1";
    char *environment[] = {one, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    (void)snprintf(batch_text, sizeof batch_text, "%zu", batch);
    (void)snprintf(threads_text, sizeof threads_text, "%u", threads);
    (void)snprintf(source, sizeof source, "%s", program);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    (void)posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY,
                                           0);
    int failed =
        posix_spawn(ret_child, PYTHON, &actions, NULL, arguments, environment);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    if (failed != 0) {
        (void)close(ends[0]);
        return -1;
    }
    return ends[0];
}

static double
run_once(size_t batch, unsigned threads)
{
    char text[64] = "";
    size_t size = 0;
    pid_t child = 0;
    int status = 0;
    int fd = start(batch, threads, &child);
    if (fd < 0) {
        return 0;
    }
    for (;;) {
        ssize_t got = read(fd, text + size, sizeof text - 1 - size);
        if (got <= 0) {
            break;
        }
        size += (size_t)got;
    }
    (void)close(fd);
    if (waitpid(child, &status, 0) != child || status != 0) {
        return 0;
    }
    text[size] = '\0';
    return strtod(text, NULL);
}

double
torch_rate(size_t batch, unsigned threads)
{
    double one = run_once(batch, 1);
    double all = one > 0 && threads > 1 ? run_once(batch, threads) : 0;
    return one > all ? one : all;
}
