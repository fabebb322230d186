package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"moon/internal/lsp/text"
	"moon/internal/lsp/wire"
	"moon/plan"
)

// Options are what a server needs to know.
type Options struct {
	// Plan is how a playbook is planned, by its path: without anything that starts programs or asks hosts.
	Plan    func(path string) (plan.Options, error)
	Version string
	Quiet   time.Duration // how long nothing has to change before it is planned; 0: 150 ms
}

// usualQuiet is longer than the pause between two keys.
const usualQuiet = 150 * time.Millisecond

// server serves one client.
type server struct {
	conn    *wire.Conn
	logs    io.Writer
	o       Options
	docs    library
	analyst *analyst

	handlers map[string]handler
	running  sync.WaitGroup

	mu        sync.Mutex
	cancels   map[string]context.CancelFunc // of requests, by their ids
	begun     bool                          // initialize was answered
	ended     bool                          // shutdown was asked for
	registers bool                          // the client can be asked to watch files
	refreshes []string                      // what the client wants to be said when a plan is new
	ids       int
}

// handler answers a request about the documents that were open when it came.
type handler func(ctx context.Context, open documents, params json.RawMessage) (any, error)

// Serve talks to a client until that ends it. The error is nil if it has done so in order, with shutdown before.
func Serve(ctx context.Context, in io.Reader, out, logs io.Writer, o Options) error {
	s := newServer(in, out, logs, o)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.running.Go(func() { s.analyst.work(ctx) })
	err := s.read(ctx)
	stop()
	s.running.Wait()
	return err
}

func newServer(in io.Reader, out, logs io.Writer, o Options) *server {
	if o.Quiet == 0 {
		o.Quiet = usualQuiet
	}
	s := &server{conn: wire.NewConn(in, out), logs: logs, o: o, cancels: map[string]context.CancelFunc{}}
	s.docs.encoding = text.UTF16
	s.analyst = newAnalyst()
	s.analyst.options, s.analyst.snapshot, s.analyst.log, s.analyst.quiet = o.Plan, s.docs.snapshot, s.log, o.Quiet
	s.analyst.publish = func(d wire.Diagnostics) { s.notify("textDocument/publishDiagnostics", d) }
	s.analyst.settled = s.refresh
	s.handlers = requests(s)
	return s
}

func (s *server) log(format string, args ...any) {
	fmt.Fprintf(s.logs, "moon lsp: "+format+"\n", args...)
}

func (s *server) notify(method string, params any) {
	if err := s.conn.Notify(nil, method, params); err != nil {
		s.log("%v", err)
	}
}

// ask sends a request whose answer says nothing that would be of use.
func (s *server) ask(method string, params any) {
	s.mu.Lock()
	s.ids++
	id := s.ids
	s.mu.Unlock()
	if err := s.conn.Notify(id, method, params); err != nil {
		s.log("%v", err)
	}
}

// refresh has the client ask again for what it shows of a plan.
func (s *server) refresh() {
	s.mu.Lock()
	methods := s.refreshes
	s.mu.Unlock()
	for _, method := range methods {
		s.ask(method, nil)
	}
}

// errUnordered is the end of a client that has not said shutdown.
var errUnordered = errors.New("the client ended without `shutdown`")

// read takes messages until the client says exit, or ends.
func (s *server) read(ctx context.Context) error {
	for {
		m, err := s.conn.Read()
		if wrong, ok := errors.AsType[*wire.Error](err); ok {
			var id json.RawMessage
			if m != nil {
				id = m.ID
			}
			s.answer(id, nil, wrong)
			continue
		}
		s.mu.Lock()
		ended := s.ended
		s.mu.Unlock()
		switch {
		case errors.Is(err, io.EOF) && ended:
			return nil
		case errors.Is(err, io.EOF):
			return errUnordered
		case err != nil:
			return err
		case m.Method == "exit" && ended:
			return nil
		case m.Method == "exit":
			return errUnordered
		case m.Asks():
			s.serve(ctx, m)
		case m.Method != "":
			s.take(m)
		}
	}
}

func (s *server) answer(id json.RawMessage, result any, wrong *wire.Error) {
	if err := s.conn.Answer(id, result, wrong); err != nil {
		s.log("%v", err)
	}
}

// serve answers a request, at the same time as others. What must come in order is answered at once.
func (s *server) serve(ctx context.Context, m *wire.Message) {
	s.mu.Lock()
	begun, ended := s.begun, s.ended
	s.mu.Unlock()
	h, known := s.handlers[m.Method]
	open := s.docs.snapshot()
	switch {
	case ended:
		s.answer(m.ID, nil, &wire.Error{Code: wire.InvalidRequest, Message: "the server has been shut down"})
	case !begun && m.Method != "initialize":
		s.answer(m.ID, nil, &wire.Error{Code: wire.NotInitialized, Message: "the first request is `initialize`"})
	case begun && m.Method == "initialize":
		s.answer(m.ID, nil, &wire.Error{Code: wire.InvalidRequest, Message: "the server is initialized"})
	case !known:
		s.answer(m.ID, nil, &wire.Error{Code: wire.NoSuchMethod, Message: "unknown method " + m.Method})
	case m.Method == "initialize", m.Method == "shutdown":
		s.run(ctx, h, open, m)
	default:
		ctx, cancel := context.WithCancel(ctx)
		s.mu.Lock()
		s.cancels[string(m.ID)] = cancel
		s.mu.Unlock()
		s.running.Go(func() {
			defer func() {
				cancel()
				s.mu.Lock()
				delete(s.cancels, string(m.ID))
				s.mu.Unlock()
			}()
			s.run(ctx, h, open, m)
		})
	}
}

