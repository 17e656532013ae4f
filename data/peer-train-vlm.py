# The variational step. It is given the weights and biases, layer by layer, the
# records, and the noise of those that are tried. Way 1 keeps all parameters in
# one vector, and all gradients in another, so that Adam is a handful of calls;
# way 0 is PyTorch's own Adam for lists.
l, b, rate = numbers[:3]
records, tried, *sizes = map(int, numbers[3:])
layers = len(sizes) - 1
count = sum((i + 1) * o for i, o in zip(sizes, sizes[1:]))
data = given[count:count + records * sizes[0]].reshape(records, -1)
noise = given[count + records * sizes[0]:].reshape(tried, -1)
d, s = noise.shape[1], math.sqrt(0.5)
criterion = torch.nn.BCEWithLogitsLoss(reduction='sum')
class Way:
    def __init__(self, flat):
        self.flat, at, self.p = flat, 0, []
        value = given[:count].clone()
        self.slope = torch.zeros(count)
        for i, o in zip(sizes, sizes[1:]):
            for shape in ((o, i), (o,)):
                end = at + math.prod(shape)
                p = value[at:end].view(shape)
                p = torch.nn.Parameter(p if flat else p.clone())
                if flat:
                    p.grad = self.slope[at:end].view(shape)
                self.p.append(p)
                at = end
        all = self.p
        if flat:
            all = [torch.nn.Parameter(value)]
            all[0].grad = self.slope
        try:
            self.adam = torch.optim.Adam(all, lr=rate,
                                         foreach=not flat)
        except TypeError:
            self.adam = torch.optim.Adam(all, lr=rate)
    def through(self, x, first, last):
        for i in range(first, last):
            x = torch.nn.functional.linear(x, self.p[2 * i],
                                           self.p[2 * i + 1])
            if i + 1 < last:
                x = torch.relu(x)
        return x
    def loss(self, x, e):
        h = self.through(x, 0, layers // 2)
        norm = h.abs().sum(1, keepdim=True)
        mu = h * (l / norm).clamp(max=1)
        logits = self.through(mu + b * e, layers // 2, layers)
        a = mu.abs()
        kl = a.sum() / s + torch.exp(a / -b).sum() * (b / s)
        kl = kl + a.numel() * (math.log(s / b) - 1)
        return (criterion(logits, x) + kl) / len(x)
    def step(self, x, e):
        if self.flat:
            self.slope.zero_()
        else:
            self.adam.zero_grad(set_to_none=True)
        self.loss(x, e).backward()
        self.adam.step()
    def draw(self, n):
        e = torch.empty(2, n, d).exponential_()
        self.step(data[torch.randint(0, records, (n,))], e[0] - e[1])
first, patience = (data[:tried], noise), 0.5
