package playbook

import "slices"

// Shape is what the value under a key may look like, for a schema that editors read. What the parser takes is decided
// by the parser alone; a test holds the two together.
type Shape uint8

// The shapes.
const (
	AnyText       Shape = iota + 1 // text, a number or a boolean, taken as written
	Boolean                        // or a template
	Confirmation                   // true, what to ask, or a map of ConfirmKeys
	BoolOrNumber                   // true, or how many
	Condition                      // a condition or a boolean
	Conditions                     // the same, or a list of them
	Number                         // a whole number, or a template
	Duration                       // 30s, 1m30s or seconds, or a template
	Identifier                     // the name of a variable
	Handle                         // an id
	Texts                          // one text or a list of them
	Variables                      // a map of names and values
	Environment                    // a map of texts
	Fields                         // a map whose keys depend on the action
	LoopOver                       // a list, a map or an expression
	LoopSettings                   // a map of LoopKeys
	NeedsList                      // ids, perhaps each with one of NeedOutcomes
	Steps                          // a list of steps
	OneStep                        // a step
	FilePath                       // a path, or a map with file or path
	PromptList                     // maps with name and prompt
	ImportList                     // playbooks by the names of variables, or a list of maps
	ExportList                     // names of variables, or a map of names and values
	FormatVersion                  // 1
	StrategyWord                   // linear or graph
	ApproveWord                    // expanded
	OrphansWord                    // keep, remove or forget
	PresetCall                     // a name, or a map with name and with
	DefaultsMap                    // a map of DefaultKeys
)

// Described is a key with what a person needs to know of it.
type Described struct {
	Name    string
	Aliases []string
	Doc     string
	Shape   Shape
	Kind    TaskKind // what the key makes of a task, if it is a directive
}

// Shape is what the key's value may look like.
func (k *Key) Shape() Shape { return shapes[k.Name] }

// On reports whether a task of the kind may have the key.
func (k *Key) On(kind TaskKind) bool { return k.later == "" && k.on&(1<<kind) != 0 }

// Supported reports whether the key is anything but refused.
func (k *Key) Supported() bool { return k.later == "" }

// Later is why a key that is not supported is refused, and what to write instead.
func (k *Key) Later() string { return k.later }

var shapes = map[string]Shape{
	"name": AnyText, "id": Handle, "when": Conditions, "register": Identifier, "tags": Texts,
	"with_items": LoopOver, "with_filetree": AnyText, "loop_control": LoopSettings, "needs": NeedsList,
	"creates": AnyText, "removes": AnyText, "unless": AnyText, "onlyif": AnyText,
	"changed_when": Conditions, "failed_when": Conditions, "until": Conditions, "ignore_errors": Condition,
	"retries": Number, "retry_delay": Duration, "timeout": Duration, "timeout_queued": Duration, "async": Duration, "poll": Duration,
	"sources": Texts, "generates": Texts,
	"undo": OneStep, "moved": AnyText, "create_before": Boolean, "env": Environment, "cwd": AnyText,
	"become": Boolean, "become_user": AnyText, "become_method": AnyText, "become_flags": AnyText, "confirm": Confirmation,
	"no_log": Boolean, "interactive": Boolean,
	"check_mode": Boolean, "diff": Boolean, "vars": Variables, "args": Fields, "rescue": Steps, "always": Steps,
	"parallel": BoolOrNumber, "notify": Texts, "listen": Texts, "delegate_to": AnyText, "hosts": Texts, approveKey: ApproveWord,
}

// Directives are the keys that make a task something else than an action, in the order of the reference.
var Directives = []Described{
	{
		Name: "include", Aliases: []string{"include_tasks", "import_tasks"}, Kind: Include, Shape: FilePath,
		Doc: "file of steps, read when planning; relative to this file",
	},
	{Name: "include_vars", Kind: IncludeVars, Shape: FilePath, Doc: "file of variables, in effect for the steps after it"},
	{Name: "preset", Kind: Preset, Shape: PresetCall, Doc: "playbook with parameters, by its name; its steps are in the plan"},
	{Name: "block", Kind: Block, Shape: Steps, Doc: "steps that share keys, and a place for `rescue` and `always`"},
}

