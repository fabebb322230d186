package exec

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
)

// apply goes through the archive again and does what was planned.
func (u *unpacking) apply(ctx context.Context) error {
	u.close()
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
	err := u.ar.each(ctx, func(m *member) error { return u.do(ctx, m) })
	if err == nil && u.next != len(u.digests) {
		err = u.swapped()
	}
	if err == nil {
		err = u.finish()
	}
	if err != nil {
		return err
	}
	if u.many {
		return syncAll(u.at.dir)
	}
	return syncDir(u.at.dir)
}

func (u *unpacking) swapped() error {
	return fmt.Errorf("%s was changed while it was unpacked", u.ar.path)
}

// do writes one member, if that was planned.
func (u *unpacking) do(ctx context.Context, m *member) error {
	n := u.next
	u.next++
	if n >= len(u.digests) || m.digest() != u.digests[n] {
		return u.swapped()
	}
	i, ok := u.doing[n]
	if !ok {
		return nil
	}
	p := &u.list[i]
	err := u.above(p.name)
	if err == nil {
		err = u.write(ctx, *p, m)
	}
	p.state = same
	return u.error(p.name, err)
}

// above makes the directories above a name that are not there.
func (u *unpacking) above(name string) error {
	above := path.Dir(name)
	if above == "." {
		return nil
	}
	p := &u.list[u.index[above]]
	if p.state != fresh {
		return nil
	}
	if err := u.above(above); err != nil {
		return err
	}
	// One that the archive speaks of later gets its own mode and owners then.
	p.state, p.made = same, true
	w, _ := attributes{uid: u.attrs.uid, gid: u.attrs.gid}.anew(directory)
	w.mode = u.modeOf(w.mode, true)
	return u.mkdir(above, w)
}

func (u *unpacking) mkdir(name string, w wanted) error {
	dir, err := u.in(name)
	if err != nil {
		return err
	}
	base := path.Base(name)
	if err := dir.Mkdir(base, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	is, err := u.look(name)
	if err != nil {
		return err
	}
	if err := u.isDir(name, is); err != nil {
		return err
	}
	if w.mode&0o300 != 0o300 && os.Geteuid() != 0 { // nothing could be put into it
		u.later = append(u.later, planned{name: name, words: octal(w.mode)})
		w.mode |= 0o300
	}
	return own(dir, base, w)
}

func (u *unpacking) write(ctx context.Context, p planned, m *member) error {
	dir, err := u.in(p.name)
	if err != nil {
		return err
	}
	base := path.Base(p.name)
	is, err := u.look(p.name)
	if err != nil {
		return err
	}
	switch {
	case m.kind == directory && is.kind == absent:
		return u.mkdir(p.name, u.wants(m))
	case m.kind == directory && p.made:
		return own(dir, base, u.wants(m))
	case m.kind == directory:
		w, _ := u.onDir(is)
		return w.set(dir, base, is)
	case p.state == dressed:
		w, _ := u.on(m, is)
		return w.set(dir, base, is)
	}
	temp := tempName()
	switch m.kind {
	case link:
		if err = dir.Symlink(m.target, temp); err == nil {
			w := u.wants(m)
			err = lchown(dir, temp, w)
		}
	case hard:
		var to string
		if to, err = u.nameOf(m.target); err == nil {
			err = u.at.dir.Link(to, path.Join(path.Dir(p.name), temp))
		}
	default:
		err = u.fill(ctx, dir, temp, m)
	}
	if err == nil {
		err = dir.Rename(temp, base)
	}
	if err != nil || m.kind == hard { // between two names of one file a rename does nothing
		_ = dir.Remove(temp) // the first error is the one to report
	}
	return err
}

func lchown(dir *os.Root, name string, w wanted) error {
	if w.uid < 0 && w.gid < 0 {
		return nil
	}
	return dir.Lchown(name, w.uid, w.gid)
}

// fill makes a file with a member's content, owners, mode and time.
func (u *unpacking) fill(ctx context.Context, dir *os.Root, name string, m *member) error {
	packed, err := m.open()
	if err != nil {
		return err
	}
	f, err := dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{f}, stoppable{ctx, io.LimitReader(packed, m.size+1)}, u.buf)
	_, disk := errors.AsType[syscall.Errno](err)
	switch {
	case stopped(ctx) != "":
		err = context.Cause(ctx)
	case err != nil && !disk, err == nil && n != m.size:
		err = u.ar.damaged(err)
	}
	w := u.wants(m)
	if err == nil && (w.uid >= 0 || w.gid >= 0) {
		err = f.Chown(w.uid, w.gid)
	}
	if err == nil {
		err = f.Chmod(fileMode(w.mode))
	}
	if err == nil && !u.many {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return err
	}
	if m.time.IsZero() {
		return nil
	}
	return dir.Chtimes(name, m.time, m.time)
}

// finish gives directories their modes, from the leaves to the root.
func (u *unpacking) finish() error {
	for _, p := range slices.Backward(u.later) {
		dir, err := u.in(p.name)
		if err == nil {
			var mode uint64
			mode, err = strconv.ParseUint(p.words, 8, 32)
			err = errors.Join(err, dir.Chmod(path.Base(p.name), fileMode(uint32(mode))))
		}
		if err != nil {
			return u.error(p.name, err)
		}
	}
	return nil
}
