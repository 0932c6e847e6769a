#!/bin/sh
# Wrong usage, configurations and texts: status 2 and a message that says where
# and what, before anything has been done.
. "$(dirname "$0")/lib.sh"

toy
quietly attn-train toy.yaml --training.updates 3
quietly attn-vocab -o vocab train.src
model=m/best.npz

# --- the command line ------------------------------------------------------

# attn-train trains, if it is not refused, into a folder of its own.
refuses() { # PATTERN DESCRIPTION COMMAND...
    fails_with 2 "$@"
}

for program in attn-train attn-translate attn-score attn-vocab attn-eval; do
    works "$program --help" $program --help
    ok "$program --help: on stdout" grep -q "^usage: $program " out
    works "$program --version" $program --version
    refuses "unrecognized option.*'--nonsense'" "$program: an unknown option" \
        $program --nonsense
    says "$program --help" "$program: where to read on"
    refuses 'invalid option' "$program: an unknown letter" $program -Z
    refuses 'help' "$program: a value for an option that has none" $program --help=yes
done
refuses '-m MODEL' 'attn-translate: no model' attn-translate
refuses "'copy'.*--input" 'attn-translate: a name too much' attn-translate -m $model copy
refuses 'no configuration' 'attn-train: no configuration' attn-train
refuses "'toy.yaml'" 'attn-train: two configurations' attn-train toy.yaml toy.yaml
refuses 'which metric' 'attn-eval: no metric' attn-eval
refuses "'blue'.*bleu" 'attn-eval: a metric that there is not' attn-eval blue valid.tgt
refuses 'REFERENCE' 'attn-eval: no reference' attn-eval bleu

# Each option that wants a value, without one.
for option in -m -i -b -n --model --input --beam-size --normalize --n-best --mini-batch \
    --max-length --max-length-factor --allow-unk --alignment --alignment-format \
    --alignment-eos --threads; do
    refuses 'requires an argument' "attn-translate $option: no value" \
        attn-translate -m $model $option
done
for option in -m --model --mini-batch --max-length --threads; do
    refuses 'requires an argument' "attn-score $option: no value" attn-score $option
done
for option in -o --output --max-size --min-frequency; do
    refuses 'requires an argument' "attn-vocab $option: no value" attn-vocab $option
done

# Numbers that are none, or out of range.
for option in --beam-size --n-best --mini-batch --max-length; do
    for value in 0 -1 x 1.5 '' ' 5' 5x 0x10 99999999999999999999; do
        refuses "$option: '" "attn-translate $option '$value'" \
            attn-translate -m $model $option "$value"
    done
done
refuses '--beam-size: ' 'attn-translate: a beam beyond the limit' attn-translate -m $model -b 10000
for value in -1 x 257 100000; do
    refuses '--threads: ' "attn-translate --threads $value" \
        attn-translate -m $model --threads $value
done
for value in -1 x nan inf 11 ''; do
    refuses '--normalize: ' "attn-translate --normalize '$value'" \
        attn-translate -m $model --normalize "$value"
done
refuses '--allow-unk: ' 'attn-translate --allow-unk maybe' attn-translate -m $model --allow-unk maybe
refuses "'pharao'" 'attn-translate: an unknown format' \
    attn-translate -m $model --alignment a --alignment-format pharao
for value in -1 1 2 x ''; do
    refuses '--max-size: ' "attn-vocab --max-size '$value'" attn-vocab --max-size "$value" train.src
done
long=$(awk 'BEGIN { for (i = 0; i < 100000; i++) printf "x" }')
refuses '--beam-size: ' 'attn-translate: a very long value' attn-translate -m $model -b "$long"
refuses 'unrecognized' 'attn-translate: a very long option' attn-translate "--$long"
refuses 'File name too long|No such file' 'attn-translate: a very long name' attn-translate -m "$long"
refuses 'File name too long|No such file' 'attn-train: a very long name' attn-train "$long"
refuses 'key' 'attn-train: a very long key' attn-train toy.yaml "--training.$long" 1
refuses 'model.path|long' 'attn-train: a very long path' attn-train toy.yaml --model.path "$long"

