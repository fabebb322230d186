package conceal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval/value"
)

// Digest is over all that defines the step. The playbook's place in the file system is not part of it. Of a step
// with no_log the text as written counts: a digest of what it comes to would let others try out what that is.
func (c *Concealer) Digest(s *plan.Step, k *plan.Task) string {
	b := c.digested[:0]
	part := func(name string, v any) {
		text := value.Text(v)
		// Without the root, so that a playbook can be moved, and without secrets, as digests are shown and kept.
		text = c.secrets.Redact(strings.ReplaceAll(text, c.plan.Root, ""))
		b = append(append(b, name...), '=')
		// With its length, or a text could pass for the parts behind it.
		b = append(strconv.AppendInt(b, int64(len(text)), 10), ':')
		b = append(append(b, text...), '\n')
	}
	t := k.Src
	part("action", s.Action)
	overHosts := c.plan.Dialect.Rules().OverHosts
	if overHosts || s.Delegate != "" {
		part("host", s.Host+" "+s.Delegate)
		if s.Conn != nil {
			part("connection", s.Conn.String()+" "+s.Conn.Args)
			if s.Conn.Program != "" {
				part("connection program", s.Conn.Program)
			}
		}
	}
	for _, n := range s.Notifiers {
		part("notified by", c.plan.Steps[n].Path)
	}
	for _, g := range s.Gates {
		part("gate", c.plan.Steps[g.Step].Path+" "+strconv.FormatBool(g.Ran))
	}
	if overHosts {
		part("once", fmt.Sprint(s.Once, s.GoesOn, s.AnyFatal))
	}
	if s.NoLog {
		part("written", []any{plan.Plain(t.Args), plan.Plain(t.ExtraArgs), plan.Plain(t.StepVars), plan.Plain(t.Loop.Over)})
		for _, env := range k.Env {
			part("env", plan.Plain(env))
		}
	} else {
		part("args", any(s.Args))
		for _, name := range plan.SortedKeys(s.Env) {
			part("env."+name, s.Env[name])
		}
	}
	if k.Action.Plugin != nil {
		part("plugin", k.Action.Plugin.Digest)
	}
	part("cwd", s.Cwd)
	part("when", s.When)
	part("register", s.Register)
	part("confirm", s.Confirm)
	part("retry", strconv.Itoa(s.Retry.Max)+" "+s.Retry.Delay.String()+s.Retry.Until)
	part("timeout", s.Timeout.String())
	if s.Queued > 0 {
		part("queued", s.Queued.String())
	}
	if len(t.Sources)+len(t.Generates) > 0 {
		part("incremental", plan.Texts(t.Sources)+"\n\n"+plan.Texts(t.Generates))
	}
	if s.Become != nil {
		part("become", s.Become.User+" "+s.Become.Method)
	}
	if s.Undo != nil {
		part("undo "+s.Undo.Action, []any{plan.Plain(t.Undo.Args), plan.Plain(t.Undo.ExtraArgs), plan.Plain(t.Undo.Env)})
		if !s.NoLog {
			part("undoes", any(s.Undo.Args))
		}
	}
	for _, o := range s.Overridden { // also of what shows nowhere else, such as a variable that a template's file uses
		part("override."+o.Label(), o.Now)
	}
	if s.Terminal {
		part("interactive", "true")
	}
	part("policy", plan.WhenText(k.Changed)+"\n"+plan.WhenText(k.Failed)+"\n"+plan.WhenText(k.Ignore))
	part("guards", t.Creates.Text()+"\n"+t.Removes.Text()+"\n"+t.Unless.Text()+"\n"+t.OnlyIf.Text())
	part("flags", fmt.Sprint(s.NoLog, s.NoDiff, s.ShowDiff, s.CheckMode != nil, s.CheckMode != nil && *s.CheckMode, s.Excluded))
	if s.Loop != nil && !s.NoLog && (!c.Compared || !settled(k)) {
		part("item", value.Plain(s.Loop.Item))
	}
	for _, d := range k.Decisive {
		if !s.NoLog || d.Verdict {
			part(d.Name, value.Plain(d.Value))
		}
	}
	s.DigestReads(k, c.plan.Root, part)
	c.digested = b
	sum := sha256.Sum256(b)
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
