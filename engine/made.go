package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"moon/engine/journal"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// Made is a thing on the machine that a run of a playbook made, changed or removed: what the playbook's state consists of.
type Made struct {
	events.Resource
	Host   string    `json:"host"`
	Step   string    `json:"step"` // its path
	Action string    `json:"action"`
	Run    string    `json:"run"`
	Time   time.Time `json:"time"`
	// Created says that it was not there before the playbook made it, whatever the last change was. It is known only of
	// what ReadState returns.
	Created bool `json:"created,omitempty"`

	Attempt int `json:"attempt"`
}

// statePath is the file of a playbook, in the directory of all states: a line for each change, the oldest first. It is only
// ever added to, and what is certain to be in the journal is added at the next sync: a run that dies in between adds it
// when it is resumed.
func statePath(dir, root, rootFile string) string {
	return fileOf(dir, ".jsonl", root, rootFile)
}

// ReadState returns what runs of a playbook have made and not removed again, in the order in which it came to be. A
// playbook that has never made anything has none.
func ReadState(dir, root, rootFile string) ([]Made, error) {
	all, err := readMade(statePath(dir, root, rootFile))
	if err != nil {
		return nil, err
	}
	type thing struct{ host, typ, name string }
	at := map[thing]int{}
	var list []Made
	for _, m := range all {
		key := thing{m.Host, m.Type, m.Name}
		i, known := at[key]
		switch {
		case m.Change == events.ChangeDelete:
			// Removing a directory removes what runs made below it.
			for j := range list {
				l := &list[j]
				below := l.Type == events.FileResource && m.Type == l.Type && strings.HasPrefix(l.Name, m.Name+"/")
				if l.Host == m.Host && l.Name != "" && (known && i == j || below) {
					delete(at, thing{l.Host, l.Type, l.Name})
					l.Name = ""
				}
			}
		case known:
			m.Created = list[i].Created
			list[i] = m
		default:
			m.Created = m.Change == events.ChangeCreate
			at[key] = len(list)
			list = append(list, m)
		}
	}
	return slices.DeleteFunc(list, func(m Made) bool { return m.Name == "" }), nil
}

// readMade reads a state file. A line that is not whole was being written when moon died; the journal has it still.
func readMade(path string) ([]Made, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the playbook's state: %w", err)
	}
	var all []Made
	for line := range bytes.Lines(text) {
		var m Made
		if json.Unmarshal(line, &m) == nil && m.Name != "" {
			all = append(all, m)
		}
	}
	return all, nil
}

// made takes note of what a step made, to be added to the playbook's state once that it did so is durable.
func (s *observer) made(step int, e events.StepCompleted) {
	if s.cfg.States == "" || e.Kept || len(e.Resources) == 0 || s.dry(step) {
		return
	}
	ps := &s.state.Plan().Steps[step]
	at, _ := s.state.Time()
	for _, r := range e.Resources {
		s.unrecorded = append(s.unrecorded, Made{
			Resource: r, Host: ps.Host, Step: ps.Path, Action: ps.Action, Run: s.id, Time: at.UTC(),
			Attempt: s.state.Attempt(step),
		})
	}
}

// record adds to the playbook's state what was made since the last time. A run that cannot is none the worse, and says so.
func (s *observer) record() {
	if len(s.unrecorded) == 0 || s.fatal != nil {
		return
	}
	if err := appendMade(s.cfg.States, s.state.Plan(), s.unrecorded); err != nil && !s.unrecordable {
		s.unrecordable = true
		s.add(fact.Warned{Step: -1, Message: fmt.Sprintf("what the steps made is not recorded: %s", err)})
	}
	s.unrecorded = s.unrecorded[:0]
}

// catchUp leaves out of what a resumed run has made what its state has already.
func (s *observer) catchUp() error {
	all, err := readMade(statePath(s.cfg.States, s.state.Plan().Root, s.state.Plan().RootFile))
	if err != nil {
		return err
	}
	type end struct {
		step    string
		attempt int
	}
	known := map[end]bool{}
	for _, m := range all {
		if m.Run == s.id {
			known[end{m.Step, m.Attempt}] = true
		}
	}
	// A crash between the journal and this file leaves entries that only the journal has; those are written now.
	s.unrecorded = slices.DeleteFunc(s.unrecorded, func(m Made) bool { return known[end{m.Step, m.Attempt}] })
	return nil
}

func appendMade(dir string, p *plan.Plan, list []Made) error {
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	for _, m := range list {
		if err := enc.Encode(m); err != nil {
			return err
		}
	}
	var disk journal.Disk // not the run's own: this file outlives it
	if err := disk.MkdirAll(dir); err != nil {
		return err
	}
	path := statePath(dir, p.Root, p.RootFile)
	// Looked at before the file is opened, which may create it: a new name needs a sync of its directory.
	_, missing := os.Stat(path)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	err = endLine(f)
	if err == nil {
		_, err = f.Write(lines.Bytes()) // at once, so that lines of two runs do not mix
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil && missing != nil {
		err = disk.SyncDir(dir)
	}
	return err
}

// endLine ends a line that was being written when moon died.
func endLine(f *os.File) error {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = f.WriteString("\n")
	return err
}
