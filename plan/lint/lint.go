package lint

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/planner/library"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/walk"
	"moon/secret"
)

// Rule is something that is looked for.
type Rule struct {
	ID       string
	About    string
	Fixes    bool // moon can fix it
	Optional bool // it is looked for only if it is asked for

	play      func(r *report, pl *playbook.Play)
	task      func(r *report, t *playbook.Task)
	condition func(r *report, v playbook.Value)
	template  func(r *report, v playbook.Value)
}

// Finding is a place that a rule has something to say about.
type Finding struct {
	Rule string
	diag.Diagnostic
	Path string // of the file
	Edit *Edit  // nil: a person has to
}

// Edit replaces a text on a line.
type Edit struct {
	Line, Column int // of the text, from 1, in characters
	Old, New     string
	Drop         bool  // the line as well
	Also         *Edit // made with it, or neither
}

// replacing is the edit that puts a text in the place of another.
func replacing(pos diag.Pos, old, with string) *Edit {
	return &Edit{Line: pos.Line, Column: pos.Column, Old: old, New: with}
}

// Result is what was found in a playbook and in all that it names.
type Result struct {
	Findings []Finding
	Problems diag.List // why it cannot be read; nothing was looked at then
	Errors   int       // mistakes that were met on the way, behind which there may be more to find
}

// Run looks at a playbook with some of the rules.
func Run(o plan.Options, rules []Rule) Result {
	path := o.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.Dir, path)
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(real, filepath.Base(path))
	}
	root := filepath.Dir(path)
	p := &plan.Plan{Root: root, Basis: &plan.Basis{O: o}}
	disk, found := source.NewDisk(o.Stdin), problems.New(p)
	lib := library.New(library.Request{
		Plan: p, Problems: found, Disk: disk, Secrets: secret.NewSet(), Options: &o, WasRead: func([]byte) {}, Sealed: true,
	})
	v := &visitor{rules: rules, library: lib, root: root, seen: map[string]bool{}}
	walk.New(walk.Request{Library: lib, Problems: found, Disk: disk, Options: &o, Whole: true, Visitors: []walk.Visitor{v}}).
		Playbook(path, walk.Place{Lookout: source.Lookout{Dir: root, Play: root, Root: root}})
	if !v.any && found.Found.HasErrors() {
		return Result{Problems: found.Found}
	}
	if !v.any {
		found.Found.Add(diag.Diagnostic{
			Pos: diag.Pos{File: plan.ShownPath(root, path)}, Message: "it has no plays, tasks or steps to look at", Hint: "name a playbook",
		})
		return Result{Problems: found.Found}
	}
	slices.SortStableFunc(v.findings, func(a, b Finding) int {
		if c := strings.Compare(a.Pos.File, b.Pos.File); c != 0 {
			return c
		}
		return (a.Pos.Line-b.Pos.Line)*1000 + a.Pos.Column - b.Pos.Column
	})
	return Result{Findings: v.findings, Errors: found.Found.Count(diag.Error)}
}

// visitor gives the rules what the walk meets.
type visitor struct {
	walk.Unmoved
	rules    []Rule
	library  *library.Library
	root     string
	findings []Finding
	seen     map[string]bool // what was said, as files are gone into again
	any      bool

	plays bool // it is a playbook of plays
	free  bool // the play runs its hosts without waiting
	task  *playbook.Task
}

// report is where a rule says what it has found.
type report struct {
	*visitor
	rule string
}

// VisitPlay notes what the tasks of a play are in.
func (v *visitor) VisitPlay(pl *playbook.Play, _ walk.Place) {
	v.plays, v.any, v.task = true, true, nil
	v.free = pl.Strategy.Text() == "free"
	for _, rule := range v.rules {
		if rule.play != nil {
			rule.play(&report{v, rule.ID}, pl)
		}
	}
}

// VisitTask has the rules look at a task.
func (v *visitor) VisitTask(t *playbook.Task, _ walk.Place) {
	v.any, v.task = true, t
	for _, rule := range v.rules {
		if rule.task != nil {
			rule.task(&report{v, rule.ID}, t)
		}
	}
}

