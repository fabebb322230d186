package planner

import (
	"fmt"
	"strings"

	"moon/internal/diag"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

func (p *problems) report(d diag.Diagnostic) {
	if value.TooMuch(d.Message) {
		if p.full {
			return
		}
		p.full = true
	}
	p.blame(d.Message, d)
}

func (p *problems) errorf(pos diag.Pos, width int, chain []string, hint, format string, args ...any) {
	p.blame(format, diag.Diagnostic{Pos: pos, Width: width, Message: fmt.Sprintf(format, args...), Hint: hint, Chain: chain})
}

// blame reports a mistake, unless another host or another round of a loop has come across it: then it is counted.
func (p *problems) blame(format string, d diag.Diagnostic) {
	key := blame{d.Pos, d.Severity, format}
	first, seen := p.blamed[key]
	// What is only tried out takes back what it has reported, so that the place may be another's.
	seen = seen && first.at < len(p.ds) && p.ds[first.at].Pos == d.Pos
	if !seen || d.Pos.Line < 1 || first.host == p.host && first.steps == len(p.plan.Steps) {
		if !seen {
			if p.blamed == nil {
				p.blamed = map[blame]blamed{}
			}
			p.blamed[key] = blamed{len(p.ds), p.host, len(p.plan.Steps)}
		}
		p.ds.Add(d)
		return
	}
	if p.ds[first.at].Message != d.Message {
		p.ds[first.at].Others++
	}
}

// lack notes an undefined name.
func (p *problems) lack(v playbook.Value, e *value.Error) {
	if e.Kind == value.UndefinedError && e.Offset >= 0 && e.Offset <= len(v.Text()) {
		p.lacking = append(p.lacking, lacking{v.PosAt(e.Offset), e.Name, len(p.plan.Steps)})
	}
}

// hintAtLater finds the names that only a later step registers or sets: they are not misspelt, but used too early.
func (p *problems) hintAtLater() {
	if len(p.lacking) == 0 {
		return
	}
	last := map[string]int{} // the last step that gives a name
	for i := range p.plan.Steps {
		s := &p.plan.Steps[i]
		if s.Register != "" {
			last[s.Register] = i
		}
		if s.Action != "set_fact" || s.Task == nil || s.Task.Compiled == nil {
			continue
		}
		for _, g := range s.Task.Args {
			last[g.Name] = i
		}
	}
	for _, l := range p.lacking {
		step, ok := last[l.name]
		if !ok || step < l.steps || strings.Contains(l.name, ".") {
			continue
		}
		s := &p.plan.Steps[step]
		way := fmt.Sprintf("`%s` is set only by the step at %s:%d, which comes later: use it after that step", l.name, s.Origin.File,
			s.Origin.Line)
		if s.Register == l.name {
			way = fmt.Sprintf("`%s` is registered only by the step at %s:%d, which comes later: use it after that step", l.name,
				s.Origin.File, s.Origin.Line)
		}
		for i := range p.ds {
			if d := &p.ds[i]; d.Pos == l.pos && strings.HasPrefix(d.Message, "undefined variable `"+l.name+"`") {
				d.Hint = way
			}
		}
	}
}
