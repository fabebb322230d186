package library

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/collection"
	"moon/plan/inventory"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/reread"
	"moon/plan/source"
	"moon/secret"
)

// Request is what a library needs to know: where it reads, for which plan, and whom it asks.
type Request struct {
	Plan     *plan.Plan
	Problems *problems.Collector
	Disk     *source.Disk
	Secrets  *secret.Set       // where it puts what it decrypts
	Options  *plan.Options     // Home, Presets, RolesPath, Outside.{Vault,RunInventory}, and the actions by name
	WasRead  func(text []byte) // is given each text that was read
	Sealed   bool              // what is encrypted stays so: nobody is asked for a password
}

// Library reads the files of a plan, each once, and knows who includes whom.
type Library struct {
	Sources  map[string]*playbook.File // what was read, by shown path
	asked    map[string]bool           // programs, with their arguments
	Programs bool                      // an inventory is a program

	problems  *problems.Collector
	plan      *plan.Plan
	disk      *source.Disk
	secrets   *secret.Set
	o         *plan.Options
	wasRead   func(text []byte)
	sealed    bool
	files     map[string]*playbook.Playbook // parsed, by absolute path
	presets   map[string]*playbook.PresetFile
	taskFiles map[string]playbook.TasksOf // by path
	roles     map[string]*playbook.RoleFiles
	metas     map[string]*playbook.RoleFiles // what roles say of themselves, by directory
	open      []Opened
	finder    *collection.Finder // nil until a collection is asked for
	resolved  map[sought]*playbook.Task
}

// Opened is a file of steps while what is in it is planned.
type Opened struct {
	Path   string // absolute
	Preset bool
	name   string // as shown
	line   int    // of the include in that file
}

// New is an empty library.
func New(r Request) *Library {
	return &Library{
		Sources: map[string]*playbook.File{}, problems: r.Problems, plan: r.Plan, disk: r.Disk, secrets: r.Secrets, o: r.Options,
		wasRead: r.WasRead, sealed: r.Sealed, files: map[string]*playbook.Playbook{}, presets: map[string]*playbook.PresetFile{},
		taskFiles: map[string]playbook.TasksOf{}, roles: map[string]*playbook.RoleFiles{},
		metas: map[string]*playbook.RoleFiles{}, resolved: map[sought]*playbook.Task{},
	}
}

// Enter puts a file upon those that are open. Its place in the one that names it is the next link of chains.
func (l *Library) Enter(f Opened, name string, line int) (place string) {
	if n := len(l.open); n > 0 {
		outer := &l.open[n-1]
		outer.line = line
		place = fmt.Sprintf("%s:%d", outer.name, line)
	}
	f.name = name
	l.open = append(l.open, f)
	return place
}

// Leave closes the file that was entered last.
func (l *Library) Leave() { l.open = l.open[:len(l.open)-1] }

// Current is the name of the file that was entered last.
func (l *Library) Current() string { return l.open[len(l.open)-1].name }

// IsOpen reports whether the file that an include names is open. It is looked for only if one of that name is.
func (l *Library) IsOpen(name string, find func(name string) string) bool {
	named := func(one Opened) bool { return filepath.Base(one.Path) == filepath.Base(name) }
	return slices.ContainsFunc(l.open, named) && l.times(find(name)) > 0
}

func (l *Library) times(path string) (n int) {
	for _, one := range l.open {
		if one.Path == path {
			n++
		}
	}
	return n
}

// circleShown is how many files of each end of a long circle are named.
const circleShown = 5

// TraceInclude adds to what the parser says of an included file where that is included.
func (l *Library) TraceInclude(said int, chain []string, t *playbook.Task) {
	for i := said; i < min(len(l.problems.Found), diag.Max); i++ { // behind them is only that there is more
		l.problems.Found[i].Chain = append(slices.Clip(chain), fmt.Sprintf("%s:%d", t.Pos.File, t.Pos.Line))
	}
}

// deepest is how often a file of tasks may be inside itself by dynamic includes. A condition ends that sooner, or it
// has no end.
const deepest = 100

// RefuseCircle reports an include of a file that is being included already. A dynamic include of a play may do that, as often as its
// condition holds.
func (l *Library) RefuseCircle(target string, t *playbook.Task, chain []string) bool {
	most, hint := 1, "a file may be included twice, but not inside itself"
	if t.Kind == playbook.Include && t.Dynamic {
		most, hint = deepest, fmt.Sprintf("give it a condition that ends this: a file may be inside itself %d times", deepest)
	}
	if l.times(target) < most {
		return false
	}
	at := slices.IndexFunc(l.open, func(i Opened) bool { return i.Path == target })
	var parts []string
	for i := at; i < len(l.open); i++ {
		line := l.open[i].line
		if i == len(l.open)-1 {
			line = t.Pos.Line
		}
		parts = append(parts, fmt.Sprintf("%s:%d", l.open[i].name, line))
	}
	if n := len(parts) - 2*circleShown; n > 1 {
		parts = slices.Concat(parts[:circleShown], []string{fmt.Sprintf("… %d more …", n)}, parts[len(parts)-circleShown:])
	}
	parts = append(parts, l.open[at].name)
	l.problems.Errorf(t.Args.Pos(), 0, chain, hint, "include cycle: %s", strings.Join(parts, " → "))
	l.problems.Full = l.problems.Full || most > 1 // a file that includes itself twice would do so again on each level
	return true
}

