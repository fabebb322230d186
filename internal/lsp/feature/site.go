package feature

import (
	"moon/internal/lsp/index"
	"moon/internal/lsp/text"
	"moon/internal/lsp/wire"
)

// Page is a text and the books that have it.
type Page struct {
	Books  []*index.Book
	Path   string // absolute
	URI    string
	Text   *text.Text
	TextOf func(path string) *text.Text // of another file; nil if it cannot be read
	URIOf  func(path string) string
}

// Site is a place in a page.
type Site struct {
	Page
	Offset int
}

// locate gives a place of an index as the protocol has it.
func (p *Page) locate(at index.Place) (wire.Location, bool) {
	t := p.textOf(at.Path)
	if t == nil {
		return wire.Location{}, false
	}
	return wire.Location{URI: p.URIOf(at.Path), Range: t.Span(at.Line, at.Column, at.Width)}, true
}

func (p *Page) textOf(path string) *text.Text {
	if path == p.Path {
		return p.Text
	}
	return p.TextOf(path)
}

// marks are what is named at the site, each with its book.
func (s *Site) marks() (found []marked) {
	line, column := s.Text.Place(s.Offset)
	for _, b := range s.Books {
		for _, m := range b.Index.At(s.Path, line, column) {
			found = append(found, marked{m, b})
		}
	}
	return found
}

type marked struct {
	index.Mark
	book *index.Book
}
