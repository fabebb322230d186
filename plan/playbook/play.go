package playbook

import (
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/internal/suggest"
)

// PlayKey is a key of a play.
type PlayKey struct {
	Name  string
	Doc   string
	later string // why it is refused for now
	set   func(p playsParser, pl *Play, e Entry)
}

// Supported reports whether the key is anything but refused.
func (k *PlayKey) Supported() bool { return k.later == "" }

// PlayKeys are the keys of a play, in the order of the reference.
var PlayKeys []PlayKey

// playTable makes the table, when that of the keys of tasks is there.
func playTable() []PlayKey {
	one := func(name, want, doc string, field func(*Play) *Value) PlayKey {
		return PlayKey{Name: name, Doc: doc, set: func(p playsParser, pl *Play, e Entry) { p.readOne(e, want, field(pl)) }}
	}
	tasks := func(name, doc string, field func(*Play) *[]*Task) PlayKey {
		return PlayKey{Name: name, Doc: doc, set: func(p playsParser, pl *Play, e Entry) {
			*field(pl) = p.readTasks(e.Value, "`"+name+":`")
		}}
	}
	return []PlayKey{
		one("name", "text", "what the play is called", func(pl *Play) *Value { return &pl.Name }),
		{Name: "hosts", Doc: "pattern of hosts and groups, or a list of patterns", set: playsParser.readHosts},
		{Name: "vars", Doc: "variables", set: func(p playsParser, pl *Play, e Entry) { pl.Vars = p.varsMap(e) }},
		{Name: "vars_files", Doc: "files of variables; of a list within the list the first that exists", set: playsParser.varsFiles},
		{Name: "vars_prompt", Doc: "variables that moon asks for", set: func(p playsParser, pl *Play, e Entry) { pl.Prompts = p.readPrompts(e) }},
		one("gather_facts", "a boolean", "whether the play needs facts of its hosts (true)", func(pl *Play) *Value { return &pl.Facts }),
		{
			Name: "gather_subset", Doc: "accepted; gathering facts costs little",
			set: func(_ playsParser, pl *Play, e Entry) { pl.Subset = e.Value },
		},
		one("strategy", "linear, free or graph", "linear (each task on all hosts before the next), free, or graph",
			func(pl *Play) *Value { return &pl.Strategy }),
		{
			Name: "serial", Doc: "how many hosts at a time: a number, a percentage, or a list of them",
			set: func(p playsParser, pl *Play, e Entry) {
				if e.Value.Kind() == Map ||
					e.Value.Kind() == List && slices.ContainsFunc(e.Value.Items(), func(v Value) bool { return !isScalar(v) }) {
					p.reportKind(e, "a number, a percentage, or a list of them")
					return
				}
				pl.Serial = e.Value
			},
		},
		one("order", "text", "order of the hosts: inventory, sorted, reverse_inventory or reverse_sorted",
			func(pl *Play) *Value { return &pl.Order }),
		one("any_errors_fatal", "a boolean", "true: a failure on one host ends the run on all",
			func(pl *Play) *Value { return &pl.AnyFatal }),
		one("max_fail_percentage", "a number", "the play ends when more than this percentage of its hosts have failed",
			func(pl *Play) *Value { return &pl.MaxFail }),
		one("ignore_errors", "a boolean or a condition", "of all tasks", func(pl *Play) *Value { return &pl.Ignore }),
		one("ignore_unreachable", "a boolean", "true: a host that cannot be reached continues",
			func(pl *Play) *Value { return &pl.Unreachable }),
		one("force_handlers", "a boolean", "true: handlers run on hosts that have failed, too", func(pl *Play) *Value { return &pl.Force }),
		one("run_once", "a boolean", "of all tasks", func(pl *Play) *Value { return &pl.RunOnce }),
		one("connection", "text", "how hosts are reached: ssh, local, docker …", func(pl *Play) *Value { return &pl.Connection }),
		one("remote_user", "text", "user to log in as", func(pl *Play) *Value { return &pl.RemoteUser }),
		one("port", "a number", "port of the SSH server", func(pl *Play) *Value { return &pl.Port }),
		one("become", "a boolean", "run as another user", func(pl *Play) *Value { return &pl.Become }),
		one("become_user", "text", "the user to become (root)", func(pl *Play) *Value { return &pl.BecomeUser }),
		one("become_method", "text", "sudo, su or doas", func(pl *Play) *Value { return &pl.BecomeHow }),
		one("become_flags", "text", "further arguments of it", func(pl *Play) *Value { return &pl.BecomeFlags }),
		{
			Name: "environment", Doc: "environment variables: a map, a template that returns one, or a list of them",
			set: func(p playsParser, pl *Play, e Entry) { pl.Env = p.readEnvironment(e) },
		},
		one("check_mode", "a boolean", "force or forbid the dry run", func(pl *Play) *Value { return &pl.CheckMode }),
		one("diff", "a boolean", "force or forbid diffs", func(pl *Play) *Value { return &pl.Diff }),
		one("no_log", "a boolean", "show and store nothing of arguments, output and results", func(pl *Play) *Value { return &pl.NoLog }),
		one("timeout", "a duration such as 30s", "of every task", func(pl *Play) *Value { return &pl.Timeout }),
		one("throttle", "a number of hosts", "on how many hosts each task runs at once", func(pl *Play) *Value { return &pl.Throttle }),
		{
			Name: "module_defaults", Doc: "arguments for all tasks of a module, or of `group/NAME`: a map of maps",
			set: func(p playsParser, pl *Play, e Entry) { pl.ModuleDefaults = p.readModuleDefaults(e) },
		},
		{
			Name: approveKey, Doc: "expanded: a review approves the tasks that the run adds, except those with `confirm`",
			set: func(p playsParser, pl *Play, e Entry) { pl.Approves = readApproves(p.parser, e) },
		},
		{Name: "tags", Doc: "list of tags or one text; inherited downwards", set: func(p playsParser, pl *Play, e Entry) {
			var t Task
			p.readTags(&t, e)
			pl.Tags = t.Tags
		}},
		{
			Name: "collections", Doc: "collections in which roles and modules are looked for whose names have none",
			set: func(p playsParser, pl *Play, e Entry) { pl.Collections = p.readCollections(e) },
		},
		tasks("pre_tasks", "tasks before the roles", func(pl *Play) *[]*Task { return &pl.PreTasks }),
		{
			Name: "roles", Doc: "roles, by name or as maps with name, keys and parameters",
			set: func(p playsParser, pl *Play, e Entry) { pl.Roles = p.readRoles(e) },
		},
		tasks("tasks", "the tasks", func(pl *Play) *[]*Task { return &pl.Tasks }),
		tasks("post_tasks", "tasks after the others", func(pl *Play) *[]*Task { return &pl.PostTasks }),
		{
			Name: "handlers", Doc: "tasks that run when they have been notified",
			set: func(p playsParser, pl *Play, e Entry) { pl.Handlers = handlersParser(p).read(e) },
		},

		// Known, so that the message says what to do instead.
		// The hints are those of tasks, so that they are written once.
		{Name: "debugger", later: playForm.keys["debugger"].later},
		{Name: "become_exe", later: playForm.keys["become_exe"].later},
		{Name: "gather_timeout", later: "remove it; facts are asked for once, when the connection is made"},
		{Name: "fact_path", later: "local facts are read from /etc/ansible/facts.d"},
	}
}

