package targets

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"moon/internal/pattern"
	"moon/internal/termtext"
	"moon/plan"
)

// place is FILE:LINE, which names a step and not a file.
var place = pattern.New(`.:[0-9]+$`)

// Split tells playbooks and targets apart. A target begins with a colon, or is a word that no file of that name makes a playbook: it has
// no extension and no directory.
func Split(given []string) (playbooks, targets []string) {
	for _, arg := range given {
		switch name, marked := strings.CutPrefix(arg, ":"); {
		case marked && name != "":
			targets = append(targets, name)
		case isTarget(arg):
			targets = append(targets, arg)
		default:
			playbooks = append(playbooks, arg)
		}
	}
	return playbooks, targets
}

func isTarget(arg string) bool {
	if place.MatchString(arg) {
		return true
	}
	if arg == "" || arg == "-" || filepath.Ext(arg) != "" || strings.ContainsRune(arg, filepath.Separator) {
		return false
	}
	// A directory is often called like a target: test, build.
	info, err := os.Stat(arg)
	return err != nil || info.IsDir()
}

// target is something that can be named.
type target struct {
	name  string
	about []string
}

// Write lists what can be named as a target: what is at the top of the playbook, what has an `id:`, and tags.
func Write(w io.Writer, p *plan.Plan, playbook string) error {
	var all []target
	for i := range p.Scopes {
		if s := &p.Scopes[i]; i > 0 && (s.UserID != "" || p.Scopes[s.Parent].Parent < 0 && s.Name != "") && !slices.Contains(unnamed, s.Kind) {
			all = append(all, ofScope(p, s))
		}
	}
	for i := range p.Steps {
		if s := &p.Steps[i]; !s.Handler && s.Loop == nil && (s.UserID != "" || s.Scope == 0 && s.Name != "") {
			all = append(all, ofStep(p, s))
		}
	}
	return writeAll(w, p, playbook, all)
}

// unnamed are scopes that the playbook does not have under a name.
var unnamed = []plan.ScopeKind{plan.ScopeSection, plan.ScopeBatch, plan.ScopeBranch, plan.ScopeOrphans}

func ofScope(p *plan.Plan, s *plan.Scope) target {
	t := target{name: s.Name, about: []string{string(s.Kind) + " of " + plan.CountOf(s.Steps(), "step")}}
	if s.UserID != "" {
		t.name, t.about = s.UserID, append([]string{s.Name}, t.about...)
	}
	t.about = append(t.about, needsWords(p, s.Needs)...)
	return t
}

func ofStep(p *plan.Plan, s *plan.Step) target {
	t := target{name: s.Name}
	if s.UserID != "" {
		t.name, t.about = s.UserID, []string{s.Title()}
	}
	t.about = append(t.about, needsWords(p, s.Needs)...)
	return t
}

// needsWords says what is needed as written. That a value is used from another step is seen in the plan.
func needsWords(p *plan.Plan, needs []plan.Need) []string {
	var names []string
	for _, n := range needs {
		if n.Scope > 0 {
			names = append(names, p.Scopes[n.Scope].UserID)
		} else {
			names = append(names, p.Steps[n.Step].UserID)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"needs " + strings.Join(slices.Compact(names), ", ")}
}

func writeAll(w io.Writer, p *plan.Plan, playbook string, all []target) error {
	title := termtext.CleanName(playbook)
	if p.Name != "" {
		title += ": " + termtext.CleanName(p.Name)
	}
	fmt.Fprintf(w, "%s\n", title)
	width, seen := 0, map[string]bool{}
	for _, t := range all {
		width = max(width, min(ansi.StringWidth(termtext.CleanName(t.name)), 32))
	}
	for _, t := range all {
		if seen[t.name] {
			continue // on each host, say: the name stands for all of them
		}
		seen[t.name] = true
		writeLine(w, t.name, width, strings.Join(t.about, "; "))
	}
	counts := map[string]int{}
	for i := range p.Steps {
		for _, tag := range p.Steps[i].Tags {
			counts[tag]++
		}
	}
	for i, tag := range plan.SortedKeys(counts) {
		if i == 0 {
			fmt.Fprint(w, "\ntags\n")
		}
		writeLine(w, tag, width, plan.CountOf(counts[tag], "step"))
	}
	if len(all)+len(counts) == 0 {
		fmt.Fprint(w, "  nothing has a name, an id or a tag; moon plan --flat lists the steps\n")
	}
	return nil
}

func writeLine(w io.Writer, name string, width int, about string) {
	name = termtext.CleanName(name)
	line := "  " + name + strings.Repeat(" ", max(width-ansi.StringWidth(name), 0)) + "  " + termtext.CleanName(about)
	fmt.Fprintln(w, strings.TrimRight(line, " "))
}
