package plan

import (
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// outside reads what the command line gives: files of variables, and single ones.
func (p *variables) outside(c *taskContext) {
	p.names.files = &layer{}
	for _, file := range p.o.VarsFiles {
		p.varsFile(c, file, "--vars-file", p.names.files, diag.Pos{File: "--vars-file " + file}, p.o.Dir)
	}
	p.names.extra = &layer{}
	for _, text := range p.o.ExtraVars {
		p.extraVar(c, text)
	}
}

func (p *variables) extraVar(c *taskContext, text string) {
	pos := diag.Pos{File: "-e " + text}
	if file, ok := strings.CutPrefix(text, "@"); ok {
		p.varsFile(c, file, "-e @"+p.shown(p.resolve(file, p.o.Dir)), p.names.extra, pos, p.o.Dir)
		return
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		f := &playbook.File{Name: "--extra-vars", Text: []byte(text)}
		v, ok := playbook.ParseVars(f, &p.ds)
		if ok {
			p.add(p.names.extra, v, "--extra-vars", nil)
		}
		return
	}
	pairs := splitPairs(text)
	if len(pairs) == 0 {
		p.errorf(pos, 0, nil, "write -e name=value, -e '{\"name\": 1}' or -e @file.yml", "--extra-vars %q is neither name=value nor a map", text)
	}
	for _, kv := range pairs {
		if kv.key == "" {
			p.errorf(pos, 0, nil, "write -e name=value, -e '{\"name\": 1}' or -e @file.yml", "--extra-vars %q is neither name=value nor a map", text)
			continue
		}
		p.noteName(kv.key)
		b := binding{name: kv.key, value: kv.value, from: "--extra-vars"}
		if slices.Contains(p.o.Hidden, kv.key) {
			b.value = eval.Mark(p.secrets, kv.value, eval.Every)
		}
		p.names.extra.add(b)
	}
}

// add puts the entries of a map into a layer as they are: values from outside are data, not templates.
func (p *variables) add(l *layer, m playbook.Value, from string, chain []string) {
	for _, e := range m.Entries() {
		p.noteName(e.Key)
		l.add(binding{name: e.Key, value: taken(e.Value, p.engine.Python), from: from, origin: origin(e.Pos, chain)})
	}
}

func (p *variables) varsFile(c *taskContext, name, from string, into *layer, pos diag.Pos, dir string) {
	path := p.resolve(name, dir)
	f, err := p.read(path)
	if err != nil {
		p.errorf(pos, 0, c.chain, p.wayTo(path, err), "variables file: %s", p.fileError(err))
		return
	}
	if v, ok := p.parseVars(f); ok {
		p.add(into, v, from, c.chain)
	}
}

// rootVars renders the variables of the playbook itself.
func (p *variables) rootVars(pb *playbook.Playbook, c *taskContext) {
	p.names.root = &layer{}
	p.names.varsFiles = &layer{}
	into := func(l *layer) func(*binding) {
		return func(b *binding) {
			p.shadows(b)
			l.add(*b)
		}
	}
	// Each value is rendered in a frame of its own, because the layers grow.
	frame := func() *frame { fr := *p.frame(c, nil); return &fr }
	p.ownVars(pb, c, frame, into(p.names.varsFiles), into(p.names.root))
}
