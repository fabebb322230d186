package docs

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"moon/engine"
	"moon/exec/facts"
	"moon/internal/test/fakes"
	"moon/plan"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/show"
)

// The pages whose tables and examples are checked. UPDATE=1 writes what is computed into them.
const (
	actionsPage   = "docs/actions.md"
	playbookPage  = "docs/playbook.md"
	readmePage    = "README.md"
	runningPage   = "docs/running.md"
	templatesPage = "docs/templates.md"
	secretsPage   = "docs/secrets.md"
	themesPage    = "docs/themes.md"
	configPage    = "docs/config.md"
	keysPage      = "docs/keys.md"
	playsPage     = "docs/plays.md"
)

// What a fence of a page may begin with:
//
//	yaml            a playbook, with further files after lines `# file: NAME`, of which `hosts` is its inventory; it plans without a word, unless an error
//	                fence follows
//	yaml examples   the same; its variables are those of the jinja and conditions fences
//	yaml example    steps that TestActions runs
//	text plan       after a playbook: its plan
//	text error      what moon says of it
//	text run        what running it prints
//	jinja           lines `{{ expression }} → text`
//	conditions      lines `condition → true`
var fences = []string{
	"yaml", "yaml examples", "yaml example", "text plan", "text error", "text run", "jinja", "conditions", "sh",
	"console", "json",
}

// fence is a fenced block of a page.
type fence struct {
	kind   string
	indent string
	line   int // of its first line of text, from 0
	text   []string
	after  int // the fence it follows with nothing between, or -1
}

func readFences(t *testing.T, page string, lines []string) []fence {
	t.Helper()
	var all []fence
	open, last := false, -2
	for i, line := range lines {
		trimmed := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(trimmed)]
		switch {
		case open && trimmed == "```":
			open, last = false, i
		case open:
			f := &all[len(all)-1]
			f.text = append(f.text, strings.TrimPrefix(line, f.indent))
		case strings.HasPrefix(trimmed, "```"):
			f := fence{kind: strings.TrimPrefix(trimmed, "```"), indent: indent, line: i + 1, after: -1}
			if !slices.Contains(fences, f.kind) {
				t.Errorf("%s:%d: a fence cannot be of the kind %q", page, i+1, f.kind)
			}
			if last == i-2 && lines[i-1] == "" {
				f.after = len(all) - 1
			}
			open = true
			all = append(all, f)
		}
	}
	if open {
		t.Errorf("%s: a fence is not closed", page)
	}
	return all
}

// TestDocsExamples plans every playbook of the pages and compares what they show.
func TestDocsExamples(t *testing.T) {
	howto, err := filepath.Glob("docs/howto/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(howto, playbookPage, templatesPage, runningPage, actionsPage, secretsPage, playsPage) {
		lines := fakes.ReadLines(t, page)
		fences := readFences(t, page, lines)
		var examples string
		if i := slices.IndexFunc(fences, func(f fence) bool { return f.kind == "yaml examples" }); i >= 0 {
			examples = strings.Join(fences[i].text, "\n")
		}
		for i, f := range slices.Backward(fences) { // so that what is rewritten moves nothing that comes
			var got []string
			switch f.kind {
			case "yaml", "yaml examples":
				shown := i+1 < len(fences) && fences[i+1].after == i && fences[i+1].kind == "text error"
				if _, says := planExample(t, f); says != "" && !shown {
					t.Errorf("%s:%d: moon says\n%s", page, f.line, says)
				}
				continue
			case "jinja":
				got = rendered(t, page, f, examples)
			case "conditions":
				got = decided(t, page, f, examples)
			case "sh", "console", "yaml example":
				continue
			default:
				if f.after < 0 || !strings.HasPrefix(fences[f.after].kind, "yaml") {
					t.Errorf("%s:%d: what is this the %s of?", page, f.line, f.kind)
					continue
				}
				got = outcome(t, fences[f.after], f.kind)
			}
			if slices.Equal(got, f.text) {
				continue
			}
			if os.Getenv("UPDATE") == "" {
				t.Errorf("%s:%d: got\n%s\nwant\n%s", page, f.line, strings.Join(got, "\n"), strings.Join(f.text, "\n"))
				continue
			}
			for j := range got {
				got[j] = strings.TrimRight(f.indent+got[j], " ")
			}
			lines = slices.Replace(lines, f.line, f.line+len(f.text), got...)
		}
		fakes.WriteLines(t, page, lines)
	}
}

