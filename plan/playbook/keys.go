package playbook

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/internal/pattern"
	"moon/internal/people"
	"moon/internal/suggest"
)

// kinds is a set of task kinds.
type kinds uint8

const (
	onAction      kinds = 1 << Action
	onInclude     kinds = 1 << Include
	onVars        kinds = 1 << Vars
	onIncludeVars kinds = 1 << IncludeVars
	onBlock       kinds = 1 << Block
	onPreset      kinds = 1 << Preset
	onGroups            = onInclude | onBlock | onPreset
	onSteps             = onAction | onGroups
	onAll               = onSteps | onVars | onIncludeVars
)

// Key is a key that any task may have next to its action.
type Key struct {
	Name    string
	Aliases []string
	Doc     string
	on      kinds
	later   string // why it is refused for now
	set     func(p *parser, t *Task, e Entry)
}

// Keys are the universal keys of a task, in the order of the reference.
var Keys []Key

func init() {
	Keys = stepKeys()
	for i, k := range Keys {
		keyIndex[k.Name] = &Keys[i]
		for _, a := range k.Aliases {
			keyIndex[a] = &Keys[i]
		}
	}
}

// stepKeys makes the table. It is a function, and no declaration, because block's parser needs the table itself.
func stepKeys() []Key {
	return []Key{
		{
			Name: "name", on: onAll, Doc: "what the step is called; rendered at plan time as far as it is known",
			set: setText(func(t *Task, v Value) { t.Name = v }),
		},
		{Name: "id", on: onSteps, Doc: "a handle for needs, selection and breakpoints; unique in the playbook", set: (*parser).readID},
		{
			Name: "when", on: onAll, Doc: "condition, boolean or list of them (all must hold)",
			set: setConditions(func(t *Task, v []Value) { t.When = v }),
		},
		{Name: "register", on: onAction | onPreset, Doc: "name of the variable that gets the result", set: (*parser).readRegister},
		{Name: "tags", on: onAll, Doc: "list of tags or one text; inherited downwards", set: (*parser).readTags},
		{
			Name: "with_items", Aliases: []string{"loop"}, on: onSteps, Doc: "list, map or expression: one step per item",
			set: (*parser).readLoop,
		},
		{Name: "with_filetree", on: onSteps, Doc: "directory: one step per entry below it", set: (*parser).readLoop},
		{Name: "loop_control", on: onSteps, Doc: "map of loop_var, index_var, label and limit", set: (*parser).loopControl},
		{
			Name: "needs", on: onSteps, Doc: "ids of what must end first; `{id: failure}` picks another outcome",
			set: (*parser).readNeeds,
		},
		{Name: "creates", on: onAction, Doc: "skip when the path exists", set: setText(func(t *Task, v Value) { t.ownKeys().Creates = v })},
		{Name: "removes", on: onAction, Doc: "skip when the path does not exist", set: setText(func(t *Task, v Value) { t.ownKeys().Removes = v })},
		{Name: "unless", on: onAction, Doc: "shell command: skip when it succeeds", set: setText(func(t *Task, v Value) { t.ownKeys().Unless = v })},
		{Name: "onlyif", on: onAction, Doc: "shell command: skip when it fails", set: setText(func(t *Task, v Value) { t.ownKeys().OnlyIf = v })},
		{
			Name: "changed_when", on: onAction, Doc: "conditions that decide whether the step changed something",
			set: setConditions(func(t *Task, v []Value) { t.ownKeys().ChangedWhen = v }),
		},
		{
			Name: "failed_when", on: onAction, Doc: "conditions that decide whether the step failed",
			set: setConditions(func(t *Task, v []Value) { t.ownKeys().FailedWhen = v }),
		},
		{
			Name: "ignore_errors", on: onSteps, Doc: "condition or boolean: a failure stays visible and stops nothing",
			set: setScalar("a boolean or a condition", func(t *Task, v Value) { t.ownKeys().Ignore = v }),
		},
		{
			Name: "retries", on: onAction, Doc: "further attempts after the first; 3 makes up to four attempts",
			set: setScalar("a number", func(t *Task, v Value) { t.ownKeys().Retries = v }),
		},
		{
			Name: "retry_delay", Aliases: []string{"delay"}, on: onAction, Doc: "time between attempts (1s)",
			set: setScalar("a duration such as 5s", func(t *Task, v Value) { t.ownKeys().Delay = v }),
		},
		{
			Name: "until", on: onAction, Doc: "conditions: try again until they hold",
			set: setConditions(func(t *Task, v []Value) { t.ownKeys().Until = v }),
		},
		{
			Name: "timeout", on: onSteps,
			Doc: "30s, 1m30s or seconds: an attempt that takes longer is killed and fails; on a group, the limit for all its steps together, or in a play for each task",
			set: setScalar("a duration such as 30s", func(t *Task, v Value) { t.ownKeys().Timeout = v }),
		},
		{
			Name: "async", on: onAction, Doc: "run as a job that the machine keeps, for at most that long, also if the connection breaks",
			set: setScalar("a duration such as 30s", func(t *Task, v Value) { t.ownKeys().Async = v }),
		},
		{
			Name: "poll", on: onAction, Doc: "of a step with `async`: how often to ask for the job (15s); 0 does not wait for it",
			set: setScalar("a duration such as 30s", func(t *Task, v Value) { t.ownKeys().Poll = v }),
		},
		{
			Name: "timeout_queued", on: onAction, Doc: "how long the step may wait for a slot once it is ready; then it fails",
			set: setScalar("a duration such as 30s", func(t *Task, v Value) { t.ownKeys().Queued = v }),
		},
		{
			Name: "sources", on: onAction,
			Doc: "globs of the step's source files: it is skipped while they, its command and its environment are unchanged since it last succeeded, and what it generates exists", set: func(p *parser, t *Task, e Entry) { t.ownKeys().Sources = p.readPaths(e) },
		},
		{
			Name: "generates", on: onAction, Doc: "globs of files the step creates; see sources",
			set: func(p *parser, t *Task, e Entry) { t.ownKeys().Generates = p.readPaths(e) },
		},
		{
			Name: "env", Aliases: []string{"environment"}, on: onSteps, Doc: "map of environment variables",
			set: setMapping(func(t *Task, v Value) { t.ownKeys().Env = v }),
		},
		{
			Name: "cwd", Aliases: []string{"chdir"}, on: onAction | onBlock,
			Doc: "working directory; default is the directory of the file that holds the step",
			set: setText(func(t *Task, v Value) { t.ownKeys().Cwd = v }),
		},
		{Name: "become", on: onSteps, Doc: "run as another user", set: setScalar("a boolean", func(t *Task, v Value) { t.ownKeys().Become = v })},
		{Name: "become_user", on: onSteps, Doc: "the user to become (root)", set: setText(func(t *Task, v Value) { t.ownKeys().BecomeUser = v })},
		{Name: "become_method", on: onSteps, Doc: "sudo, su or doas", set: setText(func(t *Task, v Value) { t.ownKeys().BecomeHow = v })},
		{
			Name: "confirm", on: onAction, Doc: "true, or the question to ask: the step always asks, whatever was approved in bulk; or a map of `ask`, `by` and `group`: who has to confirm",
			set: (*parser).readConfirm,
		},
		{
			Name: approveKey, on: onSteps, Doc: "expanded: a review approves the steps that the run adds here, except those with `confirm`",
			set: func(p *parser, t *Task, e Entry) { t.ownPart().Approves = readApproves(p, e) },
		},
		{
			Name: "no_log", on: onAction, Doc: "show and store nothing of arguments, output and result",
			set: setScalar("a boolean", func(t *Task, v Value) { t.ownKeys().NoLog = v }),
		},
		{
			Name: "interactive", on: onAction, Doc: "true: the command gets the terminal, for questions and answers; for shell and command",
			set: setScalar("a boolean", func(t *Task, v Value) { t.ownKeys().Interactive = v }),
		},
		{Name: "undo", on: onAction, Doc: "a step that reverses this one", set: (*parser).readUndo},
		{
			Name: "moved", on: onSteps, Doc: "how this was called before, or its old path: what runs have made under it belongs to this one",
			set: setText(func(t *Task, v Value) { t.ownKeys().Moved = v }),
		},
		{
			Name: "create_before", on: onAction,
			Doc: "true: where this makes something else than before, the old is removed after all steps, and not before",
			set: func(p *parser, t *Task, e Entry) { t.ownKeys().CreateFirst = writtenBool(p, e) },
		},
		{
			Name: "check_mode", on: onAction, Doc: "force (true) or forbid (false) the dry run for this step",
			set: setScalar("a boolean", func(t *Task, v Value) { t.ownKeys().CheckMode = v }),
		},
		{
			Name: "diff", on: onAction, Doc: "force or forbid the diff for this step",
			set: setScalar("a boolean", func(t *Task, v Value) { t.ownKeys().Diff = v }),
		},
		{
			Name: "vars", on: onSteps, Doc: "variables: for this step, or for all below",
			set: setMapping(func(t *Task, v Value) { t.ownKeys().StepVars = v }),
		},
		{Name: "args", on: onAction, Doc: "further arguments of the action", set: setMapping(func(t *Task, v Value) { t.ownKeys().ExtraArgs = v })},
		{Name: "rescue", on: onBlock, Doc: "steps that run when one of the block fails", set: func(p *parser, t *Task, e Entry) {
			t.ownKeys().Rescue, t.ownKeys().RescuePos = p.readTasks(e.Value, "`rescue:`"), e.Pos
		}},
		{
			Name: "always", on: onBlock, Doc: "steps that run in any case, once the block was entered",
			set: func(p *parser, t *Task, e Entry) {
				t.ownKeys().Always, t.ownKeys().AlwaysPos = p.readTasks(e.Value, "`always:`"), e.Pos
			},
		},
		{
			Name: "parallel", on: onSteps,
			Doc: "true or a number: the steps below have no order among themselves; with `hosts`, on how many hosts at once",
			set: setScalar("a boolean or a number", func(t *Task, v Value) { t.ownKeys().Parallel = v }),
		},
		{
			Name: "notify", on: onSteps, Doc: "names or topics of handlers, which run when the step has changed something",
			set: setTexts("the name of a handler", func(t *Task, v []Value) { t.ownPart().Notify = v }),
		},
		{
			Name: "listen", on: onAction | onInclude, Doc: "topics that notify the handler, in addition to its name",
			set: (*parser).readListen,
		},
		{
			Name: "delegate_to", on: onSteps, Doc: "host that runs the step: one of the inventory (`-i`), or a name or address that ssh knows",
			set: setText(func(t *Task, v Value) { t.ownPart().DelegateTo = v }),
		},
		{
			Name: "hosts", on: onSteps,
			Doc: "pattern of hosts and groups of the inventory: the step runs on each of them, with the variables and facts of that host",
			set: func(p *parser, t *Task, e Entry) { t.ownPart().Hosts = playsParser{p}.readPattern(e) },
		},

		// Known, so that the message says what to do instead.
		{Name: "run_once", on: onSteps, later: "it belongs to plays: put the steps under `tasks:` of a play with `hosts:`"},
		{Name: "any_errors_fatal", on: onSteps, later: "it belongs to plays: put the steps under `tasks:` of a play with `hosts:`"},
	}
}

