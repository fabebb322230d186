package ansible

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// object is a mapping of YAML in the order in which it was made, so that a seed always gives the same text.
type object []field

type field struct {
	key   string
	value any
}

func (o object) MarshalYAML() (any, error) {
	node := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range o {
		var value yaml.Node
		if err := value.Encode(f.value); err != nil {
			return nil, err
		}
		node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: f.key}, &value)
	}
	return node, nil
}

// randomPlays makes playbooks out of what ansible-core 2.14 and moon are to understand alike. What docs/ansible.md has under
// "Different on purpose", or with a Δ, is left out: a run_once task or any_errors_fatal that fails in a block with a rescue,
// names that may be undefined, the same name in play vars and role vars.
type randomPlays struct {
	*rand.Rand

	ids     int
	hosts   []string
	rescues bool           // blocks may have a rescue; if not, any_errors_fatal may be there
	free    bool           // the strategy of the play at hand, or of one that uses the role at hand
	files   map[string]any // of the playbook, by path: []any or object
	depth   int
	inLoop  bool
	inRole  string
	flushes bool // a flush_handlers may be in a block
	always  bool // a block has an always
}

// playsOf makes the playbook of a seed.
func playsOf(seed uint64) (files map[string]any, flags []string) {
	g := &randomPlays{Rand: rand.New(rand.NewPCG(seed, 7)), files: map[string]any{}}
	g.rescues = g.one(2)
	g.free = g.one(6)
	g.hosts = []string{"h1", "h2", "h3", "h4"}[:1+g.IntN(4)]
	g.inventory()
	g.roles()
	var plays []any
	for range 1 + g.IntN(3) {
		plays = append(plays, g.play())
	}
	g.files["site.yml"] = plays
	g.spare(plays)
	if g.one(6) {
		flags = append(flags, "-t", g.pick("a", "b", "a,b", "tagged", "untagged", "never"))
	}
	if g.one(8) {
		flags = append(flags, "--skip-tags", g.pick("a", "b", "always"))
	}
	if g.one(10) {
		flags = append(flags, "-C")
	}
	if g.one(6) {
		flags = append(flags, "-e", g.pick("v1=extra", "v2=extra", "f1=extra", "r1=extra"))
	}
	if g.rescues && g.one(12) {
		flags = append(flags, "--force-handlers")
	}
	return g.files, flags
}

// spare takes out what would differ on purpose, when all is there: a handler that fails where a block flushes, and max_fail_percentage where
// a block has an always. What it takes out draws nothing, so that a seed stays the playbook that it is.
func (g *randomPlays) spare(plays []any) {
	var handlers []any
	for _, name := range slices.Sorted(maps.Keys(g.files)) {
		if strings.HasSuffix(name, "handlers/main.yml") {
			handlers = append(handlers, g.files[name].([]any)...)
		}
	}
	for i, play := range plays {
		p := play.(object)
		if g.always {
			p = slices.DeleteFunc(p, func(f field) bool { return f.key == "max_fail_percentage" })
			plays[i] = p
		}
		for _, f := range p {
			if f.key == "handlers" {
				handlers = append(handlers, f.value.([]any)...)
			}
		}
	}
	for _, h := range handlers {
		for i, f := range h.(object) {
			if text, ok := f.value.(string); ok && f.key == "raw" && g.flushes {
				h.(object)[i].value = handlerExit.ReplaceAllString(text, "")
			}
		}
	}
}

// handlerExit is the end of a handler that fails.
var handlerExit = regexp.MustCompile(`; (exit 3|test \{\{ inventory_hostname \}\} != h\d)$`)

// one is true once in n times.
func (g *randomPlays) one(n int) bool { return g.IntN(n) == 0 }

func (g *randomPlays) pick(of ...string) string { return of[g.IntN(len(of))] }

func (g *randomPlays) host() string { return g.pick(g.hosts...) }

func (g *randomPlays) id(kind string) string {
	g.ids++
	return fmt.Sprintf("%s%d", kind, g.ids)
}

