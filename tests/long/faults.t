#!/bin/sh
# Calls of the system that fail: never a file that is half written, never a
# success that is none. Needs strace.
. "$(dirname "$0")/../cli/lib.sh"

command -v strace >/dev/null && strace -f -o /dev/null true 2>/dev/null || {
    echo '1..0 # SKIP no strace'
    exit 0
}

toy
quietly attn-train toy.yaml --model.path whole
quietly attn-train toy.yaml --training.updates 10
cp -r m ten

# --- saving ----------------------------------------------------------------
# The call number N, and then number N and all that follow, fails; until the run
# passes untouched.

check() { # DESCRIPTION: what m must be, after $status
    if [ "$status" -eq 0 ]; then
        cmp -s m/checkpoint.npz whole/checkpoint.npz && cmp -s m/best.npz whole/best.npz
    else
        [ "$status" -le 2 ] && [ -s err ] && sound &&
            attn-translate -q -m m/checkpoint.npz -i valid.src >translated 2>&1 &&
            attn-translate -q -m m/best.npz -i valid.src >translated 2>&1 &&
            attn-train -q toy.yaml >translated 2>&1 &&
            cmp -s m/checkpoint.npz whole/checkpoint.npz &&
            cmp -s m/best.npz whole/best.npz
    fi
}

for fault in write:ENOSPC write:EIO write:EINTR fsync:EIO fsync:ENOSPC rename:EDQUOT rename:EACCES \
    openat:EMFILE openat:EACCES close:EIO read:EIO read:EINTR; do
    call=${fault%:*}
    errno=${fault#*:}
    for onward in '' +; do
        [ "$errno$onward" != EINTR+ ] || continue # for ever is not its kind
        wrong=
        n=1
        while [ "$n" -le 400 ]; do
            rm -rf m
            cp -r ten m
            timeout -k 5 "$PATIENCE" strace -f -o trace -P m -P m/checkpoint.npz -P m/best.npz \
                -e trace=$call -e inject=$call:error=$errno:when=$n$onward \
                attn-train toy.yaml >out 2>err </dev/null
            status=$?
            grep -q INJECTED trace || break
            check || wrong="$wrong $n"
            n=$((n + 1))
        done
        is '' "$wrong" "$call fails with $errno, at each of $((n - 1)) calls${onward:+ and all behind it}"
    done
done

finish
