package exec

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"moon/exec/spec"
)

// attributes are the mode and the owners that a step asks for.
type attributes struct {
	mode spec.Mode
	uid  int // -1: leave
	gid  int
}

func (a *attempt) newAttributes(mode spec.Mode, owner, group string) (attributes, error) {
	at := attributes{mode, -1, -1}
	var err error
	if owner != "" {
		if at.uid, err = a.userID(owner); err != nil {
			return at, err
		}
	}
	if group != "" {
		if at.gid, err = a.groupID(group); err != nil {
			return at, err
		}
	}
	return at, nil
}

// userID finds a user by name or number. A user that does not exist may be made by an earlier step.
func (a *attempt) userID(owner string) (int, error) {
	if id, err := strconv.Atoi(owner); err == nil {
		return id, nil
	}
	if id, ok := a.foresight.id("user", owner); ok {
		return id, nil
	}
	u, err := user.Lookup(owner)
	if err != nil {
		return -1, missing("", "user %s does not exist", owner)
	}
	return strconv.Atoi(u.Uid)
}

func (a *attempt) groupID(group string) (int, error) {
	if id, err := strconv.Atoi(group); err == nil {
		return id, nil
	}
	if id, ok := a.foresight.id("group", group); ok {
		return id, nil
	}
	g, err := user.LookupGroup(group)
	if err != nil {
		return -1, missing("", "group %s does not exist", group)
	}
	return strconv.Atoi(g.Gid)
}

var names sync.Map // ids to names, "u0" → "root"; looking one up may read a file or ask a server

func userName(id int) string {
	return cachedName("u", id, func(s string) (string, error) {
		u, err := user.LookupId(s)
		if err != nil {
			return "", err
		}
		return u.Username, nil
	})
}

func groupName(id int) string {
	return cachedName("g", id, func(s string) (string, error) {
		g, err := user.LookupGroupId(s)
		if err != nil {
			return "", err
		}
		return g.Name, nil
	})
}

func cachedName(kind string, id int, lookup func(string) (string, error)) string {
	number := strconv.Itoa(id)
	if name, ok := names.Load(kind + number); ok {
		return name.(string)
	}
	name, err := lookup(number)
	if err != nil {
		return number // not kept: an earlier step may make it
	}
	names.Store(kind+number, name)
	return name
}

// wanted is what the attributes make of an entry.
type wanted struct {
	mode     uint32
	uid, gid int
}

// on returns what an existing entry shall have, and in words how that differs.
func (at attributes) on(e entry) (wanted, []string) {
	w := wanted{e.mode, e.uid, e.gid}
	var words []string
	if at.uid >= 0 && at.uid != e.uid {
		w.uid = at.uid
		words = append(words, fmt.Sprintf("owner %s → %s", userName(e.uid), userName(at.uid)))
	}
	if at.gid >= 0 && at.gid != e.gid {
		w.gid = at.gid
		words = append(words, fmt.Sprintf("group %s → %s", groupName(e.gid), groupName(at.gid)))
	}
	if e.kind == link {
		return w, words // a link has no mode of its own
	}
	if w.mode = at.mode.Apply(e.mode, e.kind == directory, umask()); w.mode != e.mode {
		words = append(words, fmt.Sprintf("mode %04o → %04o", e.mode, w.mode))
	}
	return w, words
}

// anew returns what a new file or directory shall have. Ids that nobody asked for are -1.
func (at attributes) anew(kind string) (wanted, []string) {
	base := uint32(0o644)
	if kind == directory {
		base = 0o755
	}
	base &^= umask()
	w := wanted{at.mode.Apply(base, kind == directory, umask()), at.uid, at.gid}
	var words []string
	if !at.mode.IsZero() {
		words = append(words, fmt.Sprintf("mode %04o", w.mode))
	}
	if at.uid >= 0 {
		words = append(words, "owner "+userName(at.uid))
	}
	if at.gid >= 0 {
		words = append(words, "group "+groupName(at.gid))
	}
	return w, words
}

// set gives a name in a directory its owners and mode, in that order: a change of owner takes setuid away.
func (w wanted) set(dir *os.Root, name string, e entry) error {
	fd, err := openSeen(dir, name, e)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fd) }()
	if w.uid != e.uid || w.gid != e.gid {
		if err := chownFD(fd, changed(w.uid, e.uid), changed(w.gid, e.gid)); err != nil {
			return &fs.PathError{Op: "chown", Path: name, Err: err}
		}
	}
	if e.kind == link || w.mode == e.mode && w.uid == e.uid && w.gid == e.gid {
		return nil
	}
	if err := chmodFD(fd, w.mode); err != nil {
		return &fs.PathError{Op: "chmod", Path: name, Err: err}
	}
	return nil
}

// changed is an id for chown: -1 when it is to stay, so that nobody needs the right to change it.
func changed(want, is int) int {
	if want == is {
		return -1
	}
	return want
}

// umask is moon's own, read once: it can be read without changing it for a moment only from /proc.
var umask = sync.OnceValue(func() uint32 {
	if f, err := os.Open("/proc/self/status"); err == nil {
		defer func() { _ = f.Close() }() // it was only read
		for s := bufio.NewScanner(f); s.Scan(); {
			if text, ok := strings.CutPrefix(s.Text(), "Umask:"); ok {
				if n, err := strconv.ParseUint(strings.TrimSpace(text), 8, 32); err == nil {
					return uint32(n)
				}
			}
		}
	}
	mask := unix.Umask(0o077)
	unix.Umask(mask)
	return uint32(mask)
})

// isDenied reports an operation that only root, or the owner, may do.
func isDenied(err error) bool { return errors.Is(err, fs.ErrPermission) }
