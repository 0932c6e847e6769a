#!/bin/sh
# attn-model: what it tells of models, and models stored in fewer bits.
. "$(dirname "$0")/lib.sh"

copy_model
model=copy/best.npz
words 60 3 6 >text
works_on text 'the model itself' attn-translate -q -m $model
cp out translated

size() {
    wc -c <"$1" | tr -d ' '
}

# --- info ------------------------------------------------------------------

works 'info' attn-model info $model
is "$(size $model) fp32 9 9 0" "$(awk -F ': ' '
    $1 ~ /^(size|precision|source_words|target_words|training_arrays)$/ {
        printf "%s%s", (n++ ? " " : ""), $2 }' out)" 'size, precision, words'
is '24 bahdanau' "$(sed -n 's/^decoder[.]\(hidden\|style\): //p' out | sort | tr '\n' ' ' |
    sed 's/ $//')" 'keys of the configuration'
works 'info --arrays' attn-model info --arrays $model
is 'float32 [9,16]' "$(awk -F '\t' '$1 == "source.embedding" { print $2, $3 }' out)" \
    'an array'
parameters=$(sed -n 's/^parameters: //p' out)
is "$parameters" "$(awk -F '\t' '$3 { gsub(/[][]/, "", $3); n = split($3, d, ",")
    p = 1; for (i = 1; i <= n; i++) p *= d[i]; sum += p } END { print sum }' out)" \
    'the parameters are those of the arrays'
works 'info of a checkpoint' attn-model info copy/checkpoint.npz
ok 'which has arrays of the training' grep -qE '^training_arrays: [1-9]' out
is "$parameters" "$(sed -n 's/^parameters: //p' out)" 'and as many parameters'

# --- convert ---------------------------------------------------------------

works 'to fp32' attn-model convert --precision fp32 $model fp32.npz
says 'fp32, [0-9]+ bytes, to fp32, [0-9]+ bytes' 'says both sizes'
silent_on 'training' 'and nothing of training'
same fp32.npz $model 'to fp32: the same file'
for precision in bf16 int8; do
    works "to $precision" attn-model convert --precision $precision $model $precision.npz
    run attn-model info $precision.npz
    is "$precision $parameters" "$(awk -F ': ' '
        $1 == "precision" || $1 == "parameters" { print $2 }' out | tr '\n' ' ' | sed 's/ $//')" \
        "$precision: what info says"
    works_on text "$precision: translates" attn-translate -q -m $precision.npz
    cp out got
    run_on got attn-eval bleu -b translated
    is yes "$(awk '{ print ($1 >= 95 ? "yes" : $1) }' out)" "$precision: nearly the same translations"
    works_on text "$precision: scores" attn-score -q -m $precision.npz --summary text text
    # Once rounded, they stay.
    quietly attn-model convert -q --precision fp32 $precision.npz back.npz
    is '' "$(cat out err)" 'quiet'
    quietly attn-model convert -q --precision $precision back.npz again.npz
    same again.npz $precision.npz "$precision: to fp32 and back: the same file"
    quietly attn-model convert -q --precision $precision $precision.npz again.npz
    same again.npz $precision.npz "$precision: to itself: the same file"
    works_on text 'back in fp32: translates' attn-translate -q -m back.npz
    cp out got
    run_on text attn-translate -q -m $precision.npz
    same out got "$precision: the same translations as back in fp32"
    works 'out of a checkpoint' \
        attn-model convert --precision $precision copy/checkpoint.npz slim.npz
    says 'state of the training \([0-9]+ arrays\) is left out' 'says what it leaves out'
    run attn-model info slim.npz
    ok 'nothing of the training is in it' grep -qx 'training_arrays: 0' out
done
cp $model over.npz
works 'over itself' attn-model convert --precision int8 over.npz over.npz
same over.npz int8.npz 'over itself: the same file'

# A wider model, whose arrays outweigh its vocabularies.
cat >wide.yaml <<'END'
data: {source: copy.txt, target: copy.txt, valid_source: copy.valid, valid_target: copy.valid}
model: {path: wide, embedding: 128}
encoder: {hidden: 128}
decoder: {hidden: 128}
training: {batch_size: 32, updates: 2}
validation: {every: 2}
END
quietly attn-train wide.yaml
for precision in bf16 int8; do
    quietly attn-model convert --precision $precision wide/best.npz wide.$precision.npz
