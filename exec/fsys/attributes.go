package fsys

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"moon/exec/fault"
	"moon/exec/spec"
)

// Attributes are the mode and the owners that a step asks for.
type Attributes struct {
	Mode    spec.Mode
	UID     int // -1: leave
	GID     int
	Labels  spec.Labels // of SELinux; of a machine without it none
	Flags   spec.FlagEdit
	InPlace bool // a file that cannot be replaced is written into
}

// NewAttributes looks up the owner and group that a file should have; "" leaves them as they are.
func (f *Overlay) NewAttributes(mode spec.Mode, owner, group string, more spec.FileAttributes) (Attributes, error) {
	at := Attributes{Mode: mode, UID: -1, GID: -1, InPlace: more.UnsafeWrites}
	at.Flags, _ = more.FlagEdit() // the decoder has refused what is wrong with it
	if labelled() {
		at.Labels = more.Labels
		if slices.Contains([]string{at.Labels.SEUser, at.Labels.SERole, at.Labels.SEType, at.Labels.SELevel}, "_default") {
			return at, errors.New("the default of a label is in the policy, which moon does not read; use `command: restorecon PATH`")
		}
	}
	var err error
	if owner != "" {
		if at.UID, err = f.UserID(owner); err != nil {
			return at, err
		}
	}
	if group != "" {
		if at.GID, err = f.GroupID(group); err != nil {
			return at, err
		}
	}
	return at, nil
}

// UserID finds a user by name or number. A user that does not exist may be made by an earlier step.
func (f *Overlay) UserID(owner string) (int, error) {
	// A number need not be that of a user here: files may belong to users of another machine.
	if id, err := strconv.Atoi(owner); err == nil {
		return id, nil
	}
	if id, ok := f.ID("user", owner); ok {
		return id, nil
	}
	u, err := user.Lookup(owner)
	if err != nil {
		return -1, fault.Missing("", "user %s does not exist", owner)
	}
	return strconv.Atoi(u.Uid)
}

// GroupID returns the id of a group, given by name or as a number. The group may be one that an earlier step would create.
func (f *Overlay) GroupID(group string) (int, error) {
	if id, err := strconv.Atoi(group); err == nil {
		return id, nil
	}
	if id, ok := f.ID("group", group); ok {
		return id, nil
	}
	g, err := user.LookupGroup(group)
	if err != nil {
		return -1, fault.Missing("", "group %s does not exist", group)
	}
	return strconv.Atoi(g.Gid)
}

// IDNames are the names of users and groups that were looked up.
var IDNames sync.Map // ids to names, "u0" → "root"; looking one up may read a file or ask a server

// UserName returns the name of a user, or the number if it has none.
func UserName(id int) string {
	return cachedName("u", id, func(s string) (string, error) {
		u, err := user.LookupId(s)
		if err != nil {
			return "", err
		}
		return u.Username, nil
	})
}

// GroupName returns the name of a group, or the number if it has none.
func GroupName(id int) string {
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
	if name, ok := IDNames.Load(kind + number); ok {
		return name.(string)
	}
	name, err := lookup(number)
	if err != nil {
		return number // not kept: an earlier step may make it
	}
	IDNames.Store(kind+number, name)
	return name
}

// Wanted is what the attributes make of an entry.
type Wanted struct {
	Mode     uint32
	UID, GID int
	Labels   spec.Labels
	Flags    spec.FlagEdit // of what has other flags already, too: a new file in its place has none
}

// For returns what an existing entry shall have, and in words how that differs.
func (at Attributes) For(e Entry) (Wanted, []string) {
	w := Wanted{Mode: e.Mode, UID: e.UID, GID: e.GID}
	var words []string
	if now := relabel(at.Labels, e.Context); now != e.Context {
		w.Labels = at.Labels
		words = append(words, fmt.Sprintf("context %s → %s", e.Context, now))
	}
	if at.UID >= 0 && at.UID != e.UID {
		w.UID = at.UID
		words = append(words, fmt.Sprintf("owner %s → %s", UserName(e.UID), UserName(at.UID)))
	}
	if at.GID >= 0 && at.GID != e.GID {
		w.GID = at.GID
		words = append(words, fmt.Sprintf("group %s → %s", GroupName(e.GID), GroupName(at.GID)))
	}
	if e.Kind == Link {
		return w, words // a link has neither mode nor flags of its own
	}
	if w.Mode = at.Mode.Apply(e.Mode, e.Kind == Directory, Umask()); w.Mode != e.Mode {
		words = append(words, fmt.Sprintf("mode %04o → %04o", e.Mode, w.Mode))
	}
	w.Flags = at.Flags
	if text := at.FlagWords(e); text != "" {
		words = append(words, text)
	}
	return w, words
}

// ForNew returns what a new file or directory shall have. Ids that nobody asked for are -1.
func (at Attributes) ForNew(kind string) (Wanted, []string) {
	base := uint32(0o644)
	if kind == Directory {
		base = 0o755
	}
	base &^= Umask()
	w := Wanted{Mode: at.Mode.Apply(base, kind == Directory, Umask()), UID: at.UID, GID: at.GID, Labels: at.Labels, Flags: at.Flags}
	var words []string
	if at.Labels != (spec.Labels{}) {
		words = append(words, "context "+relabel(at.Labels, "*:*:*:*"))
	}
	if !at.Mode.IsZero() {
		words = append(words, fmt.Sprintf("mode %04o", w.Mode))
	}
	if at.UID >= 0 {
		words = append(words, "owner "+UserName(at.UID))
	}
	if at.GID >= 0 {
		words = append(words, "group "+GroupName(at.GID))
	}
	if at.Flags != (spec.FlagEdit{}) {
		words = append(words, "attributes "+at.Flags.String())
	}
	return w, words
}

// Set gives a name in a directory its owners, mode and flags, in that order: a change of owner takes setuid away, and what is immutable
// gets neither owner nor mode.
func (w Wanted) Set(dir *os.Root, name string, e Entry) error {
	// What was looked at is opened, so that a link put in its place meanwhile gets neither owner nor mode.
	fd, err := openSeen(dir, name, e)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fd) }()
	if err := w.label(fd, ""); err != nil {
		return &fs.PathError{Op: "set the context of", Path: name, Err: err}
	}
	if w.UID != e.UID || w.GID != e.GID {
		if err := chownFD(fd, changed(w.UID, e.UID), changed(w.GID, e.GID)); err != nil {
			return &fs.PathError{Op: "chown", Path: name, Err: err}
		}
	}
	if e.Kind != Link && (w.Mode != e.Mode || w.UID != e.UID || w.GID != e.GID) {
		if err := chmodFD(fd, w.Mode); err != nil {
			return &fs.PathError{Op: "chmod", Path: name, Err: err}
		}
	}
	return flagError(name, setFlags(fd, e, w.Flags))
}

// label gives an open file its context. A new file gets that of the old one, of which there may be none, before.
func (w Wanted) label(fd int, old string) error {
	if old == "" && w.Labels == (spec.Labels{}) {
		return nil
	}
	is := contextOf(fd)
	if old == "" {
		old = is
	}
	if want := relabel(w.Labels, old); want != is {
		return setContext(fd, want)
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

// Umask is moon's own, read once: it can be read without changing it for a moment only from /proc.
var Umask = sync.OnceValue(func() uint32 {
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

// IsDenied reports an operation that only root, or the owner, may do.
func IsDenied(err error) bool { return errors.Is(err, fs.ErrPermission) }
