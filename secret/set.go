package secret

import (
	"strings"
	"sync"
	"sync/atomic"
)

// Mask stands for a secret, whatever its length.
const Mask = "••••••••"

// ASCIIMask is the Mask where there is nothing but ASCII.
const ASCIIMask = "********"

// MinLength is how long a text must be, in bytes, to be found in other texts. Shorter ones are everywhere.
const MinLength = 4

// maxText is the most that is looked for as a whole. Of a longer text, such as the output of a step, its lines are.
const maxText = 64 << 10

// Set is the secrets that moon knows. It only grows. A nil Set knows none. It is safe for concurrent use.
type Set struct {
	mu      sync.Mutex
	known   map[string]bool   // texts that were added
	forms   map[string]ref    // every text that is looked for, and what it is a form of
	sources map[string]string // by where they come from
	env     map[string]bool   // variables of moon's environment that hold secrets

	twice int // bytes of the forms of forms that are looked for

	parent *Set // is given everything; may be nil

	matchers atomic.Pointer[[]*matcher] // together they find all forms; nil: none yet
	fresh    []string                   // forms that no matcher has yet
	own      *matcher                   // of forms that have a source; nil if it must be built
}

// ref is what a form stands for. A text that was computed has no from.
type ref struct{ from, form string }

// NewSet makes an empty set.
func NewSet() *Set {
	return &Set{known: map[string]bool{}, forms: map[string]ref{}, sources: map[string]string{}, env: map[string]bool{}}
}

// Below makes an empty set that passes on to this one all that it is given.
func (s *Set) Below() *Set {
	below := NewSet()
	below.parent = s
	return below
}

// Add makes a text secret. From says where it comes from, so that it can be asked for there again: a file and a key, the name
// of a variable. It is "" for what was computed, and never holds anything of the text.
func (s *Set) Add(from, text string) {
	if s == nil || text == "" {
		return
	}
	// Before the lock is taken: no set holds its own while it waits for that of its parent.
	s.parent.Add(from, text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if from != "" {
		s.sources[from] = text
		s.own = nil
	}
	// With a source it is added again, as its forms may have been those of a computed text until now.
	if s.known[text] && from == "" {
		return
	}
	s.known[text] = true
	// Computed secrets may use half of the room, so that those of files always have some.
	most := maxAllTwice
	if from == "" {
		most /= 2
	}
	for _, f := range formsOf(text, most-s.twice) {
		if strings.Contains(f.name, twice) {
			s.twice += len(f.text)
		}
		old, have := s.forms[f.text]
		if !have {
			s.fresh = append(s.fresh, f.text)
		}
		if !have || old.from == "" {
			s.forms[f.text] = ref{from, f.name}
		}
	}
}

// AddEnv says that a variable of moon's own environment is secret: steps do not inherit it.
func (s *Set) AddEnv(name, value string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.env[name] = true
	s.mu.Unlock()
	s.parent.AddEnv(name, value)
	s.Add("env:"+name, value)
}

// Env reports whether a variable of moon's environment is secret.
func (s *Set) Env(name string) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.env[name]
}

// Known is how many texts are secret: as long as it is the same, so is what Redact makes of a text.
func (s *Set) Known() int {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.known)
}

// Empty reports whether there is nothing to look for.
func (s *Set) Empty() bool { return s == nil || len(s.all()) == 0 }

// smallEnough is up to how many bytes of forms all are put into one matcher. Beyond, making it anew for each secret that is
// computed in a run would cost more than looking with several.
const smallEnough = 256 << 10

// all are the matchers of now. New forms get one of their own, which takes in those that are no larger: adding n secrets one by
// one costs n log n.
func (s *Set) all() []*matcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.fresh) > 0 {
		s.takeFresh()
	}
	if p := s.matchers.Load(); p != nil {
		return *p
	}
	return nil
}

// takeFresh makes the matchers for the new forms; mu is held.
func (s *Set) takeFresh() {
	var list []*matcher
	if p := s.matchers.Load(); p != nil {
		list = *p
	}
	// A copy: callers use the list they were given without the lock.
	list = append([]*matcher(nil), list...)
	texts, size := s.fresh, sizeOf(s.fresh)
	for len(list) > 0 {
		last := list[len(list)-1]
		if last.size > 2*size && last.size+size > smallEnough {
			break
		}
		texts, size = append(texts, last.texts...), size+last.size
		list = list[:len(list)-1]
	}
	list = append(list, newMatcher(texts))
	s.fresh = nil
	s.matchers.Store(&list)
}

func sizeOf(texts []string) (n int) {
	for _, t := range texts {
		n += len(t)
	}
	return n
}

// Redact is the text with each secret in it replaced by Mask. So is the beginning of one, of MinLength at least, that an ellipsis
// follows: messages do not quote the whole of long values.
func (s *Set) Redact(text string) string {
	list := s.matchersFor(len(text))
	if len(list) == 0 || !anyIn(list, text) && !strings.Contains(text, ellipsis) {
		return text
	}
	var b strings.Builder
	// One for each part: a secret does not reach over an ellipsis.
	w := s.Writer(&b)
	for {
		part, rest, cut := strings.Cut(text, ellipsis)
		_, _ = w.Write([]byte(part)) // a builder takes everything
		if cut {
			// The beginning of a secret in front of the ellipsis is hidden as well.
			w.hide(w.begun())
		}
		_ = w.Close()
		if !cut {
			return b.String()
		}
		b.WriteString(ellipsis)
		w, text = s.Writer(&b), rest
	}
}

// Whole reports whether a part of a text has none of its secrets in part.
func (s *Set) Whole(text string, from, to int) bool {
	hidden := s.hidden(text)
	cut := func(at int) bool { return at > 0 && at < len(text) && hidden[at-1] && hidden[at] }
	return hidden != nil && !cut(from) && !cut(to)
}

// hidden says of each byte of a text whether it is part of a secret; nil if none is.
func (s *Set) hidden(text string) []bool {
	if !s.Has(text) {
		return nil
	}
	w := s.Writer(nil)
	w.learn()
	for i := range len(text) {
		w.read(text[i])
	}
	hidden := make([]bool, len(text))
	for i, h := range w.pending {
		hidden[i] = h.hide
	}
	return hidden
}

const ellipsis = "…"

// Has reports whether a text holds a secret.
func (s *Set) Has(text string) bool { return anyIn(s.matchersFor(len(text)), text) }

// Within are the texts in a value, at any depth, that hold a secret: what somebody who gets the value is told not to show.
func (s *Set) Within(v any) []string {
	var list []string
	switch v := v.(type) {
	case string:
		if s.Has(v) {
			list = append(list, v)
		}
	case []any:
		for _, item := range v {
			list = append(list, s.Within(item)...)
		}
	case map[string]any:
		for _, item := range v {
			list = append(list, s.Within(item)...)
		}
	}
	return list
}

// matchersFor are those that could find something in a text of that length.
func (s *Set) matchersFor(length int) []*matcher {
	if s == nil || length < MinLength {
		return nil
	}
	return s.all()
}

func anyIn(list []*matcher, text string) bool {
	for _, m := range list {
		if m.in(text) {
			return true
		}
	}
	return false
}
