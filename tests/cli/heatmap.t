#!/bin/sh
# Alignments as pictures (svg) and pages (html): whole and well-formed whatever
# the sentences, as another reader of XML sees them.
. "$(dirname "$0")/lib.sh"

if [ -z "$PYTHON" ]; then
    skip 'pictures and pages' 'no Python here'
    finish
fi

copy_model
model=copy/best.npz

# heatmap.py FORMAT FILE SENTENCES MAPS
cat >heatmap.py <<'END_OF_PYTHON'
import re, sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
HTML = "{http://www.w3.org/1999/xhtml}"

def number(text, pattern):
    return [int(n) for n in re.match(pattern, text).groups()]

def check_map(rows, width, height):
    """Every cell tells its words and its weight, in a row's order."""
    assert rows
    for i, row in enumerate(rows):
        assert number(row.get("transform"), r"translate\(0 (\d+)\)$") == [24 * i]
        target, last = row.find(SVG + "text").text, -24
        for cell in row.iter(SVG + "path"):
            x, = number(cell.get("d"), r"M(\d+) 0h24v24h-24$")
            assert x >= last + 24 and x % 24 == 0 and x < width
            last = x
            assert re.fullmatch("#[0-9a-f]{6}", cell.get("fill"))
            assert cell.get("fill") != "#ffffff"
            title = cell.find(SVG + "title").text
            words, weight = title.rsplit(": ", 1)
            assert words.split(" ← ")[0] == target, (title, target)
            assert 0 < float(weight) <= 1.0001, title

def check_picture(svg):
    x, y, width, height = map(int, svg.get("viewBox").split())
    assert (x, y) == (0, 0)
    assert (int(svg.get("width")), int(svg.get("height"))) == (width, height)
    ground = svg.find(SVG + "rect")
    assert ground.get("fill") == "#fff" and ground.get("width") == "100%"
    maps = [g for g in svg if g.get("shape-rendering")]
    for m in maps:
        left, top = number(m.get("transform"), r"translate\((\d+) (\d+)\)$")
        rows = [g for g in m.iter(SVG + "g") if g.get("class") == "row"]
        assert top + 24 * len(rows) < height and left < width
        check_map(rows, width, height)
    return len(maps)

def check_section(section):
    source, target = (
        [span for span in p] for p in section.findall(HTML + "p"))
    for span in target:
        weights = span.get("data-weights").split()
        assert len(weights) == len(source)
        assert sum(map(int, weights)) <= 100 + len(source)
    pictures = list(section.iter(SVG + "svg"))
    assert len(pictures) == (1 if source and target else 0)
    return sum(map(check_picture, pictures))

kind, path, sentences, maps = sys.argv[1:]
root = tree.parse(path).getroot()
if kind == "svg":
    assert root.tag == SVG + "svg"
    headings = [t for t in root.findall(SVG + "text")]
    found = check_picture(root)
else:
    assert root.tag == HTML + "html"
    headings = list(root.iter(HTML + "h2"))
    found = sum(map(check_section, root.iter(HTML + "section")))
    for node in root.iter():
        assert not {"src", "href"} & set(node.attrib), "not self-contained"
assert len(headings) == int(sentences), len(headings)
assert found == int(maps), found
print("\n".join(h.text for h in headings))
END_OF_PYTHON

# drawn DESCRIPTION SENTENCES MAPS [OPTION...]: of the lines in the file in
drawn() {
    label=$1
    sentences=$2
    maps=$3
    shift 3
    for format in svg html; do
        works_on in "$format: $label" attn-translate -q -m $model \
            --alignment "a.$format" --alignment-format $format "$@"
        works "$format: $label: well-formed" \
            "$PYTHON" heatmap.py $format "a.$format" "$sentences" "$maps"
    done
}

: >in
drawn 'no sentence' 0 0
echo 'w1 w2 w3' >in
drawn 'a sentence' 1 1
drawn 'without </s>' 1 1 --alignment-eos no
ok 'svg: and without it' test "$(grep -c '/s&gt;' a.svg)" -eq 0
echo >in
drawn 'an empty line' 1 0
printf 'w1 w2 w3\n\n  \nw4 w5\nw6\n' >in
drawn 'some sentences, some of them empty' 5 3
is 'sentence 0 sentence 1 (empty) sentence 2 (empty) sentence 3 sentence 4' \
    "$(tr '\n' ' ' <out | sed 's/ $//')" 'each has its number'
drawn 'n-best' 8 6 --n-best 2 -b 3
is 'sentence 0, hypothesis 0' "$(head -n 1 out)" 'n-best: the hypotheses are numbered'
is 'sentence 4, hypothesis 1' "$(tail -n 1 out)" 'n-best: to the last'
words 300 5 9 9 >in
drawn 'many sentences' 300 300

# What is in the words stays there.
printf '%s\n' '<script>alert(1)</script> &amp; "a" ]]> <!-- w1 -->' >in
drawn 'marks of XML' 1 1
ok 'html: they are no marks there' test "$(grep -c '<script>alert' a.html)" -eq 0
printf 'w1 \001\002\033[2J \303\351 \000 \357\277\276 w2 \177\n' >in
drawn 'control characters, NUL, Latin-1, U+FFFE' 1 1
printf 'e\314\201 \347\214\253\347\214\253 \327\251\327\234\327\225\327\235 \342\200\256w \360\237\230\200\n' >in
drawn 'accents, wide characters, from right to left' 1 1
tr -d '\n' <copy.valid | tr -d ' ' >in
drawn 'a very long word' 1 1
ok 'svg: it is cut' grep -q '…</text>' a.svg
words 1 9 1 >in
awk 'BEGIN { for (i = 0; i < 120; i++) printf "w%d ", i % 6 + 1; print "" }' >in
drawn 'a long sentence' 1 1 --max-length 200

# Forced alignments.
printf 'w1 w2\n\nw3\n' >in
for format in svg html; do
    works "attn-score: $format" attn-score -q -m $model --alignment "b.$format" \
        --alignment-format $format in in
    works "attn-score: $format: well-formed" "$PYTHON" heatmap.py $format b.$format 3 2
done
works_on in 'svg on stdout' attn-score -q -m $model --alignment - --alignment-format svg in in
same out b.svg 'the same'

# The same bytes.
words 60 8 >in
for format in svg html; do
    for threads in 1 3; do
        run_on in attn-translate -q -m $model --threads $threads --mini-batch 7 \
            --alignment $threads.$format --alignment-format $format
    done
    same 1.$format 3.$format "$format: the same with any number of threads"
done

finish
