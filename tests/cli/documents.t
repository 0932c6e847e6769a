#!/bin/sh
# The documents say what the programs do, and the check would notice otherwise.
scripts/check-documents "$ATTN_BIN" >&2 && echo "ok 1 - documents agree" ||
    echo "not ok 1 - documents agree"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -R scripts man src config.example.yaml CHANGELOG.md "$folder"
rejects() { # NUMBER NAME FILE SED-SCRIPT
    sed -i.saved "$4" "$folder/$3"
    if "$folder/scripts/check-documents" "$ATTN_BIN" >/dev/null 2>&1; then
        echo "not ok $1 - $2"
    else
        echo "ok $1 - $2"
    fi
    mv "$folder/$3.saved" "$folder/$3"
}
rejects 2 "another default in the example" config.example.yaml 's/hidden: [0-9]*/hidden: 1/'
rejects 3 "another meaning in the page of keys" man/attn-config.5 's/recurrent/current/'
rejects 4 "an option missing from a page" man/attn-translate.1 '/-mini-batch/d'
rejects 5 "an option that the program has not" man/attn-train.1 's/-restart/-again/'
rejects 6 "another version" CHANGELOG.md 's/^## [0-9]/## 9/'
echo 1..6
