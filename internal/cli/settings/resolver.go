package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"moon/config"
	"moon/internal/app"
	"moon/internal/diag"
	"moon/plan"
)

// Resolver is what kong asks for flags that are not given.
type Resolver struct {
	call *app.Invocation
	read bool
	err  error
	user *config.File   // the user's own; nil: there is none
	own  []*config.File // of the project, the weakest first
	from map[string]*config.Value

	trust   map[*config.File]bool
	ansible *app.AnsibleSettings
}

// NewResolver is one for a call.
func NewResolver(call *app.Invocation) *Resolver {
	return &Resolver{call: call, from: map[string]*config.Value{}, trust: map[*config.File]bool{}}
}

// Validate implements kong.Resolver.
func (*Resolver) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver: it gives a flag the value that a file has for it, or nil.
func (r *Resolver) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if flag.Name == lightTheme {
		return r.light(), nil
	}
	s := config.Of(flag.Name)
	if s == nil || !fits(s, flag) || !takes(ctx) || kept(ctx, flag) || givenBy(s, flag) != "" {
		return nil, nil
	}
	if !r.read {
		r.read, r.err = true, r.readFiles(ctx)
	}
	if r.err != nil {
		return nil, r.err
	}
	v, err := r.choose(ctx, s)
	if v == nil || err != nil {
		return nil, err
	}
	r.from[s.Name] = v
	if v.File.Project {
		r.note(v)
	}
	return typed(v), nil
}

// lightTheme is the flag for the theme on light terminals, which comes with the other from one file.
const lightTheme = "light-theme"

func (r *Resolver) light() any {
	if v := r.from["theme"]; v != nil && v.Light != "" {
		return v.Light
	}
	return nil
}

// typed is a value as kong takes it.
func typed(v *config.Value) any {
	switch v.Setting.Kind {
	case config.List:
		list := make([]any, len(v.Items))
		for i, item := range v.Items {
			list[i] = item
		}
		return list
	case config.Bool:
		return v.Items[0] == "true"
	default:
		return v.Items[0]
	}
}

// fits reports whether a flag is the setting, and not another one of that name: the --output of moon plan is a file.
func fits(s *config.Setting, flag *kong.Flag) bool {
	t := flag.Target.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch s.Kind {
	case config.List:
		return t.Kind() == reflect.Slice
	case config.Bool:
		return t.Kind() == reflect.Bool
	case config.Number:
		return t.Kind() == reflect.Int
	case config.Duration:
		return t == reflect.TypeFor[time.Duration]()
	default:
		return t.Kind() == reflect.String
	}
}

// takes reports whether a command has settings at all. One that only prints what is known must not fail by a mistake in a file of
// settings.
func takes(ctx *kong.Context) bool {
	return slices.ContainsFunc(flagsOf(ctx), func(f *kong.Flag) bool {
		return f.Name == "vault-password-file" || f.Name == "banner" || f.Name == "inventory"
	})
}

// flagsOf are the flags of the command that is called, or of a call that has none.
func flagsOf(ctx *kong.Context) []*kong.Flag {
	if command := ctx.Selected(); command != nil {
		return command.Flags
	}
	return ctx.Model.Flags
}

// nameOf is the command that is called.
func nameOf(ctx *kong.Context) string {
	if command := ctx.Selected(); command != nil {
		return command.Name
	}
	return ""
}

// kept reports whether settings must not change what a flag says: a run that is resumed has it already, and a command that asks before it
// does something asks whatever was set for playbooks.
func kept(ctx *kong.Context, flag *kong.Flag) bool {
	switch name := nameOf(ctx); {
	case flag.Name == "approve":
		return name != "run" && name != "tui" && name != "resume" && name != "config"
	case name == "resume":
		return flag.Group != nil && slices.Contains([]string{"variables", "steps", "hosts"}, flag.Group.Key)
	}
	return false
}

// givenBy is the variable of the environment that says what a setting would, or "".
func givenBy(s *config.Setting, flag *kong.Flag) string {
	for _, name := range slices.Concat(flag.Tag.Envs, []string{app.AnsibleVariable(s.Ansible)}) {
		if name != "" && os.Getenv(name) != "" {
			return name
		}
	}
	return ""
}