var playKeys = map[string]*PlayKey{}

// ParsePlays reads a file of plays, as import_playbook names it.
func ParsePlays(f *File, actions Actions, ds *diag.List) []*Play {
	p := &parser{dialect: playForm, file: f, actions: actions, ds: ds}
	root, ok := readOfPlays(f, ds)
	if !ok {
		return nil
	}
	switch {
	case root.Kind() == List:
		return playsParser{p}.readPlays(root, "the playbook")
	case root.Kind() == Null:
		p.errorf(diag.Pos{File: f.Name, Line: 1, Column: 1}, 0, "a playbook is a list of plays", "the file is empty")
	default:
		p.errorf(root.Pos(), 0, "a playbook that is imported is a list of plays", "the file holds %s", root.Kind())
	}
	return nil
}

// ParseTasks reads a file of tasks: of a role, or one that is included. It may be empty. With Ansible those that a handler includes may have
// topics, by which nothing notifies them.
func ParseTasks(f *File, actions Actions, ds *diag.List, behind bool) []*Task {
	return parseTasks(&parser{dialect: playForm, file: f, actions: actions, ds: ds, behind: behind})
}

// ParseHandlers reads a file of handlers: of a role, or one that a handler imports.
func ParseHandlers(f *File, actions Actions, ds *diag.List) []*Task {
	return parseTasks(&parser{dialect: playForm, file: f, actions: actions, ds: ds, handlers: true})
}