// DocumentKeys are the keys of a playbook in its map form.
var DocumentKeys = []Described{
	{Name: "version", Shape: FormatVersion, Doc: "version of the language; optional"},
	{Name: "name", Shape: AnyText, Doc: "what the playbook is called"},
	{Name: "description", Shape: AnyText, Doc: "what it is for; for readers, and for the list that `moon` alone shows"},
	{Name: "vars", Shape: Variables, Doc: "variables, rendered in this order; they may use each other"},
	{Name: "vars_prompt", Shape: PromptList, Doc: "variables that moon asks for"},
	{Name: "vars_files", Shape: Texts, Doc: "files of variables; relative to this file"},
	{Name: "hosts", Shape: Texts, Doc: "pattern of hosts and groups: each of the steps runs on all of them"},
	{Name: "strategy", Shape: StrategyWord, Doc: "linear (in the order of the file) or graph (only `needs` and values order the steps)"},
	{
		Name: "parallel", Shape: BoolOrNumber,
		Doc: "true or a number: the steps have no order among themselves; with `hosts`, on how many hosts at once a step runs",
	},
	{
		Name: "imports", Shape: ImportList,
		Doc: "variables with what the last good run of another playbook exported: a map of names and playbooks, or a list of maps with `from`, `as`, `names`, `optional` and `wait`",
	},
	{
		Name: "exports", Shape: ExportList,
		Doc: "variables that a run without failures exports, for `--exports FILE` and for other playbooks: a list of names, or a map of names and templates",
	},
	{Name: "force_handlers", Shape: Boolean, Doc: "true: handlers run after a failure, too"},
	{
		Name: approveKey, Shape: ApproveWord,
		Doc: "expanded: a review approves the steps that the run adds, except those with `confirm`",
	},
	{
		Name: orphansKey, Shape: OrphansWord,
		Doc: "what becomes of what earlier runs have made and no step gives any more: keep (default), remove or forget",
	},
	{Name: "timeout", Shape: Duration, Doc: "30s, 1m30s or seconds: the limit for all steps together"},
	{Name: "defaults", Shape: DefaultsMap, Doc: "keys for the steps that do not have them: `timeout`, `timeout_queued`"},
	{Name: "steps", Shape: Steps, Doc: "the steps"},
	{Name: "handlers", Shape: Steps, Doc: "steps that run at the end if a step that notifies them has changed something"},
}

// ImportKeys are the keys of an entry of `imports`.
var ImportKeys = []Described{
	{Name: "from", Shape: AnyText, Doc: "the playbook that exports, relative to this one"},
	{Name: "as", Shape: Identifier, Doc: "in the list form, the variable that has the values, as `db.address`; without it each of `names` is a variable"},
	{Name: "names", Shape: Texts, Doc: "the exports that are used; others are not in the variable"},
	{Name: "optional", Shape: Boolean, Doc: "true: without exports the variables are undefined, which is an error otherwise"},
	{Name: "wait", Shape: Duration, Doc: "how long `moon run` waits for the exports, and for a run of that playbook in progress"},
}

// DefaultKeys are the keys of `defaults`.
var DefaultKeys = []Described{
	{Name: "timeout", Shape: Duration, Doc: "how long an attempt may take"},
	{Name: "timeout_queued", Shape: Duration, Doc: "how long a step may wait for a slot once it is ready"},
}

// ConfirmKeys are the keys of `confirm`.
var ConfirmKeys = []Described{
	{Name: "ask", Shape: AnyText, Doc: "the question"},
	{Name: "by", Shape: Number, Doc: "how many different people have to confirm the step (1); a number, and no template"},
	{Name: "group", Shape: AnyText, Doc: "the group that each of them has to be in; a name, and no template"},
}

// LoopKeys are the keys of `loop_control`.
var LoopKeys = []Described{
	{Name: "loop_var", Shape: Identifier, Doc: "name of the variable with the item (item)"},
	{Name: "index_var", Shape: Identifier, Doc: "name of the variable with the number of the item, from 0 (index)"},
	{Name: "label", Shape: AnyText, Doc: "what stands for the item in the plan"},
	{Name: "limit", Shape: Number, Doc: "how many items may run at once (1)"},
}

// NeedOutcomes are the words that `needs` knows.
func NeedOutcomes() []string { return slices.Clone(needOutcomes) }

// Patterns that names must match, as regular expressions.
var (
	IdentifierPattern = identifier.String()
	HandlePattern     = idPattern.String()
)
