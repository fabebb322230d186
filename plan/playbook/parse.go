package playbook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/internal/suggest"
)

// Actions tells the parser which actions exist.
type Actions struct {
	Canonical func(name string) (canonical string, ok bool) // required; resolves aliases and collection prefixes
	Names     []string                                      // for "did you mean"
	Later     func(name string) (way string, ok bool)       // those there are not yet, and what to do instead; may be nil
}

type parser struct {
	*dialect
	file    *File
	actions Actions
	ds      *diag.List

	handlers, behind bool   // the tasks are handlers; they are what one includes
	inside           bool   // they are in a block of handlers
	module           string // what the template in `action:` comes to; "" before it is known
}

// dialect is what differs between the steps of a playbook and the tasks of its plays.
type dialect struct {
	word         string // "step" or "task"
	keys         map[string]*Key
	directives   map[string]TaskKind
	fillTask     func(p *parser, t *Task) // one of them, of which the place and the keys are known
	checkHandler func(p handlersParser, t *Task)
	hintAt       func(key string, t *Task) string // what to do with a key that belongs elsewhere; "" if it does not
}

// stepForm is how the steps of a playbook are read.
var stepForm = &dialect{word: "step", keys: keyIndex, directives: directives}

// The functions look at the form that they are of.
func init() {
	stepForm.fillTask, stepForm.checkHandler, stepForm.hintAt = (*parser).readStep, handlersParser.check, hintInSteps
}

// Parse reads a file of steps. It adds every mistake it finds to ds and returns what it understood, which may be an
// empty playbook but is never nil.
func Parse(f *File, actions Actions, ds *diag.List) *Playbook {
	p := &parser{dialect: stepForm, file: f, actions: actions, ds: ds}
	pb := &Playbook{File: f}
	root, ok := readEither(f, ds, func(root Value) bool { return root.Kind() == List && holdsPlays(root, actions) })
	if !ok {
		return pb
	}
	switch root.Kind() {
	case List:
		// A list of plays and one of steps look alike; the first keys decide.
		if holdsPlays(root, p.actions) {
			pb.Plays = playsParser{p.inPlays()}.readPlays(root, "the playbook")
		} else {
			pb.Tasks = p.readTasks(root, "the playbook")
		}
	case Map:
		p.readDocument(pb, root)
	case Null:
		p.errorf(diag.Pos{File: f.Name, Line: 1, Column: 1}, 0,
			"a playbook is a list of steps, or a map with `steps:`; `[]` is a playbook of no steps", "the file is empty")
	case Bool, Int, Float, String:
		p.errorf(root.Pos(), 0, "a playbook is a list of steps, or a map with `steps:`", "the file holds %s", root.Kind())
	}
	return pb
}

// ParseVars reads a file of variables: a map, or nothing at all.
func ParseVars(f *File, ds *diag.List) (Value, bool) {
	v, ok := readDocument(f, ds)
	if !ok {
		return Value{}, false
	}
	if v.Kind() == Map || v.Kind() == Null {
		return v, true
	}
	ds.Add(diag.Diagnostic{Pos: v.Pos(), Message: "a file of variables holds a map of names and values; this is " + v.Kind().String()})
	return Value{}, false
}

var documentKeys = []string{
	"version", "name", "description", "vars", "vars_prompt", "vars_files", "hosts", "strategy", "parallel", "imports", "exports",
	"force_handlers",
	"approve", "orphans", "timeout", "defaults", "steps", "handlers",
}