func (g *randomPlays) inventory() {
	local := func(name string) object {
		vars := object{{"ansible_connection", "local"}}
		if g.one(3) {
			vars = append(vars, field{g.pick("v1", "v2"), "of " + name})
		}
		return vars
	}
	all, web, db := object{}, object{}, object{}
	for i, h := range g.hosts {
		all = append(all, field{h, local(h)})
		if i%2 == 0 {
			web = append(web, field{h, nil})
		} else {
			db = append(db, field{h, nil})
		}
	}
	groups := object{{"web", g.withVars(object{{"hosts", web}}, "web")}}
	if len(db) > 0 {
		groups = append(groups, field{"db", g.withVars(object{{"hosts", db}}, "db")})
	}
	g.files["inventory"] = object{{"all", object{
		{"hosts", all},
		{"vars", object{{"v1", "all 1"}, {"v2", "all 2"}, {"v3", "all 3"}, {"list", []string{"p", "q"}}}},
		{"children", groups},
	}}}
	if g.one(4) {
		g.files["group_vars/all.yml"] = object{{g.pick("v1", "v2", "v3"), "group_vars all"}}
	}
	if g.one(4) {
		g.files["host_vars/h1.yml"] = object{{g.pick("v1", "v2", "v3"), "host_vars h1"}}
	}
}

// withVars adds variables now and then.
func (g *randomPlays) withVars(o object, of string) object {
	if !g.one(3) {
		return o
	}
	return append(o, field{"vars", object{{g.pick("v1", "v2", "v3"), g.value(of)}}})
}

func (g *randomPlays) value(of string) string {
	if g.one(4) {
		return of + " {{ f1 | default('none') }}"
	}
	return of
}

func (g *randomPlays) roles() {
	for _, role := range []string{"red", "blue"} {
		g.inRole = role
		dir := "roles/" + role + "/"
		if g.one(2) {
			g.files[dir+"defaults/main.yml"] = object{{g.pick("v1", "v2"), role + " default"}, {role + "_default", "d"}}
		}
		if g.one(2) {
			g.files[dir+"vars/main.yml"] = object{{role + "_var", g.value(role)}}
		}
		g.files[dir+"handlers/main.yml"] = []any{g.handler(role + " handler")}
		g.depth = 1
		g.files[dir+"tasks/main.yml"] = g.tasks(1, 3)
		if g.one(3) {
			g.files[dir+"tasks/other.yml"] = g.tasks(1, 2)
		}
		g.depth = 0
	}
	g.inRole = ""
}

func (g *randomPlays) play() object {
	pattern := g.pick("all", "all", "all", "web", g.host(), "all:!h2")
	if len(g.hosts) == 2 && pattern == "all:!h2" || pattern == "all:!h2" && len(g.hosts) == 1 {
		pattern = "all"
	}
	p := object{{"name", g.id("play ")}, {"hosts", pattern}, {"gather_facts", false}}
	add := func(key string, value any) { p = append(p, field{key, value}) }
	if g.free && g.one(2) {
		add("strategy", "free")
	} else if g.one(3) {
		add("serial", []any{1, 2, "50%", []any{1, 2}, []any{1, "100%"}}[g.IntN(5)])
	}
	if !g.rescues && g.one(4) {
		add("any_errors_fatal", true)
	}
	if !g.rescues && g.one(5) {
		add("max_fail_percentage", []int{0, 30, 49, 50, 60}[g.IntN(5)])
	}
	if g.one(6) {
		add("order", g.pick("sorted", "reverse_sorted", "reverse_inventory"))
	}
	if g.rescues && g.one(6) { // later versions run them after any_errors_fatal too, as moon does
		add("force_handlers", true)
	}
	if g.one(6) {
		add("tags", g.pick("a", "b"))
	}
	if g.one(10) {
		add("ignore_errors", true)
	}
	if g.one(2) {
		add("vars", object{{g.pick("v1", "v2", "v3"), g.value("play")}})
	}
	if g.one(3) {
		add("pre_tasks", g.tasks(1, 2))
	}
	if g.one(2) {
		var roles []any
		for range 1 + g.IntN(2) {
			role := object{{"role", g.pick("red", "blue")}}
			if g.one(3) {
				role = append(role, field{"v1", "role parameter"})
			}
			if g.one(4) {
				role = append(role, field{"when", g.condition()})
			}
			if g.one(4) {
				role = append(role, field{"tags", g.pick("a", "b")})
			}
			roles = append(roles, role)
		}
		add("roles", roles)
	}
	add("tasks", g.tasks(2, 5))
	if g.one(3) {
		add("post_tasks", g.tasks(1, 2))
	}
	var handlers []any
	for _, i := range g.Perm(len(playHandlers)) {
		handlers = append(handlers, g.handler(playHandlers[i]))
	}
	add("handlers", handlers)
	return p
}

