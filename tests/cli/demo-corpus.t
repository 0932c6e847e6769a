#!/bin/sh
# The demonstration corpus: always the same bytes, sides of equal length, and
# nothing of the tests in the training text.
. "$(dirname "$0")/lib.sh"

works 'it is made' "$ROOT/scripts/make-demo-corpus" a
works 'and again' "$ROOT/scripts/make-demo-corpus" b
ok 'twice the same' diff -r a b
is '218287848 1055558' "$(cat a/*.?? | cksum)" 'the bytes it always had'

for part in train valid test; do
    is "$(wc -l <a/$part.en)" "$(wc -l <a/$part.de)" "$part: equal sides"
done
ok 'enough to train on' test "$(wc -l <a/train.en)" -ge 5000
is '' "$(sort a/*.en | uniq -d)" 'no source twice'
is '' "$(grep -nE '^$|^ |  | $' a/*.??)" 'no empty line, single blanks only'
for side in en de; do
    tr ' ' '\n' <a/train.$side | sort -u >known
    tr ' ' '\n' <a/test.$side | sort -u >used
    is '' "$(comm -13 known used)" "$side: all words of the test are known"
done

finish
