#!/bin/sh
# attn-bench: that it measures what it is asked for, and refuses the rest. The
# figures themselves are not tested: machines differ.
# shellcheck disable=SC2016,SC2317 # awk's $; functions that `ok` calls
. "$(dirname "$0")/lib.sh"

words 60 1 >train.en
words 60 2 >train.de
words 5 3 >test.en
quick='--sizes 8/12 --threads 1,2 --rounds 2 --updates 2 --warmup 1 --seconds 0.001
       --beams 1,3 --translate 8 --train-for 3 --precisions fp32'

# A field of the CSV by the others of its row; the quantity is the last one.
value() { # WHAT CASE SIZE E H PRECISION THREADS BEAM QUANTITY
    awk -F , -v row="$1,$2,$3,$4,$5,$6,$7,$8,$9" \
        '$1 "," $2 "," $3 "," $4 "," $5 "," $6 "," $7 "," $8 "," $9 == row { print $10 }' figures.csv
}
positive() {
    awk -v x="$(value "$@")" 'BEGIN { exit !(x > 0) }'
}
sections() { # LIST [OPTION]...
    # shellcheck disable=SC2086 # a list of options
    works "sections $1" attn-bench $quick --data . --csv figures.csv --sections "$@"
}

sections products,training,translation
is 3 "$(grep -c '^|.*--:|$' out)" 'three tables'
is 2 "$(grep -cE '^\| +8 / 12 \| +fp32 \| +[12] \| +[0-9]+ [(|]' out)" \
    'trainings with 1 and 2 threads'
is 4 "$(grep -cE '^\| +8 / 8 \| +[13] \| +fp32 \| +[12] ' out)" \
    'translations with two beams, 1 and 2 threads'
for threads in 1 2; do
    ok "products, $threads threads" \
        positive products '64 x 1536 x 512' '' '' '' fp32 $threads '' gflops
    for quantity in memory_gb_per_second cache_gb_per_second; do
        ok "memory, $threads threads: $quantity" positive memory '' '' '' '' '' $threads '' $quantity
    done
    for quantity in source_tokens_per_second target_tokens_per_second useful_gflops \
        limit_gflops useful_share peak_mib flops_per_byte; do
        ok "training, $threads threads: $quantity" \
            positive training '' '' 8 12 fp32 $threads '' $quantity
    done
    for quantity in seconds sentences_per_second output_words_per_second useful_gflops \
        flops_per_byte peak_mib; do
        ok "translation, $threads threads: $quantity" \
            positive translation '' '' 8 8 fp32 $threads 3 $quantity
    done
done
is 12 "$(awk -F , 'NR == 1 { print NF }' figures.csv)" 'twelve columns'
ok 'and as many in every row of figures' awk -F , \
    'NR > 1 && $1 != "machine" && NF != 12 { exit 1 }' figures.csv
ok 'the least and the most lie around the median' awk -F , \
    'NR > 1 && $1 != "machine" && ($11 > $10 || $12 < $10) { exit 1 }' figures.csv

works 'a picture of them' sh -c "'$ROOT/scripts/draw-roofline' --threads 2 figures.csv >roofline.svg"
is 6 "$(grep -c '<circle' roofline.svg | awk '{ print $1 - 1 }')" 'has six products and a key'
is 1 "$(tail -n 1 roofline.svg | grep -c '^</svg>$')" 'and ends'
fails_with 2 'no products' 'no picture of what was not measured' \
    "$ROOT/scripts/draw-roofline" --threads 5 figures.csv
fails_with 2 'cannot be read' 'nor of no file' "$ROOT/scripts/draw-roofline" nowhere

cp figures.csv all.csv

sections single --sentences 2
is 2 "$(grep -cE '^\| +8 / 8 \| +[13] \| +fp32 \| +1 ' out)" 'has two beams and one thread'
ok 'and says how fast' positive single '' '' 8 8 fp32 1 3 sentences_per_second
sections start-up --start-up 8 --threads 1
ok 'says how long' positive start-up '' '' 8 8 fp32 1 6 seconds
sections lengths --lengths 5,40
for kind in global local_m local_p monotonic; do
    ok "a step of $kind, 40 words" positive lengths $kind 40 8 8 '' 1 '' ms_per_step
done
is 1 "$(grep -c '^Cheaper than global from so many words on: .*local_m' out)" 'and the crossings'
sections attention --attention 4
for pair in 'global additive' 'local_p dot' 'monotonic location' 'static general' 'none additive'; do
    ok "$pair" positive attention "$pair" '' 4 4 fp32 1 '' relative_time
done
sections threads
for work in products training translation; do
    ok "the speed-up of $work" positive threads $work '' '' '' fp32 2 '' speed_up
    ok "$work beside a neighbour" positive threads $work '' '' '' fp32 2 '' left_beside_neighbour
done
sections growth --growth . --attention 4 --pairs 20,60 --vocabularies 5,8
for pairs in 20 60; do
    ok "$pairs pairs" positive growth pairs $pairs 4 4 fp32 2 '' relative_speed
done
for words in 5 8; do
    ok "$words words" positive growth vocabulary $words 4 4 fp32 2 '' useful_gflops
done
ok 'no model is left behind' test -z "$(ls -d "${TMPDIR:-/tmp}"/attn-bench.* 2>/dev/null)"

