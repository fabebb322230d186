package lsp

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"moon/internal/diag"
	"moon/internal/lsp/feature"
	"moon/internal/lsp/index"
	"moon/internal/lsp/text"
	"moon/internal/lsp/wire"
	"moon/plan"
	yaml "moon/plan/playbook"
)

// analyst plans what is open, again and again. One analysis is under way at a time.
type analyst struct {
	options  func(path string) (plan.Options, error)
	snapshot func() documents
	publish  func(wire.Diagnostics)
	settled  func() // an analysis is complete
	log      func(format string, args ...any)
	quiet    time.Duration // how long nothing has to change
	folders  []string

	mu      sync.Mutex
	now     int           // number of the latest change
	done    int           // number of the change that was analysed last
	moved   chan struct{} // closed, and made again, when done changes
	changed chan struct{}
	books   map[string]*index.Book // by path

	// Of the goroutine that analyses alone.
	roots     map[string][]string // playbooks that lead to a document
	forget    bool                // guarded by mu: roots may be others now
	published map[string]bool     // URIs that have diagnostics
}

var errOvertaken = errors.New("the text has changed since")

// newAnalyst has nothing to do yet.
func newAnalyst() *analyst {
	return &analyst{
		moved: make(chan struct{}), changed: make(chan struct{}, 1), books: map[string]*index.Book{}, roots: map[string][]string{},
		published: map[string]bool{},
	}
}

// note says that something has changed. others says that it is more than the text of a document.
func (a *analyst) note(others bool) {
	a.mu.Lock()
	a.now++
	a.forget = a.forget || others
	a.mu.Unlock()
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// work analyses until ctx ends.
func (a *analyst) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.changed:
		}
		if !a.wait(ctx) {
			return
		}
		a.mu.Lock()
		number := a.now
		if a.forget {
			a.roots, a.forget = map[string][]string{}, false
		}
		a.mu.Unlock()
		a.guard(ctx, number)
	}
}

// wait lets a moment pass in which nothing changes.
func (a *analyst) wait(ctx context.Context) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-a.changed:
		case <-time.After(a.quiet):
			return true
		}
	}
}

// guard analyses. A mistake in moon itself must not end the server: the next text may be one that it can read.
func (a *analyst) guard(ctx context.Context, number int) {
	defer func() {
		if r := recover(); r != nil {
			a.log("internal error while planning: %v\n%s", r, debug.Stack())
			a.finish(number, nil)
		}
	}()
	open := a.snapshot()
	edits := index.Edits{Texts: open.edits(), Halted: func() error {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.now != number || ctx.Err() != nil {
			return errOvertaken
		}
		return nil
	}}
	books := a.analyse(open, edits)
	if edits.Halted() == nil {
		a.publishAll(open, books)
		a.finish(number, books)
	}
}

// analyse makes the books of all that is open.
func (a *analyst) analyse(open documents, edits index.Edits) map[string]*index.Book {
	books := map[string]*index.Book{}
	for _, uri := range plan.SortedKeys(open) {
		for _, root := range a.rootsOf(open[uri], open, edits) {
			if edits.Halted() != nil {
				return nil
			}
			if books[root] != nil {
				continue
			}
			o, err := a.options(root)
			if err != nil {
				a.log("%s: %v", root, err)
				continue
			}
			books[root] = index.NewBook(o, edits, a.book(root))
		}
	}
	return books
}

func (a *analyst) book(path string) *index.Book {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.books[path]
}

// finish takes the result of an analysis, and wakes the requests that wait for it. Without a result what there was stays.
func (a *analyst) finish(number int, books map[string]*index.Book) {
	a.mu.Lock()
	if books != nil {
		a.books = books
	}
	a.done = number
	close(a.moved)
	a.moved = make(chan struct{})
	a.mu.Unlock()
	a.settled()
}

