package plan

import (
	"slices"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan/eval"
	"moon/plan/eval/call"
	"moon/plan/playbook"
	"moon/plan/unequal"
	"moon/plan/vars"
)

// What a step registers is unknown before the run, but not what fields it has, nor of which types the best known of them are. A slip
// in them would show only in the run, or never: a condition that compares a number with a string is false for good.

// commonFields are in the result of every action.
var commonFields = []string{
	"changed", "failed", "skipped", "rc", "stdout", "stdout_lines", "stderr", "stderr_lines", "start", "end", "delta", "duration_ms",
	"attempts", "msg", "cmd",
	"results", "warnings", "diff", "invocation", "exception", "module_stdout", "module_stderr", "skip_reason", "skipped_reason",
	"false_condition",
	"unreachable", "finished", "started", "ansible_facts", "ansible_job_id", "ansible_loop_var", "failed_when_result", "item",
}

// registeredBy is the action whose result a name has for certain here; nil if that is not known.
func (r *Renderer) registeredBy(name string) *spec.Action {
	e, ok := call.Base(r.Env).(*Env)
	if !ok || e.Results != nil || e.Frame == nil {
		return nil
	}
	if _, own := e.Extra[name]; own {
		return nil
	}
	var a *spec.Action
	e.Frame.Each(name, func(b *vars.Binding) bool {
		if b.How == vars.Registered && len(b.Steps) > 0 {
			a = e.Plan.Steps[b.Steps[0]].Task.Action
		}
		return true
	})
	// What an action may return without declaring it cannot be misspelt.
	if a == nil || len(a.Returns) == 0 || a.Open {
		return nil
	}
	return a
}

// checkField warns of a field that the result of a step does not have, if another is near.
func (r *Renderer) checkField(v playbook.Value, ref eval.Ref) {
	if r.Report == nil || r.Lenient || ref.Guarded || ref.Call || len(ref.Path) == 0 || slices.Contains(r.Guards, ref.Name) {
		return
	}
	field, isText := ref.Path[0].(string)
	a := r.registeredBy(ref.Name)
	if !isText || a == nil || slices.Contains(commonFields, field) {
		return
	}
	known, inside := slices.Clone(commonFields), ""
	for _, of := range a.Returns {
		first, rest, _ := strings.Cut(of.Name, ".")
		known = append(known, first)
		if rest == field {
			inside = of.Name
		}
	}
	if slices.Contains(known, field) {
		return
	}
	near := suggest.Nearest(field, known)
	if inside != "" {
		near = inside
	}
	from := ref.Offset + len(ref.Name) + 1
	// The place is known only if the text has the field right behind the name.
	if near == "" || from+len(field) > len(v.Text()) || v.Text()[from:from+len(field)] != field {
		return
	}
	r.Report(diag.Diagnostic{
		Severity: diag.Warning, Pos: v.PosAt(from), Width: utf8.RuneCountInString(field), Chain: r.Chain,
		Message: "the result of " + a.Name + " has no `" + field + "`", Hint: "did you mean `" + ref.Name + "." + near + "`?",
	})
}

// checkResults looks at how a text uses what steps have registered.
func (r *Renderer) checkResults(v playbook.Value, refs []eval.Ref) {
	if r.Facts == nil || r.Report == nil { // in the run it shows
		return
	}
	for _, ref := range refs {
		r.checkField(v, ref)
	}
	if len(refs) > 0 {
		unequal.Check(v, r.Chain, r.Report, func(name string) bool {
			a := r.registeredBy(name)
			return a != nil && a.Command && slices.ContainsFunc(refs, func(ref eval.Ref) bool { return ref.Name == name })
		})
	}
}

// ResultNames are the names a condition on a step's result sees beside the variables. Plays have only that of register: the others
// are names of variables there.
func (p *Plan) ResultNames(register string) (names []string) {
	if p.Dialect.Rules().FieldsAreNames {
		names = []string{
			"result", "stdout", "stdout_lines", "stderr", "stderr_lines", "rc", "changed", "failed", "skipped", "start", "end",
			"duration_ms", "attempts", "msg",
		}
	}
	if register != "" {
		names = append(names, register)
	}
	return names
}

// IsResultName reports whether a name stands for a step's own result, or a part of it, in the conditions on that.
func (p *Plan) IsResultName(name, register string) bool {
	return name == register || slices.Contains(p.ResultNames(""), name)
}
