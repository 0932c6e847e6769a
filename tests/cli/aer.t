#!/bin/sh
# Links between words: their scores, the union of two directions, and where
# attn-translate and attn-score get them from.
. "$(dirname "$0")/lib.sh"

# --- attn-eval aer ---------------------------------------------------------

printf '0-0 1-1 2-2 2?3 3?3\n0-0\n\n' >gold
printf '\n\n\n' >blank
printf '0-0 1-1 2-3 0-3 5-9\n\n0-0\n' >hyp
works 'aer' attn-eval aer gold hyp
is 'AER = 0.5000 (precision = 0.5000 recall = 0.5000 links = 6 sure = 4 possible = 6)' \
    "$(cat out)" 'its line'
works 'score only' attn-eval aer --score-only --width 2 gold hyp
is 0.50 "$(cat out)" 'the score'
gzip -c gold >gold.gz
works_on hyp 'a .gz file and stdin' attn-eval aer -b gold.gz -
is 0.5000 "$(cat out)" 'the same score'
works 'a gold alignment against itself' attn-eval aer -b gold gold
is 0.0000 "$(cat out)" 'links that are only possible are links there'

plus_1() { # FILE: numbered from 1
    awk '{ for (i = 1; i <= NF; i++) {
               n = split($i, word, /[-?]/); mark = $i; gsub(/[0-9]/, "", mark)
               $i = word[1] + 1 mark word[2] + 1
           }
           print }' "$1"
}
turned() { # FILE: target-source
    sed -E 's/([0-9]+)([-?])([0-9]+)/\3\2\1/g' "$1"
}
plus_1 gold >gold1
plus_1 hyp >hyp1
turned hyp >hyp-reversed
works 'gold numbered from 1' attn-eval aer -b gold1 hyp --base 1
is 0.5000 "$(cat out)" 'the same score'
works 'both numbered from 1' attn-eval aer -b gold1 hyp1 --base 1 --hyp-base 1
is 0.5000 "$(cat out)" 'the same score'
silent_on . 'without a word'
works 'target-source' attn-eval aer -b --reversed gold hyp-reversed
is 0.5000 "$(cat out)" 'the same score'

works 'gold numbered from 1 by mistake' attn-eval aer gold1 hyp
says 'gold1: no link has a 0; .* give --base 1$' 'is noticed'
works 'links numbered from 1 by mistake' attn-eval aer gold hyp1
says 'hyp1: no link has a 0; .* give --hyp-base 1$' 'is noticed'
fails_with 2 'gold:1: link 0-0: words should be numbered from 1 here \(--base 1\)' \
    'gold numbered from 0 by mistake' attn-eval aer --base 1 gold hyp

printf 'a b c d e f\nx y\nz\n' >source
printf 'a b c d e f g h i j\nx\nz\n' >target
works 'texts' attn-eval aer -b gold hyp --source source --target target
is 0.5000 "$(cat out)" 'the same score'
printf 'a b c\nx y\nz\n' >short
fails_with 2 '^attn-eval: gold:1: link 3\?3: the source sentence has 3 words, numbered from 0$' \
    'gold out of range' attn-eval aer gold gold --source short
fails_with 2 'hyp:1: link 0-3: the target sentence has 3 words' \
    'links out of range' attn-eval aer blank hyp --source source --target short
printf 'a b c d\nx\nz\n' >exact
fails_with 2 'gold1:1: link 4\?4: .* 4 words.* seems to be numbered from 1: give --base 1$' \
    'gold numbered from 1, with the text' attn-eval aer gold1 hyp --source exact
fails_with 2 'hyp1:1: link 6-10: .* seems to be numbered from 1: give --hyp-base 1$' \
    'links numbered from 1, with the text' attn-eval aer gold hyp1 --source source
works 'numbered from 1, and said so' attn-eval aer gold1 gold1 --base 1 --hyp-base 1 \
    --source exact --target exact

head -n 2 hyp >hyp2
fails_with 2 'gold has 3 lines but hyp2 has 2' 'fewer lines' attn-eval aer gold hyp2
fails_with 2 'hyp2 has 2 lines but gold has 3' 'more lines' attn-eval aer hyp2 gold
head -n 2 source >source2
fails_with 2 'gold has 3 lines but source2 has 2' 'a shorter text' \
    attn-eval aer gold hyp --source source2
