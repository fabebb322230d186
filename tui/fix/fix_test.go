package fix_test

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"moon/events"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/secret"
	"moon/tui/fix"
)

// release is two steps in a block, the first of which uses values of all kinds.
func release() *plan.Plan {
	set := secret.NewSet()
	p := &plan.Plan{
		Scopes: []plan.Scope{{Kind: plan.ScopePlaybook, Last: 3}, {ID: 1, Kind: plan.ScopeBlock, Path: "site/migrate", Last: 2}},
		Steps: []plan.Step{
			{
				Path: "site/migrate/run", Scope: 1, Args: map[string]any{"cmd": "migrate 5s"}, Summary: "migrate 5s", Cwd: "/srv", Env: map[string]string{"LANG": "C"},
				Uses: []plan.Use{{Name: "lock", Value: "5s"}, {Name: "port", Value: 80}, {Name: "token", Value: value.Mark(set, "hunter2hunter2", value.Every)}},
			},
			{Index: 1, Path: "site/migrate/check", Scope: 1, Uses: []plan.Use{{Name: "lock", Value: "5s"}}},
			{Index: 2, Path: "site/hidden", NoLog: true},
		},
	}
	for i := range p.Steps {
		p.Steps[i].Digest = p.Steps[i].Path
	}
	return p
}

func labels(f *fix.Form) (list []string) {
	for i := range f.Rows {
		list = append(list, f.Rows[i].Label())
	}
	return list
}

func TestOfStep(t *testing.T) {
	f := fix.OfStep(release(), 0, nil)
	if got := labels(f); !slices.Equal(got, []string{"lock", "port", "token", "cmd", "env.LANG", "cwd"}) {
		t.Error(got)
	}
	want := []fix.Scope{{Words: "this step", At: f.Path, From: f.Path}, {Words: "this block", At: "site/migrate", From: f.Path}, {Words: "rest of the run", From: f.Path}}
	if !slices.Equal(f.Scopes, want) {
		t.Errorf("%+v", f.Scopes)
	}
	if r := f.Rows[2]; !r.Secret || strings.Contains(fmt.Sprint(r), "hunter") {
		t.Errorf("%+v", r)
	}
	p := release()
	p.Steps[0].Env["PW"], p.Steps[0].Args["msg"] = secret.Mask, "pw "+secret.Mask
	f = fix.OfStep(p, 0, nil)
	for _, r := range f.Rows {
		if want := r.Name == "PW" || r.Name == "token"; r.Secret != want {
			t.Errorf("%s is secret: %t", r.Label(), r.Secret)
		}
	}
	// What is typed for a step that shows nothing is to be seen nowhere.
	f = fix.OfStep(release(), 2, nil)
	if len(f.Rows) > 0 {
		t.Error(labels(f))
	}
	other := fix.OfStep(release(), 1, nil)
	if row, why := other.Add("token", "x"); why != "" || !other.Rows[row].Secret {
		t.Errorf("what is a secret of another step is none: %s, %+v", why, other.Rows)
	}
	if row, why := f.Add("env.PW", "x"); why != "" || !f.Rows[row].Secret {
		t.Errorf("%s, %+v", why, f.Rows)
	}
}

func TestOfScope(t *testing.T) {
	f := fix.OfScope(release(), 1, events.Range{From: 0, To: 2}, nil)
	if got := labels(f); !slices.Equal(got, []string{"lock", "port", "token"}) {
		t.Error(got)
	}
	// One without steps still has somewhere to reach.
	f = fix.OfScope(release(), 1, events.Range{From: 2, To: 2}, nil)
	if _, why := f.Add("new", "1"); why != "" {
		t.Error(why)
	}
	list, wrong, _ := f.Overrides()
	if want := []events.Override{{Name: "new", Value: "1"}}; wrong != "" || !slices.Equal(list, want) {
		t.Errorf("%s, %+v", wrong, list)
	}
}

