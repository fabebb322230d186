package secret

import (
	"fmt"
	"math"
	"strings"
)

// The keys of what stands for a text with secrets in it: a list of the texts around them, and of maps that say where each comes
// from, and in which form it was. A map that only looks like that is kept below the other key.
const (
	sealKey  = "$secret"
	plainKey = "$plain"
)

// Seal makes of a value (plain data, as JSON has it) one without secrets that Open can make it from again, once the secrets
// have been read where they come from. It is not ok for a value that holds one that comes from nowhere: that was computed, or
// typed. Nothing is kept of a secret, and nothing by which one could be tried.
func (s *Set) Seal(v any) (sealed any, ok bool) {
	switch v := v.(type) {
	case string:
		if !s.Has(v) {
			return v, true
		}
		return s.sealText(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			sealed, ok := s.Seal(item)
			if !ok {
				return nil, false
			}
			list[i] = sealed
		}
		return list, true
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, item := range v {
			sealed, ok := s.Seal(item)
			// A key cannot be sealed, as what stands for it would have to be a text.
			if !ok || s.Has(key) {
				return nil, false
			}
			m[key] = sealed
		}
		// A value that looks like a sealed one is wrapped, or Open would take it for one.
		if looksSealed(v) {
			return map[string]any{plainKey: m}, true
		}
		return m, true
	case nil, bool:
		return v, true
	}
	return v, !s.Has(fmt.Sprint(v))
}

func looksSealed(m map[string]any) bool {
	_, sealed := m[sealKey]
	_, plain := m[plainKey]
	return len(m) == 1 && (sealed || plain)
}

// sealText takes a text apart at the secrets that come from somewhere, the longest first where several begin.
func (s *Set) sealText(text string) (any, bool) {
	own := s.sourced()
	parts := []any{}
	for len(text) > 0 {
		from, to := own.leftmost(text)
		if around := text[:from]; around != "" {
			// What is around may still hold a secret that comes from nowhere.
			if s.Has(around) {
				return nil, false
			}
			parts = append(parts, around)
		}
		if from < to {
			// Matchers are read without the lock, the table of forms may grow at any moment.
			s.mu.Lock()
			r := s.forms[text[from:to]]
			s.mu.Unlock()
			parts = append(parts, map[string]any{"from": r.from, "form": r.form})
		}
		text = text[to:]
	}
	return map[string]any{sealKey: parts}, true
}

// sourced is a matcher of the forms that come from somewhere.
func (s *Set) sourced() *matcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own == nil {
		var texts []string
		for text, r := range s.forms {
			if r.from != "" {
				texts = append(texts, text)
			}
		}
		s.own = newMatcher(texts)
	}
	return s.own
}

// leftmost is where the first text is, and of those that begin there the longest; the end, twice, if there is none.
func (m *matcher) leftmost(text string) (from, to int) {
	from, to = len(text), len(text)
	at := int32(0)
	for i := range len(text) {
		at = m.step(at, text[i])
		if i+1-int(m.depth[at]) > from {
			break // whatever comes now begins later
		}
		// An earlier one wins over a longer one, or the text before that would still hold its beginning.
		if n := int(m.match[at]); n > 0 && i+1-n <= from {
			from, to = i+1-n, i+1
		}
	}
	return from, to
}

// Open puts the secrets back. It is not ok if one of them has not been read.
func (s *Set) Open(v any) (opened any, ok bool) {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			if list[i], ok = s.Open(item); !ok {
				return nil, false
			}
		}
		return list, true
	case map[string]any:
		if parts, is := v[sealKey].([]any); is && len(v) == 1 {
			return s.openText(parts)
		}
		if plain, is := v[plainKey].(map[string]any); is && len(v) == 1 {
			return s.openMap(plain)
		}
		return s.openMap(v)
	}
	return v, true
}

func (s *Set) openMap(v map[string]any) (any, bool) {
	m := make(map[string]any, len(v))
	for key, item := range v {
		opened, ok := s.Open(item)
		if !ok {
			return nil, false
		}
		m[key] = opened
	}
	return m, true
}

func (s *Set) openText(parts []any) (any, bool) {
	var text strings.Builder
	for _, part := range parts {
		if around, ok := part.(string); ok {
			text.WriteString(around)
			continue
		}
		r, _ := part.(map[string]any)
		from, _ := r["from"].(string)
		name, _ := r["form"].(string)
		one, ok := s.formOf(from, name)
		if !ok {
			return nil, false
		}
		text.WriteString(one)
	}
	return text.String(), true
}

// Missing is where the secrets of a sealed value come from that have not been read in this process.
func (s *Set) Missing(v any) (from []string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			from = append(from, s.Missing(item)...)
		}
	case map[string]any:
		parts, sealed := v[sealKey].([]any)
		if !sealed || len(v) != 1 {
			for _, item := range v {
				from = append(from, s.Missing(item)...)
			}
			return from
		}
		for _, part := range parts {
			r, _ := part.(map[string]any)
			name, isText := r["from"].(string)
			s.mu.Lock()
			_, read := s.sources[name]
			s.mu.Unlock()
			if isText && !read {
				from = append(from, name)
			}
		}
	}
	return from
}

// Shown is a value that was sealed, for those who may not see the secrets in it.
func Shown(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = Shown(v[i])
		}
		return list
	case map[string]any:
		if parts, is := v[sealKey].([]any); is && len(v) == 1 {
			var text strings.Builder
			for _, part := range parts {
				around, ok := part.(string)
				if !ok {
					around = Mask
				}
				text.WriteString(around)
			}
			return text.String()
		}
		if plain, is := v[plainKey].(map[string]any); is && len(v) == 1 {
			v = plain
		}
		if v == nil {
			return v
		}
		m := make(map[string]any, len(v))
		for key := range v {
			m[key] = Shown(v[key])
		}
		return m
	}
	return v
}

// formOf is a form of the secret that comes from somewhere.
func (s *Set) formOf(from, name string) (text string, ok bool) {
	if s == nil {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	source, ok := s.sources[from]
	if !ok {
		return "", false
	}
	left := 0
	// Forms of forms are made again without the limit, as the name asks for one of them.
	if strings.Contains(name, twice) {
		left = math.MaxInt
	}
	for _, f := range formsOf(source, left) {
		if f.name == name {
			return f.text, true
		}
	}
	return "", false
}
