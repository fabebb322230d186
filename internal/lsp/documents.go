package lsp

import (
	"maps"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"moon/internal/lsp/text"
	"moon/internal/lsp/wire"
)

// document is a text that the client has open.
type document struct {
	uri     string
	path    string // absolute, as the planner has it
	version int
	text    *text.Text
}

// documents are those that are open, by their URI. A snapshot does not change.
type documents map[string]*document

// byPath finds the document of a file; nil if it is not open.
func (d documents) byPath(path string) *document {
	for _, one := range d {
		if one.path == path {
			return one
		}
	}
	return nil
}

// library keeps the documents.
type library struct {
	mu       sync.Mutex
	open     documents
	encoding text.Encoding
}

// snapshot is what is open now.
func (l *library) snapshot() documents {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open // it is replaced and never changed
}

// put takes a text in the place of what a document had.
func (l *library) put(uri string, version int, content string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	path, ok := pathOf(uri)
	if !ok {
		return // not a file: nothing could name it
	}
	next := maps.Clone(l.open)
	if next == nil {
		next = documents{}
	}
	next[uri] = &document{uri, path, version, text.New(content, l.encoding)}
	l.open = next
}

// change applies what a client has changed. It reports false if the document is not open.
func (l *library) change(c *wire.DidChange) bool {
	was := l.snapshot()[c.Document.URI]
	if was == nil {
		return false
	}
	now := was.text
	for _, one := range c.Changes {
		if one.Range == nil {
			now = text.New(one.Text, l.encoding)
			continue
		}
		all := now.String()
		from, to := now.Offset(one.Range.Start), now.Offset(one.Range.End)
		now = text.New(all[:from]+one.Text+all[max(from, to):], l.encoding)
	}
	l.put(c.Document.URI, c.Document.Version, now.String())
	return true
}

// drop forgets a document: what is on the disk counts again.
func (l *library) drop(uri string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := maps.Clone(l.open)
	delete(next, uri)
	l.open = next
}

// edits are the texts by their paths, as a disk takes them: under each name by which the planner may ask for them.
func (d documents) edits() map[string][]byte {
	texts := make(map[string][]byte, len(d))
	for _, one := range d {
		content := []byte(one.text.String())
		texts[one.path] = content
		if plain, ok := plainPath(one.uri); ok {
			texts[plain] = content
			if real, err := filepath.EvalSymlinks(plain); err == nil {
				texts[real] = content
			}
		}
	}
	return texts
}

// plainPath is the path that a URI names.
func plainPath(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || !strings.HasPrefix(u.Path, "/") {
		return "", false
	}
	return filepath.Clean(u.Path), true
}

// pathOf is the same with the links of its directory followed, as the planner has it.
func pathOf(uri string) (string, bool) {
	path, ok := plainPath(uri)
	if !ok {
		return "", false
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	return path, true
}

// uriOf is the URI of a file: that of the client, if it has it open.
func (d documents) uriOf(path string) string {
	if one := d.byPath(path); one != nil {
		return one.uri
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
