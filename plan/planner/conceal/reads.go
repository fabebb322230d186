package conceal

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"

	"moon/plan"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/source"
)

// noteRead notes that the step that is planned reads something.
func (c *Concealer) noteRead(s *plan.Step, path string, parts bool) {
	// What is still open is not a path yet.
	if !filepath.IsAbs(path) {
		return
	}
	seen := c.disk.Source(path, parts)
	if slices.ContainsFunc(s.Reads, func(r plan.Read) bool { return r.Source == seen.Source }) {
		return
	}
	f := c.disk.Files[seen.Path]
	locked := f != nil && f.Secret || source.NamedSecret(seen.Path)
	hidden := locked || s.NoLog && f == nil // of a file whose text is read like the playbook's the text as written counts
	seen.Secret = seen.Sealed || seen.Secret && hidden
	s.Reads = append(s.Reads, plan.Read{Source: seen.Source, Hidden: hidden})
}

// NoteReads collects what a step reads: its source, and lookedAt, the files that its templates and lookups have named.
func (c *Concealer) NoteReads(s *plan.Step, k *plan.Task, raw map[string]any, lookedAt []string) {
	if s.Excluded || s.Prediction == plan.WillSkip {
		return
	}
	if path := c.sourceOf(s, k, raw); path != "" && (k.ReadsSource() || k.Action.Name == "assemble") {
		c.noteRead(s, path, k.Action.Name == "assemble")
	}
	if s.Conn == nil && s.Delegate == "" && s.Become == nil { // the machine of the step is this one, and its user too
		for _, file := range k.Action.FilesOf(raw) {
			if !filepath.IsAbs(file) {
				file = filepath.Join(s.Cwd, file)
			}
			c.noteRead(s, file, false)
		}
	}
	for _, path := range lookedAt {
		c.noteRead(s, path, false)
	}
}

// sourceOf is the path of what a step is made from on this machine, as far as it is known; "" if there is none.
func (c *Concealer) sourceOf(s *plan.Step, k *plan.Task, raw map[string]any) string {
	// The arguments of a script may be open while the script itself is known.
	if line, ok := raw["cmd"].(plan.OpenText); ok && k.Action.Name == "script" {
		return c.scriptOf(k, value.Text(line.Text))
	}
	path := k.Action.SourceOf(raw)
	if path == "" && k.Action.Name == "assemble" && s.Conn == nil && s.Delegate == "" {
		path, _ = raw["src"].(string) // the machine of the step is this one
	}
	return path
}

// scriptOf is the path of a script whose arguments are not known yet; "" if the script is not either.
func (c *Concealer) scriptOf(k *plan.Task, line string) string {
	name := k.Action.SourceOf(map[string]any{"cmd": line})
	switch {
	case name == "" || eval.Templated(name):
		return ""
	case k.Search != nil:
		return k.Search.Find(name, c.home)
	}
	return source.ResolvePath(name, k.Dir, c.home)
}

// hideReads keeps the digests of what holds secrets out of the plan. It is asked at the end, when all secrets are known.
func (c *Concealer) hideReads() {
	for _, seen := range c.disk.Reads {
		if !seen.Secret && c.holdsSecret(seen.Source) {
			seen.Secret = true
		}
	}
	for i := range c.plan.Steps {
		for j := range c.plan.Steps[i].Reads {
			r := &c.plan.Steps[i].Reads[j]
			r.Hidden = r.Hidden || c.disk.Reads[source.ReadKey{Path: r.Path, Parts: r.Parts}].Secret
		}
	}
}

// maxSearched is up to how many bytes of a source secrets are looked for.
const maxSearched = 16 << 20

// holdsSecret reports whether a known secret is written in a source.
func (c *Concealer) holdsSecret(s *source.Source) bool {
	if c.disk.Closed || s.Digest == "" {
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
	// The bound is one of the whole directory: a plan must not read gigabytes to find a secret.
	left := int64(maxSearched)
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > left {
			continue
		}
		left -= info.Size()
		if text, err := source.ReadBounded(path); err == nil && (source.NamedSecret(path) || c.secrets.Has(string(text))) {
			return true
		}
	}
	return false
}

// NoteRendering notes what a template's file comes to. A digest over the text is kept, in which secrets are masked.
func (c *Concealer) NoteRendering(k *plan.Task, value any, again func() (any, error)) {
	k.Renders = &plan.Rendering{Digest: c.maskedDigest(value), Again: again, Known: c.secrets.Known()}
}

func (c *Concealer) maskedDigest(val any) string {
	text := c.plan.Basis.O.Moved.Placeless(c.plan.Root, value.Text(value.Reveal(val)))
	sum := sha256.Sum256([]byte(c.secrets.Redact(text)))
	return hex.EncodeToString(sum[:16])
}

// renderAgain renders the template of a step again if secrets have become known since that may be in its text.
func (c *Concealer) renderAgain(k *plan.Task) {
	r := k.Renders
	if r == nil || r.Known == c.secrets.Known() {
		return
	}
	if value, err := r.Again(); err == nil {
		r.Digest = c.maskedDigest(value)
	}
}
