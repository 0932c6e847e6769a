#!/usr/bin/env python3
"""Word alignments worked out a second time, from the definitions, to check
src/metrics/aer.c and symmetrize.c.

usage: reference_links.py make SEED LINES MARKS          made-up links
       reference_links.py aer GOLD HYPOTHESIS            rate precision recall
       reference_links.py METHOD FORWARD BACKWARD        links of both
"""
import random
import re
import sys
from fractions import Fraction

NEIGHBOURS = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]


def read(path):
    """For each line the sure links, and all links."""
    with open(path) as file:
        for line in file:
            links = re.findall(r"(\d+)([-?p])(\d+)", line)
            yield (
                {(int(s), int(t)) for s, mark, t in links if mark == "-"},
                {(int(s), int(t)) for s, _, t in links},
            )


def make(seed, lines, marks):
    random.seed(int(seed))
    for _ in range(int(lines)):
        sources, targets = random.randint(1, 9), random.randint(1, 9)
        links = []
        for t in range(targets):
            for _ in range(random.choice([0, 1, 1, 1, 2])):
                s = t * sources // targets + random.randint(-2, 2)
                if 0 <= s < sources:
                    links.append(f"{s}{random.choice(marks)}{t}")
        random.shuffle(links)
        print(" ".join(links))


def aer(gold, hypothesis):
    a = s = in_s = in_p = 0
    for (sure, possible), (_, links) in zip(read(gold), read(hypothesis)):
        a += len(links)
        s += len(sure)
        in_s += len(links & sure)
        in_p += len(links & possible)
    numbers = 1 - Fraction(in_s + in_p, a + s), Fraction(in_p, a), Fraction(in_s, s)
    print(*("%.6f" % number for number in numbers))


def grow_diag_final_and(forward, backward, final):
    """Figure of Koehn et al. 2005; e is the target, f the source."""
    union = forward | backward
    en = range(1 + max((t for _, t in union), default=0))
    fn = range(1 + max((s for s, _ in union), default=0))
    chosen = forward & backward

    def e_free(e):
        return all(t != e for _, t in chosen)

    def f_free(f):
        return all(s != f for s, _ in chosen)

    added = True
    while added:
        added = False
        for e in en:
            for f in fn:
                if (f, e) not in chosen:
                    continue
                for de, df in NEIGHBOURS:
                    new_e, new_f = e + de, f + df
                    if (new_f, new_e) in chosen or (new_f, new_e) not in union:
                        continue
                    if e_free(new_e) or f_free(new_f):
                        chosen.add((new_f, new_e))
                        added = True
    for links in (forward, backward) if final else ():
        for e in en:
            for f in fn:
                if (f, e) in links and e_free(e) and f_free(f):
                    chosen.add((f, e))
    return chosen


METHODS = {
    "intersect": lambda a, b: a & b,
    "union": lambda a, b: a | b,
    "grow-diag": lambda a, b: grow_diag_final_and(a, b, False),
    "grow-diag-final-and": lambda a, b: grow_diag_final_and(a, b, True),
}


def symmetrize(method, forward, backward):
    for (_, a), (_, b) in zip(read(forward), read(backward)):
        links = sorted(METHODS[method](a, b), key=lambda link: link[::-1])
        print(" ".join(f"{s}-{t}" for s, t in links))


if sys.argv[1] == "make":
    make(*sys.argv[2:])
elif sys.argv[1] == "aer":
    aer(*sys.argv[2:])
else:
    symmetrize(*sys.argv[1:])
