#!/bin/sh
# The documents say what the programs do, and the check would notice otherwise.
. "$(dirname "$0")/lib.sh"

ok 'documents and programs agree' "$ROOT/scripts/check-documents" "$ATTN_BIN"

(cd "$ROOT" && tar cf - scripts man src/base config.example.yaml CHANGELOG.md) | tar xf -

rejects() { # DESCRIPTION FILE SED-SCRIPT
    sed "$3" "$2" >changed
    mv "$2" saved && mv changed "$2"
    run scripts/check-documents "$ATTN_BIN"
    is 1 "$status" "$1"
    mv saved "$2"
}
rejects 'another default in the example' config.example.yaml 's/hidden: [0-9]*/hidden: 1/'
rejects 'another meaning in the page of keys' man/attn-config.5 's/recurrent/current/'
rejects 'an option missing from a page' man/attn-translate.1 '/-mini-batch/d'
rejects 'an option that the program has not' man/attn-train.1 's/-restart/-again/'
rejects 'another version' CHANGELOG.md 's/^## [0-9]/## 9/'
mv man/attn-vocab.1 saved
run scripts/check-documents "$ATTN_BIN"
is 1 "$status" 'a program without a page'

finish
