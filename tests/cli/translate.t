#!/bin/sh
# attn-translate: a line for each line whatever is in it, and the same bytes for
# a line whatever stands around it.
. "$(dirname "$0")/lib.sh"

copy_model
model=copy/best.npz

# translated DESCRIPTION INPUT WANTED [OPTION...]: as printf writes both.
translated() {
    label=$1
    # shellcheck disable=SC2059 # they are formats
    printf "$2" >in
    # shellcheck disable=SC2059
    printf "$3" >wanted
    shift 3
    run_on in attn-translate -q -m $model "$@"
    if [ "$status" -eq 0 ] && sound && cmp -s out wanted; then
        passed "$label"
    else
        { tell && echo 'wanted:' && cat -A wanted && echo 'got:' && cat -A out; } >why
        failed "$label"
    fi
}

lines_of() {
    wc -l <"$1" | tr -d ' '
}

# --- odd lines -------------------------------------------------------------

translated 'lines' 'w1 w2\nw3\n' 'w1 w2\nw3\n'
translated 'no line' '' ''
translated 'an empty line' '\n' '\n'
translated 'blank lines' 'w1\n\n  \n\t\nw2\n\n' 'w1\n\n\n\nw2\n\n'
translated 'a last line without its end' 'w1\nw2 w3' 'w1\nw2 w3\n'
translated 'CRLF' 'w1 w2\r\n\r\nw3\r\n' 'w1 w2\n\nw3\n'
translated 'a byte-order mark' '\357\273\277w1 w2\nw3\n' 'w1 w2\nw3\n'
translated 'a byte-order mark and nothing' '\357\273\277' ''
translated 'blanks and tabs' '  w1 \t w2  \n\tw3\t\n' 'w1 w2\nw3\n'
translated 'blanks and tabs, LC_ALL=C.UTF-8' '  w1 \t w2  \n' 'w1 w2\n'

