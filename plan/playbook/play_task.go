package playbook

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/suggest"
)

// controllers are the actions of plays that no host carries out: the planner does, so it needs no declaration of them.
var controllers = []string{"meta", "add_host", "group_by"}

// playTask reads a task of a play, whose keys have been found.
func (p *parser) playTask(t *Task) {
	t.PlayTask = new(PlayTask)
	complained := p.identifyInPlay(t)
	for _, e := range t.Keys {
		if e.Pos == t.ActionPos || slices.Contains(complained, e.Key) {
			continue
		}
		if k, ok := p.playKey(e.Key); ok {
			p.playTaskKey(t, k, e)
		}
	}
	t.greet()
	for _, e := range t.Keys {
		// Only warnings, as Ansible ignores them.
		if e.Key == "loop_control" && t.Loop.Kind == NoLoop && t.kindOf()&p.keys[e.Key].on != 0 {
			p.warnf(e.Pos, "add `loop`, or remove it", "`loop_control` without a loop")
		}
		if e.Key == "poll" && t.Async.IsZero() && t.kindOf()&p.keys[e.Key].on != 0 {
			p.warnf(e.Pos, "add `async`, or remove it", "`poll` without `async` does nothing")
		}
	}
	checkApproves(p, t)
	if t.Kind == Block && len(t.Body) == 0 && len(t.Rescue)+len(t.Always) > 0 {
		p.errorf(t.Pos, 0, "", "a block with `rescue` or `always` needs %ss of its own", p.word)
	}
}

// greet gives a `debug:` without a message the one that it has in Ansible.
func (t *Task) greet() {
	if t.Action != "print" || t.Args.Kind() != Null && t.Args.Kind() != Map || !t.ArgsFrom.IsZero() {
		return
	}
	for _, of := range []Value{t.Args, t.ExtraArgs} {
		for _, e := range of.Entries() {
			if e.Key != "verbosity" {
				return
			}
		}
	}
	hello := WrittenMap(t.ActionPos, Entry{Pos: t.ActionPos, Key: "msg", Value: Written(t.ActionPos, "Hello world!")})
	t.Args, t.Greets = hello.addEntries(t.Args), true
}

// kindOf is the bit of what the task is.
func (t *Task) kindOf() kinds {
	switch {
	case t.Old && t.Kind == Include: // what it is shows where it is planned
		return onDynamic | onInclude
	case t.Dynamic:
		return onDynamic
	}
	return 1 << t.Kind
}

func (p *parser) playTaskKey(t *Task, k *Key, e Entry) {
	width := utf8.RuneCountInString(e.Key)
	switch {
	case k.later != "":
		p.errorf(e.Pos, width, k.later, "`%s` is not supported yet", e.Key)
	case p.handlers && slices.Contains(notInHandlers, k.Name) && t.isHandlerGroup():
		p.errorf(e.Pos, width, "write it on the handlers, or put the tasks into a file that a handler includes with `include_tasks`",
			"`%s` has no meaning %s among handlers, each of which runs by itself", e.Key, t.namePhrase())
	case slices.Contains(idleKeys, k.Name) && t.kindOf()&idle != 0,
		slices.Contains(idleImportKeys, k.Name) && t.kindOf()&(onInclude|onRole) != 0:
		p.warnf(e.Pos, "put it on the tasks inside", "`%s` does nothing %s", e.Key, t.namePhrase())
	case k.on&t.kindOf() == 0:
		p.errorf(e.Pos, width, t.wayOut(k), "`%s` has no meaning %s", e.Key, t.namePhrase())
	// An empty key is a leftover of what was commented out.
	case e.Value.Kind() == Null && k.Name != "rescue" && k.Name != "always" && k.Name != "with_items":
		if k.Name != "vars" {
			p.warnf(e.Pos, "write one, or leave the key out", "`%s:` has no value", e.Key)
		}
	case strings.HasPrefix(e.Key, "with_") || e.Key == "loop":
		p.playLoop(t, e)
	default:
		if slices.Contains(textKeys, e.Key) && isScalar(e.Value) {
			p.plainBool(e.Key, e.Value)
		}
		k.set(p, t, e)
	}
}

// namePhrase says what the task is, behind "has no meaning".
func (t *Task) namePhrase() string {
	if t.Kind == Include || t.Kind == Role {
		if t.ActionKey == "" {
			return "on a role"
		}
		return "on `" + bareName(t.ActionKey) + "`"
	}
	switch t.Kind {
	case IncludeVars:
		return "on `include_vars`"
	case Block:
		return "on a block"
	default:
		return "on a task"
	}
}

