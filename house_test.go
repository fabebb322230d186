package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// undocumented are the packages without a doc.go: what is said of a program stands in its main file.
var undocumented = map[string]bool{".": true, "docs/tape": true, "internal/assault/cmd": true}

// TestDocs lets every package say in its doc.go what it is about, with its flow drawn.
func TestDocs(t *testing.T) {
	for pkg := range importsOf(t) {
		if undocumented[pkg] {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg, "doc.go"), nil, parser.ParseComments)
		if err != nil {
			t.Errorf("package %s has no doc.go: %s", pkg, err)
			continue
		}
		text := f.Doc.Text()
		if !strings.HasPrefix(text, "Package "+f.Name.Name+" ") {
			t.Errorf("%s/doc.go does not begin with the comment of package %s", pkg, f.Name.Name)
		}
		if !strings.Contains(text, "\n\n\t") {
			t.Errorf("%s/doc.go draws no flow", pkg)
		}
	}
}

// The sizes of the house. What a type can reach decides how much of it a reader must know: methods and packages are bounded, and
// not only files and functions.
const (
	mostMethods = 60
	mostFiles   = 40
	mostLines   = 6000
	mapLines    = 250
)

// oversized are what is still larger, with little room: they may shrink, and an entry that fits goes.
var oversized = map[string]int{
	"files of exec/action":            75,
	"files of exec/spec":              79,
	"files of plan/eval":              56,
	"files of plan/planner":           45,
	"files of tui":                    74,
	"lines of engine":                 8525,
	"lines of exec/action":            13700,
	"lines of exec/spec":              6500,
	"lines of plan":                   6900,
	"lines of plan/eval":              13250,
	"lines of plan/planner":           8200,
	"lines of tui":                    13600,
	"methods of engine.Session":       115,
	"methods of engine.State":         140,
	"methods of plan/playbook.parser": 75,
	"methods of tui/lines.desk":       190,
}

// TestSizes holds the sizes of packages and types.
func TestSizes(t *testing.T) {
	files, lines, methods := measure(t)
	check := func(what string, n, most int) {
		bound, listed := oversized[what]
		switch {
		case n <= most && listed:
			t.Errorf("%s is %d, within the limit of %d: remove it from the table", what, n, most)
		case n > most && !listed:
			t.Errorf("%s is %d; the limit is %d", what, n, most)
		case n > bound && listed:
			t.Errorf("%s is %d; it may not grow beyond %d", what, n, bound)
		}
	}
	for pkg, n := range files {
		check("files of "+pkg, n, mostFiles)
		check("lines of "+pkg, lines[pkg], mostLines)
	}
	for name, n := range methods {
		check("methods of "+name, n, mostMethods)
	}
	for what := range oversized {
		kind, name, _ := strings.Cut(what, " of ")
		if kind == "methods" && methods[name] == 0 || kind != "methods" && files[name] == 0 {
			t.Errorf("there is no %s any more: remove it from the table", what)
		}
	}
}

// measure counts files and lines of packages, and methods of types. Files of other systems count too; tests do not.
func measure(t *testing.T) (files, lines, methods map[string]int) {
	t.Helper()
	files, lines, methods = map[string]int{}, map[string]int{}, map[string]int{}
	for pkg := range importsOf(t) {
		paths, err := filepath.Glob(filepath.Join(pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files[pkg]++
			lines[pkg] += set.File(f.Pos()).LineCount()
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
					methods[pkg+"."+receiver(fn.Recv.List[0].Type)]++
				}
			}
		}
	}
	return files, lines, methods
}

// receiver is the name of the type that a method belongs to.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestDecisions holds the map short, and the index of decisions complete.
func TestDecisions(t *testing.T) {
	design, err := os.ReadFile("DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(design), "\n"); n > mapLines {
		t.Errorf("DESIGN.md has %d lines; it is a map, of %d at most. Decisions belong in docs/decisions", n, mapLines)
	}
	index, err := os.ReadFile("docs/decisions/README.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("docs/decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Count(string(index), "\n| 20")
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			title, is := strings.CutPrefix(strings.TrimSpace(line), "## 20")
			if !is {
				continue
			}
			found++
			if date, words, ok := strings.Cut(title, " · "); !ok || !strings.Contains(string(index), "| 20"+date+" | ["+words+"]("+filepath.Base(page)+"#") {
				t.Errorf("docs/decisions/README.md does not list %q of %s", title, page)
			}
		}
	}
	if listed != found || found == 0 {
		t.Errorf("the index lists %d decisions, and there are %d", listed, found)
	}
}

// TestNolint lets a comment silence only a linter that runs: one for another says nothing, and stays when the reason is gone.
func TestNolint(t *testing.T) {
	text, err := os.ReadFile(".golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]bool{"errcheck": true, "govet": true, "ineffassign": true, "staticcheck": true, "unused": true} // the standard ones
	for _, m := range regexp.MustCompile(`(?m)^    - (\w+)$`).FindAllStringSubmatch(string(text), -1) {
		runs[m[1]] = true
	}
	comment := regexp.MustCompile(`//nolint:([\w,]+)`)
	for pkg := range importsOf(t) {
		paths, err := filepath.Glob(filepath.Join(pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			code, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range comment.FindAllStringSubmatch(string(code), -1) {
				for name := range strings.SplitSeq(m[1], ",") {
					if !runs[name] && path != "house_test.go" {
						t.Errorf("%s silences %s, which does not run", path, name)
					}
				}
			}
		}
	}
}
