package plan

import (
	"io"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan/inventory"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/vars"
	"moon/secret"
	"moon/secret/vault"
)

// Target is a host whose facts are wanted before the plan is made.
type Target struct {
	Host   string
	Conn   *Connection // nil: this machine
	Become *Become
	// BecomePassword is a secret; "" if none is known.
	BecomePassword string
}

// Gathered is what became of it.
type Gathered struct {
	Facts map[string]any // as ansible_facts has them, without prefix; nil if they could not be had
	Own   map[string]any // of another machine: those that have names without a prefix, such as os
	Why   string         // why not
}

// GatheringFacts is the first task of a play: it asks again, and decides who can be reached.
func GatheringFacts(pl *playbook.Play) *playbook.Task {
	t := &playbook.Task{
		Kind: playbook.Action, Pos: pl.Pos, Action: "setup", ActionKey: "gather_facts", ActionPos: pl.Pos,
		Name: playbook.Written(pl.Pos, "Gathering Facts"), Loop: playbook.Loop{Var: "item", Index: "index"},
		PlayTask: new(playbook.PlayTask),
	}
	if !pl.Subset.IsZero() {
		t.ExtraArgs = playbook.WrittenMap(pl.Pos, playbook.Entry{Key: "gather_subset", Pos: pl.Subset.Pos(), Value: pl.Subset})
	}
	return t
}

// Override is a value that takes the place of another for one run, above all other sources.
//
// That of a variable is data. That of an argument, of a variable of the environment and of the working directory is written as
// in a playbook, and may be a template.
type Override struct {
	Field    string `json:"field,omitempty"` // "" for a variable; OverrideArg and the like
	Name     string `json:"name,omitempty"`  // of the variable or argument; "" for the working directory
	Value    string `json:"value"`           // as YAML
	At       string `json:"at,omitempty"`    // path of the step or scope it is for; "": everything
	From     string `json:"from,omitempty"`  // path of the step it begins with, in the order of the plan; "": the first
	Host     string `json:"host,omitempty"`  // only for steps of this host; "": of all
	Secret   bool   `json:"secret,omitempty"`
	Withheld bool   `json:"withheld,omitempty"` // the value was secret, and is not kept
}

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
	Check     bool     // the run will be a dry one
	Diff      bool     // and show differences
	Forks     int      // how many steps may run at once
	RolesPath []string // further directories of roles; absolute
	Answers   map[string]string
	// facts of hosts, before the plan is shown; nil: they are unknown until the run
	Gather       func([]Target) []Gathered
	RunInventory func(path string, args ...string) ([]byte, error) // an executable inventory
	Pipe         func(command, dir string) (string, error)         // a shell command of lookup('pipe'); nil: there is none
	Fetch        func(url string) (string, error)                  // of lookup('url')
	Ask          func([]Prompt) (map[string]string, error)         // vars_prompt; nil: there is nobody to ask
	Trusts       Trusts                                            // nil: nothing is trusted
	Known        map[string]map[string]any                         // facts of hosts as they were when the plan was made first, by host
	Asked        map[string]Gathered                               // hosts that were asked for this plan
	Unseen       *diag.List                                        // of a survey: what only facts could tell, which nobody asks for

	Volatile func() map[string]any // facts that change: unknown when planning, read once when a run asks for one; may be nil
	Costly   map[string]func() any // facts that are found out when the playbook names them
}

// Plugins are the actions that are not compiled in. Whoever calls the planner finds them on the disk; a plan that is made
// again has those that were kept with it.
type Plugins interface {
	// Has reports whether an action of this name, as it is written, may be a plugin's, and what it is called there. It runs
	// nothing: it is asked about every key that no action of moon's has.
	Has(name string) (canonical string, ok bool)
	// Action gives the declaration by that name. The error is worded for the user; a *spec.PluginError has a way out.
	Action(canonical string) (*spec.Action, error)
	// Names are what somebody who has misspelt one may have meant.
	Names() []string
}

// Prompt is a question of vars_prompt: what is to be typed before the plan can be made, because the playbook says so and
// nothing else gives the variable.
type Prompt struct {
	Name    string `json:"name"`              // of the variable
	Text    string `json:"text,omitempty"`    // what to ask; "": the name
	Default string `json:"default,omitempty"` // what an empty answer means
	Private bool   `json:"private,omitempty"` // what is typed is not to be seen
	Confirm bool   `json:"confirm,omitempty"` // it is typed twice
}

// Question is what a person is asked.
func (p Prompt) Question() string {
	if p.Text == "" {
		return p.Name
	}
	return p.Text
}

// Invocation is how moon was called, as far as variables say it.
func (o *Options) Invocation() *vars.Invocation {
	call := &vars.Invocation{Check: o.Check, Diff: o.Diff, Forks: o.Forks, Limit: o.Limit, Tags: o.Tags, SkipTags: o.SkipTags}
	for _, written := range o.Inventory {
		if !inventory.IsList(written) {
			call.InventoryFile = source.ResolvePath(written, o.Dir, o.Home)
			break
		}
	}
	return call
}

// Trusts decides whether something that a playbook names may be executed before anybody has approved it. what says in words what that
// is, for a question; "" only looks, and never asks. files are those that decide it: every file that was read so far, by its
// absolute path and digest.
type Trusts func(what string, files []Input) bool
