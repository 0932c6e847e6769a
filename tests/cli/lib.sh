# shellcheck shell=sh
# What the tests of the programs share. A test is a shell script that begins
#
#     . "$(dirname "$0")/lib.sh"
#
# and then is in an empty folder of its own, which is removed when it ends. It
# prints a line of TAP for each check, and ends with the call `finish`.
#
#     run attn-vocab nowhere           status in $status, output in files out, err
#     is 2 "$status" 'exit status'     two strings are equal
#     ok 'a file is made' test -f x    a command succeeds
#     says 'cannot be read' 'a reason' the last run's err holds it (grep -E)
#     fails_with 2 'no such' 'why' attn-vocab nowhere      all in one
#
# What a check runs may take long on a busy machine, but not for ever: PATIENCE
# seconds.
set -u
export LC_ALL=C

TESTS=$(cd "$(dirname "$0")/.." && pwd)
ROOT=$(dirname "$TESTS")
PYTHON=${PYTHON:-$("$ROOT/scripts/find-python" 2>/dev/null)}
PATIENCE=${PATIENCE:-180}
[ -z "${ATTN_BIN:-}" ] || PATH=$ATTN_BIN:$PATH
export TESTS ROOT PYTHON PATIENCE PATH

checks=0
failures=0
status=0

HERE=$(mktemp -d "${TMPDIR:-/tmp}/attn-test.XXXXXX") || exit 1
trap 'cd / && rm -rf "$HERE"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$HERE" || exit 1

passed() { # DESCRIPTION
    checks=$((checks + 1))
    echo "ok $checks - $1"
}

# failed DESCRIPTION: for the reasons in the file why.
failed() {
    checks=$((checks + 1))
    failures=$((failures + 1))
    echo "not ok $checks - $1"
    head -n 30 why | cut -c 1-300 | sed 's/^/# /'
}

skip() { # DESCRIPTION REASON
    checks=$((checks + 1))
    echo "ok $checks - $1 # SKIP $2"
}

finish() {
    echo "1..$checks"
    [ "$failures" -eq 0 ]
    exit
}

# A program that is killed by a sanitizer, or by its own bug, never passes for
# one that has refused something.
sound() {
    case $status in
    124 | 134 | 136 | 139) return 1 ;;
    esac
    ! grep -qE 'runtime error:|(Address|Thread|Leak|UndefinedBehavior)Sanitizer' err
}

# Whether the programs are built with a sanitizer, which takes its memory in
# other ways.
sanitized() {
    attn-train --version | grep -q san
}

run() {
    timeout -k 5 "$PATIENCE" "$@" >out 2>err </dev/null
    status=$?
}

# The same with the first argument, a file, as stdin.
run_on() {
    input=$1
    shift
    timeout -k 5 "$PATIENCE" "$@" >out 2>err <"$input"
    status=$?
}

tell() {
    echo "status: $status"
    echo "err:"
    cat err
}

ok() { # DESCRIPTION COMMAND...
    what=$1
    shift
    if "$@" >ok.log 2>&1; then
        passed "$what"
    else
        { echo "false: $*" && cat ok.log; } >why
        failed "$what"
    fi
}

is() { # WANTED GOT DESCRIPTION
    if [ "$1" = "$2" ]; then
        passed "$3"
    else
        printf 'wanted: %s\ngot:    %s\n' "$1" "$2" >why
        failed "$3"
    fi
}

same() { # FILE FILE DESCRIPTION: byte for byte
    if cmp "$1" "$2" >cmp.log 2>&1; then
        passed "$3"
    else
        { cat cmp.log && diff -a "$1" "$2" 2>&1; } >why
        failed "$3"
    fi
}

differ() { # FILE FILE DESCRIPTION
    if cmp -s "$1" "$2"; then
        echo "$1 and $2 are equal" >why
        failed "$3"
    else
        passed "$3"
    fi
}

says() { # PATTERN DESCRIPTION
    if grep -qaE -e "$1" err; then
        passed "$2"
    else
        { echo "not in err: $1" && tell; } >why
        failed "$2"
    fi
}

