package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"moon/events"
	"moon/internal/report/otlp"
	"moon/plan"
	"moon/tui/plain"
)

// target is one thing that a run is reported to.
type target struct {
	format  string
	file    string // "": standard output
	adds    bool   // to what is in the file
	verbose bool
	diff    bool
	usual   string // for people: how long the run may take
	Watched bool   // the run is another process's

	ansible ansibleOutput
	otlp    otlp.Settings
}

var formats = []string{
	"auto", "text", "json", "github", "html", "markdown", "junit", "otlp", "ansible", "yaml", "minimal", "oneline", "debug",
	"timer", "profile_tasks", "profile_roles",
}

// ofTimes are the formats that may stand next to another text on standard output: they follow it.
var ofTimes = []string{string(plain.Timer), string(plain.ProfileTasks), string(plain.ProfileRoles)}

// ParseOutputs reads --output. What would fail only at the end of the run is refused here.
func ParseOutputs(texts []string, verbose, diff bool) ([]target, error) {
	var list []target
	texts, views := splitViews(texts)
	taken := ""
	for _, text := range texts {
		t := target{verbose: verbose, diff: diff}
		var toFile bool
		t.format, t.file, toFile = strings.Cut(text, ":")
		if t.format == "auto" {
			t.format = usualFormat()
		}
		switch {
		case t.format == "otlp": // what stands behind it is an address
			var err error
			if t.otlp, err = otlp.FromEnvironment(t.file); err != nil {
				return nil, Usage("--output otlp: %s", err)
			}
			t.file = "otlp" // and not standard output
		case !slices.Contains(formats, t.format):
			return nil, Usage("--output %s: there is no such format; give %s, or FORMAT:FILE", text, strings.Join(formats, ", "))
		case toFile && t.file == "":
			return nil, Usage("--output %s names no file", text)
		case !toFile && taken != "":
			return nil, Usage("--output %s and --output %s both write to standard output; give one of them a file: --output %s:FILE", taken,
				t.format, t.format)
		case !toFile:
			taken = t.format
		default:
			if info, err := os.Stat(filepath.Dir(t.file)); err != nil || !info.IsDir() {
				return nil, Usage("--output %s: there is no directory %s", text, filepath.Dir(t.file))
			}
			if info, err := os.Stat(t.file); err == nil && (info.IsDir() || info.Mode()&fs.ModeSocket != 0) {
				return nil, Usage("--output %s: %s is a directory or a socket; name a file", text, t.file)
			}
		}
		list = append(list, t)
	}
	if file := os.Getenv("GITHUB_STEP_SUMMARY"); file != "" && slices.ContainsFunc(list, func(t target) bool { return t.format == "github" }) {
		list = append(list, target{format: "markdown", file: file, adds: true})
	}
	return completeOutputs(list, views)
}

// usualFormat is what a run writes if no one says what: text, and in a job of GitHub Actions what its logs show best.
func usualFormat() string {
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		return "github"
	}
	return "text"
}

// splitViews takes out the views of times that go to standard output behind another text.
func splitViews(texts []string) (rest []string, views []plain.TimesView) {
	for _, text := range texts {
		if slices.Contains(ofTimes, text) {
			views = append(views, plain.TimesView(text))
		} else {
			rest = append(rest, text)
		}
	}
	return rest, views
}

// completeOutputs adds to the outputs the views of times, and what Ansible's settings say.
func completeOutputs(list []target, views []plain.TimesView) ([]target, error) {
	for i := range list {
		if err := list[i].readSettings(); err != nil {
			return nil, err
		}
	}
	if len(views) == 0 {
		return list, nil
	}
	base := slices.IndexFunc(list, func(t target) bool { return t.file == "" })
	switch {
	case base < 0:
		return append(list, target{format: ofTimes[0], ansible: ansibleOutput{times: plain.Times{Views: views}}}), nil
	case list[base].format == "json" || inOnePiece(list[base].format):
		return nil, Usage("--output %s and --output %s both write to standard output; give one of them a file: --output %s:FILE",
			list[base].format, views[0], list[base].format)
	}
	for _, view := range views {
		if have := &list[base].ansible.times.Views; !slices.Contains(*have, view) {
			*have = append(*have, view)
		}
	}
	return list, nil
}