// VarsDir says which files of a directory an include_vars reads.
type VarsDir struct {
	Depth      int // 0: any
	Matching   *regexp.Regexp
	Ignore     []*regexp.Regexp
	Extensions []string
	Lenient    bool   // files with other extensions are passed over
	Except     string // the file of the role that is in effect anyway
}

// ReadVarsDir reads the files of variables below a directory: those in it first, then what is below, each in the order of names.
func (l *Library) ReadVarsDir(chain []string, written playbook.Value, dir string, depth int, in *VarsDir) (files []*playbook.File) {
	names, err := l.disk.List(dir)
	// Links may lead back up, so there is a bound even if `depth` gives none.
	if err != nil || in.Depth > 0 && depth > in.Depth || depth > 30 {
		return nil
	}
	names = slices.Sorted(slices.Values(names))
	var below []string
	for _, name := range names {
		path := filepath.Join(dir, name)
		if !l.disk.Regular(path) {
			below = append(below, path)
			continue
		}
		if path == in.Except || in.Matching != nil && !in.Matching.MatchString(name) ||
			slices.ContainsFunc(in.Ignore, func(re *regexp.Regexp) bool { return re.MatchString(name) }) {
			continue
		}
		if !slices.Contains(in.Extensions, strings.TrimPrefix(filepath.Ext(name), ".")) {
			if !in.Lenient {
				l.problems.Errorf(written.Pos(), plan.Width(written), chain, "set `ignore_unknown_extensions: true`, or `extensions`",
					"include_vars: %s has none of the extensions %s", l.ShowPath(path), strings.Join(in.Extensions, ", "))
			}
			continue
		}
		f, err := l.Read(path)
		if err != nil {
			l.problems.Errorf(written.Pos(), plan.Width(written), chain, l.SuggestFix(path, err), "include_vars: %s", l.DescribeError(err))
			continue
		}
		files = append(files, f)
	}
	for _, path := range below {
		files = append(files, l.ReadVarsDir(chain, written, path, depth+1, in)...)
	}
	return files
}

// PortableLabel is the label of an item in a path, which is the same wherever the playbook lies.
func (l *Library) PortableLabel(label string) string {
	// The label is part of the path of the step, and so of the digest of the plan.
	if filepath.IsAbs(label) {
		return l.ShowPath(label)
	}
	return label
}

// LoadSteps reads and parses a file of steps once.
func (l *Library) LoadSteps(path string) (*playbook.Playbook, error) {
	if pb, ok := l.files[path]; ok {
		return pb, nil
	}
	f, err := l.Read(path)
	if err != nil {
		return nil, err
	}
	if f.Secret {
		return nil, errSecretSteps
	}
	_, pb := parse(l, "steps", f, playbook.Parse)
	l.files[path] = pb
	return pb, nil
}

// parser reads what is written in a file.
type parser[T any] = func(*playbook.File, playbook.Actions, *diag.List) T

// tree is what a parser has read, and what it has said.
type tree[T any] struct {
	file *playbook.File // to which the values in it belong
	what T
	said diag.List
}

// parse reads a file, unless that was done for a plan from which this one is made: YAML is a third of the work of planning.
func parse[T any](l *Library, kind string, f *playbook.File, how parser[T]) (*playbook.File, T) {
	name := kind + " " + f.Path
	unasked := l.findParser(f)
	if one, ok := l.disk.Parsed.Get(name, f.Text).(*tree[T]); ok {
		l.problems.Found = append(l.problems.Found, one.said...)
		return one.file, one.what
	}
	one := &tree[T]{file: f}
	one.what = how(f, l.o.Actions(), &one.said)
	hintAtParsers(f, unasked, one.said)
	l.problems.Found = append(l.problems.Found, one.said...)
	// What is decrypted while it is read becomes known as a secret of this plan, and has to be of the next.
	if f.Foreign == nil && !bytes.Contains(f.Text, []byte("!vault")) {
		f.Decrypt = nil                   // it reaches the plan, and nothing here is encrypted
		one.said = slices.Clone(one.said) // the planner adds to its own how a file was reached
		l.disk.Parsed.Keep(name, f.Text, one)
	}
	return f, one.what
}

