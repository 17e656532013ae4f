#!/bin/sh
# test_serve.sh: sotto serve as a command: its options, its messages, its
# signals. tests/collector asks it over its socket.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

make_small
kept="--pub k.pub --store sqlite:s.db"
serve="serve --mechanism m.sotto $kept --listen 127.0.0.1:0"

# ---- What is refused before anything is made ---------------------------------
run 2 serve --mechanism m.sotto --pub k.pub
says "store"
run 2 serve --pub k.pub --store sqlite:s.db
says "--mechanism M is missing"
run 2 serve --mechanism m.sotto --pub k.pub --store s.db
says "sqlite:"
run 1 serve --mechanism none.sotto --pub k.pub --store sqlite:s.db
says "none.sotto"
run 1 serve --mechanism m.sotto --pub none.pub --store sqlite:s.db
says "none.pub"
run 2 serve --mechanism m.sotto --pub k.pub --store sqlite:s.db --listen nowhere
says "HOST:PORT"
run 3 serve --mechanism m.sotto --pub k.pub --store sqlite:s.db \
    --listen 0.0.0.0:0
says "TLS" "in front"
run 3 serve --mechanism m.sotto --pub k.pub --store sqlite:s.db --batch-min 1
says "at least 2"
run 2 serve --mechanism m.sotto --pub k.pub --store sqlite:s.db --window 0
says "--window 0 is not a whole number from 1 to 604800"
run 2 serve --mechanism m.sotto --pub k.pub --store sqlite:s.db --threads 65
says "from 1 to 64"
run 2 serve --mechanism m.sotto --pub k.pub --store sqlite:s.db --tls-cert c.pem
says "certificate and its key"
run 2 serve --mechanism m.sotto --pub k.pub --store sqlite:s.db \
    --tls-cert a --tls-key b --plain-behind-proxy
says "plain-behind-proxy"
(umask 077 && echo short >token)
run 2 serve --mechanism m.sotto --pub k.pub --store sqlite:s.db \
    --admin-token-file token
says "holds no token"
printf x >>m.sotto
run 3 serve --mechanism m.sotto --pub k.pub --store sqlite:s.db
says "signature"
# shellcheck disable=SC2086 # names without blanks
only $small_files token

# ---- A life ------------------------------------------------------------------
run 0 train direct --data small.csv --label colour --eps 2 --force -o m.sotto
run 0 sign m.sotto --key k.key
begin() { # OPTIONS...: starts it in the background, waits until it listens
    rm -f port
    # shellcheck disable=SC2086 # words
    "$SOTTO" $serve --port-file port "$@" >out 2>err </dev/null &
    pid=$!
    for _ in $(seq 300); do
        [ -s port ] && break
        sleep 0.1
    done
    [ -s port ] || fail "it does not listen: $(cat out err)"
}
finished() { # SIGNAL: ends it
    kill "-$1" "$pid"
    wait "$pid" || fail "it ended with $? after $1"
}
begin
[ "$(cat out)" = "listening on 127.0.0.1:$(cat port)" ] || fail "$(cat out)"
finished TERM
grep -q "stopping" err || fail "it does not say that it stops"
begin --json
json out
grep -q "\"listening\": *\"127.0.0.1:$(cat port)\"" out || fail "$(cat out)"
grep -q '"settings": "listen=127.0.0.1:0 window=600 batch-min=1000 ' out ||
    fail "no settings: $(cat out)"
kill -HUP "$pid"
for _ in $(seq 100); do
    grep -q "read again" err && break
    sleep 0.1
done
grep -q "read again" err || fail "no reload: $(cat err)"
finished INT
json err

# A store keeps its kind.
run 3 serve --mechanism m.sotto --pub k.pub --store sqlite:s.db --simulation
says "simulat"
finish
