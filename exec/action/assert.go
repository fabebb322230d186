package action

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/process"
	"moon/exec/spec"
)

var _ = exec.Register("assert", exec.Action{Run: runAssert, Dry: dryAssert, Effect: events.ChangeNone})

func runAssert(ctx context.Context, a *exec.Attempt) exec.Result {
	return checkAssertions(ctx, a, true)
}

// dryAssert checks conditions and files; commands and requests may have effects and are left out.
func dryAssert(ctx context.Context, a *exec.Attempt) exec.Result {
	return checkAssertions(ctx, a, false)
}

// unmet is an assertion that does not hold, in its own words.
type unmet struct {
	assertion string
	message   string
}

func (u unmet) Error() string { return u.message }

func checkAssertions(ctx context.Context, a *exec.Attempt, effects bool) exec.Result {
	args := a.Args.(*spec.AssertArgs)
	err := checkConditions(a, args.That)
	// A dry run starts no command, asks no server, and cannot see a file that an earlier step changes. If the rest holds, the outcome is
	// unknown.
	left := !effects && (args.Command != nil || args.HTTP != nil)
	if err == nil && args.File != nil {
		if a.Overlay.Concerns(args.File.Path) {
			left = true
		} else {
			err = checkFile(a, args.File)
		}
	}
	if err == nil && args.Command != nil && effects {
		err = checkCommand(ctx, a, args.Command)
	}
	if err == nil && args.HTTP != nil && effects {
		err = assertHTTP(ctx, args.HTTP)
	}
	if u, ok := errors.AsType[unmet](err); ok {
		r := exec.Result{Outcome: events.Failed, Error: u.message, Fields: map[string]any{"assertion": u.assertion, "evaluated_to": false}}
		r.Fields["msg"] = a.ChooseWords(u.message, "Assertion failed")
		if !noMessage(args.FailMsg) {
			r.Error, r.Fields["msg"] = printValue(args.FailMsg), args.FailMsg
		}
		return r
	}
	switch {
	case err != nil:
		return a.Failure(ctx, err)
	case left:
		return exec.UnknownChange("would check what a dry run does not know: what a command or a server says, or a file that an earlier step changes")
	}
	message := args.SuccessMsg
	if noMessage(message) {
		message = a.ChooseWords("all assertions hold", "All assertions passed")
	}
	r := exec.Result{Outcome: events.OK, Fields: map[string]any{"msg": message}}
	if !args.Quiet && !noMessage(args.SuccessMsg) {
		r.Message = printValue(message)
	}
	return r
}

// noMessage reports whether no message was given.
func noMessage(msg any) bool { return msg == nil || msg == "" }

func checkConditions(a *exec.Attempt, conditions []string) error {
	for _, condition := range conditions {
		ok, err := a.Names.Holds(condition)
		if err != nil {
			return err
		}
		if !ok {
			return unmet{condition, "assertion does not hold: " + condition}
		}
	}
	return nil
}

func checkCommand(ctx context.Context, a *exec.Attempt, want *spec.AssertCommand) error {
	p := a.PrepareWithOutput([]string{process.ShellPath, "-c", want.Cmd})
	exec.HideSecretArg(a.Secrets, p)
	var printed process.Limited
	if want.Contains != nil {
		printed.Left = bodyLimit
		if p.Stdout == nil {
			p.Stdout = io.Discard
		}
		p.Stdout = io.MultiWriter(p.Stdout, &printed)
	}
	e := p.Run(ctx)
	switch {
	case e.Err != nil:
		return e.Err
	case e.Stop != "":
		return e.Stop
	case e.Code != want.ExitCode:
		return unmet{want.Cmd, fmt.Sprintf("`%s` ended with %s, not %d", want.Cmd, e, want.ExitCode)}
	case want.Contains != nil && !strings.Contains(printed.String(), *want.Contains):
		return unmet{want.Cmd, fmt.Sprintf("`%s` does not print %q", want.Cmd, *want.Contains)}
	}
	return nil
}

func checkFile(a *exec.Attempt, want *spec.AssertFile) error {
	no := func(format string, args ...any) error {
		return unmet{want.Path, want.Path + " " + fmt.Sprintf(format, args...)}
	}
	info, err := os.Stat(want.Path)
	there := !errors.Is(err, fs.ErrNotExist)
	switch {
	case want.Exists != nil && !*want.Exists && there:
		return no("exists")
	case !there && want.Exists != nil && !*want.Exists:
		return nil
	case !there:
		return no("does not exist")
	case err != nil:
		return err
	}
	is := fsys.EntryOf(info)
	attrs, err := a.Overlay.NewAttributes(want.Mode, want.Owner, want.Group, spec.FileAttributes{})
	if err != nil {
		return err
	}
	// What setting the attributes would change is what does not hold. So names of users and modes mean what they mean to file and copy.
	w, _ := attrs.For(is)
	switch {
	case w.Mode != is.Mode:
		return no("has mode %04o, not %s", is.Mode, want.Mode)
	case w.UID != is.UID:
		return no("belongs to %s, not %s", fsys.UserName(is.UID), want.Owner)
	case w.GID != is.GID:
		return no("belongs to the group %s, not %s", fsys.GroupName(is.GID), want.Group)
	case want.Content == nil && want.Contains == nil:
		return nil
	}
	content, err := fsys.ReadRegular(want.Path)
	switch {
	case err != nil:
		return err
	case want.Content != nil && string(content) != *want.Content:
		return no("has other content")
	case want.Contains != nil && !bytes.Contains(content, []byte(*want.Contains)):
		return no("does not contain %q", *want.Contains)
	}
	return nil
}

func assertHTTP(ctx context.Context, want *spec.AssertHTTP) error {
	r := request{method: want.Method, url: want.URL, headers: want.Headers, body: want.Body, timeout: want.Timeout}
	status, body, err := r.sendRequest(ctx)
	if fault.Stopped(ctx) != "" {
		return context.Cause(ctx)
	}
	no := func(format string, args ...any) error {
		return unmet{want.URL, want.URL + " " + fmt.Sprintf(format, args...)}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return no("did not answer within %s", want.Timeout)
	case err != nil:
		return no("does not answer: %s", networkReason(err))
	case status != want.Status:
		return no("answered with %d, not %d", status, want.Status)
	case want.Contains != nil && !bytes.Contains(body, []byte(*want.Contains)):
		return no("does not answer with %q", *want.Contains)
	case want.Equals != nil && string(body) != *want.Equals:
		return no("answers with something else")
	}
	return nil
}