// wayOut says what to do with a key that has no meaning on the task.
func (t *Task) wayOut(k *Key) string {
	isLoop := k.Name == "with_items" || k.Name == "with_filetree" || k.Name == "loop_control"
	switch {
	case isLoop && t.Kind == Block:
		return "put the tasks into a file of their own, and loop over `include_tasks`"
	case isLoop && t.Kind == Include:
		return "write `include_tasks`, which can loop"
	case isLoop && t.Kind == Role:
		return "write `include_role`, which can loop"
	// Tasks that are included at run time get the keys by `apply` only.
	case t.Dynamic && k.on&onBlock != 0:
		return fmt.Sprintf("put `%s` under `apply:`, or on the tasks inside", k.Name)
	case t.Kind == Include || t.Kind == Role || t.Kind == Block:
		return fmt.Sprintf("put `%s` on the tasks inside", k.Name)
	case k.on == onBlock:
		return fmt.Sprintf("`%s` goes with `block:`", k.Name)
	}
	return ""
}

// identifyInPlay finds what the task is. It returns the keys it has complained about.
func (p *parser) identifyInPlay(t *Task) (complained []string) {
	var found, unknown []Entry
	for _, e := range t.Keys {
		name := bareName(e.Key)
		switch {
		case e.NoText:
		case p.isAction(name):
			found = append(found, e)
		case p.isPlayKey(name):
		case gone[name] != "":
			complained = append(complained, e.Key)
			p.errorf(e.Pos, utf8.RuneCountInString(e.Key), gone[name], "`%s` has no place in a play", e.Key)
		default:
			unknown = append(unknown, e)
		}
	}
	// An action that is not declared may come with a collection; the rest are typing errors.
	if i := p.guessModule(unknown, complained, len(found)); i >= 0 {
		found = append(found, unknown[i])
		unknown = slices.Delete(unknown, i, i+1)
	}
	for _, e := range unknown {
		complained = append(complained, e.Key)
		p.unknownTaskKey(t, e)
	}
	if len(found) == 0 {
		if len(complained) == 0 {
			p.errorf(t.Pos, 0, "a task has one action, such as `shell: …`, or `include_tasks: …`",
				"this task does nothing: it has no action")
		}
		return complained
	}
	e := found[0]
	for _, second := range found[1:] {
		complained = append(complained, second.Key)
		if second.Key != e.Key { // what is given twice has been said
			p.errorf(second.Pos, utf8.RuneCountInString(second.Key), "make two tasks of them", "two actions in one task: `%s` and `%s`",
				e.Key, second.Key)
		}
	}
	t.ActionPos = e.Pos
	p.readAction(t, e)
	return complained
}

func (p *parser) isAction(name string) bool {
	if _, ok := p.directives[name]; ok || slices.Contains(controllers, name) || name == "action" || name == "local_action" {
		return true
	}
	if gone[name] != "" || p.isPlayKey(name) {
		return false
	}
	_, ok := p.actions.Canonical(name)
	return ok
}

func (p *parser) isPlayKey(name string) bool {
	_, ok := p.playKey(name)
	return ok
}

// guessModule finds the entry that is most likely an action no one has declared: all others are misspelt keys. It is -1 if there is none.
func (p *parser) guessModule(unknown []Entry, complained []string, found int) int {
	// A full name, namespace.collection.module, cannot be a misspelt key.
	dotted := slices.IndexFunc(unknown, func(e Entry) bool { return strings.Count(e.Key, ".") >= 2 && !strings.Contains(e.Key, " ") })
	switch {
	case found > 0:
		return -1
	case dotted >= 0:
		return dotted
	case len(complained) > 0:
		return -1
	}
	keys := make([]string, 0, len(p.keys))
	for name := range p.keys {
		keys = append(keys, name)
	}
	return slices.IndexFunc(unknown, func(e Entry) bool {
		return identifier.MatchString(e.Key) && (p.ds.Full() || suggest.Nearest(e.Key, keys) == "")
	})
}

