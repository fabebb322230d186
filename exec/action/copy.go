package action

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/digest"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
	"moon/secret/vault"
)

var _ = exec.Register("copy", exec.Action{Plan: planCopy})

func planCopy(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.CopyArgs)
	if args.RemoteSrc {
		a = withOwnFiles(a)
	}
	attrs, err := a.Overlay.NewAttributes(args.Mode, args.Owner, args.Group, args.FileAttributes)
	if err != nil {
		return nil, err
	}
	from, isDir, err := findCopySource(a, args)
	if err == nil && from.Path != "" {
		from, err = decryptSource(a, from)
	}
	if err != nil {
		return nil, err
	}
	if isDir {
		if err := attrs.OnlyFiles(); err != nil {
			return nil, err
		}
		return planTree(ctx, a, args, attrs)
	}
	if err := checkSum(from, args.Checksum); err != nil {
		return nil, err
	}
	if args.Mode.Preserve() {
		if attrs.Mode, err = spec.ParseMode(fmt.Sprintf("%04o", from.Mode)); err != nil {
			return nil, err
		}
	}
	c := &exec.Change{Fields: map[string]any{}}
	if args.Src != "" {
		c.Fields["src"] = args.Src
	}
	if !args.RemoteSrc { // what Ansible has there is a file of its own
		c.InPlays = append(c.InPlays, func(fields map[string]any) { delete(fields, "src") })
	}
	name := ""
	if args.Src != "" {
		name = filepath.Base(args.Src)
	}
	t := target{
		attrs: attrs, dirs: args.DirMode, from: from, force: args.Force, backup: args.Backup, validate: args.Validate, follow: args.Follow,
	}
	return t.writeInto(ctx, a, c, args.Dest, name)
}

// withOwnFiles is the attempt with the files of the machine that it runs on.
func withOwnFiles(a *exec.Attempt) *exec.Attempt {
	job, own := *a.Job, *a
	job.From, job.Decrypt = nil, nil
	own.Job = &job
	return &own
}

