package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/vars"
)

// AnsibleVersion is the version of ansible-core whose language plays are taken to be in.
const AnsibleVersion = "2.16.0"

// magicNames give the variables of Magic.
var magicNames map[string]func(e *Env) (any, bool)

func init() {
	text := func(get func(e *Env) string) func(*Env) (any, bool) {
		return func(e *Env) (any, bool) { return get(e), true }
	}
	list := func(get func(e *Env) []string) func(*Env) (any, bool) {
		return func(e *Env) (any, bool) { return value.ListOf(get(e)), true }
	}
	called := func(name string) func(*Env) (any, bool) {
		return func(e *Env) (any, bool) {
			// Noted, because a saved plan keeps how moon was called only as far as a template asked.
			e.Plan.Basis.Facts.Calls(name)
			return e.Frame.Scene.Call.Called(name), true
		}
	}
	inRole := func(get func(r *vars.Role) any) func(*Env) (any, bool) {
		return func(e *Env) (any, bool) {
			if e.Frame.Scene.Role == nil {
				return nil, false
			}
			return get(e.Frame.Scene.Role), true
		}
	}
	parents := func(what func(*vars.Role) string) func(*Env) (any, bool) {
		return func(e *Env) (any, bool) {
			var list []string
			for _, r := range e.Frame.Scene.Role.Parents() {
				list = append(list, what(r))
			}
			return value.ListOf(list), len(list) > 0
		}
	}
	magicNames = map[string]func(e *Env) (any, bool){
		"inventory_hostname": text(func(e *Env) string { return e.Frame.Machine().Name }),
		"inventory_hostname_short": text(func(e *Env) string {
			short, _, _ := strings.Cut(e.Frame.Machine().Name, ".")
			return short
		}),
		"group_names":             func(e *Env) (any, bool) { return e.Frame.GroupNames(e.unended), true },
		"groups":                  func(e *Env) (any, bool) { return e.Frame.Groups(e.unended), true },
		"hostvars":                func(e *Env) (any, bool) { return hostVars{e}, true },
		"vars":                    func(e *Env) (any, bool) { return allVars{e}, true },
		"play_hosts":              list(func(e *Env) []string { return e.going(e.Frame.Scene.Batch) }),
		"ansible_play_batch":      list(func(e *Env) []string { return e.going(e.Frame.Scene.Batch) }),
		"ansible_play_hosts":      list(func(e *Env) []string { return e.going(e.Frame.Scene.Hosts) }),
		"ansible_play_hosts_all":  list(func(e *Env) []string { return e.Frame.Scene.Hosts }),
		"ansible_play_name":       text(func(e *Env) string { return e.Frame.Scene.Play }),
		"ansible_play_role_names": list(func(e *Env) []string { return e.Frame.Scene.Roles }),
		"ansible_role_names": list(func(e *Env) []string {
			names := slices.Concat(e.Frame.Scene.Roles, e.Frame.Scene.Needed)
			slices.Sort(names)
			return slices.Compact(names)
		}),
		"ansible_dependent_role_names": list(func(e *Env) []string { return e.Frame.Scene.Needed }),
		"role_names":                   list(func(e *Env) []string { return e.Frame.Scene.Roles }),
		"playbook_dir":                 text(func(e *Env) string { return e.Frame.Scene.Dir }),
		"inventory_dir": func(e *Env) (any, bool) {
			file, ok := inventoryFile(e)
			if path, is := file.(string); is && filepath.IsAbs(path) {
				return filepath.Dir(path), true
			}
			return nil, ok
		},
		"inventory_file":            inventoryFile,
		"ansible_inventory_sources": list(func(e *Env) []string { return e.Frame.Scene.Call.Inventories }),
		"ansible_config_file":       called("ansible_config_file"),
		"environment":               (*Env).environment,
		"ansible_delegated_vars":    (*Env).delegatedVars,
		"role_name":                 inRole(func(r *vars.Role) any { return r.Name }),
		"ansible_role_name":         inRole(func(r *vars.Role) any { return r.FullName() }),
		"ansible_collection_name": inRole(func(r *vars.Role) any {
			if r.Collection == "" {
				return nil
			}
			return r.Collection
		}),
		"role_path":                 inRole(func(r *vars.Role) any { return r.Dir }),
		"ansible_parent_role_names": parents((*vars.Role).FullName),
		"ansible_parent_role_paths": parents(func(r *vars.Role) string { return r.Dir }),
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
			return map[string]any{"full": AnsibleVersion, "major": 2, "minor": 16, "revision": 0, "string": AnsibleVersion}, true
		},
		"ansible_playbook_python": text(func(*Env) string { return "/usr/bin/python3" }),
		"omit":                    func(*Env) (any, bool) { return value.Omit, true },
	}
}

// inventoryFile is where the inventory has a host from. One that was added has none, and localhost is in no inventory.
func inventoryFile(e *Env) (any, bool) {
	switch host := e.Frame.Machine().Host; {
	case host == nil || host.Implicit:
		return nil, false
	case host.Source == "":
		return nil, true
	default:
		return host.Source, true
	}
}

// hostVars is the variable hostvars: of each host what it has at this moment, without what belongs to the play.
type hostVars struct{ e *Env }

// Keys implements value.Object.
func (h hostVars) Keys() []string {
	if h.e.Frame.Scene.Inventory == nil {
		return []string{h.e.Frame.Machine().Name}
	}
	return vars.HostNames(h.e.Frame.Scene.Inventory.Hosts)
}

// Get implements value.Object.
func (h hostVars) Get(key string) (any, bool) {
	m := h.e.Frame.Scene.Machines(key)
	if m == nil { // as long as steps may add it, it is not known rather than missing
		steps := h.e.Frame.AddersOf(key, h.e.unended)
		return value.Unknown{Steps: steps}, len(steps) > 0
	}
	return hostVarsOf{h.e.as(m)}, true
}

// hostVarsOf are the variables of one host.
type hostVarsOf struct{ e *Env }

// Keys implements value.Object.
func (h hostVarsOf) Keys() []string { return keysOf(h.e) }

// Get implements value.Object.
func (h hostVarsOf) Get(key string) (any, bool) { return entryOf(h.e, key) }

// allVars is the variable vars.
type allVars struct{ e *Env }

// Keys implements value.Object.
func (v allVars) Keys() []string { return keysOf(v.e) }

// Get implements value.Object.
func (v allVars) Get(key string) (any, bool) { return entryOf(v.e, key) }

// keysOf are the names of an environment, without those that hold all others.
func keysOf(e *Env) []string {
	return slices.DeleteFunc(slices.Compact(e.Names()),
		func(name string) bool {
			return name == "vars" || name == "hostvars" || name == "omit" || e.Frame.OwnFact(name)
		})
}

func entryOf(e *Env, key string) (any, bool) {
	// Otherwise each would hold itself without end.
	if key == "vars" || key == "hostvars" {
		return nil, false
	}
	// As with Ansible, what only the task knows about how it is done is not among them.
	if vars.WayNames[key] != nil {
		return e.Find(key)
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

// LookoutOf is the place as far as the play and the roles around say it.
func LookoutOf(sc *vars.Scene) source.Lookout {
	l := source.Lookout{Dir: sc.Dir, Play: sc.Dir, Steps: sc.Steps}
	for r := sc.Role; r != nil; r = r.Parent {
		l.Roles = append(l.Roles, r.Dir)
	}
	return l
}
