"""Log-probabilities, weights and links of translations, once more with NumPy.

    reference.py SOURCE TARGET < LIST

Each line of LIST is a description, a model file, and what attn-score says of
the pairs: a file of numbers, a line each, one of weights (csv) and one of links
(pharaoh), tabs between them. Printed is, for each line, the largest relative
difference of a number, the largest difference of a weight, how many links
are wrong, and the description, tabs between them. A link is wrong whose weight
is not the largest to 1e-5, or that is missing or too much.

This is written from the equations of the documentation, not from the programs,
in double precision, sentence by sentence and word by word. Row vectors; x W.
"""

import csv
import sys
import zipfile

import numpy as np

UNK, BOS, EOS = 0, 1, 2
VECTORS = "b c v r g w W_gain U_gain cell_gain cell_bias b_h".split()


# --- the model file ---------------------------------------------------------


def parse_config(text):
    """Two levels of YAML as attn-train dumps it: sections of `key: value`."""
    config, section = {}, None
    for line in text.splitlines():
        name, _, value = line.partition(":")
        value = value.strip()
        if not line.startswith(" "):
            section = config.setdefault(name, {})
        elif value in ("true", "false"):
            section[name.strip()] = value == "true"
        else:
            section[name.strip()] = value.strip("\"'")
    return config


class Model:
    def __init__(self, path):
        with zipfile.ZipFile(path) as z:
            text = {n: z.read(n).decode() for n in z.namelist() if n[-4:] != ".npy"}
        with np.load(path) as z:
            self.p = {n: self.array(n, z[n]) for n in z.files if n not in text}
        self.config = parse_config(text["config.yaml"])
        for part in ["encoder", "decoder"]:
            self.p[part + ".layer_norm"] = self.config[part]["layer_norm"]
        self.source = self.vocabulary(text["source.vocab"])
        self.target = self.vocabulary(text["target.vocab"])

    @staticmethod
    def array(name, a):
        """A matrix of one row is a vector in the file."""
        vector = name.rsplit(".", 1)[1] in VECTORS
        a = a.astype(np.float64)
        return a if vector else a.reshape(-1, a.shape[-1])

    @staticmethod
    def vocabulary(text):
        words = text.split("\n")[:-1]
        return {w: i for i, w in enumerate(words) if i > EOS}

    def get(self, section, key):
        return self.config[section][key]

    def number(self, section, key):
        return int(self.config[section][key])


# --- cells ------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def layer_norm(x):
    return (x - x.mean()) / np.sqrt(x.var() + 1e-5)


def cell(kind, p, prefix, x, state, context=None):
    """state is (h,), or (h, c) of an LSTM; the same is returned."""
    h = state[0]
    H = h.size
    a = x @ p[prefix + ".W"]
    if context is not None:
        a = a + context @ p[prefix + ".C"]
    u = h @ p[prefix + ".U"]
    normed = p[prefix.split(".")[0] + ".layer_norm"]
    if normed:
        a = layer_norm(a) * p[prefix + ".W_gain"]
        u = layer_norm(u) * p[prefix + ".U_gain"]
    a = a + p[prefix + ".b"]
    if kind == "rnn":
        return (np.tanh(a + u),)
    if kind == "gru":
        u = u + p[prefix + ".c"]
        r = sigmoid(a[:H] + u[:H])
        z = sigmoid(a[H : 2 * H] + u[H : 2 * H])
        n = np.tanh(a[2 * H :] + r * u[2 * H :])
        return ((1 - z) * n + z * h,)
    i, f, g, o = np.split(a + u, 4)
    c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
    shown = c
    if normed:
        shown = layer_norm(c) * p[prefix + ".cell_gain"] + p[prefix + ".cell_bias"]
    return (sigmoid(o) * np.tanh(shown), c)


def zero_state(kind, H):
    return (np.zeros(H),) * (2 if kind == "lstm" else 1)


# --- encoder and bridge -----------------------------------------------------


def encode(m, ids):
    """Memory [S,M], and for each layer where it stopped: (h,) or (h, c) [M]."""
    kind = m.get("encoder", "cell")
    H = m.number("encoder", "hidden")
    x = [m.p["source.embedding"][i] for i in ids]
    ends = []
    for layer in range(m.number("encoder", "layers")):
        halves, last = [], []
        for direction in ["forward", "backward"][: 1 + m.get("encoder", "bidirectional")]:
            prefix = "encoder.%d.%s" % (layer, direction)
            state = zero_state(kind, H)
            states = []
            for one in x if direction == "forward" else x[::-1]:
                state = cell(kind, m.p, prefix, one, state)
                states.append(state[0])
            halves.append(states if direction == "forward" else states[::-1])
            last.append(state)
        y = [np.concatenate(parts) for parts in zip(*halves)]
        ends.append([np.concatenate(parts) for parts in zip(*last)])
        if m.get("encoder", "residual") and x[0].size == y[0].size:
            y = [a + b for a, b in zip(x, y)]
        x = y
    return np.array(x), ends


