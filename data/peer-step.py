# Before a method's script: `given` is what it begins with, `numbers` are its
# arguments. It defines `records`, `first`, the arguments of a loss for the
# records that are tried, `patience`, seconds, and a class Way(number) with
# loss(*first), step(*first) and draw(n), a step over n records.
import math, sys, time
import numpy as np
import torch
import torch.nn.functional as F
torch.set_num_threads(int(sys.argv[2]))
torch.manual_seed(0)
numbers = list(map(float, sys.argv[3:]))
given = torch.from_numpy(np.fromfile(sys.argv[1], np.float32))
