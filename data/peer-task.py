# The closed form of a linear task (P2, Propositions 2 to 4): x and K are given
# as doubles. As the paper has it, through C = L L' and P = K L (way 0), or by the
# covariance of the outputs (way 1). Answers the loss of Eq. 13.
import sys, time
import numpy as np
rows, n, m, way = map(int, sys.argv[2:6])
c = float(sys.argv[6])
given = np.fromfile(sys.argv[1])
x = given[:rows * n].reshape(rows, n)
K = given[rows * n:].reshape(m, n)
best = None
for again in range(3):
    start = time.monotonic()
    centred = x - x.mean(0)
    if way == 0:
        L = np.linalg.cholesky(centred.T @ centred / rows)
        P = K @ L
        lam, Q = np.linalg.eigh(P.T @ P)
        lam, Q = lam[::-1][:m], Q[:, ::-1][:, :m]
        v = centred @ np.linalg.solve(L.T, Q)
    else:
        y = centred @ K.T
        lam, U = np.linalg.eigh(y.T @ y / rows)
        lam, U = lam[::-1], U[:, ::-1]
        v = y @ (U / np.sqrt(lam))
    root = np.sqrt(lam)
    S = np.cumsum(root)
    Z = np.arange(1, len(lam) + 1)
    kept = int(np.cumprod(root / S * (1 + Z * c) > c).sum())
    loss = c * S[kept - 1] ** 2 / (1 + kept * c) + lam[kept:].sum()
    spent = time.monotonic() - start
    best = spent if best is None else min(best, spent)
    assert abs(v.var(0) - 1).max() < 1e-6
answer(best, loss)