// readAction reads what the task does. The entry may stand in the task itself, or be what `action:` says.
func (p *parser) readAction(t *Task, e Entry) {
	name := bareName(e.Key)
	t.ActionKey, t.Args = e.Key, e.Value
	kind, directive := p.directives[name]
	switch {
	case name == "action" || name == "local_action":
		p.actionKey(t, e)
	// A handler is notified by its name, which a group of tasks does not have.
	case p.handlers && (kind == Block && directive && p.inside || kind == Role):
		p.errorf(e.Pos, utf8.RuneCountInString(e.Key), "write the tasks one by one, or into a file that `include_tasks` names",
			"`%s` cannot be a handler", e.Key)
		t.Kind = kind
	case kind == Block && directive:
		t.Kind = Block
		q := *p
		q.inside = true
		t.ownKeys().Body = q.readTasks(e.Value, "`block:`")
	case kind == Include:
		t.Kind, t.Dynamic, t.Old = Include, name == "include_tasks", name == "include"
		p.playInclude(t, e)
	case kind == Role:
		t.Kind, t.Dynamic = Role, name == "include_role"
		p.roleTask(t, e)
	case kind == IncludeVars:
		t.Kind = IncludeVars
		p.playIncludeVars(t, e)
	case slices.Contains(controllers, name):
		t.Action = name
		p.actionArgs(t, e)
	default:
		p.actionOf(t, e, name)
	}
}

func (p *parser) actionOf(t *Task, e Entry, name string) {
	var ok bool
	if t.Action, ok = p.actions.Canonical(name); !ok {
		t.Action, t.ownKeys().Absent = "", true // whether it matters shows when collections were searched, and the task's condition is known
		// A dotted name belongs to a collection, so it is not a typing error of one of ours.
		if !strings.Contains(name, ".") && !p.actions.isLater(e.Key) {
			t.ownKeys().Slip = suggest.DidYouMean(name, p.taskWords())
		}
	}
	p.actionArgs(t, e)
}

// actionArgs brings text to the form of a map where it is a list of arguments.
func (p *parser) actionArgs(t *Task, e Entry) {
	if e.Value.Kind() != String {
		return
	}
	if slices.Contains(takesCommand, t.Action) {
		// The words creates=… and the like are arguments in the middle of a command.
		rest, beside := e.Value.splitCommand()
		t.Args, t.ownKeys().ExtraArgs = rest, beside
		return
	}
	if m, ok := p.readArguments(e.Key, e.Value); ok {
		t.Args = m
	}
}

// actionKey reads `action: copy src=a dest=b` and `action: {module: copy, …}`, which are other ways to write `copy:`.
func (p *parser) actionKey(t *Task, e Entry) {
	if bareName(e.Key) == "local_action" {
		// The task runs on the controller, whatever its host.
		t.DelegateTo = e.toArgument().key.textOf("localhost")
	}
	inner := Entry{Pos: e.Pos}
	switch e.Value.Kind() {
	case Map:
		module, _ := e.Value.Get("module")
		inner.Key, inner.Pos, inner.Value = module.Text(), module.Pos(), e.Value.withoutKeys("module")
	case String:
		text := e.Value.Text()
		all := splitWords(text)
		if len(all) == 0 {
			// Nothing is said of the action; the error is below.
			break
		}
		inner.Key, inner.Pos = all[0].text, e.Value.PosAt(all[0].at)
		if len(all) > 1 {
			inner.Value = e.Value.Part(all[1].at, text[all[1].at:])
		}
	case Null, Bool, Int, Float, List:
	}
	name := bareName(inner.Key)
	switch {
	case inner.Key == "":
		p.errorf(e.Pos, utf8.RuneCountInString(e.Key), "write `copy: {src: a, dest: b}`", "`%s:` must name a module and its arguments",
			e.Key)
		t.ActionKey = ""
	// Which module it is shows when the task is planned (WithModule). Until then its arguments cannot be read.
	case strings.Contains(inner.Key, "{{") && p.module == "":
		t.Module, t.Args = e.Value.Part(-1, inner.Key), Value{}
		if e.Value.Kind() == Map {
			t.Module, _ = e.Value.Get("module")
		}
		t.ActionKey = inner.Key
	case strings.Contains(inner.Key, "{{"):
		inner.Key = p.module
		if bareName(inner.Key) == "action" || bareName(inner.Key) == "local_action" {
			p.errorf(inner.Pos, 0, "name a module", "`%s:` must name a module; the template gives `%s`", e.Key, inner.Key)
			t.ActionKey = ""
			break
		}
		p.readAction(t, inner)
	// Otherwise `action: action` would go round in a circle.
	case name == "action" || name == "local_action":
		p.errorf(inner.Pos, utf8.RuneCountInString(inner.Key), "write `copy: {src: a, dest: b}`",
			"`%s:` must name a module and its arguments", e.Key)
		t.ActionKey = ""
	default:
		p.readAction(t, inner)
	}
}

