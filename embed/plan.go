package embed

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"moon/engine"
	"moon/engine/graph"
	"moon/exec/action"
	"moon/exec/facts"
	"moon/internal/app"
	"moon/internal/build"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/called"
	"moon/plan/show"
)

// Playbook is a playbook, and what is given to it from outside.
type Playbook struct {
	Path      string            // required: the file, or "-" for Text
	Text      string            // of a playbook without a file; its relative paths start in Dir
	Dir       string            // where relative paths of these fields start; "": the working directory
	Inventory []string          // of plays: files, directories, programs, or names with a comma
	Limit     string            // of plays: only these hosts
	Vars      map[string]any    // above all others, as -e
	VarsFiles []string          // files of variables
	Answers   map[string]string // to vars_prompt, by name
	Tags      []string          // only steps with one of these
	SkipTags  []string          // no steps with one of these
	Only      []string          // only these steps: ids, paths, names
	Skip      []string          // all but these
	Vault     []string          // files with vault passwords: FILE or ID@FILE

	Check bool // a dry run: nothing is changed
	Diff  bool // changes have their text
	Forks int  // how many steps may run at once; 0: as moon run

	NoConnect bool // ask no host for its facts while planning
}

// Plan is a playbook with everything expanded: what a run will do, in order. It does not change.
type Plan struct {
	Digest   string // over everything that decides what will run
	Steps    []Step
	Warnings []Diagnostic

	plan  *plan.Plan
	graph *graph.Graph
	call  *app.Invocation
	book  Playbook
}

// Step is a step of a plan.
type Step struct {
	ID     string // step-0001; with events and commands by its index
	Path   string // its stable identity
	Name   string
	Action string
	Args   map[string]any // as far as they are known
	Host   string
	Tags   []string
	File   string // where it is written, relative to the playbook
	Line   int
	Will   string // "runs", "will skip" or "may be skipped", as far as the plan knows

	Confirm  string // what it asks before it runs; "": nothing
	Excluded bool   // by tags or a selection
}

// Diagnostic is a mistake or a warning, with its place and what to do about it.
type Diagnostic struct {
	Error   bool
	File    string
	Line    int
	Column  int
	Message string
	Hint    string
}

// String writes it on one line.
func (d Diagnostic) String() string {
	text := d.Message
	if d.File != "" {
		text = fmt.Sprintf("%s:%d:%d: %s", d.File, d.Line, d.Column, text)
	}
	if d.Hint != "" {
		text += "; " + d.Hint
	}
	return text
}

// Mistakes is the error of a playbook that cannot be planned.
type Mistakes struct{ Diagnostics []Diagnostic }

// Error has a line for each mistake.
func (m *Mistakes) Error() string {
	var lines []string
	for _, d := range m.Diagnostics {
		if d.Error {
			lines = append(lines, d.String())
		}
	}
	return strings.Join(lines, "\n")
}

// Plan plans a playbook. Hosts whose facts it needs are asked. The error is *Mistakes if the playbook is wrong. The context is looked
// at before planning begins; what asks hosts has time limits of its own.
func (b Playbook) Plan(ctx context.Context) (*Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	call := app.NewInvocation(strings.NewReader(""), io.Discard, io.Discard, build.Version, build.Stamp(), "")
	call.Python = app.NewPythons(call.Asker)
	o, err := b.options(call)
	if err != nil {
		return nil, err
	}
	p, g, ds := engine.Build(o)
	if p == nil {
		(&Plan{call: call}).Close()
		return nil, &Mistakes{diagnostics(ds)}
	}
	made := &Plan{Digest: p.Digest, Warnings: diagnostics(ds), plan: p, graph: g, call: call, book: b}
	for i := range p.Steps {
		s := &p.Steps[i]
		args, _ := p.Portable(plan.JSONValue(s.Args)).(map[string]any)
		made.Steps = append(made.Steps, Step{
			ID: s.ID(), Path: s.Path, Name: p.NameWithItems(i, s.Title()), Action: s.Action, Args: args, Host: s.Host, Tags: s.Tags,
			File: s.Origin.File, Line: s.Origin.Line, Will: string(s.Prediction), Confirm: s.Confirm, Excluded: s.Excluded,
		})
	}
	return made, nil
}

// Close ends the connections to hosts and the programs that planning has started. A run closes those that it uses itself.
func (p *Plan) Close() {
	p.call.Hosts.Close()
	p.call.Python.Close()
	p.call.Values.Close()
}