printf '0-0\n\n1-1 2:2\n' >bad
fails_with 2 "bad:3: '2:2' is not a link" 'what is no link' attn-eval aer bad bad
: >nothing
works 'no links at all' attn-eval aer -b gold blank
is 1.0000 "$(cat out)" 'are as bad as can be'
fails_with 2 'neither blank nor blank has a link' 'no links, no gold' attn-eval aer blank blank
fails_with 2 'neither nothing nor nothing' 'no lines' attn-eval aer nothing nothing
fails_with 2 'aer takes GOLD HYPOTHESIS, but 1 file' 'one file' attn-eval aer gold
fails_with 2 'but 3 files' 'three files' attn-eval aer gold hyp hyp
fails_with 2 'only one' 'stdin twice' attn-eval aer - -
fails_with 2 'base: .2. is not' 'another base' attn-eval aer gold hyp --base 2
fails_with 2 'attn-eval: --smooth-method is not an option of aer' 'an option of another metric' \
    attn-eval aer gold hyp --smooth-method exp
fails_with 2 'attn-eval: --base is not an option of bleu' 'the other way round' \
    attn-eval bleu --base 1 source

# --- attn-eval symmetrize --------------------------------------------------

printf '0-0 1-1 5-4\n\n0-0\n' >forward
printf '0-0 1-0 2-2 5-6\n\n\n' >backward
printf '0-0\n\n\n' >intersect
printf '0-0 1-0 1-1 2-2 5-4 5-6\n\n0-0\n' >union
printf '0-0 1-0 1-1 2-2\n\n\n' >grow-diag
printf '0-0 1-0 1-1 2-2 5-4\n\n0-0\n' >grow-diag-final-and
turned backward >backward-reversed
plus_1 backward >backward1
for method in intersect union grow-diag grow-diag-final-and; do
    works "$method" attn-eval symmetrize $method forward backward
    same out $method "$method: its links"
    works "$method, reversed" \
        attn-eval symmetrize $method --reversed forward backward-reversed
    same out $method "$method, reversed: the same"
    works "$method, numbered from 1" \
        attn-eval symmetrize $method forward backward1 --hyp-base 1
    same out $method "$method, numbered from 1: the same, from 0"
done
fails_with 2 'did you mean .intersect' 'no such method' \
    attn-eval symmetrize intersection forward backward
fails_with 2 'forward has 3 lines but hyp2 has 2' 'different lengths' \
    attn-eval symmetrize union forward hyp2
fails_with 2 'backward:1: link 5-6: the target sentence has 5 words' 'out of range' \
    sh -c 'printf "a b c d e\n\nx\n" >t; attn-eval symmetrize union forward backward --target t'
fails_with 2 'symmetrize takes METHOD FORWARD BACKWARD' 'no files' attn-eval symmetrize union

# --- the same by an independent program ------------------------------------

reference=$TESTS/reference_links.py
if [ -n "$PYTHON" ]; then
    for seed in 1 2 3; do
        "$PYTHON" "$reference" make $seed 200 -? >gold
        "$PYTHON" "$reference" make $((seed + 10)) 200 - >forward
        "$PYTHON" "$reference" make $((seed + 20)) 200 - >backward
        works "made-up links, $seed" attn-eval aer -w 6 gold forward
        is "$("$PYTHON" "$reference" aer gold forward)" \
            "$(sed -E 's/AER = ([0-9.]*) .precision = ([0-9.]*) recall = ([0-9.]*) .*/\1 \2 \3/' out)" \
            "made-up links, $seed: the same score"
        for method in intersect union grow-diag grow-diag-final-and; do
            works "$method, $seed" attn-eval symmetrize $method forward backward
            "$PYTHON" "$reference" $method forward backward >wanted
            same out wanted "$method, $seed: the same links"
        done
    done
else
    skip 'the same links and scores' 'no python3'
fi

# --- links of models -------------------------------------------------------

toy
words 8 5 9 >some.src
printf '\nw1 unknown w2\n' >>some.src
best_of() { # CSV: pharaoh's links, from the weights
    awk -F , 'FNR == 1 { next }
    {
        key = $1 "," $2
        if (!(key in best)) order[++n] = key
        if (!(key in best) || $6 + 0 > best[key]) { best[key] = $6; at[key] = $4; word[key] = $5 }
        if ($3 == "</s>") eos[key] = 1
    }
    END {
        for (i = 1; i <= n; i++) {
            split(order[i], p, ",")
            if (!(order[i] in eos) && word[order[i]] != "</s>")
                line[p[1]] = line[p[1]] (line[p[1]] == "" ? "" : " ") at[order[i]] "-" p[2]
        }
        for (i = 0; i < '"$(wc -l <some.src)"'; i++) print line[i]
    }' "$1"
}

