#!/bin/sh
# A run that outlives its machine, in half a minute: two machines, played by two state directories, and a server, all in a directory of its
# own that is removed at the end. Needs Go; ends what it has started, also when it is interrupted.
set -eu
cd "$(dirname "$0")"
dir=$(mktemp -d)
server= run=
trap 'kill $run $server 2>/dev/null || :; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
on() { machine=$1; shift; XDG_STATE_HOME="$dir/$machine" "$dir/moon-nats" "$@"; }

say '1. moon-nats is built, and serves'
CGO_ENABLED=0 go build -o "$dir/moon-nats" .
export MOON_NATS=nats://127.0.0.1:14422 MOON_NATS_LEASE=2s
XDG_STATE_HOME="$dir/server" "$dir/moon-nats" serve --listen 127.0.0.1:14422 &
server=$!
sleep 1

cat >"$dir/deploy.yml" <<YAML
- name: stop {{ item }}
  shell: echo stopping {{ item }} | tee -a $dir/log; sleep 1
  loop: [web1, web2, web3]
- name: migrate
  shell: echo migrating | tee -a $dir/log; sleep 1
- name: start {{ item }}
  shell: echo starting {{ item }} | tee -a $dir/log; sleep 1
  loop: [web1, web2, web3]
YAML

say '2. the machine "laptop" runs a playbook'
XDG_STATE_HOME="$dir/laptop" "$dir/moon-nats" run "$dir/deploy.yml" >"$dir/laptop.log" 2>&1 &
run=$!
sleep 2

say '3. the machine "desk" sees it, pauses it, and lets it continue'
on desk runs
on desk attach --send pause
on desk attach --send continue

say '4. the laptop loses power'
sleep 1
kill -9 $run
wait $run 2>/dev/null || :
sleep 3
on desk runs

say '5. the desk continues the run: what was running is lost, and runs again because we say so'
on desk resume --no-tui --lost retry

say '6. what the steps did, in order'
cat "$dir/log"