silent_on() { # PATTERN DESCRIPTION
    if grep -qaE -e "$1" err; then
        { echo "in err: $1" && tell; } >why
        failed "$2"
    else
        passed "$2"
    fi
}

works() { # DESCRIPTION COMMAND...
    what=$1
    shift
    run "$@"
    if [ "$status" -eq 0 ] && sound; then
        passed "$what"
    else
        tell >why
        failed "$what"
    fi
}

works_on() { # FILE DESCRIPTION COMMAND...
    input=$1
    what=$2
    shift 2
    run_on "$input" "$@"
    if [ "$status" -eq 0 ] && sound; then
        passed "$what"
    else
        tell >why
        failed "$what"
    fi
}

# fails_with STATUS PATTERN DESCRIPTION COMMAND...: the command ends with the
# status and says what the pattern says.
fails_with() {
    wanted=$1
    pattern=$2
    what=$3
    shift 3
    run "$@"
    if [ "$status" -eq "$wanted" ] && sound && grep -qaE -e "$pattern" err; then
        passed "$what"
    else
        { echo "wanted: $wanted, $pattern" && tell; } >why
        failed "$what"
    fi
}

# --- material --------------------------------------------------------------

# words LINES SEED [MOST [WORDS]]: lines of 1 … MOST (6) random words out of
# w1 … w WORDS (6), the same on every machine.
words() {
    awk -v lines="$1" -v seed="$2" -v most="${3:-6}" -v kinds="${4:-6}" '
    function random(n) {        # 0 … n - 1: Park and Miller
        seed = seed * 16807 % 2147483647
        return int(seed / 2147483647 * n)
    }
    BEGIN {
        seed = seed * 7919 + 1
        for (i = 0; i < 5; i++)
            random(2)
        for (i = 0; i < lines; i++) {
            line = ""
            for (n = 1 + random(most); n > 0; n--)
                line = line (line == "" ? "" : " ") "w" (1 + random(kinds))
            print line
        }
    }'
}

# A corpus to copy words, train.src train.tgt valid.src valid.tgt, and toy.yaml,
# which learns a little of it in next to no time.
toy() {
    words 40 1 >train.src
    words 10 2 >valid.src
    cp train.src train.tgt
    cp valid.src valid.tgt
    cat >toy.yaml <<'END'
data:
  source: train.src
  target: train.tgt
  valid_source: valid.src
  valid_target: valid.tgt
model: {path: m, embedding: 8}
encoder: {hidden: 8}
decoder: {hidden: 8}
training: {batch_size: 8, updates: 20, learning_rate: 0.02}
validation: {every: 10}
END
}

# A model that copies lines of up to 6 words out of w1 … w6, copy/best.npz.
copy_model() {
    words 2000 1 >copy.txt
    words 100 2 >copy.valid
    cat >copy.yaml <<'END'
data:
  source: copy.txt
  target: copy.txt
  valid_source: copy.valid
  valid_target: copy.valid
model: {path: copy, embedding: 16}
encoder: {hidden: 24}
decoder: {hidden: 24}
training: {batch_size: 32, epochs: 12, learning_rate: 0.01}
END
    quietly attn-train copy.yaml
}

# quietly COMMAND...: what a test needs before it can check anything.
quietly() {
    run "$@"
    [ "$status" -eq 0 ] && return
    echo "Bail out! status $status: $*"
    sed 's/^/# /' err
    exit 1
}

# member FILE NAME: a member of a model file, on stdout.
member() {
    "$PYTHON" -c '
import sys, zipfile
sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))' "$1" "$2"
}

# same_but_config FILE FILE DESCRIPTION: model files that differ in their
# configuration at the most.
same_but_config() {
    ok "$3" "$PYTHON" -c '
import sys, zipfile
a, b = (zipfile.ZipFile(p) for p in sys.argv[1:])
assert a.namelist() == b.namelist()
for name in a.namelist():
    assert name == "config.yaml" or a.read(name) == b.read(name), name' "$1" "$2"
}
