package plan

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan/eval"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/secret"
	"moon/secret/vault"
)

// DefaultMaxSteps bounds a plan, so that a loop over a wrong directory is refused and not expanded.
const DefaultMaxSteps = 1_000_000

// Options are what a plan is made from.
type Options struct {
	Path      string         // of the playbook; "-" reads Stdin; required
	Stdin     io.Reader      // of "-"
	Dir       string         // working directory; required: `-` and relative paths of flags are resolved here
	Home      string         // for ~; required
	User      string         // the current user's name, for become
	Presets   string         // the user's directory of presets; "" if there is none
	Facts     map[string]any // of this machine
	ExtraVars []string       // -e: k=v, {"k": 1} or @file
	VarsFiles []string       // --vars-file
	Tags      []string
	SkipTags  []string
	Only      []string // selectors (Plan.Match): leave out every other step
	Skip      []string // selectors: leave out these
	StartAt   string   // selector: leave out the steps before the first it names; "" for none
	MaxSteps  int      // 0: DefaultMaxSteps
	Hidden    []string // names that ExtraVars give secret values
	Overrides []Override
	// Reads gives what a step reads in the place of what is there now; nil: that itself. A run that plans again uses it for what its own
	// steps have changed.
	Reads   func(now *source.Source) *source.Source
	Plugins Plugins // actions that are not compiled in; nil: there are none

	// Of plays over hosts.
	Inventory     []string // -i: files, directories, executables, or "a,b,"
	Limit         string   // -l: a pattern; "" for all hosts
	ForceHandlers bool     // handlers run on failed hosts too; the key of a play wins
	NoConnect     bool     // facts of hosts stay unknown until the run
	RemoteUser    string   // -u, and so on: what is used where neither play nor inventory say otherwise
	PrivateKey    string
	Connection    string
	Become        bool
	BecomeUser    string
	BecomeMethod  string
	SSHArgs       string   // --ssh-common-args
	ModulePath    []string // --module-path: directories of modules, beside library/

	Given   string                           // the path of the playbook as the user has written it; ""
	Secrets *secret.Set                      // is told what planning and running learn of secrets; nil for one of the plan's own
	Vault   func() ([]vault.Password, error) // asked when something is encrypted; nil: there are none

	// What plays need beside.
	Check        bool     // the run will be a dry one
	Diff         bool     // and show differences
	Forks        int      // how many steps may run at once
	RolesPath    []string // further directories of roles; absolute
	Answers      map[string]string
	Gather       func([]Target) []Gathered                         // facts of hosts, before the plan is shown; nil: they are unknown until the run
	RunInventory func(path string, args ...string) ([]byte, error) // an executable inventory
	Pipe         func(command, dir string) (string, error)         // a shell command of lookup('pipe'); nil: there is none
	Fetch        func(url string) (string, error)                  // of lookup('url')
	Ask          func([]Prompt) (map[string]string, error)         // vars_prompt; nil: there is nobody to ask
	Trusts       Trusts                                            // nil: nothing is trusted
	known        map[string]map[string]any                         // facts of hosts as they were when the plan was made first, by host
	asked        map[string]Gathered                               // hosts that were asked for this plan
	unseen       *diag.List                                        // of a survey: what only facts could tell, which nobody asks for

	Volatile func() map[string]any // facts that change: unknown when planning, read once when a run asks for one; may be nil
	Costly   map[string]func() any // facts that are found out when the playbook names them
}

// New plans a playbook. The plan is nil when the diagnostics hold an error.
func New(o Options) (*Plan, diag.List) {
	if o.MaxSteps == 0 {
		o.MaxSteps = DefaultMaxSteps
	}
	return newPlan(o, newDisk(o.Stdin))
}

func newPlan(o Options, d *disk) (*Plan, diag.List) {
	if o.Secrets == nil {
		o.Secrets = secret.NewSet()
	}
	// With a selection the plan is made twice, and nobody is asked twice.
	o.Answers, o.asked = maps.Clone(o.Answers), map[string]Gathered{}
	if o.Answers == nil {
		o.Answers = map[string]string{}
	}
	if o.selects() {
		return selected(o, d)
	}
	return newPlanner(o, d, nil).result()
}

