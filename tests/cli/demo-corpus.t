#!/bin/sh
# The demonstration corpus: always the same bytes, sides of equal length, and
# nothing of the tests in the training text.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
number=0

# ok NAME COMMAND…
ok() {
    number=$((number + 1))
    name=$1
    shift
    if "$@"; then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name"
    fi
}
lines() {
    wc -l <"$folder/a/$1" | tr -d ' '
}
digest() {
    cat "$folder/$1"/*.?? | cksum
}

scripts/make-demo-corpus "$folder/a"
scripts/make-demo-corpus "$folder/b"
ok "twice the same" test "$(digest a)" = "$(digest b)"
ok "the bytes it always had" test "$(digest a)" = "218287848 1055558"
for part in train valid test; do
    ok "$part: equal sides" test "$(lines $part.en)" = "$(lines $part.de)"
done
ok "enough to train on" test "$(lines train.en)" -ge 5000
ok "no source twice" test -z "$(sort "$folder"/a/*.en | uniq -d)"
ok "no empty line" test -z "$(grep -n '^$' "$folder"/a/*.??)"
ok "single blanks only" test -z "$(grep -nE '(^ |  | $)' "$folder"/a/*.??)"
for side in en de; do
    tr ' ' '\n' <"$folder/a/train.$side" | sort -u >"$folder/known"
    tr ' ' '\n' <"$folder/a/test.$side" | sort -u >"$folder/used"
    ok "$side: all words of the test are known" test -z \
        "$(comm -13 "$folder/known" "$folder/used")"
done
echo "1..$number"
