#!/bin/sh
# attn-score: log-probabilities of given pairs (that they are the right ones:
# reference.t).
. "$(dirname "$0")/lib.sh"

copy_model
model=copy/best.npz
words 60 3 9 7 >source
{ head -n 30 source && words 30 4 7 8; } >target

# --- the same numbers everywhere -------------------------------------------

works 'pairs' attn-score -q -m $model --threads 1 --mini-batch 1 source target
cp out scores
is '60 60' "$(grep -cE '^-?[0-9.]+(e-[0-9]+)?$' scores) $(wc -l <scores | tr -d ' ')" \
    'a number a line'
sums=$(awk '{ s[NR > 30] += $1 } END { print (s[0] > s[1] / 3) (s[1] < -300) }' scores)
is 11 "$sums" 'copies are likely, others are not'
for threads in 1 2 4; do
    for batch in 7 64; do
        works "threads $threads, batches of $batch" \
            attn-score -q -m $model --threads $threads --mini-batch $batch source target
        same out scores "threads $threads, batches of $batch: the same numbers"
    done
done
tac source >ecruos
tac target >tegrat
works 'the other way round' attn-score -q -m $model ecruos tegrat
tac out >got
same got scores 'the other way round: the same numbers'
gzip -c source >source.gz
run attn-score -q -m $model source.gz target
same out scores 'gzip'
run_on target attn-score -q -m $model source -
same out scores 'the target from stdin'
sed 's/$/\r/; s/ /  /' target >crlf
run attn-score -q -m $model source crlf
same out scores 'CRLF and blanks'

# What the search has found has the same number, to the last digit.
run_on source attn-translate -q -m $model --n-best 4 -b 4 --normalize 0.7
awk -F ' [|][|][|] ' '{ print $2 }' out >found
awk -F ' [|][|][|] ' '{ sub("F0= ", "", $3); print $3 }' out >wanted
awk -F ' [|][|][|] ' 'NR == FNR { s[NR - 1] = $0; next } { print s[$1] }' source out >sources
awk -F ' [|][|][|] ' '{ print $4 }' out >normalized
run attn-score -q -m $model sources found
same out wanted 'n-best lists: the same numbers'
run attn-score -q -m $model --normalize=0.7 sources found
same out normalized 'normalised: the same numbers'
works 'normalised by length' attn-score -q -m $model --normalize source target
awk 'NR == FNR { s[NR] = $1; next } { printf "%.5g\n", s[FNR] / (NF + 1) }' scores target >wanted
awk '{ printf "%.5g\n", $1 }' out >got
same got wanted 'normalised by length: divided by it'

# --- one number for all ----------------------------------------------------

toy
{ printf '\n' && cat valid.src && printf ' \nw1\n\n'; } >v.src
{ printf '\t\n' && cat valid.tgt && printf '\n\nw2\n'; } >v.tgt
quietly attn-train toy.yaml --data.valid_source v.src --data.valid_target v.tgt \
    --training.dropout 0.2 --training.label_smoothing 0.1 --training.average 0.8 \
    --training.learning_rate 0.005
wanted=$(awk -F '\t' '$1 == "valid" && $2 == 20 { printf "%.9g\n", $9 }' m/log.tsv)
works 'perplexity' attn-score -q -m m/best.npz --summary v.src v.tgt
is "$wanted" "$(cat out)" 'perplexity: that of the validation'
run attn-score -q -m m/best.npz v.src v.tgt
is '0 0' "$(sed -n '1p; 12p' out | tr '\n' ' ' | sed 's/ $//')" 'blank pairs: 0'
ok 'a blank target is a sentence, too' test "$(sed -n 13p out)" != 0
ok 'and so is a blank source' test "$(sed -n 14p out)" != 0
sed -n 2,11p out >numbers
number() { # the sum of the pairs, its mean and so on
    awk 'NR == FNR { sum -= $1; n++; next } { words += NF + 1 }
        END { printf "%.6g %.6g %.6g %.6g\n", sum, sum / n, sum / words, exp(sum / words) }' \
        numbers valid.tgt
}
for what in ce-sum cross-entropy ce-mean-words perplexity; do
    run attn-score -q -m m/best.npz --summary=$what v.src v.tgt
    awk '{ printf "%.6g\n", $1 }' out
done | tr '\n' ' ' | sed 's/ $/\n/' >got
number >wanted
same got wanted 'sums and means'

# --- odd input -------------------------------------------------------------

: >nothing
works 'no lines' attn-score -q -m $model nothing nothing
is 0 "$(wc -c <out | tr -d ' ')" 'no lines: no numbers'
fails_with 2 'no pair' 'no lines: no perplexity' \
    attn-score -m $model --summary nothing nothing
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "w%d ", i % 6 + 1; print "" }' >long
works 'a long line' attn-score -q -m $model --max-length 5 long long
says 'long:1: more than 5 words' 'a warning'
cut -d ' ' -f 1-5 long >short
cp out wanted
run attn-score -q -m $model short short
same out wanted 'it is scored up to the limit'
printf '<unk> </s>\n<s>\n' >controls
printf 'zzz yyy\nzzz\n' >unknown
run attn-score -q -m $model controls controls
cp out wanted
run attn-score -q -m $model unknown unknown
same out wanted 'control words are unknown words'

head -n 59 source >fewer
fails_with 2 "'fewer' has 59 lines.*'target' has 60" 'fewer lines' \
    attn-score -m $model fewer target
is 0 "$(wc -c <out | tr -d ' ')" 'nothing is put out then'
fails_with 2 "'source' has 60 lines.*'fewer' has 59" 'more lines' \
    attn-score -m $model source fewer
printf 'a \351 b\n' >latin
head -n 1 source >one
fails_with 2 'latin:1: ' 'Latin-1: file and line' attn-score -m $model one latin
fails_with 2 'nowhere.*No such file' 'no such file' attn-score -m $model source nowhere
fails_with 2 'stdin' 'stdin twice' attn-score -m $model - -
fails_with 2 'two files' 'one file' attn-score -m $model source
fails_with 2 'two files' 'three files' attn-score -m $model source target target
fails_with 2 '-m MODEL' 'no model' attn-score source target
fails_with 2 "perplexty.*perplexity" 'a summary that there is not' \
    attn-score -m $model --summary=perplexty source target
if [ -w /dev/full ]; then
    attn-score -q -m $model source target >/dev/full 2>err
    is 1 $? 'a full device: status 1'
fi
works 'help' attn-score --help
works 'version' attn-score --version

finish
