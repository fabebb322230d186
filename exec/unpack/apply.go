package unpack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"syscall"

	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

// applyPlan goes through the archive again and does what was planned.
func (u *Unpacking) applyPlan(ctx context.Context) error {
	u.Close()
	u.doing, u.next = map[int]int{}, 0
	for i := range u.list {
		p := u.list[i]
		if p.state == same {
			continue
		}
		if p.member >= 0 {
			u.doing[p.member] = i
		}
	}
	err := u.ar.Each(ctx, func(m *fsys.Member) error { return u.writeMember(ctx, m) })
	if err == nil && u.next != len(u.digests) {
		// Fewer members than before: the file was swapped between the readings.
		err = u.explainSwap()
	}
	if err == nil {
		err = u.finishDirectories()
	}
	if err == nil {
		err = u.setFlags()
	}
	if err != nil {
		return err
	}
	if u.many {
		return fsys.SyncAll(u.at.Dir)
	}
	return fsys.SyncDir(u.at.Dir)
}

// setFlags gives what is in the archive the attributes that the step asks for: a directory after what is in it, as nothing is put into one
// that is immutable.
func (u *Unpacking) setFlags() error {
	if u.attrs.Flags == (spec.FlagEdit{}) {
		return nil
	}
	for _, p := range slices.Backward(u.list) {
		if p.member < 0 || p.kind != fsys.Regular && p.kind != fsys.Directory {
			continue
		}
		is, err := u.lookAt(p.name)
		if err == nil && is.Kind == p.kind {
			var dir *os.Root
			if dir, err = u.openDirectory(p.name); err == nil {
				err = fsys.Wanted{Flags: u.attrs.Flags}.SetFlags(dir, path.Base(p.name), is)
			}
		}
		if err != nil {
			return u.wrapError(p.name, err)
		}
	}
	return nil
}

func (u *Unpacking) explainSwap() error {
	return fmt.Errorf("%s was changed while it was unpacked", u.ar.Path)
}

// writeMember writes one member, if that was planned.
func (u *Unpacking) writeMember(ctx context.Context, m *fsys.Member) error {
	n := u.next
	u.next++
	// Each member is compared with what the first reading saw, so what was checked there holds here.
	if n >= len(u.digests) || m.Digest() != u.digests[n] {
		return u.explainSwap()
	}
	i, ok := u.doing[n]
	if !ok {
		return nil
	}
	p := &u.list[i]
	err := u.makeAbove(p.name)
	if err == nil {
		err = u.writeEntry(ctx, *p, m)
	}
	// A name that comes twice is written once.
	p.state = same
	return u.wrapError(p.name, err)
}

// makeAbove makes the directories above a name that are not there.
func (u *Unpacking) makeAbove(name string) error {
	above := path.Dir(name)
	if above == "." {
		return nil
	}
	p := &u.list[u.index[above]]
	if p.state != fresh {
		return nil
	}
	if err := u.makeAbove(above); err != nil {
		return err
	}
	// One that the archive speaks of later gets its own mode and owners then.
	p.state, p.made = same, true
	w, _ := fsys.Attributes{UID: u.attrs.UID, GID: u.attrs.GID}.ForNew(fsys.Directory)
	w.Mode = u.modeOf(w.Mode, true)
	return u.makeDirectory(above, w)
}

func (u *Unpacking) makeDirectory(name string, w fsys.Wanted) error {
	dir, err := u.openDirectory(name)
	if err != nil {
		return err
	}
	base := path.Base(name)
	// Open to its owner only until its content is complete.
	if err := dir.Mkdir(base, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// What is there by now may be a link that was put in between.
	is, err := u.lookAt(name)
	if err != nil {
		return err
	}
	if err := u.isDir(name, is); err != nil {
		return err
	}
	if w.Mode&0o300 != 0o300 && os.Geteuid() != 0 { // nothing could be put into it
		u.later = append(u.later, planned{name: name, words: fsys.Octal(w.Mode)})
		w.Mode |= 0o300
	}
	return fsys.SetOwner(dir, base, w)
}

func (u *Unpacking) writeEntry(ctx context.Context, p planned, m *fsys.Member) error {
	dir, err := u.openDirectory(p.name)
	if err != nil {
		return err
	}
	base := path.Base(p.name)
	is, err := u.lookAt(p.name)
	if err != nil {
		return err
	}
	switch {
	case m.Kind == fsys.Directory && is.Kind == fsys.Absent:
		return u.makeDirectory(p.name, u.wantedOf(m))
	case m.Kind == fsys.Directory && p.made:
		return fsys.SetOwner(dir, base, u.wantedOf(m))
	case m.Kind == fsys.Directory:
		w, _ := u.onDir(is)
		return w.Set(dir, base, is)
	case p.state == dressed:
		w, _ := u.wantedOn(m, is)
		return w.Set(dir, base, is)
	}
	temp := fsys.TempName()
	switch m.Kind {
	case fsys.Link:
		if err = dir.Symlink(m.Target, temp); err == nil {
			w := u.wantedOf(m)
			err = changeOwner(dir, temp, w)
		}
	case fsys.HardLink:
		var to string
		if to, err = u.nameOf(m.Target); err == nil {
			err = u.at.Dir.Link(to, path.Join(path.Dir(p.name), temp))
		}
	default:
		err = u.fillFile(ctx, dir, temp, m)
	}
	if err == nil {
		err = dir.Rename(temp, base)
	}
	if err != nil || m.Kind == fsys.HardLink { // between two names of one file a rename does nothing
		_ = dir.Remove(temp) // the first error is the one to report
	}
	return err
}

func changeOwner(dir *os.Root, name string, w fsys.Wanted) error {
	if w.UID < 0 && w.GID < 0 {
		return nil
	}
	return dir.Lchown(name, w.UID, w.GID)
}

// fillFile makes a file with a member's content, owners, mode and time.
func (u *Unpacking) fillFile(ctx context.Context, dir *os.Root, name string, m *fsys.Member) error {
	packed, err := m.Open()
	if err != nil {
		return err
	}
	f, err := dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	// The wrapper hides ReadFrom, which would ignore the buffer.
	n, err := io.CopyBuffer(struct{ io.Writer }{f}, fsys.UntilStopped(ctx, io.LimitReader(packed, m.Size+1)), u.buf)
	_, disk := errors.AsType[syscall.Errno](err)
	switch {
	case fault.Stopped(ctx) != "":
		err = context.Cause(ctx)
	case err != nil && !disk, err == nil && n != m.Size:
		err = u.ar.Damaged(err)
	}
	w := u.wantedOf(m)
	// The mode is set after the owner: a change of owner clears bits.
	if err == nil && (w.UID >= 0 || w.GID >= 0) {
		err = f.Chown(w.UID, w.GID)
	}
	if err == nil {
		err = f.Chmod(fsys.FileMode(w.Mode))
	}
	if err == nil && !u.many {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return err
	}
	if m.Time.IsZero() {
		return nil
	}
	// Last, since writing changes the time.
	return dir.Chtimes(name, m.Time, m.Time)
}

// finishDirectories gives directories their modes, from the leaves to the root.
func (u *Unpacking) finishDirectories() error {
	for _, p := range slices.Backward(u.later) {
		dir, err := u.openDirectory(p.name)
		if err == nil {
			var mode uint64
			mode, err = strconv.ParseUint(p.words, 8, 32)
			err = errors.Join(err, dir.Chmod(path.Base(p.name), fsys.FileMode(uint32(mode))))
		}
		if err != nil {
			return u.wrapError(p.name, err)
		}
	}
	return nil
}
