package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"slices"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/lines"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("cron", exec.Action{Plan: planCron})

// cronMark is what the line above a job begins with. Ansible writes the same.
const cronMark = "#Ansible: "

func planCron(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.CronArgs)
	if args.CronFile != "" {
		return planCronFile(ctx, a, args)
	}
	return planCrontab(ctx, a, args)
}

// cronEdit is what a step does to a crontab.
type cronEdit struct {
	args *spec.CronArgs
	put  []string          // the lines of the job or variable
	kind events.ChangeKind // of it
	err  error
	text string // as it shall be
}

// editText returns the text as it shall be, and in words what was done to it.
func (e *cronEdit) editText(text string) (edited, says string) {
	d := lines.Read(text)
	switch {
	case e.args.Env && e.args.State == fsys.Absent:
		says = e.removeVariable(d)
	case e.args.Env:
		says = e.putVariable(d)
	case e.args.State == fsys.Absent:
		says = e.removeJob(d)
	default:
		says = e.putJob(d)
	}
	e.text = text
	if says != "" {
		d.Open = false // cron takes no line without an end
		e.text = d.String()
	}
	return e.text, says
}

// jobLine is the job as the crontab has it.
func (e *cronEdit) jobLine() string {
	words := []string{e.args.Time}
	if e.args.CronFile != "" {
		words = append(words, e.args.User)
	}
	line := strings.Join(append(words, e.args.Job), " ")
	if e.args.Disabled {
		return "#" + line
	}
	return line
}

// findJob returns the number of the line with the job's name; -1: there is none.
func (e *cronEdit) findJob(d *lines.Text) int {
	return d.Find(true, func(line string) bool { return line == cronMark+e.args.Name })
}

// hasJob reports whether the line below a name is a job, and not the next name.
func hasJob(d *lines.Text, i int) bool {
	return i+1 < len(d.Lines) && !strings.HasPrefix(d.Line(i+1), cronMark)
}

func (e *cronEdit) putJob(d *lines.Text) string {
	line := e.jobLine()
	i := e.findJob(d)
	switch {
	case i >= 0 && hasJob(d, i) && d.Line(i+1) == line:
		return ""
	case i >= 0 && hasJob(d, i):
		e.kind = events.ChangeUpdate
		says := "job changed"
		switch was := d.Line(i + 1); {
		case was == "#"+line:
			says = "job enabled"
		case "#"+was == line:
			says = "job disabled"
		}
		d.Put(i+1, i+2, line)
		return says
	case i >= 0:
		e.kind = events.ChangeUpdate
		d.Put(i+1, i+1, line)
		return "job changed"
	}
	// The very job may be there without a name.
	same := d.Find(true, func(l string) bool { return l == line })
	if same >= 0 && (same == 0 || !strings.HasPrefix(d.Line(same-1), cronMark)) {
		e.kind = events.ChangeUpdate
		d.Put(same, same, cronMark+e.args.Name)
		return "job named"
	}
	e.kind, e.put = events.ChangeCreate, []string{cronMark + e.args.Name, line}
	d.Put(len(d.Lines), len(d.Lines), e.put...)
	return "new job"
}

func (e *cronEdit) removeJob(d *lines.Text) string {
	i := e.findJob(d)
	if i < 0 {
		return ""
	}
	to := i + 1
	if hasJob(d, i) {
		to++
	}
	return e.remove(d, i, to, "job")
}

// remove takes lines out, if they are those that the step means.
func (e *cronEdit) remove(d *lines.Text, from, to int, what string) string {
	if is := lines.Digest(d.Between(from, to)); e.args.Checksum != "" && is != e.args.Checksum {
		e.err = fmt.Errorf("the %s %s has been edited since moon left it: its checksum is %s, not %s; "+
			"save what you need and remove it without `checksum`, or keep it", what, e.args.Name, is, e.args.Checksum)
		return ""
	}
	e.kind = events.ChangeDelete
	d.Put(from, to)
	return what + " removed"
}

// findVariable finds where a variable is set.
func findVariable(d *lines.Text, name string) int {
	return d.Find(true, func(line string) bool {
		m := cronVariable.FindStringSubmatch(line)
		return m != nil && m[1] == name
	})
}

var cronVariable = pattern.New(`^([A-Za-z_][A-Za-z0-9_]*)\s*=`)