// textOf is a text at the place of the value.
func (v Value) textOf(text string) Value { return v.Part(-1, text) }

// readOptions reads the arguments of an include: text, of which what is no key=value is the path, or a map.
func (p *parser) readOptions(e Entry, rest string) Value {
	if e.Value.Kind() != String {
		if e.Value.Kind() == Map {
			return e.Value
		}
		return Value{}
	}
	v := e.Value
	text := v.Text()
	var found []argument
	from, to := -1, -1
	for _, w := range splitWords(text) {
		a, ok := v.argumentOf(w)
		if ok && !v.Encrypted() {
			found = append(found, a)
			continue
		}
		if from < 0 {
			from = w.at
		}
		to = w.at + len(w.text)
	}
	if from >= 0 && rest != "" {
		path := v
		if len(found) > 0 {
			path = v.Part(from, text[from:to])
		}
		found = append([]argument{{e.toArgument().key.textOf(rest), path}}, found...)
	}
	return v.mapOf(found)
}

// playInclude reads include_tasks and import_tasks.
func (p *parser) playInclude(t *Task, e Entry) {
	name := bareName(e.Key)
	t.Args = Value{}
	if t.Old {
		p.warnf(e.Pos, "write `import_tasks` (read before the run) or `include_tasks` (with a loop, or with a name that only the run knows)",
			"`include` is old: ansible-core 2.16 has it no more")
	}
	for _, c := range p.readOptions(e, "file").addEntries(t.argsBeside()).Entries() {
		switch c.Key {
		case "file":
			t.Args = c.Value
		case "apply":
			if t.Old {
				t.ownKeys().StepVars = t.StepVars.addEntries(WrittenMap(c.Pos, c))
				continue
			}
			p.readApply(t, c, name)
		case "tags":
			if e.Value.Kind() == String {
				p.readTags(t, c)
				continue
			}
			// With a map, tags are an unknown option like any other.
			fallthrough
		default:
			if t.Old { // its arguments are variables of what is included
				t.ownKeys().StepVars = t.StepVars.addEntries(WrittenMap(c.Pos, c))
				continue
			}
			hint := suggest.DidYouMean(c.Key, []string{"file", "apply"})
			if hint == "" {
				hint = "variables go under `vars:` of the task"
			}
			p.errorf(c.Pos, utf8.RuneCountInString(c.Key), hint, "unknown key `%s` of `%s:`", c.Key, name)
		}
	}
	if !isScalar(t.Args) || t.Args.Text() == "" {
		p.errorf(e.Pos, utf8.RuneCountInString(e.Key), "write `"+name+": web.yml`", "`%s:` needs the path of a file", e.Key)
		t.Args = Value{}
	}
	if t.Old {
		t.Dynamic = strings.Contains(t.Args.Text(), "{{") || slices.ContainsFunc(t.Keys, func(e Entry) bool {
			return strings.HasPrefix(e.Key, "with_") || e.Key == "loop"
		})
	}
}

// argsBeside are the arguments that `args:` next to the action gives.
func (t *Task) argsBeside() Value {
	for _, e := range t.Keys {
		if e.Key == "args" && e.Value.Kind() == Map {
			return e.Value
		}
	}
	return Value{}
}

// notInHandlers are keys that a group of tasks cannot have where the tasks are handlers: the group itself never runs.
var notInHandlers = []string{"rescue", "always", "parallel", "with_items", "with_filetree", "loop_control", "moved", approveKey}

// isHandlerGroup reports whether a task among handlers stands for those that are in it.
func (t *Task) isHandlerGroup() bool { return t.Kind == Block || t.Kind == Include && !t.Dynamic }

func (p *parser) readApply(t *Task, c Entry, name string) {
	switch {
	case !t.Dynamic:
		p.errorf(c.Pos, len(c.Key), "write the keys on the task itself: an import passes them on", "`apply` has no meaning on `%s`", name)
	case c.Value.Kind() == Null:
	case c.Value.Kind() != Map:
		p.reportKind(c, "a map of keys for the tasks inside")
	default:
		t.Apply = c.Value
		p.checkApplied(t, c.Value)
	}
}

