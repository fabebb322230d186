package remote

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"syscall"
	"time"

	"github.com/fxamacker/cbor/v2"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
	"moon/plan/dialect"
	"moon/secret"
)

// Messages are CBOR because values must arrive as they were: text that is no UTF-8, whole numbers apart from fractions.
// JSON does neither. Both ends are the same moon, so fields go by their names, and there are no old versions of them.
var (
	encoder = must(cbor.EncOptions{}.EncMode())
	decoder = must(cbor.DecOptions{
		DefaultMapType: reflect.TypeFor[map[string]any](), IntDec: cbor.IntDecConvertSignedOrFail, UTF8: cbor.UTF8DecodeInvalid,
		MaxArrayElements: 1<<31 - 1, MaxMapPairs: 1<<31 - 1, MaxNestedLevels: 1<<16 - 1, // a frame is bound already
	}.DecMode())
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // a mistake in the options above
	}
	return v
}

func encodeMessage(message any) ([]byte, error) { return encoder.Marshal(message) }

func decodeMessage(body []byte, message any) error {
	if err := decoder.Unmarshal(body, message); err != nil {
		return errFrame
	}
	return nil
}

// hello opens a connection. The agent says it first.
type hello struct {
	Build string // which moon this is
	PID   int    `cbor:",omitempty"`
}

// What may be asked of the other end in addition to carrying a job out.
const (
	forFacts = "facts"
	forReady = "ready" // whether a user can be become there
	forPing  = "ping"  // nothing
	forLine  = "line"  // to run a command of a shell, for an action plugin
)

// purpose is what a job is sent for: to be carried out, to be only gone through in a dry run, or neither.
type purpose struct {
	dry  bool
	of   uint64 // which dry run; 0: one whose steps do not know of each other
	what string // forFacts and so on; "": the job itself
}

// request is a job on its way. Arguments go as plain data, and are decoded again at the other end by the declaration that
// decoded them here.
type request struct {
	What        string       `cbor:",omitempty"` // as in purpose
	Become      *exec.Become `cbor:",omitempty"` // whom the other end is to become for it
	Dry         bool
	Grace       time.Duration
	Action      string
	Raw         map[string]any
	Env         map[string]string
	Cwd         string
	Roams       bool
	Timeout     time.Duration
	Creates     string
	Removes     string
	Unless      string
	OnlyIf      string
	NoLog       bool
	Diff        bool
	Incremental *incremental
	Again       bool
	Attempt     string
	Dialect     dialect.Dialect // as in exec.Job, like the two that follow
	Trusted     bool
	Project     string
	Encrypted   bool         // the source may be: the host can decrypt it
	Hidden      []string     // what of the arguments and the environment others must not see
	Overlay     uint64       // as in purpose
	Source      *source      `cbor:",omitempty"` // nil: it is asked for
	Plugin      *spec.Plugin // of an action that is not compiled in
	Details     *exec.StepDetails
	Background  *exec.Background `cbor:",omitempty"`
}

// source is a file that a job is made from, and that goes along with it where asking takes the time of a way.
type source struct {
	Path     string
	Info     info
	Data     []byte
	Rendered *string `cbor:",omitempty"` // of a template
}

// smallSource is what goes along at most: more than most files are, and no time on any line.
const smallSource = 64 << 10

// sourceOf is nil where there is nothing to send along, or it cannot be read: the other end then asks, and learns why.
func sourceOf(j *exec.Job) *source {
	path := exec.Source(j)
	if path == "" {
		return nil
	}
	files := j.From
	if files == nil {
		files = fsys.OwnFiles{}
	}
	is, err := files.Stat(path)
	if err != nil || !is.Mode().IsRegular() || is.Size() > smallSource {
		return nil
	}
	f, err := files.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	s := &source{Path: path, Info: newInfo(is)}
	if s.Data, err = io.ReadAll(io.LimitReader(f, smallSource+1)); err != nil || len(s.Data) > smallSource {
		return nil
	}
	if renders := j.Action == "template"; renders && j.Names != nil {
		if text, err := j.Names.Render(string(s.Data), path); err == nil {
			s.Rendered = &text
		}
	}
	return s
}