// Read reads a file and notes it as an input of the plan.
func (l *Library) Read(path string) (*playbook.File, error) {
	shown := l.ShowPath(path)
	if f, ok := l.Sources[shown]; ok {
		return f, nil
	}
	seen, err := l.disk.Read(path)
	if err != nil {
		return nil, err
	}
	f := &playbook.File{Name: shown, Path: path, Text: seen.Text}
	if err := l.unlock(f); err != nil {
		return nil, err
	}
	l.plan.Inputs = append(l.plan.Inputs, plan.Input{Path: shown, Digest: seen.Digest})
	l.Sources[shown] = f
	// Costly facts that the text names must be known before it is rendered.
	l.wasRead(seen.Text)
	return f, nil
}

// DescribeError words an error of the file system without Go's chain.
func (l *Library) DescribeError(err error) string {
	var pe *fs.PathError
	if !errors.As(err, &pe) {
		return err.Error()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		name := l.ShowPath(pe.Path)
		if strings.ContainsAny(name, "\r\n") { // it is what a command has printed, as a rule
			return "no such file: " + strconv.Quote(name) + "; `trim` takes the line break out of the name"
		}
		return "no such file: " + name
	case errors.Is(pe.Err, source.ErrDirectory):
		return l.ShowPath(pe.Path) + " is a directory"
	case errors.Is(err, fs.ErrPermission):
		return "no permission to read " + l.ShowPath(pe.Path)
	case errors.Is(err, syscall.ELOOP):
		return l.ShowPath(pe.Path) + " is a link that leads back to itself"
	case errors.Is(pe.Err, source.ErrPipe), errors.Is(pe.Err, source.ErrNoFile), errors.Is(pe.Err, source.ErrTooLarge):
		return fmt.Sprintf("%s cannot be read: %s", l.ShowPath(pe.Path), pe.Err)
	}
	return fmt.Sprintf("read %s: %s", l.ShowPath(pe.Path), pe.Err)
}

// ReportUnread reports that what is named under a key cannot be read. A file that belongs to a role has no name in the playbook. Of what
// is encrypted a sealed library knows nothing: it is not said to be wrong.
func (l *Library) ReportUnread(key string, v playbook.Value, path string, err error, chain []string) {
	if _, locked := errors.AsType[*plan.LockedError](err); locked && l.sealed {
		return
	}
	if v.IsZero() {
		l.problems.Errorf(diag.Pos{File: l.ShowPath(path)}, 0, chain, l.SuggestFix(path, err), "%s", l.DescribeError(err))
		return
	}
	l.problems.Errorf(v.Pos(), utf8.RuneCountInString(plan.FirstLine(v.Text())), chain, l.SuggestFix(path, err), "%s: %s", key,
		l.DescribeError(err))
}

// ReportNoVars reports that none of the files of variables is there that a play would take.
func (l *Library) ReportNoVars(first playbook.Value, tried, chain []string) {
	width := utf8.RuneCountInString(plan.FirstLine(first.Text()))
	if len(tried) == 1 {
		l.problems.Errorf(first.Pos(), width, chain, l.SuggestFile(tried[0]), "vars_files: no such file: %s", l.ShowPath(tried[0]))
		return
	}
	shown := make([]string, len(tried))
	for i, path := range tried {
		shown[i] = l.ShowPath(path)
	}
	l.problems.Errorf(first.Pos(), width, chain, "", "vars_files: none of these files exists: %s", strings.Join(shown, ", "))
}

// errSecretSteps is said of a file of steps of which nothing could be shown.
var errSecretSteps = errors.New("the file is encrypted, or one of secrets, and holds steps: keep what is secret in a file of variables")

// SuggestFix is the hint for a file that cannot be read.
func (l *Library) SuggestFix(path string, err error) string {
	if locked, ok := errors.AsType[*plan.LockedError](err); ok {
		return plan.WayIn(locked.Err)
	}
	return l.SuggestFile(path)
}

// SuggestFile suggests a file that exists beside one that does not.
func (l *Library) SuggestFile(path string) string {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return "" // it is there, and something else is wrong with it
	}
	// Not by the disk of the plan: what is only suggested is not an input.
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if near := suggest.Nearest(filepath.Base(path), names); near != "" {
		return "that directory has `" + near + "`"
	}
	return ""
}

// ShowPath is the path as people see it: relative to the playbook's directory where it lies below it.
func (l *Library) ShowPath(path string) string { return plan.ShownPath(l.plan.Root, path) }

// Resolve makes a path of the playbook absolute.
func (l *Library) Resolve(path, dir string) string { return source.ResolvePath(path, dir, l.o.Home) }

// RunInventory is what an executable inventory says.
func (l *Library) RunInventory(path string, args ...string) ([]byte, error) {
	l.Programs = true
	return l.AskProgram(path, args...)
}

