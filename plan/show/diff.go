package show

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"moon/internal/termtext"
	"moon/plan"
)

// Difference is what changed from one plan to another.
type Difference struct {
	Format    int           `json:"format"`
	Old       DiffSide      `json:"old"`
	New       DiffSide      `json:"new"`
	Added     []DiffStep    `json:"added"`
	Removed   []DiffStep    `json:"removed"`
	Changed   []DiffStep    `json:"changed"` // same path, other content
	Moved     []DiffStep    `json:"moved"`   // same content at another path, or in another order
	Scopes    []DiffStep    `json:"scopes"`  // includes, blocks and loops whose own settings changed
	Vars      []FieldChange `json:"vars"`
	Settings  []FieldChange `json:"settings"`
	Inputs    []FieldChange `json:"inputs"` // files, with their digests
	Unchanged int           `json:"unchanged"`
}

// DiffSide names one of the two plans.
type DiffSide struct {
	Digest   string `json:"digest"`
	RootFile string `json:"root_file"`
	Steps    int    `json:"steps"`
}

// DiffStep is a step, or a scope, in a difference.
type DiffStep struct {
	Path    string        `json:"path"`
	OldPath string        `json:"old_path,omitempty"` // where it differs
	ID      string        `json:"id,omitempty"`
	OldID   string        `json:"old_id,omitempty"`
	Title   string        `json:"title"`
	At      string        `json:"at"` // file:line
	Fields  []FieldChange `json:"fields,omitempty"`

	index int // among the new steps
}

// FieldChange is one field. A side that has no such field is null.
type FieldChange struct {
	Field string  `json:"field"`
	Old   *string `json:"old"`
	New   *string `json:"new"`
}

// Diff compares two plans, by the paths of their steps.
func Diff(old, now *Comparable) *Difference {
	d := &Difference{
		Format: 1, Old: sideOf(old), New: sideOf(now), Added: []DiffStep{}, Removed: []DiffStep{}, Changed: []DiffStep{},
		Moved:  []DiffStep{},
		Scopes: []DiffStep{}, Vars: fieldChanges(old.Vars, now.Vars), Settings: fieldChanges(old.Settings, now.Settings),
		Inputs: fieldChanges(old.Inputs, now.Inputs),
	}
	// Paths begin with the playbook's name, which may have changed.
	at := make(map[string]int, len(old.Steps))
	for i := range old.Steps {
		at[renamedRoot(old, now, old.Steps[i].Path)] = i
	}
	pairs, order := make([]int, len(now.Steps)), []int{} // per new step its old one; those in the new order
	kept := make([]bool, len(old.Steps))
	var added []int
	for i := range now.Steps {
		o, ok := at[now.Steps[i].Path]
		if !ok {
			pairs[i] = -1
			added = append(added, i)
			continue
		}
		pairs[i], kept[o] = o, true
		order = append(order, o)
	}
	// Before the additions are reported, as some are moved steps.
	elsewhere := d.findRelocated(old, now, added, kept)
	still := inOrder(order)
	for i := range now.Steps {
		s := &now.Steps[i]
		if pairs[i] < 0 {
			if !elsewhere[i] {
				d.Added = append(d.Added, diffStep(s))
			}
			continue
		}
		o := &old.Steps[pairs[i]]
		step := diffStep(s)
		step.OldID, step.index = o.ID, i
		// A step has moved only if it left the order that most others keep.
		moved := !still[pairs[i]]
		if moved {
			d.Moved = append(d.Moved, step)
		}
		if o.Digest != s.Digest || !maps.Equal(o.Fields, s.Fields) {
			step.Fields = fieldChanges(o.Fields, s.Fields)
			d.Changed = append(d.Changed, step)
		} else if !moved {
			d.Unchanged++
		}
	}
	for o, ok := range kept {
		if !ok {
			d.Removed = append(d.Removed, diffStep(&old.Steps[o]))
		}
	}
	slices.SortFunc(d.Moved, func(a, b DiffStep) int { return a.index - b.index })
	d.compareScopes(old, now)
	return d
}

func sideOf(c *Comparable) DiffSide { return DiffSide{c.Digest, c.RootFile, len(c.Steps)} }

func diffStep(c *Compared) DiffStep {
	return DiffStep{Path: c.Path, ID: c.ID, Title: c.Title, At: c.At}
}

// renamedRoot is the path an old step has now, if only the playbook's file was renamed.
func renamedRoot(old, now *Comparable, path string) string {
	if rest, ok := strings.CutPrefix(path, old.RootFile+"/"); ok {
		return now.RootFile + "/" + rest
	}
	return path
}