// newPlanner makes a planner. leftOut are the paths of the steps that a selection leaves out, each with its flag.
func newPlanner(o Options, d *disk, leftOut map[string]string) *planner {
	p := &planner{}
	p.o, p.leftOut, p.secrets, p.sources = o, leftOut, o.Secrets.Below(), map[string]*playbook.File{}
	p.labels, p.ids = map[int]map[string]int{}, map[string][]int{}
	p.disk, p.files, p.presets = d, map[string]*playbook.Playbook{}, map[string]*playbook.PresetFile{}
	p.wasRead = func(text []byte) { p.names.gather(text) }
	p.engine, p.compiled, p.facts = eval.New(), map[*playbook.Task]*compiled{}, newFactUse()
	p.names, p.tagsSeen = newNames(o), map[string]bool{}
	p.plan = &Plan{Format: Format, engine: p.engine, home: o.Home, dir: o.Dir, made: &made{o: o, disk: p.disk, facts: p.facts, names: p.names, secrets: p.secrets}}
	p.plan.ahead.plan = p.plan
	p.engine.Secrets = p.secrets
	p.engine.Allow(planWork, planText)
	d.planned, d.adopt = false, o.Reads
	p.run()
	d.planned = true
	p.engine.Unbound()
	p.engine.Secrets = o.Secrets // what running it learns is no part of the plan
	return p
}

// result is the plan, unless the diagnostics forbid it.
func (p *planner) result() (*Plan, diag.List) {
	p.hintAtLater()
	p.ds.Sort()
	p.ds.Locate(func(file string) []string {
		if f, ok := p.sources[file]; ok {
			return f.Lines()
		}
		return nil
	})
	p.clean(p.ds)
	if p.ds.HasErrors() {
		return nil, p.ds
	}
	p.plan.Diagnostics = p.ds
	return p.plan, p.ds
}

// planner is the walk over a playbook. What it knows lies in layers, each of which knows those below it and nothing above:
//
//	problems ◀ outline ◀ library ◀ compiler ◀ evaluator ◀ variables ◀ fleet ◀ stepPlanner ◀ playsState ◀ planner
//
// A layer is the narrow argument of what is declared on it: what reads a file can report a mistake, and plans no step.
type planner struct {
	playsState
	applies map[*playbook.Task]*playbook.Task // tasks with what include_tasks and include_role apply to them
	empty   map[*playbook.Task]*playbook.Task // what stands for a loop without items
}

type including struct {
	path   string // absolute
	name   string // as shown
	line   int    // of the include in that file
	preset bool
}

type pendingNeed struct {
	step int
	need playbook.Need
}

// scopeContext is what a list of tasks inherits from the constructs around it.
type scopeContext struct {
	scopeOnHost
	scope  int
	file   *playbook.File
	dir    string // absolute; relative paths start here
	chain  []string
	when   []condition
	tags   []string
	env    []playbook.Value
	cwd    playbook.Value
	ignore []condition
	become become
	block  *layer
	params *layer
	loop   *layer
	depth  int // of loops
	item   *iteration
	inLoop *LoopContext // of the innermost loop around, also where item is nil: inside an include, block or preset that loops
}

// scopeOnHost is what of it plays need.
type scopeOnHost struct {
	on        *machine // nil in the step form
	play      *playing
	scene     *scene
	pos       diag.Pos // of the task
	link      link
	inherit   inherit
	delegate  playbook.Value
	notify    []playbook.Value
	notifiers []int // steps of which one must have changed something: of a handler
	handler   bool
	gates     []gateAt
	parallel  diag.Pos      // the key of the parallel group that this is in; zero for none
	rescuing  bool          // in a rescue, which may not be needed
	around    *scopeContext // of an include: what it was in
	path      string        // of the task on this host
	once      bool          // of run_once
	group     int           // its first step
	looks     string        // the directory of a role for the task's files; "" for files
}

