package callees

import (
	"moon/plan"
	"moon/plan/eval/call"
)

// Talk answers what an action plugin in Python asks for while it does the work of a step: variables, and entries of maps.
type Talk struct {
	talk
	env *plan.Env
}

// NewTalk answers with what a step sees.
func NewTalk(p *plan.Plan, env *plan.Env) *Talk { return &Talk{talk{of: p}, env} }

// Answer answers a question. An error is what the value that was asked for came to; nothing more is to be asked then.
func (t *Talk) Answer(question []byte) ([]byte, error) {
	// Each is an evaluation of its own: how much a plugin asks for is no work of one text.
	t.in = &call.Input{Scope: t.env.Engine.ScopeIn(t.env)}
	answer, stop := t.answer(question)
	if stop {
		return nil, t.stopped
	}
	return answer, nil
}

// Encode writes a value as the helper takes it.
func (t *Talk) Encode(v any) ([]byte, error) {
	w := &writer{lazy: t.number}
	err := w.write(v)
	return w.b, err
}

// SearchPath are the directories in which files of the step are looked for.
func (t *Talk) SearchPath() []string {
	path, _ := t.searchPath(t.env)["ansible_search_path"].([]string)
	return path
}