func parseTasks(p *parser) []*Task {
	root, ok := readOfPlays(p.file, p.ds)
	if !ok {
		return nil
	}
	switch {
	case root.Kind() == Null:
		return nil
	case root.Kind() == List && holdsPlays(root, p.actions):
		p.errorf(root.Items()[0].Pos(), 0, "plays are imported with `import_playbook`, next to the other plays",
			"a list of tasks is wanted here, and this is one of plays")
		return nil
	}
	return p.readTasks(root.AsPlays(), "the file")
}

// ParseApply reads the keys that an include gives to what is inside.
func ParseApply(f *File, m Value, ds *diag.List) *Task {
	p := &parser{dialect: playForm, file: f, ds: ds}
	t := NewTask(Task{Kind: Block, Pos: m.Pos(), Keys: m.Entries()})
	for _, e := range t.Keys {
		// The keys of a block are those that can be inherited.
		k, ok := p.playKey(e.Key)
		if !ok || e.NoText {
			p.reportUnknown(e, "of `apply:`",
				[]string{
					"tags", "become", "become_user", "when", "vars", "environment", "ignore_errors", "notify", "delegate_to",
					"run_once", "no_log",
				})
			continue
		}
		p.playTaskKey(t, k, e)
	}
	return t
}

// WithModule reads a task again whose `action:` names its module by a template, now that this has a value.
func WithModule(f *File, t *Task, module string, actions Actions, ds *diag.List) *Task {
	p := &parser{dialect: playForm, file: f, actions: actions, ds: ds, module: module}
	again := NewTask(Task{Pos: t.Pos, Keys: t.Keys, Loop: Loop{Var: "item"}})
	p.fillTask(p, again)
	return again
}

// RoleMeta is what a role says of itself, as far as it matters.
type RoleMeta struct {
	Dependencies []*Task // of kind Role
	AllowDup     Value   // allow_duplicates
	Collections  []string
	Specs        Value // argument_specs: a map of the ways into the role, each with its options
}

// RoleFiles are what a role is made of. They are read once.
type RoleFiles struct {
	Dir       string
	Tasks     TasksOf
	Handlers  TasksOf
	Meta      *RoleMeta // never nil
	NeedsFile *File
	Vars      []Entry
	VarsFrom  string
	Defaults  []Entry
	DefsFrom  string
}

// TasksOf is a file with the tasks that are in it.
type TasksOf struct {
	File  *File
	Tasks []*Task
}

// ParseMeta reads the meta/main.yml of a role.
func ParseMeta(f *File, actions Actions, ds *diag.List) *RoleMeta {
	p := &parser{dialect: playForm, file: f, actions: actions, ds: ds}
	meta := &RoleMeta{}
	root, ok := readOfPlays(f, ds)
	if !ok || root.Kind() == Null {
		return meta
	}
	if root.Kind() != Map {
		p.errorf(root.Pos(), 0, "such as `dependencies: [common]`", "what a role says of itself is a map; this is %s", root.Kind())
		return meta
	}
	for _, e := range root.AsPlays().Entries() {
		switch e.Key {
		case "dependencies":
			meta.Dependencies = playsParser{p}.readRoles(e)
		case "allow_duplicates":
			p.readOne(e, "a boolean", &meta.AllowDup)
		case "collections":
			meta.Collections = p.readCollections(e)
		case "galaxy_info", "standalone":
		case "argument_specs":
			meta.Specs = e.Value
		default:
			if !e.NoText {
				// Metadata of roles are full of keys that are for Galaxy; an unknown one is only worth a warning.
				p.warnf(e.Pos, suggest.DidYouMean(e.Key,
					[]string{"dependencies", "allow_duplicates", "galaxy_info", "collections", "argument_specs"}),
					"unknown key `%s` of a role's meta file", e.Key)
			}
		}
	}
	return meta
}

// playMarks are the keys by which a list is known as one of plays.
var playMarks = []string{"hosts", "import_playbook", "tasks", "roles", "pre_tasks", "post_tasks"}

// holdsPlays reports whether a list is one of plays, and not of steps. Steps may have `hosts` too, and plays do nothing by themselves.
func holdsPlays(root Value, actions Actions) bool {
	hosts, does := false, false
	for _, item := range root.Items() {
		for _, e := range item.Entries() {
			name := bareName(e.Key)
			if name != "hosts" && slices.Contains(playMarks, name) {
				return true
			}
			_, directive := directives[e.Key]
			_, action := actions.Canonical(e.Key)
			hosts, does = hosts || name == "hosts", does || directive || action
		}
	}
	return hosts && !does
}