done
is 'ok ok' "$(echo "$(size wide/best.npz) $(size wide.bf16.npz) $(size wide.int8.npz)" |
    awk '{ print ($2 < 0.5 * $1 ? "ok" : $2 / $1), ($3 < 0.3 * $1 ? "ok" : $3 / $1) }')" \
    'bf16 has half the bytes, int8 little more than a quarter'

# --- training goes on from checkpoints only ---------------------------------

toy
quietly attn-train toy.yaml
for precision in bf16 int8; do
    quietly attn-model convert --precision $precision m/best.npz m/checkpoint.npz
    cp m/checkpoint.npz kept
    fails_with 2 "m/checkpoint.npz: is stored in $precision.*--restart" \
        "no training goes on from $precision" attn-train toy.yaml --training.updates 30
    same m/checkpoint.npz kept 'the file is as it was'
done

# --- wrong usage ------------------------------------------------------------

fails_with 2 'info or convert' 'nothing to do' attn-model
fails_with 2 "'inform' is neither" 'another command' attn-model inform $model
fails_with 2 'info takes MODEL, but 0 files' 'no file' attn-model info
fails_with 2 'takes MODEL OUT, but 1 file is' 'one file' \
    attn-model convert --precision int8 $model
fails_with 2 'give --precision' 'no precision' attn-model convert $model x.npz
fails_with 2 "'fp16' is none of fp32, bf16, int8" 'another precision' \
    attn-model convert --precision fp16 $model x.npz
fails_with 2 'arrays is not an option of convert' 'the other option' \
    attn-model convert --arrays --precision int8 $model x.npz
fails_with 2 'precision is not an option of info' 'and the other' \
    attn-model info --precision int8 $model
fails_with 2 'not a model file' 'a text' attn-model info text
fails_with 2 'No such file' 'no such file' attn-model convert --precision int8 nowhere x.npz
ok 'nothing was written' test ! -e x.npz
fails_with 2 'no/folder' 'no such folder' \
    attn-model convert --precision int8 $model no/folder/x.npz
works 'help' attn-model --help
works 'version' attn-model --version

# --- other contents, and NumPy ----------------------------------------------

[ -n "$PYTHON" ] || {
    skip 'NumPy reads them' 'no python3 with numpy'
    finish
}

cat >look.py <<'END'
import numpy as np

full, bf16, int8 = (np.load(f) for f in ("copy/best.npz", "bf16.npz", "int8.npz"))
half = whole = 0
for name in full.files:
    w = full[name]
    if isinstance(w, bytes):
        assert bf16[name] == w and int8[name] == w
        continue
    if w.ndim < 2 or 1 in w.shape:
        assert (bf16[name] == w).all() and (int8[name] == w).all()
        continue
    x, q, s = bf16[name + ".bf16"], int8[name + ".int8"], int8[name + ".scale"]
    assert x.dtype == "<u2" and q.dtype == "i1" and s.dtype == "<f4"
    # to the nearest, half to even
    bits = w.view("<u4").astype("<u8")
    assert (x == (bits + 0x7FFF + (bits >> 16 & 1)) >> 16).all()
    back = (x.astype("<u4") << 16).view("<f4")
    assert (abs(back - w) <= abs(w) / 256).all()
    axis = 1 if name.endswith("embedding") else 0
    largest = abs(w).max(axis)
    assert s.shape == largest.shape
    assert (s <= largest / 127).all() and (s >= largest / 127 * (1 - 2**-15)).all()
    s = np.expand_dims(s, axis)
    assert (abs(q * s - w) <= s * 0.502).all()
    half, whole = half + x.nbytes, whole + w.nbytes
assert 2 * half == whole > 0
END
works 'NumPy reads them, and finds the weights' "$PYTHON" look.py

cat >make.py <<'END'
"""make.py MODEL TO CHANGE: writes the model anew, with something changed."""
import io, sys, warnings, zipfile
import numpy as np

