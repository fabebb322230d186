package launch

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"moon/engine/history"
	"moon/events"
	"moon/internal/diag"
	"moon/internal/termtext"
	"moon/plan/playbook"
	"moon/tui/plain"
)

// Choice is something to begin with: a playbook, or a run.
type Choice struct {
	Name  string // the path of the playbook from the directory, or the id of the run
	About string // what the playbook says of itself, or what the run was of
	Last  string // of a playbook its last run in words, of a run how it is; "" if there was none
	Args  []string
	Run   bool
	State State
}

// State is how a run is, or the last run of a playbook.
type State uint8

// The states.
const (
	Never State = iota
	Live
	Done
	Failed // failed, stopped or crashed: it can be resumed
)

// Where playbooks are looked for: not deep, and not in what playbooks are made of.
const (
	maxDepth = 2
	maxFiles = 400
	maxSize  = 1 << 20 // bytes of a file that is read for it

	maxResumable = 12 // runs: the latest; moon runs lists all
)

// parts are directories whose files are parts of playbooks.
var parts = []string{
	"roles", "tasks", "handlers", "vars", "defaults", "templates", "files", "group_vars", "host_vars", "meta", "molecule", "collections",
	"node_modules", "vendor", "inventory", "inventories",
}

// Choices are the playbooks of a directory and the runs that can be continued, given the runs that there were, the latest first.
func Choices(dir string, past []history.Past) (all []Choice) {
	for i := range past {
		p := &past[i]
		if p.Live {
			all = append(all, Choice{
				Name: p.ID, About: shownPath(dir, filepath.Join(p.Root, p.Playbook)), Last: "running " + stepsOf(p),
				Args: []string{"attach", "--tui", p.ID}, Run: true, State: Live,
			})
		}
	}
	latest := map[string]*history.Past{}
	for i := range past {
		path := filepath.Join(past[i].Root, past[i].Playbook)
		if latest[path] == nil && !past[i].Live {
			latest[path] = &past[i]
		}
	}
	for _, c := range Playbooks(dir) {
		path := filepath.Join(dir, c.Name)
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		if p := latest[path]; p != nil {
			c.State, c.Last = stateOf(p), lastWords(p)
		}
		all = append(all, c)
	}
	resumable := 0
	// Only the last run of a playbook can be meant to be continued: another one has taken its place since.
	for i := range past {
		p := &past[i]
		path := filepath.Join(p.Root, p.Playbook)
		if latest[path] == p && stateOf(p) == Failed && p.Damaged == "" && !p.Options.Check && resumable < maxResumable {
			resumable++
			all = append(all, Choice{
				Name: p.ID, About: shownPath(dir, path), Last: "resume: " + lastWords(p), Args: []string{"resume", p.ID}, Run: true,
				State: Failed,
			})
		}
	}
	return all
}

func stateOf(p *history.Past) State {
	switch {
	case p.Live:
		return Live
	case p.Outcome == events.RunDone:
		return Done
	}
	return Failed
}

func stepsOf(p *history.Past) string { return fmt.Sprintf("%d/%d", p.Done, p.Total) }

// lastWords are when a run was, how it ended and how long it took.
func lastWords(p *history.Past) string {
	how := string(p.Outcome)
	if how == "" {
		how = "died"
	}
	if p.Options.Check {
		how += " (dry run)"
	}
	if stateOf(p) == Failed {
		how += " at " + stepsOf(p)
	}
	return p.Started.Local().Format("2006-01-02 15:04") + "  " + how + "  " + plain.Duration(p.Ran.Round(time.Millisecond))
}

func shownPath(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// Playbooks are the files of a directory, and of those below it, that are playbooks.
func Playbooks(dir string) (list []Choice) {
	files := 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, wrong := filepath.Rel(dir, path)
		if err != nil || wrong != nil || rel == "." {
			return nil //nolint:nilerr // what cannot be read has no playbooks
		}
		depth := strings.Count(rel, string(filepath.Separator))
		switch name := d.Name(); {
		case d.IsDir() && (strings.HasPrefix(name, ".") || depth >= maxDepth || slices.Contains(parts, name)):
			return fs.SkipDir
		case d.IsDir() || strings.HasPrefix(name, ".") || !slices.Contains([]string{".yml", ".yaml"}, filepath.Ext(name)):
			return nil
		}
		if files++; files > maxFiles {
			return fs.SkipAll
		}
		if about, ok := read(path); ok {
			list = append(list, Choice{Name: rel, About: about, Args: []string{"tui", rel}})
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b Choice) int { // those at hand come first
		return strings.Count(a.Name, string(filepath.Separator)) - strings.Count(b.Name, string(filepath.Separator))
	})
	return list
}

// read says what a file says of itself, if it is a playbook: steps, or plays.
func read(path string) (about string, ok bool) {
	if info, err := os.Stat(path); err != nil || info.Size() > maxSize || !info.Mode().IsRegular() {
		return "", false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	var ds diag.List
	f := &playbook.File{Name: path, Path: path, Text: text, LastCounts: true}
	root, ok := playbook.Document(f, &ds)
	if !ok {
		return "", false
	}
	switch root.Kind() {
	case playbook.Map:
		_, steps := root.Get("steps")
		_, plays := root.Get("plays")
		about, described := root.Get("description")
		if !described {
			about, _ = root.Get("name")
		}
		return firstLine(about.Text()), steps || plays
	case playbook.List:
		return aboutPlays(root.Items())
	case playbook.Null, playbook.Bool, playbook.Int, playbook.Float, playbook.String:
	}
	return "", false
}

func aboutPlays(items []playbook.Value) (about string, ok bool) {
	var names []string
	for _, item := range items {
		_, hosts := item.Get("hosts")
		imported := false
		for _, key := range []string{"import_playbook", "ansible.builtin.import_playbook"} {
			if v, is := item.Get(key); is {
				names, imported = append(names, firstLine(v.Text())), true
			}
		}
		if !hosts && !imported {
			return "", false
		}
		if name, is := item.Get("name"); is && hosts {
			names = append(names, firstLine(name.Text()))
		}
	}
	return strings.Join(names, ", "), len(items) > 0
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// Write lists what there is.
func Write(w io.Writer, all []Choice) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "there is no playbook here; moon --help shows the commands")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, c := range all {
		cells := []string{termtext.CleanName(c.Name), termtext.CleanName(c.About), c.Last}
		for len(cells) > 1 && cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1]
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}