few='--rounds 1 --seconds 0.001 --threads 1 --precisions fp32'
# shellcheck disable=SC2086
{
    works 'the CSV alone' attn-bench $few --sections products --csv - train.en train.de
    ok 'begins with its header' grep -q '^what,case,size,embedding,hidden,precision,threads,beam,quantity,value' out
    is 0 "$(grep -c '^|' out)" 'and has no table beside it'
    toy
    quietly attn-train --quiet toy.yaml
    works 'a model of a run' attn-bench $few --sections translation -m m/best.npz \
        train.src train.tgt test.en
    is 2 "$(grep -cE '^\| +8 / 8 \|' out)" 'translates with both beams'

    echo 'no model' >broken.npz
    fails_with 2 'broken.npz' 'no model file' attn-bench $few -m broken.npz train.en train.de test.en
    is 0 "$(grep -c . out)" 'before anything is measured'
    fails_with 2 'nowhere' 'no test file' attn-bench $few train.en train.de nowhere
    fails_with 2 'nowhere' 'no training file' attn-bench $few nowhere train.de
    fails_with 2 "whole number from 1 to 256" 'no threads' attn-bench --threads 0 train.en train.de
    fails_with 2 'more than 16' 'a long list' attn-bench --beams 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 a b
    fails_with 2 "'speed' is none of products, training" 'no such section' \
        attn-bench --sections training,speed a b
    fails_with 2 "'fp8' is none of fp32, bf16, int8" 'no such precision' attn-bench --precisions fp8 a b
    fails_with 2 "'single' needs a text" 'nothing to translate' \
        attn-bench --sections single train.en train.de
    fails_with 2 'larger text' 'nothing to grow on' attn-bench --sections growth train.en train.de
    fails_with 2 'SOURCE TARGET' 'no text' attn-bench
    fails_with 2 'SOURCE TARGET' 'one text' attn-bench train.en
    fails_with 2 'SOURCE TARGET' 'a folder and texts' attn-bench --data . train.en train.de
    fails_with 1 'cannot make a file' 'no room for the model' \
        env TMPDIR=/nowhere attn-bench $few --sections translation --train-for 1 --translate 4 \
        train.en train.de test.en
}
works 'help' attn-bench --help
works 'version' attn-bench --version

# The scripts around it, with a stand-in for it and for the peer.
mkdir bin
cat >bin/attn-bench <<'END_OF_STAND_IN'
#!/bin/sh
echo "called with $*" >&2
echo '| a table |'
for option; do
    [ "${last:-}" != --csv ] || cp "$FIGURES" "$option"
    last=$option
done
END_OF_STAND_IN
chmod +x bin/attn-bench
printf 'before\n<!-- bench -->\nold\n<!-- /bench -->\nafter\n' >page.md
works 'make bench' env GROWTH="$HERE" PATH="$HERE/bin:$PATH" DATA="$HERE" BENCH='--sizes 8' "$ROOT/scripts/bench"
says 'called with --data .* --sizes 8 --growth .' 'hands on its options'
rm roofline.svg
works 'tables for a page' env PATH="$HERE/bin:$PATH" DATA="$HERE" FIGURES="$HERE/all.csv" \
    "$ROOT/scripts/bench" --markdown "$HERE/page.md"
is 'before,<!-- bench -->,,| a table |,,<!-- /bench -->,after' \
    "$(paste -s -d , page.md)" 'stand where the old ones stood'
same all.csv page.csv 'all figures beside it'
is 1 "$(tail -n 1 roofline.svg | grep -c '^</svg>$')" 'and a picture of them'
works 'of some sections' env PATH="$HERE/bin:$PATH" DATA="$HERE" FIGURES="$HERE/figures.csv" \
    "$ROOT/scripts/bench" --markdown "$HERE/page.md"
is 1 "$(tail -n 1 roofline.svg | grep -c '^</svg>$')" 'no new picture'
cp page.md kept.md
cat >bin/attn-bench <<'END_OF_STAND_IN'
#!/bin/sh
exit 1
END_OF_STAND_IN
run env PATH="$HERE/bin:$PATH" DATA="$HERE" "$ROOT/scripts/bench" --markdown "$HERE/page.md"
is 1 "$status" 'a failed measurement fails'
same kept.md page.md 'and leaves the page as it was'
fails_with 2 'git clone' 'a folder without text: how to get it' \
    env PATH="$HERE/bin:$PATH" DATA=/nowhere "$ROOT/scripts/bench"
fails_with 2 'has no train.en' 'a folder without a larger text' \
    env PATH="$HERE/bin:$PATH" DATA="$HERE" GROWTH=/nowhere "$ROOT/scripts/bench"
fails_with 2 'no lines' 'a page without a place' \
    env PATH="$HERE/bin:$PATH" "$ROOT/scripts/bench" --markdown "$HERE/test.en"
cat >bin/attn-bench <<'END_OF_STAND_IN'
#!/bin/sh
echo 'training,,,8,9,fp32,1,,target_tokens_per_second,100,100,100'
echo 'training,,,8,9,fp32,1,,peak_mib,7,7,7'
END_OF_STAND_IN
cat >bin/python <<'END_OF_STAND_IN'
#!/bin/sh
[ "$1" = -c ] || echo 'what=train updates=3 src_tok_s=9 tgt_tok_s=40 peak_mib=30'
END_OF_STAND_IN
chmod +x bin/python
cp test.en test2016.en
cp test.en test2016.de
works 'a comparison' env PATH="$HERE/bin:$PATH" PYTHON="$HERE/bin/python" \
    "$ROOT/scripts/compare-torch" --peer page.md --sizes 8/9 --threads 1 --rounds 2 .
ok 'gives both and their ratio' grep -qE \
    '^\| training +\| +8 / 9 \| +1 \| +\| +100 \(100-100\) \| +40 \(40-40\) \| +2\.50 .* 7 \| +30 \|$' out
fails_with 2 'usage' 'no peer' "$ROOT/scripts/compare-torch"
fails_with 2 'cannot be read' 'a peer that is not there' "$ROOT/scripts/compare-torch" --peer nowhere

finish
