package planner

import (
	"moon/plan/planner/varsdir"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/vars"
)

// filesOfVars are the files that an include_vars reads.
func (p *variables) filesOfVars(c *taskContext, t *playbook.Task, written playbook.Value, name string) []*playbook.File {
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

// dirOfVars are the files of variables below a directory.
func (p *variables) dirOfVars(c *taskContext, t *playbook.Task, written playbook.Value, name string) []*playbook.File {
	from := varsdir.Request{
		Library: p.Library, Problems: p.Collector, Known: p.Reader, Disk: p.disk, Task: t, Written: written,
		Dir:      source.NewSearch(c.lookout(p.plan.Root).Files("vars"), p.disk).Find(name, p.o.Home),
		Renderer: p.Renderer(p.env(c, nil), c.chain),
	}
	if role := c.scene.Role; role != nil {
		from.Role = role.Dir
	}
	return from.Files()
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
	l := p.bindings.Lazy(m.Entries(), below, f.Name, nil)
	p.fileLayers[key] = l
	return l
}