def self_attention(m, h):
    """What the decoder sees of the states [S,M], and hops [r,S] or None."""
    kind = m.get("encoder", "self_attention")
    if kind == "none":
        return h, None
    name = "encoder.self."
    p = {n[len(name) :]: a for n, a in m.p.items() if n.startswith(name)}
    if kind == "structured":
        e = p["V"] @ np.tanh(h @ p["W"]).T
        hops = np.array([softmax(hop) for hop in e])
        return hops @ h, hops
    if kind == "own":
        a = softmax(np.tanh(h @ p["W"] + p["b"]) @ p["v"])
        contexts = [a @ h] * len(h)
    else:
        contexts = [np.zeros(h.shape[1])]
        for j in range(1, len(h)):
            x = np.tanh(h[j] @ p["W"] + h[:j] @ p["U"] + p["b"])
            contexts.append(softmax(x @ p["v"]) @ h[:j])
    return np.tanh(h @ p["W_h"] + np.array(contexts) @ p["W_c"] + p["b_h"]), None


def first_states(m, memory, ends):
    kind = m.get("decoder", "cell")
    H = m.number("decoder", "hidden")
    bridge = m.get("model", "bridge")
    states = []
    for layer in range(m.number("decoder", "layers")):
        if bridge == "copy":
            states.append(tuple(ends[layer]))
            continue
        if bridge == "zero":
            states.append(zero_state(kind, H))
            continue
        x = memory.mean(axis=0) if bridge == "mean" else ends[-1][0]
        names = ["bridge.%d" % layer, "bridge.%d.cell" % layer]
        states.append(
            tuple(
                np.tanh(x @ m.p[n + ".W"] + m.p[n + ".b"])
                for n in names[: len(zero_state(kind, H))]
            )
        )
    return states


# --- attention --------------------------------------------------------------
# docs/attention.md, equation by equation


def scores(m, query, keys, covered):
    p = m.p
    score = m.get("attention", "score")
    if score == "additive":
        x = query @ p["attention.W"] + keys @ p["attention.U"] + p["attention.b"]
        v = p["attention.v"]
        if m.get("attention", "coverage"):
            x = x + np.outer(covered, p["attention.w"])
        if m.get("attention", "normalized"):
            v = v * p["attention.g"][0] / np.sqrt(v @ v)
        return np.tanh(x) @ v
    if score == "dot":
        return keys @ query
    if score == "scaled_dot":
        return keys @ query / np.sqrt(query.size)
    if score == "general":
        return keys @ p["attention.W"] @ query
    if score == "location":
        e = np.full(len(keys), -np.inf)
        seen = min(len(keys), p["attention.W"].shape[1])
        e[:seen] = (query @ p["attention.W"])[:seen]
        return e
    raise ValueError(score)


class Head:
    """One head's attention to one sentence, step by step."""

    def __init__(self, m, keys, values):
        self.m, self.keys, self.values = m, keys, values
        self.S, self.t, self.at = len(keys), 0, 0
        self.log_u = np.zeros(self.S)
        self.covered = np.zeros(self.S)
        self.fixed = None

    def window(self, centre):
        D = self.m.number("attention", "window")
        inside = np.zeros(self.S, bool)
        inside[max(centre - D, 0) : centre + D + 1] = True
        return inside

    def inside(self, e, inside):
        """Softmax of some positions, 0 at the others."""
        return softmax(np.where(inside, e, -np.inf))

    def weights(self, query):
        kind = self.m.get("attention", "kind")
        if kind == "static":
            if self.fixed is None:
                self.fixed = softmax(scores(self.m, query, self.keys, self.covered))
            return self.fixed
        return getattr(self, kind)(query, scores(self.m, query, self.keys, self.covered))

    def step(self, query):
        a = self.weights(query)
        self.t += 1
        self.covered = self.covered + a
        return a, a @ self.values

    def global_(self, query, e):
        return softmax(e)

    def local_m(self, query, e):
        return self.inside(e, self.window(min(self.t, self.S - 1)))

    def local_p(self, query, e):
        p = self.m.p
        x = np.tanh(query @ p["attention.W_p"]) @ p["attention.v_p"]
        centre = (self.S - 1) * sigmoid(x[0])
        D = self.m.number("attention", "window")
        distance = (np.arange(self.S) - centre) ** 2 / (2 * (D / 2) ** 2)
        mode = self.m.get("attention", "local_mode")
        if mode == "prior":
            return softmax(e - distance)
        a = self.inside(e, self.window(int(np.floor(centre)))) * np.exp(-distance)
        return a / a.sum() if mode == "renormalized" else a

    def forward(self, query, e):
        a = softmax(e + self.log_u)
        self.log_u = self.log_u + np.log(np.maximum(1 - a, 1e-4))
        return a

    def hard(self, query, e):
        return np.eye(self.S)[e.argmax()]

    def monotonic(self, query, e):
        for j in range(self.at, self.S):
            if e[j] + self.m.p["attention.r"][0] >= 0:
                self.at = j
                return np.eye(self.S)[j]
        return np.zeros(self.S)