// AskProgram is what a program or a plugin says that planning asks. It is kept with the plan, as a file would be.
func (l *Library) AskProgram(path string, args ...string) ([]byte, error) {
	key := path + " " + strings.Join(args, " ")
	f, ok := l.disk.Files[key]
	if !ok {
		// A plan that is made again from its sources must not start programs.
		if l.disk.Closed || l.o.Outside.RunInventory == nil {
			return nil, source.NotThere(path)
		}
		text, err := l.o.Outside.RunInventory(path, args...)
		if err != nil {
			return nil, err
		}
		f = &source.FileSeen{Text: text, Digest: source.DigestOf(text), Program: path, Args: args}
		l.disk.Files[key] = f
	}
	// Who asks again is answered from what is kept, which is one input.
	if !l.asked[key] {
		if l.asked == nil {
			l.asked = map[string]bool{}
		}
		l.asked[key] = true
		l.plan.Inputs = append(l.plan.Inputs, plan.Input{Path: l.ShowPath(path) + " " + strings.Join(args, " "), Digest: f.Digest})
	}
	return f.Text, nil
}

// Reread gives what the sources of an inventory have said in the run. As with Ansible, files of variables that were read before keep their
// values; that of a group or host which is new is read.
func (l *Library) Reread(d *source.Disk) inventory.Files {
	return inventory.Files{
		List: d.List, Kind: d.Kind,
		Read: func(path string) (*playbook.File, error) {
			seen := d.Files[path]
			if seen == nil || l.Sources[l.ShowPath(path)] != nil && ofVars(path) {
				return l.Read(path)
			}
			f := &playbook.File{Name: l.ShowPath(path), Path: path, Text: seen.Text}
			l.wasRead(seen.Text)
			return f, l.unlock(f)
		},
		Run: func(path string, args ...string) ([]byte, error) { return reread.Printed(d, path, args...) },
	}
}

// ofVars reports whether a file is one of variables of groups or hosts.
func ofVars(path string) bool {
	return strings.Contains(path, "/group_vars/") || strings.Contains(path, "/host_vars/")
}

// LoadPlays reads a file of plays, as import_playbook names it.
func (l *Library) LoadPlays(path string) (*playbook.File, []*playbook.Play, error) {
	f, err := l.Read(path)
	if err != nil {
		return nil, nil, err
	}
	f, plays := parse(l, "plays", f, playbook.ParsePlays)
	return f, plays, nil
}

// LoadTasks reads a file of tasks of plays once.
func (l *Library) LoadTasks(path string) (*playbook.File, []*playbook.Task, error) {
	return l.loadAs("tasks", path, func(f *playbook.File, a playbook.Actions, ds *diag.List) []*playbook.Task {
		return playbook.ParseTasks(f, a, ds, false)
	})
}

// LoadHandlers reads a role's file of handlers once.
func (l *Library) LoadHandlers(path string) (*playbook.File, []*playbook.Task, error) {
	// The same file may also be included as tasks, where other keys are allowed.
	return l.loadAs("handlers", path, playbook.ParseHandlers)
}

// LoadIncluded reads a file of tasks that a task, or a handler, includes once.
func LoadIncluded(l *Library, path string, byHandler bool) (*playbook.File, []*playbook.Task, error) {
	if !byHandler {
		return l.LoadTasks(path)
	}
	return l.loadAs("tasks behind", path, func(f *playbook.File, a playbook.Actions, ds *diag.List) []*playbook.Task {
		return playbook.ParseTasks(f, a, ds, true)
	})
}

func (l *Library) loadAs(kind, path string, how parser[[]*playbook.Task]) (*playbook.File, []*playbook.Task, error) {
	key := kind + " " + path
	if got, ok := l.taskFiles[key]; ok {
		return got.File, got.Tasks, nil
	}
	f, err := l.Read(path)
	if err != nil {
		return nil, nil, err
	}
	if f.Secret {
		return nil, nil, errSecretSteps
	}
	f, tasks := parse(l, kind, f, how)
	l.taskFiles[key] = playbook.TasksOf{File: f, Tasks: tasks}
	return f, tasks, nil
}

// ReadPassword is the text of a file with a password. Planning reads it as an input that is kept nowhere.
func (l *Library) ReadPassword(path string, running bool) ([]byte, error) {
	// The run itself makes the file, so what planning has seen of it does not count.
	if running {
		return os.ReadFile(path)
	}
	f, err := l.disk.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		l.disk.Absent[path], l.disk.Passwords[path] = true, true
	}
	if err != nil {
		return nil, err
	}
	// A saved plan has neither the text of a password nor its digest.
	f.Secret, f.Digest = true, ""
	return f.Text, nil
}