# Keys as options.
refuses "training.droput.*did you mean 'training.dropout'" 'a key with a typo' \
    attn-train toy.yaml --training.droput 0.1
refuses "^attn-train: --training.dropout: .*out of range" 'a key out of range' \
    attn-train toy.yaml --training.dropout 2
refuses '--training.dropout' 'a key without its value' attn-train toy.yaml --training.dropout
refuses '--training.epochs: ' 'a number that is none' attn-train toy.yaml --training.epochs many
refuses '--training.epochs: ' 'an empty number' attn-train toy.yaml --training.epochs=
refuses 'unknown' 'a section that there is not' attn-train toy.yaml --trainings.epochs 1
refuses "--encoder.cell: 'gur' .*did you mean 'gru'" 'a cell with a typo' \
    attn-train toy.yaml --model.path new --encoder.cell gur
refuses "--encoder.layer_norm: .*one unit.*'rnn'.*'hidden' to 2" 'nothing to normalise' \
    attn-train toy.yaml --model.path new --encoder.layer_norm true --encoder.cell rnn \
    --encoder.hidden 1
for key in model.type model.bridge model.tied_embeddings encoder.cell \
    encoder.self_attention decoder.cell \
    decoder.style decoder.readout attention.score attention.kind training.batch_unit \
    training.optimizer training.schedule training.normalization validation.metric; do
    refuses "--$key: 'nonsense' is not one of" "$key: a name that there is not" \
        attn-train toy.yaml --model.path new --$key nonsense
done
ok 'none of these has left a folder with a model' test ! -e new/checkpoint.npz

# --- configurations --------------------------------------------------------

config() { # PATTERN DESCRIPTION CONFIGURATION (as printf writes it)
    # shellcheck disable=SC2059
    printf -- "$3" >bad.yaml
    fails_with 2 "^attn-train: bad.yaml$1" "$2" attn-train bad.yaml --dump-config
}
config ":2:3: unknown key 'learning_rat'.*'training.learning_rate'" 'a key with a typo' \
    'training:\n  learning_rat: 0.1\n'
config ":1:1: unknown section 'trianing'.*'training'" 'a section with a typo' 'trianing:\n  seed: 1\n'
config ":2:3: unknown key 'hidden'.*encoder|:2:3: unknown key 'hidden'" 'a key of another section' \
    'training:\n  hidden: 1\n'
