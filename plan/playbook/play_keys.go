package playbook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/internal/pattern"
)

// In plays an include_vars is a task like any other, and what an include at run time may have is little: its keys are its own and
// do not reach what is inside.
const (
	onRole     kinds = 1 << Role
	onDynamic  kinds = 1 << 7 // include_tasks and include_role, instead of the bit of their kind
	onTask           = onAction | onIncludeVars
	onInherits       = onTask | onInclude | onBlock | onRole
	onAnything       = onInherits | onDynamic
)

// PlayTaskKeys are the keys of a task in a play, in the order of the reference.
var PlayTaskKeys []Key

// playForm is how the tasks of plays are read.
var playForm = &dialect{word: "task", keys: map[string]*Key{}, directives: map[string]TaskKind{
	"include": Include, "include_tasks": Include, "import_tasks": Include,
	"include_role": Role, "import_role": Role, "include_vars": IncludeVars, "block": Block,
}}

func init() {
	playForm.fillTask, playForm.hintAt = (*parser).playTask, hintInPlays
	playForm.checkHandler = func(handlersParser, *Task) {} // one that has no name is one that nothing can notify, as in Ansible
}

func (p *parser) inPlays() *parser {
	q := *p
	q.dialect = playForm
	return &q
}

// differs says where a key of a step may stand on a task of a play.
var differs = map[string]kinds{
	"id": onAction, "needs": onAction,
	"name": onAnything, "when": onAnything, "tags": onAnything, "vars": onAnything, "register": onTask,
	"with_items": onTask | onDynamic | onBlock, "with_filetree": onTask | onDynamic | onBlock, "loop_control": onTask | onDynamic | onBlock,
	"changed_when": onTask, "failed_when": onTask, "until": onTask, "retries": onTask, "retry_delay": onTask,
	"ignore_errors": onAnything, "no_log": onAnything, "timeout": onAnything,
	"become": onInherits, "become_user": onInherits, "become_method": onInherits, "check_mode": onInherits, "diff": onInherits,
	"args": onTask | onInclude | onRole | onDynamic, "notify": onInherits, "parallel": onGroups, "listen": onTask | onInclude | onDynamic,
	"moved": onAnything, "undo": onTask, "create_before": onTask,
	approveKey: onAction | onGroups | onDynamic, "async": onTask, "poll": onTask,
}

// idle are keys that may be written on includes and imports, as Ansible allows it, and that do nothing there.
const idle = onInclude | onRole | onDynamic

var idleKeys = []string{"register", "changed_when", "failed_when", "until", "retries", "retry_delay"}

// idleImportKeys do nothing on imports alone: on what is included while the play goes on Ansible refuses them.
var idleImportKeys = []string{"async", "poll"}

