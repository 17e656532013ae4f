/*
 * clm_peer.c: the training step of clm_step.h in PyTorch.
 *
 * A file holds the weights (and the head's biases), layer by layer, and the
 * records. The ways differ in how images lie in memory: channels last, or
 * first.
 */
#include "bench/clm_peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"

#define AGREED 1e-3 /* of the loss */

static const char script[] =
    "import sys, time\n"
    "import numpy as np\n"
    "import torch\n"
    "import torch.nn.functional as F\n"
    "torch.set_num_threads(int(sys.argv[2]))\n"
    "torch.manual_seed(0)\n"
    "rate, decay = map(float, sys.argv[3:5])\n"
    "records, tried, side = map(int, sys.argv[5:8])\n"
    "given = torch.from_numpy(np.fromfile(sys.argv[1], np.float32))\n"
    "at = 0\n"
    "def take(*shape):\n"
    "    global at\n"
    "    size = int(np.prod(shape))\n"
    "    at += size\n"
    "    return given[at - size:at].reshape(shape).clone()\n"
    "start = [take(16, 5, 5, 1).permute(0, 3, 1, 2),\n"
    "         take(32, 3, 3, 16).permute(0, 3, 1, 2),\n"
    "         take(64, 3, 3, 32).permute(0, 3, 1, 2),\n"
    "         take(64, 4, 4, 64).permute(0, 3, 1, 2).reshape(64, 1024),\n"
    "         take(64, 64), take(64), take(32, 64), take(32)]\n"
    "data = take(records, 1, side, side)\n"
    "class Way:\n"
    "    def __init__(self, last):\n"
    "        self.form = (torch.channels_last if last\n"
    "                     else torch.contiguous_format)\n"
    "        self.p = []\n"
    "        for w in start:\n"
    "            w = (w.contiguous(memory_format=self.form) if w.dim() == 4\n"
    "                 else w.contiguous())\n"
    "            self.p.append(torch.nn.Parameter(w.clone()))\n"
    "        self.norm = [torch.nn.BatchNorm2d(16), torch.nn.BatchNorm2d(32),\n"
    "                     torch.nn.BatchNorm2d(64), torch.nn.BatchNorm1d(64)]\n"
    "        all = self.p + [q for n in self.norm for q in n.parameters()]\n"
    "        try:\n"
    "            self.adam = torch.optim.AdamW(all, lr=rate, foreach=True,\n"
    "                                          weight_decay=decay)\n"
    "        except TypeError:\n"
    "            self.adam = torch.optim.AdamW(all, lr=rate,\n"
    "                                          weight_decay=decay)\n"
    "    def loss(self, x):\n"
    "        p, norm = self.p, self.norm\n"
    "        x = x.contiguous(memory_format=self.form)\n"
    "        x = F.relu(norm[0](F.conv2d(x, p[0], stride=2, padding=2)))\n"
    "        x = F.relu(norm[1](F.conv2d(x, p[1], padding=1)))\n"
    "        x = F.max_pool2d(x, 2)\n"
    "        x = F.relu(norm[2](F.conv2d(x, p[2], padding=1)))\n"
    "        x = F.max_pool2d(x, 2, padding=1)\n"
    "        x = F.relu(norm[3](F.linear(x.flatten(1), p[3])))\n"
    "        x = F.relu(F.linear(x, p[4], p[5]))\n"
    "        u = F.normalize(F.linear(x, p[6], p[7]))\n"
    "        n = len(u) // 2\n"
    "        s = (u @ u.T).fill_diagonal_(-1e30)\n"
    "        other = torch.arange(2 * n).roll(n)\n"
    "        return F.cross_entropy(s, other)\n"
    "    def step(self, x):\n"
    "        self.adam.zero_grad(set_to_none=True)\n"
    "        self.loss(x).backward()\n"
    "        self.adam.step()\n"
    "    def draw(self, n):\n"
    "        self.step(data[torch.randint(0, records, (2 * n,))])\n"
    "ways, values = [Way(False), Way(True)], []\n"
    "for way in ways:\n"
    "    way.step(data[:2 * tried])\n"
    "    values.append(float(way.loss(data[:2 * tried])))\n"
    "for line in sys.stdin:\n"
    "    last, n, steps = map(int, line.split())\n"
    "    way = ways[last]\n"
    "    if steps == 0:\n"
    "        answer(0, values[last])\n"
    "        continue\n"
    "    way.draw(n)\n"
    "    start, done, past = time.perf_counter(), 0, 0\n"
    "    while done < steps and past < 1:\n"
    "        way.draw(n)\n"
    "        done, past = done + 1, time.perf_counter() - start\n"
    "    answer(past / done, 0)\n";

/* ---- What it begins with ------------------------------------------------- */

static float *
append(float *at, const float *from, size_t count)
{
    memcpy(at, from, count * sizeof *at);
    return at + count;
}

static size_t
count_stack(const struct nn_graph *stack)
{
    size_t count = 0;
    for (size_t i = 0; i < stack->layers; i++) {
        const struct nn_place *place = &stack->layer[i];
        if (!layer_pools(place->layer.kind)) {
            count += place->width * (place->fan + (place->layer.norm ? 0 : 1));
        }
    }
    return count;
}

static float *
append_stack(float *at, const struct nn_graph *stack)
{
    for (size_t i = 0; i < stack->layers; i++) {
        const struct nn_place *place = &stack->layer[i];
        if (layer_pools(place->layer.kind)) {
            continue;
        }
        at = append(at, nn_arena_value(stack->arena, place->weight),
                    place->width * place->fan);
        if (!place->layer.norm) {
            at = append(at, nn_arena_value(stack->arena, place->bias),
                        place->width);
        }
    }
    return at;
}

static enum sotto_status
write_start(const struct clm_step *step, struct peer_file *ret_file,
            struct sotto_error *err)
{
    const struct contrastive_net *net = &step->net;
    size_t records = CLM_RECORDS * net->width;
    size_t count =
        count_stack(&net->encoder) + count_stack(&net->head) + records;
    float *given = malloc(count * sizeof *given), *at = given;
    enum sotto_status status;
    if (given == NULL) {
        return host_fail_memory(err);
    }
    at = append_stack(at, &net->encoder);
    at = append_stack(at, &net->head);
    (void)append(at, step->learnt.x, records);
    status = peer_file_write(ret_file, given, count * sizeof *given, err);
    free(given);
    return status;
}

/* ---- Children ------------------------------------------------------------ */

static enum sotto_status
start_child(struct peers *peer, size_t setting, struct sotto_error *err)
{
    const struct peer_threads *threads = &peer_settings[setting];
    const double number[] = {threads->own, CLM_RATE,  CLM_DECAY,
                             CLM_RECORDS,  CLM_TRIED, CLM_SIDE};
    char text[6][24];
    const char *args[PEER_ARGS_MAX] = {peer->start.path};
    for (size_t i = 0; i < 6; i++) {
        (void)snprintf(text[i], sizeof text[i], "%.10g", number[i]);
        args[i + 1] = text[i];
    }
    return peer_start(script, args, threads, &peer->child[setting], err);
}

enum sotto_status
clm_peer_start(struct peers *peer, const struct clm_step *step, size_t settings,
               struct sotto_error *err)
{
    enum sotto_status status;
    *peer = (struct peers){
        .settings = settings, .ways = 2 * settings, .agreed = AGREED};
    status = write_start(step, &peer->start, err);
    for (size_t i = 0; i < settings && status == SOTTO_STATUS_OK; i++) {
        status = start_child(peer, i, err);
    }
    return status;
}