# close CSV CSV DESCRIPTION: the same but for weights, these nearly.
close() {
    # shellcheck disable=SC2016 # the dollars are awk's
    ok "$3" awk -F , 'NR == FNR { line[FNR] = $0; next }
        {
            split(line[FNR], other, ",")
            for (i = 1; i < 6; i++) if ($i != other[i]) bad = 1
            difference = $6 - other[6]
            if (difference > 1e-4 || difference < -1e-4) bad = 1
        }
        END { exit bad || FNR < 2 }' "$1" "$2"
}

for options in '--decoder.style bahdanau' \
    '--decoder.style luong --attention.score general --encoder.cell lstm --decoder.cell lstm'; do
    rm -rf m
    # shellcheck disable=SC2086 # lists of options
    quietly attn-train toy.yaml --training.updates 60 $options
    quietly attn-translate -q -m m/best.npz -i some.src -b 1 --max-length-factor 3 \
        --alignment free.csv
    cp out some.tgt
    works "links of translations: $options" attn-translate -q -m m/best.npz -i some.src -b 1 \
        --max-length-factor 3 --alignment free.links --alignment-format pharaoh
    best_of free.csv >wanted
    same free.links wanted 'they are where the weights are greatest'

    works 'forced alignment' attn-score -q -m m/best.npz some.src some.tgt \
        --alignment forced.csv
    cp out scores
    # What ran to the limit has no </s>, which the forced alignment has.
    cut -d , -f 1-3 free.csv >has
    awk -F , 'NR == FNR { has[$0]; next } ($1 "," $2 "," $3) in has' has forced.csv >cut.csv
    close free.csv cut.csv 'the weights of the search that gave the translation'
    works 'forced links' attn-score -q -m m/best.npz some.src some.tgt \
        --alignment - --alignment-format pharaoh
    same out free.links 'on stdout, alone: the same links'
    works 'the numbers' attn-score -q -m m/best.npz some.src some.tgt
    same out scores 'are the same without'
    works 'one pair at a time, one thread' attn-score -q -m m/best.npz some.src some.tgt \
        --alignment other.csv --mini-batch 1 --threads 1
    same other.csv forced.csv 'the same bytes'
    works 'two threads' attn-score -q -m m/best.npz some.src some.tgt \
        --alignment other.csv --mini-batch 3 --threads 2
    same other.csv forced.csv 'the same bytes'
    works 'without </s>' attn-score -q -m m/best.npz some.src some.tgt \
        --alignment other.csv --alignment-eos no
    grep -v '</s>' forced.csv >wanted
    same other.csv wanted 'the rest stays'
done
ok 'unknown words are spelled out' grep -q ',unknown,' forced.csv
for format in matrix terminal; do
    works "as $format" attn-score -q -m m/best.npz some.src some.tgt \
        --alignment - --alignment-format $format
    ok 'something is there' test -s out
done
works 'links fit their texts' attn-eval aer free.links free.links \
    --source some.src --target some.tgt
printf 'w1\n\n\n' >odd.src
printf '\nw2\n\n' >odd.tgt
works 'blank sides' attn-score -q -m m/best.npz odd.src odd.tgt \
    --alignment - --alignment-format pharaoh
is 3 "$(wc -l <out | tr -d ' ')" 'a line for each pair'
works 'with a summary' attn-score -q -m m/best.npz some.src some.tgt --summary --alignment a.csv
is 1 "$(wc -l <out | tr -d ' ')" 'one number'
rm -rf m none.csv
quietly attn-train toy.yaml --training.updates 2 --attention.kind none
works 'a model without attention' attn-score -q -m m/best.npz some.src some.tgt \
    --alignment - --alignment-format pharaoh
is '' "$(tr -d '\n' <out)" 'has no links'
fails_with 2 'stdin: cannot be read twice' 'stdin' \
    attn-score -m m/best.npz - some.tgt --alignment a
fails_with 2 'give --alignment a file' 'summary and alignments on stdout' \
    attn-score -m m/best.npz some.src some.tgt --summary --alignment -
fails_with 2 "did you mean 'pharaoh'" 'no such format' \
    attn-score -m m/best.npz some.src some.tgt --alignment a --alignment-format pharao
ok 'no file is left of it' test ! -e a
if [ -c /dev/full ]; then
    fails_with 1 'space' 'a full disk' attn-score -m m/best.npz some.src some.tgt \
        --alignment /dev/full
fi

finish