// run has a handler make the answer. A panic of it is an answer as well.
func (s *server) run(ctx context.Context, h handler, open documents, m *wire.Message) {
	result, err := func() (result any, err error) {
		defer func() {
			if r := recover(); r != nil {
				s.log("internal error in %s: %v\n%s", m.Method, r, debug.Stack())
				err = &wire.Error{Code: wire.InternalError, Message: fmt.Sprintf("internal error: %v", r)}
			}
		}()
		return h(ctx, open, m.Params)
	}()
	wrong, ok := errors.AsType[*wire.Error](err)
	switch {
	case err == nil && ctx.Err() == nil:
		s.answer(m.ID, result, nil)
	case ctx.Err() != nil:
		s.answer(m.ID, nil, &wire.Error{Code: wire.Cancelled, Message: "cancelled"})
	case ok:
		s.answer(m.ID, nil, wrong)
	default:
		s.answer(m.ID, nil, &wire.Error{Code: wire.RequestFailed, Message: err.Error()})
	}
}

// take takes a notification.
func (s *server) take(m *wire.Message) {
	defer func() {
		if r := recover(); r != nil {
			s.log("internal error in %s: %v\n%s", m.Method, r, debug.Stack())
		}
	}()
	s.mu.Lock()
	ready := s.begun && !s.ended
	s.mu.Unlock()
	if !ready && m.Method != "$/cancelRequest" {
		return // as the protocol has it
	}
	if err := s.takeReady(m); err != nil {
		s.log("%s: %v", m.Method, err)
	}
}

func (s *server) takeReady(m *wire.Message) error {
	// Unknown notifications are passed over, as the protocol has it.
	switch m.Method {
	case "initialized":
		s.watchFiles()
	case "textDocument/didOpen":
		var p wire.DidOpen
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return err
		}
		s.docs.put(p.Document.URI, p.Document.Version, p.Document.Text)
		s.analyst.note(true)
	case "textDocument/didChange":
		var p wire.DidChange
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return err
		}
		if !s.docs.change(&p) {
			return fmt.Errorf("%s is not open", p.Document.URI)
		}
		s.analyst.note(false)
	case "textDocument/didClose":
		var p struct {
			Document wire.Document `json:"textDocument"`
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return err
		}
		s.docs.drop(p.Document.URI)
		s.analyst.note(true)
	case "textDocument/didSave", "workspace/didChangeWatchedFiles", "workspace/didChangeConfiguration":
		s.analyst.note(true)
	case "$/cancelRequest":
		var p struct {
			ID json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if cancel := s.cancels[string(p.ID)]; cancel != nil {
			cancel()
		}
	}
	return nil
}

// watchFiles has the client say when files change that are not open.
func (s *server) watchFiles() {
	s.mu.Lock()
	registers := s.registers
	s.mu.Unlock()
	if !registers {
		return
	}
	type object = map[string]any
	s.ask("client/registerCapability", object{"registrations": []any{object{
		"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": object{
			"watchers": []any{object{"globPattern": "**/*.{yml,yaml,j2,cfg,ini}"}, object{"globPattern": "**/{hosts,inventory}"}},
		},
	}}})
}

// initialize agrees with the client on what there is.
func (s *server) initialize(_ context.Context, _ documents, params json.RawMessage) (any, error) {
	var p wire.Initialize
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, &wire.Error{Code: wire.InvalidParams, Message: err.Error()}
	}
	s.docs.encoding = text.Choose(p.Capabilities.General.Encodings)
	for _, f := range p.Folders {
		s.addFolder(f.URI)
	}
	if len(p.Folders) == 0 {
		s.addFolder(p.RootURI)
	}
	s.mu.Lock()
	s.begun, s.registers = true, p.Capabilities.Workspace.Watched.Dynamic
	if p.Capabilities.Workspace.Inlay.Refresh {
		s.refreshes = append(s.refreshes, "workspace/inlayHint/refresh")
	}
	if p.Capabilities.Workspace.Lens.Refresh {
		s.refreshes = append(s.refreshes, "workspace/codeLens/refresh")
	}
	s.mu.Unlock()
	type object = map[string]any
	return object{
		"serverInfo": object{"name": "moon", "version": s.o.Version},
		"capabilities": object{
			"positionEncoding":       s.docs.encoding,
			"textDocumentSync":       object{"openClose": true, "change": 1, "save": object{"includeText": false}},
			"documentSymbolProvider": true, "definitionProvider": true, "hoverProvider": true, "inlayHintProvider": true,
			"completionProvider": object{"triggerCharacters": []string{" ", "{", "."}},
			"renameProvider":     object{"prepareProvider": true},
			"codeActionProvider": object{"codeActionKinds": []string{"quickfix"}},
			"codeLensProvider":   object{"resolveProvider": false},
		},
	}, nil
}

func (s *server) addFolder(uri string) {
	path, ok := plainPath(uri)
	if !ok {
		return
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	s.analyst.folders = append(s.analyst.folders, path)
}

// shutdown takes no more requests. What is under way is answered.
func (s *server) shutdown(context.Context, documents, json.RawMessage) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	return nil, nil
}