// findRelocated finds removed steps that were added at another path with the same content, in order, and marks them kept.
func (d *Difference) findRelocated(old, now *Comparable, added []int, kept []bool) map[int]bool {
	gone := map[string][]int{}
	for o, ok := range kept {
		if digest := old.Steps[o].Digest; !ok && digest != "" {
			gone[digest] = append(gone[digest], o)
		}
	}
	found := map[int]bool{}
	// Equal steps are paired in their order, so that the result does not depend on chance.
	for _, i := range added {
		s := &now.Steps[i]
		candidates := gone[s.Digest]
		if len(candidates) == 0 {
			continue
		}
		o := candidates[0]
		gone[s.Digest] = candidates[1:]
		kept[o], found[i] = true, true
		step := diffStep(s)
		step.OldPath, step.OldID, step.index = old.Steps[o].Path, old.Steps[o].ID, i
		step.Fields = fieldChanges(old.Steps[o].Fields, s.Fields)
		d.Moved = append(d.Moved, step)
	}
	return found
}

// inOrder picks the longest ascending part of a list without repetitions: what is not in it has moved.
func inOrder(list []int) map[int]bool {
	var ends []int // ends[n] is the index in list of the smallest end of an ascending part of n+1 members
	before := make([]int, len(list))
	for i, v := range list {
		// The longest part that v can be behind. Equal numbers do not occur, so it ends with a smaller one.
		n := sort.Search(len(ends), func(k int) bool { return list[ends[k]] >= v })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	still := make(map[int]bool, len(ends))
	if len(ends) > 0 {
		// Back from the end through the predecessors.
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			still[list[i]] = true
		}
	}
	return still
}

func (d *Difference) compareScopes(old, now *Comparable) {
	at := make(map[string]*Compared, len(old.Scopes))
	for i := range old.Scopes {
		at[renamedRoot(old, now, old.Scopes[i].Path)] = &old.Scopes[i]
	}
	// Those that are in one of the plans only are not listed: their steps are, as added or removed.
	for i := range now.Scopes {
		s := &now.Scopes[i]
		if o, ok := at[s.Path]; ok && !maps.Equal(o.Fields, s.Fields) {
			step := diffStep(s)
			step.Fields = fieldChanges(o.Fields, s.Fields)
			d.Scopes = append(d.Scopes, step)
		}
	}
}

func fieldChanges(old, now map[string]string) []FieldChange {
	names := map[string]bool{}
	for name := range old {
		names[name] = true
	}
	for name := range now {
		names[name] = true
	}
	list := []FieldChange{} // not nil: the document has an empty list then
	for _, name := range slices.Sorted(maps.Keys(names)) {
		o, inOld := old[name]
		n, inNew := now[name]
		if inOld == inNew && o == n {
			continue
		}
		c := FieldChange{Field: name}
		if inOld {
			c.Old = &o
		}
		if inNew {
			c.New = &n
		}
		list = append(list, c)
	}
	return list
}

// JSON is the difference as a document, indented, with a newline at its end.
func (d *Difference) JSON() ([]byte, error) {
	out, err := json.MarshalIndent(d, "", "  ")
	return append(out, '\n'), err
}

// Write prints the difference for people. width is that of the terminal in cells; 0 cuts nothing.
func (d *Difference) Write(w io.Writer, width int) error {
	t := &diffText{width: width}
	t.linef("%s: plan %s → %s: plan %s", d.Old.RootFile, shortDigest(d.Old.Digest), d.New.RootFile, shortDigest(d.New.Digest))
	for _, s := range d.Added {
		t.writeHead("+", s)
	}
	for _, s := range d.Removed {
		t.writeHead("-", s)
	}
	for _, s := range d.Changed {
		t.writeHead("~", s)
		t.writeFields(s.Fields, "      ")
		if len(s.Fields) == 0 {
			t.linef("      content not shown: it holds a secret, or no_log hides it")
		}
	}
	for _, s := range d.Moved {
		t.writeHead(">", s)
		from := "was " + s.OldID
		if s.OldPath != "" {
			from += ", " + s.OldPath
		}
		t.linef("      %s", from)
		t.writeFields(s.Fields, "      ")
	}
	for _, s := range d.Scopes {
		t.writeHead("~", s)
		t.writeFields(s.Fields, "      ")
	}
	t.writeSection("playbook", d.Settings)
	t.writeSection("variables", d.Vars)
	t.writeFiles(d.Inputs)
	t.linef("")
	t.linef("%s", d.Summary())
	_, err := io.WriteString(w, t.out.String())
	return err
}