// VisitCondition has the rules look at a condition.
func (v *visitor) VisitCondition(text playbook.Value, _ walk.Place) {
	for _, rule := range v.rules {
		if rule.condition != nil {
			rule.condition(&report{v, rule.ID}, text)
		}
	}
}

// VisitTemplate has the rules look at a template.
func (v *visitor) VisitTemplate(text playbook.Value, _ walk.Place) {
	for _, rule := range v.rules {
		if rule.template != nil {
			rule.template(&report{v, rule.ID}, text)
		}
	}
}

// add notes a finding, unless the file says that it is meant: with noqa on its line, or on the first line of its task.
func (r *report) add(pos diag.Pos, width int, edit *Edit, hint, message string) {
	f := r.library.Sources[pos.File]
	key := fmt.Sprint(r.rule, pos)
	if f == nil || r.seen[key] || filepath.IsAbs(pos.File) && !strings.HasPrefix(f.Path, r.root+"/") {
		return // also what was installed from elsewhere is for its authors
	}
	r.seen[key] = true
	lines := f.Lines()
	places := []int{pos.Line}
	if r.task != nil && r.task.Pos.File == pos.File && r.task.Pos.Line <= pos.Line {
		places = append(places, r.task.Pos.Line)
		for _, e := range r.task.Keys {
			if e.Key == "name" {
				places = append(places, e.Pos.Line)
			}
		}
	}
	for _, n := range places {
		if n >= 1 && n <= len(lines) && excused(lines[n-1], r.rule) {
			return
		}
	}
	d := diag.Diagnostic{Severity: diag.Warning, Pos: pos, Width: width, Message: message, Hint: hint}
	if pos.Line >= 1 && pos.Line <= len(lines) {
		d.Source = lines[pos.Line-1]
	}
	r.findings = append(r.findings, Finding{Rule: r.rule, Diagnostic: d, Path: f.Path, Edit: edit})
}

// excused reports whether a line has a comment noqa that names a rule, or none in particular.
func excused(line, rule string) bool {
	_, after, ok := strings.Cut(line, "# noqa")
	if !ok {
		return false
	}
	names := strings.FieldsFunc(after, func(r rune) bool { return r == ' ' || r == ',' || r == ':' })
	for _, name := range names {
		// As ansible-lint names them: with what was found in brackets.
		kind, _, _ := strings.Cut(name, "[")
		if name == rule || otherNames[name] == rule || otherNames[kind] == rule || kind == rule {
			return true
		}
	}
	return len(names) == 0
}

// otherNames are what ansible-lint calls the rules that have another name here.
var otherNames = map[string]string{
	"name[missing]": "name-missing", "latest[git]": "git-latest", "yaml[truthy]": "truthy", "jinja[spacing]": "jinja-spacing",
	"run-once[task]": "run-once-free", "command-instead-of-shell": "shell-without-need", "deprecated-module": "deprecated",
	"deprecated-local-action": "deprecated",
}

// argument is an argument of a task's action as written, or a key next to it.
func argument(t *playbook.Task, name string) (playbook.Value, bool) {
	for _, from := range []playbook.Value{t.Args, t.ExtraArgs} {
		if from.Kind() == playbook.Map {
			if v, ok := from.Get(name); ok {
				return v, true
			}
		}
	}
	return playbook.Value{}, false
}

// isAction reports whether a task is one of some actions.
func isAction(t *playbook.Task, names ...string) bool {
	return t.Kind == playbook.Action && slices.Contains(names, t.Action)
}

// commandText is what a task of command or shell runs; "" if that is not a text.
func commandText(t *playbook.Task) string {
	for _, name := range []string{"cmd", "_raw_params"} {
		if v, ok := argument(t, name); ok {
			return strings.TrimSpace(v.Text())
		}
	}
	if t.Args.Kind() == playbook.String {
		return strings.TrimSpace(t.Args.Text())
	}
	return ""
}