// checkApplied checks the keys that an include gives to what is inside, as if they were written on a block.
func (p *parser) checkApplied(t *Task, m Value) {
	// A block that is thrown away: only the messages are wanted.
	block := NewTask(Task{Kind: Block, ActionKey: "block", Pos: m.Pos()})
	for _, e := range m.Entries() {
		k, ok := p.playKey(e.Key)
		switch {
		case e.NoText:
		case !ok:
			var known []string
			for i := range PlayTaskKeys {
				if PlayTaskKeys[i].on&onBlock != 0 {
					known = append(known, PlayTaskKeys[i].Name)
				}
			}
			p.reportUnknown(e, "of `apply:`", known)
		case k.Name == "rescue" || k.Name == "always" || k.Name == "parallel" && t.Kind == Role || k.on&onBlock == 0 && k.later == "":
			p.errorf(e.Pos, utf8.RuneCountInString(e.Key), "put it on the tasks inside", "`%s` has no meaning in `apply:`", e.Key)
		default:
			p.playTaskKey(block, k, e)
		}
	}
}

var roleOptions = []string{
	"name", "role", "tasks_from", "vars_from", "defaults_from", "handlers_from", "apply", "public",
	"allow_duplicates", "rolespec_validate",
}

// roleTask reads include_role and import_role.
func (p *parser) roleTask(t *Task, e Entry) {
	name := bareName(e.Key)
	t.Args = Value{}
	for _, c := range p.readOptions(e, "").addEntries(t.argsBeside()).Entries() {
		switch c.Key {
		case "name", "role":
			p.readOne(c, "the name of a role", &t.Args)
		case "tasks_from":
			p.readOne(c, "the name of a file", &t.TasksFrom)
		case "vars_from":
			p.readOne(c, "the name of a file", &t.VarsFrom)
		case "defaults_from":
			p.readOne(c, "the name of a file", &t.DefaultsFrom)
		case "handlers_from":
			p.readOne(c, "the name of a file", &t.HandlersFrom)
		case "public":
			p.readOne(c, "a boolean", &t.Public)
		case "allow_duplicates":
			p.readOne(c, "a boolean", &t.AllowDup)
		case "rolespec_validate":
			p.readOne(c, "a boolean", &t.Validates)
		case "apply":
			p.readApply(t, c, name)
		default:
			hint := suggest.DidYouMean(c.Key, roleOptions)
			if hint == "" {
				hint = "variables go under `vars:` of the task"
			}
			p.errorf(c.Pos, utf8.RuneCountInString(c.Key), hint, "unknown key `%s` of `%s:`", c.Key, name)
		}
	}
	if t.Args.Text() == "" {
		p.errorf(e.Pos, utf8.RuneCountInString(e.Key), "write `"+name+": {name: web}`", "`%s:` needs the name of a role", e.Key)
		t.Args = Value{}
	}
}

var includeVarsOptions = []string{
	"file", "dir", "name", "depth", "files_matching", "extensions", "ignore_files",
	"ignore_unknown_extensions", "hash_behaviour",
}

// playIncludeVars reads include_vars: Args is the file, zero if a directory is meant, and ExtraArgs a map of all else.
func (p *parser) playIncludeVars(t *Task, e Entry) {
	all := p.readOptions(e, "file")
	for _, c := range all.Entries() {
		switch {
		case c.Key == "file":
			p.readOne(c, "the path of a file", &t.Args)
		case c.Key == "hash_behaviour":
			p.errorf(c.Pos, len(c.Key), "maps replace each other; write `| combine(…, recursive=true)` where they are used",
				"`%s` is not supported yet", c.Key)
		case !slices.Contains(includeVarsOptions, c.Key):
			p.reportUnknown(c, "of `include_vars:`", includeVarsOptions)
		}
	}
	t.ownKeys().ExtraArgs = all.withoutKeys("file")
	file, ok := all.Get("file")
	if !ok {
		t.Args = Value{}
	}
	dir, isDir := all.Get("dir")
	switch {
	case ok && isDir:
		p.errorf(dir.Pos(), 0, "give one of them", "`include_vars:` takes a file or a directory, not both")
	case ok && (!isScalar(file) || file.Text() == ""), !ok && !isDir:
		p.errorf(e.Pos, utf8.RuneCountInString(e.Key), "write `include_vars: web.yml`", "`%s:` needs the path of a file", e.Key)
		t.Args = Value{}
	}
}