// playsParser reads what stands around the tasks of plays: the plays themselves, their hosts, prompts and roles.
type playsParser struct{ *parser }

// readDocument reads a playbook in its map form whose plays are under `plays:`.
func (p playsParser) readDocument(pb *Playbook, root Value, plays Entry) {
	for _, e := range root.Entries() {
		switch e.Key {
		case "steps":
			p.errorf(e.Pos, len(e.Key), "write two playbooks, or a play for `hosts: localhost`", "`steps:` beside `plays:`")
		case "strategy", "parallel", "exports", "handlers", "force_handlers", "vars_prompt", approveKey, "timeout", "defaults":
			hint := "write it on the plays"
			switch e.Key {
			case "parallel", "exports":
				hint = "remove it"
			case "timeout":
				hint = "limit the run with `--timeout`; `timeout:` of a play is for each of its tasks"
			case "defaults":
				hint = "write `timeout:` on the plays: it is for each of their tasks"
			}
			p.errorf(e.Pos, len(e.Key), hint, "`%s:` belongs to a playbook of steps", e.Key)
		}
	}
	// They have been reported, and must not have an effect.
	pb.Strategy, pb.Parallel, pb.Exports, pb.Handlers, pb.Force, pb.Prompts = "", Value{}, nil, nil, Value{}, nil
	pb.Approves, pb.Timeout, pb.Defaults = false, Value{}, Defaults{}
	pb.Plays = playsParser{p.inPlays()}.readPlays(plays.Value, "`plays:`")
}

func (p playsParser) readPlays(v Value, where string) []*Play {
	if v.Kind() != List {
		if v.Kind() == Null {
			p.errorf(v.Pos(), 0, "`[]` is a list of no plays", "%s holds nothing", where)
		} else {
			p.errorf(v.Pos(), 0, "each play starts with `- `", "%s must be a list of plays; this is %s", where, v.Kind())
		}
		return nil
	}
	var plays []*Play
	for _, item := range v.AsPlays().Items() {
		if p.ds.Full() {
			break
		}
		switch item.Kind() {
		case Null:
			p.warnf(item.Pos(), "remove the `-`, or write the play", "an empty list item is not a play")
		case Map:
			plays = append(plays, p.readPlay(item))
		default:
			p.errorf(item.Pos(), 0, "a play is a map with `hosts:` and `tasks:`", "a play must be a map; this is %s", item.Kind())
		}
	}
	return plays
}

func (p playsParser) readPlay(item Value) *Play {
	pl := &Play{Pos: item.Pos(), Keys: item.Entries()}
	for _, e := range pl.Keys {
		// An import takes few keys of a play, so it is looked for first.
		if bareName(e.Key) == "import_playbook" {
			p.importPlaybook(pl, e)
			return pl
		}
	}
	hosts := false
	for _, e := range pl.Keys {
		if e.NoText {
			continue
		}
		k, ok := playKeys[e.Key]
		switch {
		case !ok:
			p.unknownKey(e)
		case k.later != "":
			p.errorf(e.Pos, utf8.RuneCountInString(e.Key), k.later, "`%s` is not supported yet", e.Key)
		case e.Value.Kind() == Null && e.Key != "hosts":
			// as if it were not there: all below it is commented out
		default:
			k.set(p, pl, e)
		}
		hosts = hosts || e.Key == "hosts"
	}
	if !hosts {
		p.errorf(pl.Pos, 0, "add `hosts: all`, or what the play is for", "this play has no `hosts:`")
	}
	return pl
}

func (p playsParser) unknownKey(e Entry) {
	known := []string{"import_playbook"}
	for i := range PlayKeys {
		known = append(known, PlayKeys[i].Name)
	}
	hint := gone[e.Key]
	switch {
	case e.Key == "include":
		hint = "write `import_playbook`"
	case hint == "" && p.isAction(bareName(e.Key)):
		hint = "it belongs to a task: put it under `tasks:`"
	case hint == "":
		hint = suggest.DidYouMean(e.Key, known)
	}
	// Last, since a key of tasks may also be near to one of plays.
	if k, ok := p.keys[e.Key]; ok && hint == "" {
		hint = "`" + k.Name + "` belongs to a task"
	}
	p.errorf(e.Pos, utf8.RuneCountInString(e.Key), hint, "unknown key `%s` of a play", e.Key)
}