func init() {
	for _, k := range stepKeys() {
		if k.later != "" || k.Name == "hosts" { // a play has its hosts, for all of its tasks
			continue
		}
		// Plays allow some keys in other places than steps do.
		if on, ok := differs[k.Name]; ok {
			k.on = on
		}
		switch k.Name {
		case "env":
			k.on, k.Doc = onInherits, "environment variables: a map, a template that returns one, or a list of them"
			k.set = func(p *parser, t *Task, e Entry) { t.Envs = p.readEnvironment(e) }
		case "loop_control":
			k.Doc = "map of loop_var, index_var, label, pause, extended, break_when and limit"
			k.set = (*parser).playLoopControl
		case "cwd":
			k.Doc = "working directory; default is the directory of the playbook that was called; on another host, the home of the user who logs in"
		case "delegate_to":
			k.on, k.Doc = onInherits, "host that runs the task instead of the play's host"
			k.set = setText(func(t *Task, v Value) { t.DelegateTo = v })
		case "with_items":
			k.Doc = "list or expression: the task runs once per item"
		case "parallel":
			k.Doc = "true or a number: the steps below have no order among themselves"
		case "retry_delay":
			k.Doc = "time between attempts (5s)"
		case "args":
			// Several sources of arguments may meet: those in the text and those of `args`.
			k.set = func(p *parser, t *Task, e Entry) {
				if t.Kind == Action && e.Value.IsTemplate() {
					t.ownKeys().ArgsFrom = e.Value
					return
				}
				setMapping(func(t *Task, v Value) {
					if t.kindOf()&(onInclude|onRole|onDynamic) == 0 { // of those they have been read with their own
						t.ownKeys().ExtraArgs = t.ExtraArgs.addEntries(v)
					}
				})(p, t, e)
			}
		case "vars":
			k.set = func(p *parser, t *Task, e Entry) { t.ownKeys().StepVars = p.varsMap(e).addEntries(t.StepVars) }
		}
		PlayTaskKeys = append(PlayTaskKeys, k)
	}
	PlayTaskKeys = append(PlayTaskKeys, []Key{
		{
			Name: "delegate_facts", on: onInherits, Doc: "true: facts belong to the host of delegate_to",
			set: setScalar("a boolean", func(t *Task, v Value) { t.DelegateFact = v }),
		},
		{
			Name: "run_once", on: onAnything, Doc: "true: only the first host of the batch runs it",
			set: setScalar("a boolean", func(t *Task, v Value) { t.RunOnce = v }),
		},
		{
			Name: "ignore_unreachable", on: onInherits, Doc: "true: a host that cannot be reached continues",
			set: setScalar("a boolean", func(t *Task, v Value) { t.Unreachable = v }),
		},
		{
			Name: "any_errors_fatal", on: onInherits, Doc: "true: a failure on one host ends the run on all",
			set: setScalar("a boolean", func(t *Task, v Value) { t.AnyFatal = v }),
		},
		{Name: "connection", on: onInherits, Doc: "how hosts are reached: ssh, local, docker …", set: setText(func(t *Task, v Value) { t.Connection = v })},
		{Name: "remote_user", on: onInherits, Doc: "user to log in as", set: setText(func(t *Task, v Value) { t.RemoteUser = v })},
		{Name: "port", on: onInherits, Doc: "port of the SSH server", set: setScalar("a number", func(t *Task, v Value) { t.Port = v })},
		{
			Name: "collections", on: onAnything, Doc: "collections in which roles and modules are looked for whose names have none",
			set: func(p *parser, t *Task, e Entry) { t.Collections = p.readCollections(e) },
		},

		{
			Name: "throttle", on: onAnything, Doc: "on how many hosts the task runs at once; with its loop it counts as one",
			set: setScalar("a number of hosts", func(t *Task, v Value) { t.Throttle = v }),
		},
		{
			Name: "module_defaults", on: onAnything, Doc: "arguments for all tasks of a module, or of `group/NAME`: a map of maps",
			set: func(p *parser, t *Task, e Entry) { t.ModuleDefaults = p.readModuleDefaults(e) },
		},
		{Name: "debugger", on: onAnything, later: "`moon tui` stops at failures, and at breakpoints"},
		{
			Name: "become_flags", on: onInherits, Doc: "further arguments of sudo, su or doas",
			set: setText(func(t *Task, v Value) { t.ownKeys().BecomeFlags = v }),
		},
		{Name: "become_exe", on: onAnything, later: "remove it; `become_method` is sudo, su or doas"},
	}...)
	// Behind the list is complete: an append may move it, and the pointers would be lost.
	for i, k := range PlayTaskKeys {
		playForm.keys[k.Name] = &PlayTaskKeys[i]
		for _, a := range k.Aliases {
			playForm.keys[a] = &PlayTaskKeys[i]
		}
	}
	PlayKeys = playTable()
	for i, k := range PlayKeys {
		playKeys[k.Name] = &PlayKeys[i]
	}
	playKeys["user"] = playKeys["remote_user"] // as it was called once
}

// gone are keys that Ansible itself has given up, with what took their place.
var gone = map[string]string{
	"sudo": "write `become: true`", "sudo_user": "write `become: true` and `become_user`",
	"su": "write `become: true` and `become_method: su`", "su_user": "write `become: true` and `become_user`",
	"preset": "presets belong to playbooks of steps; in plays write a role",
}

// Lookups are the names that may stand behind with_.
var Lookups = []string{
	"cartesian", "collection_version", "csvfile", "dict", "env", "file", "fileglob", "first_found", "flattened", "indexed_items", "ini",
	"inventory_hostnames", "items", "lines",
	"list", "nested", "password", "pipe", "random_choice", "sequence", "subelements", "template", "together", "url", "vars", "varnames",
}

