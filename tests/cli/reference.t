#!/bin/sh
# What a model gives a translation, where it looks at each step, and the links that
# come of it, computed once more with NumPy from the equations, for every kind of
# model there is; numbers to 1e-5 of themselves, weights to 1e-5.
. "$(dirname "$0")/lib.sh"

[ -n "$PYTHON" ] || {
    echo '1..0 # SKIP no python3 with numpy'
    exit 0
}

# Texts of different vocabularies, with words that one side does not know; blank
# lines and long ones.
words 24 5 5 9 >train.src
words 24 6 7 5 >train.tgt
{ words 5 7 9 11 && printf '\nw1 w2\n\n<s> w1 </s> <unk>\n' && words 1 8 1 && words 1 9 40; } >score.src
{ words 5 8 7 7 && printf 'w1\n\n\nw1 <s> w2 </s>\n' && words 1 9 50 && words 1 3 1; } >score.tgt

cat >small.yaml <<'END'
data: {source: train.src, target: train.tgt}
model: {embedding: 5}
encoder: {hidden: 3}
decoder: {hidden: 6}
attention: {window: 2, length_limit: 30}
training:
  batch_size: 8
  updates: 3
  learning_rate: 0.1
  init_scale: 0.6
  threads: 1
END

number=0
# compare OPTION...: trains a model for three updates, scores the pairs with it.
compare() {
    number=$((number + 1))
    run attn-train small.yaml --model.path "m$number" "$@"
    if [ "$status" -ne 0 ]; then
        tell >why
        failed "training: $*"
        return
    fi
    run attn-score -q -m "m$number/best.npz" score.src score.tgt --alignment "weights$number"
    cp out "scores$number"
    run attn-score -q -m "m$number/best.npz" score.src score.tgt --alignment "links$number" \
        --alignment-format pharaoh
    printf '%s\t%s\t%s\t%s\t%s\n' "$*" "m$number/best.npz" "scores$number" "weights$number" \
        "links$number" >>list
}

# Every cell with every style and kind; scores and bridges in turn.
scores='additive dot scaled_dot general location'
kinds='none global static local_m local_p forward hard monotonic'
set_of() { # N WORD...: the Nth word, from 0, round and round
    n=$1
    shift
    shift $((n % $#))
    echo "$1"
}
turn=0
for cell in gru lstm rnn; do
    for style in bahdanau luong conditional; do
        for kind in $kinds; do
            for step in 1 2; do
                turn=$((turn + step))
                # shellcheck disable=SC2086 # lists of words
                compare --encoder.cell $cell --decoder.cell $cell \
                    --decoder.style "$style" --attention.kind "$kind" \
                    --model.bridge "$(set_of $turn dense mean copy zero)" \
                    --attention.score "$(set_of $turn $scores)" \
                    --attention.local_mode "$(set_of $turn paper renormalized prior)"
            done
        done
    done
done

# The forms of the additive score, with every kind that compares at each step.
for kind in $kinds; do
    case $kind in
    none) ;;
    static) compare --attention.kind static --attention.normalized true ;;
    hard) compare --attention.kind hard --attention.normalized true --attention.coverage true ;;
    *)
        compare --attention.kind "$kind" --attention.normalized true
        compare --attention.kind "$kind" --attention.coverage true --attention.heads 2
        ;;
    esac
done

# Every score with every kind, with heads and with halves.
for score in $scores; do
    for kind in $kinds; do
        set -- --attention.score "$score" --attention.kind "$kind"
        compare "$@"
        [ "$kind" = hard ] || compare "$@" --attention.heads 2
        case $score in
        additive | general) compare "$@" --attention.memory key_value ;;
        esac
        case $score:$kind in
        location:* | *:hard) ;;
        *) compare "$@" --attention.memory key_value --attention.heads 3 ;;
        esac
    done
done

# Layer normalisation: every cell with every style.
norm='--encoder.layer_norm true --decoder.layer_norm true'
for cell in gru lstm rnn; do
    for style in bahdanau luong conditional; do
        # shellcheck disable=SC2086 # lists of options
        compare --encoder.cell $cell --decoder.cell $cell --decoder.style "$style" \
            $norm --encoder.hidden 8 --decoder.hidden 16
    done
done

# Self-attention of the encoder, with every kind and score that goes with it.
for kind in $kinds; do
    for score in additive general location; do
        set -- --attention.kind "$kind" --attention.score "$score" --encoder.hidden 4 \
            --model.bridge mean
        compare "$@" --encoder.self_attention previous --encoder.self_size 5
        compare "$@" --encoder.self_attention own
        case $kind:$score in
        local_*:* | monotonic:* | *:location) continue ;;
        esac
        compare "$@" --encoder.self_attention structured --encoder.hops 3
    done