// await waits until what has changed by now is analysed, but not longer than limit, and gives the books that have a file.
func (a *analyst) await(ctx context.Context, path string, limit time.Duration) (books []*index.Book) {
	a.mu.Lock()
	number := a.now
	a.mu.Unlock()
	over := time.After(limit)
	for {
		a.mu.Lock()
		done, moved := a.done >= number, a.moved
		a.mu.Unlock()
		if done {
			break
		}
		select {
		case <-moved:
			continue
		case <-ctx.Done():
		case <-over:
		}
		break
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, root := range plan.SortedKeys(a.books) {
		if b := a.books[root]; b.Has(path) {
			books = append(books, b)
		}
	}
	// The playbook itself counts before those that import it.
	slices.SortStableFunc(books, func(x, y *index.Book) int {
		switch {
		case x.Path == path && y.Path != path:
			return -1
		case y.Path == path && x.Path != path:
			return 1
		}
		return 0
	})
	return books
}

// page is a file with its books, its text and those of others.
func page(open documents, path string, books []*index.Book, encoding text.Encoding) feature.Page {
	kept := map[string]*text.Text{}
	textOf := func(path string) *text.Text {
		if d := open.byPath(path); d != nil {
			return d.text
		}
		if t, ok := kept[path]; ok {
			return t
		}
		var t *text.Text
		for _, b := range books {
			if content, ok := b.Text(path); ok {
				t = text.New(content, encoding)
				break
			}
		}
		kept[path] = t
		return t
	}
	return feature.Page{Books: books, Path: path, URI: open.uriOf(path), Text: textOf(path), TextOf: textOf, URIOf: open.uriOf}
}

// publishAll sends the diagnostics of all files that have some, and of those that had some.
func (a *analyst) publishAll(open documents, books map[string]*index.Book) {
	lists := map[string][]wire.Diagnostic{} // by URI
	for _, d := range open {
		lists[d.uri] = a.unplanned(d, books)
	}
	pages := map[string]*feature.Page{}
	for _, root := range plan.SortedKeys(books) {
		b := books[root]
		for i := range b.Found {
			f := &b.Found[i]
			key := root + "\x00" + f.Path
			if pages[key] == nil {
				p := page(open, f.Path, []*index.Book{b}, a.encodingOf(open))
				pages[key] = &p
			}
			p := pages[key]
			if p.Text == nil {
				p.Text = text.New("", text.UTF16) // it cannot be read, which is what is said
			}
			if d := p.Diagnostic(b, f); !slices.ContainsFunc(lists[p.URI],
				func(o wire.Diagnostic) bool { return o.Range == d.Range && o.Message == d.Message }) {
				lists[p.URI] = append(lists[p.URI], d)
			}
		}
	}
	for uri := range a.published {
		if _, ok := lists[uri]; !ok {
			a.publish(wire.Diagnostics{URI: uri, List: []wire.Diagnostic{}})
			delete(a.published, uri)
		}
	}
	for _, uri := range plan.SortedKeys(lists) {
		d := wire.Diagnostics{URI: uri, List: lists[uri]}
		if d.List == nil {
			d.List = []wire.Diagnostic{}
		}
		if one := open[uri]; one != nil {
			d.Version = &one.version
		}
		a.publish(d)
		a.published[uri] = true
	}
}

func (a *analyst) encodingOf(open documents) text.Encoding {
	for _, d := range open {
		return d.text.Encoding()
	}
	return text.UTF16
}

// unplanned says what is wrong with a file of tasks or variables that no playbook leads to: as far as it can be said without one.
func (a *analyst) unplanned(d *document, books map[string]*index.Book) []wire.Diagnostic {
	for _, b := range books {
		if b.Has(d.path) {
			return nil
		}
	}
	o, err := a.options(d.path)
	if err != nil {
		return nil
	}
	f := &yaml.File{Name: d.path, Path: d.path, Text: []byte(d.text.String())}
	var said diag.List
	switch kind := kindOfPart(d.path); kind {
	case "tasks":
		yaml.ParseTasks(f, o.Actions(), &said, false)
	case "handlers":
		yaml.ParseHandlers(f, o.Actions(), &said)
	case "vars":
		yaml.ParseVars(f, &said)
	}
	said.Sort()
	p := feature.Page{Path: d.path, URI: d.uri, Text: d.text, URIOf: func(string) string { return d.uri }}
	b := &index.Book{Path: d.path}
	var list []wire.Diagnostic
	for i := range said {
		list = append(list, p.Diagnostic(b, &index.Found{Diagnostic: said[i], Path: d.path}))
	}
	return list
}

// kindOfPart is what a file holds by where it lies: tasks, handlers or vars; "" if that does not say it.
func kindOfPart(path string) string {
	parts := strings.Split(path, "/")
	if ext := parts[len(parts)-1]; !strings.HasSuffix(ext, ".yml") && !strings.HasSuffix(ext, ".yaml") {
		return ""
	}
	for _, dir := range parts[max(len(parts)-3, 0) : len(parts)-1] {
		switch dir {
		case "tasks", "handlers":
			return dir
		case "vars", "defaults", "group_vars", "host_vars":
			return "vars"
		}
	}
	return ""
}

// workspace are the books of all playbooks around a file that share files with its own, directly or by others: a name may be used in any
// of them.
func (a *analyst) workspace(ctx context.Context, own []*index.Book, path string, open documents) (all []*index.Book, err error) {
	all = slices.Clone(own)
	edits := index.Edits{Texts: open.edits(), Halted: ctx.Err}
	around := playbooksAround(path, a.folders, open)
	if len(around) >= mostPlaybooks {
		return nil, fmt.Errorf("there are more than %d playbooks around: not all of them are searched", mostPlaybooks)
	}
	shares := func(x *index.Index) bool {
		return slices.ContainsFunc(all, func(b *index.Book) bool {
			for file := range x.Files {
				if b.Index.Files[file] != nil {
					return true
				}
			}
			return false
		})
	}
	for added := true; added; {
		added = false
		for _, root := range around {
			if slices.ContainsFunc(all, func(b *index.Book) bool { return b.Has(root) }) {
				continue // it is one of them, or a part of one
			}
			if x := a.scan(root, edits); x == nil || !shares(x) {
				continue
			}
			o, err := a.options(root)
			if err != nil {
				return nil, err
			}
			all, added = append(all, index.NewBook(o, edits, nil)), true
		}
	}
	return all, ctx.Err()
}