func (e *cronEdit) putVariable(d *lines.Text) string {
	line := e.args.Name + `="` + e.args.Job + `"`
	if i := findVariable(d, e.args.Name); i >= 0 {
		if d.Line(i) == line {
			return ""
		}
		e.kind = events.ChangeUpdate
		d.Put(i, i+1, line)
		return "variable changed"
	}
	// cron applies a variable to the lines after it, so a new one goes to the top.
	at := 0
	if anchor := e.args.InsertAfter + e.args.InsertBefore; anchor != "" {
		i := findVariable(d, anchor)
		if i < 0 {
			e.err = fault.Missing("", "the crontab has no variable %s to put %s beside", anchor, e.args.Name)
			return ""
		}
		at = i
		if e.args.InsertAfter != "" {
			at++
		}
	}
	e.kind, e.put = events.ChangeCreate, []string{line}
	d.Put(at, at, line)
	return "new variable"
}

func (e *cronEdit) removeVariable(d *lines.Text) string {
	i := findVariable(d, e.args.Name)
	if i < 0 {
		return ""
	}
	return e.remove(d, i, i+1, "variable")
}

// addCron records what is done to a job, with what takes a new one out of the crontab again.
func (e *cronEdit) addCron(c *exec.Change, a *exec.Attempt) {
	if e.kind != events.ChangeCreate {
		c.AddResource(e.kind, "cron", e.args.Name)
		return
	}
	in := map[string]any{"name": e.args.Name, "state": fsys.Absent, "checksum": lines.Digest(e.put)}
	for name, text := range map[string]string{"user": e.args.User, "cron_file": e.args.CronFile} {
		if text != "" {
			in[name] = text
		}
	}
	if e.args.Env {
		in["env"] = true
	}
	r := events.Resource{Type: "cron", Name: e.args.Name, Change: e.kind, Digest: lines.Digest(e.put), Undo: a.UndoWithTools("cron", in)}
	if e.args.CronFile != "" {
		c.AddPart(r)
	} else {
		c.Resources = append(c.Resources, r)
	}
}

// describeCrontab adds to a result what is in the crontab now.
func (e *cronEdit) describeCrontab(fields map[string]any) {
	jobs, envs := []any{}, []any{}
	for line := range strings.Lines(e.text) {
		line = lines.WithoutEnd(line)
		if name, ok := strings.CutPrefix(line, cronMark); ok {
			jobs = append(jobs, name)
		} else if m := cronVariable.FindStringSubmatch(line); m != nil {
			envs = append(envs, m[1])
		}
	}
	fields["jobs"], fields["envs"], fields["state"] = jobs, envs, e.args.State
}

// planCronFile edits a file of its own. It is removed when nothing is left in it.
func planCronFile(ctx context.Context, a *exec.Attempt, args *spec.CronArgs) (*exec.Change, error) {
	e := &cronEdit{args: args}
	c, err := planEdit(ctx, a, edit{path: args.CronFile, create: true, gone: args.State == fsys.Absent, backup: args.Backup}, e.editText)
	if err == nil && e.err != nil {
		c.Close()
		err = e.err
	}
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"path", "msg"} {
		delete(c.Fields, name)
	}
	c.Fields["cron_file"] = args.CronFile
	e.describeCrontab(c.Fields)
	if c.Diff.Kind == events.ChangeNone {
		return c, nil
	}
	if e.kind == events.ChangeDelete && strings.TrimSpace(e.text) == "" {
		p := c.Places[len(c.Places)-1]
		c.Plan(events.ChangeDelete, func(context.Context) error {
			if args.Backup {
				kept, err := p.Keep()
				if err != nil {
					return err
				}
				c.Fields["backup_file"] = kept
			}
			return p.PathError(p.Dir.Remove(p.Name))
		}, c.Diff.Summary, "nothing is left in the file")
		c.Predictions = []func(*fsys.Overlay){func(f *fsys.Overlay) { f.Put(p.Path, fsys.Nothing) }}
		c.Result = nil
	}
	if e.kind != events.ChangeCreate {
		c.AddFile(c.Diff.Kind, c.Diff.Path)
	}
	e.addCron(c, a)
	return c, nil
}