done
compare --encoder.self_attention structured --encoder.hops 1 --encoder.penalty 0
compare --encoder.self_attention structured --attention.heads 2 --attention.memory key_value \
    --encoder.hidden 4 --attention.kind forward --encoder.cell lstm --encoder.layers 2
compare --encoder.self_attention previous --attention.heads 2 --decoder.style conditional

# Widths, layers, directions, and all that goes with them.
stacked='--encoder.layers 2 --decoder.layers 2'
residual="$stacked --encoder.residual true --decoder.residual true"
while read -r options; do
    # shellcheck disable=SC2086 # a list of options
    compare $options
done <<END
--encoder.cell lstm --decoder.cell gru
--encoder.cell rnn --decoder.cell lstm --model.bridge mean
--encoder.bidirectional false --encoder.hidden 7
--encoder.bidirectional false --encoder.hidden 6 --model.bridge copy --attention.score dot --decoder.style luong
--encoder.bidirectional false --encoder.cell lstm --model.bridge zero --attention.kind static
$stacked
$stacked --model.bridge copy --encoder.cell lstm --decoder.cell lstm
$stacked --decoder.style luong --attention.score general
$stacked --decoder.layers 3 --decoder.cell lstm --attention.kind static
$residual
$residual --model.embedding 6 --decoder.style luong
$residual --model.embedding 6 --encoder.cell lstm --decoder.cell lstm --encoder.layers 3
$residual --encoder.bidirectional false --encoder.hidden 5 --attention.kind none
$norm $stacked --decoder.style conditional --encoder.cell lstm --attention.heads 2
$norm $residual --model.embedding 6 --decoder.style luong --decoder.cell lstm --model.bridge mean
$norm --attention.kind none --decoder.style conditional --model.bridge zero
$norm --encoder.bidirectional false --encoder.hidden 1 --decoder.hidden 2
$norm --decoder.style luong --decoder.input_feeding false --decoder.cell rnn --training.dropout 0.5
--encoder.layer_norm true --encoder.cell rnn --model.tied_embeddings target
--decoder.layer_norm true --encoder.cell lstm --decoder.cell lstm --training.average 0.9
--decoder.style luong --decoder.input_feeding false
--decoder.style luong --decoder.input_feeding false --attention.kind none --decoder.cell lstm
--decoder.style luong --decoder.readout_size 4
--decoder.style luong --decoder.readout linear --decoder.input_feeding false --decoder.readout_size 9
--decoder.readout linear --decoder.readout_size 11
--decoder.readout maxout
--decoder.readout maxout --decoder.style luong
--decoder.readout maxout --decoder.style conditional --decoder.layers 2 --decoder.residual true
--decoder.style conditional --decoder.layers 2 --decoder.cell lstm
--attention.size 1
--attention.size 17 --decoder.style luong
--model.tied_embeddings target
--model.tied_embeddings target --decoder.style luong --decoder.readout_size 5 --decoder.cell lstm
--model.tied_embeddings target --model.embedding 6 --decoder.style luong --decoder.readout linear
--model.tied_embeddings all --data.target train.src
--model.tied_embeddings all --data.target train.src --model.embedding 6 --decoder.style luong
--model.output adaptive
--model.output adaptive --model.embedding 12 --model.output_head 4 --model.output_clusters 3
--model.output adaptive --decoder.style luong --decoder.layers 2 --model.output_clusters 1
--model.output adaptive --training.label_smoothing 0.2 --model.output_head 1
--model.embedding 1 --encoder.hidden 1 --decoder.hidden 1
--model.embedding 64 --encoder.hidden 50 --decoder.hidden 70
--data.source_vocab_size 5 --data.target_vocab_size 4
--training.average 0.9 --training.dropout 0.5 --training.label_smoothing 0.3
--training.optimizer sgd --training.momentum 0.9
END

"$PYTHON" "$TESTS/reference.py" score.src score.tgt <list >compared 2>err
is "$(wc -l <list)" "$(wc -l <compared)" 'every model is compared'
[ -s err ] && sed 's/^/# /' err
while read -r off weight links options; do
    if awk "BEGIN { exit !($off < 1e-5 && $weight < 1e-5 && $links == 0) }"; then
        passed "$options"
    else
        echo "number $off, weight $weight, wrong links $links" >why
        failed "$options"
    fi
done <compared

# The numbers must not be the same for all.
ok 'models differ' test "$(cat scores* | sort -u | wc -l)" -gt $((number * 5))

finish
