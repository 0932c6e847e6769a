#!/bin/sh
# Models with an adaptive output layer: the same promises as with a full one.
. "$(dirname "$0")/lib.sh"

words 600 1 6 60 >train.txt
words 40 2 6 60 >valid.txt
words 60 3 6 60 >test.txt
cat >run.yaml <<'END'
data: {source: train.txt, target: train.txt, valid_source: valid.txt, valid_target: valid.txt}
model: {embedding: 24, output: adaptive, output_head: 12, output_clusters: 2}
encoder: {hidden: 16}
decoder: {hidden: 32}
training: {batch_size: 16, updates: 400, learning_rate: 0.01, threads: 1}
validation: {every: 200, bleu: false}
END

best_perplexity() { # FOLDER
    awk -F '\t' '$1 == "valid" && (!best || $9 < best) { best = $9 } END { print best }' "$1/log.tsv"
}

# --- it learns, and says the same however it is asked ----------------------

works 'a model is trained' attn-train run.yaml --model.path m
ok 'it has learnt to copy' awk "BEGIN { exit !($(best_perplexity m) < 8) }"

for size in 1 7 64; do
    run_on test.txt attn-translate -q -m m/best.npz --n-best 2 -b 3 --normalize 0 \
        --mini-batch "$size" --threads 1
    cp out "batch$size"
    is 0 "$status" "translation in batches of $size"
done
same batch1 batch64 'translations do not depend on the batch'
same batch7 batch64 'translations do not depend on its size'
run_on test.txt attn-translate -q -m m/best.npz --n-best 2 -b 3 --normalize 0 --threads 2
same out batch64 'translations do not depend on the threads'
rare=$(attn-vocab -q train.txt | awk -F ' [|][|][|] ' '
    NR == FNR { if (FNR <= 12) frequent[$1]; next }
    { n = split($2, w, " "); for (i = 1; i <= n; i++) rare += !(w[i] in frequent) }
    END { print rare + 0 }' - batch64)
ok 'it translates words of the clusters' test "$rare" -gt 100

# What beam search says of its own translations is what scoring says of them, and
# what the validation said is what scoring says of the text.
awk -F ' [|][|][|] ' 'NR == FNR { line[FNR - 1] = $0; next }
    { print line[$1] >"list.src"; print $2 >"list.tgt"; print $4 >"list.beam" }' \
    test.txt batch64
run attn-score -q -m m/best.npz list.src list.tgt
wrong=$(paste out list.beam | awk '{ d = $1 - $2; d = d < 0 ? -d : d
    bad += d > 1e-4 * (1 + ($1 < 0 ? -$1 : $1)) } END { print bad + 0, NR }')
is "0 120" "$wrong" 'scores of the beam are those of attn-score'
run attn-score -q -m m/best.npz valid.txt valid.txt
scored=$(awk 'NR == FNR { sum += $1; next } { words += NF + 1 } END { print exp(-sum / words) }' \
    out valid.txt)
ok 'perplexity is that of attn-score' awk "BEGIN {
    off = $scored / $(best_perplexity m) - 1; exit !(off * off < 1e-8) }"

# --- threads, and stops -----------------------------------------------------

some='--training.updates 60 --validation.every 20 --training.label_smoothing 0.1
      --training.dropout 0.2 --training.average 0.9'
# shellcheck disable=SC2086 # a list of options
{
    quietly attn-train run.yaml --model.path one $some
    quietly attn-train run.yaml --model.path two $some --training.threads 2
    same one/best.npz two/best.npz 'one and two threads: best.npz'
    same one/checkpoint.npz two/checkpoint.npz 'one and two threads: checkpoint.npz'
    for stop in 20 33; do
        quietly attn-train run.yaml --model.path s$stop $some --training.updates "$stop"
        works "from update $stop on" attn-train run.yaml --model.path s$stop $some
        says "goes on from update $stop" 'it goes on'
        same s$stop/checkpoint.npz one/checkpoint.npz "from update $stop on: checkpoint.npz"
        same s$stop/best.npz one/best.npz "from update $stop on: best.npz"
    done
}
run attn-train run.yaml --model.path again --training.updates 20 --model.output_clusters 3
differ again/best.npz s20/best.npz 'the number of clusters makes a difference'

# --- a configuration that does not fit ----------------------------------------

refuses() { # PATTERN DESCRIPTION OPTION...
    pattern=$1
    what=$2
    shift 2
    fails_with 2 "$pattern" "$what" attn-train run.yaml --model.path none "$@"
}
refuses "model.output: .*'adaptiv'.*'adaptive'" 'a name with a slip' --model.output adaptiv
refuses "model.tied_embeddings: .*model.output 'full'" 'tied embeddings' \
    --model.tied_embeddings target
refuses "model.tied_embeddings: .*model.output 'full'" 'embeddings that are all tied' \
    --model.tied_embeddings all
refuses 'model.output_head: .* 63 entries' 'a head of all words' --model.output_head 63
refuses 'model.output_clusters: .* set 3 at the most' 'more clusters than words' \
    --model.output_head 60 --model.output_clusters 4
refuses 'model.output_clusters' 'no clusters' --model.output_clusters 0
refuses 'model.output_clusters' 'too many clusters' --model.output_clusters 9
ok 'none of these has left a model' test ! -e none/checkpoint.npz

finish