// writeInto plans to write to dest, or to the name in it if it is a directory.
func (t target) writeInto(ctx context.Context, a *exec.Attempt, c *exec.Change, dest, name string) (*exec.Change, error) {
	at, err := a.Overlay.Stat(dest)
	// A slash at the end of `dest` asks for a directory, which is made.
	if name != "" && strings.HasSuffix(dest, "/") && errors.Is(err, fs.ErrNotExist) {
		return t.intoNew(ctx, a, c, dest, name)
	}
	if name != "" && (strings.HasSuffix(dest, "/") || err == nil && at.Kind == fsys.Directory) {
		dest = filepath.Join(dest, name)
	} else if err == nil && at.Kind == fsys.Directory {
		return nil, fmt.Errorf("%s is a directory; name the file in it", dest)
	}
	p, err := a.Overlay.OpenPlace(dest)
	if err != nil {
		return nil, err
	}
	if t.follow {
		if p, err = followFile(a, p); err != nil {
			return nil, err
		}
		dest = p.Path
	}
	c.Places = append(c.Places, p)
	c.Fields["dest"] = dest
	t.at = p
	if t.is, err = p.Look(); err == nil {
		_, err = t.planWrite(ctx, a, c)
	}
	if err == nil && c.Diff.Kind == events.ChangeNone {
		c.Fields["path"] = dest // of what is unchanged it has both names
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// followFile is the place of the file that a link at a place leads to. A link that leads to no file is replaced as without `follow`.
func followFile(a *exec.Attempt, p *fsys.Anchored) (*fsys.Anchored, error) {
	end, e, err := a.Overlay.Followed(p.Path)
	switch {
	case errors.As(err, new(fault.NotYet)):
		return p, nil
	case err != nil:
		p.Close()
		return nil, err
	case e.Kind != fsys.Regular:
		end.Close()
		return p, nil
	}
	p.Close()
	return end, nil
}

// planDirectory plans a directory with those above it by the action `file`, as a job that differs in its arguments only.
func planDirectory(ctx context.Context, a *exec.Attempt, path string, mode spec.Mode) (*exec.Change, error) {
	job, own := *a.Job, *a
	job.Args, own.Job = &spec.FileArgs{Path: strings.TrimRight(path, "/"), State: fsys.Directory, Mode: mode}, &job
	return planFile(ctx, &own)
}

// applyPart makes a change that is a part of another, unless it was made before its plan looked.
func applyPart(ctx context.Context, part *exec.Change) error {
	if part.Diff.Kind == events.ChangeNone {
		return nil
	}
	return part.Apply(ctx)
}

// intoNew is into for a directory that is not there, which is made first.
func (t target) intoNew(ctx context.Context, a *exec.Attempt, c *exec.Change, dest, name string) (*exec.Change, error) {
	made, err := planDirectory(ctx, a, dest, t.dirs)
	if err != nil {
		return nil, err
	}
	c.AtEnd(made.Close)
	path := filepath.Join(dest, name)
	c.Fields["dest"], c.Diff.Path = path, path
	w, words := t.attrs.ForNew(fsys.Regular)
	c.Predictions, c.Resources = append(c.Predictions, made.Predictions...), append(c.Resources, made.Resources...)
	c.AddFile(events.ChangeCreate, path)
	c.AddPrediction(func(f *fsys.Overlay) { f.Put(path, fsys.Predicted{Entry: w.Entry(fsys.Regular), From: t.from}) })
	words = append([]string{"new file, " + fsys.FormatSize(t.from.Size) + ", in a new directory"}, words...)
	return c.Plan(events.ChangeCreate, func(ctx context.Context) error {
		if err := applyPart(ctx, made); err != nil {
			return err
		}
		// Only now is there a directory that can be opened.
		in, err := t.writeInto(ctx, a, &exec.Change{Fields: map[string]any{}}, dest, name)
		if err != nil {
			return err
		}
		defer in.Close()
		if err := applyPart(ctx, in); err != nil {
			return err
		}
		in.Describe(in.Result)
		maps.Copy(c.Fields, a.Says(in))
		return nil
	}, words...), nil
}

func findCopySource(a *exec.Attempt, args *spec.CopyArgs) (from fsys.Source, isDir bool, err error) {
	if args.Content != nil {
		return fsys.Source{Data: []byte(*args.Content), Size: int64(len(*args.Content))}, false, nil
	}
	info, err := a.Files().Stat(args.Src)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fsys.Source{}, false, fault.Missing(args.Dest, "src %s does not exist", args.Src)
	case err != nil:
		return fsys.Source{}, false, err
	case info.IsDir():
		return fsys.Source{}, true, nil
	case !info.Mode().IsRegular():
		return fsys.Source{}, false, fmt.Errorf("src %s is neither a file nor a directory", args.Src)
	}
	return fsys.Source{Files: a.Files(), Path: args.Src, Size: info.Size(), Mode: fsys.UnixMode(info.Mode())}, false, nil
}

// maxVault is the largest file that is decrypted, in bytes.
const maxVault = 16 << 20

// decryptSource is the source itself, or the text in it that is encrypted.
func decryptSource(a *exec.Attempt, from fsys.Source) (fsys.Source, error) {
	f, err := a.Files().Open(from.Path)
	if err != nil {
		return from, err
	}
	defer func() { _ = f.Close() }() // it was only read
	// Enough for the header of a vault file, so that large files are not read for nothing.
	text := make([]byte, 64)
	n, _ := io.ReadFull(f, text)
	if a.Decrypt == nil || !vault.Is(text[:n]) {
		return from, nil // what cannot be read is said when it is copied
	}
	if from.Size > maxVault {
		return from, fmt.Errorf("src %s is encrypted, and larger than %d MB", from.Path, maxVault>>20)
	}
	rest, err := io.ReadAll(f)
	if err != nil {
		return from, err
	}
	plain, err := a.Decrypt(append(text[:n], rest...))
	if err != nil {
		return from, fmt.Errorf("src %s: %w", from.Path, err)
	}
	return fsys.Source{Data: plain, Size: int64(len(plain)), Mode: from.Mode}, nil
}

// checkSum compares the source with the checksum that the playbook gives.
func checkSum(from fsys.Source, want string) error {
	if want == "" {
		return nil
	}
	algorithm, digits, err := digest.Checksum(want)
	if err != nil {
		return err
	}
	in, err := from.Open()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	h := fsys.Hashes[algorithm]()
	if _, err := io.Copy(h, in); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != digits {
		what := "content"
		if from.Path != "" {
			what = from.Path
		}
		return fmt.Errorf("checksum: %s has %s %s, not %s", what, algorithm, got, digits)
	}
	return nil
}
