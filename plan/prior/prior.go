package prior

import (
	"maps"
	"slices"
	"strings"
	"time"

	"moon/events"
)

// StepUndo is the type of a thing that is the effect of a step as a whole, which its `undo` takes away. Its name is the step's path.
const StepUndo = "step"

// Key tells things apart.
type Key struct {
	Host string `json:"host"`
	Type string `json:"type"`
	Name string `json:"name"`
}

// Maker is the step that has made something, at that time.
type Maker struct {
	Step   string    `json:"step"` // its path
	Title  string    `json:"title,omitempty"`
	Action string    `json:"action,omitempty"`
	File   string    `json:"file,omitempty"` // where it was written
	Line   int       `json:"line,omitempty"`
	Play   string    `json:"play,omitempty"`
	Phase  int       `json:"phase,omitempty"` // how many plays are before its own
	Run    string    `json:"run,omitempty"`
	Time   time.Time `json:"time,omitzero"`
	Become *Become   `json:"become,omitempty"`
	// Definition is the digest of the step's definition when it ended last.
	Definition string   `json:"definition,omitempty"`
	After      []string `json:"after,omitempty"` // paths of the nearest steps before it that have made something
}

// Become is the user that it ran as.
type Become struct {
	User   string `json:"user"`
	Method string `json:"method,omitempty"`
	Flags  string `json:"flags,omitempty"`
}

// Record is a line of a playbook's state: the end of a step that made something, or what became of things since.
type Record struct {
	Serial int    `json:"serial"`
	Host   string `json:"host,omitempty"` // the machine that it was done on
	Maker
	Attempt  int               `json:"attempt,omitempty"`
	Things   []events.Resource `json:"things,omitempty"`
	Undo     *events.Undo      `json:"undo,omitempty"`     // of the step, with its values
	Withheld string            `json:"withheld,omitempty"` // it has one that is not kept, and this is why

	Gone     []Key             `json:"gone,omitempty"`     // are there no longer, or are forgotten
	Moved    map[string]string `json:"moved,omitempty"`    // steps that have other paths now
	Accepted []Accepted        `json:"accepted,omitempty"` // have been edited, and are what moon takes for its own from here on
	Deposed  []Key             `json:"deposed,omitempty"`  // have been replaced, and are still there
	Whole    []Thing           `json:"whole,omitzero"`     // the whole state: what is before it does not count
	Defined  map[string]string `json:"defined,omitempty"`  // with it: State.Definitions
	Part     string            `json:"part,omitempty"`     // with it: only the things of this host are meant; "": all

	// Of records that machines share: which log they are from and their place in it, and in a whole state the last places of the hosts.
	Log  string            `json:"log,omitempty"`
	Seq  uint64            `json:"seq,omitempty"`
	Seen map[string]uint64 `json:"seen,omitempty"`
}