// WriteJSON writes the plan as moon plan --format json does.
func (p *Plan) WriteJSON(w io.Writer) error { return show.WriteJSON(w, p.plan, p.graph.JSON) }

// WriteTree writes the plan for people, as moon plan does, with lines of at most width cells; 0: of any length.
func (p *Plan) WriteTree(w io.Writer, width int) error { return show.WriteTree(w, p.plan, width) }

// forks is how many steps run at once.
func (b Playbook) forks() int { return cmp.Or(b.Forks, max(8, runtime.NumCPU())) }

// options is what the planner has to know.
func (b Playbook) options(call *app.Invocation) (o plan.Options, err error) {
	dir := b.Dir
	if dir == "" {
		dir = "."
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return o, err
	}
	o = plan.Options{
		Dir: dir, Path: b.Path, Given: b.Path, Stdin: strings.NewReader(b.Text), Secrets: call.Secrets,
		Facts:  plan.KnownFacts{Here: facts.Local(), Volatile: facts.Volatile, Costly: facts.Costly()},
		Values: plan.Values{Files: b.VarsFiles, Answers: b.Answers},
		Select: plan.Selection{Tags: b.Tags, SkipTags: b.SkipTags, Only: b.Only, Skip: b.Skip},
		Hosts:  plan.HostSelection{Limit: b.Limit, NoConnect: b.NoConnect},
		Asked:  called.NewAsked(nil),
	}
	if b.Path == "" {
		return o, fmt.Errorf("embed: Playbook.Path is empty")
	}
	if b.Path != "-" && !filepath.IsAbs(b.Path) {
		o.Path = filepath.Join(dir, b.Path)
	}
	// A process without a home or a name, as in a container, still plans.
	o.Home, _ = os.UserHomeDir()
	if u, err := user.Current(); err == nil {
		o.User = u.Username
	}
	if len(b.Vars) > 0 {
		vars, err := json.Marshal(b.Vars)
		if err != nil {
			return o, fmt.Errorf("embed: Playbook.Vars: %w", err)
		}
		o.Values.Extra = []string{string(vars)}
	}
	for _, source := range b.Inventory {
		o.Hosts.Inventory = append(o.Hosts.Inventory, app.InventorySource(source, dir))
	}
	o.Mode.Check, o.Mode.Diff, o.Mode.Forks = b.Check, b.Diff, b.forks()
	return o, b.connect(call, &o)
}

// connect lets the planner ask hosts and programs. The program that calls it has decided to run what the playbook names.
func (b Playbook) connect(call *app.Invocation, o *plan.Options) error {
	set, err := app.SearchAnsible(o)
	if err != nil {
		return err
	}
	passwords, err := app.VaultPasswords{Files: b.Vault, Trust: true}.OrSettings(call, o.Dir)
	if err != nil {
		return err
	}
	if o.Outside.Vault, err = passwords.Passwords(call); err != nil {
		return err
	}
	truster, err := call.Truster(true)
	if err != nil {
		return err
	}
	if err := set.Apply(o); err != nil {
		return err
	}
	o.Trusts = truster.Trusts
	o.Outside.Pipe, o.Outside.Fetch, o.Outside.Plugin = call.Asker.Pipe, action.Fetch, call.Values.Ask
	o.Outside.Python, o.Outside.Exports = app.AskPython(call.Python), (&app.Importer{Call: call}).Exports
	o.Outside.Gather, o.Outside.Probe = call.Hosts.Gather, call.Hosts.Probe
	call.KeepFacts(o, false)
	call.Session.Ask = app.Plugins{Of: o, Moon: build.Version}.Asker(call)
	o.Outside.RunInventory = func(path string, args ...string) ([]byte, error) {
		return call.Session.Ask(context.Background(), path, args...)
	}
	if len(o.Hosts.Inventory) == 0 && len(set.Inventory) > 0 {
		o.Hosts.Inventory, err = set.InventoryPaths()
	}
	return err
}

func diagnostics(ds diag.List) (list []Diagnostic) {
	for _, d := range ds {
		list = append(list, Diagnostic{
			Error: d.Severity == diag.Error, File: d.Pos.File, Line: d.Pos.Line, Column: d.Pos.Column, Message: d.Message, Hint: d.Hint,
		})
	}
	return list
}
