package plan

import (
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
			r.Hidden = r.Hidden || p.disk.reads[readKey{path: r.Path, parts: r.Parts}].secret
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