// BareLookup is the name of a lookup without the collection in which Ansible has it.
func BareLookup(name string) string { return strings.TrimPrefix(bareName(name), "community.general.") }

// playKey finds the key of a task in a play.
func (p *parser) playKey(name string) (*Key, bool) {
	if k, ok := p.keys[name]; ok {
		return k, true
	}
	if strings.HasPrefix(name, "with_") {
		return p.keys["with_items"], true
	}
	return nil, false
}

// setTexts takes one text or a list of them.
func setTexts(what string, set func(*Task, []Value)) func(*parser, *Task, Entry) {
	return func(p *parser, t *Task, e Entry) { set(t, p.readTexts(e, what)) }
}

func (p *parser) readTexts(e Entry, what string) []Value {
	values := []Value{e.Value}
	if e.Value.Kind() == List {
		values = e.Value.Items()
	}
	var all []Value
	for _, v := range values {
		if !isScalar(v) {
			p.errorf(v.Pos(), 0, "", "`%s:` must be %s, or a list of them; this is %s", e.Key, what, v.Kind())
			continue
		}
		p.plainBool(e.Key, v)
		all = append(all, v)
	}
	return all
}

// plainBool warns of a word that YAML takes for a boolean where text is meant.
func (p *parser) plainBool(key string, v Value) {
	if v.Kind() != Bool || v.Encrypted() {
		return
	}
	p.warnf(v.Pos(), "write \""+v.Text()+"\" if the word is meant", "`%s:` is text, and a plain `%s` is a boolean", key, v.Text())
}

// textKeys are the keys of a task, and of a play, whose value is text.
var textKeys = []string{
	"name", "creates", "removes", "unless", "onlyif", "cwd", "chdir", "become_user", "become_method", "become_flags", "delegate_to",
	"connection", "remote_user", "user", "hosts",
}

func (p *parser) readListen(t *Task, e Entry) {
	if !p.handlers && !p.behind {
		p.errorf(e.Pos, len(e.Key), fmt.Sprintf("put the %s under `handlers:`; %[1]ss notify handlers with `notify`", p.word),
			"`listen` has no meaning on a %s that is not a handler", p.word)
		return
	}
	t.ownPart().Listen = p.readTexts(e, "the name of a topic")
}

// readCollections reads the names of collections.
func (p *parser) readCollections(e Entry) []string {
	var names []string
	for _, v := range p.readTexts(e, "the name of a collection") {
		if !collectionName.MatchString(v.Text()) {
			p.errorf(v.Pos(), utf8.RuneCountInString(v.Text()), "it has a namespace and a name, as community.general",
				"%s is not the name of a collection", strconv.Quote(v.Text()))
			continue
		}
		names = append(names, v.Text())
	}
	return names
}

