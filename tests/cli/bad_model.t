#!/bin/sh
# Model files that are none, or not whole, or not what they say: each is refused
# at once, with a message and status 2, by every program that reads models.
. "$(dirname "$0")/lib.sh"

toy
# As small as can be: it is cut at many places.
quietly attn-train toy.yaml --model.embedding 2 --encoder.hidden 2 --decoder.hidden 2 \
    --model.path tiny --training.updates 3
model=tiny/best.npz
size=$(wc -c <$model | tr -d ' ')
works_on valid.src 'the model itself' attn-translate -q -m $model
cp out translated

# refused FILE: by attn-translate, with status 2, a message, and nothing on stdout.
# shellcheck disable=SC2317 # called by `each` and `ok`
refused() {
    run attn-translate -m "$1"
    [ "$status" -eq 2 ] && sound && [ ! -s out ] && grep -qaF "$1" err
}

# --- cut, prolonged, changed -----------------------------------------------

at=0
places=0
wrong=
while [ "$at" -lt "$size" ]; do
    head -c "$at" $model >cut.npz
    refused cut.npz || wrong="$wrong $at"
    places=$((places + 1))
    if [ $((at + 64)) -le $((size - 200)) ]; then
        at=$((at + 64))
    elif [ "$at" -lt $((size - 200)) ]; then
        at=$((size - 200))
    else
        at=$((at + 1))
    fi
done
is '' "$wrong" "cut at $places places of $size"

cp $model longer.npz
printf '\0' >>longer.npz
ok 'a byte more' refused longer.npz
cat $model $model >twice.npz
ok 'twice' refused twice.npz
{ printf 'x' && cat $model; } >shifted.npz
ok 'a byte before' refused shifted.npz
gzip -c $model >zipped.npz
ok 'compressed once more' refused zipped.npz

# A bit here and there.
if [ -n "$PYTHON" ]; then
    cat >flip.py <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
i = int(sys.argv[2])
data[i] ^= 1 << i % 8
open("flipped.npz", "wb").write(data)
END
    wrong=
    at=0
    while [ "$at" -lt "$size" ]; do
        "$PYTHON" flip.py $model "$at"
        refused flipped.npz || wrong="$wrong $at"
        at=$((at + size / 60))
    done
    is '' "$wrong" 'a flipped bit at 60 places'
fi

# --- something else --------------------------------------------------------

fails_with 2 "valid.src'?: .*not a model" 'a text' attn-translate -m valid.src
: >empty.npz
ok 'an empty file' refused empty.npz
fails_with 2 'No such file' 'no file' attn-translate -m nowhere.npz
fails_with 2 'tiny' 'a folder' attn-translate -m tiny
fails_with 2 '/dev/zero' 'a device without end' attn-translate -m /dev/zero
fails_with 2 'toy.yaml' 'a configuration' attn-translate -m toy.yaml
head -c 1000 $model >cut.npz
fails_with 2 'cut.npz' 'attn-score: cut' attn-score -m cut.npz valid.src valid.tgt
fails_with 2 'valid.src' 'attn-score: a text' attn-score -m valid.src valid.src valid.tgt
fails_with 2 'No such file' 'attn-score: no file' attn-score -m nowhere valid.src valid.tgt
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    chmod a+rx . && cp $model secret.npz && chmod 600 secret.npz
    fails_with 2 'secret.npz.*Permission denied' 'a file that may not be read' \
        setpriv --reuid=65534 --regid=65534 --clear-groups "$(command -v attn-translate)" -m secret.npz
else
    skip 'a file that may not be read' 'not root, or no setpriv'
fi

# --- other contents, in a whole file ---------------------------------------

[ -n "$PYTHON" ] || {
    skip 'other contents' 'no python3 with numpy'
    finish
}

cat >make.py <<'END'
"""make.py MODEL TO CHANGE: writes the model anew, with something changed."""
import io, sys, warnings, zipfile
import numpy as np

model, to, change = sys.argv[1:]
z = zipfile.ZipFile(model)
members = [(n, z.read(n)) for n in z.namelist()]


def npy(a, **options):
    out = io.BytesIO()
    np.lib.format.write_array(out, a, **options)
    return out.getvalue()


def at(name):
    return [n for n, _ in members].index(name)


