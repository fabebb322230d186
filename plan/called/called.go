package called

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"moon/exec/spec"
)

// Python has a filter, test or lookup in Python called. root is the directory of the playbook, what says which one it is, for people, and
// request is a JSON object. answer gives
// the answers to the questions that come meanwhile, and may end the call. The error is a *Failure for what the file itself has said.
type Python func(root, what string, request []byte, answer func(question []byte) (answer []byte, stop bool)) ([]byte, error)

// Plugin has a plugin of moon's protocol give what a filter or a lookup comes to, in JSON. root is the directory of the playbook, and
// params is a JSON object. The error is a *Failure for what the plugin itself has said.
type Plugin func(root string, c *spec.Callee, params []byte) ([]byte, error)

// Failure is what is wrong with a file in Python, or with what it was given.
type Failure struct {
	Kind string // failed, undefined, refused, changed
	Text string
	Line int // of the file; 0 if that is not known
}

func (f *Failure) Error() string { return f.Text }

// ErrNone is in the errors of Python if no ansible-core is installed.
var ErrNone = errors.New("no ansible-core")

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

// Notes are what texts of a plan call, and the answers that it was made with.
type Notes struct {
	mu      sync.Mutex
	callees []*spec.Callee
	answers []Answer
	noted   map[string]bool
}

// NoteAnswer notes an answer that the plan was made with.
func (n *Notes) NoteAnswer(a Answer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	parts := []string{a.Request}
	for _, q := range a.Questions {
		parts = append(parts, q.Answer)
	}
	key := strings.Join(parts, " ")
	if n.noted[key] {
		return
	}
	if n.noted == nil {
		n.noted = map[string]bool{}
	}
	n.noted[key] = true
	n.answers = append(n.answers, a)
}

// Answers are those of files in Python that the plan was made with.
func (n *Notes) Answers() []Answer {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.answers)
}

// NoteCallee notes that a text of the plan calls what is written in Python.
func (n *Notes) NoteCallee(c *spec.Callee) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.callees = append(n.callees, c)
}

// Callees are the filters, tests and lookups in Python that texts of the plan call, in order.
func (n *Notes) Callees() []*spec.Callee {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := slices.Clone(n.callees)
	slices.SortFunc(list, func(a, b *spec.Callee) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Untrusted is one of the callees that is not called because no one has trusted its file; nil if there is none.
func (n *Notes) Untrusted() *spec.Callee {
	return n.first(func(c *spec.Callee) bool { return c.Untrusted })
}

// Barred is a file that may not run now; nil if all may.
func (n *Notes) Barred() *spec.Callee { return n.first(func(c *spec.Callee) bool { return c.Barred }) }

func (n *Notes) first(is func(*spec.Callee) bool) *spec.Callee {
	for _, c := range n.Callees() {
		if is(c) {
			return c
		}
	}
	return nil
}

// Write writes what decides about the values of a plan: an edited file makes another plan.
func (n *Notes) Write(w io.Writer) {
	for _, c := range n.Callees() {
		fmt.Fprintf(w, "%s %s %s\n", c.Kind, c.Name, c.Digest)
		for _, m := range c.Members {
			fmt.Fprintf(w, " %s\n", m.Digest)
		}
	}
}
