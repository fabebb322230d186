package statefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"moon/engine/journal"
	"moon/events"
	"moon/events/rundir"
	"moon/plan"
	"moon/plan/prior"
)

// Kept is how many of the last states are kept beside the one that counts.
const Kept = 10

// File is the state of one playbook. Several processes may append to it: what they write does not mix.
type File struct {
	path string
	with *sharing // nil: it is of this machine alone
}

// Of is the file of a playbook, in the directory of all states. root is the directory of the playbook, without links.
func Of(dir, root, rootFile string) File {
	if original, ok := alias[root]; ok {
		root = original
	}
	return File{path: rundir.FileFor(dir, ".jsonl", root, rootFile), with: shared}
}

// Name is what it is called, on this machine and on others.
func (f File) Name() string { return strings.TrimSuffix(filepath.Base(f.path), ".jsonl") }

// Path is where it is.
func (f File) Path() string { return f.path }

// Read returns what runs have made and not removed again. A playbook that has never made anything has an empty state.
func (f File) Read() (*prior.State, error) {
	records, err := f.Records()
	return prior.Fold(records), err
}

// Records returns all records; first it takes in what other machines have recorded.
func (f File) Records() (all []prior.Record, err error) {
	if f.with == nil {
		return f.here()
	}
	err = f.locked(func() (err error) {
		all, err = f.pull()
		return err
	})
	return all, err
}

// here are the records of the file. A line that is not whole was being written when moon died; the journal of its run has it still.
func (f File) here() ([]prior.Record, error) {
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the playbook's state: %w", err)
	}
	var all []prior.Record
	for line := range bytes.Lines(text) {
		if r, ok := decode(line); ok {
			all = append(all, r)
		}
	}
	return all, nil
}

// formerLine is a line as earlier versions of moon wrote it: one thing, and no way to take it away.
type formerLine struct {
	events.Resource
	Host    string    `json:"host"`
	Step    string    `json:"step"`
	Action  string    `json:"action"`
	Run     string    `json:"run"`
	Time    time.Time `json:"time"`
	Attempt int       `json:"attempt"`
}

func decode(line []byte) (prior.Record, bool) {
	var r prior.Record
	if json.Unmarshal(line, &r) != nil {
		return r, false
	}
	if r.Serial > 0 {
		return r, true
	}
	var old formerLine
	if json.Unmarshal(line, &old) != nil || old.Type == "" {
		return r, false
	}
	return prior.Record{
		Host: old.Host, Attempt: old.Attempt, Things: []events.Resource{old.Resource},
		Maker: prior.Maker{Step: old.Step, Action: old.Action, Run: old.Run, Time: old.Time},
	}, true
}

// Append adds records, and numbers them. When it returns they are on the disk.
func (f File) Append(records ...prior.Record) error {
	if len(records) == 0 {
		return nil
	}
	return f.locked(func() error {
		if f.with != nil {
			return f.appendShared(records)
		}
		last, err := f.lastSerial()
		if err != nil {
			return err
		}
		return f.write(last, records)
	})
}

// Change adds what a person asks for. change is given the state, and refuses by an error. The state before is kept.
func (f File) Change(change func(*prior.State) (prior.Record, error)) error {
	return f.locked(func() error {
		have, err := f.all()
		if err != nil {
			return err
		}
		r, err := change(prior.Fold(have))
		if err != nil {
			return err
		}
		if err := f.backUp(serialOf(have)); err != nil {
			return err
		}
		if f.with != nil {
			return f.changeShared(have, r)
		}
		return f.write(serialOf(have), []prior.Record{r})
	})
}

// Tidy keeps the state that a run finds, and makes the file short if most of its records no longer count.
func (f File) Tidy() error {
	if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) && f.with == nil {
		return nil
	}
	return f.locked(func() error {
		have, err := f.all()
		if err != nil || len(have) == 0 {
			return err
		}
		if err := f.backUp(serialOf(have)); err != nil {
			return err
		}
		now := prior.Fold(have)
		long := len(have) >= shortest && len(have) >= 4*len(now.Things)
		if f.with != nil {
			least := longest
			if long { // from a short file it could no longer be known how much the log has
				least = 2
			}
			f.compact(have, least)
			if have, err = f.pull(); err != nil {
				return err
			}
		}
		if !long {
			return nil
		}
		one := prior.Record{Log: logOf(have)}
		one.Seq, one.Seen, _ = places(have)
		return f.shorten(one, prior.Fold(have))
	})
}

// all are the records, for one who holds the lock.
func (f File) all() ([]prior.Record, error) {
	if f.with == nil {
		return f.here()
	}
	return f.pull()
}

