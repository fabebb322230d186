package plan

import (
	"cmp"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"moon/exec/spec"
	"moon/exec/way"
	"moon/internal/diag"
	"moon/internal/people"
	"moon/plan/dialect"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/found"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/vars"
	"moon/secret"
)

// Format is the number of the plan's JSON format.
const Format = 1

// Plan is a playbook, expanded. Steps are in execution order; a scope covers a contiguous range of them.
type Plan struct {
	Format      int
	Digest      string // over everything that decides what will run, but not over Root
	Root        string // absolute directory of the playbook
	RootFile    string // the playbook, relative to Root
	Name        string
	Strategy    string          // "" (document order) or "graph"
	Dialect     dialect.Dialect // of steps, or of plays over hosts
	Steps       []Step
	Scopes      []Scope // pre-order; Scopes[0] is the playbook itself
	Inputs      []Input // every file that was read, in the order of first use
	Vars        []Var   // in effect at the end of planning, without facts
	Imports     []Import
	Exports     []Export
	Tags        []string
	Diagnostics diag.List // warnings
	Unreached   []Unreached
	Orphans     []Orphan          // what runs have made and no step gives any more
	Moved       map[string]string // steps that had other paths: the new ones, by the old

	// What binding, planning again and saving need; nothing of it is shown.
	Basis    *Basis                    `json:"-"`
	Ahead    Predicted                 `json:"-"`
	Shapes   []Shape                   `json:"-"`
	Declared map[string]*spec.Action   `json:"-"` // that are not compiled in
	Files    map[string]*playbook.File `json:"-"` // that were read, by shown path
	Engine   *eval.Engine              `json:"-"`
	Home     string                    `json:"-"`
	Dir      string                    `json:"-"` // where the call was made: paths on the command line start here
}

// Input is a file the plan was made from.
type Input struct {
	Path   string // relative to Root where it lies below it
	Digest string
}

// Var is a variable and where its value comes from.
type Var struct {
	Name   string
	Value  any // plain data; value.Unknown where not known yet
	From   string
	Origin diag.Origin // zero for --extra-vars and facts
}

// Unreached is a host that was asked for its facts and gave none. It is no part of what the plan is: the run asks again.
type Unreached struct {
	Host string
	Why  string
}

// Import is a variable with what another playbook has exported.
type Import struct {
	Name   string
	From   string // the playbook, relative to Root if it lies below it
	Run    string // that has exported the values; "" if that is not known yet
	Value  any
	Origin diag.Origin
}

// Export is a value that a run gives when all went well.
type Export struct {
	Name  string
	Value any // as far as known before the run; value.Unknown where not

	Raw   playbook.Value `json:"-"` // zero for the variable of that name
	Frame *vars.Frame    `json:"-"`
}

// ScopeKind is what a scope of the plan was in the playbook.
type ScopeKind string

// The kinds of scope. Branch is the rescue or always part of a block. Batch, task and section are only in plays: some of the
// hosts, where `serial` says so; one task over several hosts, with a step for each, or a loop; pre_tasks, handlers at a
// flush, "Gathering Facts" and the like. Orphans are the steps that remove what no step gives any more.
const (
	ScopePlaybook ScopeKind = "playbook"
	ScopeInclude  ScopeKind = "include"
	ScopeBlock    ScopeKind = "block"
	ScopeBranch   ScopeKind = "branch"
	ScopeLoop     ScopeKind = "loop"
	ScopePlay     ScopeKind = "play"
	ScopeRole     ScopeKind = "role"
	ScopePreset   ScopeKind = "preset"
	ScopeBatch    ScopeKind = "batch"
	ScopeTask     ScopeKind = "task"
	ScopeSection  ScopeKind = "section"
	ScopeOrphans  ScopeKind = "orphans"
)