// playHandlers are those of every play.
var playHandlers = []string{"first handler", "second handler", "third handler"}

// handler is one that notes that it ran. Every play has somebody who listens to the topic.
func (g *randomPlays) handler(name string) object {
	h := object{{"name", name}, {"raw", g.note(g.id("H"), "") + g.exit(12)}}
	if name == playHandlers[1] || g.one(3) {
		h = append(h, field{"listen", "topic"})
	}
	if g.one(6) {
		if other := g.pick(playHandlers...); other != name {
			h = append(h, field{"notify", other})
		}
	}
	if g.one(6) {
		h = append(h, field{"when", g.condition()})
	}
	return h
}

func (g *randomPlays) tasks(low, high int) []any {
	var list []any
	for range low + g.IntN(high-low+1) {
		list = append(list, g.task()...)
	}
	return list
}

// note is the command that writes down that a task ran, with some values.
func (g *randomPlays) note(id, more string) string {
	for range g.IntN(3) {
		more += " " + g.shown()
	}
	text := fmt.Sprintf(`echo "%s%s" >> {{ out }}/{{ inventory_hostname }}`, id, more)
	if !g.free {
		text += fmt.Sprintf(`; echo "%s {{ inventory_hostname }}" >> {{ out }}/order`, id)
	}
	return text
}

func (g *randomPlays) shown() string {
	all := []string{
		"v1={{ v1 }}", "v2={{ v2 }}", "v3={{ v3 }}", "f1={{ f1 | default('-') }}", "f2={{ f2 | default('-') }}",
		"r1={{ r1 is defined and r1 is not string and r1 is failed }}", "r2={{ r2 is defined and r2 is changed }}",
		"r2={{ r2.rc | default('-') }}", "r3={{ r3.results | default([]) | length }}",
		"failed={{ ansible_failed_task.name | default('-') }}", "check={{ ansible_check_mode }}",
		"item={{ item | default('-') }}",
	}
	if g.inLoop {
		all = slices.DeleteFunc(all, func(text string) bool { return strings.Contains(text, "r3") })
	}
	if !g.free {
		all = append(all, "batch={{ ansible_play_batch | join(',') }}", "hosts={{ ansible_play_hosts | join(',') }}",
			"there={{ hostvars['"+g.host()+"'].f1 | default('-') }}", "all={{ ansible_play_hosts_all | length }}")
	}
	if g.inRole != "" {
		all = append(all, "role={{ role_name }}", "var={{ "+g.inRole+"_var | default('-') }}", "default={{ "+g.inRole+"_default | default('-') }}")
	}
	return g.pick(all...)
}

// exit makes a command fail, once in n times; often on one host only.
func (g *randomPlays) exit(n int) string {
	switch {
	case !g.one(n):
		return ""
	case g.one(3):
		return "; exit 3"
	default:
		return "; test {{ inventory_hostname }} != " + g.host()
	}
}

func (g *randomPlays) condition() any {
	single := func() string {
		h := g.host()
		all := []string{
			"inventory_hostname == '" + h + "'", "inventory_hostname != '" + h + "'", "'web' in group_names",
			"f1 is defined", "f1 | default('') == 'one'", "f2 is not defined", "v1 == 'all 1'", "v2 != 'play'",
			"r1 is defined and r1 is not string and r1 is changed", "r2 is defined and r2 is failed", "r2 is not defined or r2 is succeeded",
			"r3 is defined and r3 is skipped", "not ansible_check_mode", "r2.rc | default(0) == 0",
		}
		return g.pick(all...)
	}
	if g.one(5) {
		return []any{single(), single()}
	}
	return single()
}

// task makes a task, or a block, or an include; with what belongs to it.
func (g *randomPlays) task() []any {
	kind := g.IntN(30)
	switch {
	case kind < 4 && g.depth < 3:
		return []any{g.block()}
	case kind < 7 && g.depth < 2:
		return []any{g.include()}
	case kind == 7:
		return []any{g.meta()}
	case kind < 11:
		return []any{g.setFact()}
	case kind == 11:
		return []any{g.until()}
	case kind < 15:
		return []any{g.loop()}
	case kind == 15:
		return []any{g.failing()}
	default:
		return []any{g.plain()}
	}
}

