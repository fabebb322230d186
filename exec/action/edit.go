package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

// editLimit is the size, in bytes, of the largest file that is edited. An edit has the whole text in memory.
const editLimit = 256 << 20

// edit changes a part of a file. A link is followed: it is the text that is edited, wherever it is.
type edit struct {
	path     string
	mode     spec.Mode
	owner    string
	group    string
	more     spec.FileAttributes
	create   bool   // the file, if there is none
	parents  bool   // and the directories above it
	fresh    string // what is said of a file that is made; "": what was done to its text
	hint     string // added to the error if there is none
	plain    bool   // in plays the result says only what was done
	gone     bool   // or take it for edited
	backup   bool
	validate string
}

// rcNoFile is what plays find as the exit status of an edit of a file that does not exist.
const rcNoFile = 257

// toCreate is the hint of actions that can make the file.
const toCreate = "; create: true makes it"

// editing returns the text as it shall be, and in words what was done to it.
type editing func(text string) (edited, says string)

// planEdit plans to read a file, edit its text and put the result in its place. From the look at the file to the end of the
// change no other step of this process edits it: steps of a loop may run at the same time.
func planEdit(ctx context.Context, a *exec.Attempt, e edit, do editing) (*exec.Change, error) {
	attrs, err := a.Overlay.NewAttributes(e.mode, e.owner, e.group, e.more)
	if err != nil {
		return nil, err
	}
	c := &exec.Change{Fields: map[string]any{"path": e.path, "msg": ""}}
	c.Diff.Path = e.path
	if e.plain {
		c.PlainFields = []string{"msg", "found", "rc", "backup", "backup_file"}
	}
	t := target{attrs: attrs, force: true, backup: e.backup, validate: e.validate}
	if e.parents && e.create && !e.gone { // what is to be gone needs no directory
		if dir := filepath.Dir(e.path); isMissing(a, dir) {
			e.parents = false
			return t.editInNew(ctx, a, c, dir, e, do)
		}
	}
	if err := t.editText(ctx, a, c, e, do); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// isMissing reports whether nothing is at a path, as far as a dry run knows.
func isMissing(a *exec.Attempt, path string) bool {
	_, err := a.Overlay.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// editInNew is planEdit for a file in a directory that is created first.
func (t *target) editInNew(ctx context.Context, a *exec.Attempt, c *exec.Change, dir string, e edit, do editing) (*exec.Change, error) {
	made, err := planDirectory(ctx, a, dir, spec.Mode{})
	if err != nil {
		return nil, err
	}
	c.AtEnd(made.Close)
	text, says := do("")
	says = cmp.Or(e.fresh, says)
	t.from = fsys.Source{Data: []byte(text), Size: int64(len(text))}
	c.Predictions, c.Resources = append(c.Predictions, made.Predictions...), append(c.Resources, made.Resources...)
	c.AddFile(events.ChangeCreate, e.path)
	last := len(c.Resources) - 1
	c.Resources[last].Undo = exec.RemoveEmpty(e.path)
	w, words := t.attrs.ForNew(fsys.Regular)
	c.AddPrediction(func(f *fsys.Overlay) { f.Put(e.path, fsys.Predicted{Entry: w.Entry(fsys.Regular), From: t.from}) })
	c.Fields["msg"] = says
	if a.Diff && !a.NoLog {
		c.Diff.Text = fsys.UnifiedDiff(e.path, []byte{}, t.from.Data)
	}
	words = append([]string{"new file, " + fsys.FormatSize(t.from.Size) + ", in a new directory"}, words...)
	return c.Plan(events.ChangeCreate, func(ctx context.Context) error {
		if err := applyPart(ctx, made); err != nil {
			return err
		}
		// Only now is there a directory that can be opened.
		in, err := planEdit(ctx, a, e, do)
		if err != nil {
			return err
		}
		defer in.Close()
		if err := applyPart(ctx, in); err != nil {
			return err
		}
		in.Describe(in.Result)
		for name, value := range a.Says(in) {
			if _, own := c.Fields[name]; !own {
				c.Fields[name] = value
			}
		}
		return nil
	}, words...), nil
}

func (t *target) editText(ctx context.Context, a *exec.Attempt, c *exec.Change, e edit, do editing) error {
	// The place is found without the lock and looked at with it: only what is read under the lock may be edited.
	p, _, err := a.Overlay.Followed(e.path)
	if e.gone && errors.As(err, new(fault.NotYet)) {
		c.Fields["msg"] = "file not present"
		c.PlanNothing()
		return nil
	}
	if err != nil {
		return err
	}
	c.Places = append(c.Places, p)
	if c.Unlock, err = edits.lockPlace(ctx, p); err != nil {
		return err
	}
	is, err := p.Look() // again: another step may have been at it
	if err != nil {
		return err
	}
	t.at, t.is = p, is
	var text string
	switch {
	case is.Kind == fsys.Absent && e.gone:
		c.Fields["msg"] = "file not present"
		c.PlanNothing()
		return nil
	case is.Kind == fsys.Absent && !e.create:
		return fault.NotYet{Path: e.path, Message: fmt.Sprintf("%s does not exist%s", e.path, e.hint), RC: rcNoFile}
	case is.Kind == fsys.Absent:
	case is.Kind != fsys.Regular:
		return fmt.Errorf("%s is %s", e.path, is.What())
	case is.Size > editLimit:
		return fmt.Errorf("%s is too large to edit: %s", e.path, fsys.FormatSize(is.Size))
	default:
		data, err := p.Read(is)
		if err != nil {
			return err
		}
		text = string(data)
	}
	edited, says := do(text)
	t.from = fsys.Source{Data: []byte(edited), Size: int64(len(edited))}
	c.Ended = text != "" && !strings.HasSuffix(text, "\n") && strings.HasSuffix(edited, "\n")
	if is.Kind == fsys.Absent {
		says = cmp.Or(e.fresh, says)
	}
	if edited != text {
		t.says = says
		c.Fields["msg"] = says
	}
	_, err = t.planWrite(ctx, a, c)
	return err
}

// edits are the files being edited.
var edits = locks{held: map[string]chan struct{}{}}

type locks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when it is free again
}

// lockPlace waits until nobody else has the place, under whatever path.
func (l *locks) lockPlace(ctx context.Context, p *fsys.Anchored) (unlock func(), err error) {
	key := p.Path
	if p.Dir != nil {
		// Paths may lead to the same file through links; device and inode of the directory do not differ.
		dir, err := p.Dir.Stat(".")
		if err != nil {
			return nil, p.PathError(err)
		}
		if st, ok := dir.Sys().(*syscall.Stat_t); ok {
			key = fmt.Sprintf("%d:%d/%s", st.Dev, st.Ino, p.Name)
		}
	}
	return l.takeKey(ctx, key)
}

// takeKey waits until nobody else has what the key stands for.
func (l *locks) takeKey(ctx context.Context, key string) (unlock func(), err error) {
	for {
		l.mu.Lock()
		busy, taken := l.held[key]
		if !taken {
			free := make(chan struct{})
			l.held[key] = free
			l.mu.Unlock()
			// The key is free before those who wait wake up, or they would find it taken.
			return func() {
				l.mu.Lock()
				delete(l.held, key)
				l.mu.Unlock()
				close(free)
			}, nil
		}
		l.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
