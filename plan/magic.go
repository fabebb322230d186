package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"moon/plan/eval"
	"moon/plan/inventory"
	"moon/plan/playbook"
	"moon/plan/source"
)

// Magic are the variables that say where a template stands and how moon was called, in the order of the page about plays. Nothing
// can hide them.
var Magic = []VarSource{
	{"inventory_hostname", "the name of the host in the inventory"},
	{"inventory_hostname_short", "its name up to the first dot"},
	{"group_names", "its groups, without `all`"},
	{"groups", "all groups: a list of hosts each"},
	{"hostvars", "the variables of every host, by its name"},
	{"vars", "all variables, by name"},
	{"ansible_play_name", "the play"},
	{"ansible_play_hosts_all", "the hosts of the play"},
	{"ansible_play_hosts", "the same; a plan does not know which hosts will have failed"},
	{"ansible_play_batch", "the hosts of the batch, with `serial`"},
	{"play_hosts", "the same"},
	{"ansible_play_role_names", "the roles of the play"},
	{"ansible_role_names", "the same"},
	{"role_names", "the same"},
	{"role_name", "the role that the task is in"},
	{"ansible_role_name", "the same"},
	{"role_path", "its directory"},
	{"ansible_parent_role_names", "the roles around it, the nearest first"},
	{"playbook_dir", "the directory of the playbook with this play"},
	{"inventory_file", "the first inventory that is a file"},
	{"inventory_dir", "its directory"},
	{"ansible_check_mode", "whether the run is a dry run"},
	{"ansible_diff_mode", "whether it shows diffs"},
	{"ansible_forks", "how many steps may run at once"},
	{"ansible_verbosity", "0"},
	{"ansible_limit", "the value of `--limit`; undefined without it"},
	{"ansible_run_tags", "the value of `--tags`, or `[all]`"},
	{"ansible_skip_tags", "the value of `--skip-tags`"},
	{"ansible_version", "the Ansible version whose language this is, as a map"},
	{"ansible_playbook_python", "`/usr/bin/python3`"},
	{"omit", "as `default(omit)`: the argument is omitted"},
}

func init() {
	text := func(get func(e *Env) string) func(*Env) (any, bool) {
		return func(e *Env) (any, bool) { return get(e), true }
	}
	list := func(get func(e *Env) []string) func(*Env) (any, bool) {
		return func(e *Env) (any, bool) { return anyList(get(e)), true }
	}
	called := func(name string) func(*Env) (any, bool) {
		return func(e *Env) (any, bool) {
			e.Plan.Basis.Facts.calls(name)
			return e.Frame.Scene.Call.Called(name), true
		}
	}
	inRole := func(get func(r *Role) any) func(*Env) (any, bool) {
		return func(e *Env) (any, bool) {
			if e.Frame.Scene.Role == nil {
				return nil, false
			}
			return get(e.Frame.Scene.Role), true
		}
	}
	magicNames = map[string]func(e *Env) (any, bool){
		"inventory_hostname": text(func(e *Env) string { return e.Frame.All.Of.Name }),
		"inventory_hostname_short": text(func(e *Env) string {
			short, _, _ := strings.Cut(e.Frame.All.Of.Name, ".")
			return short
		}),
		"group_names":               list(func(e *Env) []string { return e.Frame.groupNames() }),
		"groups":                    func(e *Env) (any, bool) { return e.Frame.groups(), true },
		"hostvars":                  func(e *Env) (any, bool) { return hostVars{e}, true },
		"vars":                      func(e *Env) (any, bool) { return allVars{e}, true },
		"play_hosts":                list(func(e *Env) []string { return e.going(e.Frame.Scene.Batch) }),
		"ansible_play_batch":        list(func(e *Env) []string { return e.going(e.Frame.Scene.Batch) }),
		"ansible_play_hosts":        list(func(e *Env) []string { return e.going(e.Frame.Scene.Hosts) }),
		"ansible_play_hosts_all":    list(func(e *Env) []string { return e.Frame.Scene.Hosts }),
		"ansible_play_name":         text(func(e *Env) string { return e.Frame.Scene.Play }),
		"ansible_play_role_names":   list(func(e *Env) []string { return e.Frame.Scene.Roles }),
		"ansible_role_names":        list(func(e *Env) []string { return e.Frame.Scene.Roles }),
		"role_names":                list(func(e *Env) []string { return e.Frame.Scene.Roles }),
		"playbook_dir":              text(func(e *Env) string { return e.Frame.Scene.Dir }),
		"inventory_dir":             func(e *Env) (any, bool) { return e.Frame.Scene.inventoryDir() },
		"inventory_file":            func(e *Env) (any, bool) { return e.Frame.Scene.inventoryFile() },
		"role_name":                 inRole(func(r *Role) any { return r.Name }),
		"ansible_role_name":         inRole(func(r *Role) any { return r.Name }),
		"role_path":                 inRole(func(r *Role) any { return r.Dir }),
		"ansible_parent_role_names": inRole(func(r *Role) any { return anyList(r.parents()) }),
		"ansible_check_mode":        called("ansible_check_mode"),
		"ansible_diff_mode":         called("ansible_diff_mode"),
		"ansible_forks":             called("ansible_forks"),
		"ansible_verbosity":         func(*Env) (any, bool) { return 0, true },
		"ansible_limit":             func(e *Env) (any, bool) { return e.Frame.Scene.Call.Limit, e.Frame.Scene.Call.Limit != "" },
		"ansible_run_tags": list(func(e *Env) []string {
			if tags := e.Frame.Scene.Call.Tags; len(tags) > 0 {
				return tags
			}
			return []string{"all"}
		}),
		"ansible_skip_tags": list(func(e *Env) []string { return e.Frame.Scene.Call.SkipTags }),
		"ansible_version": func(*Env) (any, bool) {
			return map[string]any{"full": "2.16.0", "major": 2, "minor": 16, "revision": 0, "string": "2.16.0"}, true
		},
		"ansible_playbook_python": text(func(*Env) string { return "/usr/bin/python3" }),
		"omit":                    func(*Env) (any, bool) { return eval.Omit, true },
	}
}

