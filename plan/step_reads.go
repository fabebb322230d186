package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/plan/eval"
	"moon/plan/source"
)

// reading notes that the step that is planned reads something.
func (p *stepPlanner) reading(s *Step, path string, parts bool) {
	if !filepath.IsAbs(path) {
		return
	}
	seen := p.disk.source(path, parts)
	if slices.ContainsFunc(s.Reads, func(r Read) bool { return r.Source == seen.Source }) {
		return
	}
	f := p.disk.files[seen.Path]
	locked := f != nil && f.secret || namedSecret(seen.Path)
	hidden := locked || s.NoLog && f == nil // of a file whose text is read like the playbook's the text as written counts
	seen.secret = seen.sealed || seen.secret && hidden
	s.Reads = append(s.Reads, Read{Source: seen.Source, Hidden: hidden})
}

// readsOf collects what a step reads: its source, and the files that its templates and lookups have named.
func (p *stepPlanner) readsOf(s *Step, k *task, raw map[string]any) {
	if s.Excluded || s.Prediction == WillSkip {
		return
	}
	if path := p.sourceOf(s, k, raw); path != "" && (!k.plays || k.search != nil || k.action.Name == "assemble") {
		p.reading(s, path, k.action.Name == "assemble")
	}
	if s.Conn == nil && s.Delegate == "" && s.Become == nil { // the machine of the step is this one, and its user too
		for _, file := range k.action.FilesOf(raw) {
			if !filepath.IsAbs(file) {
				file = filepath.Join(s.Cwd, file)
			}
			p.reading(s, file, false)
		}
	}
	for _, path := range p.lookedAt {
		p.reading(s, path, false)
	}
}

// sourceOf is the path of what a step is made from on this machine, as far as it is known; "" if there is none.
func (p *stepPlanner) sourceOf(s *Step, k *task, raw map[string]any) string {
	if line, ok := raw["cmd"].(open); ok && k.action.Name == "script" {
		return p.scriptOf(k, eval.Text(line.text))
	}
	path := k.action.SourceOf(raw)
	if path == "" && k.action.Name == "assemble" && s.Conn == nil && s.Delegate == "" {
		path, _ = raw["src"].(string) // the machine of the step is this one
	}
	return path
}

// scriptOf is the path of a script whose arguments are not known yet; "" if the script is not either.
func (p *stepPlanner) scriptOf(k *task, line string) string {
	name := k.action.SourceOf(map[string]any{"cmd": line})
	switch {
	case name == "" || eval.Templated(name):
		return ""
	case k.search != nil:
		return k.search.find(name, p.o.Home)
	}
	return resolvePath(name, k.dir, p.o.Home)
}

// concealReads keeps the digests of what holds secrets out of the plan. It is asked at the end, when all secrets are known.
func (p *stepPlanner) concealReads() {
	for _, seen := range p.disk.reads {
		if !seen.secret && p.holdsSecret(seen.Source) {
			seen.secret = true
		}
	}
	for i := range p.plan.Steps {
		for j := range p.plan.Steps[i].Reads {
			r := &p.plan.Steps[i].Reads[j]
			r.Hidden = r.Hidden || p.disk.reads[readKey{r.Path, r.Parts}].secret
		}
	}
}

// maxSearched is up to how many bytes of a source secrets are looked for.
const maxSearched = 16 << 20

// holdsSecret reports whether a known secret is written in a source.
func (p *stepPlanner) holdsSecret(s *source.Source) bool {
	if p.disk.closed || s.Digest == "" {
		return false // the plan that was kept knows
	}
	paths := []string{s.Path}
	if s.IsDir() {
		paths = nil
		for _, e := range s.Entries {
			if e.Kind == source.File {
				paths = append(paths, s.Path+e.Name)
			}
		}
	}
	left := int64(maxSearched)
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > left {
			continue
		}
		left -= info.Size()
		if text, err := readBounded(path); err == nil && (namedSecret(path) || p.secrets.Has(string(text))) {
			return true
		}
	}
	return false
}

