#!/bin/sh
# Lexical tables out of text, and translation with the words on a list.
. "$(dirname "$0")/lib.sh"

words 600 1 6 60 >train.txt
words 40 2 6 60 >valid.txt
words 60 3 6 60 >test.txt
cat >run.yaml <<'END'
data: {source: train.txt, target: train.txt, valid_source: valid.txt, valid_target: valid.txt}
model: {embedding: 24}
encoder: {hidden: 16}
decoder: {hidden: 32}
training: {batch_size: 16, updates: 300, learning_rate: 0.01, threads: 1}
validation: {every: 300, bleu: false}
END

# --- attn-lexicon ----------------------------------------------------------

for threads in 1 2 3; do
    works "a table, with $threads threads" attn-lexicon --threads $threads train.txt train.txt
    cp out lex$threads
done
says '600 pairs of sentences' 'says how many pairs'
says 'iteration 5: perplexity' 'and how it goes on'
same lex1 lex2 'the table does not depend on the threads'
same lex1 lex3 'nor on their number'
# shellcheck disable=SC2016 # awk's dollars
ok 'lines of three words, the last one a probability' awk '
    NF != 3 || !($3 > 0 && $3 <= 1) { bad = 1 } END { exit bad || NR < 60 }' lex1
is 60 "$(awk '$2 != last { last = $2; own += $1 == $2 } END { print own }' lex1)" \
    'each word is its own best translation'
quietly attn-lexicon -q -o table train.txt train.txt
is '' "$(cat out err)" 'quiet'
same table lex1 'the same with --output'
gzip -c <train.txt >train.gz
quietly attn-lexicon -q train.gz train.gz
same out lex1 'the same of gzip files'
quietly attn-lexicon -q --best 2 train.txt train.txt
is '2 60' "$(awk '{ n[$2]++ } END { for (w in n) { if (n[w] > m) m = n[w]; c++ } print m, c }' out)" \
    '--best'
quietly attn-lexicon -q --threshold 0.2 train.txt train.txt
awk '$3 >= 0.2' lex1 >wanted
same out wanted '--threshold'
printf '<unk>\n<s>\n</s>\nw7\nw9\n' >some.vocab
run attn-lexicon -q --source-vocab some.vocab train.txt train.txt
is 'w7 w9' "$(cut -d ' ' -f 2 out | uniq | tr '\n' ' ' | sed 's/ $//')" '--source-vocab'
run attn-lexicon -q --target-vocab some.vocab train.txt train.txt
is 'w7 w9' "$(cut -d ' ' -f 1 out | sort -u | tr '\n' ' ' | sed 's/ $//')" '--target-vocab'
quietly attn-lexicon -q --iterations 1 train.txt train.txt
differ out lex1 '--iterations'
run attn-lexicon --max-length 3 train.txt train.txt
says 'longer than 3 tokens skipped' '--max-length'
fails_with 2 "'0' is not a whole number" 'no iterations' attn-lexicon --iterations 0 train.txt train.txt
fails_with 2 '1 files given' 'one file' attn-lexicon train.txt
fails_with 2 'has 600 lines' 'files of different lengths' attn-lexicon train.txt test.txt
fails_with 2 nowhere 'a file that is not there' attn-lexicon train.txt nowhere
fails_with 2 'stdin' 'text that can be read but once' attn-lexicon - train.txt

# --- translation -----------------------------------------------------------

quietly attn-train run.yaml --model.path m
translate() { # MODEL OPTION...: of test.txt, the three best
    model=$1
    shift
    run_on test.txt attn-translate -m "$model" --n-best 3 -b 3 --normalize 0 "$@"
}
narrow='--shortlist lex1 --shortlist-first 6 --shortlist-best 2'

for size in 1 7 64; do
    # shellcheck disable=SC2086
    translate m/best.npz $narrow --mini-batch $size --threads 1
    cp out batch$size
    is 0 "$status" "a shortlist, in batches of $size"
done
says 'lex1: 120 translations of words' 'says what the table holds'
says '0 lines with words' 'and what of it was passed over'
same batch1 batch64 'translations do not depend on the batch'
same batch7 batch64 'nor on its size'
# shellcheck disable=SC2086
translate m/best.npz $narrow --threads 2
same out batch64 'nor on the threads'
translate m/best.npz
cp out full
differ full batch64 'a shortlist counts'

