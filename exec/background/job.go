package background

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"moon/events"
	"moon/internal/pattern"
)

// DirVariable names the directory of jobs, in the environment of a task.
const DirVariable = "ANSIBLE_ASYNC_DIR"

// Job is a job by its place.
type Job struct{ dir, id string }

// Record is what is known of a job. Ended is nil until it has.
type Record struct {
	Begun bool // its action may have been started
	PID   int  // of its keeper
	At    time.Time
	Ended *Ended
}

// Ended is how a job has ended, as exec.Result has it.
type Ended struct {
	Outcome   events.Outcome    `json:"outcome"`
	RC        *int              `json:"rc,omitempty"`
	Error     string            `json:"error,omitempty"`
	Class     string            `json:"class,omitempty"`
	Detail    string            `json:"detail,omitempty"`
	Fields    map[string]any    `json:"fields,omitempty"`
	Values    map[string]any    `json:"values,omitempty"`
	Message   string            `json:"message,omitempty"`
	Diff      *events.Diff      `json:"diff,omitempty"`
	Resources []events.Resource `json:"resources,omitempty"`
	Warnings  []string          `json:"warnings,omitempty"`
	Stdout    string            `json:"stdout,omitempty"`
	Stderr    string            `json:"stderr,omitempty"`
}

// document is the file of a record: what Ansible has in such a file, and what moon needs to make a result of it again.
type document struct {
	ID       string    `json:"ansible_job_id"`
	Started  int       `json:"started"`
	Finished int       `json:"finished"`
	Begun    bool      `json:"begun"`
	PID      int       `json:"pid,omitempty"`
	At       time.Time `json:"at"`
	Ended    *Ended    `json:"ended,omitempty"`
}

var plainID = pattern.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$`)

// New is a job in the directory that the environment of its task names, or else in one of moon's own.
func New(getenv func(string) string, id string) (Job, error) {
	if !plainID.MatchString(id) || strings.HasSuffix(id, lockSuffix) {
		return Job{}, fmt.Errorf("%q is not the id of a job: it is what a task with `async` registers as `ansible_job_id`", id)
	}
	dir := getenv(DirVariable)
	if dir == "" {
		dir = "~/.moon_async"
	}
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return Job{}, fmt.Errorf("find the directory of jobs: %w", err)
		}
		dir = home + rest
	}
	if !filepath.IsAbs(dir) {
		return Job{}, fmt.Errorf("%s must be an absolute path; it is %q", DirVariable, dir)
	}
	return Job{filepath.Clean(dir), id}, nil
}

const lockSuffix = ".lock"

// Path is the file of the record: results_file.
func (j Job) Path() string { return filepath.Join(j.dir, j.id) }

// Take makes the job the caller's, until the file is closed in every process that has it. ok is false where it is another's.
func (j Job) Take() (lock *os.File, ok bool, err error) {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return nil, false, err
	}
	return j.lock(os.O_CREATE)
}

func (j Job) lock(flag int) (lock *os.File, ok bool, err error) {
	lock, err = os.OpenFile(j.Path()+lockSuffix, os.O_RDWR|unix.O_NOFOLLOW|flag, 0o600)
	if err != nil {
		return nil, false, err
	}
	for {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil {
		return lock, true, nil
	}
	_ = lock.Close() // nothing was written to it
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, false, nil
	}
	return nil, false, fmt.Errorf("lock the job: %w", err)
}

// Read is the record of the job; the error is fs.ErrNotExist if there is none.
func (j Job) Read() (Record, error) {
	text, err := os.ReadFile(j.Path())
	if err != nil {
		return Record{}, err
	}
	var d document
	from := json.NewDecoder(bytes.NewReader(text))
	from.UseNumber()
	if err := from.Decode(&d); err != nil {
		return Record{}, fmt.Errorf("read %s: %w", j.Path(), err)
	}
	r := Record{Begun: d.Begun, PID: d.PID, At: d.At, Ended: d.Ended}
	if r.Ended != nil {
		r.Ended.Fields, _ = numbers(r.Ended.Fields).(map[string]any)
		r.Ended.Values, _ = numbers(r.Ended.Values).(map[string]any)
	}
	return r, nil
}

// numbers gives whole numbers the type that they had.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	}
	return v
}

// Write puts a record in the place of the one before, so that a reader finds one of them whole, also after a loss of power.
func (j Job) Write(r Record) error {
	d := document{ID: j.id, Started: 1, Begun: r.Begun, PID: r.PID, At: r.At, Ended: r.Ended}
	if r.Ended != nil {
		d.Finished = 1
	}
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("write down how the job ended: %w", err)
	}
	f, err := os.CreateTemp(j.dir, "."+j.id+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), j.Path())
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(j.dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// State is where a job is.
type State uint8

// Accepted is a job that no keeper has begun: it can be started without being done twice. Lost is one whose keeper is gone without having
// said how it ended.
const (
	Accepted State = iota
	Running
	Done
	Lost
)

// State finds out where the job is. The error is fs.ErrNotExist if nothing is known of it.
func (j Job) State() (Record, State, error) {
	r, err := j.Read()
	if err != nil || r.Ended != nil {
		return r, Done, err
	}
	lock, free, err := j.lock(0)
	if errors.Is(err, fs.ErrNotExist) {
		free, err = true, nil
	}
	if err != nil {
		return r, Lost, err
	}
	if lock != nil {
		defer func() { _ = lock.Close() }() // nothing was written to it
	}
	if !free {
		return r, Running, nil
	}
	// Only now nothing changes it any more: it may have ended in between.
	r, err = j.Read()
	switch {
	case err != nil || r.Ended != nil:
		return r, Done, err
	case r.Begun:
		return r, Lost, nil
	}
	return r, Accepted, nil
}

// Remove removes what is known of the job.
func (j Job) Remove() error {
	if err := os.Remove(j.Path()); err != nil {
		return err
	}
	if err := os.Remove(j.Path() + lockSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Prune removes what is known of jobs that have ended longer ago than that. What cannot be removed stays for the next time.
func (j Job) Prune(age time.Duration) {
	entries, err := os.ReadDir(j.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !plainID.MatchString(e.Name()) || strings.HasSuffix(e.Name(), lockSuffix) ||
			time.Since(info.ModTime()) < age {
			continue
		}
		old := Job{j.dir, e.Name()}
		if r, err := old.Read(); err == nil && r.Ended != nil {
			_ = old.Remove()
		}
	}
}

// Fields are what a result says of a job that has been started, in Ansible's words.
func (j Job) Fields(finished bool) map[string]any {
	return map[string]any{"ansible_job_id": j.id, "started": true, "finished": finished, "results_file": j.Path()}
}