# What is not among the words of the model is some word of it in the output; but
# these lines have as many words as they should, and their lines.
count() { # DESCRIPTION INPUT LINES [WARNING]
    # shellcheck disable=SC2059
    printf "$2" >in
    run_on in attn-translate -q -m $model
    is "0 $3" "$status $(lines_of out)" "$1"
    if [ $# -gt 3 ]; then
        says "$4" "$1: a warning"
    else
        silent_on 'ill-formed' "$1: no warning"
    fi
    ok "$1: words of the model" grep -qvE '[^w1-6 ]|</?s>|<unk>' out
    ok "$1: well-formed" iconv -f UTF-8 -t UTF-8 out
}
count 'U+2028, U+2029, U+0085, VT and FF end no line' \
    'w1\342\200\250w2\nw1 \342\200\251 w2\n\302\205\n\013\n\014 w1\n' 5
count 'a lone CR ends no line' 'w1\rw2\nw3 \r w4\n' 2
count 'a byte-order mark in the middle' 'w1\n\357\273\277w2\n' 2
count 'a NUL byte' 'w1\nw2 \000 w3\nw4\n' 3 'line 2 '
count 'Latin-1' 'w1\na \351 b\nw4\n' 3 'line 2 .*U\+FFFD'
count 'an overlong sequence' 'a \300\200 b\n' 1 'line 1 '
count 'a surrogate' 'w1\nw1\n\355\240\200\n' 3 'line 3 '
count 'above U+10FFFF' '\365\200\200\200\n' 1 'line 1 '
count 'a sequence cut at the end of a line' 'w1 \342\202\nw2\n' 2 'line 1 '
count 'a sequence cut at the end of the file' 'w1\nw1 \342\202' 2 'line 2 '
count 'control words' '</s>\n<s> w1 </s> w2 <unk>\n<pad> ||| w3\n' 3

printf 'w1 \351 \000\n' >in
run_on in attn-translate -q -m $model --alignment csv
ok 'U+FFFD stands in the place of ill-formed bytes' \
    grep -q "^0,0,[^,]*,1,$(printf '\357\277\275'),0" csv
ok 'and of NUL' grep -q "^0,0,[^,]*,2,$(printf '\357\277\275'),0" csv

# Every byte as a line.
i=0
while [ $i -lt 256 ]; do
    # shellcheck disable=SC2059 # the number of the byte
    [ $i -eq 10 ] || printf "\\$(printf %o $i)\\n"
    i=$((i + 1))
done >in
run_on in attn-translate -q -m $model
is '0 255' "$status $(lines_of out)" 'every byte as a line'

# Long lines.
awk 'BEGIN { for (i = 0; i < 5000; i++) printf "w%d ", i % 6 + 1; print "" }' >long
{ echo w1 && cat long && echo w2; } >in
run_on in attn-translate -q -m $model --max-length 10
is '0 3' "$status $(lines_of out)" 'a line that is too long'
says 'line 2 has 5000 words; .* 10 ' 'a warning with the number and both lengths'
{ echo w1 && head -c 29 long && printf '\nw2\n'; } >in
cp out wanted
run_on in attn-translate -q -m $model
same out wanted 'it is translated up to the limit'
silent_on 'words' 'that is long enough'
tr -d ' ' <long >in
run_on in attn-translate -q -m $model
is '0 1' "$status $(lines_of out)" 'a very long word'

# No end of the sentence.
{ echo w1 w2 w3 w4 && echo w1; } >in
run_on in attn-translate -q -m $model --max-length-factor 0.1
is '0 2' "$status $(lines_of out)" 'a limit of output words'
run_on copy.valid attn-translate -q -m $model -b 1 --max-length-factor 0.1
says 'line [0-9]+: no end of the translation.*--max-length-factor' 'a warning says so'
is 5 "$(grep -c 'no end of the translation' err)" 'for the first lines'
says '[0-9]+ translations in all have no end' 'and how many there are'

# --- what stands around a line does not matter -----------------------------

{ words 40 3 6 7 && words 20 4 30 6 && printf '\n \n' && words 20 5 12 9 && cat copy.valid; } >in
lines=$(lines_of in)
for beam in 1 5; do
    run_on in attn-translate -q -m $model --mini-batch 1 --threads 1 -b $beam
    cp out beam$beam
    is "0 $lines" "$status $(lines_of out)" "beam $beam: $lines lines"
done
differ beam1 beam5 'a beam finds something else'
tail -n 100 beam5 >got
same got copy.valid 'line for line'
run_on in attn-translate -q -m $model --mini-batch 1 --threads 1 --n-best 3 -b 5 \
    --alignment csv1
cp out nbest1
for threads in 1 2 4; do
    for batch in 1 7 64; do
        setting="--threads $threads --mini-batch $batch"
        # shellcheck disable=SC2086
        for beam in 1 5; do
            run_on in attn-translate -q -m $model $setting -b $beam
            same out beam$beam "$setting, beam $beam: the same"
        done
        # shellcheck disable=SC2086
        run_on in attn-translate -q -m $model $setting --n-best 3 -b 5 --alignment csv2
        same out nbest1 "$setting: the same n-best lists"
        same csv2 csv1 "$setting: the same alignments, to the last bit"
    done
done
run_on in env OMP_NUM_THREADS=3 MALLOC_PERTURB_=99 attn-translate -q -m $model -b 5
same out beam5 'another surrounding: the same'
# Each alone, in a process of its own.
head -n 50 in | tail -n 12 >some
while read -r line; do
    echo "$line" | attn-translate -q -m $model -b 5
done <some >out
head -n 50 beam5 | tail -n 12 >wanted
same out wanted 'each line in a process of its own: the same'
tac in >ni
run_on ni attn-translate -q -m $model -b 5
tac out >got
same got beam5 'the lines in another order: the same'

# --- many lines ------------------------------------------------------------

words 10000 6 6 6 >many
run_on many attn-translate -m $model -b 1 --threads 2
is '0 10000' "$status $(lines_of out)" 'ten thousand lines'
# shellcheck disable=SC2016 # awk's dollars
ok 'nearly all of them right, so they are in order' \
    awk 'NR == FNR { a[NR] = $0; next } a[FNR] != $0 { bad++ } END { exit bad > 50 }' many out
says '10000 lines, [0-9]+ words in' 'a summary'
gzip -c many >many.gz
run attn-translate -q -m $model -b 1 -i many.gz
cp out got
run_on many attn-translate -q -m $model -b 1 -i -
same got out 'gzip from a file, plain from stdin'

# --- n-best ----------------------------------------------------------------

printf 'w1 w2\n\n  \nw3\n' >in
run_on in attn-translate -q -m $model --n-best 2 -b 2
is '0 0 1 2 3 3' "$(awk -F ' [|][|][|] ' '{ printf "%s%s", s, $1; s = " " }' out)" \
    'two a line, one for an empty line'
is 6 "$(grep -cE '^[0-9]+ \|\|\| .*\|\|\| F0= -?[0-9.e-]+ \|\|\| -?[0-9.e-]+$' out)" \
    'of Marian'\''s shape'
is '1 |||  ||| F0= 0 ||| 0' "$(sed -n 3p out)" 'nothing for an empty line'
awk -F ' [|][|][|] ' '$1 == last && $4 > score { exit 1 } { last = $1; score = $4 }' nbest1
is 0 $? 'by falling score'
awk -F ' [|][|][|] ' 'BEGIN { last = -1 } $1 != last { print $2 } { last = $1 }' nbest1 >got
same got beam5 'the first of each is what is put out without'
fails_with 2 '--n-best: 7 .*beam of 5.*--beam-size 7' 'more than the beam' \
    attn-translate -m $model -b 5 --n-best 7
run_on in attn-translate -q -m $model -b 1000 --n-best 1000
is 0 "$status" 'a beam of more hypotheses than there are'
ok 'no control word in them' grep -qvE '</?s>|<unk>' out

# --- alignments ------------------------------------------------------------

printf 'w1 w2 w3\n\nw4 , " a,b\nw5\n' >in
run_on in attn-translate -q -m $model
cp out plain
run_on in attn-translate -q -m $model --alignment csv
same out plain 'writing alignments changes no translation'
is 'sentence,target_pos,target,source_pos,source,weight' "$(head -n 1 csv)" 'csv: the header'
is '0 2 3' "$(awk -F , 'NR > 1 && !($1 in s) { s[$1]; printf "%s%s", b, $1; b = " " }' csv)" \
    'csv: each line that has words, by its number'
is 16 "$(grep -c ^0, csv)" 'csv: four rows of four, </s> too'
ok 'csv: the row and column of </s>' grep -q '^0,3,</s>,3,</s>,' csv
ok 'csv: a comma is quoted' grep -q '^2,0,[^,]*,1,",",' csv
ok 'csv: a quote is doubled' grep -q '^2,0,[^,]*,2,"""",' csv
ok 'csv: a word with a comma' grep -q '^2,0,[^,]*,3,"a,b",' csv
# shellcheck disable=SC2317 # called by ok
sums() { # FILE COLUMNS-OF-A-ROW
    awk -F , -v n="$2" 'NR > 1 { row = ""; for (i = 1; i <= n; i++) row = row "," $i; sum[row] += $NF }
        END { for (i in sum) if (sum[i] < 0.9999 || sum[i] > 1.0001) exit 1 }' "$1"
}
ok 'csv: each row sums to 1' sums csv 2
ok 'csv: in sentences of all lengths' sums csv1 3
run_on in attn-translate -q -m $model --alignment - --beam-size 1
ok 'csv on stdout' grep -q '^sentence,' out
run_on in attn-translate -q -m $model --alignment csv --alignment-eos no
is 9 "$(grep -c ^0, csv)" 'without </s>: three rows of three'
ok 'without </s>: none' test "$(grep -c '</s>' csv)" -eq 0
run_on in attn-translate -q -m $model --alignment csv --n-best 2 -b 3
is 'sentence,hypothesis,target_pos,target,source_pos,source,weight' "$(head -n 1 csv)" \
    'n-best: the hypotheses are numbered'
is '0 1' "$(awk -F , '$1 == 0 && !($2 in s) { s[$2]; printf "%s%s", b, $2; b = " " }' csv)" \
    'n-best: both of them'

# Hops stand between the words and the decoder; weights are still over words.
quietly attn-train copy.yaml --model.path hops --encoder.self_attention structured \
    --encoder.hops 3 --training.updates 5
run_on in attn-translate -q -m hops/best.npz --alignment words.csv
is "0 $(wc -l <in | tr -d ' ')" "$status $(wc -l <out | tr -d ' ')" 'a model with hops translates'
run_on in attn-translate -q -m hops/best.npz --alignment words1.csv --mini-batch 1 --threads 2
same words1.csv words.csv 'weights of hops: the same alone, to the last bit'
is 0 "$(awk -F , 'NR > 1 { sum[$1 "," $2] += $NF; n[$1 "," $2]++ }
    END { for (row in sum) bad += sum[row] < 0.9999 || sum[row] > 1.0001 || n[row] < 2
          print bad + 0 }' words.csv)" 'weights of hops: a row sums to 1 over the words'
cp out found
works 'a model with hops aligns' attn-score -q -m hops/best.npz --alignment forced.csv in found
is 0 "$(grep -cvxFf forced.csv words.csv)" 'weights of hops: attn-score gives the same'

run_on in attn-translate -q -m $model --alignment matrix --alignment-format matrix
same out plain 'matrix: the same translations'
is 3 "$(grep -c '^$' matrix)" 'matrix: four blocks'
is ',w1,w2,w3,</s>' "$(head -n 1 matrix)" 'matrix: the source across'
is 'w1 w2 w3 </s>' "$(sed -n '2,5s/,.*//p' matrix | tr '\n' ' ' | sed 's/ $//')" \
    'matrix: the target down'
is '""' "$(sed -n 7p matrix)" 'matrix: an empty line has a block'
if [ -n "$PYTHON" ]; then
    cat >blocks.py <<'END'
import csv, sys
blocks = open(sys.argv[1], newline="").read().split("\n\n")
for block in blocks:
    rows = list(csv.reader(block.splitlines()))
    assert len({len(r) for r in rows}) == 1, rows
    for row in rows[1:]:
        assert abs(sum(map(float, row[1:])) - 1) < 1e-4, row
print(len(blocks))
END
    works 'matrix: another reader of CSV reads it' "$PYTHON" blocks.py matrix
    is 4 "$(cat out)" 'matrix: and finds four blocks'
fi
echo 'old' >matrix
printf 'w1\n' >in
fails_with 2 'nowhere' 'an alignment where there is no folder' \
    attn-translate -m $model --alignment nowhere/a.csv
fails_with 2 "'cvs'.*csv" 'a format that there is not' \
    attn-translate -m $model --alignment matrix --alignment-format cvs
is old "$(cat matrix)" 'what was there is left alone'
if [ -w /dev/full ]; then
    run_on in attn-translate -q -m $model --alignment /dev/full
    is 1 "$status" 'an alignment on a full device: status 1'
    ok 'and a reason' test -s err
fi

# --- a dialogue ------------------------------------------------------------

mkfifo ask answer
attn-translate -q -m $model <ask >answer 2>err &
program=$!
{ sleep "$PATIENCE" && kill -9 $program; } >/dev/null 2>&1 &
watchdog=$!
exec 3>ask 4<answer
for line in 'w1 w2' 'w3' '' 'w4 w5 w6' 'w2'; do
    echo "$line" >&3
    got='no answer'
    read -r got <&4
    is "$line" "$got" "asked '$line', answered at once"
done
printf 'w1 w' >&3 # half a line is none yet
printf '3\nw5\n' >&3
read -r first <&4
read -r second <&4
is 'w1 w3, w5' "$first, $second" 'a line in two pieces, and two at once'
exec 3>&-
wait $program
is 0 $? 'the end of the dialogue'
exec 4<&-
kill $watchdog 2>/dev/null
rm ask answer

# --- trouble ---------------------------------------------------------------

if [ -w /dev/full ]; then
    attn-translate -q -m $model -i copy.valid >/dev/full 2>err
    is 1 $? 'a full device: status 1'
    says 'stdout' 'and a reason'
fi
{
    attn-translate -q -m $model -i many 2>err
    echo $? >code
} | head -n 1 >/dev/null
is 1 "$(cat code)" 'a reader that goes away: status 1'
attn-translate -q -m $model >out 2>err </
is 2 $? 'a folder as stdin: status 2'
says 'stdin' 'and a reason'
head -c 9000 many.gz >cut.gz
run attn-translate -q -m $model -i cut.gz -b 1
is 2 "$status" 'gzip that is cut short: status 2'
says 'cut.gz' 'and its name'
ok 'what could be read has been translated' test "$(lines_of out)" -gt 100
head -n "$(lines_of out)" many >wanted
ok 'line by line' test "$(diff out wanted | grep -c '^<')" -lt 50

finish
