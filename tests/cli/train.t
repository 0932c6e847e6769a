#!/bin/sh
# What attn-train leaves behind, and that it depends on nothing but files,
# configuration and seed.
. "$(dirname "$0")/lib.sh"

toy
quietly attn-vocab train.src
cp out vocab
quietly attn-train toy.yaml --model.path plain

# as_plain DESCRIPTION COMMAND...: trains m, the same model as plain.
as_plain() {
    label=$1
    rm -rf m
    works "$@"
    same m/checkpoint.npz plain/checkpoint.npz "$label: the same checkpoint"
}

# --- what there is then ----------------------------------------------------

is 'best.npz checkpoint.npz log.tsv' "$(cd plain && echo *)" 'three files'
is 0 "$(wc -c <out | tr -d ' ')" 'nothing on stdout'
says '^\[....-..-.. ..:..:..\] \[valid\] Ep\. 2 : Up\. 10 : perplexity : [0-9.]+ : bleu : [0-9.]+ : new best' \
    'a line for a validation, of Marian'\''s shape'
says ' [0-9]+ pairs, [0-9]+ words loaded in [0-9.]+ s: [0-9.]+ MiB, [0-9.]+ bytes a word; peak of memory so far: [0-9]+ MiB$' \
    'a line for the loading, which scripts/measure-loading reads'
is 'event update epoch sentences tokens cost gradient_norm learning_rate perplexity bleu seconds' \
    "$(head -n 1 plain/log.tsv | tr '\t' ' ')" 'log.tsv has its header'
is '10 20' "$(awk -F '\t' '$1 == "valid" { printf "%s%s", s, $2; s = " " }' plain/log.tsv)" \
    'and its validations'

works 'quiet' attn-train -q toy.yaml
is 0 "$(wc -c <err | tr -d ' ')" 'quiet is silent'
same m/checkpoint.npz plain/checkpoint.npz 'quiet: the same checkpoint'

rm -rf m
quietly attn-train toy.yaml --validation.log_every 5
says '^\[.*\] Ep\. 1 : Up\. 5 : Sen\. 40 : Cost [0-9.]+ : Time [0-9.]+s : [0-9.]+ words/s : gNorm [0-9.]+ : L\.r\. 2\.0000e-02$' \
    'a line for updates, of Marian'\''s shape'

if [ -n "$PYTHON" ]; then
    cat >look.py <<'END'
import sys, zipfile, numpy
names = zipfile.ZipFile(sys.argv[1]).namelist()
assert len(names) == len(set(names))
assert zipfile.ZipFile(sys.argv[1]).testzip() is None
assert {i.compress_type for i in zipfile.ZipFile(sys.argv[1]).infolist()} <= {0, 8}
with numpy.load(sys.argv[1]) as z:
    arrays = [n for n in names if n.endswith('.npy')]
    for name in arrays:
        a = z[name[:-4]]
        assert a.dtype == numpy.float32 and numpy.isfinite(a).all(), name
    texts = sorted(set(names) - set(arrays))
    print(' '.join(texts))
    print(' '.join(sorted({n.split('/')[1] for n in names if '/' in n})))
END
    works 'NumPy reads best.npz' "$PYTHON" look.py plain/best.npz
    is 'config.yaml progress.yaml source.vocab target.vocab' "$(head -n 1 out)" 'four texts in it'
    is '' "$(sed -n 2p out)" 'and nothing of the training'
    works 'NumPy reads checkpoint.npz' "$PYTHON" look.py plain/checkpoint.npz
    is 'adam.m adam.v' "$(sed -n 2p out)" 'with the moments'
    member plain/best.npz source.vocab >stored.vocab
    same vocab stored.vocab 'it holds the vocabulary that attn-vocab makes'
    works 'unzip is not needed, but Python'\''s zipfile does' \
        "$PYTHON" -m zipfile -t plain/best.npz
    member plain/best.npz config.yaml >stored.yaml
    works 'the stored configuration is one' \
        attn-train stored.yaml --dump-config
    works 'and trains the same model' \
        attn-train stored.yaml --model.path again
    same again/best.npz plain/best.npz 'the same model'
else
    skip 'NumPy reads model files' 'no python3 with numpy'
fi