func (sc *HostScope) inventoryFile() (any, bool) {
	for _, written := range sc.Call.Inventory {
		if !inventory.IsList(written) {
			return source.ResolvePath(written, sc.Call.Dir, sc.Call.Home), true
		}
	}
	return nil, false
}

func (sc *HostScope) inventoryDir() (any, bool) {
	file, ok := sc.inventoryFile()
	if !ok {
		return nil, false
	}
	return filepath.Dir(file.(string)), true
}

// hostVars is the variable hostvars: of each host what it has at this moment, without what belongs to the play.
type hostVars struct{ e *Env }

// Keys implements eval.Object.
func (h hostVars) Keys() []string {
	if h.e.Frame.Scene.Inventory == nil {
		return []string{h.e.Frame.All.Of.Name}
	}
	return HostNames(h.e.Frame.Scene.Inventory.Hosts)
}

// Get implements eval.Object.
func (h hostVars) Get(key string) (any, bool) {
	m := h.e.Frame.Scene.Machines(key)
	if m == nil {
		return nil, false
	}
	return hostVarsOf{h.e.as(m)}, true
}

// hostVarsOf are the variables of one host.
type hostVarsOf struct{ e *Env }

// Keys implements eval.Object.
func (h hostVarsOf) Keys() []string { return keysOf(h.e) }

// Get implements eval.Object.
func (h hostVarsOf) Get(key string) (any, bool) { return entryOf(h.e, key) }

// allVars is the variable vars.
type allVars struct{ e *Env }

// Keys implements eval.Object.
func (v allVars) Keys() []string { return keysOf(v.e) }

// Get implements eval.Object.
func (v allVars) Get(key string) (any, bool) { return entryOf(v.e, key) }

// keysOf are the names of an environment, without those that hold all others.
func keysOf(e *Env) []string {
	return slices.DeleteFunc(slices.Compact(e.Names()),
		func(name string) bool { return name == "vars" || name == "hostvars" || name == "omit" })
}

func entryOf(e *Env, key string) (any, bool) {
	if key == "vars" || key == "hostvars" {
		return nil, false
	}
	return e.Lookup(key)
}

// TemplatedIn reports whether anything in a value is to be rendered.
func TemplatedIn(v playbook.Value) bool {
	switch v.Kind() {
	case playbook.String:
		return !v.Literal() && eval.Templated(v.Text())
	case playbook.List:
		return slices.ContainsFunc(v.Items(), TemplatedIn)
	case playbook.Map:
		return slices.ContainsFunc(v.Entries(), func(e playbook.Entry) bool { return TemplatedIn(e.Value) })
	case playbook.Null, playbook.Bool, playbook.Int, playbook.Float:
	}
	return false
}

// IsLocalhost reports whether a name means the machine that moon runs on, whether or not an inventory has it.
func IsLocalhost(name string) bool {
	return name == "localhost" || name == "127.0.0.1" || name == "::1"
}

// LookoutOf is the place as far as the play and the roles around say it.
func LookoutOf(sc *HostScope) source.Lookout {
	l := source.Lookout{Play: sc.Dir}
	for r := sc.Role; r != nil; r = r.Parent {
		l.Roles = append(l.Roles, r.Dir)
	}
	return l
}