// planCrontab edits a user's crontab, which only the program crontab may touch.
func planCrontab(ctx context.Context, a *exec.Attempt, args *spec.CronArgs) (*exec.Change, error) {
	if err := lacksTool(a, "crontab", "cron (Debian) or cronie (Fedora, RHEL, Arch, Alpine)"); err != nil {
		return nil, err
	}
	// crontab swaps the whole table: of two steps that read it first and write then, one would lose its job.
	unlock, err := edits.takeKey(ctx, "crontab")
	if err != nil {
		return nil, err
	}
	c := &exec.Change{Unlock: unlock, Fields: map[string]any{}}
	c.PlanNothing()
	if err := editCrontab(ctx, a, c, args); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func editCrontab(ctx context.Context, a *exec.Attempt, c *exec.Change, args *spec.CronArgs) error {
	whose, options := args.User, []string{}
	// crontab allows -u to root only, even for one's own name.
	if me, err := user.Current(); whose == "" && err == nil {
		whose = me.Username
	} else if err != nil || whose != me.Username {
		options = []string{"-u", whose}
	}
	path := "/var/spool/cron/crontabs/" + whose // or elsewhere; a dry run remembers it by this
	old, err := readCrontab(ctx, a, whose, path, options)
	if err != nil {
		return err
	}
	e := &cronEdit{args: args}
	edited, says := e.editText(old)
	if e.err != nil {
		return e.err
	}
	e.describeCrontab(c.Fields)
	if edited == old {
		return nil
	}
	if a.Diff && !a.NoLog {
		c.Diff.Text = fsys.UnifiedDiff("crontab of "+whose, []byte(old), []byte(edited))
	}
	e.addCron(c, a)
	c.Plan(e.kind, func(ctx context.Context) error {
		if args.Backup && old != "" {
			if c.Fields["backup_file"], err = keepText(old); err != nil {
				return err
			}
		}
		if edited == "" && e.kind == events.ChangeDelete { // nothing is left, and nothing is what was there before
			return a.RunTool(ctx, exec.NewTool(append(append([]string{"crontab"}, options...), "-r")...))
		}
		said, err := a.RunToolReading(ctx, exec.Tool{Argv: append(append([]string{"crontab"}, options...), "-"), Stdin: &edited})
		return said.Explain(err)
	}, says+" in the crontab of "+whose)
	c.AddPrediction(func(f *fsys.Overlay) {
		f.Put(path, fsys.Predicted{
			Entry: fsys.Entry{Kind: fsys.Regular},
			From:  fsys.Source{Data: []byte(edited), Size: int64(len(edited))},
		})
	})
	return nil
}

// readCrontab reads a user's crontab, which is empty if there is none.
func readCrontab(ctx context.Context, a *exec.Attempt, whose, path string, options []string) (string, error) {
	if at, ok := a.Overlay.Look(path); ok {
		in, err := at.Open()
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(in)
		return string(text), errors.Join(err, in.Close())
	}
	if _, ok := a.Overlay.ID("user", whose); ok {
		return "", nil
	}
	said, err := a.AskTool(ctx, exec.NewTool(append(append([]string{"crontab"}, options...), "-l")...))
	switch {
	case err != nil:
		return "", err
	case said.Code == 0:
		return withoutHeader(said.Stdout), nil
	case strings.Contains(said.Stderr, "no crontab for") || strings.Contains(said.Stderr, "can't open '"+whose+"'"): // of busybox
		return "", nil
	}
	if _, err := user.Lookup(whose); err != nil {
		return "", fault.Missing("", "user %s does not exist", whose)
	}
	return "", said.Explain(fault.CommandError{Message: "crontab: failed", RC: &said.Code, Class: fault.Fatal})
}

// cronHeaders matches what some crons put on top of every crontab that they show, and would put there again.
var cronHeaders = []*pattern.Pattern{
	pattern.New(`^# DO NOT EDIT THIS FILE - edit the master and reinstall\.`),
	pattern.New(`^# \(.* installed on .*\)`),
	pattern.New(`^# \(.*[vV]ersion.*\)`),
}

func withoutHeader(text string) string {
	// Some versions print the comment that they put there themselves. Written back, it would grow with each edit.
	for range cronHeaders {
		line, rest, _ := strings.Cut(text, "\n")
		if !slices.ContainsFunc(cronHeaders, func(h *pattern.Pattern) bool { return h.MatchString(line) }) {
			break
		}
		text = rest
	}
	return text
}

// keepText puts a text into a new file, and returns its path.
func keepText(text string) (string, error) {
	f, err := os.CreateTemp("", "crontab")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	return f.Name(), errors.Join(err, f.Close())
}
