#!/bin/sh
# The committed vectors through sotto-client.wasm under node: the reports must
# be those of the native library, byte for byte, and hostile files must be
# refused without a trap.
set -eu
source=${SOTTO_SOURCE_DIR:-.}
build=${SOTTO_BUILD_DIR:-build}
[ -z "${SOTTO_SANITIZE:-}" ] || exit 77
exec node "$source/tests/client/wasm_vectors.mjs" \
    "$build/sotto-client.wasm" "$source/tests/vectors"