// rendersTo notes what a template's file comes to. A digest over the text is kept, in which secrets are masked.
func (p *stepPlanner) rendersTo(k *task, value any, again func() (any, error)) {
	k.renders = &rendering{digest: p.maskedDigest(value), again: again, known: p.secrets.Known()}
}

func (p *stepPlanner) maskedDigest(value any) string {
	text := strings.ReplaceAll(eval.Text(eval.Reveal(value)), p.plan.Root, "")
	sum := sha256.Sum256([]byte(p.secrets.Redact(text)))
	return hex.EncodeToString(sum[:16])
}

// maskAgain renders the template of a step again if secrets have become known since that may be in its text.
func (p *stepPlanner) maskAgain(k *task) {
	r := k.renders
	if r == nil || r.known == p.secrets.Known() {
		return
	}
	if value, err := r.again(); err == nil {
		r.digest = p.maskedDigest(value)
	}
}

// SourceRead is what a step reads on the machine that moon runs on, by its digests, as a plan is saved with it.
type SourceRead struct {
	Path    string      `json:"path"`
	Digest  string      `json:"digest,omitempty"`
	Mode    string      `json:"mode,omitempty"`
	Parts   bool        `json:"parts,omitempty"`
	Secret  bool        `json:"secret,omitempty"` // no digest is kept
	Dir     bool        `json:"directory,omitempty"`
	Entries [][4]string `json:"entries,omitempty"`
}

// keptReads are what steps read, as they are saved.
func (m *planInputs) keptReads(shown func(string) string) []SourceRead {
	keys := make([]readKey, 0, len(m.disk.reads))
	for key := range m.disk.reads {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b readKey) int {
		return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(boolText(a.parts), boolText(b.parts)))
	})
	var list []SourceRead
	for _, key := range keys {
		seen := m.disk.reads[key]
		r := SourceRead{Path: shown(key.path), Parts: key.parts, Secret: seen.secret && seen.Digest != ""}
		if !r.Secret {
			r.Digest, r.Mode, r.Dir = seen.Digest, seen.Mode, seen.IsDir()
			for _, e := range seen.Entries {
				r.Entries = append(r.Entries, [4]string{e.Name, string(e.Kind), e.Mode, e.Digest})
			}
		}
		list = append(list, r)
	}
	return list
}

func boolText(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// source is the read as the planner saw it. That of which no digest is kept is taken as it is now.
func (r SourceRead) source(path string) *readSeen {
	s := &source.Source{Path: path, Parts: r.Parts, Digest: r.Digest, Mode: r.Mode}
	if r.Secret {
		if now, err := source.Look(path, r.Parts); err == nil {
			s = now
		}
		return &readSeen{s, true, true}
	}
	if r.Dir {
		s.Entries = []source.Entry{}
	}
	for _, e := range r.Entries {
		s.Entries = append(s.Entries, source.Entry{Name: e[0], Kind: source.Kind(e[1]), Mode: e[2], Digest: e[3]})
	}
	return &readSeen{Source: s}
}

// TakeAsSaved makes the run use the texts that the plan was made from, whatever their files say now.
func (p *Plan) TakeAsSaved() { p.made.saved = true }

// Saved is the text of a file that the plan was made from, if it is to be used in the place of what is there now.
func (p *Plan) Saved(path string) (text []byte, ok bool) {
	f := p.made.disk.files[filepath.Clean(path)]
	if _, renewed := p.made.renewed.Load(filepath.Clean(path)); !p.made.saved || f == nil || renewed {
		return nil, false
	}
	return f.text, true
}

// Renew says that a step of the run has changed a file: what is there counts, and not what a saved plan holds.
func (p *Plan) Renew(path string) { p.made.renewed.Store(filepath.Clean(path), true) }

// SourceOf is what a step reads at a path, as the plan was made with it; nil if no step does.
func (p *Plan) SourceOf(path string, parts bool) *source.Source {
	if seen := p.made.disk.reads[readKey{path, parts}]; seen != nil {
		return seen.Source
	}
	return nil
}

// Again are the options the plan was made with.
func (p *Plan) Again() Options { return p.made.o }

// Shown is a path as people see it: relative to the playbook's directory if it lies below.
func (p *Plan) Shown(path string) string { return shownPath(p.Root, path) }
