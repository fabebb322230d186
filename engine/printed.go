package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"weak"

	"moon/engine/compact"
	"moon/events"
	"moon/events/fact"
	"moon/events/steplog"
	"moon/plan"
	"moon/plan/bind"
)

// What a step has printed becomes part of its result when the result is used:
//
//	step ──▶ steplog.Writer ──▶ PREFIX.out ──▶ plan.Output.Read ──▶ {{ r.stdout }}
//	                  └─▶ memory: what is short, and what the file does not have as it was printed (secrets, no_log)
//
// So output that is registered costs no memory before it is used, and one copy then.

// maxResult is how much of what a step prints its result may have, in bytes.
func (s *attempts) maxResult() int64 {
	if limit := s.cfg.Options.MaxResult; limit > 0 {
		return limit
	}
	return 16 << 20
}

// printed is what an attempt has printed, for its result. The writer is closed.
func (s *attempts) printed(w *steplog.Writer, prefix string) (stdout, stderr plan.Output, err error) {
	kept, errs, err := w.Kept()
	files := steplog.Files(s.OutDir(), prefix)
	if err == nil && kept.Size+errs.Size <= min(compact.MaxInline/2, s.maxResult()) {
		return plan.Output{Text: string(kept.Text)}, plan.Output{Text: string(errs.Text)}, nil
	}
	return s.outputOf(kept, files[0]), s.outputOf(errs, files[1]), err
}

func (s *attempts) outputOf(k steplog.Kept, file string) plan.Output {
	switch {
	case k.Over:
		return s.lost(k.Size)
	case k.InFile && k.Size > 0:
		return s.inFile(file, k.Size)
	}
	return plan.Output{Text: string(k.Text)}
}

// lost is output that is too large to be used, and is not kept.
func (s *attempts) lost(size int64) plan.Output {
	limit := s.maxResult()
	return plan.Output{From: string(fact.FromNone), Read: func() (string, error) { return "", &plan.TooLarge{Size: size, Limit: limit} }}
}

// inFile is output that a file has as it was printed.
func (s *attempts) inFile(file string, size int64) plan.Output {
	return plan.Output{From: string(fact.FromFile), Read: func() (string, error) {
		if limit := s.maxResult(); size > limit {
			return "", &plan.TooLarge{Size: size, Limit: limit}
		}
		return s.texts.read(file, size)
	}}
}

// texts reads files, and remembers the last one as long as somebody uses it: the rounds of a loop use the same.
type texts struct {
	mu   sync.Mutex
	file string
	last weak.Pointer[string]
}

func (t *texts) read(file string, size int64) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last := t.last.Value(); t.file == file && last != nil {
		return *last, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("read output: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	var b strings.Builder
	b.Grow(int(size))
	if _, err := f.WriteTo(&b); err != nil {
		return "", fmt.Errorf("read output: %w", err)
	}
	text := b.String()
	// A file that is shorter than its record was cut by someone; a result must not change silently.
	if int64(len(text)) != size {
		return "", fmt.Errorf("read output: %s has %d bytes; %d were written", filepath.Base(file), len(text), size)
	}
	// A weak pointer: as long as an expression holds the text no second copy is read, and then it may go.
	t.file, t.last = file, weak.Make(&text)
	return text, nil
}

// setAside takes out of a result what is made when it is used, for the journal, and says of what.
func setAside(registered map[string]any) (rest map[string]any, later map[string]fact.Source) {
	for name, v := range registered {
		l, is := v.(*plan.Later)
		if !is {
			continue
		}
		if later == nil {
			later, rest = map[string]fact.Source{}, make(map[string]any, len(registered))
		}
		if later[name] = fact.Source(l.From); l.From == "" {
			later[name] = fact.FromEntry
		}
	}
	if later == nil {
		return registered, nil
	}
	for name, v := range registered {
		if _, aside := later[name]; !aside {
			rest[name] = v
		}
	}
	return rest, later
}

// cutBefore is what Later would say of a result that was cut.
var cutBefore = map[string]fact.Source{
	"stdout": fact.FromFile, "stdout_lines": fact.FromFile, "stderr": fact.FromFile,
	"stderr_lines": fact.FromFile,
}

// addLater is the reverse of setAside, for a step of the plan at hand. That the files are whole is asked here: a run whose results
// are damaged is not resumed.
func (s *attempts) addLater(f fact.AttemptFinished, registered map[string]any) error {
	later := f.Later
	if f.Cut {
		later = cutBefore
	}
	if len(later) == 0 {
		return nil
	}
	files := steplog.Files(s.OutDir(), s.state.Out(f.Step))
	zero := 0
	r := plan.Result{Dialect: s.state.Plan().Dialect, Whole: bind.New(s.state.Plan(), f.Step, s.results).KeepsOutput(), RC: &zero}
	for i, one := range []struct {
		name string
		size int64
		to   *plan.Output
	}{{"stdout", f.Bytes.Out, &r.Stdout}, {"stderr", f.Bytes.Err, &r.Stderr}} {
		switch later[one.name+"_lines"] {
		case fact.FromFile:
			if info, err := os.Stat(files[i]); one.size > 0 && (err != nil || info.Size() != one.size) {
				return errors.Join(fmt.Errorf("output of %s is not whole: %d bytes of %s were written", events.StepID(f.Step), one.size,
					one.name), err)
			}
			if one.size > 0 {
				*one.to = s.inFile(files[i], one.size)
			}
		case fact.FromNone:
			*one.to = s.lost(one.size)
		case fact.FromEntry:
			one.to.Text, _ = registered[one.name].(string)
		}
	}
	made := r.Registered()
	for name := range later {
		registered[name] = made[name]
	}
	return nil
}
