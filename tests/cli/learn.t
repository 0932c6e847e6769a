#!/bin/sh
# That models learn: to write sentences backwards. At least 99 % of sentences
# that they have never seen must be right, word for word.
. "$(dirname "$0")/lib.sh"

backwards() {
    awk '{ for (i = NF; i > 0; i--) printf "%s%s", $i, (i > 1 ? " " : "\n") }' "$1"
}

words 10000 1 12 20 >train.src
words 200 2 12 20 >valid.src
words 1300 3 12 20 >new
awk 'NR == FNR { seen[$0]; next } !($0 in seen)' train.src new | head -n 1000 >test.src
for text in train valid test; do
    backwards $text.src >$text.tgt
done
is 1000 "$(wc -l <test.src | tr -d ' ')" 'a thousand sentences that are not in the training text'

cat >learn.yaml <<'END'
data:
  source: train.src
  target: train.tgt
  valid_source: valid.src
  valid_target: valid.tgt
model: {embedding: 32}
encoder: {hidden: 48}
decoder: {hidden: 48}
training:
  batch_size: 50
  epochs: 10
  learning_rate: 0.005
  average: 0.99
END

PATIENCE=600
# learns FOLDER OPTION...
learns() {
    folder=$1
    shift
    works "training: $*" attn-train learn.yaml --model.path "$folder" "$@"
    run_on test.src attn-translate -q -m "$folder/best.npz" -b 1
    right=$(paste -d '|' out test.tgt | awk -F '|' '$1 == $2' | wc -l | tr -d ' ')
    echo "# $right of 1000 right: $*"
    ok "at least 990 of 1000 right: $*" test "$right" -ge 990
}
learns bahdanau
learns luong --decoder.style luong --attention.score general --training.dropout 0.02
learns lstm --encoder.cell lstm --decoder.cell lstm --decoder.style luong \
    --attention.score dot --decoder.hidden 96

# The attention goes backwards over the source, too.
head -n 200 test.src >some
run_on some attn-translate -q -m lstm/best.npz -b 1 --alignment csv --alignment-eos no
right=$(awk -F , '
    NR > 1 {
        row = $1 "," $2
        words[$1] = $4 + 1
        if (!(row in best) || $6 > best[row]) { best[row] = $6; place[row] = $4 }
    }
    END {
        for (row in place) {
            split(row, at, ",")
            n++
            # the word itself, or a neighbour, whose state has seen it as well
            d = place[row] - (words[at[1]] - 1 - at[2])
            right += d >= -1 && d <= 1
        }
        printf "%d\n", 100 * right / n
    }' csv)
echo "# $right of 100 weights are largest where they should be"
ok 'the largest weights are on the diagonal' test "$right" -ge 90

finish
