# Started as another user: become moon's agent. $1 is moon, if that user may run it; $2 its size, $3 where to read it from
# if a copy is needed, $4 a name that nobody has for its directory, $5 the flags of the agent, $6 which file moon runs from, as
# stat has it: device:inode; "" where that is not known. What follows are settings of the language.
path=$1 size=$2 from=$3 name=$4 flags=$5 file=$6
shift 6
unset LC_ALL
for setting; do
	export "$setting"
done
case $from in
3) exec <&3 3<&- ;;
esac
if [ -n "$path" ] && [ -x "$path" ] && [ -r "$path" ] && [ -e /proc/self/fd ]; then
	# What has taken its name since is not it. A program that runs cannot be written to.
	exec 3<"$path"
	[ -n "$file" ] && [ "$(stat -L -c %d:%i /proc/self/fd/3 2>/dev/null)" = "$file" ] && exec /proc/self/fd/3 agent $flags
	exec 3<&-
elif [ -n "$path" ] && [ -x "$path" ] && [ ! -e /proc/self/fd ]; then
	exec "$path" agent $flags
fi
umask 077
dir=
# Whoever ends moon ends its output, and with that what is waited for here. Signals would only come between the copy and
# its end.
trap '' HUP INT TERM PIPE
trap '[ -z "$dir" ] || rm -rf "$dir"' EXIT
for place in "$XDG_RUNTIME_DIR" "$TMPDIR" /tmp /var/tmp /dev/shm "$HOME"; do
	[ -d "$place" ] && [ -w "$place" ] || continue
	dir=$place/$name
	copy=$dir/moon
	# Files may be executable there only in name.
	{ mkdir "$dir" && echo '#!/bin/sh' >"$copy" && chmod 700 "$copy" && "$copy"; } 2>/dev/null && break
	rm -rf "$dir"
	dir=
done
if [ -z "$dir" ]; then
	echo "moon found no directory in which this user may run a program (it tried TMPDIR, /tmp, /var/tmp, /dev/shm and the home directory)" >&2
	exit 1
fi
echo 'moon copy'
head -c "$size" >"$copy"
[ "$(wc -c <"$copy")" -eq "$size" ] || exit 1
# Where an open file can be run, it needs no name any more: nothing is left behind whatever happens from now on.
exec 3<"$copy"
if [ -e /proc/self/fd/3 ]; then
	rm -rf "$dir"
	trap - HUP INT TERM PIPE
	exec /proc/self/fd/3 agent $flags
fi
trap - HUP INT TERM PIPE
exec "$copy" agent --unlink $flags