// Scope is an inner node of the plan tree. It covers the steps [First, Last) and the scopes that name it, directly
// or not, as their Parent.
type Scope struct {
	ID       int
	Kind     ScopeKind
	Parent   int // -1 for the playbook
	Name     string
	Path     string // stable identity, see Step.Path
	Origin   diag.Origin
	First    int
	Last     int
	When     string        // its condition as written
	Skipped  string        // why nothing is inside: the condition that is false at plan time, or what a play lacks
	Item     string        // of an iteration: the label of the item
	Items    int           // of a loop: how many
	Loop     string        // of a loop: the expression as written
	Parallel int           // 0: in order; n: so many at once; Unlimited
	Timeout  time.Duration // how long its steps may take together, without those of its rescue and always; 0: any time. Not in plays
	Branch   string        // "rescue" or "always" for a branch
	UserID   string        // the `id:` of its task
	Needs    []Need        // of everything inside
	Hosts    int           // of a play, batch or task: how many
	Role     string        // of a task or include: the role that it is in
	Approves bool          // approve: expanded is written on it
	Moved    string        // the path that it had before
	Dynamic  bool          // of an include: a step has decided about it, which has the name of the task. Name is then the file

	// Of plays.
	Strategy string // of a play: linear, free or graph
	AnyFatal bool   // any_errors_fatal, of a play
	MaxFail  int    // max_fail_percentage of a play; -1: any
	Once     bool   // of a task: run_once
	Handlers bool   // of a section: handlers run here, those that were notified
	Force    bool   // and on hosts that failed too
	Play     *PlayHead
}

// PlayHead is what a play is written for.
type PlayHead struct {
	Pattern string
	Hosts   []string // that match it, in the order of the play
	Awaits  []int    // the steps after which it may have others
	Tags    []string
}

// NoHosts is why nothing is inside of what is for hosts: no host matches.
const NoHosts = "no hosts matched"

// Unlimited is the Parallel of a scope without a limit of its own.
const Unlimited = 1 << 30

// Steps is how many steps the scope covers.
func (s Scope) Steps() int { return s.Last - s.First }

// WhySkipped says why nothing is inside, in words; "" if it is not skipped.
func (s Scope) WhySkipped() string {
	if s.Skipped == "" || s.Kind == ScopePlay || s.Skipped == NoHosts { // plays have no conditions
		return s.Skipped
	}
	return s.Skipped + " is false"
}

// Prediction is what can be said of a step's condition before it runs.
type Prediction string

// The predictions. A step is never removed from the plan by its condition.
const (
	WillRun  Prediction = "runs"
	WillSkip Prediction = "will skip"
	MaySkip  Prediction = "may be skipped"
)

// LoopContext is the iteration a step belongs to.
type LoopContext struct {
	Type       string // items or filetree
	Item       any
	Ordered    any // what the label is about: the item, or what loop_control says, with maps whose keys have their order
	Index      int
	First      bool
	Last       bool
	Depth      int
	Expression string
	Var        string // name of the item variable
	Label      string // for display
	Labelled   bool   // by loop_control
}

// LacksIn are the values that a field of the step waits for.
func (s *Step) LacksIn(field string) (missing []value.Missing) {
	for _, u := range s.Unknowns {
		if u.Field == field {
			missing = append(missing, value.Missing{Name: u.Name, Steps: u.Steps})
		}
	}
	return missing
}

// PythonText is how Ansible shows the item: as Python writes what the label is about.
func (l *LoopContext) PythonText() string {
	switch v := value.Plain(l.Ordered).(type) {
	case map[string]any, []any, bool, nil:
		return value.PythonText(l.Ordered)
	case string:
		if v == "" { // the label is the number then
			return ""
		}
	}
	return l.Label
}

// Unknown says that a field of a step uses a value that is known only after other steps.
type Unknown struct {
	Field string // "cmd", "when", "env.PATH" …
	Name  string // the variable
	Steps []int  // indexes of the steps that will give it
}

// Use is a variable a step uses, as far as it is known.
type Use struct {
	Name   string
	Value  any // value.Unknown where not known yet
	From   string
	Origin diag.Origin
}

// Retry is a step's policy for another attempt.
type Retry struct {
	Max   int // further attempts after the first
	Delay time.Duration
	Until string
}

// Async is a step that is done as a job which its machine keeps.
type Async struct {
	Limit time.Duration // how long the job may take
	Poll  time.Duration // how often it is asked for; 0: it is not waited for
}