// outcome is what moon prints of an example.
func outcome(t *testing.T, f fence, kind string) []string {
	t.Helper()
	p, says := planExample(t, f)
	text := says
	switch {
	case kind == "text error":
	case p == nil:
		t.Errorf("line %d: there is no plan:\n%s", f.line, says)
	case kind == "text run":
		text = ran(t, f)
	default:
		var b strings.Builder
		if err := show.WriteTree(&b, p, 0); err != nil {
			t.Fatal(err)
		}
		_, text, _ = strings.Cut(b.String(), "\n\n") // without the digest
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// layOut writes the files of an example to a directory. The playbook is the one without a name.
func layOut(t *testing.T, f fence) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]string{}
	name := "playbook.yml"
	for _, line := range f.text {
		if next, ok := strings.CutPrefix(line, "# file: "); ok {
			name = next
			continue
		}
		files[name] = append(files[name], line+"\n")
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Join(text, "")), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o644); err != nil { // whatever the umask: a mode may be shown
			t.Fatal(err)
		}
	}
	return dir
}

// planExample plans an example as if on the machine of the pages, and returns what moon says of it.
func planExample(t *testing.T, f fence) (*plan.Plan, string) {
	t.Helper()
	dir := layOut(t, f)
	var inventory []string
	if slices.Contains(f.text, "# file: hosts") {
		inventory = []string{"hosts"}
	}
	p, _, ds := engine.Build(plan.Options{
		Path: filepath.Join(dir, "playbook.yml"), Dir: dir, Hosts: plan.HostSelection{Inventory: inventory}, Home: "/home/ada", User: "ada",
		Facts: plan.KnownFacts{Here: pageFacts(), Volatile: facts.Volatile},
	})
	var b strings.Builder
	if err := ds.Print(&b); err != nil {
		t.Fatal(err)
	}
	return p, strings.ReplaceAll(b.String(), dir, "…")
}

// pageFacts are the facts of the machine of the pages: every fact there is, with values that stay.
func pageFacts() map[string]any {
	facts := facts.Local()
	for name := range facts {
		if strings.HasSuffix(name, "_available") {
			facts[name] = name == "apt_available"
		}
	}
	maps.Copy(facts, map[string]any{
		"os": "linux", "arch": "amd64", "linux": true, "darwin": false, "windows": false, "hostname": "devbox", "username": "ada",
		"home":         "/home/ada",
		"distribution": "ubuntu", "distribution_version": "24.04", "distribution_major": "24", "os_family": "debian",
		"package_manager": "apt",
		"cpu_cores":       8, "memory_total_mb": 16000, "env": map[string]any{"HOME": "/home/ada", "LANG": "C.UTF-8"},
	})
	return facts
}

// ran runs an example with moon itself, in a directory and a home of its own.
func ran(t *testing.T, f fence) string {
	t.Helper()
	moon, err := exec.LookPath("moon") // testscript has put it there
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd := exec.Command(moon, "run", "playbook.yml")
	cmd.Dir = layOut(t, f)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "XDG_STATE_HOME="+home, "XDG_DATA_HOME="+home, "HOME="+home)
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("line %d: %v\n%s", f.line, err, out)
	}
	return fakes.Steady(strings.ReplaceAll(string(out), home, "/home/ada"))
}

// asked plans the variables of the page with a step for each line of a fence, and returns the lines' left sides and the
// steps.
func asked(t *testing.T, page string, f fence, examples string, step func(text string) string) (questions []string, p *plan.Plan) {
	t.Helper()
	vars, _, ok := strings.Cut(examples, "steps: []")
	if !ok {
		t.Fatalf("%s: the variables of the examples end with `steps: []`", page)
	}
	text := vars + "steps:\n"
	for _, line := range f.text {
		question, _, _ := strings.Cut(line, "→")
		question = strings.TrimSpace(question)
		questions = append(questions, question)
		text += step(strconv.Quote(question))
	}
	p, says := planExample(t, fence{text: strings.Split(text, "\n")})
	if p == nil || says != "" {
		t.Fatalf("%s:%d: %s", page, f.line, says)
	}
	return questions, p
}

