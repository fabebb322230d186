package saved

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/called"
	"moon/plan/eval/value"
	"moon/plan/found"
	"moon/plan/selector"
	"moon/plan/source"
)

// Sources are what a plan was made from: its files with their text, what it used of the facts, and the flags. Planning
// them again (Replay) gives the same plan, on another day and in another place. The fields are the saved form.
//
// The text of a file is left out that has a step with no_log, and so are environment variables that only such steps
// use: both must be the same when the plan is made again.
type Sources struct {
	Playbook    string                `json:"playbook"` // relative to the root; - was standard input
	ExtraVars   []string              `json:"extra_vars,omitempty"`
	VarsFiles   []string              `json:"vars_files,omitempty"`
	Tags        []string              `json:"tags,omitempty"`
	SkipTags    []string              `json:"skip_tags,omitempty"`
	Only        []string              `json:"only,omitempty"`
	Targets     []string              `json:"targets,omitempty"`
	Skip        []string              `json:"skip,omitempty"`
	StartAt     string                `json:"start_at,omitempty"`
	Overrides   []plan.Override       `json:"overrides,omitempty"`
	Opened      map[string]plan.Found `json:"opened,omitempty"`
	Plugins     []spec.Plugin         `json:"plugins,omitempty"`
	Callees     []spec.Callee         `json:"callees,omitempty"` // filters, tests and lookups in Python
	Asked       []called.Answer       `json:"asked,omitempty"`   // what these have answered
	Home        string                `json:"home,omitempty"`    // these three only if something may depend on them
	User        string                `json:"user,omitempty"`
	Presets     string                `json:"presets,omitempty"`
	Facts       map[string]any        `json:"facts,omitempty"`
	Environment map[string]string     `json:"environment,omitempty"`
	Private     []string              `json:"private_environment,omitempty"`
	Files       []SourceFile          `json:"files"`
	Links       map[string]string     `json:"links,omitempty"`
	Trees       []SourceTree          `json:"trees,omitempty"`
	Absent      []string              `json:"absent,omitempty"`
	Reads       []SourceRead          `json:"reads,omitempty"`
	Forced      bool                  `json:"force_handlers,omitempty"` // of plans of steps that earlier versions have saved
	Plays       PlaySources           `json:"plays,omitzero"`

	Imports []SourceImport `json:"imports,omitempty"`
	Moved   source.Moved   `json:"moved,omitempty"` // where directories are that the saved plan had elsewhere

	Findings map[string]found.Result `json:"findings,omitempty"` // of steps that were asked while planning, by path
	NoProbe  bool                    `json:"no_probe,omitempty"`
	Commands bool                    `json:"probe,omitempty"`

	Prior *plan.Prior `json:"prior,omitempty"` // what earlier runs had made that no step gave any more
}

// keepPrior is what a plan has of what runs have made before; nil: nothing.
func keepPrior(p *plan.Plan) *plan.Prior {
	was := p.Basis.O.Prior
	if len(was.Orphans) == 0 && len(was.Moved) == 0 && !was.Destroy {
		return nil
	}
	return &was
}

// SourceFile is a file that was read. It has either kind of text, or none if its text is kept nowhere. A run keeps a long text once for all
// its plans, and gives it back before anything else is asked.
type SourceFile struct {
	Path   string  `json:"path"`
	Digest string  `json:"digest"`
	Secret bool    `json:"secret,omitempty"` // it holds secrets: neither its text nor its digest is kept
	Text   *string `json:"text,omitempty"`
	Bytes  []byte  `json:"bytes,omitempty"`  // of a text that is not UTF-8
	Stored string  `json:"stored,omitempty"` // the name under which the run keeps the text
}

// SourceImport is what another playbook had exported.
type SourceImport struct {
	Playbook string `json:"playbook"` // relative to the root
	plan.Imported
}

// keepImports adds what other playbooks had exported.
func keepImports(p *plan.Plan, s *Sources) {
	for _, path := range plan.SortedKeys(p.Basis.O.Values.Imported) {
		shown := path
		if near, err := filepath.Rel(p.Root, path); err == nil {
			shown = near
		}
		s.Imports = append(s.Imports, SourceImport{shown, p.Basis.O.Values.Imported[path]})
	}
}

// imported are the exports that the plan was made with.
func (s *Sources) imported(abs func(string) string) map[string]plan.Imported {
	m := make(map[string]plan.Imported, len(s.Imports))
	for _, i := range s.Imports {
		m[abs(i.Playbook)] = i.Imported
	}
	return m
}