// keys are those that any task may have.
func (g *randomPlays) keys(o object) object {
	add := func(key string, value any) { o = append(o, field{key, value}) }
	if g.one(4) {
		add("when", g.condition())
	}
	if g.one(6) {
		add("tags", []any{"a", "b", []any{"a", "b"}, "always", []any{"never", "a"}}[g.IntN(5)])
	}
	if g.one(5) {
		add("notify", g.notify())
	}
	if g.one(8) {
		add("ignore_errors", true)
	}
	if g.one(10) {
		add("vars", object{{g.pick("v1", "v2", "v3"), g.value("task")}})
	}
	if g.one(12) {
		add("delegate_to", g.pick(g.host(), "{{ groups['web'][0] }}"))
	}
	if g.one(14) {
		add("check_mode", g.one(3))
	}
	if !g.rescues && g.one(14) {
		add("any_errors_fatal", true)
	}
	return o.once()
}

func (g *randomPlays) notify() any {
	name := append([]string{"topic"}, playHandlers...)
	if g.inRole != "" {
		name = append(name, g.inRole+" handler")
	}
	if g.one(4) {
		return []any{g.pick(name...), g.pick(name...)}
	}
	return g.pick(name...)
}

func (g *randomPlays) plain() object {
	id := g.id("T")
	once := !g.free && g.one(12)
	exit := ""
	if !once || !g.rescues {
		exit = g.exit(6)
	}
	action := "raw"
	if g.one(8) {
		action = "shell"
	}
	o := object{{"name", id}, {action, g.note(id, "") + exit}}
	if once {
		o = append(o, field{"run_once", true})
	}
	if g.one(4) {
		o = append(o, field{"register", g.pick("r1", "r2")})
	}
	if g.one(8) {
		o = append(o, field{"changed_when", []any{false, "inventory_hostname == '" + g.host() + "'", []any{"v1 != ''", "v2 == 'play'"}}[g.IntN(3)]})
	}
	if !once && g.one(8) {
		o = append(o, field{"failed_when", []any{false, "inventory_hostname == '" + g.host() + "'", []any{"v1 != ''", "v2 == 'play'"}}[g.IntN(3)]})
	}
	return g.keys(o)
}

func (g *randomPlays) failing() object {
	o := object{{"name", g.id("T")}}
	if g.one(2) {
		o = append(o, field{"fail", object{{"msg", "no"}}})
	} else {
		o = append(o, field{"assert", object{{"that", g.condition()}}})
	}
	if g.one(2) {
		o = append(o, field{"register", g.pick("r1", "r2")})
	}
	return g.keys(append(o, field{"when", "inventory_hostname == '" + g.host() + "'"}))
}

// once drops a key that came a second time.
func (o object) once() object {
	var seen []string
	return slices.DeleteFunc(o, func(f field) bool {
		if slices.Contains(seen, f.key) {
			return true
		}
		seen = append(seen, f.key)
		return false
	})
}

func (g *randomPlays) setFact() object {
	o := object{{"name", g.id("T")}, {"set_fact", object{
		{g.pick("f1", "f1", "f2"), g.pick("one", "two", "{{ v1 }}", "{{ f1 | default('') }}+", "{{ inventory_hostname }}")},
	}}}
	if !g.free && g.one(8) {
		o = append(o, field{"run_once", true})
	}
	return g.keys(o)
}

func (g *randomPlays) until() object {
	id := g.id("U")
	times := 1 + g.IntN(4)
	o := object{
		{"name", id},
		{"raw", fmt.Sprintf(`%s; test $(grep -c %s {{ out }}/{{ inventory_hostname }}) -ge %d`, g.note(id, ""), id, times)},
		{"register", "r2"},
		{"until", g.pick("r2 is succeeded", "r2 is not failed")},
		{"retries", 1 + g.IntN(3)},
		{"delay", 0},
	}
	return g.keys(o)
}