func (p *parser) readDocument(pb *Playbook, root Value) {
	var steps, plays Entry
	found := false
	for _, e := range root.Entries() {
		switch e.Key {
		case "version":
			if v := e.Value.Text(); v != "1" && v != "1.0" {
				// The only version there is.
				p.errorf(e.Value.Pos(), len(v), "remove it, or write 1", "`version: %s` is not known", v)
			}
		case "name", "description": // the second one is for readers alone
			switch {
			case !isScalar(e.Value):
				p.reportKind(e, "text")
			case e.Key == "name":
				pb.Name = e.Value
			}
		case "vars":
			switch e.Value.Kind() {
			case Null:
			case Map:
				pb.Vars = e.Value
				p.varNames(e.Value)
			default:
				p.reportKind(e, "a map")
			}
		case "vars_prompt":
			pb.Prompts = playsParser{p}.readPrompts(e)
		case "vars_files":
			pb.VarsFiles = p.readPaths(e)
		case "hosts":
			pb.Hosts = playsParser{p}.readPattern(e)
		case "strategy":
			pb.Strategy = e.Value.Text()
			if pb.Strategy != "linear" && pb.Strategy != "graph" {
				p.errorf(e.Value.Pos(), utf8.RuneCountInString(pb.Strategy),
					"linear (in the order of the file) or graph (only `needs` and values order the steps)",
					"`strategy:` must be linear or graph")
				pb.Strategy = ""
			}
		case "parallel":
			pb.Parallel = e.Value
		case "imports":
			pb.Imports = importsParser{p}.read(e)
		case "exports":
			pb.Exports = p.readExports(e)
		case approveKey:
			pb.Approves = readApproves(p, e)
		case orphansKey:
			pb.Orphans = readOrphans(p, e)
		case "force_handlers":
			p.readOne(e, "a boolean", &pb.Force)
		case "timeout":
			p.readOne(e, wantDuration, &pb.Timeout)
		case "defaults":
			pb.Defaults = readDefaults(p, e)
		case "handlers":
			pb.Handlers = handlersParser{p}.read(e)
		case "steps":
			steps, found = e, true
		case "plays":
			plays, found = e, true
		default:
			if strings.HasPrefix(e.Key, "x-") {
				// Keys with x- are the author's own, for anchors.
				continue
			}
			hint := suggest.DidYouMean(e.Key, documentKeys)
			if e.Key == "tasks" {
				hint = "did you mean `steps`?"
			}
			if k, ok := p.isTaskKey(e.Key); ok && hint == "" {
				hint = fmt.Sprintf("`%s` belongs to a step: put `- ` in front of it, or the steps under `steps:`", k)
				found = true
			}
			hint = cmp.Or(hint, "variables are under `vars:`, or in a file of their own that `vars_files:` or --vars-file names")
			p.errorf(e.Pos, utf8.RuneCountInString(e.Key), hint, "unknown key `%s` of a playbook", e.Key)
			// A misspelt `steps` is one mistake; that there are no steps is not said as well.
			found = found || strings.Contains(hint, "`steps`")
		}
	}
	importsParser{p}.refuseTwice(pb)
	switch {
	case plays.Key != "":
		playsParser{p}.readDocument(pb, root, plays)
	case steps.Key != "":
		pb.Tasks = p.readTasks(steps.Value, "`steps:`")
	case !found:
		p.errorf(root.Pos(), 0, "add `steps:` with a list of steps", "this playbook has no `steps:`")
	}
}

// wantDuration is what the value of a key that limits time must be.
const wantDuration = "a duration such as 30s"

// readDefaults reads keys for those steps of a playbook that do not have them.
func readDefaults(p *parser, e Entry) (d Defaults) {
	if e.Value.Kind() != Map {
		p.reportKind(e, "a map of keys of steps")
		return d
	}
	var names []string
	for _, k := range DefaultKeys {
		names = append(names, k.Name)
	}
	for _, one := range e.Value.Entries() {
		switch one.Key {
		case "timeout":
			p.readOne(one, wantDuration, &d.Timeout)
		case "timeout_queued":
			p.readOne(one, wantDuration, &d.Queued)
		default:
			hint := suggest.DidYouMean(one.Key, names)
			if hint == "" {
				hint = "known are `" + strings.Join(names, "` and `") + "`; put steps that share other keys into a `block:`"
			}
			p.errorf(one.Pos, utf8.RuneCountInString(one.Key), hint, "`%s` has no default", one.Key)
		}
	}
	return d
}

// readExports reads a list of names, or a map of names and templates.
func (p *parser) readExports(e Entry) []Entry {
	var list []Entry
	switch e.Value.Kind() {
	case Map:
		list = e.Value.Entries()
	case List:
		for _, v := range e.Value.Items() {
			if v.Kind() != String {
				p.errorf(v.Pos(), 0, "for other values write a map of names and templates",
					"an entry of `exports:` must be the name of a variable; this is %s", v.Kind())
				continue
			}
			list = append(list, Entry{Key: v.Text(), Pos: v.Pos()})
		}
	default:
		p.reportKind(e, "a list of variables, or a map of names and templates")
		return nil
	}
	names := map[string]bool{}
	kept := list[:0:0]
	for _, one := range list {
		switch {
		case !identifier.MatchString(one.Key):
			p.errorf(one.Pos, utf8.RuneCountInString(one.Key), "letters, digits and _, not starting with a digit",
				"`%s` cannot be the name of a variable", one.Key)
		case names[one.Key]:
			p.errorf(one.Pos, utf8.RuneCountInString(one.Key), "leave one of them out", "`%s` is exported twice", one.Key)
		default:
			names[one.Key] = true
			kept = append(kept, one)
		}
	}
	return kept
}