// TestOverrides is what is asked of the run for what was typed.
func TestOverrides(t *testing.T) {
	at := "site/migrate/run"
	for _, tt := range []struct {
		name, value string
		scope       int
		want        events.Override
		wrong       string
	}{
		{"lock", "60s", 0, events.Override{Name: "lock", Value: `"60s"`, At: at, From: at}, ""},
		{"lock", "60", 1, events.Override{Name: "lock", Value: `"60"`, At: "site/migrate", From: at}, ""},
		{"lock", "{a: 1", 2, events.Override{Name: "lock", Value: `"{a: 1"`, From: at}, ""},
		{"port", "81", 0, events.Override{Name: "port", Value: "81", At: at, From: at}, ""},
		{"port", "[", 0, events.Override{}, "port: "},
		{"token", "x", 0, events.Override{Name: "token", Value: `"x"`, At: at, From: at, Secret: true}, ""},
		{"args.cmd", "true", 2, events.Override{Field: "args", Name: "cmd", Value: `"true"`, At: at, From: at}, ""},
		{"env.LANG", "", 2, events.Override{Field: "env", Name: "LANG", Value: `""`, At: at, From: at}, ""},
		{"new", "5", 2, events.Override{Name: "new", Value: "5", From: at}, ""},
	} {
		f := fix.OfStep(release(), 0, nil)
		f.Scope = tt.scope
		if _, why := f.Add(tt.name, tt.value); why != "" {
			t.Error(why)
		}
		list, wrong, row := f.Overrides()
		switch {
		case tt.wrong != "":
			if !strings.HasPrefix(wrong, tt.wrong) || f.Rows[row].Label() != tt.name {
				t.Errorf("%s=%s: %q in row %d", tt.name, tt.value, wrong, row)
			}
		case wrong != "" || !slices.Equal(list, []events.Override{tt.want}):
			t.Errorf("%s=%s: %s, %+v", tt.name, tt.value, wrong, list)
		}
	}
	p := release()
	p.Steps[0].Args["cmd"] = "login " + secret.Mask
	f := fix.OfStep(p, 0, nil)
	f.Rows[3].Type(f.Rows[3].Now + " again")
	if _, wrong, row := f.Overrides(); row != 3 || !strings.Contains(wrong, "write all of it again") {
		t.Errorf("dots would be written in the place of a secret: %q", wrong)
	}
	f = fix.OfStep(release(), 0, nil)
	if _, why := f.Add("a.b", "1"); why == "" {
		t.Error("a name may have a dot")
	}
	for _, tt := range []struct{ text, kind string }{{"81", ""}, {"eighty", "text"}} {
		f := fix.OfStep(release(), 0, nil)
		f.Rows[1].Type(tt.text)
		if row, kind := f.OtherKind(); kind != tt.kind || (row == nil) != (kind == "") {
			t.Errorf("%s becomes %q", tt.text, kind)
		}
	}
}

// TestRestore takes an override back, unless another value is typed after all.
func TestRestore(t *testing.T) {
	p := release()
	p.Steps[0].Overridden = []plan.Overridden{{Override: plan.Override{Name: "lock", At: "site/migrate"}, Was: "1s", Now: "5s"}}
	f := fix.OfStep(p, 0, nil)
	r := &f.Rows[0]
	if r.InForce == nil || r.Original != "1s" || r.Changed() {
		t.Errorf("%+v", r)
	}
	r.Restore = true
	list, _, _ := f.Overrides()
	if want := []events.Override{{Name: "lock", At: "site/migrate", Clear: true}}; !slices.Equal(list, want) {
		t.Errorf("%+v", list)
	}
	r.Type("9s")
	if list, _, _ := f.Overrides(); list[0].Clear {
		t.Error("what was typed is not asked for")
	}
	if r.Revert(); f.Changes() != 0 {
		t.Error("it is not as it was")
	}
}

func TestEffectOf(t *testing.T) {
	with := func(change func(p *plan.Plan)) fix.Effect {
		next := release()
		change(next)
		return fix.EffectOf(release(), next, "site/migrate/run", func(int) bool { return false })
	}
	e := with(func(p *plan.Plan) {
		p.Steps[0].Digest, p.Steps[0].Args, p.Steps[0].Cwd = "+", map[string]any{"cmd": "migrate 60s"}, "/tmp"
		p.Steps[1].Digest = "+"
		p.Steps = p.Steps[:2]
	})
	want := []fix.Change{{Was: `LANG="C" migrate 5s`, Now: `LANG="C" migrate 60s`}, {Label: "cwd ", Was: "/srv", Now: "/tmp"}}
	if !slices.Equal(e.Changes, want) || e.Same || e.Gone || e.Left != 1 || len(e.Others) != 1 || e.Others[0].Path != "site/migrate/check" {
		t.Errorf("%+v", e)
	}
	if e := with(func(*plan.Plan) {}); !e.Same || len(e.Changes)+len(e.Others) > 0 {
		t.Errorf("%+v", e)
	}
	if e := with(func(p *plan.Plan) { p.Steps = p.Steps[1:] }); !e.Gone || e.Same {
		t.Errorf("%+v", e)
	}
	// What shows nowhere in the step is said by its name.
	e = with(func(p *plan.Plan) {
		p.Steps[0].Overridden = []plan.Overridden{{Override: plan.Override{Name: "lock"}, Was: "5s", Now: "60s"}}
		p.Steps[0].Digest = "+"
	})
	if !reflect.DeepEqual(e.Notes, []string{"lock 5s → 60s"}) || e.Same {
		t.Errorf("%+v", e)
	}
}

// types is an editor that replaces a text, or fails.
type types struct {
	file string
	t    *testing.T
}

func (types) SetStdin(io.Reader)  {}
func (types) SetStdout(io.Writer) {}
func (types) SetStderr(io.Writer) {}
func (e types) Run() error {
	text, err := os.ReadFile(e.file)
	if err != nil {
		return err
	}
	if info, err := os.Stat(e.file); err != nil || info.Mode().Perm() != 0o600 {
		e.t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
	return os.WriteFile(e.file, []byte(strings.ToUpper(string(text))+"\n"), 0o600)
}

// TestEditor edits a value in a file that is gone afterwards.
func TestEditor(t *testing.T) {
	var file string
	e := fix.Editor{Text: "a\nb", Open: func(f string) fix.Program { file = f; return types{f, t} }}
	if err := e.Run(); err != nil || e.Text != "A\nB" {
		t.Errorf("%q, %v", e.Text, err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file is left: %v", err)
	}
}
