# What docs/tape/away.tape plays: one machine runs a playbook and loses power, another watches, and continues the run.
PATH=$HOME/..:$PATH
export MOON_NATS=nats://127.0.0.1:14933 MOON_NATS_LEASE=2s
trap 'kill $server' EXIT
XDG_STATE_HOME=$HOME/.server moon-nats serve --listen 127.0.0.1:14933 >server.txt 2>&1 &
server=$!
until XDG_STATE_HOME=$HOME/.desk moon-nats runs >/dev/null 2>&1; do sleep 0.1; done
XDG_STATE_HOME=$HOME/.laptop moon-nats run away/deploy.yml >laptop.txt 2>&1 &
laptop=$!
export XDG_STATE_HOME=$HOME/.desk
until run=$(moon-nats runs | cut -d' ' -f1) && [ "$run" ]; do sleep 0.1; done
(sleep 11; kill -9 $laptop) &
moon-nats tui --theme moonlight $run
clear
moon-nats resume $run --theme moonlight