# Only words of the list: three of the vocabulary (words 3 … 5), two for each
# word of the source.
attn-vocab -q train.txt | sed -n '4,6p' >first
awk -F ' [|][|][|] ' '
    FILENAME == "first" { always[$1]; next }
    FILENAME == "lex1" { split($0, w, " "); if (n[w[2]]++ < 2) has[w[2], w[1]]; next }
    FILENAME == "test.txt" { line[k++] = $0; next }
    {
        s = split(line[$1], source, " ")
        t = split($2, target, " ")
        for (j = 1; j <= t; j++) {
            found = target[j] in always
            for (i = 1; i <= s; i++)
                found = found || (source[i], target[j]) in has
            bad += !found
            words++
        }
    }
    END { print bad + 0, (words > 300) }' first lex1 test.txt batch64 >counts
is '0 1' "$(cat counts)" 'all words are on the lists'

# Probabilities are among the words of a list: higher than those among all.
awk -F ' [|][|][|] ' 'NR == FNR { line[FNR - 1] = $0; next }
    { print line[$1] >"list.src"; print $2 >"list.tgt"; print $4 >"list.beam" }' \
    test.txt batch64
run attn-score -q -m m/best.npz list.src list.tgt
is '0 180 1' "$(paste out list.beam | awk '
    { bad += $1 > $2 + 1e-4; higher += $2 > $1 + 1e-3 }
    END { print bad + 0, NR, (higher > 90) }')" 'log-probabilities are of the list'

# Lists of all words change nothing.
nearly_same() { # FILE FILE DESCRIPTION: scores may differ in the last digits
    is 0 "$(paste -d '|' "$1" "$2" | sed 's/ *|||* */|/g' | awk -F '|' '
        { d = $4 - $8; bad += $1 != $5 || $2 != $6 || d * d > 1e-8 * (1 + $4 * $4) }
        END { print bad + (NR != 180) }')" "$3"
}
translate m/best.npz --shortlist lex1 --shortlist-first 63
nearly_same out full 'lists of all words, the first ones'
attn-vocab -q train.txt | tail -n +4 >all
awk 'NR == FNR { w[FNR] = $1; next } { for (i in w) print w[i], $1, 0.1 }' all all |
    gzip -c >all.gz
translate m/best.npz --shortlist all.gz --shortlist-first 0
nearly_same out full 'lists of all words, from a gzip table'
translate m/best.npz --shortlist all.gz --shortlist-first 0 --shortlist-best 5
differ out full '--shortlist-best'

# A tied output layer, and one sentence at a time.
quietly attn-train run.yaml --model.path tied --model.tied_embeddings target \
    --decoder.readout_size 24 --training.updates 100
translate tied/best.npz
cp out full
translate tied/best.npz --shortlist lex1 --shortlist-first 63 --mini-batch 1
nearly_same out full 'a tied layer: lists of all words'
# shellcheck disable=SC2086
translate tied/best.npz $narrow
cp out one
differ one full 'a tied layer: a shortlist counts'
# shellcheck disable=SC2086
translate tied/best.npz $narrow --mini-batch 3 --threads 2
same out one 'a tied layer: batches and threads'

# --- what is refused -------------------------------------------------------

refused() { # PATTERN DESCRIPTION: the table bad
    fails_with 2 "$1" "$2" attn-translate -m m/best.npz -i test.txt --shortlist bad
    is 0 "$(wc -c <out | tr -d ' ')" "$2: nothing is translated"
}
printf 'w1 w1 0.5\nw1 w2\n' >bad
refused 'bad:2: less than three words' 'a line with too few words'
printf 'w1 w1 0.5 0.5\n' >bad
refused 'bad:1: more than three words' 'a line with too many'
printf 'w1 w1 0.5\nw2 w1 -1.2\n' >bad
refused "bad:2: '-1.2' is no probability" 'a logarithm'
printf 'w1 w1 \377\n' >bad
refused 'bad:1' 'a line that is not UTF-8'
printf 'x y 0.5\n' >bad
refused 'bad: no line in 1 has' 'a table of other words'
: >bad
refused 'bad: no line in 0 has' 'an empty table'
head -c 100 all.gz >bad
refused 'bad' 'a gzip file that is cut short'
rm bad
refused 'bad' 'a table that is not there'
fails_with 2 "'x' is not a whole number" 'a bad number' attn-translate -m m/best.npz \
    --shortlist lex1 --shortlist-first x
quietly attn-train run.yaml --model.path a --model.output adaptive --training.updates 2 \
    --validation.every 2
fails_with 2 "--shortlist: .* model.output 'adaptive'" 'an adaptive output layer' \
    attn-translate -m a/best.npz -i test.txt --shortlist lex1

finish