func rendered(t *testing.T, page string, f fence, examples string) []string {
	t.Helper()
	questions, p := asked(t, page, f, examples, func(text string) string { return "  - print: " + text + "\n" })
	answers := make([]string, len(questions))
	for i := range questions {
		answers[i] = value.Text(p.Steps[i].Args["msg"])
		if s, ok := p.Steps[i].Args["msg"].(string); ok && (strings.ContainsAny(s, "\n") || s == "" || s != strings.TrimSpace(s)) {
			answers[i] = strconv.Quote(s)
		}
	}
	return inColumns(questions, answers)
}

func decided(t *testing.T, page string, f fence, examples string) []string {
	t.Helper()
	questions, p := asked(t, page, f, examples, func(text string) string { return "  - {print: x, when: " + text + "}\n" })
	answers := make([]string, len(questions))
	for i := range questions {
		answers[i] = map[plan.Prediction]string{
			plan.WillRun: "true", plan.WillSkip: "false",
			plan.MaySkip: "not known",
		}[p.Steps[i].Prediction]
	}
	return inColumns(questions, answers)
}

func inColumns(left, right []string) []string {
	width := 0
	for _, s := range left {
		width = max(width, len([]rune(s)))
	}
	var lines []string
	for i := range left {
		lines = append(lines, fmt.Sprintf("%-*s  → %s", width, left[i], right[i]))
	}
	return lines
}

// TestDocsFilters looks for an example of every filter.
func TestDocsFilters(t *testing.T) {
	shown := map[string]bool{}
	for _, f := range readFences(t, templatesPage, fakes.ReadLines(t, templatesPage)) {
		if f.kind != "jinja" {
			continue
		}
		for _, m := range regexp.MustCompile(`(?:\| |\(')(\w+)`).FindAllStringSubmatch(strings.Join(f.text, "\n"), -1) {
			shown[m[1]] = true
		}
	}
	for _, name := range eval.Words().Filters {
		if !shown[name] {
			t.Errorf("%s has no example of the filter %s", templatesPage, name)
		}
	}
}

var (
	headline    = regexp.MustCompile(`(?m)^#+ (.*)$`)
	pageLink    = regexp.MustCompile(`\]\(([^)]*)\)`)
	punctuation = regexp.MustCompile(`[^\w -]`)
)

// TestDocsLinks follows the links of the pages to files and headlines.
func TestDocsLinks(t *testing.T) {
	anchors := func(page string) []string {
		var all []string
		for _, m := range headline.FindAllStringSubmatch(strings.Join(fakes.ReadLines(t, page), "\n"), -1) {
			all = append(all, strings.ReplaceAll(strings.ToLower(punctuation.ReplaceAllString(m[1], "")), " ", "-"))
		}
		return all
	}
	pages := []string{"README.md", "CONTRIBUTING.md"}
	for _, pattern := range []string{"docs/*.md", "docs/howto/*.md"} {
		some, err := filepath.Glob(pattern)
		if err != nil || len(some) == 0 {
			t.Fatal(pattern, err)
		}
		pages = append(pages, some...)
	}
	for _, page := range pages {
		for _, m := range pageLink.FindAllStringSubmatch(strings.Join(fakes.ReadLines(t, page), "\n"), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			} else if anchor != "" && !slices.Contains(anchors(target), anchor) {
				t.Errorf("%s links to %s: there is no such headline", page, m[1])
			}
		}
	}
}

// TestSite holds that the site has every page in its menu.
func TestSite(t *testing.T) {
	menu, err := os.ReadFile("mkdocs.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"docs/*.md", "docs/howto/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil || len(pages) == 0 {
			t.Fatal(pattern, err)
		}
		for _, page := range pages {
			if name := strings.TrimPrefix(page, "docs/"); !regexp.MustCompile(`[\[ ]` + regexp.QuoteMeta(name) + `[\],\n]`).Match(menu) {
				t.Errorf("mkdocs.yml does not have %s", name)
			}
		}
	}
}