// importPlaybook reads an import of plays. Tags may stand behind the path, as they once had to.
func (p playsParser) importPlaybook(pl *Play, at Entry) {
	for _, c := range p.readOptions(at, "file").Entries() {
		switch {
		case c.Key == "file" && at.Value.Kind() == String:
			pl.Import = c.Value
		case c.Key == "tags" && at.Value.Kind() == String:
			pl.Tags = append(pl.Tags, c.Value)
		case at.Value.Kind() == String:
			p.warnf(c.Pos, "variables go under `vars:`", "`%s` does nothing: Ansible ignores what stands behind the path, but for tags", c.Key)
		}
	}
	if pl.Import.Text() == "" {
		p.errorf(at.Pos, utf8.RuneCountInString(at.Key), "write `import_playbook: web.yml`", "`%s:` needs the path of a file", at.Key)
	}
	for _, e := range pl.Keys {
		switch {
		case e.Pos == at.Pos || e.NoText:
		case e.Key == "name" || e.Key == "vars" || e.Key == "tags":
			// Tags of the text and of the key are put together, as Ansible did.
			tags := pl.Tags
			if e.Value.Kind() != Null {
				playKeys[e.Key].set(p, pl, e)
			}
			if e.Key == "tags" {
				pl.Tags = append(tags, pl.Tags...)
			}
		case e.Key == "when":
			setConditions(func(t *Task, v []Value) { pl.When = v })(p.parser, nil, e)
		default:
			hint := suggest.DidYouMean(e.Key, []string{"name", "vars", "when", "tags"})
			if _, ok := playKeys[e.Key]; ok {
				hint = "write it on the plays that are imported"
			}
			p.errorf(e.Pos, utf8.RuneCountInString(e.Key), hint, "unknown key `%s` beside `import_playbook`", e.Key)
		}
	}
}

func (p playsParser) readHosts(pl *Play, e Entry) {
	pl.Hosts = p.readPattern(e)
}

// readPattern reads a pattern of hosts, or a list of them.
func (p playsParser) readPattern(e Entry) Value {
	all := e.Value.Items()
	switch {
	case isScalar(e.Value):
		// yes and no are booleans in YAML, and hosts have such names.
		p.plainBool(e.Key, e.Value)
	case e.Value.Kind() != List:
		p.reportKind(e, "a pattern of hosts, or a list of them")
		return Value{}
	case len(all) == 0:
		p.errorf(e.Value.Pos(), 0, "write `all`, or the names of groups and hosts", "`hosts:` names no host")
	}
	for _, v := range all {
		if !isScalar(v) {
			p.errorf(v.Pos(), 0, "", "an entry of `hosts:` must be a pattern of hosts; this is %s", v.Kind())
			continue
		}
		p.plainBool(e.Key, v)
	}
	return e.Value
}

// playVarsFiles reads paths, each of which may be a list of which the first that exists counts.
func (p playsParser) varsFiles(pl *Play, e Entry) {
	if e.Value.Kind() == String {
		pl.VarsFiles = [][]Value{{e.Value}}
		return
	}
	if e.Value.Kind() != List {
		p.reportKind(e, "a list of paths")
		return
	}
	for _, v := range e.Value.Items() {
		if v.Kind() == String {
			pl.VarsFiles = append(pl.VarsFiles, []Value{v})
			continue
		}
		if v.Kind() != List {
			p.errorf(v.Pos(), 0, "", "an entry of `%s:` must be the path of a file; this is %s", e.Key, v.Kind())
			continue
		}
		var choice []Value
		for _, one := range v.Items() {
			if one.Kind() != String || one.Text() == "" {
				p.errorf(one.Pos(), 0, "", "an entry of `%s:` must be the path of a file; this is %s", e.Key, one.Kind())
				continue
			}
			choice = append(choice, one)
		}
		if len(choice) > 0 {
			pl.VarsFiles = append(pl.VarsFiles, choice)
		}
	}
}

var promptKeys = []string{"name", "prompt", "default", "private", "confirm", "encrypt", "salt", "salt_size", "unsafe"}

func (p playsParser) readPrompts(e Entry) (list []Prompt) {
	if e.Value.Kind() != List {
		p.reportKind(e, "a list of maps with `name` and `prompt`")
		return nil
	}
	for _, item := range e.Value.Items() {
		if item.Kind() != Map {
			p.errorf(item.Pos(), 0, "write `- {name: version, prompt: which version?}`",
				"an entry of `vars_prompt:` must be a map; this is %s", item.Kind())
			continue
		}
		list = append(list, p.readPrompt(item))
	}
	return list
}