// frame is what is in effect here and now; steps that see the same values share it.
func (p *evaluator) frame(c *scopeContext, step *layer) *frame {
	fr := frame{
		all: p.names, documentAt: *p.names.document.now, producedAt: *p.names.produced.now,
		block: c.block, step: step, params: c.params, loop: c.loop,
	}
	if len(p.overrides) > 0 {
		fr.over = p.overlay(c.scope)
	}
	fr.scene, fr.looks = c.scene, c.looks
	if p.last == nil || *p.last != fr {
		kept := fr // and not fr itself, which would then be on the heap whether it is kept or not
		p.last = &kept
	}
	return p.last
}

func (p *evaluator) env(c *scopeContext, step *layer) *env {
	return &env{plan: p.plan, engine: p.engine, frame: p.frame(c, step)}
}

func (p *planner) run() {
	path := p.o.Path
	if path == "-" {
		p.plan.Root, p.plan.RootFile = p.o.Dir, "-"
	} else {
		abs := path
		if !filepath.IsAbs(abs) {
			abs = filepath.Join(p.o.Dir, path)
		}
		// The shell's name for the directory may be a link; the plan is the same from wherever it is made.
		if real, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil && !p.disk.closed {
			abs = filepath.Join(real, filepath.Base(abs))
		}
		p.plan.Root, p.plan.RootFile = filepath.Dir(abs), filepath.Base(abs)
		path = abs
	}
	pb, err := p.load(path)
	if err != nil {
		message := p.fileError(err)
		if p.o.Given != "" && errors.Is(err, fs.ErrNotExist) {
			message = "no such file: " + p.o.Given
		}
		p.errorf(diag.Pos{File: p.shown(path)}, 0, nil, p.wayTo(path, err), "%s", message)
		return
	}
	p.readOverrides()
	name := p.plan.RootFile
	root := p.open(Scope{Kind: ScopePlaybook, Parent: -1, Name: name, Origin: Origin{File: name, Line: 1, Column: 1}}, name)
	c := &scopeContext{scope: root, file: pb.File, dir: p.plan.Root}
	p.including = []including{{path: path, name: p.plan.RootFile}}
	p.outside(c)
	if pb.Plays != nil {
		p.beginPlays(pb)
	} else {
		p.rootVars(pb, c)
	}
	p.plan.Name = p.renderer(p.env(c, nil), nil).text(pb.Name)
	if pb.Strategy == "graph" {
		p.plan.Strategy = "graph"
	}
	if n := p.parallel(pb.Parallel, c); n > 0 {
		p.plan.Scopes[root].Parallel = n
	}
	if pb.Plays != nil {
		names := p.names
		p.readInventory()
		p.plays(pb.Plays, around{file: pb.File, dir: p.plan.Root, scope: root})
		p.checkUnmatched()
		p.names, p.host = names, ""
	} else {
		p.tasks(c, pb.Tasks)
	}
	p.close(root)
	p.exports(pb)
	p.resolveNeeds()
	p.checkTags()
	p.unusedOverrides()
	p.finish()
}

// outside reads what the command line gives: files of variables, and single ones.
func (p *variables) outside(c *scopeContext) {
	p.names.files = &layer{}
	for _, file := range p.o.VarsFiles {
		p.varsFile(c, file, "--vars-file", p.names.files, diag.Pos{File: "--vars-file " + file}, p.o.Dir)
	}
	p.names.extra = &layer{}
	for _, text := range p.o.ExtraVars {
		p.extraVar(c, text)
	}
}

