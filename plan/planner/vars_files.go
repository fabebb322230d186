package planner

import (
	"path/filepath"
	"regexp"
	"strings"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/planner/library"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/vars"
)

// filesOfVars are the files that an include_vars reads.
func (p *variables) filesOfVars(c *taskContext, t *playbook.Task, s *plan.Step) []*playbook.File {
	written := t.Args
	if written.IsZero() {
		written, _ = t.ExtraArgs.Get("dir")
	}
	if written.IsZero() {
		return nil // the parser has said why
	}
	r := p.Renderer(p.env(c, s.Task.Frame.Step), c.chain)
	name := strings.TrimSpace(r.Text(written))
	switch {
	case r.Failed:
		return nil
	case len(r.Missing) > 0:
		p.ReportLate(written, c.chain, "read each candidate with its own `when`", "which file of variables to read", r.Missing)
		return nil
	}
	if t.Args.IsZero() {
		return p.dirOfVars(c, t, written, name)
	}
	path := source.NewSearch(c.lookout(p.plan.Root).Files("vars"), p.disk).Find(name, p.o.Home)
	f, err := p.Read(path)
	if err != nil {
		p.ReportUnread("include_vars", written, path, err, c.chain)
		return nil
	}
	return []*playbook.File{f}
}

// dirOfVars are the files of variables below a directory, in the order of their names; what is directly in it comes first.
func (p *variables) dirOfVars(c *taskContext, t *playbook.Task, written playbook.Value, name string) []*playbook.File {
	in := library.VarsDir{Extensions: []string{"yaml", "yml", "json"}}
	r := p.Renderer(p.env(c, nil), c.chain)
	texts := func(key string) (list []string, v playbook.Value) {
		v, ok := t.ExtraArgs.Get(key)
		if !ok {
			return nil, v
		}
		got := value.Plain(r.Value(v))
		if all, isList := got.([]any); isList {
			for _, one := range all {
				list = append(list, value.Text(one))
			}
			return list, v
		}
		return []string{value.Text(got)}, v
	}
	pattern := func(text string, v playbook.Value) *regexp.Regexp {
		re, err := regexp.Compile(text)
		if err != nil {
			p.Errorf(v.Pos(), plan.Width(v), c.chain, "", "include_vars: %s is not a regular expression:  %s", plan.Quoted(text), err)
			return nil
		}
		return re
	}
	if v, ok := t.ExtraArgs.Get("depth"); ok {
		p.ReadFixed(v, "depth", "a whole number", r, func(got any) bool {
			n, ok := spec.ParseInt(got)
			in.Depth = n
			return ok && n >= 0
		})
	}
	if v, ok := t.ExtraArgs.Get("ignore_unknown_extensions"); ok {
		in.Lenient = p.ReadFlag(v, "ignore_unknown_extensions", r, false)
	}
	if list, v := texts("files_matching"); len(list) > 0 {
		if in.Matching = pattern(list[0], v); in.Matching == nil {
			return nil
		}
	}
	if list, v := texts("ignore_files"); len(list) > 0 {
		for _, text := range list {
			if re := pattern("^(?:"+text+")$", v); re != nil {
				in.Ignore = append(in.Ignore, re)
			}
		}
	}
	if list, _ := texts("extensions"); len(list) > 0 {
		in.Extensions = nil
		for _, ext := range list {
			in.Extensions = append(in.Extensions, strings.TrimPrefix(ext, "."))
		}
	}
	dir := source.NewSearch(c.lookout(p.plan.Root).Files("vars"), p.disk).Find(name, p.o.Home)
	if _, err := p.disk.List(dir); err != nil {
		p.Errorf(written.Pos(), plan.Width(written), c.chain, p.SuggestFile(dir), "include_vars: no such directory: %s", p.ShowPath(dir))
		return nil
	}
	if role := c.scene.Role; role != nil && dir == filepath.Join(role.Dir, "vars") {
		in.Except = filepath.Join(dir, "main.yml")
	}
	return p.ReadVarsDir(c.chain, written, dir, 1, &in)
}

// fileLayer are the variables of a file upon others. Hosts that read the same share it.
func (p *variables) fileLayer(f *playbook.File, below *vars.Layer) *vars.Layer {
	key := fileKey{f.Path, below}
	if l, ok := p.fileLayers[key]; ok {
		return l
	}
	m, ok := p.ParseVars(f)
	if !ok {
		return below
	}
	l := p.lazyLayer(m.Entries(), below, f.Name, nil)
	p.fileLayers[key] = l
	return l
}
