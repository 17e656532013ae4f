# Behind a method's script: steps as they are asked for.
ways, values = [Way(0), Way(1)], []
for way in ways:
    way.step(*first)
    values.append(float(way.loss(*first)))
for line in sys.stdin:
    number, n, steps = map(int, line.split())
    way = ways[number]
    if steps == 0:
        answer(0, values[number])
        continue
    way.draw(n)
    start, done, past = time.perf_counter(), 0, 0
    while done < steps and past < patience:
        way.draw(n)
        done, past = done + 1, time.perf_counter() - start
    answer(past / done, 0)