model, to, change = sys.argv[1:]
z = zipfile.ZipFile(model)
members = [(n, z.read(n)) for n in z.namelist()]
q, s = "encoder.0.forward.W.int8.npy", "encoder.0.forward.W.scale.npy"
x = "encoder.0.forward.W.bf16.npy"


def npy(a):
    out = io.BytesIO()
    np.lib.format.write_array(out, a)
    return out.getvalue()


def at(name):
    return [n for n, _ in members].index(name)


def array(name, fn):
    i = at(name)
    members[i] = (name, npy(fn(np.load(io.BytesIO(members[i][1])))))


def put(a, value):
    a[..., -1] = value
    return a


def rename(old, new):
    members[at(old)] = (new, members[at(old)][1])


changes = {
    "int8.npz": {
        "no-numbers": lambda: members.pop(at(q)),
        "no-scale": lambda: members.pop(at(s)),
        "least": lambda: array(q, lambda a: put(a, -128)),
        "transposed": lambda: array(q, lambda a: np.ascontiguousarray(a.T)),
        "fewer": lambda: array(q, lambda a: a[1:]),
        "unsigned": lambda: array(q, lambda a: a.astype("u1")),
        "wider": lambda: array(q, lambda a: a.astype("<u2")),
        "float": lambda: array(q, lambda a: a.astype("<f4")),
        "scales-of-rows": lambda: array(s, lambda a: a[:16]),
        "scales-matrix": lambda: array(s, lambda a: a[None, :]),
        "scales-double": lambda: array(s, lambda a: a.astype("<f8")),
        "scales-int8": lambda: array(s, lambda a: a.astype("i1")),
        "scale-negative": lambda: array(s, lambda a: put(a, -1e-3)),
        "scale-nan": lambda: array(s, lambda a: put(a, np.nan)),
        "scale-infinite": lambda: array(s, lambda a: put(a, np.inf)),
        "scale-huge": lambda: array(s, lambda a: put(a, 3e38)),
        "twice": lambda: members.append((s.replace("scale", "bf16"), members[at(s)][1])),
        "one-in-fp32": lambda: rename(q, q.replace(".int8", "")),
    },
    "bf16.npz": {
        "no-numbers": lambda: members.pop(at(x)),
        "nan": lambda: array(x, lambda a: put(a, 0x7FC0)),
        "infinite": lambda: array(x, lambda a: put(a, 0xFF80)),
        "transposed": lambda: array(x, lambda a: np.ascontiguousarray(a.T)),
        "signed": lambda: array(x, lambda a: a.astype("<i2")),
        "half": lambda: array(x, lambda a: a.view("<f2")),
        "big-endian": lambda: array(x, lambda a: a.astype(">u2")),
        "other-name": lambda: rename(x, x.replace("bf16", "int8")),
        "no-suffix": lambda: rename(x, x.replace(".bf16", "")),
    },
}[model]
if change == "list":
    print("\n".join(changes))
    sys.exit()
if change != "nothing":
    changes[change]()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in members:
            out.writestr(name, data)
END

cat >flip.py <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
i = int(sys.argv[2])
data[i] ^= 1 << i % 8
open("flipped.npz", "wb").write(data)
END

# shellcheck disable=SC2317 # called by ok
refused() { # FILE
    run attn-translate -m "$1"
    [ "$status" -eq 2 ] && sound && [ ! -s out ] && grep -qaF "$1" err
}

for file in int8.npz bf16.npz; do
    "$PYTHON" make.py $file same.npz nothing
    run_on text attn-translate -q -m $file
    cp out got
    works_on text "$file written anew by Python" attn-translate -q -m same.npz
    same out got 'it translates the same'
    for change in $("$PYTHON" make.py $file x list); do
        "$PYTHON" make.py $file changed.npz "$change"
        ok "$file, $change: refused" refused changed.npz
        echo "# $(head -n 1 err | cut -c 1-150)"
    done
    wrong=
    at=0
    while [ "$at" -lt "$(size $file)" ]; do
        "$PYTHON" flip.py $file "$at"
        refused flipped.npz || wrong="$wrong $at"
        at=$((at + $(size $file) / 30))
    done
    is '' "$wrong" "$file: a flipped bit at 30 places"
done

finish
