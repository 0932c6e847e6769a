"""The log-probabilities of translations, computed once more with NumPy.

    reference.py SOURCE TARGET < LIST

Each line of LIST is a description, a model file and a file of numbers, tabs
between them; the numbers, a line each, are what attn-score says of the pairs.
Printed is, for each line, the largest relative difference and the description,
a tab between them.

This is written from the equations of the documentation, not from the programs,
in double precision, sentence by sentence and word by word. Row vectors; x W.
"""

import sys
import zipfile

import numpy as np

UNK, BOS, EOS = 0, 1, 2


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
        self.source = self.vocabulary(text["source.vocab"])
        self.target = self.vocabulary(text["target.vocab"])

    @staticmethod
    def array(name, a):
        """A matrix of one row is a vector in the file."""
        vector = name.rsplit(".", 1)[1] in ("b", "c", "v")
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


def cell(kind, p, prefix, x, state, context=None):
    """state is (h,), or (h, c) of an LSTM; the same is returned."""
    h = state[0]
    H = h.size
    a = x @ p[prefix + ".W"] + p[prefix + ".b"]
    if context is not None:
        a = a + context @ p[prefix + ".C"]
    u = h @ p[prefix + ".U"]
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
    return (sigmoid(o) * np.tanh(c), c)


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


def weights(m, query, memory):
    p = m.p
    score = m.get("attention", "score")
    if score == "additive":
        e = np.tanh(
            query @ p["attention.W"] + memory @ p["attention.U"] + p["attention.b"]
        ) @ p["attention.v"]
    elif score == "dot":
        e = memory @ query
    elif score == "general":
        e = memory @ p["attention.W"] @ query
    else:
        raise ValueError(score)
    return softmax(e)


def context_of(m, query, memory, summary):
    """The context, or None."""
    kind = m.get("attention", "kind")
    if kind == "none":
        return None
    if kind == "static":
        query = summary
    elif kind != "global":
        raise ValueError(kind)
    return weights(m, query, memory) @ memory


# --- decoder ----------------------------------------------------------------


def recur(m, word, second, states):
    """One step of the stacked cells: the top output, and all new states."""
    kind = m.get("decoder", "cell")
    after, below = [], None
    for layer, state in enumerate(states):
        prefix = "decoder.%d" % layer
        if layer == 0:
            state = cell(kind, m.p, prefix, word, state, second)
        else:
            state = cell(kind, m.p, prefix, below, state)
        after.append(state)
        residual = layer > 0 and m.get("decoder", "residual")
        below = state[0] + below if residual else state[0]
    return below, after


def log_probability(m, source, target):
    p = m.p
    memory, ends = encode(m, source)
    states = first_states(m, memory, ends)
    summary = ends[-1][0]
    style = m.get("decoder", "style")
    tied = m.get("model", "tied_embeddings")
    table = p["source.embedding" if tied == "all" else "target.embedding"]
    f = np.tanh if m.get("decoder", "readout") == "tanh" else lambda x: x
    feed = None
    if style == "luong" and m.get("decoder", "input_feeding"):
        feed = np.zeros(p["readout.W_s"].shape[1])
    total, before = 0.0, BOS
    for word in target:
        y = table[before]
        if style == "bahdanau":
            c = context_of(m, states[-1][0], memory, summary)
            s, states = recur(m, y, c, states)
            t = s @ p["readout.W_s"] + y @ p["readout.W_y"] + p["readout.b"]
        elif style == "luong":
            s, states = recur(m, y, feed, states)
            c = context_of(m, s, memory, summary)
            t = s @ p["readout.W_s"] + p["readout.b"]
        else:
            raise ValueError(style)
        if c is not None:
            t = t + c @ p["readout.W_c"]
        t = f(t)
        if feed is not None:
            feed = t
        W = p["output.W"] if tied == "none" else table.T
        logits = t @ W + p["output.b"]
        total += logits[word] - logits.max() - np.log(np.exp(logits - logits.max()).sum())
        before = word
    return total


# --- the comparison ---------------------------------------------------------


def ids(line, vocabulary):
    words = [w for w in line.replace("\t", " ").split(" ") if w]
    return [vocabulary.get(w, UNK) for w in words] + [EOS]


def compare(m, pairs, numbers):
    worst = 0.0
    if len(pairs) != len(numbers):
        return float("inf")
    for (source, target), got in zip(pairs, numbers):
        s, t = ids(source, m.source), ids(target, m.target)
        wanted = 0.0 if len(s) == len(t) == 1 else log_probability(m, s, t)
        difference = abs(wanted - got) / max(abs(wanted), 1e-30)
        worst = max(worst, 0.0 if wanted == got else difference)
        if np.isnan(got):
            return float("inf")
    return worst


def main():
    sides = []
    for path in sys.argv[1:3]:
        with open(path, newline="\n") as f:
            sides.append(f.read().split("\n")[:-1])
    pairs = list(zip(*sides))
    for line in sys.stdin:
        description, model, scores = line.rstrip("\n").split("\t")
        with open(scores) as f:
            numbers = [float(x) for x in f]
        print("%.3g\t%s" % (compare(Model(model), pairs, numbers), description))


main()
