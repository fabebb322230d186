package walk

import (
	"slices"

	"moon/plan/playbook"
	"moon/plan/source"
)

// Place is where tasks stand: where they look for what they name, in which file they are, and who includes it.
type Place struct {
	source.Lookout
	File  *playbook.File
	Chain []string // the places that lead to it, outermost first
	In    string   // the collection that the playbook is in; "" for none
	Maybe bool     // values decide whether the tasks are there at all: of a handler, or of what is included while a play goes on

	Handlers bool // the tasks are handlers

	Behind bool // of a condition of plays: it counts only if those before it hold
}

// insideFile is the place of what is in a file that a task names.
func (at Place) insideFile(f *playbook.File, dir, by string) Place {
	at.File, at.Dir = f, dir
	at.Chain = append(slices.Clip(at.Chain), by)
	return at
}

// ofHandlers is the place of what handlers notified by values run.
func (at Place) ofHandlers() Place {
	at.Handlers, at.Maybe = true, true
	return at
}

// perhaps is the place of what is there only if values say so.
func (at Place) perhaps(depends bool) Place {
	at.Maybe = at.Maybe || depends
	return at
}

// Missing is something that a playbook names and that cannot be read.
type Missing struct {
	Key     string         // what names it: include_tasks, vars_files, role, template …
	Value   playbook.Value // its name as written; zero for a file that belongs to a role
	Path    string         // where it would be
	Tried   []string       // of vars_files that have alternatives: where each of them would be
	Err     error          // what keeps it from being read
	Dynamic bool           // it is included while a play goes on
}

// Visitor is what a walk asks at what it comes across. Each task is visited once, however many lead to it.
type Visitor interface {
	// VisitDirectory is called for the directory of the playbook, and for that of each role.
	VisitDirectory(dir string)
	VisitPlay(pl *playbook.Play, at Place)
	// VisitTask is called before what is written under the keys of the task, and before what is inside it.
	VisitTask(t *playbook.Task, at Place)
	// VisitCondition is called for each text under a key that takes conditions.
	VisitCondition(v playbook.Value, at Place)
	// VisitTemplate is called for each text with a template, whatever the key.
	VisitTemplate(v playbook.Value, at Place)
	// VisitDocument is called for the file of a template.
	VisitDocument(f *playbook.File, at Place)
	// VisitMissing is called for what is named and cannot be read.
	VisitMissing(m Missing, at Place)
	// VisitUnnamed is called for a name that is a template, and so known only to those who plan or run: what says what it is of.
	VisitUnnamed(v playbook.Value, what string, at Place)
}

// Unmoved is a visitor that makes nothing of anything. Visitors embed it, and have methods for what they are about.
type Unmoved struct{}

// VisitDirectory does nothing.
func (Unmoved) VisitDirectory(string) {}

// VisitPlay does nothing.
func (Unmoved) VisitPlay(*playbook.Play, Place) {}

// VisitTask does nothing.
func (Unmoved) VisitTask(*playbook.Task, Place) {}

// VisitCondition does nothing.
func (Unmoved) VisitCondition(playbook.Value, Place) {}

// VisitTemplate does nothing.
func (Unmoved) VisitTemplate(playbook.Value, Place) {}

// VisitDocument does nothing.
func (Unmoved) VisitDocument(*playbook.File, Place) {}

// VisitMissing does nothing.
func (Unmoved) VisitMissing(Missing, Place) {}

// VisitUnnamed does nothing.
func (Unmoved) VisitUnnamed(playbook.Value, string, Place) {}