// staleImports lists the playbooks that have exported something else since. The same values from a later run are the same.
func (s *Sources) staleImports(abs func(string) string, o plan.Options, say func(format string, args ...any)) {
	if o.Outside.Exports == nil {
		return
	}
	for _, was := range s.Imports {
		now, err := o.Outside.Exports(plan.ImportRequest{Playbook: abs(was.Playbook), Shown: was.Playbook})
		if err != nil {
			say("the exports of %s cannot be read: %s", was.Playbook, err)
			continue
		}
		a, errWas := json.Marshal(was.Values)
		b, errNow := json.Marshal(now.Values)
		switch {
		case now.Unknown, errors.Join(errWas, errNow) == nil && bytes.Equal(a, b) && (was.Run == "") == (now.Run == ""):
		case now.Run == "":
			say("the exports of %s are gone", was.Playbook)
		default:
			say("the exports of %s have changed: run %s", was.Playbook, now.Run)
		}
	}
}

// TakeTexts takes the long texts out: store keeps each, and gives its name.
func (s *Sources) TakeTexts(store func(f *SourceFile, text []byte) (name string, err error)) error {
	const short = 1 << 10
	for i := range s.Files {
		f := &s.Files[i]
		text := f.Bytes
		if f.Text != nil {
			text = []byte(*f.Text)
		}
		if len(text) < short {
			continue
		}
		name, err := store(f, text)
		if err != nil {
			return err
		}
		f.Stored, f.Text, f.Bytes = name, nil, nil
	}
	return nil
}

// GiveTexts puts the texts back that TakeTexts has taken out.
func (s *Sources) GiveTexts(load func(name string) ([]byte, error)) error {
	for i := range s.Files {
		f := &s.Files[i]
		if f.Stored == "" {
			continue
		}
		text, err := load(f.Stored)
		if err != nil {
			return err
		}
		f.Stored = ""
		if utf8.Valid(text) {
			whole := string(text)
			f.Text = &whole
		} else {
			f.Bytes = text
		}
	}
	return nil
}

// SourceTree is what was below a directory: path, state, mode and size of each entry.
type SourceTree struct {
	Path    string     `json:"path"`
	Entries []treeJSON `json:"entries"`
}

// treeJSON is a line of four columns.
type treeJSON struct{ source.TreeEntry }

// MarshalJSON implements json.Marshaler.
func (t treeJSON) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{t.Path, t.State, t.Mode, t.Size})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *treeJSON) UnmarshalJSON(text []byte) error {
	columns := []any{&t.Path, &t.State, &t.Mode, &t.Size}
	if err := json.Unmarshal(text, &columns); err != nil {
		return err
	}
	if len(columns) != 4 || !strings.HasPrefix(t.Path, "/") {
		return errors.New("an entry of a tree has a path, a state, a mode and a size")
	}
	return nil
}

// WholeError says that a plan uses all facts, or all of the environment, at once. Neither can be kept with it.
type WholeError struct{ Pos diag.Pos }

func (e *WholeError) Error() string {
	return fmt.Sprintf("%s:%d: all facts or all environment variables are used at once here, which a saved plan does not keep; name those that are needed, as in `facts.os` or `env.HOME`", e.Pos.File, e.Pos.Line)
}

