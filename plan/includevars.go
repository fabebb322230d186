package plan

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"moon/exec/spec"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// includeVars plans include_vars: the variables are read when the plan is made, and are there from here on.
func (p *planner) includeVars(cs []*scopeContext, t *playbook.Task) {
	p.certain(cs, t, "whether to read this file", func(c *scopeContext, s *Step) {
		p.on(c)
		read := &readVars{}
		for _, f := range p.filesOfVars(c, t, s) {
			m, ok := p.parseVars(f)
			if !ok {
				continue
			}
			read.files, read.vars = append(read.files, f.Path), append(read.vars, m)
			chain := append(slices.Clip(c.chain), origin(t.Pos, nil).String())
			if name, given := t.ExtraArgs.Get("name"); given {
				under := p.renderer(p.env(c, nil), c.chain).text(name)
				b := p.lazyBinding(under, m, f.Name, origin(t.Pos, c.chain))
				p.names.document.add(&b)
				continue
			}
			for _, e := range m.Entries() {
				b := p.lazyBinding(e.Key, e.Value, f.Name, origin(e.Pos, chain))
				p.names.document.add(&b)
			}
		}
		if s.Register == "" {
			return
		}
		if name, given := t.ExtraArgs.Get("name"); given {
			read.under = p.renderer(p.env(c, nil), c.chain).text(name)
		}
		read.frame = p.frame(c, nil)
		s.task.read = read
	})
}

// readVars is what an include_vars has read, for its result.
type readVars struct {
	files []string
	vars  []playbook.Value // of each
	under string           // the name that they are given together; "": their own
	frame *frame           // in which they are there: one may use another
}

// registers is the result of an include_vars as plays know it. A value that cannot be had where the task stands is there as it is
// written: only who uses it needs it.
func (b *Bound) registers(read *readVars) *spec.SteeringArgs {
	e := *b.env
	e.frame = read.frame
	files, values := make([]any, len(read.files)), map[string]any{}
	for i, path := range read.files {
		files[i] = path
		for _, entry := range read.vars[i].Entries() {
			r := &renderer{engine: b.plan.engine, env: &e, lenient: true}
			if values[entry.Key] = r.value(entry.Value); r.failed || r.undefined || len(r.missing) > 0 {
				values[entry.Key] = eval.Reveal(plain(entry.Value))
			}
		}
	}
	if read.under != "" {
		values = map[string]any{read.under: values}
	}
	return &spec.SteeringArgs{Registers: map[string]any{"ansible_included_var_files": files, "ansible_facts": values}}
}

// filesOfVars are the files that an include_vars reads.
func (p *variables) filesOfVars(c *scopeContext, t *playbook.Task, s *Step) []*playbook.File {
	written := t.Args
	if written.IsZero() {
		written, _ = t.ExtraArgs.Get("dir")
	}
	if written.IsZero() {
		return nil // the parser has said why
	}
	r := p.renderer(p.env(c, s.task.frame.step), c.chain)
	name := strings.TrimSpace(r.text(written))
	switch {
	case r.failed:
		return nil
	case len(r.missing) > 0:
		p.tooLate(written, c.chain, "read each candidate with its own `when`", "which file of variables to read", r.missing)
		return nil
	}
	if t.Args.IsZero() {
		return p.dirOfVars(c, t, written, name)
	}
	path := newSearch(p.lookout(c).files("vars"), p.disk).find(name, p.o.Home)
	f, err := p.read(path)
	if err != nil {
		p.errorf(written.Pos(), width(written), c.chain, p.wayTo(path, err), "include_vars: %s", p.fileError(err))
		return nil
	}
	return []*playbook.File{f}
}

// varsIn says which files of a directory an include_vars reads.
type varsIn struct {
	depth      int // 0: any
	matching   *regexp.Regexp
	ignore     []*regexp.Regexp
	extensions []string
	lenient    bool   // files with other extensions are passed over
	except     string // the file of the role that is in effect anyway
}

