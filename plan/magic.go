package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"moon/plan/eval"
	"moon/plan/inventory"
	"moon/plan/playbook"
)

// Magic are the variables that say where a template stands and how moon was called, in the order of the page about plays. Nothing
// can hide them.
var Magic = []VarSource{
	{"inventory_hostname", "the host, as the inventory calls it"},
	{"inventory_hostname_short", "the same up to the first dot"},
	{"group_names", "its groups, without `all`"},
	{"groups", "all groups: a list of hosts each"},
	{"hostvars", "the variables of every host, by its name"},
	{"vars", "all variables, by name"},
	{"ansible_play_name", "the play"},
	{"ansible_play_hosts_all", "the hosts of the play"},
	{"ansible_play_hosts", "the same; a plan does not know who will have failed"},
	{"ansible_play_batch", "the hosts of the batch, where there is `serial`"},
	{"play_hosts", "the same"},
	{"ansible_play_role_names", "the roles of the play"},
	{"ansible_role_names", "the same"},
	{"role_names", "the same"},
	{"role_name", "the role that the task is in"},
	{"ansible_role_name", "the same"},
	{"role_path", "its directory"},
	{"ansible_parent_role_names", "the roles around it, the nearest first"},
	{"playbook_dir", "the directory of the playbook that the play stands in"},
	{"inventory_file", "the first inventory that is a file"},
	{"inventory_dir", "its directory"},
	{"ansible_check_mode", "whether the run is a dry one"},
	{"ansible_diff_mode", "whether it shows differences"},
	{"ansible_forks", "how many steps may run at once"},
	{"ansible_verbosity", "0"},
	{"ansible_limit", "what `--limit` says; undefined without it"},
	{"ansible_run_tags", "what `--tags` says, or `[all]`"},
	{"ansible_skip_tags", "what `--skip-tags` says"},
	{"ansible_version", "the version of Ansible whose language this is, as a map"},
	{"ansible_playbook_python", "`/usr/bin/python3`"},
	{"omit", "as `default(omit)`: the argument is omitted"},
}

func init() {
	text := func(get func(e *env) string) func(*env) (any, bool) {
		return func(e *env) (any, bool) { return get(e), true }
	}
	list := func(get func(e *env) []string) func(*env) (any, bool) {
		return func(e *env) (any, bool) { return anyList(get(e)), true }
	}
	called := func(name string) func(*env) (any, bool) {
		return func(e *env) (any, bool) {
			e.plan.made.facts.calls(name)
			return e.frame.scene.call.called(name), true
		}
	}
	inRole := func(get func(r *role) any) func(*env) (any, bool) {
		return func(e *env) (any, bool) {
			if e.frame.scene.role == nil {
				return nil, false
			}
			return get(e.frame.scene.role), true
		}
	}
	magicNames = map[string]func(e *env) (any, bool){
		"inventory_hostname": text(func(e *env) string { return e.frame.all.of.name }),
		"inventory_hostname_short": text(func(e *env) string {
			short, _, _ := strings.Cut(e.frame.all.of.name, ".")
			return short
		}),
		"group_names":               list(func(e *env) []string { return e.frame.groupNames() }),
		"groups":                    func(e *env) (any, bool) { return e.frame.groups(), true },
		"hostvars":                  func(e *env) (any, bool) { return hostVars{e}, true },
		"vars":                      func(e *env) (any, bool) { return allVars{e}, true },
		"play_hosts":                list(func(e *env) []string { return e.going(e.frame.scene.batch) }),
		"ansible_play_batch":        list(func(e *env) []string { return e.going(e.frame.scene.batch) }),
		"ansible_play_hosts":        list(func(e *env) []string { return e.going(e.frame.scene.hosts) }),
		"ansible_play_hosts_all":    list(func(e *env) []string { return e.frame.scene.hosts }),
		"ansible_play_name":         text(func(e *env) string { return e.frame.scene.play }),
		"ansible_play_role_names":   list(func(e *env) []string { return e.frame.scene.roles }),
		"ansible_role_names":        list(func(e *env) []string { return e.frame.scene.roles }),
		"role_names":                list(func(e *env) []string { return e.frame.scene.roles }),
		"playbook_dir":              text(func(e *env) string { return e.frame.scene.dir }),
		"inventory_dir":             func(e *env) (any, bool) { return e.frame.scene.inventoryDir() },
		"inventory_file":            func(e *env) (any, bool) { return e.frame.scene.inventoryFile() },
		"role_name":                 inRole(func(r *role) any { return r.name }),
		"ansible_role_name":         inRole(func(r *role) any { return r.name }),
		"role_path":                 inRole(func(r *role) any { return r.dir }),
		"ansible_parent_role_names": inRole(func(r *role) any { return anyList(r.parents()) }),
		"ansible_check_mode":        called("ansible_check_mode"),
		"ansible_diff_mode":         called("ansible_diff_mode"),
		"ansible_forks":             called("ansible_forks"),
		"ansible_verbosity":         func(*env) (any, bool) { return 0, true },
		"ansible_limit":             func(e *env) (any, bool) { return e.frame.scene.call.Limit, e.frame.scene.call.Limit != "" },
		"ansible_run_tags": list(func(e *env) []string {
			if tags := e.frame.scene.call.Tags; len(tags) > 0 {
				return tags
			}
			return []string{"all"}
		}),
		"ansible_skip_tags": list(func(e *env) []string { return e.frame.scene.call.SkipTags }),
		"ansible_version": func(*env) (any, bool) {
			return map[string]any{"full": "2.16.0", "major": 2, "minor": 16, "revision": 0, "string": "2.16.0"}, true
		},
		"ansible_playbook_python": text(func(*env) string { return "/usr/bin/python3" }),
		"omit":                    func(*env) (any, bool) { return eval.Omit, true },
	}
}

