#!/bin/sh
# A run that is stopped, killed or prolonged ends in the same bytes as one that
# was never stopped.
. "$(dirname "$0")/lib.sh"

# same_run FOLDER WANTED DESCRIPTION: all that a run leaves, but for the times in
# the log.
same_run() {
    same "$1/checkpoint.npz" "$2/checkpoint.npz" "$3: checkpoint.npz"
    same "$1/best.npz" "$2/best.npz" "$3: best.npz"
    cut -f 1-10 "$1/log.tsv" >got.log
    cut -f 1-10 "$2/log.tsv" >wanted.log
    same got.log wanted.log "$3: log.tsv"
}

# --- prolonged -------------------------------------------------------------
# 20 updates, 5 an epoch, a validation after 4, 8, … and a line in the log after
# 3, 6, …: stops in the middle of everything, and between everything.

toy
sed -i 's/every: 10/every: 4, log_every: 3/' toy.yaml

adam='--training.dropout 0.3 --training.word_dropout 0.1 --training.average 0.9
      --training.label_smoothing 0.1 --training.warmup 7'
sgd='--training.optimizer sgd --training.momentum 0.9 --training.learning_rate 0.5
     --training.dropout 0.3 --training.batch_unit tokens --training.batch_size 40
     --training.patience 0 --training.shards 3 --validation.every 0
     --encoder.cell lstm --decoder.style luong --attention.score general'

# Nothing is ever learnt: the step size falls after every other validation, and the
# run ends early, at update 15.
plateau='--training.learning_rate 0 --validation.every 3 --training.patience 1
         --training.early_stopping 4'

for name in adam sgd plateau; do
    case $name in
    adam) options=$adam stops='1 3 4 5 10 19' ;;
    sgd) options=$sgd stops='2 7 12' ;;
    plateau) options=$plateau stops='7 10 14' ;;
    esac
    # shellcheck disable=SC2086 # a list of options
    quietly attn-train toy.yaml --model.path "$name" $options
    for stop in $stops; do
        # shellcheck disable=SC2086
        quietly attn-train toy.yaml --model.path m --training.updates "$stop" \
            --training.threads 1 $options
        # shellcheck disable=SC2086
        works "$name, from update $stop on" \
            attn-train toy.yaml --model.path m $options
        says "goes on from update $stop " "$name: it says that it goes on"
        same "m/checkpoint.npz" "$name/checkpoint.npz" \
            "$name, from update $stop on: checkpoint.npz"
        cut -f 1-10 m/log.tsv >got.log
        cut -f 1-10 "$name/log.tsv" >wanted.log
        same got.log wanted.log "$name, from update $stop on: log.tsv"
        rm -rf m
    done
done

is 15 "$(awk -F '\t' 'END { print $2 }' plateau/log.tsv)" 'a run that ends early'

# One update at a time, with 1, 2, 3, 1, … threads; best.npz, too, is in the end
# that of the last validation (the model gets better all the time).
update=1
# shellcheck disable=SC2086
while [ "$update" -le 20 ]; do
    quietly attn-train toy.yaml --model.path m --training.updates "$update" \
        --training.threads $((1 + update % 3)) $adam
    update=$((update + 1))
done
same_run m adam 'an update at a time'

# --- it is over ------------------------------------------------------------

cp -r adam before
# shellcheck disable=SC2086
works 'a finished run, run again' attn-train toy.yaml --model.path adam $adam
says 'already ended' 'it says that it has ended'
same_run adam before 'a finished run, run again'
# shellcheck disable=SC2086
works 'fewer updates than there have been' \
    attn-train toy.yaml --model.path adam --training.updates 10 $adam
same adam/checkpoint.npz before/checkpoint.npz 'they change nothing'

# --- another run -----------------------------------------------------------

refuses() { # PATTERN DESCRIPTION COMMAND...
    fails_with 2 "$@"
    same adam/checkpoint.npz before/checkpoint.npz 'the checkpoint is left alone'
    same adam/best.npz before/best.npz 'and so is the best'
}