// readFiles reads all files that count for a call.
func (r *Resolver) readFiles(ctx *kong.Context) error {
	var list diag.List
	if dir, err := os.UserConfigDir(); err == nil {
		path := filepath.Join(dir, "moon", config.Name)
		f, wrong, err := config.Read(path, shortHome(path), false)
		if err != nil {
			return app.Usage("%s; nothing was run", err)
		}
		r.user, list = f, append(list, wrong...)
	}
	files, foreign := config.FindProject(directoryOf(ctx))
	for _, path := range foreign {
		list.Add(diag.Diagnostic{
			Severity: diag.Warning, Pos: diag.Pos{File: shownFrom(path)}, Message: "these settings are ignored: other users could have written them",
			Hint: "the file must belong to you, to root or to the owner of the playbook, and no one else may write to it or to its directory",
		})
	}
	for _, path := range files {
		f, wrong, err := config.Read(path, shownFrom(path), true)
		if err != nil {
			return app.Usage("%s; nothing was run", err)
		}
		if list = append(list, wrong...); f != nil {
			r.own = append(r.own, f)
			r.call.ProjectFiles = append(r.call.ProjectFiles, plan.Input{Path: f.Path, Digest: f.Digest})
		}
	}
	r.call.Warned = list
	if !list.HasErrors() {
		return nil
	}
	if err := list.Print(r.call.Err); err != nil {
		return err
	}
	fmt.Fprintf(r.call.Err, "\n%s; nothing was run\n", list.Summary())
	return app.NewExit(app.ExitUsage, "")
}

// directoryOf is the directory of the playbook, or of the encrypted file, that a call names, or the working directory.
func directoryOf(ctx *kong.Context) string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	for _, p := range ctx.Path {
		if p.Positional == nil || p.Positional.Name != "playbook" && p.Positional.Name != "file" {
			continue
		}
		name := fmt.Sprint(ctx.Value(p))
		if list, ok := ctx.Value(p).Interface().([]string); ok && len(list) > 0 {
			name = list[0]
		}
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() || name == "-" || name == "" { // as <(command)
			continue
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return filepath.Dir(name)
	}
	return dir
}

// shownFrom is a path as seen from here, if that is shorter.
func shownFrom(path string) string {
	dir, err := os.Getwd()
	if err != nil {
		return path
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if rel, err := filepath.Rel(dir, path); err == nil && len(rel) < len(path) {
		return rel
	}
	return path
}

// shortHome is a path with ~ for the home.
func shortHome(path string) string {
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && err == nil && home != "" {
		return "~/" + rest
	}
	return path
}

// choose is the strongest value that counts: of the project, nearest first, then the user's own, unless an ansible.cfg that is nearer says it.
func (r *Resolver) choose(ctx *kong.Context, s *config.Setting) (*config.Value, error) {
	for _, f := range slices.Backward(r.own) {
		v := f.Get(s.Name)
		if v == nil {
			continue
		}
		ok, err := r.trusted(ctx, v)
		if ok || err != nil {
			return v, err
		}
	}
	if r.user == nil || r.user.Get(s.Name) == nil {
		return nil, nil
	}
	if s.Ansible != "" && r.ansible == nil {
		set, err := app.AnsibleConfig(".")
		if err != nil {
			set = app.AnsibleSettings{} // the mistake is reported with the rest of them
		}
		r.ansible = &set
	}
	if s.Ansible != "" && r.ansible.Says(s.Ansible) {
		return nil, nil
	}
	return r.user.Get(s.Name), nil
}

// trusted reports whether a value counts.
func (r *Resolver) trusted(ctx *kong.Context, v *config.Value) (bool, error) {
	if !v.Guarded() {
		return true, nil
	}
	known, asked := r.trust[v.File]
	if !asked {
		t, err := r.call.Truster(trusts(ctx))
		if err != nil {
			return false, err
		}
		var what []string
		for _, g := range v.File.Guarded() {
			what = append(what, fmt.Sprintf("%s (line %d)", g.Setting.Name, g.Pos.Line))
		}
		file := plan.Input{Path: v.File.Path, Digest: v.File.Digest}
		known = t.Settings(v.Pos.File, strings.Join(what, ", "), file, asks(ctx))
		r.trust[v.File] = known
	}
	if !known {
		d := diag.Diagnostic{
			Severity: diag.Warning, Pos: v.Pos, Message: "`" + v.Setting.Name + "` of the project is ignored: the file is not trusted",
		}
		if !asked { // once is enough
			d.Hint = "read it; then run moon trust on the playbook, or give --trust this time only"
		}
		r.call.Warned.Add(d)
	}
	return known, nil
}

// trusts reports whether the call trusts what the project names.
func trusts(ctx *kong.Context) bool {
	if nameOf(ctx) == "trust" {
		return true
	}
	for _, f := range flagsOf(ctx) {
		if f.Name == "trust" {
			given, _ := ctx.FlagValue(f).(bool)
			return given
		}
	}
	return false
}

// asks reports whether a person may be asked: not by what only looks.
func asks(ctx *kong.Context) bool {
	return slices.Contains([]string{"run", "tui", "resume", "destroy", "plan"}, nameOf(ctx))
}

// note remembers what a project has named, for those who would start it.
func (r *Resolver) note(v *config.Value) {
	if r.call.Brought == nil {
		r.call.Brought = map[string]app.Brought{}
	}
	r.call.Brought[v.Setting.Name] = app.Brought{
		Values: v.Items, Place: v.Place(), File: plan.Input{Path: v.File.Path, Digest: v.File.Digest}, Shown: v.Pos.File,
	}
}