// String says it in words.
func (a *Async) String() string {
	if a.Poll == 0 {
		return "as a job in the background that may take " + a.Limit.String() + "; it is not waited for"
	}
	return "as a job in the background that may take " + a.Limit.String()
}

// Step is a leaf of the plan: one task, one host, one item.
type Step struct {
	Index            int
	UserID           string // the `id:` of the task
	Path             string // stable identity: scope names, file and item; survives edits above it as far as it can
	Digest           string // over everything that defines the step
	Scope            int
	Name             string         // rendered as far as known; "" if the task has none
	Args             map[string]any // rendered as far as known; open parts stay templates
	Summary          string         // what it will do, on one line
	Env              map[string]string
	Cwd, Dir         string // Dir: of the file that holds the step
	When             string // as written, conditions of includes and-ed in front
	Action, Register string
	Tags             []string
	ExcludedBy       string         // ByTags, or the flag of the selection that does
	Confirm          string         // what to ask; "" if it does not ask
	Confirmers       *people.Demand // who has to confirm it; nil: any user who attends the run
	Prediction       Prediction
	Lacks            *Missing // the value for lack of which it will be skipped: a step would give it that is excluded; nil if there is none
	Unknowns         []Unknown
	Uses             []Use
	Reads            []Read       // files on the machine that moon runs on
	Overridden       []Overridden // for this run
	Origin           diag.Origin
	Loop             *LoopContext // of a step that is an item itself
	InLoop           *LoopContext // of another: the innermost loop that its include, block or preset is in
	Host             string       // as the inventory calls it
	Delegate         string       // the host that it runs on instead; "" for none
	Role             string       // that it is in
	Become           *Become      // nil: the user who runs moon
	Retry            Retry
	Timeout          time.Duration
	Queued           time.Duration // how long it may wait for a slot; 0: for ever
	Async            *Async        // nil: it is done while moon waits for it, over the connection
	Undo             *Undo         // nil if nothing reverses it
	CheckMode        *bool         // forced by check_mode
	Needs            []Need

	// These lie together, as each would take eight bytes between others.
	Excluded    bool // filtered out by tags or selection
	Handler     bool
	NoLog       bool
	Terminal    bool // interactive: its command gets the user's terminal
	MayFail     bool // ignore_errors is given and not known to be false
	NoDiff      bool
	ShowDiff    bool // diff: true, whatever the run was asked to show
	Once        bool // of a task with run_once: it runs on the first host that can
	Keeps       bool // its result is used although nothing registers it
	GoesOn      bool // ignore_unreachable
	AnyFatal    bool // its failure ends the play on all hosts
	Clears      bool // meta: clear_host_errors
	CreateFirst bool // what it makes in the place of something else is made before the old is removed
	Approves    bool // approve: expanded: the steps that it adds to the plan are approved with it
	Concealed   bool `json:"-"` // its environment or directory holds a secret, and is rendered again when it runs
	Written     bool `json:"-"` // it was found to be written out, without templates; false: it was not looked at

	// Of plays.
	Conn      *Connection   // nil: this machine
	Notifiers []int         // of a handler: it runs if one of them has changed something
	Named     []Naming      // those of them that notify it only if a name says so that the run has
	Flushes   []Flush       // where the same handler may have run before
	Gates     []Gate        // steps that decide whether it is there at all
	Group     int           // the first step of its task on this host: the items of a loop are one task
	Throttle  int           // on how many hosts its task runs at once; 0: any number
	Pause     time.Duration // of an item: how long to wait before it
	Includes  string        // of include_tasks and include_role: the file, or the role
	Place     *OpenPlace    // of the step of an open place; nil for all others
	Moved     string        // the path that it had before
	Orphan    int           // of one that removes an orphan: its number in Plan.Orphans, from 1; 0 for all others
	Adds      *Addition     // of one that adds what only the run knows; nil for all others
	Frame     *vars.Frame   `json:"-"` // what it sees of the variables
	Task      *Task         `json:"-"` // what running needs beyond what is shown; plans that grow share it where it is written out
}

