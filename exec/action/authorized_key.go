package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/lines"
	"moon/exec/spec"
)

var _ = exec.Register("authorized_key", exec.Action{Plan: planAuthorizedKey})

// keyFile is a user's file of authorized keys, in a directory that is held open. It may be the user's own directory, who
// could put a link anywhere into it: what is done in it stays below it.
type keyFile struct {
	dir  *os.Root
	name string // below dir
	path string
	u    *account
	mode fs.FileMode
	old  []byte // nil: there is no file
}

func planAuthorizedKey(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.AuthorizedKeyArgs)
	if url := args.URL(); url != "" {
		text, err := fetchKey(ctx, a, url, args.ValidateCerts)
		if err != nil {
			return nil, err
		}
		own := *args // the step may be done again
		args = &own
		if wrong := args.ReadKeys(text); len(wrong) > 0 {
			return nil, fmt.Errorf("what %s gives are not public keys: %s", hidePassword(url), wrong[0].Message)
		}
	}
	all, err := readAccounts(ctx, a, false)
	if err != nil {
		return nil, err
	}
	u := all.findUser(args.User)
	if u == nil {
		return nil, fault.Missing("", "user %s does not exist", args.User)
	}
	f, err := openKeyFile(args, u)
	if err != nil {
		return nil, err
	}
	unlock, err := edits.takeKey(ctx, f.path)
	if err != nil {
		_ = f.dir.Close() // nothing is written through it
		return nil, err
	}
	c := &exec.Change{Fields: map[string]any{"user": args.User, "path": f.path}}
	c.Unlock = func() {
		unlock()
		_ = f.dir.Close() // likewise
	}
	c.PlanNothing()
	c.Diff.Path = f.path
	if err := planKeys(a, c, f, args); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// openKeyFile opens the directory that the file is in, or the home above it.
func openKeyFile(args *spec.AuthorizedKeyArgs, u *account) (*keyFile, error) {
	f := &keyFile{u: u, mode: 0o600, path: args.Path}
	if f.path == "" {
		f.path = filepath.Join(u.home, ".ssh/authorized_keys")
	}
	base := filepath.Dir(f.path)
	// Below the home the user can put links anywhere. os.Root refuses those that lead out of it.
	if strings.HasPrefix(f.path, strings.TrimSuffix(u.home, "/")+"/") {
		base = u.home
	} else if args.ManageDir {
		base = filepath.Dir(base)
	}
	var err error
	if f.name, err = filepath.Rel(base, f.path); err != nil {
		return nil, err
	}
	f.dir, err = fsys.OpenDir(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Missing(f.path, "directory %s does not exist", base)
	}
	return f, err
}

func planKeys(a *exec.Attempt, c *exec.Change, f *keyFile, args *spec.AuthorizedKeyArgs) error {
	if err := readKeyFile(a, f, args); err != nil {
		return err
	}
	text, says, added := putKeys(string(f.old), args)
	n := 0
	for line := range strings.Lines(text) {
		if _, ok := spec.ParsePublicKey(line); ok {
			n++
		}
	}
	c.Fields["keys"] = n
	if text == string(f.old) {
		return nil
	}
	kind := events.ChangeUpdate
	if f.old == nil {
		kind = events.ChangeCreate
	}
	if a.Diff && !a.NoLog {
		c.Diff.Text = fsys.UnifiedDiff(f.path, f.old, []byte(text))
	}
	c.Plan(kind, func(context.Context) error {
		record := c.Watch(false, filepath.Dir(f.path))
		err := f.writeText(text, args)
		record()
		return err
	}, says)
	// Each key is a thing of its own, and so is the end that the last line may have got; the directory is known only when it was made.
	c.Ended = len(f.old) > 0 && !strings.HasSuffix(string(f.old), "\n")
	for _, k := range added {
		c.AddPart(events.Resource{
			Type: "authorized_key", Name: f.path + ": " + strings.TrimSpace(k.Comment+" "+endOf(k.ID, 16)),
			Undo: exec.UndoBy("authorized_key", map[string]any{
				"user": args.User, "key": k.ID, "path": f.path, "state": fsys.Absent, "follow": args.Follow, "manage_dir": false,
			}),
		})
	}
	if len(added) == 0 {
		c.AddFile(kind, f.path)
		c.AddResource(kind, "authorized_key", args.User)
	}
	c.AddPrediction(func(ahead *fsys.Overlay) {
		ahead.Put(f.path, fsys.Predicted{
			Entry: fsys.Entry{Kind: fsys.Regular, Mode: fsys.UnixMode(f.mode), UID: f.u.uid, GID: f.u.gid},
			From:  fsys.Source{Data: []byte(text), Size: int64(len(text))},
		})
	})
	return nil
}