func (p *variables) extraVar(c *scopeContext, text string) {
	pos := diag.Pos{File: "-e " + text}
	if file, ok := strings.CutPrefix(text, "@"); ok {
		p.varsFile(c, file, "-e @"+p.shown(p.resolve(file, p.o.Dir)), p.names.extra, pos, p.o.Dir)
		return
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		f := &playbook.File{Name: "--extra-vars", Text: []byte(text)}
		v, ok := playbook.ParseVars(f, &p.ds)
		if ok {
			p.add(p.names.extra, v, "--extra-vars", nil)
		}
		return
	}
	pairs := splitPairs(text)
	if len(pairs) == 0 {
		p.errorf(pos, 0, nil, "write -e name=value, -e '{\"name\": 1}' or -e @file.yml", "--extra-vars %q is neither name=value nor a map", text)
	}
	for _, kv := range pairs {
		if kv.key == "" {
			p.errorf(pos, 0, nil, "write -e name=value, -e '{\"name\": 1}' or -e @file.yml", "--extra-vars %q is neither name=value nor a map", text)
			continue
		}
		p.noteName(kv.key)
		b := binding{name: kv.key, value: kv.value, from: "--extra-vars"}
		if slices.Contains(p.o.Hidden, kv.key) {
			b.value = eval.Mark(p.secrets, kv.value, eval.Every)
		}
		p.names.extra.add(b)
	}
}

// add puts the entries of a map into a layer as they are: values from outside are data, not templates.
func (p *variables) add(l *layer, m playbook.Value, from string, chain []string) {
	for _, e := range m.Entries() {
		p.noteName(e.Key)
		l.add(binding{name: e.Key, value: taken(e.Value, p.engine.Python), from: from, origin: origin(e.Pos, chain)})
	}
}

func (p *variables) varsFile(c *scopeContext, name, from string, into *layer, pos diag.Pos, dir string) {
	path := p.resolve(name, dir)
	f, err := p.read(path)
	if err != nil {
		p.errorf(pos, 0, c.chain, p.wayTo(path, err), "variables file: %s", p.fileError(err))
		return
	}
	if v, ok := p.parseVars(f); ok {
		p.add(into, v, from, c.chain)
	}
}

// rootVars renders the variables of the playbook itself.
func (p *variables) rootVars(pb *playbook.Playbook, c *scopeContext) {
	p.names.root = &layer{}
	p.names.varsFiles = &layer{}
	into := func(l *layer) func(*binding) {
		return func(b *binding) {
			p.shadows(b)
			l.add(*b)
		}
	}
	// Each value is rendered in a frame of its own, because the layers grow.
	frame := func() *frame { fr := *p.frame(c, nil); return &fr }
	p.ownVars(pb, c, frame, into(p.names.varsFiles), into(p.names.root))
}

// load reads and parses a file of steps once.
func (p *library) load(path string) (*playbook.Playbook, error) {
	if pb, ok := p.files[path]; ok {
		return pb, nil
	}
	f, err := p.read(path)
	if err != nil {
		return nil, err
	}
	if f.Secret {
		return nil, errSecretSteps
	}
	pb := playbook.Parse(f, p.actions(), &p.ds)
	p.files[path] = pb
	return pb, nil
}

// read reads a file and notes it as an input of the plan.
func (p *library) read(path string) (*playbook.File, error) {
	shown := p.shown(path)
	if f, ok := p.sources[shown]; ok {
		return f, nil
	}
	seen, err := p.disk.read(path)
	if err != nil {
		return nil, err
	}
	f := &playbook.File{Name: shown, Path: path, Text: seen.text}
	if err := p.unlock(f); err != nil {
		return nil, err
	}
	p.plan.Inputs = append(p.plan.Inputs, Input{shown, seen.digest})
	p.sources[shown] = f
	p.wasRead(seen.text)
	return f, nil
}

// fileError words an error of the file system without Go's chain.
func (p *library) fileError(err error) string {
	var pe *fs.PathError
	if !errors.As(err, &pe) {
		return err.Error()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file: " + p.shown(pe.Path)
	case errors.Is(pe.Err, errDirectory):
		return p.shown(pe.Path) + " is a directory"
	case errors.Is(err, fs.ErrPermission):
		return "no permission to read " + p.shown(pe.Path)
	case errors.Is(err, syscall.ELOOP):
		return p.shown(pe.Path) + " is a link that leads back to itself"
	case errors.Is(pe.Err, errPipe), errors.Is(pe.Err, errNoFile), errors.Is(pe.Err, errTooLarge):
		return fmt.Sprintf("%s cannot be read: %s", p.shown(pe.Path), pe.Err)
	}
	return fmt.Sprintf("read %s: %s", p.shown(pe.Path), pe.Err)
}

