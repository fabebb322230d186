package engine

import (
	"moon/events"
	"moon/events/fact"
	"moon/secret"
)

// redacted is a fact without secrets in what is for people. What the fold and a resumed run need is not touched: places, numbers
// of steps, names of files. Values are sealed (seal).
func (s *ledger) redacted(f fact.Fact) fact.Fact {
	if s.secrets.Empty() {
		return f
	}
	clean := s.secrets.Redact
	// There is no default: for each new fact someone must decide which of its texts are for people.
	switch f := f.(type) {
	case fact.AttemptStarted:
		f.Name, f.Command = clean(f.Name), clean(f.Command)
		return f
	case fact.AttemptFinished:
		f.Error, f.Detail, f.Message = clean(f.Error), clean(f.Detail), clean(f.Message)
		f.Result, f.Diff, f.Warnings = secret.Clean(s.secrets, f.Result), s.cleanDiff(f.Diff), secret.Clean(s.secrets, f.Warnings)
		f.Drift, f.Resources = clean(f.Drift), secret.Clean(s.secrets, f.Resources)
		f.Would, f.Notified = secret.Clean(s.secrets, f.Would), secret.Clean(s.secrets, f.Notified)
		return f
	case fact.CondEvaluated:
		f.Text = clean(f.Text)
		return f
	case fact.ValuesMissing:
		f.Detail = clean(f.Detail)
		return f
	case fact.ReadsChanged:
		f.Message = clean(f.Message)
		return f
	case fact.RetryScheduled:
		f.Error = clean(f.Error)
		return f
	case fact.RunExpects:
		return secret.Clean(s.secrets, f)
	case fact.RunPaused:
		f.Message = clean(f.Message)
		return f
	case fact.BreakProbed:
		f.Message = clean(f.Message)
		return f
	case fact.GateOpened:
		f.Message = clean(f.Message)
		return f
	case fact.Warned:
		f.Message = clean(f.Message)
		return f
	case fact.Commanded:
		f.Order = s.cleanOrder(f.Order)
		return f
	case fact.Refused:
		f.Order, f.Reason = s.cleanOrder(f.Order), clean(f.Reason)
		return f
	case fact.RunExported: // a secret among the values has been refused
		f.Error = clean(f.Error)
		return f
	case fact.RunCreated, fact.RunStarted, fact.RunReplanned, fact.RunResumed, fact.RunFinished, fact.AttemptStopping,
		fact.GateResolved, fact.ScopeTimedOut:
	}
	return f
}

func (s *ledger) cleanDiff(d *events.Diff) *events.Diff {
	if d == nil {
		return nil
	}
	clean := *d
	clean.Text, clean.Summary, clean.Path = s.secrets.Redact(d.Text), s.secrets.Redact(d.Summary), s.secrets.Redact(d.Path)
	return &clean
}

// cleanOrder takes secrets out of the commands that can hold some.
func (s *ledger) cleanOrder(o events.Order) events.Order {
	switch c := o.Command.(type) {
	case events.Set:
		c.Variable = s.secrets.Redact(c.Variable)
		o.Command = c
	case events.Fix:
		c.Values = secret.Clean(s.secrets, c.Values)
		o.Command = c
	case events.Break:
		c.Log, c.When = s.secrets.Redact(c.Log), s.secrets.Redact(c.When)
		o.Command = c
	default:
	}
	return o
}
