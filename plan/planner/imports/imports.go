package imports

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/planner/known"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/vars"
)

// Reader reads what other playbooks have exported.
type Reader struct {
	Plan     *plan.Plan
	Options  *plan.Options // Values.Imported and Outside.Exports
	Problems *problems.Collector
	Known    *known.Reader
	Given    func(name string) bool // variables that the command line gives
}

// Begin lets the options remember what is asked for, for all plans that are made with them.
func Begin(o *plan.Options) {
	if o.Values.Imported = maps.Clone(o.Values.Imported); o.Values.Imported == nil {
		o.Values.Imported = map[string]plan.Imported{}
	}
}

// Path is the absolute path of the playbook that an import names, which is how its exports are found.
func Path(from, root, home string) string {
	path := source.ResolvePath(from, root, home)
	// The exporting run takes the same way to its own path.
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(real, filepath.Base(path))
	}
	return path
}

// Read gives the variables, in the order in which they are written.
func (r *Reader) Read(list []playbook.Import, renderer func() *plan.Renderer) (bound []vars.Binding) {
	for i := range list {
		m := &list[i]
		wanted := slices.DeleteFunc(slices.Clone(m.Variables()), func(e playbook.Entry) bool { return r.Given(e.Key) })
		if len(wanted) == 0 {
			continue // nothing of it counts, so it need not be there
		}
		request := plan.ImportRequest{Playbook: Path(m.From.Text(), r.Plan.Root, r.Options.Home)}
		request.Shown = plan.ShownPath(r.Plan.Root, request.Playbook)
		if near, err := filepath.Rel(r.Plan.Root, request.Playbook); err == nil {
			request.Shown = near
		}
		if request.Playbook == filepath.Join(r.Plan.Root, r.Plan.RootFile) {
			r.errorf(m, "import from another playbook", "`%s` is this playbook itself", m.From.Text())
			bound = append(bound, r.bind(m, wanted, request, plan.Imported{Unknown: true})...)
			continue
		}
		render := renderer()
		optional := r.Known.ReadFlag(m.Optional, "optional", render, false)
		r.Known.ReadDuration(m.Wait, "wait", render, &request.Wait)
		got, ok := r.ask(m, request)
		switch {
		case !ok:
			got = plan.Imported{Unknown: true} // what uses it says nothing more
		case !got.Unknown && got.Run == "" && optional:
			continue
		case !got.Unknown && got.Run == "":
			r.errorf(m, r.howToExport(request), "%s has exported nothing yet", request.Shown)
			got.Unknown = true
		}
		if in := (plan.Input{Path: "exports of " + request.Shown, Digest: digestOf(got)}); !got.Unknown && !slices.Contains(r.Plan.Inputs, in) {
			r.Plan.Inputs = append(r.Plan.Inputs, in)
		}
		bound = append(bound, r.bind(m, wanted, request, got)...)
	}
	return bound
}

// ask gives what a playbook has exported. It is asked once for each plan and for all plans that take its place.
func (r *Reader) ask(m *playbook.Import, request plan.ImportRequest) (got plan.Imported, ok bool) {
	got, ok = r.Options.Values.Imported[request.Playbook]
	if ok {
		return got, true
	}
	if r.Options.Outside.Exports == nil {
		return plan.Imported{Unknown: true}, true
	}
	if source.NewDisk(nil).Exists(request.Playbook, true) != nil {
		r.errorf(m, "correct the path; it starts in the directory of this file", "there is no playbook %s", request.Shown)
		return got, false
	}
	if r.Problems.Found.HasErrors() {
		request.Wait = 0 // nothing will run
	}
	got, err := r.Options.Outside.Exports(request)
	if err != nil {
		r.errorf(m, r.howToExport(request), "%s", err)
		return got, false
	}
	r.Options.Values.Imported[request.Playbook] = got
	return got, true
}

// digestOf is over the values alone: a run that exports the same again changes nothing.
func digestOf(got plan.Imported) string {
	text, err := json.Marshal(got.Values)
	if err != nil {
		text = []byte(err.Error()) // they came from JSON
	}
	return source.DigestOf(text)
}

// bind makes variables of what was exported.
func (r *Reader) bind(m *playbook.Import, wanted []playbook.Entry, request plan.ImportRequest, got plan.Imported) (bound []vars.Binding) {
	values := map[string]any(got.Values)
	if len(m.Names) > 0 && !got.Unknown {
		if values = r.choose(m, request, got); values == nil {
			got.Unknown = true
		}
	}
	from := "exports of " + request.Shown
	if !got.Unknown {
		from = fmt.Sprintf("%s, run %s", from, got.Run)
	}
	for _, e := range wanted {
		v := values[e.Key]
		switch {
		case got.Unknown:
			v = value.Unknown{}
		case m.As != "":
			v = maps.Clone(values)
		}
		at := e.Pos.Origin(nil)
		r.Plan.Imports = append(r.Plan.Imports, plan.Import{Name: e.Key, From: request.Shown, Run: got.Run, Value: v, Origin: at})
		bound = append(bound, vars.Binding{Name: e.Key, Value: v, From: from, Origin: at})
	}
	return bound
}

// choose takes the exports that are named, and reports those that there are not. It gives nil then.
func (r *Reader) choose(m *playbook.Import, request plan.ImportRequest, got plan.Imported) map[string]any {
	chosen := map[string]any{}
	for _, e := range m.Names {
		v, ok := got.Values[e.Key]
		if !ok {
			there := slices.Sorted(maps.Keys(got.Values))
			hint := suggest.DidYouMean(e.Key, there)
			if hint == "" {
				hint = "it exports " + strings.Join(there, ", ")
			}
			r.Problems.Errorf(e.Pos, utf8.RuneCountInString(e.Key), nil, hint, "%s does not export `%s` (run %s)",
				request.Shown, e.Key, got.Run)
			continue
		}
		chosen[e.Key] = v
	}
	if len(chosen) < len(m.Names) {
		return nil
	}
	return chosen
}

// howToExport says what to do about exports that are not there.
func (r *Reader) howToExport(request plan.ImportRequest) string {
	path := request.Playbook
	if near, err := filepath.Rel(r.Options.Dir, path); err == nil {
		path = near
	}
	hint := "run it first: moon run " + path
	if request.Wait > 0 {
		hint += fmt.Sprintf("; moon run waits up to %s for it", request.Patience())
	}
	return hint
}

func (r *Reader) errorf(m *playbook.Import, hint, format string, args ...any) {
	r.Problems.Errorf(m.From.Pos(), utf8.RuneCountInString(m.From.Text()), nil, hint, format, args...)
}
