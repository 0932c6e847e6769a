#!/bin/sh
# Calls of the system that fail: never a file that is half written, never a
# success that is none. Needs strace.
. "$(dirname "$0")/../cli/lib.sh"

if ! strace -f -o /dev/null true 2>/dev/null; then
    echo '1..0 # SKIP no strace'
    exit 0
fi

toy
quietly attn-train toy.yaml --model.path whole
quietly attn-train toy.yaml --training.updates 10
cp -r m ten

# A run goes on from update 10 to 20, and its call number N of a kind, or number
# N and all that follow, fails; for rising N, until it passes untouched. What the
# dynamic loader calls before the program begins is left out.

# untouched: m is that of a run in which nothing has failed.
untouched() {
    cmp -s m/checkpoint.npz whole/checkpoint.npz && cmp -s m/best.npz whole/best.npz
}

# survived: after $status, m is whole, and the run can still be ended.
survived() {
    if [ "$status" -eq 0 ]; then
        untouched
        return
    fi
    # The reason is on stderr, unless that is what has failed.
    grep -q 'write(2, .*INJECTED' trace || [ -s err ] || return 1
    [ "$status" -le 2 ] && sound &&
        attn-translate -q -m m/checkpoint.npz -i valid.src >translated 2>&1 &&
        attn-translate -q -m m/best.npz -i valid.src >translated 2>&1 &&
        attn-train -q toy.yaml >again 2>&1 && untouched
}

strace -f -o calls -e trace=write,fsync,rename,openat,close,read attn-train toy.yaml \
    --model.path other >out 2>err

for fault in fsync:EIO fsync:ENOSPC rename:EDQUOT rename:EACCES write:ENOSPC write:EIO \
    write:EINTR openat:EMFILE openat:EACCES close:EIO read:EIO read:EINTR; do
    call=${fault%:*}
    errno=${fault#*:}
    first=$(awk -v call="$call" '/toy.yaml/ { exit } index($0, call "(") { n++ }
        END { print n + 1 }' calls)
    for onward in '' +; do
        [ "$errno$onward" != EINTR+ ] || continue # it does not last for ever
        n=$first
        tried=0
        wrong=
        while [ "$n" -lt 4000 ]; do
            rm -rf m
            cp -r ten m
            timeout -k 5 "$PATIENCE" strace -f -o trace -e "trace=$call" \
                -e "inject=$call:error=$errno:when=$n$onward" \
                attn-train toy.yaml >out 2>err </dev/null
            status=$?
            grep -q INJECTED trace || break
            survived || wrong="$wrong $n:$status"
            tried=$((tried + 1))
            if [ $tried -lt 40 ]; then
                n=$((n + 1))
            else # libzip writes in many small pieces
                n=$((n + 23))
            fi
        done
        is '' "$wrong" "$call fails with $errno, at one of $tried calls${onward:+ and ever after}"
    done
done

finish
