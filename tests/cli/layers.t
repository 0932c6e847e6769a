#!/bin/sh
# The layer check accepts the sources as they are, and finds each kind of breach.
. "$(dirname "$0")/lib.sh"

ok 'the sources as they are' "$ROOT/scripts/check-layers"
cp -R "$ROOT/scripts" .

file() { # NAME LINE...
    name=src/$1
    shift
    mkdir -p "$(dirname "$name")"
    printf '%s\n' "$@" >"$name"
}
good_tree() {
    rm -rf src
    file base/text.h '#ifndef ATTN_BASE_TEXT_H' '#endif'
    file search/beam.h '#ifndef ATTN_SEARCH_BEAM_H' '#endif'
    file search/beam.c '#include "search/beam.h"' '#include <stdio.h>' '#include "base/text.h"'
}
rejects() { # DESCRIPTION PATTERN: after a file was added to the good tree
    run scripts/check-layers
    cat out >>err
    is 1 "$status" "$1"
    says "$2" "$1: which"
    good_tree
}

good_tree
works 'a good tree' scripts/check-layers

file model/seq2seq.c '#include "search/beam.h"'
rejects 'an include that points up' 'model/seq2seq.c:1: model may not include search'

file config/config.c '#include "corpus/vocab.h"'
rejects 'a neighbour of the same height' 'config may not include corpus'

file base/text.c '#include <stdio.h>' '#include "base/text.h"'
rejects 'its own header not first' 'text.c:1: its own header'

file nn/linear.h '#ifndef LINEAR_H' '#endif'
rejects 'a wrong guard' 'should be ATTN_NN_LINEAR_H'

file graph/text.h '#ifndef ATTN_GRAPH_TEXT_H' '#endif'
rejects 'a name that is there already' 'another file has this name'

file graph/matmul.c '#include <dnnl.h>'
rejects 'a library outside its files' 'dnnl.h> belongs to'

file graph/matmul.c '#include "text.h"'
rejects 'an include without its path' 'by its path from src/'

file train/loop.c 'void stop(void) { exit(1); }'
rejects 'exit below the programs' 'only programs'

file extra/extra.c ''
rejects 'a folder that is no layer' 'is not a layer'

file graph/graph.c '#include "base/map_internal.h"'
rejects "another layer's internals" 'is for base alone'

finish