# shellcheck disable=SC2086
{
    refuses '^attn-train: --training.dropout: .*adam/checkpoint.npz' \
        'another dropout' \
        attn-train toy.yaml --model.path adam $adam --training.dropout 0.2
    refuses '^attn-train: --training.seed: ' 'another seed' \
        attn-train toy.yaml --model.path adam $adam --training.seed 2
    sed 's/hidden: 8/hidden: 9/' toy.yaml >other.yaml
    refuses '^attn-train: other.yaml:7:19: encoder.hidden: .*--restart' \
        'another width: file, line, column' \
        attn-train other.yaml --model.path adam $adam
    cp train.src keep
    sed -i '3s/.*/w1 w1 w1/' train.src
    refuses 'data.source: .*text' 'another text' \
        attn-train toy.yaml --model.path adam $adam
    mv keep train.src
    works 'keys that change no result may change' \
        attn-train toy.yaml --model.path adam $adam --validation.log_every 7 \
        --validation.save_every 5 --translation.beam_size 2 --training.threads 3

    cp before/* adam
    head -c 2000 before/checkpoint.npz >adam/checkpoint.npz
    cp adam/checkpoint.npz cut
    fails_with 2 'adam/checkpoint.npz' 'a damaged checkpoint' \
        attn-train toy.yaml --model.path adam $adam
    same adam/checkpoint.npz cut 'it is not written over'
    works 'another run with --restart' \
        attn-train --restart toy.yaml --model.path adam $adam --training.seed 2
    differ adam/best.npz before/best.npz 'it is another model'
    quietly attn-train --restart toy.yaml --model.path adam $adam
    same_run adam before 'and back with --restart'
}

# --- stopped and killed ----------------------------------------------------

rm -rf m
words 400 3 12 20 >train.src
cp train.src train.tgt
cat >long.yaml <<'END'
data:
  source: train.src
  target: train.tgt
  valid_source: valid.src
  valid_target: valid.tgt
model: {path: m, embedding: 24}
encoder: {hidden: 32, layers: 2}
decoder: {hidden: 32}
training: {batch_size: 10, epochs: 8, dropout: 0.2, average: 0.99}
validation: {every: 50, log_every: 1, bleu: false}
END
quietly attn-train long.yaml --model.path whole

# start OPTION...: in the background, in $program.
start() {
    : >err
    attn-train long.yaml "$@" >out 2>err &
    program=$!
}

# reach UPDATE: waits until training has begun and the log has come so far; false
# when the program ends before.
reach() {
    while ! grep -q ' parameters, ' err ||
        ! grep -q "^train	$1	" m/log.tsv 2>/dev/null; do
        kill -0 "$program" 2>/dev/null || return 1
        sleep 0.01
    done
}

# stop SIGNAL UPDATE [OPTION...]
stop() {
    signal=$1
    update=$2
    shift 2
    start "$@"
    reach "$update"
    kill -s "$signal" "$program" 2>/dev/null
    wait "$program" 2>/dev/null
    status=$?
}

n=1
for update in 1 30 49 50 51 100 170 260; do
    if [ $((n % 2)) -eq 0 ]; then
        stop TERM "$update" --training.threads $((1 + n % 3))
        is 143 "$status" "SIGTERM after update $update: the status is the signal's"
    else
        stop INT "$update" --training.threads $((1 + n % 3))
        is 130 "$status" "SIGINT after update $update: the status is the signal's"
    fi
    says 'stopped after update [0-9]+, saved' 'it says where it has stopped'
    n=$((n + 1))
done
works 'after all stops' attn-train long.yaml
same_run m whole 'after all stops'

# A kill loses what is behind the last save, and what was half written.
rm -rf m
for update in 20 90 133 240; do
    stop KILL "$update" --validation.save_every 3
    is 137 "$status" "SIGKILL after update $update"
    : >"m/.checkpoint.npz.tmp-$program-0"
done
works 'after all kills' attn-train long.yaml
says 'goes on from update (2[3-9][0-9]|3[0-9][0-9]) ' \
    'it goes on from one of the last saves'
same_run m whole 'after all kills'
is '' "$(find m -name '.*.tmp*')" 'no temporary file is left'

# Before the first update, and twice.
rm -rf m
start
sleep 0.05
kill -INT "$program"
wait "$program" 2>/dev/null
status=$?
works 'after a very early stop' attn-train long.yaml
same_run m whole 'after a very early stop'

rm -rf m
start --validation.save_every 1
reach 40
kill -INT "$program"
kill -INT "$program" 2>/dev/null
wait "$program" 2>/dev/null
is 130 $? 'two signals: the status is the signal'\''s'
works 'after two signals' attn-train long.yaml
same_run m whole 'after two signals'

finish