config ':3:3: .*duplicate' 'a key twice' 'training:\n  seed: 1\n  seed: 2\n'
config ':3:3: .*duplicate' 'a key twice, once quoted' 'training:\n  seed: 1\n  "seed": 2\n'
config ':3:1: .*duplicate' 'a section twice' 'training:\n  seed: 1\ntraining:\n  epochs: 2\n'
config ':2:9: training.seed: ' 'a word for a number' 'training:\n  seed: one\n'
config ':2:9: training.seed: ' 'a fraction' 'training:\n  seed: 1.5\n'
config ':2:9: training.seed: ' 'out of range' 'training:\n  seed: -1\n'
config ':2:9: training.seed: ' 'a number too large' 'training:\n  seed: 99999999999999999999\n'
config ':2:8: training.seed: ' 'no value' 'training:\n  seed:\n  epochs: 1\n'
config ':2:18: training.learning_rate: ' 'not quite a number' 'training:\n  learning_rate: 1e-3x\n'
config ':2:18: training.learning_rate: ' 'a quoted number' 'training:\n  learning_rate: "0.001"\n'
config ':2:18: training.learning_rate: ' 'a decimal comma' 'training:\n  learning_rate: 0,001\n'
config ':2:18: training.learning_rate: ' 'not a number' 'training:\n  learning_rate: .nan\n'
config ':2:18: encoder.bidirectional: ' 'a flag that is none' 'encoder:\n  bidirectional: maybe\n'
config ':2:9: ' 'a list for a value' 'training:\n  seed: [1, 2]\n'
config ':2:9: ' 'a mapping for a value' 'training:\n  seed: {a: 1}\n'
config ':1:1: ' 'a list' '- training\n'
config ':1:1: ' 'a word' 'training\n'
config ':1:11: ' 'a word for a section' 'training: yes\n'
config ':2:9: .*anchor' 'an anchor' 'training:\n  seed: &a 1\n'
config ':3:11: .*alias' 'an alias' 'training:\n  seed: 1\n  epochs: *a\n'
config ':2:9: .*tag' 'a tag' 'training:\n  seed: !!int 1\n'
config ':2:1: ' 'a tabulator' 'training:\n\tseed: 1\n'
config ':[23]:' 'a bracket that is not closed' 'training: {seed: 1\n\n'
config ':[23]:1: .*document' 'two documents' 'training: {seed: 1}\n---\ntraining: {seed: 2}\n'
config ':.*(control|NUL|not allowed)' 'a NUL byte' 'training: {seed: 1}\000\n'
config ':.*UTF-8' 'Latin-1' 'data: {source: \351}\n'
: >empty.yaml
works 'an empty configuration' attn-train empty.yaml --dump-config
fails_with 2 'data.source' 'but it names no text' attn-train empty.yaml --model.path new
fails_with 2 'nowhere.yaml.*No such file' 'no such file' attn-train nowhere.yaml
fails_with 2 "'m'.*(folder|directory)" 'a folder' attn-train m
awk 'BEGIN { for (i = 0; i < 200000; i++) print "# comment" }' >large.yaml
fails_with 2 'large.yaml.*1048576|large.yaml' 'a configuration beyond the limit' attn-train large.yaml

# What does not go together.
train() { # PATTERN DESCRIPTION OPTION...
    pattern=$1
    what=$2
    shift 2
    fails_with 2 "$pattern" "$what" attn-train toy.yaml --model.path new "$@"
}
train 'attention.score: .*16.*general' 'dot of different widths' \
    --attention.score dot --encoder.hidden 8 --decoder.hidden 8

# attends PATTERN DESCRIPTION YAML: keys of attention, with their line and column.
attends() {
    { cat toy.yaml && echo "attention: {$3}"; } >attention.yaml
    fails_with 2 "attention.yaml:11:$1" "attention: $2" \
        attn-train attention.yaml --model.path new
}
attends "20: attention.score: .*'addtive'.*additive" 'a score that there is not' 'score: addtive'
attends "19: attention.kind: .*'globl'.*global" 'a kind that there is not' 'kind: globl'
attends '20: attention.score: .*8 units.*16.*general' 'dot of different widths' 'score: dot'
attends "20: attention.heads: 3 heads.*8.*2 can" 'heads that do not divide' 'heads: 3'
attends '20: attention.heads: .*1' 'no heads' 'heads: 0'
attends '32: attention.heads: .*hard.*another kind' 'hard with heads' 'kind: hard, heads: 2'
attends '21: attention.window: .*1' 'no window' 'window: 0'
attends '21: attention.window: .*1' 'a window below 0' 'window: -1'
train 'attention.length_limit \(default\): .*101' 'location without a length' --attention.score location
attends "55: attention.memory: .*shared" 'location of halves' \
    'score: location, length_limit: 9, memory: key_value'
attends "21: attention.memory: .*'halves'.*key_value" 'a memory that there is not' 'memory: halves'
train 'attention.memory: .*even' 'halves of an odd width' --attention.memory key_value \
    --encoder.hidden 7 --encoder.bidirectional false
attends "40: attention.local_mode: .*'soft'.*paper" 'a reading that there is not' \
    'kind: local_p, local_mode: soft'