// Of gives what a plan was made from. The error is a *WholeError or a *SecretError.
func Of(p *plan.Plan) (s *Sources, err error) {
	m := p.Basis
	// Facts are kept by the names under which they were used: which of all at once were used cannot be said.
	if m.Facts.Whole.Line > 0 {
		return nil, &WholeError{m.Facts.Whole}
	}
	if flag := secretFlagOf(m); flag != "" {
		return nil, &SecretError{flag}
	}
	shown := func(path string) string { return plan.ShownPath(p.Root, path) }
	s = &Sources{
		Playbook: p.RootFile, Tags: m.O.Select.Tags, SkipTags: m.O.Select.SkipTags,
		Only: selector.Portable(p, m.O.Select.Only), Skip: selector.Portable(p, m.O.Select.Skip), Files: []SourceFile{},
		Targets:   selector.Portable(p, m.O.Select.Targets),
		Overrides: keepOverrides(m.O.Values.Overrides), Opened: keepOpened(p), Plugins: pluginsOf(p), Callees: calleesOf(p),
		Asked: m.Called.Answers(), Prior: keepPrior(p), Moved: m.O.Moved,
	}
	if m.O.Select.StartAt != "" {
		s.StartAt = selector.Portable(p, []string{m.O.Select.StartAt})[0]
	}
	// Paths are kept relative to the root, since a saved plan may be read in another place.
	for _, v := range m.O.Values.Extra {
		if file, ok := strings.CutPrefix(v, "@"); ok {
			v = "@" + shown(source.ResolvePath(file, m.O.Dir, m.O.Home))
		}
		s.ExtraVars = append(s.ExtraVars, v)
	}
	for _, file := range m.O.Values.Files {
		s.VarsFiles = append(s.VarsFiles, shown(source.ResolvePath(file, m.O.Dir, m.O.Home)))
	}
	for _, path := range plan.SortedKeys(m.Disk.Files) {
		f := m.Disk.Files[path]
		if f.Program != "" {
			continue // it is among the printed
		}
		file := SourceFile{Path: shown(path), Digest: f.Digest}
		switch {
		case f.Secret:
			// A digest of a file with secrets would let others try out what they are.
			file.Secret, file.Digest = true, ""
		case f.Private:
		case utf8.Valid(f.Text):
			text := string(f.Text)
			// JSON has only UTF-8; of other bytes each would become a replacement character.
			file.Text = &text
		default:
			file.Bytes = f.Text
		}
		s.Files = append(s.Files, file)
		if m.O.Presets != "" && strings.HasPrefix(path, m.O.Presets+"/") {
			s.Presets = m.O.Presets
		}
	}
	for from, to := range m.Disk.Links {
		if s.Links == nil {
			s.Links = map[string]string{}
		}
		s.Links[shown(from)] = shown(to)
		if m.O.Presets != "" && strings.HasPrefix(from, m.O.Presets+"/") {
			s.Presets = m.O.Presets
		}
	}
	for _, path := range plan.SortedKeys(m.Disk.Trees) {
		tree := SourceTree{Path: shown(cmp.Or(path, "/")), Entries: []treeJSON{}}
		for _, e := range m.Disk.Trees[path] {
			tree.Entries = append(tree.Entries, treeJSON{e})
		}
		s.Trees = append(s.Trees, tree)
	}
	for _, path := range plan.SortedKeys(m.Disk.Absent) {
		// What was looked for and not found is an input too: a file that appears may change the plan.
		s.Absent = append(s.Absent, shown(path))
	}
	s.Reads = readsOf(m, shown)
	keepFacts(m, s)
	keepFindings(m, s)
	keepImports(p, s)
	s.Plays, err = playsOf(p)
	return s, err
}

// keepFindings adds what steps have found that were asked while planning.
func keepFindings(m *plan.Basis, s *Sources) {
	s.NoProbe, s.Commands = m.O.Hosts.NoProbe, m.O.Hosts.Commands
	for path, f := range m.O.Facts.Findings {
		if f.Why != "" {
			continue
		}
		if s.Findings == nil {
			s.Findings = map[string]found.Result{}
		}
		s.Findings[path] = f
	}
}

// keepFacts adds what was used of the facts, and of the call.
func keepFacts(m *plan.Basis, s *Sources) {
	known := m.Names.FactsMap
	for name := range m.Facts.Names {
		v, ok := known[name]
		if get, costly := m.Names.Costly[name]; costly && !ok {
			v, ok = get(), true
		}
		// Facts that change are unknown in a plan, so there is nothing to keep.
		if _, changes := v.(value.Unknown); changes || !ok {
			continue
		}
		if s.Facts == nil {
			s.Facts = map[string]any{}
		}
		s.Facts[name] = v
	}
	env, _ := known["env"].(map[string]any)
	for name, shown := range m.Facts.Env {
		v, ok := env[name].(string)
		switch {
		case !ok:
		case shown && !m.Secrets.Has(v):
			if s.Environment == nil {
				s.Environment = map[string]string{}
			}
			s.Environment[name] = v
		default:
			s.Private = append(s.Private, name)
		}
	}
	// From a map, and the bytes of a saved plan are compared when it is read.
	slices.Sort(s.Private)
	// Kept only if something may depend on it: otherwise the same playbook gives every user the same file.
	if mentions(m, "~") {
		s.Home = m.O.Home
	}
	if mentions(m, "become") {
		s.User = m.O.User
	}
}