def array(name, fn):
    i = at(name)
    members[i] = (name, npy(fn(np.load(io.BytesIO(members[i][1])))))


def text(name, fn):
    i = at(name)
    members[i] = (name, fn(members[i][1]))


def put(a, value):
    a[..., -1] = value
    return a


W = "output.W.npy"
changes = {
    "nothing": lambda: None,
    "no-config": lambda: members.pop(at("config.yaml")),
    "no-array": lambda: members.pop(at(W)),
    "no-vocabulary": lambda: members.pop(at("target.vocab")),
    "more": lambda: members.append(("more.npy", npy(np.zeros(3, np.float32)))),
    "double": lambda: members.append(members[at(W)]),
    "transposed": lambda: array(W, lambda a: np.ascontiguousarray(a.T)),
    "fortran": lambda: array(W, lambda a: np.asfortranarray(a)),
    "double-precision": lambda: array(W, lambda a: a.astype(np.float64)),
    "integers": lambda: array(W, lambda a: a.astype(np.int32)),
    "flat": lambda: array(W, lambda a: a.reshape(-1)),
    "nan": lambda: array(W, lambda a: put(a, np.nan)),
    "infinite": lambda: array(W, lambda a: put(a, -np.inf)),
    "no-numbers": lambda: text(W, lambda b: b[:-1]),
    "too-many-numbers": lambda: text(W, lambda b: b + b"\0\0\0\0"),
    "a-number-more": lambda: array(W, lambda a: np.append(a, a[:, :1], axis=1)),
    "word-more": lambda: text("target.vocab", lambda b: b + b"more\n"),
    "word-less": lambda: text("source.vocab", lambda b: b[: b[:-1].rindex(b"\n") + 1]),
    "word-twice": lambda: text("target.vocab", lambda b: b.replace(b"w2", b"w1")),
    "no-controls": lambda: text("target.vocab", lambda b: b.replace(b"</s>\n", b"x\n")),
    "not-utf8": lambda: text("target.vocab", lambda b: b.replace(b"w2", b"\xe9")),
    "empty-vocabulary": lambda: text("target.vocab", lambda b: b""),
    "unknown-key": lambda: text("config.yaml", lambda b: b.replace(b"hidden:", b"hiden:")),
    "other-cell": lambda: text("config.yaml", lambda b: b.replace(b"cell: gru", b"cell: lstm")),
    "no-cell": lambda: text("config.yaml", lambda b: b.replace(b"cell: gru", b"cell: gnu")),
    "other-width": lambda: text("config.yaml", lambda b: b.replace(b"hidden: 2", b"hidden: 3")),
    "huge": lambda: text("config.yaml", lambda b: b.replace(b"hidden: 2", b"hidden: 65536")),
    "negative": lambda: text("config.yaml", lambda b: b.replace(b"hidden: 2", b"hidden: -2")),
    "swapped": lambda: text("config.yaml", lambda b: b[::-1]),
    "long-config": lambda: text("config.yaml", lambda b: b + b"#" * (1 << 21)),
    "bomb": lambda: members.append(("more.npy", b"\0" * (64 << 20))),
    "path": lambda: members.append(("../../outside.npy", npy(np.zeros(3, np.float32)))),
}
if change == "list":
    print("\n".join(c for c in changes if c != "nothing"))
    sys.exit()
changes[change]()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in members:
            out.writestr(name, data)
END

"$PYTHON" make.py $model same.npz nothing
works_on valid.src 'written anew by Python' attn-translate -q -m same.npz
same out translated 'it translates the same'
# No more memory than this, whatever the file says.
limit='ulimit -v 4000000'
sanitized && limit=:
for change in $("$PYTHON" make.py $model x list); do
    "$PYTHON" make.py $model changed.npz "$change"
    run sh -c "$limit; exec attn-translate -m changed.npz"
    if [ "$status" -eq 2 ] && sound && [ ! -s out ] && [ -s err ]; then
        passed "$change: $(head -n 1 err | cut -c 1-150)"
    else
        tell >why
        failed "$change"
    fi
done

# numpy.savez of something else.
"$PYTHON" -c 'import numpy; numpy.savez("other.npz", a=numpy.zeros((2, 2)))'
ok 'arrays that are no model' refused other.npz

finish
