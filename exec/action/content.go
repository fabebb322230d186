package action

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

// target is a file that shall have a content. It serves copy, template, file with content, and edits.
type target struct {
	at       *fsys.Anchored
	is       fsys.Entry
	attrs    fsys.Attributes
	dirs     spec.Mode // of directories that are made for it
	from     fsys.Source
	force    bool // replace other content
	backup   bool
	follow   bool // a link to a file, and write that
	validate string
	says     string // of a change of the content, instead of the sizes
	later    *bool  // whether the caller brings many files onto the disk at once; nil: no
}

// planWrite adds to a change what it takes to give the target its content and attributes.
func (t target) planWrite(ctx context.Context, a *exec.Attempt, c *exec.Change) (*exec.Change, error) {
	c.Diff.Path = t.at.Path
	c.Result = t.at
	switch t.is.Kind {
	case fsys.Absent:
		return t.createFile(a, c), nil
	case fsys.Directory:
		return nil, fmt.Errorf("%s is a directory", t.at.Path)
	case fsys.Other:
		return nil, fmt.Errorf("%s is %s", t.at.Path, t.is.What())
	case fsys.Link:
		if !t.force {
			return c.PlanNothing(), nil
		}
		// The link itself is replaced, and not what it leads to.
		w, words := t.attrs.ForNew(fsys.Regular)
		t.predictContent(c, w)
		return c.Plan(events.ChangeUpdate, t.replaceFile(a, c, w),
			append([]string{"link to " + t.is.Target + " → file, " + fsys.FormatSize(t.from.Size)}, words...)...), nil
	}
	if !t.force {
		return c.PlanNothing(), nil
	}
	same, sum, err := t.from.Same(ctx, t.at, t.is)
	if err != nil {
		return nil, err
	}
	w, words := t.attrs.For(t.is)
	switch {
	case !same:
		words = append([]string{t.contentWords()}, words...)
		c.Diff.Text = t.diffText(a)
		// Sizes alone do not tell two contents apart that would be replaced. What a real run replaces nobody compares any more.
		if c.Diff.Text == "" && a.Predicts() && !a.NoLog {
			if c.Diff.Digest, err = t.at.Sum(ctx, t.is, "sha256"); err != nil {
				return nil, err
			}
		}
		t.predictContent(c, w)
		return c.Plan(events.ChangeUpdate, t.replaceFile(a, c, w), words...), nil
	case len(words) > 0:
		maps.Copy(c.Fields, map[string]any{"checksum": t.sumOf(a, sum)})
		c.AddPrediction(func(f *fsys.Overlay) { f.Own(t.at.Path, t.is, w) })
		return c.Plan(events.ChangeUpdate, func(context.Context) error { return t.at.PathError(w.Set(t.at.Dir, t.at.Name, t.is)) },
			words...), nil
	}
	maps.Copy(c.Fields, map[string]any{"checksum": t.sumOf(a, sum)})
	return c.PlanNothing(), nil
}

// sumOf returns the checksum of what was written. That of a secret is one too, since it would let others try out what that is.
func (t target) sumOf(a *exec.Attempt, checksum string) string {
	if a.Secrets.Has(string(t.from.Data)) {
		a.Secrets.Add("", checksum)
	}
	return checksum
}

func (t target) createFile(a *exec.Attempt, c *exec.Change) *exec.Change {
	w, words := t.attrs.ForNew(fsys.Regular)
	c.Diff.Text = t.diffText(a)
	t.predictContent(c, w)
	return c.Plan(events.ChangeCreate, t.replaceFile(a, c, w), append([]string{"new file, " + fsys.FormatSize(t.from.Size)}, words...)...)
}

// predictContent tells later steps of a dry run of the new content.
func (t target) predictContent(c *exec.Change, w fsys.Wanted) {
	c.AddPrediction(func(f *fsys.Overlay) { f.Put(t.at.Path, fsys.Predicted{Entry: w.Entry(fsys.Regular), From: t.from}) })
}

func (t target) contentWords() string {
	if t.says != "" {
		return t.says
	}
	if t.is.Size == t.from.Size {
		return "content, " + fsys.FormatSize(t.from.Size)
	}
	return fmt.Sprintf("content, %s → %s", fsys.FormatSize(t.is.Size), fsys.FormatSize(t.from.Size))
}

// diffText is the diff of the contents, where one is wanted and both are text.
func (t target) diffText(a *exec.Attempt) string {
	if !a.Diff || a.NoLog || t.from.Size > fsys.DiffLimit || t.is.Size > fsys.DiffLimit {
		return ""
	}
	var old []byte
	if t.is.Kind == fsys.Regular {
		var err error
		if old, err = t.at.Read(t.is); err != nil {
			return ""
		}
		if old == nil {
			old = []byte{}
		}
	}
	now := t.from.Text()
	if now == nil {
		return ""
	}
	return fsys.UnifiedDiff(t.at.Path, old, now)
}

func (t target) replaceFile(a *exec.Attempt, c *exec.Change, w fsys.Wanted) func(context.Context) error {
	return func(ctx context.Context) error {
		// In a copy of many files one sync at the end stands for one for each file.
		r := fsys.Replacement{
			At: t.at, Old: t.is, Want: w, MustOwn: t.attrs.UID >= 0 || t.attrs.GID >= 0,
			From: t.from, Backup: t.backup, Flush: t.later == nil || !*t.later,
			InPlace: t.attrs.InPlace,
		}
		if t.validate != "" {
			r.Accept = func(ctx context.Context, file string) error { return acceptFile(ctx, a, t.validate, file) }
		}
		m, err := r.Apply(ctx)
		if err != nil {
			return err
		}
		c.Fields["checksum"] = t.sumOf(a, m.Checksum)
		c.Wrote(t.at.Path, m.Checksum)
		// Ansible registers the MD5 as well. If the checksum is a secret, so is this one.
		c.InPlays = append(c.InPlays, func(fields map[string]any) {
			if a.Secrets.Has(m.Checksum) {
				return
			}
			if is, err := t.at.Look(); err == nil && is.Kind == fsys.Regular {
				fields["md5sum"], _ = t.at.Sum(ctx, is, "md5") // what cannot be read is not said
			}
		})
		if m.Backup != "" {
			c.Fields["backup_file"] = filepath.Clean(m.Backup)
			if _, both := c.Fields["backup"]; both {
				c.Fields["backup"] = c.Fields["backup_file"]
			}
		}
		return nil
	}
}

// acceptFile runs the command that must accept a new file.
func acceptFile(ctx context.Context, a *exec.Attempt, command, file string) error {
	words, err := spec.Words(command)
	if err != nil {
		return err
	}
	// The template is split before the name is put in, so that blanks in the name do not make two words.
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "%s", file)
	}
	e := a.PrepareWithOutput(words).Run(ctx)
	switch {
	case e.Err != nil:
		return e.Err
	case e.Stop != "":
		return e.Stop
	case e.Code == 0:
		return nil
	}
	return fault.CommandError{Message: "validate: " + e.String(), RC: &e.Code, Class: fault.Fatal}
}
