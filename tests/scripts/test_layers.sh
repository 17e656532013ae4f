#!/bin/sh
# scripts/layers tells a wrong #include, by file and line, and takes right ones.
set -eu
cd "$(dirname "$0")/../.."
root=$(mktemp -d)
trap 'rm -r "$root"' EXIT

# says CODE FILE LINE...: what layers answers to one file of these lines
says() {
    want=$1 file=$root/src/$2
    shift 2
    rm -rf "$root/src"
    mkdir -p "$(dirname "$file")"
    printf '%s\n' "$@" > "$file"
    code=0
    scripts/layers "$root" > "$root/out" 2>&1 || code=$?
    if [ "$code" != "$want" ]; then
        echo "$file, $*: $code, not $want" >&2
        cat "$root/out" >&2
        exit 1
    fi
}

says 0 client/client.c '#include "client/device.h"'
says 0 mechanism/mechanism.h '#include "client/opened.h"'
says 1 mechanism/shape.c '#include <stddef.h>' '#include "client/device.h"'
grep -q '^src/mechanism/shape.c:2: "client/device.h" is for' "$root/out"
says 1 client/opened.h '#include "client/device.h"'
says 1 report/report.c '#include "client/opened.h"'
says 1 channel/flip.c '#include <stdlib.h>'
says 1 channel/flip.c '#include "sotto/sotto.h"'
says 1 verb/cmd_fit.c '#include "learn/model.h"'
says 1 store/queue.c '#include <curl/curl.h>'
says 1 elsewhere/file.c ''
says 1 encoder/pca.c '#include "idealised/idealised.h"'
grep -q '"idealised/idealised.h" is for benchmarks' "$root/out"
says 1 mechanism/shape.c '#include "idealised/privunit.h"'
says 0 encoder/pca.c '#include "idealised/names.h"'
says 0 experiment/trial.c '#include "idealised/idealised.h"'
says 1 channel/flip.c '#include "idealised/names.h"'
says 1 client/client.c '#include "idealised/names.h"'