type incremental struct {
	Sources   []string
	Generates []string
	Identity  string
	Recorded  string
	Force     bool
}

func newRequest(as purpose, grace time.Duration, j *exec.Job) request {
	r := request{
		Dry: as.dry, Overlay: as.of, Grace: grace, Action: j.Action, Env: j.Env, Cwd: j.Cwd, Roams: j.Roams, Timeout: j.Timeout,
		Creates: j.Creates, Removes: j.Removes, Unless: j.Unless, OnlyIf: j.OnlyIf, NoLog: j.NoLog, Diff: j.Diff,
		Again: j.Again, Attempt: j.Attempt, Dialect: j.Dialect, Trusted: j.Trusted, Project: j.Project, Encrypted: j.Decrypt != nil,
		What: as.what, Background: j.Background,
	}
	if j.Host != nil {
		r.Become, r.Source, r.Project = j.Become, sourceOf(j), ""
		if j.Roams { // a directory of this machine
			r.Cwd = ""
		}
	}
	// The other end gets its secrets in any case; it learns which they are.
	r.Hidden = j.Secrets.Within(j.Raw)
	for _, value := range j.Env {
		r.Hidden = append(r.Hidden, j.Secrets.Within(value)...)
	}
	if j.Details != nil {
		r.Hidden = append(r.Hidden, j.Secrets.Within(j.Details.Vars)...)
	}
	r.Raw, _ = plainValues(j.Raw).(map[string]any)
	if args, ok := j.Args.(*spec.PluginArgs); ok {
		r.Plugin, r.Details = args.Plugin, j.Details
		if args.Plugin.Speaks == spec.SpeaksPython {
			// The arguments have been checked, and the other end keeps what it was sent once: it needs only to know which pack it is.
			r.Plugin, r.Raw = args.Plugin.Brief(), args.Values
		}
	}
	if i := j.Incremental; i != nil {
		r.Incremental = &incremental{i.Sources, i.Generates, i.Identity, i.Recorded, i.Force}
	}
	return r
}

// toJob returns the request as a job of this process, without what only its host has.
func (r *request) toJob() (*exec.Job, error) {
	action, ok := spec.Lookup(r.Action)
	if r.Plugin != nil {
		var err error
		if action, err = r.Plugin.Declare(); err != nil {
			return nil, err
		}
		ok = true
	}
	if r.Become == nil || r.Become.User == me().Username { // and not somebody further on
		r.expandHomes(action)
	}
	j := &exec.Job{
		Action: r.Action, Env: r.Env, Cwd: r.Cwd, Roams: r.Roams, Timeout: r.Timeout,
		Creates: r.Creates, Removes: r.Removes, Unless: r.Unless, OnlyIf: r.OnlyIf, NoLog: r.NoLog, Diff: r.Diff,
		Again: r.Again, Attempt: r.Attempt, Become: r.Become, Dialect: r.Dialect, Trusted: r.Trusted, Project: r.Project,
		Background: r.Background,
	}
	if j.Cwd == "" && (r.What == "" || r.What == forLine) {
		home, err := os.UserHomeDir()
		if err != nil {
			home = "/"
		}
		j.Cwd = home
	}
	if len(r.Hidden) > 0 {
		j.Secrets = secret.NewSet()
		for _, text := range r.Hidden {
			j.Secrets.Add("", text)
		}
	}
	j.Raw, _ = nativeValues(r.Raw).(map[string]any)
	if r.Plugin != nil {
		j.Details = r.Details
	}
	if !ok {
		return j, nil // package exec says so
	}
	var problems []spec.Problem
	if j.Args, problems = action.Decode(j.Raw); len(problems) > 0 {
		return nil, fmt.Errorf("internal error: the arguments did not survive the connection: %s", problems[0])
	}
	return j, nil
}