func (sc *hostScope) inventoryFile() (any, bool) {
	for _, source := range sc.call.Inventory {
		if !inventory.IsList(source) {
			return resolvePath(source, sc.call.Dir, sc.call.Home), true
		}
	}
	return nil, false
}

func (sc *hostScope) inventoryDir() (any, bool) {
	file, ok := sc.inventoryFile()
	if !ok {
		return nil, false
	}
	return filepath.Dir(file.(string)), true
}

// hostVars is the variable hostvars: of each host what it has at this moment, without what belongs to the play.
type hostVars struct{ e *env }

// Keys implements eval.Object.
func (h hostVars) Keys() []string {
	if h.e.frame.scene.inventory == nil {
		return []string{h.e.frame.all.of.name}
	}
	return hostNames(h.e.frame.scene.inventory.Hosts)
}

// Get implements eval.Object.
func (h hostVars) Get(key string) (any, bool) {
	m := h.e.frame.scene.machines(key)
	if m == nil {
		return nil, false
	}
	return hostVarsOf{h.e.as(m)}, true
}

// hostVarsOf are the variables of one host.
type hostVarsOf struct{ e *env }

// Keys implements eval.Object.
func (h hostVarsOf) Keys() []string { return keysOf(h.e) }

// Get implements eval.Object.
func (h hostVarsOf) Get(key string) (any, bool) { return entryOf(h.e, key) }

// allVars is the variable vars.
type allVars struct{ e *env }

// Keys implements eval.Object.
func (v allVars) Keys() []string { return keysOf(v.e) }

// Get implements eval.Object.
func (v allVars) Get(key string) (any, bool) { return entryOf(v.e, key) }

// keysOf are the names of an environment, without those that hold all others.
func keysOf(e *env) []string {
	return slices.DeleteFunc(slices.Compact(e.Names()), func(name string) bool { return name == "vars" || name == "hostvars" || name == "omit" })
}

func entryOf(e *env, key string) (any, bool) {
	if key == "vars" || key == "hostvars" {
		return nil, false
	}
	return e.Lookup(key)
}

// templatedIn reports whether anything in a value is to be rendered.
func templatedIn(v playbook.Value) bool {
	switch v.Kind() {
	case playbook.String:
		return !v.Literal() && eval.Templated(v.Text())
	case playbook.List:
		return slices.ContainsFunc(v.Items(), templatedIn)
	case playbook.Map:
		return slices.ContainsFunc(v.Entries(), func(e playbook.Entry) bool { return templatedIn(e.Value) })
	case playbook.Null, playbook.Bool, playbook.Int, playbook.Float:
	}
	return false
}

func isLocalhost(name string) bool {
	return name == "localhost" || name == "127.0.0.1" || name == "::1"
}
