package exec

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"

	"moon/events"
)

// target is a file that shall have a content. It serves copy, template, file with content, and edits.
type target struct {
	at       *place
	is       entry
	attrs    attributes
	from     source
	force    bool // replace other content
	backup   bool
	validate string
	says     string // of a change of the content, instead of the sizes
	makes    bool   // the directory that it goes into, if a slash says that it is one
	later    *bool  // whether the caller brings many files onto the disk at once; nil: no
}

// plan adds to a change what it takes to give the target its content and attributes.
func (t target) plan(ctx context.Context, a *attempt, c *change) (*change, error) {
	c.diff.Path = t.at.path
	c.result = t.at
	switch t.is.kind {
	case absent:
		return t.create(a, c), nil
	case directory:
		return nil, fmt.Errorf("%s is a directory", t.at.path)
	case other:
		return nil, fmt.Errorf("%s is %s", t.at.path, t.is.what())
	case link:
		if !t.force {
			return c.none(), nil
		}
		w, words := t.attrs.anew(regular)
		t.foresee(c, w)
		return c.to(events.ChangeUpdate, t.replace(a, c, w), append([]string{"link to " + t.is.target + " → file, " + size(t.from.size)}, words...)...), nil
	}
	if !t.force {
		return c.none(), nil
	}
	same, sum, err := t.from.same(ctx, t.at, t.is)
	if err != nil {
		return nil, err
	}
	w, words := t.attrs.on(t.is)
	switch {
	case !same:
		words = append([]string{t.contentWords()}, words...)
		c.diff.Text = t.text(a)
		t.foresee(c, w)
		return c.to(events.ChangeUpdate, t.replace(a, c, w), words...), nil
	case len(words) > 0:
		maps.Copy(c.fields, map[string]any{"checksum": t.sum(a, sum)})
		c.foresees(func(f *Foresight) { f.own(t.at.path, t.is, w) })
		return c.to(events.ChangeUpdate, func(context.Context) error { return t.at.error(w.set(t.at.dir, t.at.name, t.is)) }, words...), nil
	}
	maps.Copy(c.fields, map[string]any{"checksum": t.sum(a, sum)})
	return c.none(), nil
}

// sum is the checksum of what was written. That of a secret is one too, since it would let others try out what that is.
func (t target) sum(a *attempt, checksum string) string {
	if a.Secrets.Has(string(t.from.data)) {
		a.Secrets.Add("", checksum)
	}
	return checksum
}

func (t target) create(a *attempt, c *change) *change {
	w, words := t.attrs.anew(regular)
	c.diff.Text = t.text(a)
	t.foresee(c, w)
	return c.to(events.ChangeCreate, t.replace(a, c, w), append([]string{"new file, " + size(t.from.size)}, words...)...)
}

// foresee tells later steps of a dry run of the new content.
func (t target) foresee(c *change, w wanted) {
	c.foresees(func(f *Foresight) { f.put(t.at.path, foreseen{entry: w.entry(regular), from: t.from}) })
}

func (t target) contentWords() string {
	if t.says != "" {
		return t.says
	}
	if t.is.size == t.from.size {
		return "content, " + size(t.from.size)
	}
	return fmt.Sprintf("content, %s → %s", size(t.is.size), size(t.from.size))
}

// text is the diff of the contents, where one is wanted and both are text.
func (t target) text(a *attempt) string {
	if !a.Diff || a.NoLog || t.from.size > diffLimit || t.is.size > diffLimit {
		return ""
	}
	var old []byte
	if t.is.kind == regular {
		var err error
		if old, err = t.at.read(t.is); err != nil {
			return ""
		}
		if old == nil {
			old = []byte{}
		}
	}
	now := t.from.text()
	if now == nil {
		return ""
	}
	return unified(t.at.path, old, now)
}

func (t target) replace(a *attempt, c *change, w wanted) func(context.Context) error {
	return func(ctx context.Context) error {
		r := replacement{
			at: t.at, old: t.is, want: w, mustOwn: t.attrs.uid >= 0 || t.attrs.gid >= 0,
			from: t.from, backup: t.backup, validate: t.validate, flush: t.later == nil || !*t.later,
		}
		m, err := r.apply(ctx, a)
		if err != nil {
			return err
		}
		c.fields["checksum"] = t.sum(a, m.checksum)
		if a.Plays && !a.Secrets.Has(m.checksum) {
			if is, err := t.at.look(); err == nil && is.kind == regular {
				c.fields["md5sum"], _ = t.at.sum(ctx, is, "md5") // what cannot be read is not said
			}
		}
		if m.backup != "" {
			c.fields["backup_file"] = filepath.Clean(m.backup)
			if _, both := c.fields["backup"]; both {
				c.fields["backup"] = c.fields["backup_file"]
			}
		}
		return nil
	}
}