// Naming is that a handler may be notified by a name that only the run knows. As with Ansible the items of a loop are one task: what any of
// them names is notified when any of them has changed something.
type Naming struct {
	Steps []int
	Names []string // by which the handler goes
}

// NamedOnly reports whether a step notifies a handler only if a name says so that is known in the run.
func (s *Step) NamedOnly(by int) bool {
	return slices.ContainsFunc(s.Named, func(c Naming) bool { return slices.Contains(c.Steps, by) })
}

// Gate is a step that decides whether others are there: an include, the end of a play.
type Gate struct {
	Step  int
	Among []int // the steps of a task with run_once, from this one on: one of its hosts decides. Nil: the step alone
	Ran   bool  // they are if it ran; otherwise, if it was skipped
}

// Flush is where a handler runs if the run comes by: at the end of a block, say, which a failure may leave before. What has notified it by
// then counts no more if so.
type Flush struct {
	Step      int // the first one of the handler there
	Notifiers int // how many of its notifiers come before
}

// End is behind the last of the steps of which one decides.
func (g Gate) End() int { return g.Step + max(len(g.Among), 1) }

// Become is another user that a step runs as.
type Become struct {
	User   string // as far as known
	Method string // sudo, su or doas; "" where moon is root and needs none of them
	Flags  string // further arguments of it, as exec/becoming keeps them; "": the usual ones
}

// String is "ada with sudo".
func (b *Become) String() string {
	if b.Method == "" {
		return b.User
	}
	return strings.TrimSuffix(b.User+" with "+b.Method+" "+b.Flags, " ")
}

// Undo is what reverses a step, rendered as far as known.
type Undo struct {
	Action  string
	Args    map[string]any
	Summary string
}

// KnownAhead reports whether all that a step of a play does is to set variables that the plan knows.
func (p *Plan) KnownAhead(step int) bool {
	s := &p.Steps[step]
	return p.Dialect.Rules().FactsAhead && s.Action == "set_fact" && len(s.Unknowns) == 0
}

// ID is the step's number in plan order: step-0001.
func (s *Step) ID() string { return fmt.Sprintf("step-%04d", s.Index+1) }

// BringsPassword reports whether the variables of the step's host have the password with which it becomes another user.
func (s *Step) BringsPassword() bool { return s.Task != nil && s.Task.BecomePassword != "" }

// DefaultArg is an argument of the step that module_defaults gives.
func (s *Step) DefaultArg(name string) (g Arg, ok bool) {
	if s.Task == nil {
		return Arg{}, false
	}
	i := slices.IndexFunc(s.Task.Args, func(g Arg) bool { return g.Default && g.Name == name })
	if i < 0 {
		return Arg{}, false
	}
	return s.Task.Args[i], true
}

// WaitsFor reports whether a field of the step is known only after other steps.
func (s *Step) WaitsFor(field string) bool {
	return slices.ContainsFunc(s.Unknowns, func(u Unknown) bool { return u.Field == field })
}

// Title is the step's name, or what stands for one.
func (s *Step) Title() string { return s.TitleOf(s.Name, s.Summary) }

// TitleOf is the title of the step with a name and a summary that it has by then.
func (s *Step) TitleOf(name, summary string) string {
	if s.Task != nil {
		summary = s.Task.Action.TitleOf(summary)
	}
	return cmp.Or(name, summary, s.Action)
}

// Label is a name of the step with the item it is for, where the name alone would not tell the items of a loop apart.
func (s *Step) Label(name string) string {
	if s.Loop == nil || s.Loop.Label == "" || namesItem(name, s.Loop.Label) {
		return name
	}
	return name + " (" + s.Loop.Label + ")"
}

// InnermostLoop is the iteration that the step belongs to: its own, or that of what it is in. Nil outside of loops.
func (s *Step) InnermostLoop() *LoopContext {
	if s.Loop != nil {
		return s.Loop
	}
	return s.InLoop
}

// Excerpt returns the lines around a line of a file that was read while planning, and the number of the first.
// It returns nothing for a file the plan does not know.
func (p *Plan) Excerpt(file string, line, around int) (lines []string, first int) {
	f, ok := p.Files[file]
	if !ok {
		return nil, 0
	}
	all := f.Lines()
	if line < 1 || line > len(all) {
		return nil, 0
	}
	from, to := max(line-1-around, 0), min(line+around, len(all))
	// This is the text of the file, which may hold secrets.
	return secret.Clean(p.Basis.Secrets, all[from:to]), from + 1
}

