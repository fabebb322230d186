# Read by the sh of another machine: become moon's agent. $1 is which moon it has to be, $2 a name that nobody has for a
# directory, $3 the digests of moon by system; $1 empty: whatever is kept here is of no use. Lines begin anew, because what the
# login has printed may end in the middle of one.
key=$1 name=$2 sums=$3
set -- $(uname -sm)
me=$(id -u)
mask=$(umask)
umask 077
system=$(echo "$1" | tr A-Z a-z)-$2
sum=
for pair in $sums; do
	case $pair in
	"$system="*) sum=${pair#*=} ;;
	esac
done

# own: it is this user's, and nobody else can write to it.
own() {
	set -- $(ls -ldnL "$1" 2>/dev/null)
	case $1 in
	?????-??-*) [ "$3" = "$me" ] ;;
	*) false ;;
	esac
}

digest() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum
	elif command -v shasum >/dev/null 2>&1; then
		shasum -a 256
	elif command -v sha256 >/dev/null 2>&1; then
		sha256
	elif command -v openssl >/dev/null 2>&1; then
		openssl dgst -sha256 -r
	fi
}

# verified: $1 is a file of this user with the digest; else $why says why not. Where an open file can be run, what was looked
# at is what runs, whatever becomes of its name meanwhile.
verified() {
	why=others
	# Not a plain exec: if the file is gone by then, that would end the shell.
	[ -f "$1" ] && [ -r "$1" ] && command exec 3<"$1" || return 1
	run=$1
	[ -e /proc/self/fd/3 ] && run=/proc/self/fd/3
	own "$run" || return 1
	is=$(digest <"$run")
	case $sum:$is in
	:* | *:) why=unknown ;;
	*) why=bytes ;;
	esac
	case $why:$is in
	bytes:"$sum"*) ;;
	*) return 1 ;;
	esac
}

started() {
	trap - EXIT HUP INT TERM PIPE
	umask "$mask"
}

# A host that calls home by an agent of its own has a moon already, which has looked at its own digest: nothing is kept or copied.
if [ -n "$key" ] && [ -n "$sum" ] && [ "$MOON_SELF_SUM" = "$sum" ] && [ -x "$MOON_SELF" ]; then
	run=$MOON_SELF
	unset MOON_SELF MOON_SELF_SUM
	started
	exec "$run" agent
fi
unset MOON_SELF MOON_SELF_SUM

home=${XDG_CACHE_HOME:-$HOME/.cache}/moon
kept=$home/$key-$1-$2
if [ -n "$key" ] && [ -x "$kept/moon" ]; then
	why=others
	if own "$home" && own "$kept" && verified "$kept/moon"; then
		started
		exec "$run" agent --kept
	fi
	exec 3<&-
	rm -rf "$kept" 2>/dev/null
	echo
	echo "moon unfit $why"
fi
dir=
# What ends the connection ends its output, and with that what is waited for here. Signals would only come between the copy
# and its end.
trap '' HUP INT TERM PIPE
trap '[ -z "$dir" ] || rm -rf "$dir"' EXIT
for place in "$home" "$XDG_RUNTIME_DIR" "$TMPDIR" /tmp /var/tmp /dev/shm "$HOME"; do
	case $place in
	"") continue ;;
	"$home")
		[ -n "$XDG_CACHE_HOME" ] || [ -d "$HOME" ] || continue # a home that is not there is not made
		mkdir -p "$home" 2>/dev/null
		own "$home" || continue
		;;
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
echo
echo "moon copy $1 $2 $packs"
read -r size sum sent key || exit 1
case $packs in
gzip) head -c "$sent" | gzip -dc >"$copy" ;;
*) head -c "$sent" >"$copy" ;;
esac
[ "$(wc -c <"$copy")" -eq "$size" ] || exit 1
# Where nothing computes digests, the connection has kept it whole.
if ! verified "$copy" && { [ "$why" != unknown ] || [ -n "$is" ]; }; then
	echo "moon did not arrive as it was sent" >&2
	exit 1
fi
if [ "$place" = "$home" ]; then
	kept=$home/$key-$1-$2
	# Somebody else may bring the same at the same time.
	mkdir -p "$kept" && mv -f "$copy" "$kept/moon" && rm -rf "$dir"
	started
	[ "$run" != "$copy" ] || run=$kept/moon
	exec "$run" agent --kept
fi
if [ "$run" != "$copy" ]; then
	rm -rf "$dir"
	started
	exec "$run" agent
fi
started
exec "$copy" agent --unlink
