#!/bin/sh
# The ready-made configurations are accepted as they are, and train when text and
# widths are made small.
. "$(dirname "$0")/lib.sh"

words 24 5 5 9 >train.src
words 24 6 7 5 >train.tgt

for config in "$ROOT"/models/*.yaml; do
    name=$(basename "$config")
    run attn-train "$config" --dump-config
    is 0 "$status" "$name: read"
    run attn-train "$config" --data.source train.src --data.target train.tgt \
        --data.valid_source train.src --data.valid_target train.tgt \
        --data.min_frequency 1 --data.source_vocab_size 0 \
        --data.target_vocab_size 0 --model.path "run.$name" \
        --model.embedding 8 --encoder.hidden 8 --decoder.hidden 8 \
        --decoder.readout_size 8 --attention.size 8 --training.updates 2
    is 0 "$status" "$name: trained"
    run_on train.src attn-translate -q -m "run.$name/best.npz"
    is "0 24" "$status $(($(wc -l <out)))" "$name: translates"
done
finish