// Summary says in a line how much is different.
func (d *Difference) Summary() string {
	// Files do not count: a comment in one of them changes nothing of the plan.
	if slices.Max([]int{len(d.Added), len(d.Removed), len(d.Changed), len(d.Moved), len(d.Scopes), len(d.Vars), len(d.Settings)}) == 0 {
		return fmt.Sprintf("no difference in %s", plan.CountOf(d.Unchanged, "step"))
	}
	return fmt.Sprintf("%d added, %d removed, %d changed, %d moved, %d unchanged", len(d.Added), len(d.Removed), len(d.Changed),
		len(d.Moved), d.Unchanged)
}

func shortDigest(digest string) string { return digest[:min(len(digest), 12)] }

type diffText struct {
	width int
	out   strings.Builder
}

func (t *diffText) linef(format string, args ...any) {
	// Names and values are those of playbooks, and may hold whatever would steer a terminal.
	t.out.WriteString(cutTo(termtext.CleanName(fmt.Sprintf(format, args...)), t.width) + "\n")
}

func (t *diffText) writeHead(mark string, s DiffStep) {
	t.linef("")
	id := s.ID
	if id != "" {
		id += "  "
	}
	t.linef("  %s %s%s  %s", mark, id, s.Title, s.At)
}

func (t *diffText) writeSection(title string, changes []FieldChange) {
	if len(changes) == 0 {
		return
	}
	t.linef("")
	t.linef("  %s", title)
	t.writeFields(changes, "    ")
}

// diffLimit is the size of both sides of a text together, in bytes, above which only their sizes are given.
const diffLimit = 1 << 20

// writeFields prints each change on a line; text of several lines as a unified diff.
func (t *diffText) writeFields(changes []FieldChange, indent string) {
	// Several fields may be about one file; they are said in one sentence.
	for _, c := range changes {
		if said, ok := c.ofFile(changes); ok {
			if said != "" {
				t.linef("%s%s", indent, said)
			}
			continue
		}
		if old, now := sideText(c.Old), sideText(c.New); !strings.Contains(old+now, "\n") {
			t.linef("%s%s: %s → %s", indent, c.Field, old, now)
			continue
		} else if len(old)+len(now) > diffLimit {
			// A diff of large texts takes long and helps no one.
			t.linef("%s%s: %d bytes → %d bytes", indent, c.Field, len(old), len(now))
			continue
		}
		t.linef("%s%s:", indent, c.Field)
		var old, now string
		if c.Old != nil {
			// Without a newline at the end the last lines would differ in the diff.
			old = endLine(*c.Old)
		}
		if c.New != nil {
			now = endLine(*c.New)
		}
		diff := udiff.Unified("old", "new", old, now)
		if diff == "" {
			t.linef("%s  only the newline at its end", indent)
		}
		for line := range strings.Lines(diff) {
			t.linef("%s  %s", indent, strings.TrimSuffix(line, "\n"))
		}
	}
}

// ofFile says in words what is different of a file that a step reads, or of what its template comes to: digests say nothing to people.
// It is not ok for another field.
func (c FieldChange) ofFile(all []FieldChange) (said string, ok bool) {
	if path, reads := strings.CutPrefix(c.Field, readsField); reads {
		switch {
		// Digests are compared, but only words are shown.
		case c.Old == nil:
			return path + " is now read", true
		case c.New == nil:
			return path + " is no longer read", true
		case *c.New == "not there":
			return path + " is gone", true
		case *c.Old == "not there":
			return path + " is there now", true
		}
		return path + " has changed", true
	}
	// The variables are said with the template itself.
	if c.Field != rendersField {
		return "", strings.HasPrefix(c.Field, rendersField+" with ")
	}
	var names []string
	for _, v := range all {
		if name, is := strings.CutPrefix(v.Field, rendersField+" with "); is {
			names = append(names, name)
		}
	}
	said = "template renders differently"
	if len(names) > 0 {
		said += ": " + strings.Join(names, ", ")
	}
	return said, true
}

// endLine gives text a newline at its end, so that a diff does not speak of one that is missing.
func endLine(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func sideText(text *string) string {
	if text == nil {
		return "(none)"
	}
	if *text == "" {
		return `""`
	}
	return *text
}

func (t *diffText) writeFiles(changes []FieldChange) {
	if len(changes) == 0 {
		return
	}
	t.linef("")
	t.linef("  files")
	for _, c := range changes {
		word := "edited"
		switch {
		case c.Old == nil:
			word = "now read"
		case c.New == nil:
			word = "no longer read"
		}
		t.linef("    %s: %s", c.Field, word)
	}
}