// mentions reports whether a text stands in any file, or in a flag. It is for what few playbooks have at all.
func mentions(m *plan.Basis, text string) bool {
	for _, f := range m.Disk.Files {
		if bytes.Contains(f.Text, []byte(text)) {
			return true
		}
	}
	return slices.ContainsFunc(slices.Concat(m.O.Values.Extra, m.O.Values.Files), func(s string) bool { return strings.Contains(s, text) })
}

// RestoreInputs gives the options that the plan was made with, and a disk that has nothing but what the plan has read.
func (s *Sources) RestoreInputs(root string, o plan.Options) (plan.Options, *source.Disk, error) {
	d := source.NewDisk(nil)
	d.Closed = true
	abs := s.placed(root)
	for _, f := range s.Files {
		seen := &source.FileSeen{Text: f.Bytes, Digest: f.Digest}
		switch {
		case f.Secret:
			// Of a secret nothing is kept, so it is read again and cannot be compared.
			text, err := source.ReadBounded(abs(f.Path))
			if err != nil {
				return plan.Options{}, nil, &NotKeptError{File: f.Path, Secret: true}
			}
			d.Files[abs(f.Path)] = &source.FileSeen{Text: text, Secret: true}
			continue
		case f.Text != nil:
			seen.Text = []byte(*f.Text)
		case f.Bytes == nil:
			// Without a text it is a file with no_log: the disk may give it, but only if it is what was read then.
			text, err := source.ReadBounded(abs(f.Path))
			if err != nil || source.DigestOf(text) != f.Digest {
				return plan.Options{}, nil, &NotKeptError{File: f.Path}
			}
			seen.Text, seen.Private = text, true
		}
		// A forged file must at least be consistent, and then has another digest.
		if source.DigestOf(seen.Text) != f.Digest {
			return plan.Options{}, nil, fmt.Errorf("the text of %s is not what was read", f.Path)
		}
		d.Files[abs(f.Path)] = seen
	}
	for from, to := range s.Links {
		d.Links[abs(from)] = abs(to)
	}
	for _, t := range s.Trees {
		entries := make([]source.TreeEntry, len(t.Entries))
		for i, e := range t.Entries {
			entries[i] = e.TreeEntry
		}
		d.Trees[strings.TrimSuffix(abs(t.Path), "/")] = entries
	}
	for _, path := range s.Absent {
		d.Absent[abs(path)] = true
	}
	for _, r := range s.Reads {
		d.Reads[source.ReadKey{Path: abs(r.Path), Parts: r.Parts}] = r.source(abs(r.Path))
	}
	again := s.Options(root, o)
	again.Values.Overrides = s.Overrides
	again.Opened = restoreOpened(s.Opened)
	again.Values.Imported, again.Outside.Exports = s.imported(abs), nil
	known, err := s.plugins(abs, o)
	if err != nil {
		return plan.Options{}, nil, err
	}
	again.Plugins = known
	again.Home, again.User, again.Presets = cmp.Or(s.Home, o.Home), cmp.Or(s.User, o.User), s.Moved.Here(s.Presets)
	// Costly facts that were used are among those that were kept: none may be asked for again.
	again.Facts.Here, again.Facts.Costly = s.facts(o.Facts.Here), nil
	if err := s.Plays.remembered(d, abs, o); err != nil {
		return plan.Options{}, nil, err
	}
	// Answers that are secret were not kept, and are asked for again.
	if again.Values.Answers, err = s.Plays.answered(o); err != nil {
		return plan.Options{}, nil, err
	}
	// What was to be had from outside is in the plan: nothing is asked again.
	again.Outside.Gather, again.Outside.Ask, again.Outside.RunInventory, again.Outside.Probe = nil, nil, nil, nil
	return again, d, nil
}

