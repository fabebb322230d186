package given

import (
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/planner/library"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/vars"
	"moon/secret"
)

// Reader reads what the command line gives.
type Reader struct {
	Library  *library.Library
	Problems *problems.Collector
	Plan     *plan.Plan
	Options  *plan.Options
	Secrets  *secret.Set
	Note     func(name string) // is given each name

	// Bind gives a value a name where it may be a template, as in plays; nil: values from outside are data.
	Bind func(name string, v playbook.Value, from string, at diag.Origin) vars.Binding
}

// Read gives the variables of files, and those that count above all others: single ones, and files of them.
func (g *Reader) Read() (files, extra *vars.Layer) { return g.files(), g.extra() }

func (g *Reader) files() *vars.Layer {
	l := &vars.Layer{}
	for _, file := range g.Options.Values.Files {
		g.readFile(file, "--vars-file", l, diag.Pos{File: "--vars-file " + file})
	}
	return l
}

func (g *Reader) extra() *vars.Layer {
	l := &vars.Layer{}
	for _, text := range g.Options.Values.Extra {
		g.readExtra(l, text)
	}
	return l
}

func (g *Reader) readExtra(l *vars.Layer, text string) {
	pos := diag.Pos{File: "-e " + text}
	if file, ok := strings.CutPrefix(text, "@"); ok {
		g.readFile(file, "-e @"+g.Library.ShowPath(g.Library.Resolve(file, g.Options.Dir)), l, pos)
		return
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		f := &playbook.File{Name: "--extra-vars", Text: []byte(text)}
		v, ok := playbook.ParseVars(f, &g.Problems.Found)
		if ok {
			g.add(l, v, "--extra-vars")
		}
		return
	}
	pairs := playbook.SplitPairs(text)
	if len(pairs) == 0 {
		g.refuse(pos, text)
	}
	for _, kv := range pairs {
		if kv.Key == "" {
			g.refuse(pos, text)
			continue
		}
		g.Note(kv.Key)
		b := vars.Binding{Name: kv.Key, Value: kv.Value, From: "--extra-vars"}
		switch {
		case slices.Contains(g.Options.Values.Hidden, kv.Key):
			b.Value = value.Mark(g.Secrets, kv.Value, value.Every)
		case g.Bind != nil:
			b = g.Bind(kv.Key, playbook.Written(pos, kv.Value), b.From, diag.Origin{})
		}
		l.Add(b)
	}
}

func (g *Reader) refuse(pos diag.Pos, text string) {
	g.Problems.Errorf(pos, 0, nil, "write -e name=value, -e '{\"name\": 1}' or -e @file.yml",
		"--extra-vars %q is neither name=value nor a map", text)
}

// add puts the entries of a map into a layer.
func (g *Reader) add(l *vars.Layer, m playbook.Value, from string) {
	for _, e := range m.Entries() {
		if g.Bind != nil {
			l.Add(g.Bind(e.Key, e.Value, from, e.Pos.Origin(nil)))
			continue
		}
		g.Note(e.Key)
		l.Add(vars.Binding{
			Name: e.Key, Value: plan.Taken(e.Value, g.Plan.Dialect), From: from,
			Origin: e.Pos.Origin(nil),
		})
	}
}

func (g *Reader) readFile(name, from string, into *vars.Layer, pos diag.Pos) {
	path := g.Library.Resolve(name, g.Options.Dir)
	f, err := g.Library.Read(path)
	if err != nil {
		g.Problems.Errorf(pos, 0, nil, g.Library.SuggestFix(path, err), "variables file: %s", g.Library.DescribeError(err))
		return
	}
	if v, ok := g.Library.ParseVars(f); ok {
		g.add(into, v, from)
	}
}
