# shellcheck shell=sh
# Two tasks whose alignments are known exactly: to copy, and to write backwards.
# What the tests of alignments share, besides lib.sh.
#
#     make_tasks                      texts, gold.copy, gold.reverse and learn.yaml
#     error_rate TASK OPTION...       trains m/best.npz; the AER of its links, $rate
#     finds TASK OPTION...            it must be 0.02 at the most
#     loses LEAST TASK OPTION...      it must be LEAST at least
#
# States are small, dropout is on, and the weights are averaged, so that a word is
# best read from its own state: a model that has learnt to spell from the state of a
# neighbouring word has no reason to look at the word itself.

make_tasks() {
    words 4000 1 8 30 >train.src
    words 100 2 8 30 >valid.src
    words 200 3 8 30 >test.src
    for text in train valid test; do
        cp $text.src $text.copy
        awk '{ for (i = NF; i > 0; i--) printf "%s%s", $i, (i > 1 ? " " : "\n") }' \
            $text.src >$text.reverse
    done
    awk '{ for (i = 0; i < NF; i++) printf "%s%d-%d", (i ? " " : ""), i, i; print "" }' \
        test.src >gold.copy
    awk '{ for (i = 0; i < NF; i++) printf "%s%d-%d", (i ? " " : ""), i, NF - 1 - i; print "" }' \
        test.src >gold.reverse
    cat >learn.yaml <<'YAML'
data: {source: train.src, valid_source: valid.src}
model: {embedding: 32}
encoder: {hidden: 16}
decoder: {hidden: 32}
attention: {window: 4, length_limit: 16}
training:
  batch_size: 32
  epochs: 8
  learning_rate: 0.005
  patience: 9
  early_stopping: 0
  dropout: 0.1
  average: 0.99
  threads: 1
validation: {bleu: false}
YAML
}

error_rate() {
    task=$1
    shift
    quietly attn-train -q learn.yaml --restart --model.path m --data.target "train.$task" \
        --data.valid_target "valid.$task" "$@"
    quietly attn-score -q -m m/best.npz test.src "test.$task" --alignment links \
        --alignment-format pharaoh
    rate=$(attn-eval aer --score-only "gold.$task" links 2>err)
    echo "# AER $rate: $task $*"
}

finds() {
    error_rate "$@"
    ok "AER at most 0.02: $*" awk "BEGIN { exit !($rate <= 0.02) }"
}

loses() {
    least=$1
    shift
    error_rate "$@"
    ok "AER at least $least: $*" awk "BEGIN { exit !($rate >= $least) }"
}