var keyIndex = map[string]*Key{}

// directives are the keys that make a task what it is, beside the actions.
var directives = map[string]TaskKind{
	"include": Include, "include_tasks": Include, "import_tasks": Include,
	"include_vars": IncludeVars, "block": Block, "preset": Preset,
}

func (p *parser) reportKind(e Entry, want string) {
	if e.Value.isUnquotedTemplate() {
		return // the braces were taken for a map, which has been said with the way out
	}
	if e.Value.Kind() == Null {
		p.errorf(e.Pos, utf8.RuneCountInString(e.Key), "write one, or leave the key out", "`%s:` has no value; it must be %s", e.Key, want)
		return
	}
	p.errorf(e.Value.Pos(), 0, "", "`%s:` must be %s; this is %s", e.Key, want, e.Value.Kind())
}

// approveKey is the key that approves what the run adds to the plan, and approveExpanded the only value that it has.
const (
	approveKey      = "approve"
	approveExpanded = "expanded"
)

// orphansKey is the key that says what becomes of what no step gives any more.
const orphansKey = "orphans"

var orphansWords = []string{"keep", "remove", "forget"}

// readOrphans reads the word, which is never a template: it decides about what is removed.
func readOrphans(p *parser, e Entry) string {
	text := e.Value.Text()
	if !isScalar(e.Value) || !slices.Contains(orphansWords, text) {
		p.errorf(e.Value.Pos(), utf8.RuneCountInString(text),
			"keep: they stay; remove: they are taken away before the steps; forget: they stay and are no longer recorded",
			"`orphans:` must be keep, remove or forget")
		return ""
	}
	return text
}