// readKeyFile reads the file, as it is or as an earlier step of a dry run would leave it.
func readKeyFile(a *exec.Attempt, f *keyFile, args *spec.AuthorizedKeyArgs) error {
	if at, ok := a.Overlay.Look(f.path); ok && at.Kind == fsys.Regular {
		in, err := at.Open()
		if err != nil {
			return err
		}
		f.old, err = io.ReadAll(in)
		return errors.Join(err, in.Close())
	}
	info, err := f.dir.Lstat(f.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, above := f.dir.Stat(filepath.Dir(f.name)); above != nil && !args.ManageDir {
			return fault.Missing(f.path, "directory %s does not exist; manage_dir: true makes it", filepath.Dir(f.path))
		}
		return nil
	case err != nil:
		return f.wrapError(err)
	case info.Mode()&fs.ModeSymlink != 0 && !args.Follow:
		return fmt.Errorf("%s is a link; follow: true edits what it leads to", f.path)
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := f.dir.Readlink(f.name)
		if err != nil {
			return f.wrapError(err)
		}
		// os.Root takes any absolute target for one that leads out.
		if filepath.IsAbs(to) {
			return fmt.Errorf("%s is a link to %s; name that as `path`", f.path, to)
		}
		f.name = filepath.Join(filepath.Dir(f.name), to)
		if info, err = f.dir.Lstat(f.name); err != nil {
			return f.wrapError(err)
		}
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", f.path)
	}
	f.mode = info.Mode().Perm()
	f.old, err = f.dir.ReadFile(f.name)
	if f.old == nil {
		f.old = []byte{} // nil means that there was no file
	}
	return f.wrapError(err)
}

func (f *keyFile) wrapError(err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*fs.PathError](err)
	switch {
	case ok && strings.Contains(e.Err.Error(), "escapes"): // os.Root has no name for the error
		return fmt.Errorf("%s: a link leads out of %s; name the real file as `path`", f.path, f.dir.Name())
	case ok:
		return &fs.PathError{Op: e.Op, Path: f.path, Err: e.Err}
	}
	return err
}

// putKeys puts the keys into the text, or takes them out. A key is known by itself: its options and its comment may change.
func putKeys(text string, args *spec.AuthorizedKeyArgs) (edited, says string, fresh []spec.PublicKey) {
	d := lines.Read(text)
	changed, removed := 0, 0
	seen := map[string]bool{}
	// Backwards, so that the numbers of the lines still to come stay right. Of a key that is there twice, the last line stays.
	for i, line := range slices.Backward(slices.Clone(d.Lines)) {
		is, ok := spec.ParsePublicKey(line)
		if !ok {
			continue
		}
		at := slices.IndexFunc(args.Keys, func(k spec.PublicKey) bool { return k.ID == is.ID })
		switch {
		case args.State == fsys.Absent && at >= 0, args.State != fsys.Absent && at < 0 && args.Exclusive, at >= 0 && seen[is.ID]:
			d.Put(i, i+1)
			removed++
		case args.State != fsys.Absent && at >= 0:
			seen[is.ID] = true
			if is != args.Keys[at] {
				d.Put(i, i+1, args.Keys[at].String())
				changed++
			}
		}
	}
	for _, k := range args.Keys {
		if args.State != fsys.Absent && !seen[k.ID] {
			seen[k.ID] = true
			d.Put(len(d.Lines), len(d.Lines), k.String())
			fresh = append(fresh, k)
		}
	}
	if len(fresh)+changed+removed == 0 {
		return text, "", nil
	}
	d.Open = false
	var words []string
	for _, w := range []struct {
		n    int
		word string
	}{{len(fresh), "added"}, {changed, "changed"}, {removed, "removed"}} {
		if w.n > 0 {
			words = append(words, fmt.Sprintf("%s %s", countedKeys(w.n), w.word))
		}
	}
	return d.String(), strings.Join(words, ", "), fresh
}

func countedKeys(n int) string {
	if n == 1 {
		return "1 key"
	}
	return fmt.Sprintf("%d keys", n)
}

// writeText puts the new text in the place of the old at once, with its owner and mode first.
func (f *keyFile) writeText(text string, args *spec.AuthorizedKeyArgs) error {
	if args.ManageDir {
		if err := makeOwned(f.dir, filepath.Dir(f.name), f.u); err != nil {
			return f.wrapError(err)
		}
	}
	name := filepath.Join(filepath.Dir(f.name), fsys.TempName())
	err := writeOwned(f.dir, name, []byte(text), f.mode, f.u)
	// The rename swaps the whole file: sshd reads either the old keys or the new.
	if err == nil {
		err = f.dir.Rename(name, f.name)
	}
	if err != nil {
		_ = f.dir.Remove(name) // the first error is the one to report
	}
	return f.wrapError(err)
}