var collectionName = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*\.[A-Za-z_][A-Za-z0-9_]*$`)

// readEnvironment reads a map, a template, or a list of them.
func (p *parser) readEnvironment(e Entry) []Value {
	values := []Value{e.Value}
	if e.Value.Kind() == List {
		values = e.Value.Items()
	}
	var all []Value
	for _, v := range values {
		if v.isUnquotedTemplate() {
			continue // has been said
		}
		if v.Kind() != Map && (v.Kind() != String || !strings.Contains(v.Text(), "{{")) {
			p.errorf(v.Pos(), 0, "write `NAME: value` below it",
				"`%s:` must be a map, a template that returns one, or a list of them; this is %s", e.Key, v.Kind())
			continue
		}
		all = append(all, v)
	}
	return all
}

// readModuleDefaults reads a map of modules and their arguments, or a list of such maps. The names must be written out.
func (p *parser) readModuleDefaults(e Entry) (all []Value) {
	values := []Value{e.Value}
	if e.Value.Kind() == List {
		values = e.Value.Items()
	}
	for _, v := range values {
		if v.Kind() != Map {
			p.errorf(v.Pos(), 0, "write `MODULE: {ARGUMENT: value}` below it", "`%s:` must be a map of modules and their arguments; this is %s",
				e.Key, v.Kind())
			continue
		}
		sound := true
		for _, m := range v.Entries() {
			switch kind := m.Value.Kind(); {
			case strings.Contains(m.Key, "{{"):
				p.errorf(m.Pos, utf8.RuneCountInString(m.Key), "only the arguments may be templates", "the module must be written out")
			case kind == Map, kind == Null, kind == String && strings.Contains(m.Value.Text(), "{{"):
				continue
			default:
				p.errorf(m.Value.Pos(), 0, "write `"+m.Key+": {ARGUMENT: value}`", "the defaults of `%s` must be a map of arguments; this is %s",
					m.Key, kind)
			}
			sound = false
		}
		if sound {
			all = append(all, v)
		}
	}
	return all
}

// varsMap reads variables: a map. A list of maps, which Ansible still takes, is put together.
func (p *parser) varsMap(e Entry) Value {
	v := e.Value
	switch v.Kind() {
	case Null:
		return Value{}
	case List:
		whole := Value{}
		for _, item := range v.Items() {
			if item.Kind() != Map {
				p.errorf(item.Pos(), 0, "write names and values below `vars:`", "an entry of `%s:` must be a map; this is %s", e.Key,
					item.Kind())
				continue
			}
			// Later maps of the list win, as in Ansible.
			whole = whole.addEntries(item)
		}
		p.varNames(whole)
		return whole
	case Map:
		p.varNames(v)
		return v
	case Bool, Int, Float, String:
	}
	p.reportKind(e, "a map")
	return Value{}
}

func (p *parser) playLoop(t *Task, e Entry) {
	name := BareLookup(strings.TrimPrefix(e.Key, "with_"))
	switch {
	case e.Key == "loop" || e.Key == "with_items" || e.Key == "with_filetree":
		p.readLoop(t, e)
		if t.Loop.Key == "with_items" {
			t.Loop.Kind = Lookup // it makes one list of lists, as the lookup does; of steps it is another name of `loop`
		}
	case t.Loop.Kind != NoLoop:
		p.errorf(e.Pos, utf8.RuneCountInString(e.Key), "use one of them; a loop in a loop is an include with its own loop",
			"`%s` beside `%s`", e.Key, t.Loop.Key)
	case name == "items":
		t.Loop.Kind, t.Loop.Key, t.Loop.Pos, t.Loop.Over = Lookup, "with_items", e.Pos, e.Value
	default:
		if !slices.Contains(Lookups, name) {
			name = strings.TrimPrefix(e.Key, "with_") // of a plugin, by its name as a whole
		}
		t.Loop.Kind, t.Loop.Key, t.Loop.Pos, t.Loop.Over = Lookup, "with_"+name, e.Pos, e.Value
	}
}

var playLoopKeys = []string{"loop_var", "index_var", "label", "pause", "extended", "break_when", "limit"}

func (p *parser) playLoopControl(t *Task, e Entry) {
	if e.Value.Kind() != Map {
		p.reportKind(e, "a map of "+strings.Join(playLoopKeys, ", "))
		return
	}
	for _, c := range e.Value.Entries() {
		if p.loopKey(t, c) {
			continue
		}
		switch c.Key {
		case "pause":
			p.readOne(c, "a number of seconds", &t.Pause)
		case "extended":
			p.readOne(c, "a boolean", &t.Extended)
		// Ansible keeps the items for it; here they cost nothing.
		case "extended_allitems": // only about memory
		case "break_when":
			setConditions(func(t *Task, v []Value) { t.BreakWhen = v })(p, t, c)
		default:
			p.reportUnknown(c, "of `loop_control:`", playLoopKeys)
		}
	}
}

// readOne takes a scalar.
func (p *parser) readOne(e Entry, want string, to *Value) {
	if !isScalar(e.Value) {
		p.reportKind(e, want)
		return
	}
	if slices.Contains(textKeys, e.Key) {
		p.plainBool(e.Key, e.Value)
	}
	*to = e.Value
}

// bareName is the name of what Ansible itself brings without its collection.
func bareName(name string) string {
	if rest, ok := strings.CutPrefix(name, "ansible.builtin."); ok {
		return rest
	}
	return strings.TrimPrefix(name, "ansible.legacy.")
}
