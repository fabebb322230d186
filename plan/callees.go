package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"moon/exec/spec"
)

// Python has a filter, test or lookup in Python called. root is the directory of the playbook, what says which one it is, for people, and request is a JSON object. answer gives
// the answers to the questions that come meanwhile, and may end the call. The error is a *PythonFailure for what the file itself has said.
type Python func(root, what string, request []byte, answer func(question []byte) (answer []byte, stop bool)) ([]byte, error)

// PythonFailure is what is wrong with a file in Python, or with what it was given.
type PythonFailure struct {
	Kind string // failed, undefined, refused, changed
	Text string
	Line int // of the file; 0 if that is not known
}

func (f *PythonFailure) Error() string { return f.Text }

// ErrNoPython is in the errors of Python if no ansible-core is installed.
var ErrNoPython = errors.New("no ansible-core")

// Asked is what files in Python have answered while a plan was made. It is kept with the plan, so that the plan is the same when it is made
// again: on another day, by a program that is not asked twice, and without running anything.
type Asked struct {
	mu sync.Mutex
	by map[string][]Answer // by the digest of the request
}

// Answer is what a file has answered to a request, after questions of its own.
type Answer struct {
	Request   string     `json:"request"` // its digest
	Questions []Question `json:"questions,omitempty"`
	Result    string     `json:"result"` // JSON
}

// Question is what was asked meanwhile, and the digest of what that was.
type Question struct {
	Text   string `json:"text"`
	Answer string `json:"answer"`
}

// NewAsked has some answers.
func NewAsked(list []Answer) *Asked {
	a := &Asked{by: map[string][]Answer{}}
	for _, one := range list {
		a.by[one.Request] = append(a.by[one.Request], one)
	}
	return a
}

// Of are the answers to a request.
func (a *Asked) Of(request string) []Answer {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.by[request]
}

// Keep keeps an answer.
func (a *Asked) Keep(one Answer) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.by[one.Request] = append(a.by[one.Request], one)
}

// callees are those that texts of a plan call, and the answers that it was made with.
type callees struct {
	mu      sync.Mutex
	list    []*spec.Callee
	answers []Answer
	noted   map[string]bool
}

// NoteAnswer notes an answer that the plan was made with.
func (p *Plan) NoteAnswer(a Answer) {
	noted := &p.Basis.callees
	noted.mu.Lock()
	defer noted.mu.Unlock()
	key := a.Request
	for _, q := range a.Questions {
		key += " " + q.Answer
	}
	if noted.noted[key] {
		return
	}
	if noted.noted == nil {
		noted.noted = map[string]bool{}
	}
	noted.noted[key] = true
	noted.answers = append(noted.answers, a)
}

// Answered are the answers of files in Python that the plan was made with.
func (p *Plan) Answered() []Answer {
	noted := &p.Basis.callees
	noted.mu.Lock()
	defer noted.mu.Unlock()
	return slices.Clone(noted.answers)
}

// NoteCallee notes that a text of the plan calls what is written in Python.
func (p *Plan) NoteCallee(c *spec.Callee) {
	noted := &p.Basis.callees
	noted.mu.Lock()
	defer noted.mu.Unlock()
	noted.list = append(noted.list, c)
}

// Callees are the filters, tests and lookups in Python that texts of the plan call, in order.
func (p *Plan) Callees() []*spec.Callee {
	noted := &p.Basis.callees
	noted.mu.Lock()
	defer noted.mu.Unlock()
	list := slices.Clone(noted.list)
	slices.SortFunc(list, func(a, b *spec.Callee) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// writeCallees is the part of a digest that says what templates call: an edited file makes another plan.
func (p *Plan) writeCallees(w io.Writer) {
	if p.Basis == nil {
		return // it was put together by hand
	}
	for _, c := range p.Callees() {
		fmt.Fprintf(w, "%s %s %s\n", c.Kind, c.Name, c.Digest)
		for _, m := range c.Members {
			fmt.Fprintf(w, " %s\n", m.Digest)
		}
	}
}
