#!/bin/sh
# The layer check accepts the sources as they are, and finds each kind of breach.
scripts/check-layers >&2 && echo "ok 1 - the sources" || echo "not ok 1 - the sources"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -R scripts "$folder"
number=1

# rejects NAME PATTERN, after the tree was made below src/.
rejects() {
    number=$((number + 1))
    if "$folder/scripts/check-layers" | grep -q "$2"; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
    fi
}
# file NAME LINES…
file() {
    mkdir -p "$folder/src/$(dirname "$1")"
    name=$1
    shift
    printf '%s\n' "$@" >"$folder/src/$name"
}
new_tree() {
    rm -rf "$folder/src"
    file base/text.h '#ifndef ATTN_BASE_TEXT_H' '#endif'
    file search/beam.h '#ifndef ATTN_SEARCH_BEAM_H' '#endif'
}

new_tree
file search/beam.c '#include "search/beam.h"' '#include "base/text.h"' '#include <stdio.h>'
number=$((number + 1))
"$folder/scripts/check-layers" >&2 && echo "ok $number - a good tree" ||
    echo "not ok $number - a good tree"

file model/seq2seq.c '#include "search/beam.h"'
rejects "an include that points up" 'model/seq2seq.c:1: model may not include search'

new_tree
file config/config.c '#include "corpus/vocab.h"'
rejects "a neighbour of the same height" 'config may not include corpus'

new_tree
file base/text.c '#include <stdio.h>' '#include "base/text.h"'
rejects "its own header not first" 'text.c:1: its own header'

new_tree
file nn/linear.h '#ifndef LINEAR_H' '#endif'
rejects "a wrong guard" 'should be ATTN_NN_LINEAR_H'

new_tree
file graph/text.h '#ifndef ATTN_GRAPH_TEXT_H' '#endif'
rejects "a name that is there already" 'another file has this name'

new_tree
file graph/matmul.c '#include <dnnl.h>'
rejects "oneDNN outside its file" 'dnnl.h> belongs to'

new_tree
file graph/matmul.c '#include "text.h"'
rejects "an include without its path" 'by its path from src/'

new_tree
file train/loop.c 'void stop(void) { exit(1); }'
rejects "exit below the programs" 'only programs'

new_tree
file extra/extra.c ''
rejects "a folder that is no layer" 'is not a layer'

new_tree
file base/map_internal.h '#ifndef ATTN_BASE_MAP_INTERNAL_H' '#endif'
file graph/graph.c '#include "base/map_internal.h"'
rejects "another layer's internals" 'is for base alone'

echo "1..$number"