setattr(Head, "global", Head.global_)


class Attention:
    def __init__(self, m, words, memory, hops, summary):
        self.m, self.words, self.hops, self.summary = m, words, hops, summary
        self.weights = []
        self.h = m.number("attention", "heads")
        keys = values = memory
        if m.get("attention", "memory") == "key_value":
            keys, values = np.split(memory, 2, axis=1)
        if self.h > 1 and "attention.W_v" in m.p:
            values = values @ m.p["attention.W_v"]
            if "attention.W_k" in m.p:
                keys = keys @ m.p["attention.W_k"]
            else:
                keys = values
        self.heads = [
            Head(m, k, v)
            for k, v in zip(np.split(keys, self.h, 1), np.split(values, self.h, 1))
        ]

    def step(self, query):
        """The context, or None; the mean of the heads' weights is kept."""
        kind = self.m.get("attention", "kind")
        if kind == "none":
            self.weights.append(np.zeros(self.words))
            return None
        if kind == "static":
            query = self.summary
        if self.h > 1:
            query = query @ self.m.p["attention.W_q"]
        queries = np.split(query, self.h)
        weights, contexts = zip(*(h.step(q) for h, q in zip(self.heads, queries)))
        weights = np.mean(weights, axis=0)
        self.weights.append(weights if self.hops is None else weights @ self.hops)
        return np.concatenate(contexts)


# --- decoder ----------------------------------------------------------------


def stack(m, first, states):
    """The layers above the first, whose new state is given: top output, states."""
    kind = m.get("decoder", "cell")
    after, below = [first], first[0]
    for layer in range(1, len(states)):
        state = cell(kind, m.p, "decoder.%d" % layer, below, states[layer])
        after.append(state)
        below = state[0] + below if m.get("decoder", "residual") else state[0]
    return below, after


def recur(m, word, second, states):
    """One step of the stacked cells: the top output, and all new states."""
    kind = m.get("decoder", "cell")
    return stack(m, cell(kind, m.p, "decoder.0", word, states[0], second), states)


READOUTS = {
    "tanh": np.tanh,
    "linear": lambda x: x,
    "maxout": lambda x: np.maximum(x[0::2], x[1::2]),
}


def decode(m, y, feed, states, attention):
    """A step: the readout before its activation, and the new states."""
    p = m.p
    style = m.get("decoder", "style")
    kind = m.get("decoder", "cell")
    if style == "bahdanau":
        c = attention.step(states[-1][0])
        s, states = recur(m, y, c, states)
    elif style == "luong":
        s, states = recur(m, y, feed, states)
        c = attention.step(s)
    elif style == "conditional":
        middle = cell(kind, p, "decoder.0", y, states[0])
        c = attention.step(middle[0])
        if c is not None:
            middle = cell(kind, p, "decoder.0.second", c, middle)
        s, states = stack(m, middle, states)
    else:
        raise ValueError(style)
    t = s @ p["readout.W_s"] + p["readout.b"]
    if style != "luong":
        t = t + y @ p["readout.W_y"]
    if c is not None:
        t = t + c @ p["readout.W_c"]
    return t, states


def log_softmax(x):
    return x - x.max() - np.log(np.exp(x - x.max()).sum())


