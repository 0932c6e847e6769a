#!/bin/sh
# Saving that fails: status 1, a reason, the old files as they were, nothing
# half written; and the run goes on when there is room again.
. "$(dirname "$0")/lib.sh"

toy
quietly attn-train toy.yaml --model.path whole
quietly attn-train toy.yaml --training.updates 10
cp -r m ten

# as_they_were FOLDER DESCRIPTION: checkpoint.npz and best.npz.
as_they_were() {
    same "$1/checkpoint.npz" ten/checkpoint.npz "$2: the checkpoint is as it was"
    ok "$2: no temporary file is left" test "$(find "$1" -name '.*' -type f | wc -l)" -eq 0
}

# goes_on DESCRIPTION: in m, to the same bytes.
goes_on() {
    works "$1: it goes on afterwards" attn-train toy.yaml
    same m/checkpoint.npz whole/checkpoint.npz "$1: to the same checkpoint"
    same m/best.npz whole/best.npz "$1: and the same best"
    rm -rf m
    cp -r ten m
}

# --- a limit on the size of files ------------------------------------------

# shellcheck disable=SC3045 # dash and bash have -f
blocks=$(($(wc -c <ten/checkpoint.npz) / 512 / 2))
fails_with 1 'checkpoint.npz.*File too large' 'files may not be so large' \
    sh -c "ulimit -f $blocks; exec attn-train toy.yaml"
as_they_were m 'a limit'
goes_on 'a limit'

# attn-vocab and the alignment file do the same.
words 3000 1 9 3000 >many
quietly attn-vocab -o v many
cp v old
fails_with 1 'v: .*File too large' 'attn-vocab: files may not be so large' \
    sh -c 'ulimit -f 8; exec attn-vocab -o v many'
same v old 'the vocabulary is as it was'
echo old >a
fails_with 1 'a: .*File too large' 'attn-translate: files may not be so large' \
    sh -c 'ulimit -f 8; exec attn-translate -q -m ten/best.npz -i many --alignment a >/dev/null'
is old "$(cat a)" 'the alignments are as they were'

# --- a full disk -----------------------------------------------------------

if ! unshare -rm true 2>/dev/null; then
    skip 'a full disk' 'no mount namespaces here'
    finish
fi

# A disk of 512 KiB in m, where FREE KiB are left when the run goes on.
cat >inside <<'END'
mount -t tmpfs -o size=512k tmpfs m || exit 77
cp ten/* m
dd if=/dev/zero of=m/filler bs=1k count=512 2>/dev/null
truncate -s "-${1}k" m/filler
attn-train toy.yaml >out 2>err
echo $? >code
cp -r m after
rm m/filler
attn-train toy.yaml -q && cp -r m later
END
for free in 0 4 8 16 32; do
    rm -rf after later
    unshare -rm sh inside $free 2>inside.err
    if [ $? -eq 77 ]; then
        skip "a full disk, $free KiB left" 'tmpfs cannot be mounted here'
        continue
    fi
    is 1 "$(cat code)" "a full disk, $free KiB left: status 1"
    says 'No space left on device' 'the reason'
    as_they_were after "$free KiB left"
    same later/checkpoint.npz whole/checkpoint.npz 'it goes on to the same bytes'
    same later/best.npz whole/best.npz 'and the same best'
done

finish