// writtenBool reads a boolean that is written out.
func writtenBool(p *parser, e Entry) bool {
	switch text := e.Value.Text(); {
	case isScalar(e.Value) && text == "true":
		return true
	case isScalar(e.Value) && text == "false":
	default:
		p.errorf(e.Value.Pos(), utf8.RuneCountInString(text), "write true or false; it is needed before anything has a value",
			"`%s:` must be true or false", e.Key)
	}
	return false
}

// readApproves reads `approve: expanded`. It approves steps before anybody has seen them, so nothing else is taken for it.
func readApproves(p *parser, e Entry) bool {
	if text := e.Value.Text(); !isScalar(e.Value) || text != approveExpanded {
		p.errorf(e.Value.Pos(), utf8.RuneCountInString(text),
			"write `approve: expanded`, or remove it; steps that the plan has are approved in the review or with `--approve`",
			"`approve:` must be `expanded`: it is for steps that the run adds")
		return false
	}
	return true
}

// checkApproves refuses `approve` on an action that adds nothing: who writes it there means `--approve`, or another step.
func checkApproves(p *parser, t *Task) {
	if t.Kind != Action || !t.Approves || t.Action == "" || t.adds() {
		return
	}
	at := t.Keys[slices.IndexFunc(t.Keys, func(e Entry) bool { return e.Key == approveKey })]
	p.errorf(at.Pos, len(approveKey), "put it on a loop, an include or a block, or at the top",
		"`approve` has no meaning on a %s that adds nothing to the plan", p.word)
}

