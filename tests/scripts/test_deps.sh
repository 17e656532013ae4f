#!/bin/sh
# test_deps.sh: scripts/deps looks for OpenBLAS with threads of its own, not for
# any BLAS. Nothing is installed.
set -u
: "${SOTTO_SOURCE_DIR:?the source tree}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
mkdir "$work/bin" "$work/other"
compiler=$(command -v cc)
package=libopenblas-pthread-dev

# lacks YES|NO WHAT: whether the package is said to be missing.
lacks() {
    said=$(PATH=$work/bin:$PATH DEPS_DRY_RUN=1 \
        "$SOTTO_SOURCE_DIR/scripts/deps" build)
    case $said in
    *$package*) got=yes ;;
    *) got=no ;;
    esac
    [ $got = "$1" ] || {
        echo "FAILED: $2: $said"
        failures=1
    }
}

# compile SHELL: a compiler that does this.
compile() {
    printf '#!/bin/sh\n%s\n' "$1" >"$work/bin/cc"
    chmod +x "$work/bin/cc"
}

lacks no "what this was built with"
echo 'void cblas_sgemm(void);' >"$work/other/cblas.h"
compile "exec $compiler -I$work/other \"\$@\""
lacks yes "another BLAS"
echo 'int openblas_get_parallel(void) { return 0; }' >"$work/other/serial.c"
compile "case \"\$*\" in
*-lopenblas*) exec $compiler \"\$@\" $work/other/serial.c ;;
*) exec $compiler \"\$@\" ;;
esac"
lacks yes "OpenBLAS without threads"
exit $failures
