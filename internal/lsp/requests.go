package lsp

import (
	"context"
	"encoding/json"
	"time"

	"moon/internal/lsp/feature"
	"moon/internal/lsp/wire"
)

// How long a request waits for a plan of the newest text. Completions come while someone types, and take what there is.
const (
	patience = 5 * time.Second
	haste    = 200 * time.Millisecond
)

// requests are the requests that a server answers.
func requests(s *server) map[string]handler {
	// Each waits for the plan, and then reads what does not change any more.
	return map[string]handler{
		"initialize": s.initialize,
		"shutdown":   s.shutdown,
		"textDocument/documentSymbol": onPage(s, func(_ context.Context, p *feature.Page, _ *wire.Hints) (any, error) {
			return p.Outline(), nil
		}),
		"textDocument/codeLens": onPage(s, func(_ context.Context, p *feature.Page, _ *wire.Hints) (any, error) {
			return p.Lenses(), nil
		}),
		"textDocument/inlayHint": onPage(s, func(_ context.Context, p *feature.Page, q *wire.Hints) (any, error) {
			return p.Hints(q.Range), nil
		}),
		"textDocument/codeAction": onPage(s, func(_ context.Context, p *feature.Page, q *wire.Hints) (any, error) {
			return p.Fixes(q.Range), nil
		}),
		"textDocument/definition": onSite(s, patience, func(_ context.Context, at *feature.Site, _ string) (any, error) {
			return at.Define(), nil
		}),
		"textDocument/hover": onSite(s, patience, func(_ context.Context, at *feature.Site, _ string) (any, error) {
			if h := at.Hover(); h != nil {
				return h, nil
			}
			return nil, nil
		}),
		"textDocument/completion": onSite(s, haste, func(_ context.Context, at *feature.Site, _ string) (any, error) {
			return at.Complete(), nil
		}),
		"textDocument/prepareRename": onSite(s, patience, func(ctx context.Context, at *feature.Site, _ string) (any, error) {
			if err := s.widen(ctx, at); err != nil {
				return nil, err
			}
			return at.Renamable()
		}),
		"textDocument/rename": onSite(s, patience, func(ctx context.Context, at *feature.Site, name string) (any, error) {
			if err := s.widen(ctx, at); err != nil {
				return nil, err
			}
			return at.Rename(name)
		}),
	}
}

// onPage answers what is about a whole document. One that is not open has no answer.
func onPage(s *server, do func(context.Context, *feature.Page, *wire.Hints) (any, error)) handler {
	return func(ctx context.Context, open documents, params json.RawMessage) (any, error) {
		var q wire.Hints
		if err := json.Unmarshal(params, &q); err != nil {
			return nil, &wire.Error{Code: wire.InvalidParams, Message: err.Error()}
		}
		p := s.pageOf(ctx, open, q.Document.URI, patience)
		if p == nil {
			return nil, nil
		}
		return do(ctx, p, &q)
	}
}

// onSite answers what is about a place.
func onSite(s *server, limit time.Duration, do func(context.Context, *feature.Site, string) (any, error)) handler {
	return func(ctx context.Context, open documents, params json.RawMessage) (any, error) {
		var q wire.Rename
		if err := json.Unmarshal(params, &q); err != nil {
			return nil, &wire.Error{Code: wire.InvalidParams, Message: err.Error()}
		}
		p := s.pageOf(ctx, open, q.Document.URI, limit)
		if p == nil {
			return nil, nil
		}
		return do(ctx, &feature.Site{Page: *p, Offset: p.Text.Offset(q.Position)}, q.NewName)
	}
}

// pageOf is a document at the time of the request, once it has been planned; nil if it is not open.
func (s *server) pageOf(ctx context.Context, open documents, uri string, limit time.Duration) *feature.Page {
	d := open[uri]
	if d == nil {
		return nil
	}
	p := page(open, d.path, s.analyst.await(ctx, d.path, limit), s.docs.encoding)
	return &p
}

// widen adds the books of other playbooks that have to do with a place.
func (s *server) widen(ctx context.Context, at *feature.Site) error {
	open := s.docs.snapshot()
	books, err := s.analyst.workspace(ctx, at.Books, at.Path, open)
	if err != nil {
		return err
	}
	at.Page = page(open, at.Path, books, s.docs.encoding)
	return nil
}