// adds reports whether an action may add steps to the plan in the run: rounds of its loop, those of a host that is found, of hosts that
// come into the inventory.
func (t *Task) adds() bool {
	return t.Loop.Kind != NoLoop || !t.DelegateTo.IsZero() || t.Action == "add_host" || t.Action == "group_by"
}

func isScalar(v Value) bool { k := v.Kind(); return k != List && k != Map && k != Null }

// setText takes a key whose value is text; what YAML would read as a number or boolean is taken as written.
func setText(set func(*Task, Value)) func(*parser, *Task, Entry) { return setScalar("text", set) }

func setScalar(want string, set func(*Task, Value)) func(*parser, *Task, Entry) {
	return func(p *parser, t *Task, e Entry) {
		if !isScalar(e.Value) {
			p.reportKind(e, want)
			return
		}
		set(t, e.Value)
	}
}

func setMapping(set func(*Task, Value)) func(*parser, *Task, Entry) {
	return func(p *parser, t *Task, e Entry) {
		switch e.Value.Kind() {
		// Nothing is set, as if the key were not there.
		case Null: // `vars:` with everything below it commented out
		case Map:
			set(t, e.Value)
		default:
			p.reportKind(e, "a map")
		}
	}
}

func setConditions(set func(*Task, []Value)) func(*parser, *Task, Entry) {
	return func(p *parser, t *Task, e Entry) {
		if e.Value.Kind() != List {
			if !isScalar(e.Value) {
				p.reportKind(e, "a condition, a boolean or a list of them")
				return
			}
			set(t, []Value{e.Value})
			return
		}
		var all []Value
		for _, v := range e.Value.Items() {
			if !isScalar(v) {
				p.errorf(v.Pos(), 0, "", "an entry of `%s:` must be a condition or a boolean; this is %s", e.Key, v.Kind())
				continue
			}
			all = append(all, v)
		}
		set(t, all)
	}
}