// plainValues makes values plain: a number that keeps its spelling becomes that, which means the same to every field.
func plainValues(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plainValues(v[i])
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for k := range v {
			m[k] = plainValues(v[k])
		}
		return m
	case fmt.Stringer:
		return v.String()
	}
	return v
}

// nativeValues gives values the types they had: a whole number is an int.
func nativeValues(v any) any {
	switch v := v.(type) {
	case int64:
		return int(v)
	case []any:
		for i := range v {
			v[i] = nativeValues(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = nativeValues(v[k])
		}
	}
	return v
}

// restoreTypes gives a result the types that it had.
func restoreTypes(r exec.Result) exec.Result {
	r.Fields, _ = nativeValues(r.Fields).(map[string]any)
	r.Values, _ = nativeValues(r.Values).(map[string]any)
	return r
}

// cancel tells a job to end.
type cancel struct{ Stop fault.Stop }

// ask is a question to the host. Number tells the answers apart.
type ask struct {
	Number uint32
	What   string
	Text   string // what to evaluate, or a path
	File   string // to render
	Handle uint32 // of an open file
	Data   []byte // of the file that is fetched
	Yes    bool   // it is the last of it
}

// What an agent asks.
const (
	askRender  = "render"
	askHolds   = "holds"
	askValue   = "value"
	askForget  = "forget"
	askStat    = "stat"
	askOpen    = "open"
	askRead    = "read"
	askClose   = "close"
	askReadDir = "readdir"
	askLink    = "readlink"
	askDecrypt = "decrypt" // the source of the job
	askPack    = "pack"    // the module of the job, which is not kept here
	askSum     = "sum"     // where the file goes that the job fetches, and what is there
	askPut     = "put"     // a piece of it
)

// answer is what the host has to say to it.
type answer struct {
	Number uint32
	Err    *failure
	Text   string
	Yes    bool // of a condition; of a read, that this was the end
	Value  any
	Handle uint32
	Data   []byte
	Infos  []info
}

// failure is an error on its way. What package exec asks of an error survives.
type failure struct {
	Op, Path string // of a path's error
	Text     string
	Errno    string // the system's, by name: numbers differ between systems
}

// errnos are the errors that a step says something of its own about.
var errnos = map[string]syscall.Errno{
	"ENOENT": syscall.ENOENT, "EACCES": syscall.EACCES, "EPERM": syscall.EPERM, "ENOTDIR": syscall.ENOTDIR, "EISDIR": syscall.EISDIR,
	"EAGAIN": syscall.EAGAIN, "EBUSY": syscall.EBUSY, "EMFILE": syscall.EMFILE, "ENFILE": syscall.ENFILE, "ENOMEM": syscall.ENOMEM,
	"ETIMEDOUT": syscall.ETIMEDOUT, "EIO": syscall.EIO, "ELOOP": syscall.ELOOP,
}

func newFailure(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error()}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		f.Op, f.Path, f.Text = e.Op, e.Path, e.Err.Error()
	}
	for name, errno := range errnos {
		if errors.Is(err, error(errno)) {
			f.Errno = name
		}
	}
	return f
}

func (f *failure) toError() error {
	if f == nil {
		return nil
	}
	err := errors.New(f.Text)
	if errno, ok := errnos[f.Errno]; ok {
		err = errno
	}
	if f.Path != "" {
		return &fs.PathError{Op: f.Op, Path: f.Path, Err: err}
	}
	return err
}

// info is an entry of a directory on its way.
type info struct {
	Entry string
	Bytes int64
	Bits  fs.FileMode
	Time  time.Time
}

func newInfo(i fs.FileInfo) info { return info{i.Name(), i.Size(), i.Mode(), i.ModTime()} }

// entry is an info as a file system gives it.
type entry struct{ info }

func (e entry) Name() string       { return e.Entry }
func (e entry) Size() int64        { return e.Bytes }
func (e entry) Mode() fs.FileMode  { return e.Bits }
func (e entry) ModTime() time.Time { return e.Time }
func (e entry) IsDir() bool        { return e.Bits.IsDir() }
func (e entry) Sys() any           { return nil }
