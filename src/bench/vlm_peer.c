/*
 * vlm_peer.c: the training step of vlm_step.h in PyTorch.
 *
 * A file holds the weights and biases, layer by layer, the records, and the
 * noise of those that are tried. "flat" keeps all parameters in one vector, and
 * all gradients in another, so that Adam is a handful of calls; the other way
 * is PyTorch's own Adam for lists.
 */
#include "bench/vlm_peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/noise.h"
#include "host/error.h"

#define AGREED 1e-4 /* of the loss */

static const char script[] =
    "import math, sys, time\n"
    "import numpy as np\n"
    "import torch\n"
    "torch.set_num_threads(int(sys.argv[2]))\n"
    "torch.manual_seed(0)\n"
    "l, b, rate = map(float, sys.argv[3:6])\n"
    "records, tried = map(int, sys.argv[6:8])\n"
    "sizes = list(map(int, sys.argv[8:]))\n"
    "given = torch.from_numpy(np.fromfile(sys.argv[1], np.float32))\n"
    "layers = len(sizes) - 1\n"
    "count = sum((i + 1) * o for i, o in zip(sizes, sizes[1:]))\n"
    "data = given[count:count + records * sizes[0]].reshape(records, -1)\n"
    "noise = given[count + records * sizes[0]:].reshape(tried, -1)\n"
    "d, s = noise.shape[1], math.sqrt(0.5)\n"
    "criterion = torch.nn.BCEWithLogitsLoss(reduction='sum')\n"
    "class Way:\n"
    "    def __init__(self, flat):\n"
    "        self.flat, at, self.p = flat, 0, []\n"
    "        value = given[:count].clone()\n"
    "        self.slope = torch.zeros(count)\n"
    "        for i, o in zip(sizes, sizes[1:]):\n"
    "            for shape in ((o, i), (o,)):\n"
    "                end = at + math.prod(shape)\n"
    "                p = value[at:end].view(shape)\n"
    "                p = torch.nn.Parameter(p if flat else p.clone())\n"
    "                if flat:\n"
    "                    p.grad = self.slope[at:end].view(shape)\n"
    "                self.p.append(p)\n"
    "                at = end\n"
    "        all = self.p\n"
    "        if flat:\n"
    "            all = [torch.nn.Parameter(value)]\n"
    "            all[0].grad = self.slope\n"
    "        try:\n"
    "            self.adam = torch.optim.Adam(all, lr=rate,\n"
    "                                         foreach=not flat)\n"
    "        except TypeError:\n"
    "            self.adam = torch.optim.Adam(all, lr=rate)\n"
    "    def through(self, x, first, last):\n"
    "        for i in range(first, last):\n"
    "            x = torch.nn.functional.linear(x, self.p[2 * i],\n"
    "                                           self.p[2 * i + 1])\n"
    "            if i + 1 < last:\n"
    "                x = torch.relu(x)\n"
    "        return x\n"
    "    def loss(self, x, e):\n"
    "        h = self.through(x, 0, layers // 2)\n"
    "        norm = h.abs().sum(1, keepdim=True)\n"
    "        mu = h * (l / norm).clamp(max=1)\n"
    "        logits = self.through(mu + b * e, layers // 2, layers)\n"
    "        a = mu.abs()\n"
    "        kl = a.sum() / s + torch.exp(a / -b).sum() * (b / s)\n"
    "        kl = kl + a.numel() * (math.log(s / b) - 1)\n"
    "        return (criterion(logits, x) + kl) / len(x)\n"
    "    def step(self, x, e):\n"
    "        if self.flat:\n"
    "            self.slope.zero_()\n"
    "        else:\n"
    "            self.adam.zero_grad(set_to_none=True)\n"
    "        self.loss(x, e).backward()\n"
    "        self.adam.step()\n"
    "    def draw(self, n):\n"
    "        e = torch.empty(2, n, d).exponential_()\n"
    "        self.step(data[torch.randint(0, records, (n,))], e[0] - e[1])\n"
    "ways, values = [Way(False), Way(True)], []\n"
    "for way in ways:\n"
    "    way.step(data[:tried], noise)\n"
    "    values.append(float(way.loss(data[:tried], noise)))\n"
    "for line in sys.stdin:\n"
    "    flat, n, steps = map(int, line.split())\n"
    "    way = ways[flat]\n"
    "    if steps == 0:\n"
    "        answer(0, values[flat])\n"
    "        continue\n"
    "    way.draw(n)\n"
    "    start, done, past = time.perf_counter(), 0, 0\n"
    "    while done < steps and past < 0.5:\n"
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

static float *
append_stack(float *at, const struct nn_graph *stack)
{
    for (size_t i = 0; i < stack->layers; i++) {
        const struct nn_place *place = &stack->layer[i];
        at = append(at, nn_arena_value(stack->arena, place->weight),
                    place->in * place->out);
        at = append(at, nn_arena_value(stack->arena, place->bias), place->out);
    }
    return at;
}

static enum sotto_status
write_start(const struct vlm_step *step, struct peer_file *ret_file,
            struct sotto_error *err)
{
    const struct variational_net *net = &step->net;
    size_t count = VLM_RECORDS * net->width + VLM_TRIED * net->d;
    float *given, *at;
    enum sotto_status status;
    for (size_t l = 0; l < VLM_LAYERS; l++) {
        count += (vlm_sizes[l] + 1) * vlm_sizes[l + 1];
    }
    at = given = malloc(count * sizeof *given);
    if (given == NULL) {
        return host_fail_memory(err);
    }
    at = append_stack(at, &net->encoder);
    at = append_stack(at, &net->decoder);
    at = append(at, step->data, VLM_RECORDS * net->width);
    for (uint32_t i = 0; i < VLM_TRIED; i++) {
        noise_laplace(net->seed, 0, i, net->d, at + i * net->d);
    }
    status = peer_file_write(ret_file, given, count * sizeof *given, err);
    free(given);
    return status;
}

/* ---- Children ------------------------------------------------------------ */

static enum sotto_status
start_child(struct peers *peer, size_t setting, struct sotto_error *err)
{
    const struct peer_threads *threads = &peer_settings[setting];
    const double number[] = {threads->own, VLM_L,       VLM_B,
                             VLM_RATE,     VLM_RECORDS, VLM_TRIED};
    char text[6 + VLM_LAYERS + 1][24];
    const char *args[PEER_ARGS_MAX] = {peer->start.path};
    size_t count = 0;
    for (size_t i = 0; i < 6; i++, count++) {
        (void)snprintf(text[count], sizeof text[count], "%.10g", number[i]);
        args[count + 1] = text[count];
    }
    for (size_t i = 0; i <= VLM_LAYERS; i++, count++) {
        (void)snprintf(text[count], sizeof text[count], "%zu", vlm_sizes[i]);
        args[count + 1] = text[count];
    }
    return peer_start(script, args, threads, &peer->child[setting], err);
}

enum sotto_status
vlm_peer_start(struct peers *peer, const struct vlm_step *step, size_t settings,
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