func (p *parser) readIdentifier(e Entry, what string) (string, bool) {
	name := e.Value.Text()
	if e.Value.Kind() == Null {
		p.reportKind(e, what)
		return "", false
	}
	if !isScalar(e.Value) || !identifier.MatchString(name) {
		p.errorf(e.Value.Pos(), utf8.RuneCountInString(name), "letters, digits and _, not starting with a digit", "`%s:` must be %s", e.Key,
			what)
		return "", false
	}
	return name, true
}

func (p *parser) readID(t *Task, e Entry) {
	name := e.Value.Text()
	if !isScalar(e.Value) || !idPattern.MatchString(name) {
		p.errorf(e.Value.Pos(), utf8.RuneCountInString(name), "letters, digits, `_`, `-` and `.`, starting with a letter",
			"`id:` must be an identifier")
		return
	}
	t.ID = name
}

var idPattern = pattern.New(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

func (p *parser) readRegister(t *Task, e Entry) {
	if name, ok := p.readIdentifier(e, "the name of a variable"); ok {
		t.Register, t.registered = name, e.Value
	}
}

func (p *parser) readTags(t *Task, e Entry) {
	if e.Value.Kind() == Null {
		p.reportKind(e, "a tag or a list of tags")
		return
	}
	values := []Value{e.Value}
	if e.Value.Kind() == List {
		values = e.Value.Items()
	}
	for _, v := range values {
		if !isScalar(v) {
			p.errorf(v.Pos(), 0, "", "a tag must be text; this is %s", v.Kind())
			continue
		}
		t.Tags = append(t.Tags, v)
	}
}

func (p *parser) readLoop(t *Task, e Entry) {
	if t.Loop.Kind != NoLoop {
		p.errorf(e.Pos, len(e.Key), "use one of them; a loop in a loop is an include with its own loop", "`%s` beside `%s`", e.Key,
			t.Loop.Key)
		return
	}
	l := t.ownLoop()
	l.Key, l.Pos, l.Over = e.Key, e.Pos, e.Value
	if e.Key == "with_filetree" {
		l.Kind = FileTree
		if !isScalar(e.Value) {
			p.reportKind(e, "the path of a directory")
			l.Over = Value{}
		}
		return
	}
	l.Kind = Items
	if e.Value.Kind() == Null {
		p.errorf(e.Pos, len(e.Key), "`[]` is a loop over nothing", "`%s:` has no value", e.Key)
	}
}

func (p *parser) loopControl(t *Task, e Entry) {
	if e.Value.Kind() != Map {
		p.reportKind(e, "a map of loop_var, index_var, label and limit")
		return
	}
	for _, c := range e.Value.Entries() {
		if !p.loopKey(t, c) {
			p.reportUnknown(c, "of `loop_control:`", []string{"loop_var", "index_var", "label", "limit"})
		}
	}
}

// loopKey reads what loop_control has in both forms.
func (p *parser) loopKey(t *Task, c Entry) bool {
	switch c.Key {
	case "loop_var":
		if name, ok := p.readIdentifier(c, "the name of a variable"); ok {
			t.ownLoop().Var = name
		}
	case "index_var":
		if name, ok := p.readIdentifier(c, "the name of a variable"); ok {
			t.ownLoop().Index = name
		}
	case "label":
		t.ownLoop().Label = c.Value
	case "limit":
		t.ownLoop().Limit = c.Value
	default:
		return false
	}
	return true
}

var needOutcomes = []string{"success", "failure", "finish", "changed"}

func (p *parser) readNeeds(t *Task, e Entry) {
	add := func(v Value, on string, pos diag.Pos) {
		if !isScalar(v) {
			p.errorf(v.Pos(), 0, "", "an entry of `needs:` must be the id of a step; this is %s", v.Kind())
			return
		}
		t.ownKeys().Needs = append(t.Needs, Need{ID: v.Text(), Pos: pos, On: on})
	}
	pair := func(m Value) {
		for _, c := range m.Entries() {
			on := c.Value.Text()
			if !slices.Contains(needOutcomes, on) {
				p.errorf(c.Value.Pos(), utf8.RuneCountInString(on), "one of "+strings.Join(needOutcomes, ", "), "`%s` is not an outcome",
					on)
				continue
			}
			t.ownKeys().Needs = append(t.Needs, Need{ID: c.Key, Pos: c.Pos, On: on})
		}
	}
	switch e.Value.Kind() {
	case Null:
		p.reportKind(e, "the id of a step, or a list of ids")
	case Map:
		pair(e.Value)
	case List:
		for _, v := range e.Value.Items() {
			if v.Kind() == Map {
				pair(v)
				continue
			}
			add(v, "success", v.Pos())
		}
	default:
		add(e.Value, "success", e.Value.Pos())
	}
}

func (p *parser) reportUnknown(e Entry, of string, known []string) {
	p.errorf(e.Pos, utf8.RuneCountInString(e.Key), suggest.DidYouMean(e.Key, known), "unknown key `%s` %s", e.Key, of)
}

func (p *parser) errorf(pos diag.Pos, width int, hint, format string, args ...any) {
	p.ds.Add(diag.Diagnostic{Pos: pos, Width: width, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (p *parser) warnf(pos diag.Pos, hint, format string, args ...any) {
	p.ds.Add(diag.Diagnostic{Severity: diag.Warning, Pos: pos, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// readConfirm reads the question of a step, and who has to answer it. Who that is stands in the playbook as it is: a template would let
// the caller, with -e, do without the others.
func (p *parser) readConfirm(t *Task, e Entry) {
	if e.Value.Kind() != Map || e.Value.isUnquotedTemplate() {
		setScalar("a boolean, the text to ask, or a map of ask, by and group", func(t *Task, v Value) { t.ownKeys().Confirm = v })(p, t, e)
		return
	}
	d := people.Demand{By: 1}
	demands := false
	for _, c := range e.Value.Entries() {
		switch c.Key {
		case "ask":
			setScalar("the text to ask", func(t *Task, v Value) { t.ownKeys().Confirm = v })(p, t, c)
		case "by":
			demands = true
			n, whole := c.Value.Number().(int)
			if c.Value.Kind() != Int || !whole || n < 1 || n > people.MostPeople {
				p.errorf(c.Value.Pos(), 0, "write `by: 2`, and no template: the caller must not choose it",
					"`by:` must be how many people confirm the step, from 1 to %d", people.MostPeople)
				continue
			}
			d.By = n
		case "group":
			demands = true
			d.Group = c.Value.Text()
			if !isScalar(c.Value) || d.Group == "" || strings.Contains(d.Group, "{{") {
				p.errorf(c.Value.Pos(), 0, "write the name, and no template: the caller must not choose it",
					"`group:` must be the name of a group")
			}
		default:
			demands = true // or it would be wrong twice
			p.reportUnknown(c, "of `confirm:`", []string{"ask", "by", "group"})
		}
	}
	if !demands && t.Confirm.IsZero() {
		p.errorf(e.Value.Pos(), 0, "write `confirm: true`, or who has to confirm: `{by: 2}`, `{group: ops}`",
			"`confirm:` has neither a question nor who has to confirm")
	}
	if demands {
		t.ownKeys().Confirmers = &d
	}
}