// Dry reports whether the step only says what it would do, in a run that is dry or not: check_mode has the last word.
func (s *Step) Dry(check bool) bool {
	if s.CheckMode != nil {
		return *s.CheckMode
	}
	return check
}

// DefiesDryRun reports whether a dry run executes the step, because it has `check_mode: false`. What only prints or sets variables changes
// nothing and does not count, nor does what will be skipped.
func (s *Step) DefiesDryRun() bool {
	return !s.Dry(true) && !s.Excluded && s.Lacks == nil && s.Prediction != WillSkip && !spec.Inward(s.Action)
}

// DefyDryRun is how many steps a dry run executes.
func (p *Plan) DefyDryRun() (n int) {
	for i := range p.Steps {
		if p.Steps[i].DefiesDryRun() {
			n++
		}
	}
	return n
}

// Deselected reports a step that is excluded by its path, which a person has asked not to see.
func (s *Step) Deselected() bool { return s.Excluded && s.ExcludedBy != ByTags }

// Title is how a scope is called in text.
func (s Scope) Title() string {
	text := string(s.Kind) + " " + s.Name
	switch s.Kind {
	case ScopeLoop:
		text = fmt.Sprintf("loop %s × %d over %s", s.Name, s.Items, s.Loop)
		switch {
		case s.Parallel >= Unlimited:
			text += ", all at once"
		case s.Parallel > 0:
			text += fmt.Sprintf(", %d at once", s.Parallel)
		}
	case ScopeBlock, ScopeInclude:
		if s.Name == string(s.Kind) {
			text = s.Name
		}
		if s.Item != "" {
			text += " [" + s.Item + "]"
		}
		if s.Parallel > 0 {
			text += " (parallel)"
		}
	case ScopeBranch:
		text = s.Branch
	case ScopeBatch, ScopeSection, ScopeOrphans:
		return s.Name // which says what it is
	case ScopePlaybook, ScopePlay, ScopeRole, ScopePreset, ScopeTask:
	}
	if s.Hosts > 0 {
		text += "  on " + CountOf(s.Hosts, "host")
	}
	if s.Timeout > 0 {
		text += ", at most " + s.Timeout.String()
	}
	return text
}

// TimeoutText is how long the steps may take together; "" if that is not limited.
func (s Scope) TimeoutText() string {
	if s.Timeout == 0 {
		return ""
	}
	return s.Timeout.String()
}

// Limits are the scopes in whose time a step counts, if they have a timeout, from the innermost. What a rescue does has no share in the
// time of its block, as it makes up for the block's failure; and what cleans up has none in any: always, and handlers that run in any case.
func (p *Plan) Limits(step int) iter.Seq[int] { return p.LimitsFrom(p.Steps[step].Scope) }

// LimitsFrom are the same for what is in a scope.
func (p *Plan) LimitsFrom(scope int) iter.Seq[int] {
	return func(yield func(scope int) bool) {
		for at := scope; at >= 0; at = p.Scopes[at].Parent {
			switch s := &p.Scopes[at]; {
			case s.Branch == "always", s.Handlers && s.Force:
				return
			case s.Branch != "" && s.Parent >= 0:
				at = s.Parent // its block
			case !yield(at):
				return
			}
		}
	}
}

// Link is an order between two steps, as the execution graph has it.
type Link struct {
	Step int
	On   string // the outcomes that let the later one go: success, failure, finish, changed …
	Data bool   // the later one also needs a value of the earlier
}

// Mistaken is why no step is asked on other machines once the playbook was found to have mistakes.
const Mistaken = "the playbook has mistakes"

// Found is what a step has found that was asked while planning.
func (p *Plan) Found(step int) (found.Result, bool) {
	f, ok := p.Ahead.Findings[step]
	return f, ok
}