// Hosts are the machines that a record is about; none: it is about the playbook as a whole.
func (r *Record) Hosts() (list []string) {
	if len(r.Things) > 0 || r.Undo != nil || r.Withheld != "" || r.Definition != "" {
		list = append(list, r.Host)
	}
	for _, keys := range [][]Key{r.Gone, r.Deposed} {
		for _, k := range keys {
			list = append(list, k.Host)
		}
	}
	for _, a := range r.Accepted {
		list = append(list, a.Host)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Only is what a record says of one of its hosts.
func (r *Record) Only(host string) Record {
	one := *r
	other := func(k Key) bool { return k.Host != host }
	one.Gone, one.Deposed = slices.DeleteFunc(slices.Clone(r.Gone), other), slices.DeleteFunc(slices.Clone(r.Deposed), other)
	one.Accepted = slices.DeleteFunc(slices.Clone(r.Accepted), func(a Accepted) bool { return a.Host != host })
	if r.Host != host {
		one.Things, one.Undo, one.Withheld, one.Definition = nil, nil, "", ""
	}
	return one
}

// Accepted is a thing that holds something else than moon left there.
type Accepted struct {
	Key
	Digest string `json:"digest"`
}

// Thing is what a playbook has made and not removed again.
type Thing struct {
	events.Resource
	Host string `json:"host"`
	// Created says that it was not there before the playbook made it, whatever the last change was.
	Created bool `json:"created,omitempty"`
	Maker        // that has created it, or has changed it first
	// Others are the paths of the steps that have changed it since.
	Others   []string `json:"others,omitempty"`
	Withheld string   `json:"withheld,omitempty"` // of a step: it has an undo that is not kept, and this is why
	Deposed  bool     `json:"deposed,omitempty"`  // something else has taken its place under the same step
}

// PartOf is the state of one host as a record that stands for all that was before.
func (s *State) PartOf(host string) Record {
	r := Record{Part: host, Whole: []Thing{}, Defined: map[string]string{}}
	for i := range s.Things {
		t := &s.Things[i]
		if t.Host != host {
			continue
		}
		r.Whole = append(r.Whole, *t)
		for _, step := range t.By() {
			if digest, has := s.Definitions[step]; has {
				r.Defined[step] = digest
			}
		}
	}
	return r
}

// Key is what it is known by.
func (t *Thing) Key() Key { return Key{t.Host, t.Type, t.Name} }

// By are the paths of all steps that have made or changed it.
func (t *Thing) By() []string { return append([]string{t.Step}, t.Others...) }

// Accept takes what a thing holds now for what moon left there.
func (t *Thing) Accept(digest string) { t.Digest, t.Undo = digest, guarded(t.Undo, digest) }

// PartOf reports whether it was put into a file that is a thing, too, such as a line that a later step has added.
func (t *Thing) PartOf(file *Thing) bool {
	return t.Host == file.Host && file.Type == events.FileResource && t.Type != file.Type &&
		t.Undo != nil && t.Undo.Args["path"] == file.Name
}

// Removable reports whether it is known how it is taken away.
func (t *Thing) Removable() bool { return t.Created && t.Undo != nil }

// State is what the runs of a playbook have made.
type State struct {
	Serial      int // of the last record
	Things      []Thing
	Definitions map[string]string // digests of the steps that have made or changed them, as they ended last, by their paths
}

// Find returns the thing with a key, or nil.
func (s *State) Find(k Key) *Thing {
	if i := slices.IndexFunc(s.Things, func(t Thing) bool { return t.Key() == k }); i >= 0 {
		return &s.Things[i]
	}
	return nil
}

// Fold gives the state after some records, the oldest first.
func Fold(records []Record) *State {
	f := folding{at: map[Key]int{}, after: map[string][]string{}, State: State{Definitions: map[string]string{}}}
	for i := range records {
		f.add(&records[i])
	}
	f.Things = slices.DeleteFunc(f.Things, func(t Thing) bool { return t.Type == "" })
	for i := range f.Things {
		t := &f.Things[i]
		if digest, ok := f.Definitions[t.Step]; ok {
			t.Definition = digest
		}
	}
	f.bridge()
	return &f.State
}

// bridge lets what was made upon something that is gone be upon what that was made on: the order in which the rest goes must not get lost.
func (f *folding) bridge() {
	there := map[string]bool{}
	for i := range f.Things {
		there[f.Things[i].Step] = true
	}
	for i := range f.Things {
		t := &f.Things[i]
		if !slices.ContainsFunc(t.After, func(step string) bool { return !there[step] }) {
			continue
		}
		var nearest []string
		seen := map[string]bool{t.Step: true}
		for todo := slices.Clone(t.After); len(todo) > 0; {
			step := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			switch {
			case seen[step]:
			case there[step]:
				nearest = append(nearest, step)
			default:
				todo = append(todo, f.after[step]...)
			}
			seen[step] = true
		}
		slices.Sort(nearest)
		t.After = nearest
	}
}

// folding is a state in the making. What is gone has no type, and keeps its place until the end.
type folding struct {
	State
	at    map[Key]int
	after map[string][]string // of all steps that there ever were: the steps before them
}

func (f *folding) add(r *Record) {
	f.Serial = max(f.Serial, r.Serial)
	if r.Whole != nil {
		f.replace(r)
	}
	if len(r.Things) > 0 || r.Undo != nil || r.Withheld != "" {
		f.after[r.Step] = r.After
	}
	f.rename(r.Moved)
	if r.Definition != "" {
		f.Definitions[r.Step] = r.Definition
	}
	for _, a := range r.Accepted {
		if i, ok := f.at[a.Key]; ok {
			f.Things[i].Accept(a.Digest)
		}
	}
	for _, k := range r.Deposed {
		if i, ok := f.at[k]; ok {
			f.Things[i].Deposed = true
		}
	}
	for _, thing := range r.Things {
		f.change(r, thing)
	}
	// After the things: the removal of what was half removed already reports an update, which must not record it again.
	for _, k := range r.Gone {
		f.remove(k)
	}
	if r.Undo == nil && r.Withheld == "" {
		return
	}
	// What the step does now is undone as it says now.
	k := Key{r.Host, StepUndo, r.Step}
	f.remove(k)
	f.put(k, Thing{
		Resource: events.Resource{Type: k.Type, Name: k.Name, Change: events.ChangeCreate, Undo: r.Undo},
		Host:     r.Host, Created: true, Maker: r.Maker, Withheld: r.Withheld,
	})
}

// replace has a whole state, or that of one host, take the place of what was before it.
func (f *folding) replace(r *Record) {
	for i := range f.Things {
		if t := &f.Things[i]; t.Type != "" && (r.Part == "" || t.Host == r.Part) {
			f.remove(t.Key())
		}
	}
	for _, t := range r.Whole {
		f.after[t.Step] = t.After
		f.put(t.Key(), t)
	}
	maps.Copy(f.Definitions, r.Defined)
}

func (f *folding) put(k Key, t Thing) {
	f.at[k] = len(f.Things)
	f.Things = append(f.Things, t)
}

func (f *folding) remove(k Key) {
	if i, ok := f.at[k]; ok {
		delete(f.at, k)
		f.Things[i].Type = ""
	}
}

// change takes in what a step did to one thing.
func (f *folding) change(r *Record, now events.Resource) {
	k := Key{r.Host, now.Type, now.Name}
	i, known := f.at[k]
	switch {
	case now.Change == events.ChangeDelete:
		f.remove(k)
		f.removeBelow(k)
	case !known || now.Change == events.ChangeCreate: // again, of what somebody has removed since
		f.remove(k)
		f.put(k, Thing{Resource: now, Host: r.Host, Created: now.Change == events.ChangeCreate, Maker: r.Maker})
	default:
		t := &f.Things[i]
		t.Deposed = false
		if now.Digest != "" {
			t.Digest = now.Digest
		}
		t.Undo = guarded(t.Undo, now.Digest)
		if t.Step != r.Step && !slices.Contains(t.Others, r.Step) {
			t.Others = append(t.Others, r.Step)
		}
	}
}

// removeBelow takes away with a directory what runs have made in it, and with a user what was written down of the home.
func (f *folding) removeBelow(dir Key) {
	if dir.Type != events.FileResource {
		return
	}
	for i := range f.Things {
		t := &f.Things[i]
		if t.Host == dir.Host && t.Type == dir.Type && strings.HasPrefix(t.Name, dir.Name+"/") {
			f.remove(t.Key())
		}
	}
}

// rename gives steps their new paths.
func (f *folding) rename(moved map[string]string) {
	if len(moved) == 0 {
		return
	}
	clear(f.at)
	after, digests := map[string][]string{}, map[string]string{}
	for step, before := range f.after {
		after[renamed(step, moved)] = allRenamed(before, moved)
	}
	for step, digest := range f.Definitions {
		digests[renamed(step, moved)] = digest
	}
	f.after, f.Definitions = after, digests
	for i := range f.Things {
		if t := &f.Things[i]; t.Type != "" {
			t.rename(moved)
			f.at[t.Key()] = i
		}
	}
}

// rename gives the steps of a thing their new paths.
func (t *Thing) rename(moved map[string]string) {
	t.Step, t.Others, t.After = renamed(t.Step, moved), allRenamed(t.Others, moved), allRenamed(t.After, moved)
	if t.Type == StepUndo {
		t.Name = renamed(t.Name, moved)
	}
}

func renamed(path string, moved map[string]string) string {
	if now, ok := moved[path]; ok {
		return now
	}
	return path
}

// allRenamed makes a list of its own: the records share theirs.
func allRenamed(paths []string, moved map[string]string) []string {
	paths = slices.Clone(paths)
	for i := range paths {
		paths[i] = renamed(paths[i], moved)
	}
	return paths
}

// guarded is an undo of what holds something else now, which is all that it may remove.
func guarded(u *events.Undo, digest string) *events.Undo {
	if u == nil || digest == "" || u.Args[guard] == nil {
		return u
	}
	now := *u
	now.Args = maps.Clone(u.Args)
	now.Args[guard] = digest
	return &now
}

// guard is the argument of a file to be removed which says what it must hold.
const guard = "checksum"

// Unguarded is an undo that removes whatever is there now; false if it has no guard.
func Unguarded(u *events.Undo) (*events.Undo, bool) {
	if u == nil || u.Args[guard] == nil {
		return u, false
	}
	now := *u
	now.Args = maps.Clone(u.Args)
	delete(now.Args, guard)
	return &now, true
}