# --- the configuration -----------------------------------------------------

works 'dump' attn-train toy.yaml --dump-config --training.dropout 0.25
sed 's/  #.*//' out >dumped.yaml
ok 'it says where a value is from' grep -q 'dropout: 0.25  # --training.dropout' out
ok 'and the line' grep -q 'hidden: 8  # toy.yaml:7:19$' out
works 'dump of the dump' attn-train dumped.yaml --dump-config
sed 's/  #.*//' out >twice.yaml
same dumped.yaml twice.yaml 'a dump of the dump is the dump'
works 'example' attn-train --example-config
cp out example.yaml
works 'the example is a configuration' attn-train example.yaml --dump-config
works 'help' attn-train --help
ok 'it has the keys' grep -q -e '--training.learning_rate' out
works 'version' attn-train --version
ok 'it says which' grep -q '^attn-train [0-9]' out

as_plain 'keys as options' attn-train toy.yaml --encoder.hidden=8 --training.seed 1
sed 's/^/  /; 1i\
# a comment' toy.yaml | sed 's/$/\r/' >crlf.yaml
as_plain 'a configuration with CRLF, indented' attn-train crlf.yaml
for rate in 2e-2 2.0e-2 .02 0.020; do
    sed "s/learning_rate: 0.02/learning_rate: $rate/" toy.yaml >rate.yaml
    as_plain "step size $rate" attn-train rate.yaml
done

# --- nothing else matters --------------------------------------------------

as_plain 'another locale and dirty memory' \
    env LC_ALL=C.UTF-8 LANG=de_DE.UTF-8 MALLOC_PERTURB_=85 OMP_NUM_THREADS=8 \
    attn-train toy.yaml
rm -rf m
works 'saving after each update' attn-train toy.yaml --validation.save_every 1 \
    --validation.log_every 1000
[ -z "$PYTHON" ] || same_but_config m/best.npz plain/best.npz \
    'saving after each update: the same model'
is 'best.npz checkpoint.npz log.tsv' "$(cd m && echo *)" 'still three files'
is '. ..' "$(cd m && echo .*)" 'and no temporary one'

# Threads, with everything that is random and summed.
for options in \
    '--training.dropout 0.3 --training.word_dropout 0.1 --training.average 0.9 --encoder.layers 2' \
    '--training.optimizer sgd --training.momentum 0.5 --training.batch_unit tokens --training.batch_size 60 --decoder.style luong --attention.score general' \
    '--encoder.cell lstm --decoder.cell rnn --model.tied_embeddings target --training.label_smoothing 0.1 --attention.kind static --validation.beam_size 3'; do
    for threads in 1 2 4; do
        rm -rf "threads$threads"
        # shellcheck disable=SC2086
        works "threads $threads: $options" attn-train toy.yaml --training.shards 4 \
            $options --training.threads "$threads" --model.path "threads$threads"
        same "threads$threads/checkpoint.npz" threads1/checkpoint.npz \
            "$threads threads: the same checkpoint"
        same "threads$threads/best.npz" threads1/best.npz \
            "$threads threads: the same best"
    done
done
differ threads1/best.npz plain/best.npz 'other settings give another model'
rm -rf m
quietly attn-train toy.yaml --training.seed 2
differ m/best.npz plain/best.npz 'another seed gives another model'

# --- the text --------------------------------------------------------------

