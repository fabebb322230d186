package walk

import (
	"path/filepath"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/collection"
	"moon/plan/eval"
	"moon/plan/planner/library"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/source"
)

// Request is what a walk needs to know: where files come from, how much is read, and who is asked about it.
type Request struct {
	Library  *library.Library
	Problems *problems.Collector
	Disk     *source.Disk
	Options  *plan.Options
	// Whole reads all that is named: each file of a role, files of variables, what templates are made of. Otherwise only tasks are
	// followed, and of a role those that a task asks for.
	Whole    bool
	Visitors []Visitor
}

// Walk goes through tasks, and through what they name.
type Walk struct {
	Request
	visited map[*playbook.Task]bool
	entered map[string]bool // what has been gone into, with the roles around
	files   map[string]bool // the same without them
	again   int             // how often a file was gone into for other roles
}

// New is a walk that has been nowhere.
func New(r Request) *Walk {
	return &Walk{Request: r, visited: map[*playbook.Task]bool{}, entered: map[string]bool{}, files: map[string]bool{}}
}

// mostAgain is how often files are gone into for other roles around. What a task names may be found elsewhere then; but roles that
// depend on each other in many ways would lead to the same files without end.
const mostAgain = 5000

// enterOnce reports whether a file or a role has yet to be gone into at a place.
func (w *Walk) enterOnce(what string, v playbook.Value, at Place) bool {
	key := what + "\x00" + strings.Join(at.Roles, "\x00")
	if w.entered[key] || w.files[what] && w.again > mostAgain {
		return false
	}
	if w.files[what] {
		if w.again++; w.again > mostAgain {
			w.Problems.Report(diag.Diagnostic{
				Severity: diag.Warning, Pos: v.Pos(), Width: plan.Width(v), Chain: at.Chain,
				Message: "roles lead to the same files in too many ways: from here on each file is looked at once",
				Hint:    "have each role name what it depends on once",
			})
			return false
		}
	}
	w.entered[key], w.files[what] = true, true
	return true
}

// Playbook goes through a playbook, and through those that it imports. Steps says what form it has.
func (w *Walk) Playbook(path string, at Place) (steps bool) {
	pb, err := w.Library.LoadSteps(path)
	if err != nil {
		return false // planning says so
	}
	at.File = pb.File
	at.Steps = pb.Plays == nil
	w.Library.Enter(library.Opened{Path: path}, pb.File.Name, 0)
	defer w.Library.Leave()
	w.walkSteps(pb, at)
	at.In = w.Library.CollectionOf(pb.File.Path, "")
	for _, pl := range pb.Plays {
		w.Play(pl, at)
	}
	w.tellVisitors(func(v Visitor) { v.VisitDirectory(at.Root) })
	return at.Steps
}

func (w *Walk) tellVisitors(do func(Visitor)) {
	for _, v := range w.Visitors {
		do(v)
	}
}

// walkSteps goes through what is in a file of steps.
func (w *Walk) walkSteps(pb *playbook.Playbook, at Place) {
	w.showTemplates(pb.Vars, at)
	if w.Whole {
		for _, v := range pb.VarsFiles {
			w.walkVarsFiles([]playbook.Value{v}, at)
		}
	}
	w.Tasks(pb.Tasks, at)
	w.Tasks(pb.Handlers, at.ofHandlers())
}

// taskLists are the keys of a play that hold tasks.
var taskLists = map[string]bool{"pre_tasks": true, "roles": true, "tasks": true, "post_tasks": true, "handlers": true}

// Play goes through a play, or through the plays that it imports.
func (w *Walk) Play(pl *playbook.Play, at Place) {
	w.tellVisitors(func(v Visitor) { v.VisitPlay(pl, at) })
	for _, e := range pl.Keys {
		if !taskLists[e.Key] && e.Key != "when" {
			w.showTemplates(e.Value, at)
		}
	}
	w.showConditions(pl.When, at)
	if !pl.Import.IsZero() {
		w.walkImport(pl, at)
		return
	}
	if w.Whole {
		for _, choice := range pl.VarsFiles {
			w.walkVarsFiles(choice, at)
		}
	}
	at.Collections = collection.Searched(at.In, pl.Collections)
	for _, list := range [][]*playbook.Task{pl.PreTasks, pl.Roles, pl.Tasks, pl.PostTasks} {
		w.Tasks(list, at)
	}
	w.Tasks(pl.Handlers, at.ofHandlers()) // what nothing notifies is not planned
}

