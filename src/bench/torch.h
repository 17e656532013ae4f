/*
 * torch.h: the peer for training, PyTorch, if this machine has it.
 */
#ifndef SOTTO_BENCH_TORCH_H
#define SOTTO_BENCH_TORCH_H

#include <stddef.h>

/*
 * Samples a second of the step that train_vlm.h times, at the best of its
 * settings (1 thread, and `threads`); 0 if /usr/bin/python3 has no torch. Takes
 * some ten seconds.
 */
double torch_rate(size_t batch, unsigned threads);

#endif
