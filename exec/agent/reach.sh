# Read by the sh of another machine: become moon's agent. $1 is which moon it has to be, $2 a name that nobody has for a
# directory; $1 empty: whatever is kept here is of no use.
key=$1 name=$2
set -- $(uname -sm)
home=${XDG_CACHE_HOME:-$HOME/.cache}/moon
kept=$home/$key-$1-$2
if [ -n "$key" ] && [ -x "$kept/moon" ]; then
	exec "$kept/moon" agent --kept
fi
mask=$(umask)
umask 077
dir=
# What ends the connection ends its output, and with that what is waited for here. Signals would only come between the copy
# and its end.
trap '' HUP INT TERM PIPE
trap '[ -z "$dir" ] || rm -rf "$dir"' EXIT
for place in "$home" "$XDG_RUNTIME_DIR" "$TMPDIR" /tmp /var/tmp /dev/shm "$HOME"; do
	case $place in
	"") continue ;;
	"$home") mkdir -p "$home" 2>/dev/null ;;
	esac
	[ -d "$place" ] && [ -w "$place" ] || continue
	dir=$place/$name
	copy=$dir/moon
	# Files may be executable there only in name.
	{ mkdir "$dir" && echo '#!/bin/sh' >"$copy" && chmod 700 "$copy" && "$copy"; } 2>/dev/null && break
	rm -rf "$dir"
	dir=
done
if [ -z "$dir" ]; then
	echo "moon found no directory in which this user may run a program (it tried the cache directory, TMPDIR, /tmp, /var/tmp, /dev/shm and the home directory)" >&2
	exit 1
fi
packs=plain
gzip -V >/dev/null 2>&1 && packs=gzip
echo "moon copy $1 $2 $packs"
read -r size sum sent key || exit 1
case $packs in
gzip) head -c "$sent" | gzip -dc >"$copy" ;;
*) head -c "$sent" >"$copy" ;;
esac
[ "$(wc -c <"$copy")" -eq "$size" ] || exit 1
if command -v sha256sum >/dev/null 2>&1; then
	is=$(sha256sum <"$copy")
elif command -v shasum >/dev/null 2>&1; then
	is=$(shasum -a 256 <"$copy")
else
	is=$sum
fi
case $is in
"$sum"*) ;;
*)
	echo "moon did not arrive as it was sent" >&2
	exit 1
	;;
esac
if [ "$place" = "$home" ]; then
	kept=$home/$key-$1-$2
	# Somebody else may bring the same at the same time.
	mkdir -p "$kept" && mv -f "$copy" "$kept/moon" && rm -rf "$dir"
	trap - EXIT HUP INT TERM PIPE
	umask "$mask"
	exec "$kept/moon" agent --kept
fi
umask "$mask"
# Where an open file can be run, it needs no name any more: nothing is left behind whatever happens from now on.
exec 3<"$copy"
if [ -e /proc/self/fd/3 ]; then
	rm -rf "$dir"
	trap - EXIT HUP INT TERM PIPE
	exec /proc/self/fd/3 agent
fi
trap - EXIT HUP INT TERM PIPE
exec "$copy" agent --unlink