// readPaths reads one path or a list of them.
func (p *parser) readPaths(e Entry) []Value {
	if e.Value.Kind() == String {
		return []Value{e.Value}
	}
	if e.Value.Kind() != List {
		p.reportKind(e, "a list of paths")
		return nil
	}
	var all []Value
	for _, v := range e.Value.Items() {
		if v.Kind() != String || v.Text() == "" {
			p.errorf(v.Pos(), 0, "", "an entry of `%s:` must be the path of a file; this is %s", e.Key, v.Kind())
			continue
		}
		all = append(all, v)
	}
	return all
}

func (p *parser) isTaskKey(name string) (string, bool) {
	if _, ok := directives[name]; ok {
		return name, true
	}
	if _, ok := p.actions.Canonical(name); ok {
		return name, true
	}
	_, ok := p.keys[name]
	return name, ok
}

// readTasks parses a list of steps. A null item is what is left of a commented-out step: it is dropped with a warning.
func (p *parser) readTasks(v Value, where string) []*Task {
	if v.Kind() == Null {
		p.errorf(v.Pos(), 0, "`[]` is a list of no "+p.word+"s", "%s holds nothing", where)
		return nil
	}
	if v.Kind() != List {
		p.errorf(v.Pos(), 0, "each "+p.word+" starts with `- `", "%s must be a list of %ss; this is %s", where, p.word, v.Kind())
		return nil
	}
	var tasks []*Task
	for _, item := range v.Items() {
		if p.ds.Full() {
			break
		}
		switch item.Kind() {
		case Null:
			p.warnf(item.Pos(), "remove the `-`, or write the "+p.word, "an empty list item is not a %s", p.word)
		case Map:
			tasks = append(tasks, p.readTask(item))
		default:
			hint := "a " + p.word + " is a map, such as `- shell: make`"
			if name, rest, ok := strings.Cut(item.Text(), " "); ok {
				if _, known := p.actions.Canonical(strings.TrimSuffix(name, ":")); known {
					hint = fmt.Sprintf("write `- %s: %s`", strings.TrimSuffix(name, ":"), rest)
				}
			}
			p.errorf(item.Pos(), 0, hint, "a %s must be a map; this is %s", p.word, item.Kind())
		}
	}
	return tasks
}

func (p *parser) readTask(item Value) *Task {
	t := &Task{Pos: item.Pos(), Keys: item.Entries(), Loop: &noLoop, Seldom: &noSeldom, PlayTask: &noPlay}
	p.fillTask(p, t)
	return t
}

func (p *parser) readStep(t *Task) {
	t.Loop = &noRounds
	unknown := p.identifyTask(t)
	for _, e := range t.Keys {
		// By its place and not by its key: an action and a key may have the same name.
		if e.Pos == t.ActionPos {
			continue
		}
		k, ok := keyIndex[e.Key]
		if !ok || slices.Contains(unknown, e.Key) {
			continue
		}
		switch {
		// k.on is a set of bits, one for each kind of task.
		case k.on&(1<<t.Kind) == 0:
			p.errorf(e.Pos, utf8.RuneCountInString(e.Key), t.refusalHint(e.Key), "`%s` has no meaning %s", e.Key, kindPhrases[t.Kind])
		case k.later != "":
			p.errorf(e.Pos, utf8.RuneCountInString(e.Key), k.later, "`%s` is not supported yet", e.Key)
		default:
			k.set(p, t, e)
		}
	}
	if t.StepVars.Kind() == Map {
		p.varNames(t.StepVars)
	}
	p.checkTogether(t)
	if t.FlushesHandlers() {
		handlersParser{p}.checkFlush(t)
	}
}

var kindPhrases = map[TaskKind]string{
	Action: "on a step", Include: "on an include", Vars: "on a `vars` step", IncludeVars: "on an `include_vars` step",
	Block: "on a block", Preset: "on a preset",
}

// refusalHint is where a key belongs that a task does not take.
func (t *Task) refusalHint(key string) string {
	if t.Kind == Include || t.Kind == Block || t.Kind == Preset {
		return fmt.Sprintf("put `%s` on the steps inside", key)
	}
	if k := keyIndex[key]; t.Kind == Action && k.on&onBlock != 0 {
		return fmt.Sprintf("`%s` goes with `block:`", key)
	}
	if t.Kind == Vars && (key == "with_items" || key == "loop") {
		return "use `set_fact` in a loop"
	}
	return ""
}