mkdir clean
cp train.* clean
as_text() { # DESCRIPTION: train.src and train.tgt have been changed
    as_plain "$1" attn-train toy.yaml
    cp clean/* .
}

for f in train.src train.tgt; do sed 's/$/\r/' clean/$f >$f; done
as_text 'CRLF'
sed 's/$/\r/' clean/train.src >train.src
as_text 'CRLF on one side'
{ printf '\357\273\277' && cat clean/train.src; } >train.src
as_text 'a byte-order mark'
sed 's/ /	  /g; s/^/ 	/; s/$/  /' clean/train.tgt >train.tgt
as_text 'tabs, doubled, leading and trailing blanks'
for f in train.src train.tgt; do
    printf %s "$(cat clean/$f)" >$f
done
as_text 'a last line without its end'
gzip -c clean/train.src >train.src
as_text 'gzip that is not called so'
for f in train.src train.tgt; do
    head -n 17 clean/$f | gzip >$f
    tail -n +18 clean/$f | gzip >>$f
done
as_text 'gzip of two members'
for f in train.src train.tgt; do sed '5i\

9i\
\ 	 \
' clean/$f >$f; done
as_text 'lines blank on both sides'
ok 'they are counted, once' test "$(grep -c '3 empty pairs skipped' err)" -eq 1
sed '3i\
w1 w2' clean/train.src >train.src
sed '3i\
' clean/train.tgt >train.tgt
rm -rf m
works 'a pair with one blank side' attn-train toy.yaml --data.source_vocab vocab
says '1 pair with one side empty skipped' 'it is counted'
cp clean/* .
awk 'BEGIN { for (i = 0; i < 101; i++) printf "w1 "; print "" }' >>train.src
echo w1 >>train.tgt
rm -rf m
works 'a pair that is too long' attn-train toy.yaml
says '1 pair longer than 100 tokens skipped' 'it is counted'
cp clean/* .

mkfifo pipe
cat clean/train.src >pipe &
fails_with 2 'pipe' 'a text that would have to be read twice from a pipe' \
    attn-train toy.yaml --data.source pipe --model.path piped
kill $! 2>/dev/null
cat clean/train.src >pipe &
works 'a pipe that needs to be read but once' attn-train toy.yaml \
    --data.source pipe --data.source_vocab vocab --model.path piped
[ -z "$PYTHON" ] || same_but_config piped/best.npz plain/best.npz \
    'text from a pipe: the same model'
rm pipe

# Controls, separators and odd characters are words like others.
for f in train.src train.tgt; do
    { cat clean/$f && printf '%s\n' '<unk> w1 </s> w2 <s>' '<pad> ||| a|||b UNK' &&
        printf 'w1\342\200\250w2 \342\200\251 \302\205w\013 \014 a\rb\n'; } >$f
done
rm -rf m
works 'control words in the text' attn-train toy.yaml --data.min_frequency 1
if [ -n "$PYTHON" ]; then
    member m/best.npz source.vocab >vocab2
    is 1 "$(grep -cx '</s>' vocab2)" 'they are not in the vocabulary again'
    ok 'U+2028 is within its word' grep -q "$(printf 'w1\342\200\250w2')" vocab2
fi
cp clean/* .

# --- small -----------------------------------------------------------------

for pairs in 1 3 4; do
    head -n "$pairs" clean/train.src >train.src
    cp train.src train.tgt
    rm -rf m
    works "$pairs pairs, batches of 64" attn-train toy.yaml --training.batch_size 64 \
        --training.updates 5 --validation.every 5000 --validation.save_every 5000
    ok 'there is a model in the end' test -s m/best.npz
    ok 'and a checkpoint' test -s m/checkpoint.npz
done
cp clean/* .

rm -rf m
works 'without validation' attn-train toy.yaml --data.valid_source '' --data.valid_target ''
same m/checkpoint.npz m/checkpoint.npz 'there is a checkpoint'
ok 'and a model' attn-translate -q -m m/best.npz -i valid.src
rm -rf m
works 'a vocabulary of one word' attn-train toy.yaml --data.source_vocab_size 4 \
    --data.target_vocab_size 4
says 'words are not in the vocabulary' 'it warns of unknown words'
ok 'it translates' attn-translate -q -m m/best.npz -i valid.src

# --- where to --------------------------------------------------------------

works 'a folder below folders that are not there' \
    attn-train toy.yaml --model.path new/folder/of/m
same new/folder/of/m/best.npz plain/best.npz 'the same model'
works 'an absolute path' attn-train toy.yaml --model.path "$HERE/absolute"
same absolute/best.npz plain/best.npz 'the same model'

# --- numbers that are none -------------------------------------------------

rm -rf m
cp -r plain m
fails_with 1 'update [0-9]+: the (loss|norm of the gradient) is (not a number|infinite)' \
    'weights that explode' \
    attn-train toy.yaml --model.path exploding --training.updates 400 \
    --training.optimizer sgd --training.learning_rate 100 --training.clip_norm 0 \
    --encoder.cell rnn --training.init_scale 10 --decoder.readout linear

finish
