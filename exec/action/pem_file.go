package action

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"maps"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/pki"
	"moon/exec/spec"
)

// pemFile is a file that is made from keys: a key, a request, a certificate. What is there is judged, and made again if it will not do.
type pemFile struct {
	path         string
	mode         spec.Mode
	owner, group string
	more         spec.FileAttributes
	backup       bool
	secret       bool   // the file holds a private key
	what         string // that is made, in words
	force        string // why it is made again, whatever it is; "" if it need not be
	ahead        string // in a dry run the file that it is made from and that an earlier step would change

	judge   func(text []byte) (why string, err error) // why what is there will not do; "": it will
	produce func() ([]byte, error)
	say     func(text []byte) error // puts what the file holds into the result
}

// newPemFile is the file that the arguments of a step name.
func newPemFile(args spec.OwnFile) pemFile {
	f := pemFile{path: args.Path, mode: args.Mode, owner: args.Owner, group: args.Group, more: args.FileAttributes, backup: args.Backup}
	if args.Force {
		f.force = "made again by force"
	}
	return f
}

// removePemFile plans to remove what a step of this kind has made.
func removePemFile(ctx context.Context, a *exec.Attempt, path string, backup bool, fields map[string]any) (*exec.Change, error) {
	job, own := *a.Job, *a
	job.Args, own.Job = &spec.FileArgs{Path: path, State: fsys.Absent, Backup: backup}, &job
	c, err := planFile(ctx, &own)
	if err != nil {
		return nil, err
	}
	c.Fields["filename"] = path
	maps.Copy(c.Fields, fields)
	return c, nil
}

// plan adds to a change what it takes to have the file.
func (f *pemFile) plan(ctx context.Context, a *exec.Attempt, c *exec.Change) error {
	c.Hidden = f.secret
	attrs, err := a.Overlay.NewAttributes(f.mode, f.owner, f.group, f.more)
	if err != nil {
		return err
	}
	p, err := a.Overlay.OpenPlace(f.path)
	if err != nil {
		return err
	}
	c.Places = append(c.Places, p)
	t := target{at: p, attrs: attrs, force: true, backup: f.backup}
	if t.is, err = p.Look(); err != nil {
		return err
	}
	c.Diff.Path = p.Path
	switch t.is.Kind {
	case fsys.Absent:
		w, words := attrs.ForNew(fsys.Regular)
		f.planContent(a, c, &t, w, events.ChangeCreate, append([]string{"new " + f.what}, words...)...)
		return nil
	case fsys.Regular:
	default:
		return errors.New(p.Path + " is " + t.is.What())
	}
	text, err := p.Read(t.is)
	if err != nil {
		return err
	}
	if f.force == "" && len(text) == 0 && a.Overlay.Concerns(p.Path) {
		f.ahead = p.Path // the step that makes it comes before this one
	}
	why := f.force
	switch {
	case why != "":
	case f.ahead != "":
		c.Diff.Kind, c.Diff.Summary = events.ChangeUnknown, "an earlier step would change "+f.ahead
		return nil
	default:
		if why, err = f.judge(text); err != nil {
			return err
		}
	}
	w, words := attrs.For(t.is)
	if why != "" {
		f.planContent(a, c, &t, w, events.ChangeUpdate, append([]string{why}, words...)...)
		return nil
	}
	if err := f.say(text); err != nil {
		return err
	}
	t.from = fsys.Source{Data: text, Size: int64(len(text))}
	_, err = t.planWrite(ctx, a, c)
	c.Result = nil
	delete(c.Fields, "checksum") // that of a private key is no one's business, and Ansible says none of the others
	return err
}

// planContent writes the file, whose content is made only now.
func (f *pemFile) planContent(a *exec.Attempt, c *exec.Change, t *target, w fsys.Wanted, kind events.ChangeKind, words ...string) {
	c.AddPrediction(func(o *fsys.Overlay) { o.Put(t.at.Path, fsys.Predicted{Entry: w.Entry(fsys.Regular)}) })
	c.Plan(kind, func(ctx context.Context) error {
		text, err := f.produce()
		if err != nil {
			return err
		}
		t.from = fsys.Source{Data: text, Size: int64(len(text))}
		if err := t.replaceFile(a, c, w)(ctx); err != nil {
			return err
		}
		delete(c.Fields, "checksum")
		c.InPlays = nil // nor the MD5
		return f.say(text)
	}, words...)
}

// readFrom is what the file is made from: the content that the step gives, or that of another file. Where an earlier step of a dry run
// would make that file, nothing is known of it yet.
func (f *pemFile) readFrom(a *exec.Attempt, path, content string) (text []byte, err error) {
	if path == "" {
		return []byte(content), nil
	}
	p, is, err := a.Overlay.Followed(path)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	switch {
	case is.Kind == fsys.Absent:
		return nil, fault.Missing(path, "file not found: %s", path)
	case is.Kind != fsys.Regular:
		return nil, fmt.Errorf("%s is %s", path, is.What())
	}
	text, err = p.Read(is)
	if err == nil && len(text) == 0 && a.Overlay.Concerns(p.Path) {
		f.ahead = path
	}
	return text, err
}

// readKey is a private key that the file is made from; nil if it is not there yet.
func (f *pemFile) readKey(a *exec.Attempt, path, content, passphrase string) (crypto.PrivateKey, error) {
	text, err := f.readFrom(a, path, content)
	if err != nil || len(text) == 0 && f.ahead != "" {
		return nil, err
	}
	key, _, err := pki.Parse(text, passphrase, "Ed25519")
	if err != nil {
		if path == "" {
			path = "the private key that is given"
		}
		return nil, fmt.Errorf("%s cannot be read: %w", path, err)
	}
	return key, nil
}

// orNull is a text, or null if there is none.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// listOrNull is a list for a result, or null if there is none.
func listOrNull(list []string) any {
	if list == nil {
		return nil
	}
	return anyList(list)
}
