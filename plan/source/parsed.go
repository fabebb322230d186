package source

import (
	"bytes"
	"sync"
)

// Parsed keeps what was read from the texts of files, for plans that are made again from the same texts. It may be used from anywhere.
type Parsed struct {
	mu   sync.Mutex
	kept map[string]parsedText
}

type parsedText struct {
	text []byte
	tree any
}

// Get is what was read from a text under a name; nil if it was another text, or none.
func (p *Parsed) Get(name string, text []byte) any {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one, ok := p.kept[name]; ok && bytes.Equal(one.text, text) {
		return one.tree
	}
	return nil
}

// Keep takes what was read from a text, and is not changed any more.
func (p *Parsed) Keep(name string, text []byte, tree any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept == nil {
		p.kept = map[string]parsedText{}
	}
	p.kept[name] = parsedText{text, tree}
}