// Predicted are the results of a run as far as they are known before it: a step that is excluded, or that uses the value of one that is,
// gives nothing. Of the others
// nothing is known, but for those that were asked while planning.
type Predicted struct {
	Plan *Plan
	Why  map[int]Absence

	// What steps have found that were asked while planning. Ask gives what such a step registers; nil: nothing is asked.
	Findings map[int]found.Result
	Ask      func(step int) (result map[string]any, ok bool)
	Unasked  map[int]string // why a step was not asked that could have been
}

// Connection is how the host of a step is reached, as far as the user's OpenSSH does not know better by itself.
type Connection struct {
	Host     string        // its name in the inventory
	Address  string        // "": the name
	Port     int           // 0: as ssh has it
	User     string        // "": as ssh has it
	Key      string        // path of a private key; "": as ssh has it
	Args     string        // further arguments of ssh
	Program  string        // what runs as ssh; "": ssh
	Timeout  time.Duration // for connecting; 0: a default
	Way      way.Way       // what leads there instead of ssh; zero: ssh does
	Password string        // a secret; "": none is known
	// what of Args, Program and Way comes from the playbook's variables and may have other programs executed; "": nothing
	Steers string
}

// Portable makes paths below the playbook's directory relative to it, so that a plan does not depend on where it was
// made.
func (p *Plan) Portable(v any) any {
	switch v := v.(type) {
	case string:
		// A text with line breaks is not a path, even if it begins like one.
		if filepath.IsAbs(v) && (v == p.Root || strings.HasPrefix(v, p.Root+"/")) && !strings.ContainsAny(v, "\n") {
			return ShownPath(p.Root, v)
		}
	case []any:
		// Copied, as a step may be about to use what is given here.
		list := make([]any, len(v))
		for i := range v {
			list[i] = p.Portable(v[i])
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for k := range v {
			m[k] = p.Portable(v[k])
		}
		return m
	}
	return v
}

// StepRef names a step for people: step-0003 «read release».
func (p *Plan) StepRef(s int) string {
	if s >= len(p.Steps) {
		return fmt.Sprintf("step-%04d", s+1)
	}
	return fmt.Sprintf("%s «%s»", p.Steps[s].ID(), p.Steps[s].Label(p.Steps[s].Title()))
}

// Overridden is what an override changes in a step.
type Overridden struct {
	Override
	Was    any         // what it takes the place of; nil if there was nothing
	Now    any         // what it comes to
	Origin diag.Origin // of what it takes the place of
}

// Read is a file, or a directory with everything below it, that a step reads on the machine that moon runs on. Its digest is part of
// the step's: when the step is about to start, what is there must be what was there when the plan was made.
type Read struct {
	*source.Source
	// Hidden says that the digest is neither shown nor kept, nor part of the step's, since it would let others try out a secret. Within
	// the process it is compared all the same.
	Hidden bool
}

// ByTags is Step.ExcludedBy of a step that --tags or --skip-tags leave out.
const ByTags = "tags"

// After names the steps that unknown values wait for: step-0003 «read release».
func (p *Plan) After(steps []int) string { return AfterSteps(steps, p.StepRef) }

// Machine is how a machine is reached. Two names of one machine are two machines: the run finds that out.
type Machine struct {
	Address string
	Port    int
	Program string
	Way     way.Way
}

// Here is the machine that moon runs on.
var Here Machine

// Machine is where a connection leads to.
func (c *Connection) Machine() Machine {
	if c == nil {
		return Here
	}
	return Machine{cmp.Or(c.Address, c.Host), c.Port, c.Program, c.Way}
}

// String is "ada@10.0.0.7:2222", or "docker:web1".
func (c *Connection) String() string {
	text := cmp.Or(c.Address, c.Host)
	if c.User != "" {
		text = c.User + "@" + text
	}
	if c.Port != 0 {
		text = fmt.Sprintf("%s:%d", text, c.Port)
	}
	if !c.Way.IsZero() {
		text = c.Way.Kind + ":" + text
	}
	return text
}

// IndexOfPath is the number of the step with a path, or -1.
func (p *Plan) IndexOfPath(path string) int {
	for i := range p.Steps {
		if p.Steps[i].Path == path {
			return i
		}
	}
	return -1
}