// identifyTask finds what the task is. It returns the keys it has already complained about.
func (p *parser) identifyTask(t *Task) (complained []string) {
	found := make([]Entry, 0, 2)
	var varsEntry *Entry
	for i, e := range t.Keys {
		if _, ok := directives[e.Key]; ok {
			found = append(found, e)
			continue
		}
		// `vars` is a step of its own if nothing else is given.
		if e.Key == "vars" {
			varsEntry = &t.Keys[i]
			continue
		}
		if _, ok := keyIndex[e.Key]; ok {
			continue
		}
		if _, ok := p.actions.Canonical(e.Key); ok {
			found = append(found, e)
			continue
		}
		complained = append(complained, e.Key)
		p.unknownTaskKey(t, e)
	}
	if len(found) == 0 {
		switch {
		case varsEntry != nil && len(complained) == 0:
			t.Kind, t.Args, t.ActionKey, t.ActionPos = Vars, varsEntry.Value, "vars", varsEntry.Pos
			switch t.Args.Kind() {
			case Map:
				p.varNames(t.Args)
			case Null:
			default:
				p.reportKind(*varsEntry, "a map")
				t.Args = Value{}
			}
		case len(complained) == 0:
			p.errorf(t.Pos, 0, "a step has one action, such as `shell: …`, or `include: …`", "this step does nothing: it has no action")
		}
		return complained
	}
	e := found[0]
	for _, second := range found[1:] {
		if second.Key == e.Key {
			continue // given twice, which has been said
		}
		p.errorf(second.Pos, utf8.RuneCountInString(second.Key), "make two steps of them", "two actions in one step: `%s` and `%s`", e.Key,
			second.Key)
		complained = append(complained, second.Key)
	}
	t.ActionKey, t.ActionPos, t.Args = e.Key, e.Pos, e.Value
	if kind, ok := directives[e.Key]; ok {
		t.Kind = kind
		p.readDirective(t, e)
		return complained
	}
	t.Action, _ = p.actions.Canonical(e.Key)
	return complained
}

func (p *parser) readDirective(t *Task, e Entry) {
	switch t.Kind {
	case Block:
		t.ownKeys().Body = p.readTasks(e.Value, "`block:`")
	case Include, IncludeVars:
		if e.Value.Kind() == Map {
			file := Value{}
			for _, c := range e.Value.Entries() {
				if c.Key == "file" || c.Key == "path" {
					file = c.Value
					continue
				}
				p.reportUnknown(c, fmt.Sprintf("of `%s:`", e.Key), []string{"file", "path"})
			}
			t.Args = file
		}
		if !isScalar(t.Args) || t.Args.Text() == "" {
			p.errorf(e.Pos, utf8.RuneCountInString(e.Key), "write `"+e.Key+": web.yml`", "`%s:` needs the path of a file", e.Key)
			t.Args = Value{}
		}
	case Preset:
		p.readPreset(t, e)
	case Action, Vars, Role:
	}
}

// readPreset reads `preset: name` and `preset: {name: …, with: {…}}`.
func (p *parser) readPreset(t *Task, e Entry) {
	if e.Value.Kind() == Map {
		t.Args = Value{}
		for _, c := range e.Value.Entries() {
			switch c.Key {
			case "name":
				t.Args = c.Value
			case "with":
				switch c.Value.Kind() {
				case Null:
				case Map:
					t.ownKeys().With = c.Value
				default:
					p.reportKind(c, "a map of parameters")
				}
			default:
				hint := suggest.DidYouMean(c.Key, []string{"name", "with"})
				if hint == "" {
					hint = "parameters go under `with:`"
				}
				p.errorf(c.Pos, utf8.RuneCountInString(c.Key), hint, "unknown key `%s` of `preset:`", c.Key)
			}
		}
	}
	if !isScalar(t.Args) {
		p.errorf(e.Pos, utf8.RuneCountInString(e.Key), "write `preset: nginx`, or `preset: {name: nginx, with: {port: 80}}`",
			"`preset:` needs the name of a preset")
		t.Args = Value{}
	}
}

// unknownTaskKey suggests among keys and actions.
func (p *parser) unknownTaskKey(t *Task, e Entry) {
	if e.NoText || p.ds.Full() {
		return
	}
	// What is known and not supported has a message of its own.
	if p.reportLater(e) {
		return
	}
	words := p.taskWords()
	hint := cmp.Or(p.hintAt(e.Key, t), suggestOther(e.Key, words), suggest.DidYouMean(e.Key, words),
		"`moon actions` lists the actions")
	p.errorf(e.Pos, utf8.RuneCountInString(e.Key), hint, "unknown action or key `%s`", e.Key)
}

