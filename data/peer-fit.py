# Fitting by P0 Eq. 11: points, reports and labels are given as integers.
import sys, time
import numpy as np
import torch
threads, n, m, d, k, hidden, epochs, batches = map(int, sys.argv[2:10])
rate, decay, scale, eps = map(float, sys.argv[10:14])
torch.set_num_threads(threads)
torch.manual_seed(0)
given = torch.from_numpy(np.fromfile(sys.argv[1], np.int32))
q = given[:m * d].reshape(m, d).float()
y = given[m * d:(m + n) * d].reshape(n, d).float()
t = given[(m + n) * d:].long()
del given
start = time.monotonic()
w = torch.empty(n, m)
for i in range(0, n, 512):
    far = torch.cdist(y[i:i + 512], q, p=1)
    w[i:i + 512] = torch.softmax(far * -scale, dim=1)
top = np.exp(eps) / (np.exp(eps) + k - 1)
noise = torch.full((k, k), float((1 - top) / (k - 1)))
noise.fill_diagonal_(float(top))
x = (q - q.mean(0)) / q.std(0)
net = torch.nn.Sequential(torch.nn.Linear(d, hidden), torch.nn.ReLU(),
                          torch.nn.Linear(hidden, k))
opt = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=decay)
cuts = [n * b // batches for b in range(batches + 1)]
for epoch in range(epochs):
    total = 0.0
    for a, b in zip(cuts, cuts[1:]):
        opt.zero_grad()
        s = w[a:b] @ torch.softmax(net(x), dim=1)
        loss = -(s * noise[t[a:b]]).sum(1).log().mean()
        loss.backward()
        opt.step()
        total += float(loss.detach()) * (b - a)
answer(time.monotonic() - start, -total / n)
