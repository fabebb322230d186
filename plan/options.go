package plan

import (
	"io"
	"strings"
	"time"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan/called"
	"moon/plan/dialect"
	"moon/plan/found"
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

// Probe is a step that only looks at its machine, as it is put to that machine while the plan is made.
type Probe struct {
	Root    string // the directory of the playbook
	Path    string // of the step
	Of      string // digest of what is asked: a finding is of use only for the same question
	Host    string // in the inventory
	Call    *Call
	Env     map[string]string
	Cwd     string
	Roams   bool // nobody has chosen Cwd
	Conn    *Connection
	Become  *Become
	Timeout time.Duration
	Dialect dialect.Dialect
	// BecomePassword is a secret; "" if none is known.
	BecomePassword string
}

// GatheringFacts is the first task of a play: it asks again, and decides who can be reached.
func GatheringFacts(pl *playbook.Play) *playbook.Task {
	t := playbook.NewTask(playbook.Task{
		Kind: playbook.Action, Pos: pl.Pos, Action: "setup", ActionKey: "gather_facts", ActionPos: pl.Pos,
		Name: playbook.Written(pl.Pos, "Gathering Facts"), Loop: &playbook.Loop{Var: "item", Index: "index"},
	})
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
	Path         string    // of the playbook; "-" reads Stdin; required
	Given        string    // the same as the user has written it; ""
	Stdin        io.Reader // of "-"
	Dir          string    // working directory; required: `-` and relative paths of flags are resolved here
	Home         string    // for ~; required
	User         string    // the current user's name, for become
	Presets      string    // the user's directory of presets; "" if there is none
	MaxSteps     int       // 0: DefaultMaxSteps
	MaxExpansion int       // how many items the run may find for one loop; 0: 10,000

	Values  Values
	Growing bool             // the run plans again with Opened: it asks no host, and knows the facts in Facts.Hosts
	Opened  map[string]Found // items of loops that only the run knew, by the path of the step that has found them
	Select  Selection
	Mode    Mode
	Prior   Prior
	Facts   KnownFacts
	Outside Outside
	// Of plays over hosts.
	Hosts      HostSelection
	Login      Login
	ModulePath []string // --module-path: directories of modules, beside library/
	RolesPath  []string // further directories of roles; absolute

	Collections []string     // directories with collections, each in or with ansible_collections; absolute
	Core        string       // directory of the Python package ansible, which is the collection ansible.builtin; "": none is installed
	PluginPaths PluginPaths  // that Ansible's settings name
	Moved       source.Moved // where directories are that the saved form of the plan has elsewhere

	Plugins Plugins       // actions that are not compiled in; nil: there are none
	Asked   *called.Asked // what files in Python have answered before; nil: they are asked each time
	Trusts  Trusts        // nil: nothing is trusted
	Secrets *secret.Set   // is given what planning and running learn of secrets; nil for one of the plan's own
	Unseen  *diag.List    // of a survey: what only facts could tell, which nobody asks for
	// Compared says that digests leave out what a step has of its item but does not use. They serve to compare two plans.
	Compared bool
	// Reads gives what a step reads in the place of what is there now; nil: that itself. A run that plans again uses it for what its own
	// steps have changed.
	Reads func(now *source.Source) *source.Source
}

// PluginPaths are directories that Ansible's settings name; absolute.
type PluginPaths struct {
	Library []string            // of modules
	Utils   []string            // of module_utils
	Callees map[string][]string // of filters, tests and lookups, by kind
	Brought []string            // those that a file of settings names which may have come with the playbook
}

// Values are given from outside the playbook.
type Values struct {
	Extra     []string            // -e: k=v, {"k": 1} or @file
	Files     []string            // --vars-file
	Hidden    []string            // names that Extra gives secret values
	Overrides []Override          // of a run
	Answers   map[string]string   // to vars_prompt, by name
	Imported  map[string]Imported // exports of other playbooks that are known, by their absolute paths; others are asked for
}

// ImportRequest asks for what another playbook has exported.
type ImportRequest struct {
	Playbook string        // absolute, its directory without links
	Shown    string        // the same for people
	Wait     time.Duration // how long a run may wait for it; 0: it does not
}

// Patience is how long a run may wait, in words: 30m.
func (q ImportRequest) Patience() string {
	text := q.Wait.Round(time.Second).String()
	for _, none := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, none) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// Imported is what the last good run of another playbook has exported.
type Imported struct {
	Run     string       `json:"run"` // "": it has exported nothing yet
	At      time.Time    `json:"at,omitzero"`
	Values  found.Fields `json:"values,omitempty"`
	Unknown bool         `json:"-"` // it will have run before the plan is made that counts
}

// Selection says which steps a person wants. The selectors are what package selector reads.
type Selection struct {
	Tags, SkipTags []string
	Only, Skip     []string // selectors: exclude every other step, and these
	Targets        []string // selectors or tags: exclude every step that none of these needs
	StartAt        string   // selector: exclude the steps before the first it names; "" for none
}

// Bounded reports whether selectors leave steps out.
func (s *Selection) Bounded() bool {
	return len(s.Only)+len(s.Targets)+len(s.Skip) > 0 || s.StartAt != ""
}

// Mode is how the run will go.
type Mode struct {
	Check         bool   // it will be a dry one
	Diff          bool   // and show differences
	Forks         int    // how many steps may run at once
	ForceHandlers bool   // handlers run on failed hosts too; the key of a play wins
	ConfigFile    string // the ansible.cfg that counts; "" if there is none
	// Of plays that do not say otherwise:
	NoFacts, Smart bool           // no facts are gathered; those that are known are not gathered again
	AnyFatal       bool           // a failure on one host ends the run on all
	Strategy       string         // "": linear
	MergeMaps      bool           // those of the same name, from several places, make one
	FactsApart     bool           // facts are in ansible_facts alone
	FactFiles      vars.FactFiles // in which facts are kept from run to run
}

// HostSelection says which hosts there are, and which of them are wanted.
type HostSelection struct {
	Inventory []string // -i: files, directories, executables, or "a,b,"
	Limit     string   // -l: a pattern; "" for all hosts
	NoConnect bool     // facts of hosts stay unknown until the run
	NoProbe   bool     // so does what steps find that only look at their machine
	Commands  bool     // commands that say that they only look are asked, too
}

// Login is how hosts are reached and who steps run as where neither play nor inventory say otherwise.
type Login struct {
	User                      string // -u
	PrivateKey                string
	Connection                string
	SSHArgs                   string  // --ssh-common-args
	Steers                    string  // what of them came with the playbook and has ssh do more than connect, in words; "": nothing
	Steering                  []Input // the files that say so, by absolute path: they are trusted like those of the playbook
	Become                    bool
	BecomeUser                string
	BecomeMethod, BecomeFlags string // the flags as ansible.cfg has them
	Timeout                   int    // seconds for connecting; 0: the usual ones
	Port                      int    // of SSH; 0: what ssh takes
	AnyHostKey                bool   // keys of hosts that are not known are accepted
}

// KnownFacts are the facts that planning may use.
type KnownFacts struct {
	Here     map[string]any            // of the machine that moon runs on
	Volatile func() map[string]any     // those that change: unknown when planning, read once when a run asks for one; may be nil
	Costly   map[string]func() any     // those that are found out when the playbook names them
	Hosts    map[string]map[string]any // of hosts as they were when the plan was made first, by host
	Asked    map[string]Gathered       // of hosts that were asked for this plan
	Stored   map[string]map[string]any // what earlier runs have kept of the facts of hosts
	Findings map[string]found.Result   // of steps that only look at their machine, by path
	Excluded map[string]string         // hosts whose facts could not be had and decide what they do, with the reason why
}

// Outside is what planning may ask of the world. Without one of its functions nothing is asked, and what depends on it is unknown until
// the run or refused.
type Outside struct {
	Gather       func([]Target) []Gathered                              // facts of hosts, before the plan is shown
	StoredFacts  func(files vars.FactFiles, host string) map[string]any // what earlier runs have kept of them
	Probe        func([]Probe) []found.Result                           // steps that only look at their machine, before the plan is shown
	RunInventory func(path string, args ...string) ([]byte, error)      // an executable inventory
	Pipe         func(command, dir string) (string, error)              // a shell command of lookup('pipe')
	Secret       func(argv []string, dir string) (string, error)        // what a program prints that keeps secrets
	Fetch        func(url string) (string, error)                       // of lookup('url')
	Ask          func([]Prompt) (map[string]string, error)              // vars_prompt
	Exports      func(ImportRequest) (Imported, error)                  // of another playbook; nil: they are unknown
	Vault        func() ([]vault.Password, error)                       // when something is encrypted
	Python       called.Python                                          // filters, tests and lookups in Python
	Plugin       called.Plugin                                          // filters and lookups of plugins
	TrustsFiles  func([]spec.Member) bool                               // whether files may run that a saved plan names
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
	// Callee finds a filter, test or lookup that is not moon's by the name that a text calls it by; nil if there is none. own asks only for
	// those that count before moon's own of that name. The error is as of Action.
	Callee(kind, name string, own bool) (*spec.Callee, error)
	// Callees are what somebody who has misspelt one may have meant.
	Callees(kind string) []string
	// Parser is the plugin that reads a file of this name, which is not YAML; "" if there is none. unasked are those that may, and are
	// not trusted.
	Parser(file string) (name string, unasked []string)
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
	call := &vars.Invocation{
		Check: o.Mode.Check, Diff: o.Mode.Diff, Forks: o.Mode.Forks, Limit: o.Hosts.Limit, Tags: o.Select.Tags,
		SkipTags: o.Select.SkipTags, ConfigFile: o.Mode.ConfigFile, MergeMaps: o.Mode.MergeMaps,
		User: o.Login.User, Connection: o.Login.Connection, PrivateKey: o.Login.PrivateKey, Port: o.Login.Port, Timeout: o.Login.Timeout,
	}
	for _, written := range o.Hosts.Inventory {
		if inventory.IsPath(written) {
			written = source.ResolvePath(written, o.Dir, o.Home)
		}
		call.Inventories = append(call.Inventories, written)
	}
	return call
}

// Trusts decides whether something that a playbook names may be executed before anybody has approved it. what says in words what that
// is, for a question; "" only looks, and never asks. files are those that decide it: every file that was read so far, by its
// absolute path and digest.
type Trusts func(what string, files []Input) bool

// InventoryHint is the way out if no host is as wanted: without an inventory there are none.
func (o *Options) InventoryHint() string {
	if len(o.Hosts.Inventory) == 0 {
		return "give an inventory with -i; without one there is only localhost"
	}
	return ""
}
