#!/bin/sh
# Killed at any moment, in the middle of saves, too: what is there always loads,
# is never older than the last save but one, and the run ends in the same bytes.
# ROUNDS kills of each kind (default 100).
. "$(dirname "$0")/../cli/lib.sh"
ROUNDS=${ROUNDS:-100}

words 400 3 12 20 >train.src
words 30 4 12 20 >valid.src
cat >long.yaml <<'END'
data:
  source: train.src
  target: train.src
  valid_source: valid.src
  valid_target: valid.src
model: {path: m, embedding: 64}
encoder: {hidden: 64}
decoder: {hidden: 64}
training: {batch_size: 10, epochs: 20, dropout: 0.2, average: 0.99, learning_rate: 0.003}
validation: {every: 50, save_every: 1, log_every: 1, bleu: false}
END
quietly attn-train long.yaml --model.path whole

# whole_files: what is in m loads.
whole_files() {
    for file in m/checkpoint.npz m/best.npz; do
        [ ! -e "$file" ] || attn-translate -q -m "$file" -i valid.src >translated 2>translated.err ||
            return 1
    done
}

# --- at random -------------------------------------------------------------

updates() { # done, as the checkpoint says
    member m/checkpoint.npz progress.yaml | sed -n 's/^update: //p'
}

broken=0
older=0
finished=0
last=0
round=0
seed=12345
while [ "$round" -lt "$ROUNDS" ] && [ "$finished" -eq 0 ]; do
    seed=$((seed * 16807 % 2147483647))
    attn-train long.yaml >out 2>err &
    program=$!
    sleep "0.$(printf %03d $((100 + seed % 400)))"
    kill -9 $program 2>/dev/null
    wait $program 2>/dev/null && finished=1
    whole_files || broken=$((broken + 1))
    if [ -n "$PYTHON" ] && [ -e m/checkpoint.npz ]; then
        now=$(updates)
        [ "$now" -ge "$last" ] || older=$((older + 1))
        last=$now
    fi
    round=$((round + 1))
done
is 0 "$broken" "$round times killed: the files load"
is 0 "$older" 'no checkpoint is older than the one before'
works 'it goes on to the end' attn-train long.yaml
same m/checkpoint.npz whole/checkpoint.npz 'to the same checkpoint'
same m/best.npz whole/best.npz 'and the same best'
is '' "$(find m -name '.*.tmp*')" 'no temporary file is left'

# --- at each call of the system that changes files -------------------------

if ! strace -f -o /dev/null true 2>/dev/null; then
    skip 'killed at each call' 'no strace'
    finish
fi
sed -i 's/epochs: 20/epochs: 2/; s/every: 50/every: 20/; s/save_every: 1,/save_every: 5,/' long.yaml
rm -rf whole
quietly attn-train long.yaml --model.path whole
for call in write fsync rename openat close unlink; do
    n=1
    broken=
    wrong=
    while [ "$n" -le "$ROUNDS" ]; do
        rm -rf m
        strace -f -o /dev/null -e trace=$call -e inject=$call:signal=SIGKILL:when=$n \
            attn-train long.yaml >out 2>err </dev/null
        status=$?
        [ $status -eq 0 ] && break
        whole_files || broken="$broken $n"
        attn-train -q long.yaml >out 2>err
        cmp -s m/checkpoint.npz whole/checkpoint.npz && cmp -s m/best.npz whole/best.npz ||
            wrong="$wrong $n"
        case $n in # every call at first, then ever fewer
        ?) n=$((n + 1)) ;;
        ??) n=$((n + 7)) ;;
        *) n=$((n + 61)) ;;
        esac
    done
    is '' "$broken" "killed at $call number …: the files load"
    is '' "$wrong" "killed at $call number …: it goes on to the same bytes"
done

finish