func (g *randomPlays) loop() object {
	id := g.id("L")
	name, control := "item", object{}
	if g.one(4) {
		name = "each"
		control = append(control, field{"loop_var", name})
	}
	more := " {{ " + name + " }}"
	if g.one(4) {
		control = append(control, field{"index_var", "at"})
		more += " {{ at }}"
	}
	exit := ""
	if g.one(4) {
		exit = "; test {{ " + name + " }} != " + g.pick("x", "p", "y")
	}
	g.inLoop = true
	o := object{{"name", id}, {"raw", g.note(id, more) + exit}}
	g.inLoop = false
	if g.one(6) {
		o = object{{"name", id}, {"set_fact", object{{"f1", "{{ f1 | default('') }}{{ " + name + " }}"}}}}
	}
	switch g.IntN(4) {
	case 0:
		o = append(o, field{"loop", "{{ list }}"})
	case 1:
		o = append(o, field{"with_items", []any{"x", []any{"y", "p"}}})
	case 2:
		o = append(o, field{"loop", []any{}})
	default:
		o = append(o, field{"loop", []any{"x", "y", "p"}})
	}
	if len(control) > 0 {
		o = append(o, field{"loop_control", control})
	}
	if g.one(2) { // 2.14 shows an item what the one before it registered, so there must be nothing to see
		o = append(o, field{"register", "r3"})
	}
	if g.one(4) {
		o = append(o, field{"when", []any{name + " != 'x'", name + " == 'p' or inventory_hostname == '" + g.host() + "'"}[g.IntN(2)]})
	}
	return g.keys(o)
}

func (g *randomPlays) meta() object {
	what := []string{"flush_handlers", "flush_handlers", "noop", "clear_facts"}
	if !g.rescues { // ansible-playbook ends with the status 2 where a host leaves in a rescue, though nothing has failed
		what = append(what, "end_host")
	}
	if !g.free && !g.rescues {
		what = append(what, "end_play", "end_batch", "clear_host_errors")
	}
	o := object{{"meta", g.pick(what...)}}
	g.flushes = g.flushes || g.depth > 0 && o[0].value == "flush_handlers"
	if o[0].value != "flush_handlers" && !g.one(4) {
		o = append(o, field{"when", "inventory_hostname == '" + g.host() + "'"})
	}
	return o
}

func (g *randomPlays) block() object {
	g.depth++
	defer func() { g.depth-- }()
	o := object{{"name", g.id("B")}, {"block", g.tasks(1, 3)}}
	add := func(key string, value any) { o = append(o, field{key, value}) }
	if g.rescues && !g.one(4) {
		add("rescue", g.tasks(1, 2))
	}
	if g.one(2) {
		g.always = true
		add("always", g.tasks(1, 2))
	}
	if g.one(5) {
		add("when", g.condition())
	}
	if g.one(6) {
		add("vars", object{{g.pick("v1", "v2", "v3"), g.value("block")}})
	}
	if g.one(8) {
		add("tags", g.pick("a", "b", "always"))
	}
	if g.one(10) {
		add("ignore_errors", true)
	}
	if g.one(10) {
		add("notify", g.notify())
	}
	return o
}

// include is one of the ways to take tasks from another file.
func (g *randomPlays) include() object {
	g.depth++
	defer func() { g.depth-- }()
	var o object
	loops := false
	switch kind := g.IntN(6); {
	case kind < 2:
		o, loops = object{{"include_tasks", g.file()}}, true
	case kind < 4 || g.inRole != "":
		o = object{{"import_tasks", g.file()}}
	case kind == 4:
		o, loops = object{{"include_role", g.role()}}, true
	default:
		o = object{{"import_role", g.role()}}
	}
	if loops && g.one(3) {
		o = append(o, field{"loop", []any{"x", "y"}})
	}
	if g.one(4) {
		o = append(o, field{"when", g.condition()})
	}
	if g.one(4) {
		vars := object{{g.pick("v1", "v2"), g.value("include")}}
		if o[0].key != "import_role" { // whose variables all of the play sees, and in moon below its own
			o = append(o, field{"vars", vars})
		}
	}
	if g.one(6) {
		o = append(o, field{"tags", g.pick("a", "b", "always")})
	}
	if g.one(8) {
		o = append(o, field{"ignore_errors", true})
	}
	return o
}

func (g *randomPlays) file() string {
	name := strings.ToLower(g.id("inc")) + ".yml"
	if g.inRole != "" {
		g.files["roles/"+g.inRole+"/tasks/"+name] = g.tasks(1, 2)
	} else {
		g.files[name] = g.tasks(1, 2)
	}
	return name
}

func (g *randomPlays) role() object {
	name := g.pick("red", "blue")
	o := object{{"name", name}}
	if _, ok := g.files["roles/"+name+"/tasks/other.yml"]; ok && g.one(2) {
		o = append(o, field{"tasks_from", "other"})
	}
	return o
}
