# The contrastive step. It is given the weights (and the head's biases), layer by
# layer, and the records. The ways differ in how images lie in memory: channels
# first, or last.
rate, decay = numbers[:2]
records, tried, side = map(int, numbers[2:])
at = 0
def take(*shape):
    global at
    size = int(np.prod(shape))
    at += size
    return given[at - size:at].reshape(shape).clone()
start = [take(16, 5, 5, 1).permute(0, 3, 1, 2),
         take(32, 3, 3, 16).permute(0, 3, 1, 2),
         take(64, 3, 3, 32).permute(0, 3, 1, 2),
         take(64, 4, 4, 64).permute(0, 3, 1, 2).reshape(64, 1024),
         take(64, 64), take(64), take(32, 64), take(32)]
data = take(records, 1, side, side)
class Way:
    def __init__(self, last):
        self.form = (torch.channels_last if last
                     else torch.contiguous_format)
        self.p = []
        for w in start:
            w = (w.contiguous(memory_format=self.form) if w.dim() == 4
                 else w.contiguous())
            self.p.append(torch.nn.Parameter(w.clone()))
        self.norm = [torch.nn.BatchNorm2d(16), torch.nn.BatchNorm2d(32),
                     torch.nn.BatchNorm2d(64), torch.nn.BatchNorm1d(64)]
        all = self.p + [q for n in self.norm for q in n.parameters()]
        try:
            self.adam = torch.optim.AdamW(all, lr=rate, foreach=True,
                                          weight_decay=decay)
        except TypeError:
            self.adam = torch.optim.AdamW(all, lr=rate,
                                          weight_decay=decay)
    def loss(self, x):
        p, norm = self.p, self.norm
        x = x.contiguous(memory_format=self.form)
        x = F.relu(norm[0](F.conv2d(x, p[0], stride=2, padding=2)))
        x = F.relu(norm[1](F.conv2d(x, p[1], padding=1)))
        x = F.max_pool2d(x, 2)
        x = F.relu(norm[2](F.conv2d(x, p[2], padding=1)))
        x = F.max_pool2d(x, 2, padding=1)
        x = F.relu(norm[3](F.linear(x.flatten(1), p[3])))
        x = F.relu(F.linear(x, p[4], p[5]))
        u = F.normalize(F.linear(x, p[6], p[7]))
        n = len(u) // 2
        s = (u @ u.T).fill_diagonal_(-1e30)
        other = torch.arange(2 * n).roll(n)
        return F.cross_entropy(s, other)
    def step(self, x):
        self.adam.zero_grad(set_to_none=True)
        self.loss(x).backward()
        self.adam.step()
    def draw(self, n):
        self.step(data[torch.randint(0, records, (2 * n,))])
first, patience = (data[:2 * tried],), 1