// dirOfVars are the files of variables below a directory, in the order of their names; what is directly in it comes first.
func (p *variables) dirOfVars(c *scopeContext, t *playbook.Task, written playbook.Value, name string) []*playbook.File {
	in := varsIn{extensions: []string{"yaml", "yml", "json"}}
	r := p.renderer(p.env(c, nil), c.chain)
	texts := func(key string) (list []string, v playbook.Value) {
		v, ok := t.ExtraArgs.Get(key)
		if !ok {
			return nil, v
		}
		got := eval.Plain(r.value(v))
		if all, isList := got.([]any); isList {
			for _, one := range all {
				list = append(list, eval.Text(one))
			}
			return list, v
		}
		return []string{eval.Text(got)}, v
	}
	pattern := func(text string, v playbook.Value) *regexp.Regexp {
		re, err := regexp.Compile(text)
		if err != nil {
			p.errorf(v.Pos(), width(v), c.chain, "", "include_vars: %s is no regular expression: %s", quoted(text), err)
			return nil
		}
		return re
	}
	if v, ok := t.ExtraArgs.Get("depth"); ok {
		p.fixed(v, "depth", "a whole number", r, func(got any) bool {
			n, ok := spec.ParseInt(got)
			in.depth = n
			return ok && n >= 0
		})
	}
	if v, ok := t.ExtraArgs.Get("ignore_unknown_extensions"); ok {
		in.lenient = p.flag(v, "ignore_unknown_extensions", r, false)
	}
	if list, v := texts("files_matching"); len(list) > 0 {
		if in.matching = pattern(list[0], v); in.matching == nil {
			return nil
		}
	}
	if list, v := texts("ignore_files"); len(list) > 0 {
		for _, text := range list {
			if re := pattern("^(?:"+text+")$", v); re != nil {
				in.ignore = append(in.ignore, re)
			}
		}
	}
	if list, _ := texts("extensions"); len(list) > 0 {
		in.extensions = nil
		for _, ext := range list {
			in.extensions = append(in.extensions, strings.TrimPrefix(ext, "."))
		}
	}
	dir := newSearch(p.lookout(c).files("vars"), p.disk).find(name, p.o.Home)
	if _, err := p.disk.list(dir); err != nil {
		p.errorf(written.Pos(), width(written), c.chain, p.similar(dir), "include_vars: no such directory: %s", p.shown(dir))
		return nil
	}
	if role := c.scene.role; role != nil && dir == filepath.Join(role.dir, "vars") {
		in.except = filepath.Join(dir, "main.yml")
	}
	return p.varsBelow(c, written, dir, 1, &in)
}

func (p *library) varsBelow(c *scopeContext, written playbook.Value, dir string, depth int, in *varsIn) (files []*playbook.File) {
	names, err := p.disk.list(dir)
	if err != nil || in.depth > 0 && depth > in.depth || depth > 30 {
		return nil
	}
	names = slices.Sorted(slices.Values(names))
	var below []string
	for _, name := range names {
		path := filepath.Join(dir, name)
		if !p.disk.regular(path) {
			below = append(below, path)
			continue
		}
		if path == in.except || in.matching != nil && !in.matching.MatchString(name) || slices.ContainsFunc(in.ignore, func(re *regexp.Regexp) bool { return re.MatchString(name) }) {
			continue
		}
		if !slices.Contains(in.extensions, strings.TrimPrefix(filepath.Ext(name), ".")) {
			if !in.lenient {
				p.errorf(written.Pos(), width(written), c.chain, "set `ignore_unknown_extensions: true`, or `extensions`", "include_vars: %s has none of the extensions %s", p.shown(path), strings.Join(in.extensions, ", "))
			}
			continue
		}
		f, err := p.read(path)
		if err != nil {
			p.errorf(written.Pos(), width(written), c.chain, p.wayTo(path, err), "include_vars: %s", p.fileError(err))
			continue
		}
		files = append(files, f)
	}
	for _, path := range below {
		files = append(files, p.varsBelow(c, written, path, depth+1, in)...)
	}
	return files
}
