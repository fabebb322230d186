package docs

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"moon/internal/app"
	"moon/internal/cli"
)

// TestMistakes runs every playbook of testdata/err and compares what moon says of it. A fixture is NAME.yml or the
// directory NAME with its playbook.yml; a first line `# args: …` gives flags. Each ends with exit code 2, prints nothing
// on stdout and runs nothing.
func TestMistakes(t *testing.T) {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range fixtures(t) {
		name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(file, "testdata/err/"), ".yml"), "/playbook")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir, golden := filepath.Join(root, filepath.Dir(file)), filepath.Join(root, "testdata/err", name+".out")
			args := []string{"run", filepath.Base(file)}
			if line, _, _ := strings.Cut(string(text), "\n"); strings.HasPrefix(line, "# args: ") {
				args = append(args, strings.Fields(strings.TrimPrefix(line, "# args: "))...)
			}
			state := t.TempDir()
			for _, variable := range []string{"XDG_STATE_HOME", "XDG_DATA_HOME", "HOME"} {
				t.Setenv(variable, state)
			}
			t.Setenv(app.CoreVariable, "none") // what is installed decides nothing
			t.Chdir(dir)
			// In this process: hundreds of others would take much longer to start than to find the mistake.
			var stdout, stderr bytes.Buffer
			if code := cli.Run(cli.NewInvocation(strings.NewReader(""), &stdout, &stderr), args); code != app.ExitUsage {
				t.Errorf("it ended with exit status %d, not %d", code, app.ExitUsage)
			}
			if stdout.Len() > 0 {
				t.Errorf("it printed %q", stdout.String())
			}
			if entries, err := os.ReadDir(state); err != nil || len(entries) > 0 {
				t.Errorf("it left %v (%v)", entries, err)
			}
			got := strings.NewReplacer(dir, "$DIR", state, "$HOME").Replace(stderr.String())
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func fixtures(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"testdata/err/*.yml", "testdata/err/*/playbook.yml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal("no fixtures", err)
		}
		all = append(all, files...)
	}
	return all
}

// unshown are the diagnostics that no fixture can show, each with its reason.
var unshown = map[string]string{
	"template: %s": "the file vanishes between two looks at it",
	"the dependencies of roles lead to more than %d others":              "dozens of roles (plan.TestBombs)",
	"this is not one value: %s":                                          "values are typed in a run (plan.TestOverrideMistakes)",
	"the override of `%s` has no effect: %s":                             "values are typed in a run (plan.TestOverrideMistakes)",
	"not valid JSON: %s":                                                 "a program prints it (inventory.TestInventories)",
	"an Ansible plugin in Python is not loaded":                          "only doctor says it (testdata/script/doctor.txtar)",
	"%s is not looked into: its name is a template":                      "no mistake: moon doctor says it (testdata/script/doctor.txtar)",
	"the lookup `%s` has no option `%s`, and ignores it":                 "only doctor says it (testdata/script/doctor.txtar)",
	"%s cannot be removed: %s":                                           "an earlier moon recorded it (plan.TestOrphanOfNoAction)",
	"vars_prompt: %s":                                                    "there may be a terminal to ask on (plan.TestPrompts)",
	"%s is excluded from the plan, as its facts decide what it does: %s": "a warning (testdata/script/plays_left_out.txtar)",
	"%s is excluded by %s: %s":                                           "a warning (testdata/script/run_needs_groups.txtar)",
	"the facts of %s are not known yet: %s":                              "ssh says why, in its own words (plan.TestFactsThatNobodyGives)",

	"roles lead to the same files in too many ways: from here on each file is looked at once": "dozens of roles (walk.TestWalkBudget)",
	"loops and includes in each other would repeat tasks more than %d times":                  "a hundred thousand steps (plan.TestBombs)",
	"%s does not export `%s` (run %s)":                                                        "another playbook must have run (testdata/script/run_imports.txtar)",
	"`%s` is asked for (vars_prompt), and there is nobody to ask":                             "the same",
}

// TestMistakesAreComplete finds every sentence in the code that a diagnostic can begin with, and looks for it in the
// fixtures.
func TestMistakesAreComplete(t *testing.T) {
	files, err := filepath.Glob("testdata/err/*.out")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if _, message, ok := strings.Cut(line, ": error: "); ok {
				shown = append(shown, strings.TrimSpace(message))
			} else if _, message, ok := strings.Cut(line, ": warning: "); ok {
				shown = append(shown, strings.TrimSpace(message))
			}
		}
	}
	count, excused := 0, map[string]bool{}
	below, err := filepath.Glob("plan/planner/*/doc.go")
	if err != nil || len(below) == 0 {
		t.Fatal("no components of the planner", err)
	}
	dirs := []string{"plan", "plan/playbook", "plan/planner", "plan/walk", "plan/doctor", "exec/spec"}
	for _, file := range below {
		dirs = append(dirs, filepath.Dir(file))
	}
	for _, dir := range dirs {
		for where, format := range messages(t, dir) {
			count++
			if unshown[format] != "" {
				excused[format] = true
				continue
			}
			pattern := regexp.MustCompile(pattern(format))
			found := false
			for _, line := range shown {
				found = found || pattern.MatchString(line)
			}
			if !found {
				t.Errorf("%s: no fixture in testdata/err shows %q", where, format)
			}
		}
	}
	for format := range unshown {
		if !excused[format] {
			t.Errorf("unshown has %q, which no code says any more", format)
		}
	}
	if count < 300 {
		t.Errorf("only %d messages were found in the code", count)
	}
}

// pattern turns a format into a regular expression.
func pattern(format string) string {
	parts := regexp.MustCompile(`%[-+0-9.]*[a-zA-Z]`).Split(format, -1)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return strings.Join(parts, ".*")
}

// sayers are the functions that report, and which of their arguments is the message.
var sayers = map[string]int{"errorf": 4, "Errorf": 4, "warnf": 2, "needError": 2}

// parserErrorf has one argument less than the planner's Errorf: there is no chain of includes.
const parserErrorf = 3

// messages are the messages that a package's code can report, by their place in the code.
func messages(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			var message ast.Expr
			switch n := n.(type) {
			case *ast.CallExpr:
				name := ""
				switch f := n.Fun.(type) {
				case *ast.SelectorExpr:
					name = f.Sel.Name
				case *ast.Ident:
					name = f.Name
				}
				at, ok := sayers[name]
				switch {
				case name == "errorf" && dir == "plan/playbook":
					at = parserErrorf
				case name == "add" && dir == "exec/spec":
					at, ok = 1, len(n.Args) == 3
				}
				if ok && at < len(n.Args) {
					message = n.Args[at]
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Message" {
					message = n.Value
				}
			}
			if format := literal(message); format != "" {
				all[fset.Position(n.Pos()).String()] = format
			}
			return true
		})
	}
	return all
}

// literal is the text of an expression, with %s for what is not constant; "" if nothing is.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if err == nil {
			return text
		}
	case *ast.BinaryExpr:
		left, right := literal(e.X), literal(e.Y)
		if left == "" && right == "" {
			return ""
		}
		if left == "" {
			left = "%s"
		}
		if right == "" {
			right = "%s"
		}
		return left + right
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Sprintf" && len(e.Args) > 0 {
			return literal(e.Args[0])
		}
	}
	return ""
}
