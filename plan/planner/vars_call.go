package planner

import (
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// outside reads what the command line gives: files of variables, and single ones.
func (p *variables) outside(c *taskContext) {
	p.names.Files = &vars.Layer{}
	for _, file := range p.o.Values.Files {
		p.varsFile(c, file, "--vars-file", p.names.Files, diag.Pos{File: "--vars-file " + file}, p.o.Dir)
	}
	p.names.Extra = &vars.Layer{}
	for _, text := range p.o.Values.Extra {
		p.extraVar(c, text)
	}
}

func (p *variables) extraVar(c *taskContext, text string) {
	pos := diag.Pos{File: "-e " + text}
	if file, ok := strings.CutPrefix(text, "@"); ok {
		p.varsFile(c, file, "-e @"+p.ShowPath(p.Resolve(file, p.o.Dir)), p.names.Extra, pos, p.o.Dir)
		return
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		f := &playbook.File{Name: "--extra-vars", Text: []byte(text)}
		v, ok := playbook.ParseVars(f, &p.Found)
		if ok {
			p.add(p.names.Extra, v, "--extra-vars", nil)
		}
		return
	}
	pairs := playbook.SplitPairs(text)
	if len(pairs) == 0 {
		p.Errorf(pos, 0, nil, "write -e name=value, -e '{\"name\": 1}' or -e @file.yml", "--extra-vars %q is neither name=value nor a map",
			text)
	}
	for _, kv := range pairs {
		if kv.Key == "" {
			p.Errorf(pos, 0, nil, "write -e name=value, -e '{\"name\": 1}' or -e @file.yml",
				"--extra-vars %q is neither name=value nor a map", text)
			continue
		}
		p.connector.NoteName(kv.Key)
		b := vars.Binding{Name: kv.Key, Value: kv.Value, From: "--extra-vars"}
		if slices.Contains(p.o.Values.Hidden, kv.Key) {
			b.Value = value.Mark(p.secrets, kv.Value, value.Every)
		}
		p.names.Extra.Add(b)
	}
}

// add puts the entries of a map into a layer as they are: values from outside are data, not templates.
func (p *variables) add(l *vars.Layer, m playbook.Value, from string, chain []string) {
	for _, e := range m.Entries() {
		p.connector.NoteName(e.Key)
		l.Add(vars.Binding{
			Name: e.Key, Value: plan.Taken(e.Value, p.plan.Dialect.Rules().OrdersMaps), From: from,
			Origin: origin(e.Pos, chain),
		})
	}
}

func (p *variables) varsFile(c *taskContext, name, from string, into *vars.Layer, pos diag.Pos, dir string) {
	path := p.Resolve(name, dir)
	f, err := p.Read(path)
	if err != nil {
		p.Errorf(pos, 0, c.chain, p.SuggestFix(path, err), "variables file: %s", p.DescribeError(err))
		return
	}
	if v, ok := p.ParseVars(f); ok {
		p.add(into, v, from, c.chain)
	}
}

// rootVars renders the variables of the playbook itself.
func (p *variables) rootVars(pb *playbook.Playbook, c *taskContext) {
	p.names.Root = &vars.Layer{}
	// As in plays, a file of variables counts above what was typed.
	asked := p.askFor(pb.Prompts, c, nil)
	if asked != nil {
		for i := range asked.Binds {
			p.shadows(&asked.Binds[i])
		}
	}
	p.names.VarsFiles = &vars.Layer{Parent: asked}
	into := func(l *vars.Layer) func(*vars.Binding) {
		return func(b *vars.Binding) {
			p.shadows(b)
			l.Add(*b)
		}
	}
	// Each value is rendered in a frame of its own, because the layers grow.
	frame := func() *vars.Frame { fr := *p.frame(c, nil); return &fr }
	p.ownVars(pb, c, frame, into(p.names.VarsFiles), into(p.names.Root))
}

// askFor puts variables that are to be typed upon others, unless the command line gives them.
func (p *variables) askFor(list []playbook.Prompt, c *taskContext, below *vars.Layer) *vars.Layer {
	given := func(name string) bool {
		return slices.ContainsFunc([]*vars.Layer{p.names.Extra, p.names.Files}, func(l *vars.Layer) bool {
			return l != nil && l.Find(name) != nil
		})
	}
	answers := p.asker.Ask(list, given, func() *plan.Renderer { return p.Renderer(p.env(c, nil), c.chain) }, c.chain)
	if len(answers) == 0 {
		return below
	}
	l := &vars.Layer{Parent: below}
	for _, q := range answers {
		var v any = q.Typed
		if q.Private {
			// What was typed unseen must not show in what is made of it.
			v = value.Mark(p.secrets, v, value.Every)
		}
		p.connector.NoteName(q.Name)
		l.Add(vars.Binding{Name: q.Name, Value: v, From: "vars_prompt", Origin: origin(q.At.Pos, c.chain)})
	}
	return l
}
