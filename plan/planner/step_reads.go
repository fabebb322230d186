package planner

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/plan"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/source"
)

// reading notes that the step that is planned reads something.
func (p *stepPlanner) reading(s *plan.Step, path string, parts bool) {
	if !filepath.IsAbs(path) {
		return
	}
	seen := p.disk.Source(path, parts)
	if slices.ContainsFunc(s.Reads, func(r plan.Read) bool { return r.Source == seen.Source }) {
		return
	}
	f := p.disk.Files[seen.Path]
	locked := f != nil && f.Secret || source.NamedSecret(seen.Path)
	hidden := locked || s.NoLog && f == nil // of a file whose text is read like the playbook's the text as written counts
	seen.Secret = seen.Sealed || seen.Secret && hidden
	s.Reads = append(s.Reads, plan.Read{Source: seen.Source, Hidden: hidden})
}

// readsOf collects what a step reads: its source, and the files that its templates and lookups have named.
func (p *stepPlanner) readsOf(s *plan.Step, k *plan.Task, raw map[string]any) {
	if s.Excluded || s.Prediction == plan.WillSkip {
		return
	}
	if path := p.sourceOf(s, k, raw); path != "" && (!k.Plays || k.Search != nil || k.Action.Name == "assemble") {
		p.reading(s, path, k.Action.Name == "assemble")
	}
	if s.Conn == nil && s.Delegate == "" && s.Become == nil { // the machine of the step is this one, and its user too
		for _, file := range k.Action.FilesOf(raw) {
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
func (p *stepPlanner) sourceOf(s *plan.Step, k *plan.Task, raw map[string]any) string {
	if line, ok := raw["cmd"].(plan.OpenText); ok && k.Action.Name == "script" {
		return p.scriptOf(k, value.Text(line.Text))
	}
	path := k.Action.SourceOf(raw)
	if path == "" && k.Action.Name == "assemble" && s.Conn == nil && s.Delegate == "" {
		path, _ = raw["src"].(string) // the machine of the step is this one
	}
	return path
}

// scriptOf is the path of a script whose arguments are not known yet; "" if the script is not either.
func (p *stepPlanner) scriptOf(k *plan.Task, line string) string {
	name := k.Action.SourceOf(map[string]any{"cmd": line})
	switch {
	case name == "" || eval.Templated(name):
		return ""
	case k.Search != nil:
		return k.Search.Find(name, p.o.Home)
	}
	return source.ResolvePath(name, k.Dir, p.o.Home)
}

// concealReads keeps the digests of what holds secrets out of the plan. It is asked at the end, when all secrets are known.
func (p *stepPlanner) concealReads() {
	for _, seen := range p.disk.Reads {
		if !seen.Secret && p.holdsSecret(seen.Source) {
			seen.Secret = true
		}
	}
	for i := range p.plan.Steps {
		for j := range p.plan.Steps[i].Reads {
			r := &p.plan.Steps[i].Reads[j]
			r.Hidden = r.Hidden || p.disk.Reads[source.ReadKey{Path: r.Path, Parts: r.Parts}].Secret
		}
	}
}

// maxSearched is up to how many bytes of a source secrets are looked for.
const maxSearched = 16 << 20

// holdsSecret reports whether a known secret is written in a source.
func (p *stepPlanner) holdsSecret(s *source.Source) bool {
	if p.disk.Closed || s.Digest == "" {
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
		if text, err := source.ReadBounded(path); err == nil && (source.NamedSecret(path) || p.secrets.Has(string(text))) {
			return true
		}
	}
	return false
}

// rendersTo notes what a template's file comes to. A digest over the text is kept, in which secrets are masked.
func (p *stepPlanner) rendersTo(k *plan.Task, value any, again func() (any, error)) {
	k.Renders = &plan.Rendering{Digest: p.maskedDigest(value), Again: again, Known: p.secrets.Known()}
}

func (p *stepPlanner) maskedDigest(val any) string {
	text := strings.ReplaceAll(value.Text(value.Reveal(val)), p.plan.Root, "")
	sum := sha256.Sum256([]byte(p.secrets.Redact(text)))
	return hex.EncodeToString(sum[:16])
}

// maskAgain renders the template of a step again if secrets have become known since that may be in its text.
func (p *stepPlanner) maskAgain(k *plan.Task) {
	r := k.Renders
	if r == nil || r.Known == p.secrets.Known() {
		return
	}
	if value, err := r.Again(); err == nil {
		r.Digest = p.maskedDigest(value)
	}
}