attends "41: attention.normalized: 'general'.*additive" 'normalised dot' 'score: general, normalized: true'
attends "39: attention.coverage: 'general'.*additive" 'coverage of general' \
    'score: general, coverage: true'
attends "37: attention.coverage: 'static'.*another kind" 'coverage of one look' \
    'kind: static, coverage: true'
for kind in local_m local_p monotonic; do
    train "attention.kind: '$kind'.*order.*'structured'.*'global'" "hops in no order: $kind" \
        --encoder.self_attention structured --attention.kind $kind
done
train "attention.score: 'location'.*order.*'structured'.*'additive'" 'hops in no order: location' \
    --encoder.self_attention structured --attention.score location --attention.length_limit 101
for kind in previous own structured; do
    train "encoder.self_attention: .*'$kind'.*'none'.*'mean'" "$kind that nothing reads" \
        --encoder.self_attention $kind --attention.kind none
done
train 'encoder.hops: .*1' 'no hops' --encoder.self_attention structured --encoder.hops 0
train 'encoder.self_size: ' 'a size below 0' --encoder.self_attention own --encoder.self_size -1
for value in -0.1 nan inf; do
    train 'encoder.penalty: ' "a penalty of $value" --encoder.self_attention structured \
        --encoder.penalty $value
done
train 'model.bridge: .*copy' 'copy of different widths' --model.bridge copy
train 'model.bridge: .*copy' 'copy of different depths' --model.bridge copy \
    --decoder.hidden 16 --encoder.layers 2
train 'model.tied_embeddings: .*readout_size' 'tied embeddings of different widths' \
    --model.tied_embeddings target --decoder.readout_size 5
words 5 1 3 3 >other
train 'model.tied_embeddings: .*vocabular' 'tied embeddings of different vocabularies' \
    --model.tied_embeddings all --data.source_vocab_size 5
train 'data.valid_target.*two sides|data.valid_target' 'validation with one side' \
    --data.valid_target ''
train 'data.valid_source' 'validation with the other side' --data.valid_source ''
train 'data.target' 'no target' --data.target ''

# --- texts -----------------------------------------------------------------

head -n 39 train.tgt >fewer
train "'train.src' has 40 lines.*'fewer' has 39" 'fewer lines on one side' --data.target fewer
train "'fewer' has 39 lines.*'train.tgt' has 40" 'and on the other' --data.source fewer
head -n 9 valid.tgt >fewer
train "'valid.src' has 10 lines.*'fewer' has 9" 'in the validation text' --data.valid_target fewer
: >empty
train 'no (usable )?(pairs|words)|empty' 'empty texts' --data.source empty --data.target empty
printf '\n \n\t\n' >blank
train 'no usable pairs|no words' 'blank texts' --data.source blank --data.target blank
train 'no usable pairs' 'blank texts, words in a vocabulary' --data.source blank --data.target blank \
    --data.source_vocab vocab --data.target_vocab vocab
train 'no usable pairs' 'all pairs too long' --data.max_length 1 --data.source large.yaml \
    --data.target large.yaml
train 'nowhere.*No such file' 'no such text' --data.source nowhere
train 'nowhere.*No such file' 'no such target' --data.target nowhere
train 'nowhere.*No such file' 'no such validation text' --data.valid_source nowhere
train '(m|source).*folder' 'a folder' --data.source m
train 'm.*folder' 'a folder for a validation text' --data.valid_target m