// story is a run that can be reported: a session of this process, or what is watched of another.
type story interface {
	Follow(ctx context.Context, lines bool) (<-chan []events.Record, func() error)
	FollowBlocks(ctx context.Context) (<-chan []events.Record, func() error)
	PlanFor(digest string) *plan.Plan
}

// Tell reports a run to every target, each at its own pace, and returns when all have been served. A reader that has gone is
// no error: the run does not depend on it.
func Tell(ctx context.Context, call *Invocation, run story, outDir string, targets []target) (events.RunCompleted, error) {
	end, err := follow(ctx, call, run, outDir, targets)
	return end.result, err
}

// follow is Tell with more about the end.
func follow(ctx context.Context, call *Invocation, run story, outDir string, targets []target) (feedEnd, error) {
	results := make([]feedEnd, len(targets))
	errs := make([]error, len(targets))
	var wg sync.WaitGroup
	for i, t := range targets {
		wg.Go(func() {
			feed, followed := t.follow(ctx, run)
			feed, last := keepLast(feed)
			// The feed must be read to the end even if the reader is gone, or the run would wait.
			err := t.write(call, feed, run, outDir)
			if errors.Is(err, syscall.EPIPE) {
				err = nil
			}
			Drain(feed)
			results[i] = <-last
			errs[i] = errors.Join(followed(), err)
		})
	}
	wg.Wait()
	return results[0], errors.Join(errs...)
}

// follow is what the target needs of a run.
func (t target) follow(ctx context.Context, run story) (<-chan []events.Record, func() error) {
	switch {
	case inOnePiece(t.format) || t.format == "otlp":
		return run.Follow(ctx, false)
	case t.format == "json":
		return run.Follow(ctx, true)
	}
	return run.FollowBlocks(ctx)
}

// write writes what the feed tells.
func (t target) write(call *Invocation, feed <-chan []events.Record, run story, outDir string) (err error) {
	switch {
	case inOnePiece(t.format):
		return t.writeReport(call, feed, run, outDir)
	case t.format == "otlp":
		t.export(call, feed, run)
		return nil
	}
	// While a program has the terminal, text waits.
	w := call.Terminal.writer(call.Out)
	if t.format == "json" {
		w = call.Terminal.writer(call.Doc)
	}
	if t.file != "" {
		f, err := call.createFile(t.file)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		w = f
		if t.format != "json" {
			g := newRedactor(call.Secrets, f)
			defer g.flush()
			w = g
		}
	}
	// After a signal moon ends only once nothing more of the report is taken; this counts what is.
	w = reports{w, &call.Signals.reported}
	if t.format == "json" {
		return plain.JSON(w, run.PlanFor, feed)
	}
	a := t.ansible
	for _, line := range a.unlike {
		fmt.Fprintf(call.Err, "moon: %s\n", line)
	}
	switch t.format {
	case "ansible", "yaml", "debug":
		_, err = (&plain.Ansible{
			W: w, PlanFor: run.PlanFor, Verbose: t.verbose, Diff: t.diff, Style: a.style, HideOK: a.hideOK, HideSkipped: a.hideSkipped,
			Times: a.times,
		}).Follow(feed)
		return err
	case "minimal", "oneline":
		_, err = (&plain.Brief{W: w, PlanFor: run.PlanFor, OneLine: t.format == "oneline", Style: a.style, Diff: t.diff, Times: a.times}).Follow(feed)
		return err
	}
	if slices.Contains(ofTimes, t.format) {
		return a.times.Follow(w, run.PlanFor, feed)
	}
	text := &plain.Text{
		W: w, PlanFor: run.PlanFor, Verbose: t.verbose, Diff: t.diff, Usual: t.usual, Times: a.times,
		Seen: t.file == "" && IsTerminal(call.Out) && !t.Watched,
	}
	if t.format == "github" {
		text.GitHub = forGitHub()
	}
	_, err = text.Follow(feed)
	return err
}

// forGitHub is where the files of a workflow are, and a word that no step can guess.
func forGitHub() *plain.GitHub {
	var token [16]byte
	rand.Read(token[:])
	g := &plain.GitHub{Base: os.Getenv("GITHUB_WORKSPACE"), Token: hex.EncodeToString(token[:])}
	if g.Base == "" {
		g.Base, _ = os.Getwd() // without either, names are absolute
	}
	return g
}
