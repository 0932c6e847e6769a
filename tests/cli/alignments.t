#!/bin/sh
# That attention looks where it should: models learn to copy, and to write
# backwards; the forced alignments of pairs they have never seen must be right
# (AER <= 0.02) for every mechanism that can say it. What is measured is printed:
# the table "What each can express" of docs/attention.md.
#
# States are small, so that a word is best read from its own state. A start can be an
# unlucky one all the same: a model that has learnt to spell from a neighbouring
# word's state has no reason to look at the word itself. So up to three seeds are
# tried.
. "$(dirname "$0")/lib.sh"

words 4000 1 8 30 >train.src
words 100 2 8 30 >valid.src
words 200 3 8 30 >test.src
head -n 25 test.src >some
for text in train valid test; do
    cp $text.src $text.copy
    awk '{ for (i = NF; i > 0; i--) printf "%s%s", $i, (i > 1 ? " " : "\n") }' $text.src \
        >$text.reverse
done
awk '{ for (i = 0; i < NF; i++) printf "%s%d-%d", (i ? " " : ""), i, i; print "" }' test.src >gold.copy
awk '{ for (i = 0; i < NF; i++) printf "%s%d-%d", (i ? " " : ""), i, NF - 1 - i; print "" }' \
    test.src >gold.reverse

cat >learn.yaml <<'END'
data: {source: train.src, valid_source: valid.src}
model: {embedding: 32}
encoder: {hidden: 16}
decoder: {hidden: 32}
attention: {window: 4, length_limit: 16}
training: {batch_size: 32, epochs: 8, learning_rate: 0.005, early_stopping: 0, threads: 1}
validation: {bleu: false}
END
PATIENCE=600

# error_rate TASK OPTION...: trains; $rate is the AER of the forced alignments
error_rate() {
    task=$1
    shift
    quietly attn-train -q learn.yaml --restart --model.path m --data.target "train.$task" \
        --data.valid_target "valid.$task" "$@"
    quietly attn-score -q -m m/best.npz test.src "test.$task" --alignment links \
        --alignment-format pharaoh
    rate=$(attn-eval aer --score-only "gold.$task" links)
}

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

# finds TASK OPTION...: some seed's AER is at most 0.02
finds() {
    for seed in 1 2 3; do
        error_rate "$@" --training.seed $seed
        echo "# AER $rate, seed $seed: $*"
        if awk "BEGIN { exit !($rate <= 0.02) }"; then break; fi
    done
    ok "AER at most 0.02: $*" awk "BEGIN { exit !($rate <= 0.02) }"
}

# loses TASK OPTION...: it cannot be said with this mechanism, whatever was learnt
loses() {
    error_rate "$@" --training.epochs 2
    echo "# AER $rate: $*"
    ok "AER above 0.3: $*" awk "BEGIN { exit !($rate > 0.3) }"
}

for task in copy reverse; do
    finds "$task" --attention.kind global
    check_scores "$task" global
    finds "$task" --attention.kind local_p
    check_scores "$task" local_p
    finds "$task" --attention.kind local_p --attention.local_mode renormalized
    finds "$task" --attention.kind local_p --attention.local_mode prior
    finds "$task" --attention.kind forward
    check_scores "$task" forward
    finds "$task" --attention.kind hard
    check_scores "$task" hard
    loses "$task" --attention.kind static
    loses "$task" --attention.kind none
done
check_scores none
finds copy --attention.kind local_m --attention.window 2
check_scores local_m
loses reverse --attention.kind local_m --attention.window 2
finds reverse --attention.kind local_m --attention.window 8
finds copy --attention.kind monotonic
check_scores monotonic
loses reverse --attention.kind monotonic

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

# What can be said, but is hard to learn.
for options in '--attention.score scaled_dot' '--attention.score location' \
    '--attention.score location --decoder.style luong' '--encoder.self_attention structured'; do
    # shellcheck disable=SC2086 # a list of options
    error_rate reverse $options
    echo "# AER $rate: reverse $options"
done
finish
