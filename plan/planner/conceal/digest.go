package conceal

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/source"
	"moon/secret"
)

// digester puts together what a digest is over.
type digester struct {
	b       []byte
	secrets *secret.Set
	root    string
	moved   source.Moved
}

// text adds a part: without the root, so that a playbook can be moved, and without secrets, as digests are shown and kept.
func (d *digester) text(name, text string) {
	text = d.secrets.Redact(d.moved.Placeless(d.root, text))
	d.b = append(append(d.b, name...), '=')
	// With its length, or a text could pass for the parts behind it.
	d.b = append(strconv.AppendInt(d.b, int64(len(text)), 10), ':')
	d.b = append(append(d.b, text...), '\n')
}

// value adds a part that is any value.
func (d *digester) value(name string, v any) { d.text(name, value.Text(v)) }

// lines adds a part of several lines. Most steps have none of them.
func (d *digester) lines(name string, lines ...string) {
	if strings.Join(lines, "") == "" {
		d.text(name, "\n\n\n"[:len(lines)-1])
		return
	}
	d.text(name, strings.Join(lines, "\n"))
}

// flags adds a part that says yes or no.
func (d *digester) flags(name string, flags ...bool) {
	var room [64]byte
	text := room[:0]
	for i, flag := range flags {
		if i > 0 {
			text = append(text, ' ')
		}
		text = strconv.AppendBool(text, flag)
	}
	d.text(name, string(text))
}

// Digest is over all that defines the step. The playbook's place in the file system is not part of it. Of a step
// with no_log the text as written counts: a digest of what it comes to would let others try out what that is.
func (c *Concealer) Digest(s *plan.Step, k *plan.Task) string {
	d := &digester{b: c.digested[:0], secrets: c.secrets, root: c.plan.Root, moved: c.plan.Basis.O.Moved}
	t := k.Src
	d.text("action", s.Action)
	overHosts := c.plan.Dialect.Rules().OverHosts
	if overHosts || s.Delegate != "" {
		d.text("host", s.Host+" "+s.Delegate)
		if s.Conn != nil {
			d.text("connection", s.Conn.String()+" "+s.Conn.Args)
			if s.Conn.Program != "" {
				d.text("connection program", s.Conn.Program)
			}
			if !s.Conn.Way.IsZero() {
				d.text("connection by", s.Conn.Way.Key())
			}
		}
	}
	for _, n := range s.Notifiers {
		d.text("notified by", c.plan.Steps[n].Path)
	}
	for _, call := range s.Named {
		d.text("notified as", strings.Join(call.Names, "\n"))
	}
	for _, f := range s.Flushes {
		d.text("flushed by", c.plan.Steps[f.Step].Path)
	}
	for _, g := range s.Gates {
		d.text("gate", c.plan.Steps[g.Step].Path+" "+strconv.FormatBool(g.Ran))
	}
	if overHosts {
		d.flags("once", s.Once, s.GoesOn, s.AnyFatal)
	}
	if s.NoLog {
		d.value("written", []any{plan.Plain(t.Args), plan.Plain(t.ExtraArgs), plan.Plain(t.StepVars), plan.Plain(t.Loop.Over)})
		for _, env := range k.Env {
			d.value("env", plan.Plain(env))
		}
	} else {
		d.value("args", s.Args)
		for _, name := range plan.SortedKeys(s.Env) {
			d.text("env."+name, s.Env[name])
		}
	}
	if k.Action.Plugin != nil {
		d.text("plugin", cmp.Or(k.Action.Plugin.Pack, k.Action.Plugin.Digest))
	}
	d.text("cwd", s.Cwd)
	d.text("when", s.When)
	d.text("register", s.Register)
	d.text("confirm", s.Confirm)
	if s.Confirmers != nil {
		d.text("confirmers", s.Confirmers.Words())
	}
	d.text("retry", strconv.Itoa(s.Retry.Max)+" "+s.Retry.Delay.String()+s.Retry.Until)
	d.text("timeout", s.Timeout.String())
	if s.Queued > 0 {
		d.text("queued", s.Queued.String())
	}
	if s.Async != nil {
		d.text("async", s.Async.Limit.String()+" "+s.Async.Poll.String())
	}
	if s.Throttle > 0 {
		d.text("throttle", strconv.Itoa(s.Throttle))
	}
	if len(t.Sources)+len(t.Generates) > 0 {
		d.text("incremental", plan.Texts(t.Sources)+"\n\n"+plan.Texts(t.Generates))
	}
	if s.Become != nil {
		d.text("become", s.Become.User+" "+s.Become.Method)
	}
	if s.Undo != nil {
		d.value("undo "+s.Undo.Action, []any{plan.Plain(t.Undo.Args), plan.Plain(t.Undo.ExtraArgs), plan.Plain(t.Undo.Env)})
		if !s.NoLog {
			d.value("undoes", s.Undo.Args)
		}
	}
	for _, o := range s.Overridden { // also of what shows nowhere else, such as a variable that a template's file uses
		d.value("override."+o.Label(), o.Now)
	}
	if s.Terminal {
		d.text("interactive", "true")
	}
	if s.Approves { // who approves the step approves more with it
		d.text("approves", "expanded")
	}
	d.lines("policy", plan.WhenText(k.Changed), plan.WhenText(k.Failed), plan.WhenText(k.Ignore))
	d.lines("guards", t.Creates.Text(), t.Removes.Text(), t.Unless.Text(), t.OnlyIf.Text())
	d.flags("flags", s.NoLog, s.NoDiff, s.ShowDiff, s.CheckMode != nil, s.CheckMode != nil && *s.CheckMode, s.Excluded)
	if s.Loop != nil && !s.NoLog && (!c.Compared || !settled(k)) {
		d.value("item", value.Plain(s.Loop.Item))
	}
	for _, one := range k.Decisive {
		if !s.NoLog || one.Verdict {
			d.value(one.Name, value.Plain(one.Value))
		}
	}
	s.DigestReads(k, c.plan.Root, d.text)
	c.digested = d.b
	sum := sha256.Sum256(d.b)
	return hex.EncodeToString(sum[:16])
}

// settled reports whether all that a step uses of its item shows in its arguments and conditions.
func settled(k *plan.Task) bool {
	asks := slices.ContainsFunc(k.Args, func(g plan.Arg) bool { // the action evaluates them itself
		return g.Field != nil && (g.Field.Kind == spec.Conditions || g.Field.Kind == spec.Expression)
	})
	return !k.Open && !asks && len(k.Changed)+len(k.Failed)+len(k.Until)+len(k.Breaks) == 0 && k.Undo == nil &&
		(k.Action.Name != "template" || k.Renders != nil) && k.Action.Plugin == nil
}
