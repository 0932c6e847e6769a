#!/bin/sh
# Precisions: the same promises in each, and where the machine has no such products,
# a message instead.
. "$(dirname "$0")/lib.sh"

words 400 1 6 60 >train.txt
words 40 2 6 60 >test.txt
cat >run.yaml <<'END'
data: {source: train.txt, target: train.txt}
model: {embedding: 24}
encoder: {hidden: 20}
decoder: {hidden: 28}
training: {batch_size: 16, updates: 300, learning_rate: 0.01, threads: 1}
validation: {save_every: 50}
END

works 'a model is trained' attn-train run.yaml --model.path m
run_on test.txt attn-translate -q -m m/best.npz --threads 1
cp out fp32

# The words that are not those of fp32, of all words.
others() { # FILE
    # shellcheck disable=SC2317 # called by ok
    awk 'NR == FNR { line[FNR] = $0; next }
        { n = split($0, a, " "); split(line[FNR], b, " "); all += n
          for (i = 1; i <= n; i++) bad += a[i] != b[i] }
        END { exit !(all > 100 && bad < 0.1 * all) }' fp32 "$1"
}

# --- translation --------------------------------------------------------------

for precision in fp32 bf16 int8; do
    run_on test.txt attn-translate -q -m m/best.npz --precision "$precision"
    if [ "$status" != 0 ]; then
        says 'no products in' "without $precision the machine's lack is named"
        is 2 "$status" 'and the status is that of a wrong option'
        continue
    fi
    ok "$precision: nearly the words of fp32" others out
    for size in 1 7 64; do
        run_on test.txt attn-translate -q -m m/best.npz --precision "$precision" --n-best 2 \
            -b 3 --normalize 0 --mini-batch "$size" --threads $((1 + size % 2))
        cp out "batch$size"
    done
    same batch1 batch64 "$precision: translations do not depend on the batch"
    same batch7 batch64 "$precision: nor on its size and the threads"
    awk -F ' [|][|][|] ' 'NR == FNR { line[FNR - 1] = $0; next }
        { print line[$1] >"list.src"; print $2 >"list.tgt"; print $4 >"list.beam" }' \
        test.txt batch64
    run attn-score -q -m m/best.npz --precision "$precision" list.src list.tgt
    wrong=$(paste out list.beam | awk '{ d = $1 - $2; d = d < 0 ? -d : d
        bad += d > 1e-4 * (1 + ($1 < 0 ? -$1 : $1)) } END { print bad + 0, NR }')
    is "0 80" "$wrong" "$precision: scores of the beam are those of attn-score"
done

run_on test.txt attn-translate -m m/best.npz --precision fp16
is 2 "$status" 'a precision that there is not'
says "'fp16' is none of fp32, bf16, int8" 'is named, and those there are'

run attn-train run.yaml --model.path i8 --training.updates 1 --translation.precision int9
run_on test.txt attn-translate -m i8/best.npz
is 2 "$status" 'a wrong precision in the configuration of a model'
says 'int8' 'is answered with the right one'

cost() { awk -F '\t' '$1 == "train" { last = $6 } END { print last }' "$1/log.tsv"; }

# --- training -----------------------------------------------------------------

run attn-train run.yaml --model.path b1 --training.precision bf16 --training.updates 120
if [ "$status" = 0 ]; then
    works 'bf16, two threads' attn-train run.yaml --model.path b2 --training.precision bf16 \
        --training.updates 120 --training.threads 2
    same b1/checkpoint.npz b2/checkpoint.npz 'bf16: the same bytes for any number of threads'
    works 'bf16, stopped' attn-train run.yaml --model.path b3 --training.precision bf16 \
        --training.updates 70
    works 'and gone on' attn-train run.yaml --model.path b3 --training.precision bf16 \
        --training.updates 120
    same b1/best.npz b3/best.npz 'bf16: the same bytes when stopped on the way'
    works 'fp32, as long' attn-train run.yaml --model.path f1 --training.updates 120
    differ b1/best.npz f1/best.npz 'bf16 is not fp32'
    ok 'but nearly' awk "BEGIN { d = $(cost b1) / $(cost f1) - 1; exit !(d * d < 0.01) }"
else
    says 'training.precision.*AVX512_BF16|training.precision.*without oneDNN' \
        'without bf16 the lack is named'
    is 2 "$status" 'and the status is that of a wrong configuration'
fi
run attn-train run.yaml --model.path b4 --training.precision int8
is 2 "$status" 'no training in int8'
says 'training.precision' 'and the key is named'

# Large weights of recurrences are laid out once an update in fp32, too, where the
# library can: with AVX2 it cannot.
wide() { # FOLDER [OPTION]...
    path=$1 && shift
    works "fp32, wide: $path" attn-train run.yaml --model.path "$path" --decoder.hidden 840 \
        --training.updates 12 --training.learning_rate 0.001 \
        --validation.log_every 12 "$@"
}
wide w1
wide w2 --training.threads 2
same w1/best.npz w2/best.npz 'wide: the same bytes for any number of threads'
ONEDNN_MAX_CPU_ISA=AVX2 && export ONEDNN_MAX_CPU_ISA
wide w3
unset ONEDNN_MAX_CPU_ISA
ok 'and the loss of products with plain weights' \
    awk "BEGIN { d = $(cost w1) / $(cost w3) - 1; exit !(d * d < 1e-7) }"

# --- where the time goes ------------------------------------------------------

run_on test.txt attn-translate -q -m m/best.npz --profile
ok 'translation shows its profile' grep -q '^linear .* [0-9.]*$' err
same out fp32 'and translates the same'
run attn-score -q -m m/best.npz --profile test.txt test.txt
ok 'scoring shows its profile' grep -q '^output logits' err
run attn-train run.yaml --model.path p --training.updates 3 --profile
ok 'training shows its profile' grep -q '^weight gradients' err
# shellcheck disable=SC2016 # awk's dollars
ok 'shares add up to all of the time' awk '/^operation/ { on = 1; next }
    on { sum += substr($0, 44, 7) }
    /^\(waiting/ { on = 0 } END { exit !(sum > 99 && sum < 101) }' err

finish
