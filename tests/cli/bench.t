#!/bin/sh
# attn-bench: that it measures what it is asked for, and refuses the rest. The
# figures themselves are not tested: machines differ.
# shellcheck disable=SC2016,SC2317 # awk's $; functions that `ok` calls
. "$(dirname "$0")/lib.sh"

words 60 1 >train.en
words 60 2 >train.de
words 5 3 >test.en
quick='--sizes 8/12 --threads 1,2 --rounds 2 --updates 2 --warmup 1 --seconds 0.001
       --beams 1,3 --translate 8 --train-for 3'

value() { # WHAT E H THREADS BEAM QUANTITY
    awk -F , -v row="$1,$2,$3,$4,$5,$6" \
        '$1 "," $2 "," $3 "," $4 "," $5 "," $6 == row { print $7 }' figures.csv
}
positive() {
    awk -v x="$(value "$@")" 'BEGIN { exit !(x > 0) }'
}

# shellcheck disable=SC2086 # a list of options
works 'a folder' attn-bench $quick --data . --csv figures.csv
is 3 "$(grep -c '^|.*--:|$' out)" 'three tables'
is 2 "$(grep -cE '^\| +8 / 12 \| +[12] \| +[0-9]+ \| +[0-9]+ [(|]' out)" \
    'trainings with 1 and 2 threads'
is 4 "$(grep -cE '^\| +8 / 8 \| +[13] \| +[12] ' out)" 'translations with two beams, 1 and 2 threads'
for threads in 1 2; do
    ok "products, $threads threads" positive sgemm '' '' $threads '' gflops_64x1536x512
    for quantity in source_tokens_per_second target_tokens_per_second useful_gflops \
        sgemm_gflops useful_share peak_mib; do
        ok "training, $threads threads: $quantity" positive training 8 12 $threads '' $quantity
    done
    for quantity in seconds sentences_per_second output_words_per_second peak_mib; do
        ok "translation, $threads threads: $quantity" \
            positive translation 8 8 $threads 3 $quantity
    done
done
is 9 "$(awk -F , 'NR == 1 { print NF }' figures.csv)" 'nine columns'
ok 'and as many in every row of figures' awk -F , \
    'NR > 1 && $1 != "machine" && NF != 9 { exit 1 }' figures.csv
ok 'the least and the most lie around the median' awk -F , \
    'NR > 1 && $1 != "machine" && ($8 > $7 || $9 < $7) { exit 1 }' figures.csv
ok 'no model is left behind' test -z "$(ls -d "${TMPDIR:-/tmp}"/attn-bench.* 2>/dev/null)"

few='--rounds 1 --seconds 0.001 --threads 1'
# shellcheck disable=SC2086
{
    works 'the CSV alone' attn-bench $few --sizes none --beams none --csv - train.en train.de
    ok 'begins with its header' grep -q '^what,embedding,hidden,threads,beam,quantity,value' out
    is 0 "$(grep -c '^|' out)" 'and has no table beside it'
    toy
    quietly attn-train --quiet toy.yaml
    works 'a model of a run' attn-bench $few --sizes none -m m/best.npz train.src train.tgt test.en
    is 2 "$(grep -cE '^\| +8 / 8 \|' out)" 'translates with both beams'

    echo 'no model' >broken.npz
    fails_with 2 'broken.npz' 'no model file' attn-bench $few -m broken.npz train.en train.de test.en
    is 0 "$(grep -c . out)" 'before anything is measured'
    fails_with 2 'nowhere' 'no test file' attn-bench $few train.en train.de nowhere
    fails_with 2 'nowhere' 'no training file' attn-bench $few nowhere train.de
    fails_with 2 'nowhere/train.en' 'no folder' attn-bench $few --data nowhere
    fails_with 2 "'x' is not a whole number" 'a bad size' attn-bench --sizes 8/x train.en train.de
    fails_with 2 "'' is not a whole number" 'an empty item' attn-bench --threads 1, train.en train.de
    fails_with 2 'one number at least' 'no threads' attn-bench --threads none train.en train.de
    fails_with 2 'more than 16' 'a long list' attn-bench --beams 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 a b
    fails_with 2 'SOURCE TARGET' 'no text' attn-bench
    fails_with 2 'SOURCE TARGET' 'one text' attn-bench train.en
    fails_with 2 'SOURCE TARGET' 'a folder and texts' attn-bench --data . train.en train.de
    fails_with 1 'cannot make a file' 'no room for the model' \
        env TMPDIR=/nowhere attn-bench $few --sizes none --train-for 1 --translate 4 \
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
[ ! -e broken ]
END_OF_STAND_IN
chmod +x bin/attn-bench
printf 'before\n<!-- bench -->\nold\n<!-- /bench -->\nafter\n' >page.md
works 'make bench' env PATH="$HERE/bin:$PATH" DATA="$HERE" BENCH='--sizes 8' "$ROOT/scripts/bench"
says 'called with --data .* --sizes 8$' 'hands on its options'
works 'tables for a page' env PATH="$HERE/bin:$PATH" DATA="$HERE" \
    "$ROOT/scripts/bench" --markdown "$HERE/page.md"
is 'before,<!-- bench -->,,| a table |,,<!-- /bench -->,after' \
    "$(paste -s -d , page.md)" 'stand where the old ones stood'
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
fails_with 2 'no lines' 'a page without a place' \
    env PATH="$HERE/bin:$PATH" "$ROOT/scripts/bench" --markdown "$HERE/test.en"
cat >bin/attn-bench <<'END_OF_STAND_IN'
#!/bin/sh
echo 'training,8,9,1,,target_tokens_per_second,100,100,100'
echo 'training,8,9,1,,peak_mib,7,7,7'
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
