#!/bin/sh
# attn-vocab: which words, in which order.
. "$(dirname "$0")/lib.sh"

# makes WANTED DESCRIPTION OPTION...: from the file in; words between blanks,
# without the first three.
makes() {
    wanted=$1
    what=$2
    shift 2
    run_on in attn-vocab "$@"
    is "0 <unk> <s> </s>${wanted:+ $wanted}" "$status $(tr '\n' ' ' <out | sed 's/ $//')" "$what"
}

printf 'b a c\na c\n c d e B\n' >in
makes 'c a B b d e' 'by count, ties by bytes'
makes 'c a B' 'the most frequent' --max-size 6
makes '' 'none' --max-size 3
says 'no words' 'it warns of that'
makes 'c a B b d e' '0: no limit' --max-size 0 --min-frequency 0
makes 'c a' 'those seen twice' --min-frequency 2
makes 'c' 'those seen three times' --min-frequency 3
makes 'c' 'both limits' --min-frequency 2 --max-size 4
makes 'c a B b d e' 'from stdin by name' -
printf 'z z z z\n' >further
makes 'z c a B b d e' 'of two files' in further
makes 'z c a B b d e' 'of stdin and a file' - further
gzip -c in >in.gz
makes 'z c a B b d e' 'of a compressed file' in.gz further

sed 's/$/\r/; s/ /\t  /g' in >odd
{ printf '\357\273\277' && cat odd && printf '\n\n \n'; } >in
makes 'c a B b d e' 'CRLF, tabs, blank lines, a byte-order mark'
printf 'a <unk> </s> <s>\na' >in
makes 'a' 'control words are not taken in'
printf 'a\342\200\250b \302\240 a\rb \013\n' >in
makes "$(printf '\013 a\rb a\342\200\250b \302\240')" 'nothing else separates words'
: >in
makes '' 'of nothing'

words 300 1 9 300 >in
run_on in attn-vocab
cp out first
run_on in env LC_ALL=C.UTF-8 MALLOC_PERTURB_=85 attn-vocab
same out first 'the same in another surrounding'
tac in >ni
run_on ni attn-vocab
same out first 'the order of the lines does not matter'
works 'into a file' attn-vocab -o v in
same v first 'into a file: the same'
is 0 "$(wc -c <out | tr -d ' ')" 'and nothing on stdout'
works 'over the file' attn-vocab --output v further
is 4 "$(wc -l <v | tr -d ' ')" 'it is another one then'
is '' "$(find . -name '.?*')" 'no temporary file is left'

# Large ones.
awk 'BEGIN { for (i = 0; i < 50000; i++) print "word" i }' >large
works '50,000 words' attn-vocab -o large.vocab large
is 50003 "$(wc -l <large.vocab | tr -d ' ')" 'all of them'
cat >toy.yaml <<'END'
data: {source: text, target: text, source_vocab: large.vocab, target_vocab: large.vocab}
model: {path: m, embedding: 2}
encoder: {hidden: 2}
decoder: {hidden: 2}
training: {updates: 1}
END
printf 'word0 word49999\nword25000\n' >text
works 'a model with them' attn-train toy.yaml
silent_on 'not in the vocabulary' 'all words are found'
works 'it translates' attn-translate -q -m m/best.npz -i text
is 2 "$(wc -l <out | tr -d ' ')" 'two lines'

fails_with 2 'nowhere.*No such file' 'no such file' attn-vocab nowhere
fails_with 2 'folder' 'a folder' attn-vocab .
printf 'a\nb \351\n' >latin
fails_with 2 'latin:2: ' 'Latin-1: file and line' attn-vocab latin
fails_with 2 'latin:2: ' 'an old file is left alone' attn-vocab -o v latin
is 4 "$(wc -l <v | tr -d ' ')" 'it is'
head -c 30 in.gz >cut.gz
fails_with 2 'cut.gz' 'gzip that is cut short' attn-vocab cut.gz
if [ -w /dev/full ]; then
    attn-vocab large >/dev/full 2>err
    is 1 $? 'a full device: status 1'
    fails_with 1 '/dev/full' 'by name: status 1' attn-vocab -o /dev/full large
fi

finish