func (w *Walk) walkImport(pl *playbook.Play, at Place) {
	name, ok := w.writtenName(pl.Import, "the playbook", at)
	if !ok {
		return
	}
	path, of := w.Library.LocatePlaybook(name, at.Dir, at.In)
	f, plays, err := w.Library.LoadPlays(path)
	if err != nil {
		w.showMissing(Missing{Key: "import_playbook", Value: pl.Import, Path: path, Err: err}, at)
		return
	}
	if !w.enterOnce("playbook "+path, pl.Import, at) {
		return
	}
	inside := at.insideFile(f, filepath.Dir(path), chainLink(pl.Pos))
	inside.Play, inside.In = inside.Dir, of
	for _, inner := range plays {
		w.Play(inner, inside)
	}
}

// Tasks goes through tasks, and through what is inside them.
func (w *Walk) Tasks(list []*playbook.Task, at Place) {
	for _, t := range list {
		at := at
		if t.PlayTask != nil && len(t.Collections) > 0 {
			at.Collections = collection.Searched("", t.Collections)
		}
		t = w.Library.ResolveModule(t, at.Collections)
		if !w.visited[t] {
			w.visited[t] = true
			w.tellVisitors(func(v Visitor) { v.VisitTask(t, at) })
			w.walkKeys(t, at)
		}
		switch t.Kind {
		case playbook.Action:
			if w.Whole {
				w.walkDocument(t, at)
			}
		case playbook.Block:
			for _, part := range t.Parts() {
				w.Tasks(part.Tasks, at.perhaps(dependsOnValues(t, at)))
			}
		case playbook.Include:
			w.walkInclude(t, at)
		case playbook.Role:
			w.walkRole(t, at)
		case playbook.Preset:
			w.walkPreset(t, at)
		case playbook.IncludeVars:
			if w.Whole {
				w.walkIncludeVars(t, at)
			}
		case playbook.Vars:
		}
	}
}

// dependsOnValues reports whether values decide if planning goes into a task: what is imported by a play is always there, and so are the
// rounds of a loop whose items are written out.
func dependsOnValues(t *playbook.Task, at Place) bool {
	written := t.Loop.Over.Kind() == playbook.List && len(t.Loop.Over.Items()) > 0 && !plan.TemplatedIn(t.Loop.Over)
	return t.Dynamic || at.Steps && (len(t.When) > 0 || t.Loop.Kind != playbook.NoLoop && !written)
}

// keysElsewhere are the keys of a task whose values are not looked at as templates: conditions, and the tasks of blocks.
var keysElsewhere = map[string]bool{
	"when": true, "until": true, "failed_when": true, "changed_when": true, "break_when": true, "ignore_errors": true,
	"block": true, "rescue": true, "always": true,
}

// walkKeys shows what is written under the keys of a task.
func (w *Walk) walkKeys(t *playbook.Task, at Place) {
	for _, e := range t.Keys {
		if !keysElsewhere[e.Key] && !e.NoText {
			w.showTemplates(e.Value, at)
		}
	}
	for _, list := range [][]playbook.Value{t.When, t.ChangedWhen, t.FailedWhen, t.Until, t.BreakWhen, {t.Ignore}} {
		w.showConditions(list, at)
	}
	// What an assertion asserts are conditions too, although it is an argument.
	if that, ok := t.Args.Get("that"); ok && t.Action == "assert" {
		if that.Kind() == playbook.List {
			w.showConditions(that.Items(), at)
		} else {
			w.showConditions([]playbook.Value{that}, at)
		}
	}
}

// showConditions shows each text among some conditions.
func (w *Walk) showConditions(values []playbook.Value, at Place) {
	for i, one := range values {
		at.Behind = i > 0 && !at.Steps
		if one.Kind() == playbook.String && !one.Encrypted() && strings.TrimSpace(one.Text()) != "" {
			w.tellVisitors(func(v Visitor) { v.VisitCondition(one, at) })
		}
	}
}

// showTemplates shows each text below a value that is a template.
func (w *Walk) showTemplates(of playbook.Value, at Place) {
	switch of.Kind() {
	case playbook.String:
		if !of.Literal() && eval.Templated(of.Text()) {
			w.tellVisitors(func(v Visitor) { v.VisitTemplate(of, at) })
		}
	case playbook.List:
		for _, item := range of.Items() {
			w.showTemplates(item, at)
		}
	case playbook.Map:
		for _, e := range of.Entries() {
			w.showTemplates(e.Value, at)
		}
	case playbook.Null, playbook.Bool, playbook.Int, playbook.Float:
	}
}
