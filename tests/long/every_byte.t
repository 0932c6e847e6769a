#!/bin/sh
# A model file cut at every byte, and one bit of every byte flipped: each refused.
. "$(dirname "$0")/../cli/lib.sh"

toy
quietly attn-train toy.yaml --model.embedding 2 --encoder.hidden 2 --decoder.hidden 2 \
    --model.path tiny --training.updates 3
model=tiny/best.npz
size=$(wc -c <$model | tr -d ' ')

refused() {
    run attn-translate -m "$1"
    [ "$status" -eq 2 ] && sound && [ ! -s out ] && grep -qaF "$1" err
}

at=0
wrong=
while [ "$at" -lt "$size" ]; do
    head -c "$at" $model >cut.npz
    refused cut.npz || wrong="$wrong $at"
    at=$((at + 1))
done
is '' "$wrong" "cut at each of $size bytes"

at=0
wrong=
while [ "$at" -lt "$size" ]; do
    byte=$(od -An -tu1 -j $at -N 1 $model | tr -d ' ')
    bit=$((1 << (at * 5 + 3) % 8))
    cp $model flipped.npz
    # shellcheck disable=SC2059 # the number of the byte
    printf "\\$(printf %03o $((byte ^ bit)))" |
        dd of=flipped.npz bs=1 seek=$at conv=notrunc 2>/dev/null
    refused flipped.npz || wrong="$wrong $at"
    at=$((at + 1))
done
is '' "$wrong" "a bit flipped in each of $size bytes"

finish