// otherNames are what other tools call a key, and the key.
var otherNames = map[string]string{
	"retry": "retries", "attempts": "retries", "max_retries": "retries", "retry_interval": "retry_delay", "retries_delay": "retry_delay",
	"if": "when", "only_if": "onlyif", "not_if": "unless", "condition": "when", "foreach": "loop", "for_each": "loop", "items": "loop",
	"with": "loop", "with_list": "loop", "loop_var": "loop_control", "index_var": "loop_control",
	"depends_on": "needs", "depends": "needs", "requires": "needs", "finally": "always", "on_error": "rescue", "on_failure": "rescue",
	"catch":             "rescue",
	"continue_on_error": "ignore_errors", "continue-on-error": "ignore_errors", "ignore_failure": "ignore_errors",
	"allow_failure": "ignore_errors",
	"dir":           "cwd", "workdir": "cwd", "working_directory": "cwd", "working-directory": "cwd", "envs": "env", "sudo": "become",
	"sudo_user":       "become_user",
	"timeout-minutes": "timeout", "output": "register", "save_as": "register", "title": "name", "label": "name", "run": "shell",
	"cmd": "shell", "exec": "command",
}

// hintInSteps is the hint at a key that belongs into a preset, or to a play.
func hintInSteps(key string, t *Task) string {
	ofPreset := slices.ContainsFunc(t.Keys, func(e Entry) bool { return e.Key == "preset" })
	if key == "with" && ofPreset {
		return "parameters are inside of `preset:`, as in `preset: {name: nginx, with: {port: 80}}`"
	}
	return ""
}

// hintInPlays is the hint at a key of a play that stands on a task.
func hintInPlays(key string, _ *Task) string {
	if _, ok := playKeys[key]; ok {
		return "`" + key + "` belongs to a play"
	}
	return ""
}

// suggestOther suggests the key for what other tools call it; "" if none of them does.
func suggestOther(key string, words []string) string {
	other, ok := otherNames[key]
	if !ok || !slices.Contains(words, other) {
		return ""
	}
	return "did you mean `" + other + "`?"
}

// reportLater reports an action that there is not yet.
func (p *parser) reportLater(e Entry) bool {
	if p.actions.Later == nil {
		return false
	}
	way, ok := p.actions.Later(e.Key)
	if ok && !p.ds.Full() {
		p.errorf(e.Pos, utf8.RuneCountInString(e.Key), way, "`%s` is not supported yet", e.Key)
	}
	return ok
}

// isLater reports whether an action is known by name, and not there yet.
func (a Actions) isLater(name string) bool {
	if a.Later == nil {
		return false
	}
	_, ok := a.Later(name)
	return ok
}

// taskWords are all words that a task may begin a line with.
func (p *parser) taskWords() []string {
	known := slices.Clone(p.actions.Names)
	for name := range p.keys {
		known = append(known, name)
	}
	for name := range p.directives {
		known = append(known, name)
	}
	slices.Sort(known)
	return known
}

// checkTogether finds keys that need each other.
func (p *parser) checkTogether(t *Task) {
	if t.Loop.Kind == NoLoop {
		for _, e := range t.Keys {
			if e.Key == "loop_control" && e.Value.Kind() == Map {
				p.errorf(e.Pos, len(e.Key), "add `with_items` or `loop`", "`loop_control` without a loop")
			}
		}
	}
	if v := t.Parallel; !v.IsZero() && t.Kind == Action && t.Hosts.IsZero() {
		p.errorf(v.Pos(), 0, "add `hosts:`, or put the steps into a `block:`", "`parallel` has no meaning on a step without `hosts`")
	}
	if v := t.Poll; !v.IsZero() && t.Kind == Action && t.Async.IsZero() {
		p.errorf(v.Pos(), 0, "add `async`, or remove it", "`poll` without `async` does nothing")
	}
	checkApproves(p, t)
	if t.Kind == Preset && t.Register != "" && t.Loop.Kind != NoLoop {
		p.errorf(t.RegisterPos(), utf8.RuneCountInString(t.Register), "use the preset once for each name that is needed",
			"`register` on a preset with a loop: one name for the exports of all rounds")
	}
	if t.Kind == Block && len(t.Body) == 0 && len(t.Rescue)+len(t.Always) > 0 {
		// Without a body there is nothing that could fail.
		p.errorf(t.Pos, 0, "", "a block with `rescue` or `always` needs %ss of its own", p.word)
	}
}

// varNames refuses names that no template could use.
func (p *parser) varNames(m Value) {
	for _, e := range m.Entries() {
		if !e.NoText && !p.ds.Full() && !identifier.MatchString(e.Key) {
			p.errorf(e.Pos, utf8.RuneCountInString(e.Key), "letters, digits and _, not starting with a digit",
				"`%s` cannot be the name of a variable", e.Key)
		}
	}
}
