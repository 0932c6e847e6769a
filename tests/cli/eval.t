#!/bin/sh
# attn-eval: what it prints, and how it ends.
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
count=0

# ok WHAT COMMAND...: the command succeeds.
ok() {
    what=$1
    shift
    count=$((count + 1))
    if "$@"; then
        echo "ok $count - $what"
    else
        echo "not ok $count - $what"
        sed 's/^/# /' out err
    fi
}

# run STATUS COMMAND...: it ends so; its output is in out and err.
run() {
    status=$1
    shift
    "$@" >out 2>err
    [ $? -eq "$status" ]
}

prints() {
    [ "$(cat out)" = "$1" ]
}

says() {
    grep -qF -- "$1" err
}

printf 'the small boat sails over the lake\nnobody knows it\n' >hyp
printf 'the little boat sails over the lake\nnobody knows it yet\n' >ref
printf 'a small boat sails over a lake\nit is not known\n' >ref2
head -1 hyp >short
: >nothing

line='BLEU = 62.32 90.0/75.0/66.7/50.0 (BP = 0.905 ratio = 0.909'
line="$line hyp_len = 10 ref_len = 11) tokens as given, smoothing exp"
ok 'bleu of stdin' run 0 sh -c 'attn-eval bleu ref <hyp'
ok 'its line' prints "$line"
ok 'bleu of a file' run 0 attn-eval bleu --hypothesis hyp ref
gzip -c hyp >hyp.gz
ok 'bleu of a .gz file' run 0 attn-eval bleu -i hyp.gz ref
ok 'the same line' prints "$line"
ok 'two references' run 0 attn-eval bleu -i hyp ref ref2
ok 'help the score' grep -q '^BLEU = 7[0-9]' out
ok 'score only' run 0 attn-eval bleu --score-only -i hyp hyp
ok 'of equal files is 100' prints 100.00
ok 'digits' run 0 attn-eval bleu -b -w 0 -i hyp hyp
ok 'none' prints 100
ok 'an empty line counts' run 0 sh -c 'printf "\\n\\n" | attn-eval bleu ref'
ok 'and scores 0' grep -q '^BLEU = 0.00 .*hyp_len = 0' out
for method in none floor add-k exp; do
    ok "smoothing $method" run 0 attn-eval bleu --smooth-method $method \
        -i short short
    ok 'is named' grep -q "smoothing $method" out
done

ok 'fewer lines than references' run 2 attn-eval bleu -i short ref
ok 'both counts are named' says 'short has 1 lines but ref has 2'
ok 'more lines than references' run 2 attn-eval bleu -i ref short
ok 'both counts again' says 'ref has 2 lines but short has 1'
ok 'no lines' run 2 attn-eval bleu -i nothing nothing
ok 'are told' says 'nothing has no lines'
ok 'no such file' run 2 attn-eval bleu -i hyp nowhere
ok 'is named' says nowhere
ok 'stdin twice' run 2 sh -c 'attn-eval bleu - <hyp'
ok 'no metric' run 2 attn-eval
ok 'unknown metric' run 2 attn-eval blue -i hyp ref
ok 'a near one is named' says "'bleu'"
ok 'no reference' run 2 attn-eval bleu -i hyp
ok 'unknown option' run 2 attn-eval bleu --nonsense -i hyp ref
ok 'unknown smoothing' run 2 attn-eval bleu --smooth-method x -i hyp ref
ok 'bad width' run 2 attn-eval bleu -w 99 -i hyp ref
ok 'bad value' run 2 attn-eval bleu --smooth-value -1 -i hyp ref
ok 'missing value' run 2 attn-eval bleu -i
ok 'help' run 0 attn-eval --help
ok 'names all metrics' grep -q '^  bleu ' out
ok 'version' run 0 attn-eval --version
if [ -c /dev/full ]; then
    ok 'full disk' run 1 sh -c 'attn-eval bleu -i hyp ref >/dev/full'
fi
echo "1..$count"