# spoiled DESCRIPTION LINE: as line 3 of each text in turn.
spoiled() {
    for key in source target valid_source valid_target; do
        case $key in
        source | target) head -n 2 train.src >spoiled ;;
        *) head -n 2 valid.src >spoiled ;;
        esac
        # shellcheck disable=SC2059
        printf "$2\n" >>spoiled
        tail -n +4 train.src >>spoiled
        train 'spoiled:3: .*byte' "$key: $1" --data.$key spoiled
    done
}
spoiled 'Latin-1' 'w1 \351 w2'
spoiled 'a NUL byte' 'w1 \000'
spoiled 'an overlong sequence' '\300\200'
spoiled 'a surrogate' '\355\240\200'
spoiled 'above U+10FFFF' '\365\200\200\200'
spoiled 'a sequence that is cut' 'w1 \342\202'
printf '\377\376w\0001\000\n\000' >utf16
train 'utf16:1: .*UTF-8' 'UTF-16' --data.source utf16
gzip -c train.src >whole.gz
head -c 60 whole.gz >cut.gz
train 'cut.gz.*(cut|end|incomplete|short)' 'gzip that is cut short' --data.source cut.gz
{ cat whole.gz && echo rubbish; } >behind.gz
train 'behind.gz' 'gzip with rubbish behind it' --data.source behind.gz

# --- vocabularies ----------------------------------------------------------

vocabulary() { # PATTERN DESCRIPTION CONTENT
    # shellcheck disable=SC2059
    printf "$3" >bad.vocab
    train "bad.vocab$1" "vocabulary: $2" --data.source_vocab bad.vocab
}
train 'nowhere.*No such file' 'vocabulary: no such file' --data.target_vocab nowhere
vocabulary ': 0 lines' 'empty' ''
vocabulary ':3: .*</s>' 'without </s>' '<unk>\n<s>\nw1\n'
vocabulary ':1: .*<unk>' 'without <unk>' '<s>\n</s>\nw1\n'
vocabulary ':6: .*w1' 'a word twice' '<unk>\n<s>\n</s>\nw1\nw2\nw1\n'
vocabulary ':5: .*(blank|empty)' 'a blank line' '<unk>\n<s>\n</s>\nw1\n\nw2\n'
vocabulary ':4: .*(blank|column|word)' 'counts' '<unk>\n<s>\n</s>\nw1 17\nw2 4\n'
vocabulary ':4: .*UTF-8' 'Latin-1' '<unk>\n<s>\n</s>\n\351\n'
vocabulary ':4: .*NUL' 'a NUL byte' '<unk>\n<s>\n</s>\nw\0001\n'
train 'm.*folder' 'vocabulary: a folder' --data.source_vocab m
train 'model.path|m/best.npz' 'vocabulary: a model' --data.source_vocab $model

# --- folders ---------------------------------------------------------------

echo keep >file
fails_with 2 'model.path: .*file' 'a folder below a file' attn-train toy.yaml --model.path file/below
fails_with 2 'file' 'a file for a folder' attn-train toy.yaml --model.path file
is keep "$(cat file)" 'the file is left alone'
fails_with 2 'nowhere' 'attn-vocab: a folder that there is not' attn-vocab -o nowhere/v train.src
fails_with 2 'm' 'attn-vocab: a folder' attn-vocab -o m train.src
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    mkdir locked open
    chmod 755 . locked
    chmod 777 open
    as_nobody() {
        program=$(command -v "$1")
        shift
        fails_with 2 "$pattern" "$what" setpriv --reuid=65534 --regid=65534 --clear-groups \
            "$program" "$@"
    }
    pattern='locked.*Permission denied' what='a folder that may not be written'
    as_nobody attn-train toy.yaml --model.path locked
    what='a folder that may not be made'
    as_nobody attn-train toy.yaml --model.path locked/new
    what='attn-vocab: a folder that may not be written'
    as_nobody attn-vocab -o locked/v train.src
    what='attn-translate: an alignment in such a folder'
    as_nobody attn-translate -m $model --alignment locked/a
    chmod 600 train.tgt
    pattern='train.tgt.*Permission denied' what='a text that may not be read'
    as_nobody attn-train toy.yaml --model.path open/new
    chmod 644 train.tgt
else
    skip 'folders that may not be written' 'not root, or no setpriv'
fi

ok 'nothing of all this has left a model' test ! -e new/checkpoint.npz
works 'a run with these texts is possible' attn-train toy.yaml --model.path new

finish
