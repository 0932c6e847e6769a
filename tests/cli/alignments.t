#!/bin/sh
# That attention looks where it should: models learn to copy, and to write
# backwards; the forced alignments of pairs they have never seen must be right
# (AER <= 0.02) for every mechanism that can say it. What is measured is printed:
# the table "What each can express" of docs/attention.md.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tasks.sh
. "$TESTS/cli/tasks.sh"
PATIENCE=600

make_tasks
head -n 25 test.src >some

# What beam search says of its own translations is what scoring says of them.
check_scores() {
    run_on some attn-translate -q -m m/best.npz --n-best 2 -b 3 --normalize 0
    awk -F ' [|][|][|] ' 'NR == FNR { line[FNR - 1] = $0; next }
        { print line[$1] >"list.src"; print $2 >"list.tgt"; print $4 >"list.beam" }' some out
    run attn-score -q -m m/best.npz list.src list.tgt
    wrong=$(paste out list.beam | awk '{ d = $1 - $2; d = d < 0 ? -d : d
        bad += d > 1e-4 * (1 + ($1 < 0 ? -$1 : $1)) } END { print bad + 0, NR }')
    is "0 50" "$wrong" "scores of the beam are those of attn-score: $*"
}

# Whoever looks at one word for a whole sentence, or never goes back, gets one link of
# a sentence right at the most: links that are all there have an error rate of
# 1 - sentences / words at least, fewer links one of 1 - 2 s / (s + w).
one_right=$(awk '{ words += NF } END { printf "%.4f", 1 - 2 * NR / (NR + words) }' test.src)

for task in copy reverse; do
    finds "$task" --attention.kind global
    check_scores "$task" global
    finds "$task" --attention.kind local_p
    check_scores "$task" local_p
    finds "$task" --attention.kind local_p --attention.local_mode renormalized
    check_scores "$task" local_p, renormalized
    finds "$task" --attention.kind local_p --attention.local_mode prior
    check_scores "$task" local_p, prior
    finds "$task" --attention.kind forward
    check_scores "$task" forward
    finds "$task" --attention.kind hard
    check_scores "$task" hard
    loses "$one_right" "$task" --attention.kind static
    check_scores "$task" static
    loses 1 "$task" --attention.kind none
done
check_scores none
finds copy --attention.kind local_m --attention.window 2
check_scores local_m
loses 0.3 reverse --attention.kind local_m --attention.window 2
finds reverse --attention.kind local_m --attention.window 8
finds copy --attention.kind monotonic
check_scores monotonic
loses "$one_right" reverse --attention.kind monotonic

# The other scores, styles, forms and memories, backwards.
finds reverse --attention.score dot
finds reverse --attention.score general
finds reverse --attention.score scaled_dot --attention.heads 2
finds copy --attention.score location
finds reverse --attention.score general --decoder.style luong
finds reverse --decoder.style conditional
finds reverse --attention.normalized true
finds reverse --attention.coverage true
finds reverse --attention.heads 2
finds reverse --attention.memory key_value
finds copy --encoder.self_attention previous
finds copy --encoder.self_attention own

# What can be said, but is harder to learn.
finds reverse --attention.score scaled_dot --training.epochs 16
finds reverse --encoder.self_attention structured --encoder.hidden 32 \
    --decoder.hidden 64 --training.epochs 12
finds reverse --attention.score location --decoder.style luong --decoder.hidden 96 \
    --training.epochs 30 --training.learning_rate 0.003
for options in '--attention.score scaled_dot' '--attention.score location' \
    '--attention.score location --decoder.style luong' \
    '--encoder.self_attention structured' '--encoder.self_attention previous'; do
    # shellcheck disable=SC2086 # a list of options
    error_rate reverse $options
done
error_rate copy --attention.score scaled_dot
finish
