#!/usr/bin/env python3
"""BLEU worked out a second time, from its definition, to check src/metrics/bleu.c.

usage: reference_bleu.py HYPOTHESES REFERENCES...

Prints a line for each smoothing method: its name, the score, the four
precisions, the brevity penalty, the lengths of hypotheses and references.
"""
import math
import re
import sys
from collections import Counter
from fractions import Fraction

METHODS = {"none": 0, "floor": Fraction(1, 10), "add-k": 1, "exp": 0}


def sentences(path):
    with open(path, "rb") as file:
        text = file.read()
    lines = text[:-1].split(b"\n") if text.endswith(b"\n") else text.split(b"\n")
    return [[t for t in re.split(rb"[ \t]+", line) if t] for line in lines]


def grams(tokens, n):
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def counts(hypotheses, references):
    match, total = [0] * 5, [0] * 5
    hyp_len = ref_len = 0
    for hyp, *refs in zip(hypotheses, *references):
        hyp_len += len(hyp)
        ref_len += min((abs(len(r) - len(hyp)), len(r)) for r in refs)[1]
        for n in range(1, 5):
            most = Counter()
            for ref in refs:
                most |= grams(ref, n)
            match[n] += sum((grams(hyp, n) & most).values())
            total[n] += sum(grams(hyp, n).values())
    return match, total, hyp_len, ref_len


def score(method, match, total, hyp_len, ref_len):
    value = METHODS[method]
    precision = [Fraction(0)] * 5
    without = 0
    if any(match):
        for n in range(1, 5):
            more = value if method == "add-k" and n > 1 else 0
            if total[n] + more == 0:
                break
            found = match[n] + more
            if found == 0 and method == "exp":
                without += 1
                found = Fraction(1, 2**without)
            elif found == 0 and method == "floor":
                found = value
            precision[n] = Fraction(100 * found) / (total[n] + more)
    penalty = 1.0
    if hyp_len < ref_len:
        penalty = math.exp(1 - ref_len / hyp_len) if hyp_len else 0.0
    product = precision[1] * precision[2] * precision[3] * precision[4]
    return penalty * float(product) ** 0.25, precision[1:], penalty


def main():
    counted = counts(sentences(sys.argv[1]), [sentences(p) for p in sys.argv[2:]])
    for method in METHODS:
        bleu, precision, penalty = score(method, *counted)
        fields = [bleu, *map(float, precision), penalty, *counted[2:]]
        print(method, *map(repr, fields))


main()
