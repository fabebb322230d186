package action

import (
	"context"
	"strings"
	"syscall"
	"time"

	"moon/events"
	"moon/exec/fsys"
	"moon/exec/spec"
)

// planTimes adds to what is planned the times that the step gives. A file that has them already is not touched.
func (s fileStep) planTimes() error {
	if s.args.State == fsys.Absent || s.c.Result == nil {
		return nil
	}
	access, err := s.givenTime(s.args.AccessTime, s.args.AccessFormat)
	if err != nil {
		return err
	}
	mod, err := s.givenTime(s.args.ModTime, s.args.ModFormat)
	if err != nil || access.IsZero() && mod.IsZero() {
		return err
	}
	p := s.c.Result
	is, err := p.Look()
	if err != nil {
		return err
	}
	if s.c.Diff.Kind == events.ChangeNone && hasTimes(is, access, mod) {
		return nil
	}
	var words []string
	if !mod.IsZero() {
		words = append(words, "modification time "+mod.Format(time.DateTime))
	}
	if !access.IsZero() {
		words = append(words, "access time "+access.Format(time.DateTime))
	}
	touch := func(context.Context) error { return p.PathError(p.SetTimes(access, mod)) }
	planAfter(s.c, events.ChangeUpdate, touch, strings.Join(words, ", "))
	return nil
}

// givenTime is a time in the zone of this machine; zero: none is given. That of now touch has given already.
func (s fileStep) givenTime(text, format string) (time.Time, error) {
	switch {
	case text == "" || text == "preserve" || text == "now" && s.args.State == "touch":
		return time.Time{}, nil
	case text == "now":
		return time.Now(), nil
	}
	return spec.ParseTime(text, format, time.Local)
}

// hasTimes reports whether an entry has these times, of which one that is zero is any.
func hasTimes(e fsys.Entry, access, mod time.Time) bool {
	if e.Info == nil {
		return false // it is only predicted
	}
	if !mod.IsZero() && !e.Info.ModTime().Equal(mod) {
		return false
	}
	if access.IsZero() {
		return true
	}
	st, ok := e.Info.Sys().(*syscall.Stat_t)
	return ok && fsys.AccessTime(st).Equal(access)
}