// errSecretSteps is said of a file of steps nobody could be shown anything of.
var errSecretSteps = errors.New("the file is encrypted, or one of secrets, and holds steps: keep what is secret in a file of variables")

// wayTo is the hint for a file that cannot be read.
func (p *library) wayTo(path string, err error) string {
	if locked, ok := errors.AsType[*lockedError](err); ok {
		return wayIn(locked.err)
	}
	return p.similar(path)
}

// similar suggests a file that exists beside one that does not.
func (p *library) similar(path string) string {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return "" // it is there, and something else is wrong with it
	}
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

// shown is the path as people see it: relative to the playbook's directory where it lies below it.
func (p *library) shown(path string) string { return shownPath(p.plan.Root, path) }

func shownPath(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		return filepath.ToSlash(rel)
	}
	return path
}

// resolve makes a path of the playbook absolute.
func (p *library) resolve(path, dir string) string { return resolvePath(path, dir, p.o.Home) }

// open begins a scope. label is its part of paths. Scopes are bounded as steps are: loops in loops over nothing at all
// would make them without end.
func (p *outline) open(s Scope, label string) int {
	if limit := 2*p.o.MaxSteps + 100; len(p.plan.Scopes) == limit && !p.full {
		p.full = true
		p.errorf(diag.Pos{File: s.Origin.File, Line: s.Origin.Line, Column: s.Origin.Column}, 0, s.Origin.Chain, "raise the limit with --max-steps",
			"the plan would have more than %d blocks, includes and rounds of loops for the limit of %d steps", limit, p.o.MaxSteps)
	}
	s.ID, s.First = len(p.plan.Scopes), len(p.plan.Steps)
	if s.Item != "" {
		label += "#" + s.Item
	}
	s.Path = label
	if s.Parent >= 0 {
		s.Path = p.plan.Scopes[s.Parent].Path + "/" + p.label(s.Parent, label)
	}
	p.plan.Scopes = append(p.plan.Scopes, s)
	return s.ID
}

func (p *outline) close(id int) { p.plan.Scopes[id].Last = len(p.plan.Steps) }

// label makes a name unique in its scope, so that paths are identities.
func (p *outline) label(scope int, name string) string {
	used := p.labels[scope]
	if used == nil {
		used = map[string]int{}
		p.labels[scope] = used
	}
	used[name]++
	if n := used[name]; n > 1 {
		return fmt.Sprintf("%s~%d", name, n)
	}
	return name
}

// room reports whether n more steps fit into the plan.
func (p *outline) room(n int, pos diag.Pos, chain []string) bool {
	if len(p.plan.Steps)+n <= p.o.MaxSteps {
		return true
	}
	if !p.full {
		p.full = true
		p.errorf(pos, 0, chain, "raise the limit with --max-steps", "the plan would have %d steps or more; the limit is %d", len(p.plan.Steps)+n, p.o.MaxSteps)
	}
	return false
}

// finish fills what is computed over the whole plan.
func (p *planner) finish() {
	p.keepGathered()
	p.plan.sources = p.sources
	p.plan.Tags = p.o.Tags
	p.plan.Vars = p.endVars()
	p.conceal()
	for i := range p.plan.Steps {
		if r := p.plan.Steps[i].task.renders; r != nil {
			r.again = nil // nothing more becomes secret
		}
	}
	p.plan.Digest = p.plan.digest()
}

// endVars are the variables in effect at the end, without facts.
func (p *planner) endVars() []Var {
	fr := &frame{all: p.names, documentAt: *p.names.document.now, producedAt: *p.names.produced.now}
	e := &env{plan: p.plan, engine: p.engine, frame: fr}
	var vars []Var
	for _, name := range fr.names() {
		var from *binding
		fr.each(name, func(b *binding) bool { from = b; return true })
		if from.from == "fact" || from.from == "facts" {
			continue
		}
		v, _ := e.Lookup(name)
		vars = append(vars, Var{Name: name, Value: v, From: from.from, Origin: from.origin})
	}
	return vars
}