// shorten has the file be one record, which says from where in the log it continues.
func (f File) shorten(one prior.Record, now *prior.State) error {
	one.Serial, one.Whole, one.Defined = now.Serial, append([]prior.Thing{}, now.Things...), now.Definitions
	line, err := json.Marshal(one)
	if err != nil {
		return err
	}
	return journal.Disk{}.Replace(f.path, append(line, '\n'))
}

// StaleError says that a plan removes or forgets what is recorded in another way now.
type StaleError struct{ What string }

func (e *StaleError) Error() string {
	return "what is recorded of " + e.What + " has changed since the plan was made"
}

// Check reports whether what a plan removes and forgets is still what the state in a directory has, and takes down the state as a run finds
// it. A dry run changes nothing, so it is not asked.
func Check(dir string, p *plan.Plan, dry bool) error {
	if dir == "" || dry {
		return nil
	}
	f := Of(dir, p.Root, p.RootFile)
	if err := f.Tidy(); err != nil {
		return fmt.Errorf("keep the playbook's state: %w", err)
	}
	if len(p.Orphans) == 0 {
		return nil
	}
	now, err := f.Read()
	if err != nil {
		return err
	}
	for i := range p.Orphans {
		o := &p.Orphans[i]
		if o.Fate == plan.OrphanKept || o.Fate == plan.OrphanStuck {
			continue
		}
		if have := now.Find(o.Thing.Key()); have == nil || have.Digest != o.Thing.Digest {
			return &StaleError{o.What()}
		}
	}
	return nil
}

// shortest is how many records a file may have without being made short.
const shortest = 1000

// serialOf is the number of the last record. Lines of earlier versions have none.
func serialOf(records []prior.Record) int {
	n := len(records)
	for i := range records {
		n = max(n, records[i].Serial)
	}
	return n
}

// lastSerial is the same, of the file. A run appends often, and looks only at the end.
func (f File) lastSerial() (int, error) {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the playbook's state: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	tail := make([]byte, min(info.Size(), 64<<10))
	if _, err := file.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return 0, err
	}
	lines := bytes.Split(bytes.TrimSuffix(tail, []byte("\n")), []byte("\n"))
	if r, ok := decode(lines[len(lines)-1]); ok && r.Serial > 0 {
		return r.Serial, nil
	}
	have, err := f.here() // the last line is broken, long, or an old one
	return serialOf(have), err
}

func (f File) old() string { return strings.TrimSuffix(f.path, ".jsonl") + ".old" }

// Backups are the serials of the states that are kept, the oldest first.
func (f File) Backups() (serials []string, err error) {
	names, err := os.ReadDir(f.old())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, n := range names {
		if serial, ok := strings.CutSuffix(n.Name(), ".jsonl"); ok {
			serials = append(serials, strings.TrimLeft(serial, "0"))
		}
	}
	return serials, err
}

// Backup is one of them.
func (f File) Backup(serial string) File {
	return File{path: filepath.Join(f.old(), fmt.Sprintf("%010s.jsonl", serial))}
}

func (f File) backUp(serial int) error {
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	disk := journal.Disk{}
	if err := disk.MkdirAll(f.old()); err != nil {
		return err
	}
	if err := disk.Put(f.Backup(fmt.Sprint(serial)).path, text); err != nil { // its name stands for what is in it
		return err
	}
	names, err := filepath.Glob(filepath.Join(f.old(), "*.jsonl"))
	slices.Sort(names)
	for ; err == nil && len(names) > Kept; names = names[1:] {
		err = os.Remove(names[0])
	}
	return err
}

// write adds lines at once, so that a reader sees whole ones.
func (f File) write(serial int, records []prior.Record) error {
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	enc.SetEscapeHTML(false)
	for i := range records {
		serial++
		records[i].Serial = serial
		if err := enc.Encode(records[i]); err != nil {
			return err
		}
	}
	// Looked at before the file is opened, which may create it: a new name needs a sync of its directory.
	_, missing := os.Stat(f.path)
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	err = endLine(file)
	if err == nil {
		_, err = file.Write(lines.Bytes())
	}
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil && missing != nil {
		err = journal.Disk{}.SyncDir(filepath.Dir(f.path))
	}
	return err
}

// locked does something while no other process changes the file.
func (f File) locked(do func() error) (err error) {
	if err := (journal.Disk{}).MkdirAll(filepath.Dir(f.path)); err != nil {
		return err
	}
	lock := flock.New(strings.TrimSuffix(f.path, ".jsonl")+".lock", flock.SetPermissions(0o600))
	if err := journal.Uninterrupted(lock.Lock); err != nil {
		return fmt.Errorf("lock the playbook's state: %w", err)
	}
	defer func() { err = errors.Join(err, journal.Uninterrupted(lock.Unlock)) }()
	return do()
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
