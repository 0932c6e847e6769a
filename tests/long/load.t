#!/bin/sh
# Much of everything: lines, words in a line, bytes in a word, questions in a
# dialogue, resumes of a run.
. "$(dirname "$0")/../cli/lib.sh"
PATIENCE=3000

copy_model
model=copy/best.npz

# peak COMMAND...: as run, and the most memory, in KiB, in $peak.
peak() {
    input=$1
    shift
    "$PYTHON" -c '
import resource, subprocess, sys
with open(sys.argv[1]) as i, open("out", "w") as o, open("err", "w") as e:
    code = subprocess.call(sys.argv[2:], stdin=i, stdout=o, stderr=e)
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$input" "$@" >measured
    read -r status peak <measured
}

# --- lines -----------------------------------------------------------------

words 100000 6 6 6 >many
awk 'NR % 97 == 0 { print ""; next } { print }' many >with-blanks
head -n 10000 with-blanks >fewer
peak fewer attn-translate -q -m $model -b 1 --threads 2
few=$peak
for setting in '--threads 1 --mini-batch 64' '--threads 4 --mini-batch 64' \
    '--threads 2 --mini-batch 1' '--threads 2 --mini-batch 1000'; do
    # shellcheck disable=SC2086
    peak with-blanks attn-translate -q -m $model -b 1 $setting
    is "0 100000" "$status $(wc -l <out | tr -d ' ')" "$setting: as many lines"
    [ -e first ] || cp out first
    same out first "$setting: the same"
    echo "# $peak KiB"
done
# shellcheck disable=SC2016 # awk's dollars
ok 'each in its place' awk '
    NR == FNR { a[NR] = $0; next } a[FNR] != $0 { bad++ } END { exit bad > 500 }' with-blanks first
peak with-blanks attn-translate -q -m $model -b 1 --threads 2
ok "the memory of ten times the lines: $few and $peak KiB" test $((peak * 10)) -le $((few * 11))

# --- a line ----------------------------------------------------------------

awk 'BEGIN { for (i = 0; i < 100000; i++) printf "w%d ", i % 6 + 1; print "" }' >long
{ head -n 31 many && cat long && head -n 32 many; } >mixed
peak mixed attn-translate -q -m $model
is '0 64' "$status $(wc -l <out | tr -d ' ')" 'a line of 100,000 words among others'
ok "within 64 MiB of what is usual: $few and $peak KiB" test "$peak" -le $((few + 65536))
head -c 50000000 /dev/zero | tr '\0' x >word
peak word attn-translate -q -m $model
is '0 1' "$status $(wc -l <out | tr -d ' ')" 'a word of 50 MB, no end of the line'
ok "memory for a few copies of it: $peak KiB" test "$peak" -le $((few + 300000))
cp copy.txt train
cat long >>train
echo w1 >>train
cp train train.tgt
sed 's/copy.txt/train/; s/epochs: 12/epochs: 1/; s/path: copy/path: longs/' copy.yaml >longs.yaml
works 'a line of 100,000 words in a training text' attn-train longs.yaml
says '1 pair longer than' 'it is left out and counted'

# --- a dialogue ------------------------------------------------------------

mkfifo ask answer
attn-translate -q -m $model <ask >answer 2>err &
program=$!
exec 3>ask 4<answer
asked=0
wrong=0
head -n 2000 many >questions
while read -r line; do
    echo "$line" >&3
    got=
    read -r got <&4
    [ -n "$got" ] || wrong=$((wrong + 1))
    asked=$((asked + 1))
done <questions
exec 3>&-
wait $program
is '0 0 2000' "$? $wrong $asked" '2,000 questions, each answered before the next'
exec 4<&-

# --- resumes ---------------------------------------------------------------

toy
sed -i 's/updates: 20/updates: 300, epochs: 0, dropout: 0.3, early_stopping: 0/' toy.yaml
quietly attn-train toy.yaml --model.path whole
update=1
while [ $update -le 300 ]; do
    quietly attn-train -q toy.yaml --training.updates $update
    update=$((update + 1))
done
same m/checkpoint.npz whole/checkpoint.npz '300 updates, one at a time: the same checkpoint'
cut -f 1-10 m/log.tsv >got.log
cut -f 1-10 whole/log.tsv >wanted.log
same got.log wanted.log 'the same log'

finish