def log_probability(m, t, table, word):
    """Of a word, from the readout t."""
    p = m.p
    if m.get("model", "output") == "full":
        W = p["output.W"] if m.get("model", "tied_embeddings") == "none" else table.T
        return log_softmax(t @ W + p["output.b"])[word]
    clusters = m.number("model", "output_clusters")
    head = log_softmax(t @ p["output.W"] + p["output.b"])
    h = head.size - clusters
    if word < h:
        return head[word]
    word -= h
    for c in range(clusters):
        name = "output.%d." % c
        b = p[name + "b"]
        if word < b.size:
            return head[h + c] + log_softmax(t @ p[name + "P"] @ p[name + "W"] + b)[word]
        word -= b.size
    raise ValueError(word)


def translation(m, source, target):
    """Its log-probability, and the weights [T,S]."""
    p = m.p
    memory, ends = encode(m, source)
    memory, hops = self_attention(m, memory)
    states = first_states(m, memory, ends)
    attention = Attention(m, len(source), memory, hops, ends[-1][0])
    tied = m.get("model", "tied_embeddings")
    table = p["source.embedding" if tied == "all" else "target.embedding"]
    f = READOUTS[m.get("decoder", "readout")]
    feed = None
    if m.get("decoder", "style") == "luong" and m.get("decoder", "input_feeding"):
        feed = f(np.zeros(p["readout.W_s"].shape[1])) * 0
    total, before = 0.0, BOS
    for word in target:
        t, states = decode(m, table[before], feed, states, attention)
        t = f(t)
        if feed is not None:
            feed = t
        total += log_probability(m, t, table, word)
        before = word
    return total, np.array(attention.weights)


# --- the comparison ---------------------------------------------------------


def ids(line, vocabulary):
    words = [w for w in line.replace("\t", " ").split(" ") if w]
    return [vocabulary.get(w, UNK) for w in words] + [EOS]


class Worst:
    def __init__(self):
        self.number = self.weight = 0.0
        self.links = 0

    def add_number(self, wanted, got):
        difference = abs(wanted - got) / max(abs(wanted), 1e-30)
        if np.isnan(got):
            difference = np.inf
        self.number = max(self.number, 0.0 if wanted == got else difference)

    def add_weights(self, wanted, got):
        """got has (row, column): weight for all of wanted, and nothing else."""
        if len(got) != wanted.size:
            self.weight = np.inf
            return
        for (t, s), weight in got.items():
            self.weight = max(self.weight, abs(wanted[t, s] - weight))

    def add_links(self, weights, links):
        """Row t of a word links it to the largest weight, but not to </s>."""
        for t, row in enumerate(weights[:-1]):
            largest = np.flatnonzero(row >= row.max() - 1e-5)
            got = [s for s, to in links if to == t]
            if row.max() == 0 or not got:
                right = not got and (row.max() == 0 or len(row) - 1 in largest)
            else:
                right = len(got) == 1 and got[0] in largest and got[0] < len(row) - 1
            self.links += not right
        self.links += sum(to >= len(weights) - 1 for s, to in links)


def compare(m, pairs, numbers, weights, links):
    worst = Worst()
    if not len(pairs) == len(numbers) == len(links):
        worst.number = np.inf
        return worst
    for i, (source, target) in enumerate(pairs):
        s, t = ids(source, m.source), ids(target, m.target)
        if len(s) == len(t) == 1:
            worst.add_number(0.0, numbers[i])
            worst.add_weights(np.zeros((0, 0)), weights.get(i, {}))
            worst.links += len(links[i])
            continue
        wanted, rows = translation(m, s, t)
        worst.add_number(wanted, numbers[i])
        worst.add_weights(rows, weights.get(i, {}))
        worst.add_links(rows, links[i])
    return worst


def read_weights(path):
    """{sentence: {(target, source): weight}}"""
    weights = {}
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            place = int(row["target_pos"]), int(row["source_pos"])
            weights.setdefault(int(row["sentence"]), {})[place] = float(row["weight"])
    return weights


def read_links(path):
    """[(source, target), …] of each line."""
    with open(path) as f:
        return [
            [tuple(int(n) for n in link.split("-")) for link in line.split()] for line in f
        ]


def main():
    sides = []
    for path in sys.argv[1:3]:
        with open(path, newline="\n") as f:
            sides.append(f.read().split("\n")[:-1])
    pairs = list(zip(*sides))
    for line in sys.stdin:
        description, model, scores, weights, links = line.rstrip("\n").split("\t")
        with open(scores) as f:
            numbers = [float(x) for x in f]
        worst = compare(
            Model(model), pairs, numbers, read_weights(weights), read_links(links)
        )
        print("%.3g\t%.3g\t%d\t%s" % (worst.number, worst.weight, worst.links, description))


main()
