#!/bin/sh
# The trusted part has one import, sotto_entropy (invariant 8): lists what the
# wasm module imports, and what libsotto-client.a linked to itself leaves
# undefined, and fails if either is anything else. (To copy a large struct some
# compilers call memcpy even in freestanding code, and C lets them: tolerated
# natively, though gcc on x86-64 needs none. _GLOBAL_OFFSET_TABLE_ is the
# linker's own name for a table it makes, not something to be brought.)
set -eu
build=${SOTTO_BUILD_DIR:-build}
[ -z "${SOTTO_SANITIZE:-}" ] || exit 77

expect() {
    [ "$1" = "$2" ] || { echo "expected only: $2" >&2; exit 1; }
}

imports=$(node -e '
    const bytes = require("fs").readFileSync(process.argv[1]);
    const module = new WebAssembly.Module(bytes);
    const names = WebAssembly.Module.imports(module);
    console.log(names.map((i) => i.module + "." + i.name).join(" "));
' "$build/sotto-client.wasm")
echo "wasm imports: $imports"
expect "$imports" env.sotto_entropy

whole=$(mktemp)
trap 'rm -f "$whole"' EXIT
ld -r -o "$whole" --whole-archive "$build/libsotto-client.a"
undefined=$(nm -u "$whole" | awk '{ print $2 }' | xargs)
echo "native undefined symbols: $undefined"
expect "$(echo "$undefined" | tr ' ' '\n' |
    grep -vxE 'memcpy|memmove|memset|memcmp|_GLOBAL_OFFSET_TABLE_' |
    xargs)" sotto_entropy