// Options are those that plan the same playbook with the same flags as it is now. Of o, what a machine knows about itself
// is used.
func (s *Sources) Options(root string, o plan.Options) plan.Options {
	abs := s.placed(root)
	o.Path, o.Dir, o.Moved = abs(s.Playbook), root, s.Moved
	o.Values.Extra, o.Values.Files, o.Select.Tags, o.Select.SkipTags = s.filesOfVars(), paths(s.VarsFiles, s.Moved.Here), s.Tags, s.SkipTags
	o.Select.Only, o.Select.Skip, o.Select.StartAt, o.Select.Targets = s.Only, s.Skip, s.StartAt, s.Targets
	o.Hosts.NoProbe, o.Hosts.Commands, o.Facts.Findings = s.NoProbe, s.Commands, s.Findings
	o.Values.Overrides = knownOverrides(s.Overrides)
	o.Opened, o.Asked = restoreOpened(s.Opened), called.NewAsked(s.answeredAnywhere())
	if o.MaxSteps == 0 {
		o.MaxSteps = plan.DefaultMaxSteps
	}
	// What the run has made itself does not make it ask again what there was before it.
	o.Prior = plan.Prior{}
	if s.Prior != nil {
		o.Prior = *s.Prior
	}
	o.Prior.Settled = true
	s.Plays.options(abs, &o)
	if s.rereads() {
		s.Plays.askNoMore(abs, &o)
	}
	o.Mode.ForceHandlers = o.Mode.ForceHandlers || s.Forced
	return o
}

// NotKeptError says that a file changed whose text is kept nowhere.
type NotKeptError struct {
	File   string
	Secret bool // it holds secrets, and cannot be read
}

func (e *NotKeptError) Error() string {
	if e.Secret {
		return e.File + " cannot be read, and its text is not kept, because it holds secrets"
	}
	return e.File + " is not what it was, and its text is not kept, because a step in it has no_log"
}

// facts are those that were used, as they were then. What only steps with no_log use comes from this machine.
func (s *Sources) facts(now map[string]any) map[string]any {
	facts, env := maps.Clone(s.Facts), map[string]any{}
	if facts == nil {
		facts = map[string]any{}
	}
	// JSON knows no integers, and templates tell 1 from 1.0.
	for name, v := range facts {
		facts[name] = WholeNumbers(v)
	}
	for name, v := range s.Environment {
		env[name] = v
	}
	here, _ := now["env"].(map[string]any)
	for _, name := range s.Private {
		if v, ok := here[name]; ok {
			env[name] = v
		}
	}
	facts["env"] = env
	return facts
}

// WholeNumbers turns the numbers that JSON has read as floats into the integers they were, in depth.
func WholeNumbers(v any) any {
	return value.MapLeaves(v, func(v any) any {
		if f, ok := v.(float64); ok && float64(int(f)) == f {
			return int(f)
		}
		return v
	})
}

// Stale lists what is not as it was when the plan was made: files, links, trees, and facts that were used.
func (s *Sources) Stale(root string, o plan.Options) []string {
	var list []string
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	abs := s.placed(root)
	for _, f := range s.Files {
		if f.Path == "-" && s.Playbook == "-" {
			continue // standard input is gone for good; its text is kept
		}
		text, err := source.ReadBounded(abs(f.Path))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			say("%s is gone", f.Path)
		case err != nil:
			say("%s cannot be read", f.Path)
		case !f.Secret && source.DigestOf(text) != f.Digest && !s.ofTheRun(f, abs(f.Path), o):
			say("%s was edited", f.Path)
		}
	}
	for _, from := range plan.SortedKeys(s.Links) {
		if to := s.Links[from]; plan.ShownPath(root, source.NewDisk(nil).Real(abs(from))) != s.Moved.Here(to) {
			say("%s does not lead to %s any more", from, to)
		}
	}
	for _, t := range s.Trees {
		was := make([]source.TreeEntry, len(t.Entries))
		for i, e := range t.Entries {
			was[i] = e.TreeEntry
		}
		// A tree that has grown beyond this has changed in any case.
		is, _, err := source.EntriesOf(strings.TrimSuffix(abs(t.Path), "/"), max(2*len(was), 1000))
		if err != nil || !slices.Equal(was, is) {
			say("what is in %s is not the same", t.Path)
		}
	}
	for _, path := range s.Absent {
		if slices.Contains(s.Plays.Passwords, path) {
			continue // the run makes it
		}
		if source.NewDisk(nil).Exists(abs(path), true) == nil {
			say("%s was not there, and now it is", path)
		}
	}
	s.staleReads(root, o, say)
	s.stalePlugins(s.placed(root), say)
	s.staleImports(abs, o, say)
	s.Plays.stale(abs, o, say)
	return append(list, s.staleFacts(o)...)
}

