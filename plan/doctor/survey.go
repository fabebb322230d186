package doctor

import (
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval"
	"moon/plan/planner"
	"moon/plan/planner/callees"
	"moon/plan/planner/library"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/walk"
	"moon/secret"
)

// Survey is what moon cannot do of a playbook: found by reading all that it names, without planning, so that one thing that is
// missing does not hide the next.
type Survey struct {
	File  string // the playbook
	Steps bool   // it is a playbook of steps
	Files int    // that were read
	Plays int
	Tasks int

	Foreign     []Foreign // modules that are not known, the most used first
	Unfollowed  diag.List // files whose names only the run knows
	Diagnostics diag.List // everything else
}

// Sound reports whether nothing was found.
func (s *Survey) Sound() bool { return len(s.Foreign) == 0 && !s.Diagnostics.HasErrors() }

// NewSurvey reads a playbook, and the playbooks, roles, tasks, variables and templates that it names. What planning it would say
// belongs to it too, and is in the list.
func NewSurvey(o plan.Options) *Survey {
	r := newReading(o)
	r.visitAll()
	// Planning stops where nothing can be planned any more, so it comes last; where both say the same, it knows the better way out.
	_, said := planner.Check(r.o, r.disk, &r.out.Unfollowed)
	r.problems.Found = append(said, r.problems.Found...)
	return r.makeSurvey()
}

// site is what rules share: where they report what they find, and what they may ask.
type site struct {
	problems *problems.Collector
	library  *library.Library
	disk     *source.Disk
	engine   *eval.Engine
	root     string // the directory of the playbook
	out      *Survey
}

// reading is a playbook while it is read.
type reading struct {
	site
	o       plan.Options
	path    string // of the playbook
	modules *modulesRule
}

func newReading(o plan.Options) *reading {
	r := &reading{o: o}
	r.path, r.root = o.Path, o.Dir
	if o.Path != "-" {
		if !filepath.IsAbs(r.path) {
			r.path = filepath.Join(o.Dir, r.path)
		}
		if real, err := filepath.EvalSymlinks(filepath.Dir(r.path)); err == nil {
			r.path = filepath.Join(real, filepath.Base(r.path))
		}
		r.root = filepath.Dir(r.path)
	}
	p := &plan.Plan{Root: r.root, Basis: &plan.Basis{O: o}}
	r.engine = eval.New()
	r.engine.Foreign = callees.New(p, &p.Basis.O)
	r.disk, r.problems, r.out = source.NewDisk(o.Stdin), problems.New(p), &Survey{File: plan.ShownPath(r.root, r.path)}
	// Planning asks for passwords, if it needs them: what is encrypted is not looked into.
	r.library = library.New(library.Request{
		Plan: p, Problems: r.problems, Disk: r.disk, Secrets: secret.NewSet(), Options: &r.o, WasRead: func([]byte) {}, Sealed: true,
	})
	return r
}

// visitAll lets the rules visit all that the playbook names.
func (r *reading) visitAll() {
	r.modules = newModulesRule(r.site)
	rules := []walk.Visitor{
		&tally{out: r.out}, r.modules, &templatesRule{site: r.site}, &lookupsRule{site: r.site}, &pluginsRule{site: r.site},
		&missingRule{site: r.site}, &namesRule{site: r.site},
	}
	w := walk.New(walk.Request{
		Library: r.library, Problems: r.problems, Disk: r.disk, Options: &r.o, Whole: true, Visitors: rules,
	})
	r.out.Steps = w.Playbook(r.path, walk.Place{Lookout: source.Lookout{Dir: r.root, Play: r.root, Root: r.root}})
}

func (r *reading) makeSurvey() *Survey {
	r.out.Foreign = r.modules.listForeign()
	found := r.problems.Found
	wrong := map[diag.Pos]string{}
	for _, d := range found {
		if d.Severity == diag.Error {
			wrong[d.Pos] = d.Message
		}
	}
	// Of a module that is not known the table says it once, and of what is certainly wrong nothing warns.
	found = slices.DeleteFunc(found, func(d diag.Diagnostic) bool {
		return r.modules.at[d.Pos] || d.Severity == diag.Warning && wrong[d.Pos] == d.Message
	})
	for i := range found {
		found[i].Chain = nil // the same mistake, whoever includes the file
	}
	for _, list := range []*diag.List{&found, &r.out.Unfollowed} {
		list.Sort()
		list.Locate(func(file string) []string {
			if f, ok := r.library.Sources[file]; ok {
				return f.Lines()
			}
			return nil
		})
	}
	r.out.Diagnostics = found
	for _, f := range r.library.Sources { // what ansible-core says of its own plugins is no part of the playbook
		if core := r.library.Core(); core == "" || !strings.HasPrefix(f.Path, core+"/") {
			r.out.Files++
		}
	}
	return r.out
}

// tally counts what is read.
type tally struct {
	walk.Unmoved
	out *Survey
}

// VisitPlay counts a play.
func (c *tally) VisitPlay(pl *playbook.Play, _ walk.Place) {
	if pl.Import.IsZero() {
		c.out.Plays++
	}
}

// VisitTask counts a task that does something.
func (c *tally) VisitTask(t *playbook.Task, _ walk.Place) {
	if t.Kind == playbook.Action {
		c.out.Tasks++
	}
}