func (p playsParser) readPrompt(item Value) Prompt {
	one := Prompt{Pos: item.Pos()}
	for _, c := range item.Entries() {
		// Everything that is one value is read the same way.
		to := map[string]*Value{
			"prompt": &one.Text, "default": &one.Default, "private": &one.Private, "confirm": &one.Confirm, "encrypt": &one.Encrypt,
			"salt": &one.Salt, "salt_size": &one.SaltSize, "unsafe": &one.Unsafe,
		}[c.Key]
		switch {
		case c.NoText:
		case c.Key == "name":
			if name, ok := p.readIdentifier(c, "the name of the variable to ask for"); ok {
				one.Name = name
			}
		case to == nil:
			p.reportUnknown(c, "of an entry of `vars_prompt:`", promptKeys)
		case c.Value.Kind() == Null:
		default:
			p.readOne(c, "text", to)
		}
	}
	if !hasKey(item.Entries(), "name") {
		p.errorf(item.Pos(), 0, "add `name:` with the name of a variable", "an entry of `vars_prompt:` has no name")
	}
	return one
}

// readRoles reads the roles of a play, or those that a role depends on.
func (p playsParser) readRoles(e Entry) []*Task {
	if e.Value.Kind() == Null {
		return nil
	}
	if e.Value.Kind() != List {
		p.reportKind(e, "a list of roles")
		return nil
	}
	var roles []*Task
	for _, item := range e.Value.Items() {
		switch item.Kind() {
		case Null:
			p.warnf(item.Pos(), "remove the `-`, or write the name of a role", "an empty list item is not a role")
		case Map:
			roles = append(roles, p.roleEntry(item))
		case String:
			roles = append(roles, p.requireName(NewTask(Task{Kind: Role, Pos: item.Pos(), Args: item, Loop: Loop{Var: "item"}})))
		default:
			p.errorf(item.Pos(), 0, "write the name of a role", "a role must be a name or a map; this is %s", item.Kind())
		}
	}
	return roles
}

// roleKeys are the keys of a task that a role entry can have. All others are parameters.
var roleKeys = []string{
	"when", "tags", "vars", "become", "become_user", "become_method", "become_flags", "environment", "delegate_to",
	"delegate_facts", "run_once",
	"ignore_errors",
	"ignore_unreachable", "any_errors_fatal", "no_log", "check_mode", "diff", "connection", "remote_user", "port", "timeout", "collections",
	"throttle", "module_defaults", "debugger", "become_exe",
}

func (p playsParser) roleEntry(item Value) *Task {
	t := NewTask(Task{Kind: Role, Pos: item.Pos(), Keys: item.Entries(), Loop: Loop{Var: "item"}})
	src, named := Value{}, hasKey(t.Keys, "role")
	var params []string
	for _, e := range t.Keys {
		switch {
		case e.NoText:
		// Without `role`, `name` is the role; otherwise it is what the entry is called.
		case e.Key == "role", e.Key == "name" && !named:
			if !isScalar(e.Value) {
				p.reportKind(e, "the name of a role")
				continue
			}
			t.Args = e.Value
		case e.Key == "src":
			src = e.Value
		// For ansible-galaxy: where the role is downloaded from.
		case e.Key == "version" || e.Key == "scm": // where a tool can get the role
		case slices.Contains(roleKeys, e.Key):
			p.playTaskKey(t, p.keys[e.Key], e)
		case e.Key == "name":
			t.Name = e.Value
		default:
			params = append(params, e.Key)
		}
	}
	// All other keys are parameters of the role, as Ansible has it.
	if len(params) > 0 {
		var given []argument
		for _, e := range t.Keys {
			if slices.Contains(params, e.Key) {
				given = append(given, e.toArgument())
			}
		}
		t.RoleParams = item.mapOf(given)
	}
	if t.Args.IsZero() {
		// With `src` alone the role has the name that it is downloaded under.
		t.Args = src
	}
	return p.requireName(t)
}

// requireName refuses an entry without the name of a role.
func (p *parser) requireName(t *Task) *Task {
	if strings.TrimSpace(t.Args.Text()) == "" {
		p.errorf(t.Pos, 0, "add `role: web`", "this entry names no role")
	}
	return t
}