// staleFacts lists what this machine says of itself that is not what the plan was made with.
func (s *Sources) staleFacts(o plan.Options) []string {
	var list []string
	differ := func(what string, was, is any, known bool) {
		// Compared as JSON: one side has been through it and the other has not.
		a, _ := json.Marshal(was) // plain data
		b, _ := json.Marshal(is)
		switch {
		case !known:
			list = append(list, fmt.Sprintf("%s is not known here", what))
		case !bytes.Equal(a, b):
			list = append(list, fmt.Sprintf("%s was %s, and is %s", what, a, b))
		}
	}
	for _, name := range plan.SortedKeys(s.Facts) {
		is, known := o.Facts.Here[name]
		if get, costly := o.Facts.Costly[name]; costly && !known {
			is, known = get(), true
		}
		differ("the fact "+name, s.Facts[name], is, known)
	}
	env, _ := o.Facts.Here["env"].(map[string]any)
	for _, name := range plan.SortedKeys(s.Environment) {
		if is, known := env[name]; !known || is != s.Environment[name] {
			list = append(list, "the environment variable "+name+" is not what it was") // what it is may be secret by now
		}
	}
	for _, name := range s.Private {
		if _, known := env[name]; !known {
			list = append(list, "the environment variable "+name+" is not set")
		}
	}
	for _, g := range []struct{ what, was, is string }{{"the home directory", s.Home, o.Home}, {"the user", s.User, o.User}} {
		if g.was != "" {
			differ(g.what, g.was, g.is, true)
		}
	}
	return list
}

// SameFiles reports whether nothing that both plans have read from this machine has changed between them: planning with another value
// reads the files again, and an edit that comes along is not one that the user who gave the value has seen.
func SameFiles(p *plan.Plan, was *plan.Plan) bool {
	// Only what both plans have read: another value may lead to other files.
	now, before := p.Basis.Disk, was.Basis.Disk
	for path, f := range now.Files {
		if o := before.Files[path]; before.Absent[path] || o != nil && !bytes.Equal(o.Text, f.Text) {
			return false
		}
	}
	for path, tree := range now.Trees {
		if o, known := before.Trees[path]; known && !slices.Equal(o, tree) {
			return false
		}
	}
	for key, r := range now.Reads {
		if o := before.Reads[key]; o != nil && o.Digest != r.Digest {
			return false
		}
	}
	return true
}

// staleReads lists what steps read that is not what it was, and is not among the files whose text is kept.
func (s *Sources) staleReads(root string, o plan.Options, say func(format string, args ...any)) {
	kept := map[string]bool{}
	for _, f := range s.Files {
		kept[f.Path] = true
	}
	for _, r := range s.Reads {
		// Of these the text was compared already.
		if r.Secret || r.Digest == "" || kept[r.Path] {
			continue
		}
		path := s.placed(root)(r.Path)
		was := r.source(path).Source
		now, err := source.Look(path, r.Parts)
		if err != nil {
			say("%s cannot be read", r.Path)
			continue
		}
		// What the run itself has changed does not count as a change from outside.
		if o.Reads != nil {
			now = o.Reads(now)
		}
		for _, c := range was.Changes(now) {
			say("%s %s", plan.ShownPath(root, c.Path), c.How)
		}
	}
}

// Unsaved lists what has changed since the plan was made and cannot be had as it was, because a plan keeps no more of it than its
// digest: a run of the plan as it was saved would be a mixture of then and now.
func (s *Sources) Unsaved(root string, o plan.Options) (list []string) {
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	s.staleReads(root, o, say)
	s.stalePlugins(s.placed(root), say)
	return list
}

// ofTheRun reports whether a file that steps read is as it is because steps of the run have changed it.
func (s *Sources) ofTheRun(f SourceFile, path string, o plan.Options) bool {
	if o.Reads == nil {
		return false
	}
	now, err := source.Look(path, false)
	return err == nil && o.Reads(now).Digest == f.Digest
}

// secretFlagOf is the flag that holds a secret; "" if none does.
func secretFlagOf(m *plan.Basis) string {
	for _, g := range []struct {
		flag string
		list []string
	}{{"--extra-vars", m.O.Values.Extra}, {"--vars-file", m.O.Values.Files}} {
		if slices.ContainsFunc(g.list, m.Secrets.Has) {
			return g.flag
		}
	}
	return ""
}

// SecretError says that a plan was made with a secret that was given on the command line, which is kept nowhere.
type SecretError struct{ Flag string }

func (e *SecretError) Error() string {
	return e.Flag + " holds a secret, which is not kept; give it in a file whose name ends in .secret.yml, or encrypted"
}
