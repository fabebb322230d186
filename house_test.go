package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"moon/plan/dialect"
)

// undocumented are the packages without a doc.go: what is said of a program stands in its main file.
var undocumented = map[string]bool{".": true, "nats": true, "cmd/moon-agent": true, "docs/tape": true, "internal/assault/cmd": true, "examples/embed": true}

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
	mostCircle  = 10
)

// wideCircles are the packages that may have a larger circle: each kind of node of a playbook may have any other inside, and is a file.
var wideCircles = map[string]int{"plan/planner": 15}

// tables are the packages with one file for each action: they are a table of contents, and grow with what moon can do.
var tables = map[string]bool{"exec/action": true, "exec/spec": true}

// TestSizes holds the sizes of packages and types.
func TestSizes(t *testing.T) {
	files, lines, methods := measure(t)
	circles := largestCircles(t)
	check := func(what string, n, most int) {
		if n > most {
			t.Errorf("%s is %d; the limit is %d", what, n, most)
		}
	}
	for pkg, n := range files {
		if tables[pkg] {
			continue
		}
		check("files of "+pkg, n, mostFiles)
		check("lines of "+pkg, lines[pkg], mostLines)
	}
	for name, n := range methods {
		check("methods of "+name, n, mostMethods)
	}
	for pkg, circle := range circles {
		most := max(mostCircle, wideCircles[pkg])
		check("circle of "+pkg, len(circle), most)
		if len(circle) > most {
			t.Logf("files of %s that need each other: %s", pkg, strings.Join(circle, " "))
		}
	}
	for pkg := range tables {
		if files[pkg] == 0 {
			t.Errorf("there is no %s any more: remove it from the tables", pkg)
		}
	}
}

// measure counts files and lines of packages, and methods of types. Files of other systems count too; tests do not, and neither do lines
// of comment inside functions, as a reason must not be left out to stay within a bound.
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
			f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files[pkg]++
			lines[pkg] += set.File(f.Pos()).LineCount() - explainingLines(set, f)
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
					methods[pkg+"."+receiver(fn.Recv.List[0].Type)]++
				}
			}
		}
	}
	return files, lines, methods
}

// explainingLines counts the lines inside functions that hold nothing but a comment.
func explainingLines(set *token.FileSet, f *ast.File) int {
	line := func(pos token.Pos) int { return set.Position(pos).Line }
	code, comment := map[int]bool{}, map[int]bool{}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if n != nil {
				code[line(n.Pos())], code[line(n.End()-1)] = true, true
			}
			return true
		})
		for _, group := range f.Comments {
			for _, c := range group.List {
				if fn.Body.Pos() < c.Pos() && c.End() < fn.Body.End() {
					for n := line(c.Pos()); n <= line(c.End()); n++ {
						comment[n] = true
					}
				}
			}
		}
	}
	maps.DeleteFunc(comment, func(n int, _ bool) bool { return code[n] })
	return len(comment)
}

// largestCircles finds in each package the most files of which each needs all others: none of them can be read, or moved, alone. A file
// needs another if it uses anything that the other declares, be it a type, a field or a method.
func largestCircles(t *testing.T) map[string][]string {
	t.Helper()
	// What go build keeps of the packages has their types, also of those that are not moon's.
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-export", "-json=Dir,ImportPath,Export,GoFiles", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		Dir, ImportPath, Export string
		GoFiles                 []string
	}
	exports, own := map[string]string{}, []listed{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if p.ImportPath == "moon" || strings.HasPrefix(p.ImportPath, "moon/") {
			own = append(own, p)
		}
	}
	set := token.NewFileSet()
	from := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	found := map[string][]string{}
	for _, p := range own {
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		pkg, err := (&types.Config{Importer: from}).Check(p.ImportPath, set, files, info)
		if err != nil {
			t.Fatal(err)
		}
		fileOf := func(at token.Pos) string { return filepath.Base(set.Position(at).Filename) }
		needs := map[string][]string{}
		for _, name := range p.GoFiles {
			needs[name] = nil
		}
		for id, o := range info.Uses {
			if v, ok := o.(*types.Var); o.Pkg() != pkg || ok && !v.IsField() && o.Parent() != pkg.Scope() {
				continue // of another package, or of the function it is in
			}
			if user, declarer := fileOf(id.Pos()), fileOf(o.Pos()); user != declarer && !slices.Contains(needs[user], declarer) {
				needs[user] = append(needs[user], declarer)
			}
		}
		found[strings.TrimPrefix(p.ImportPath, "moon/")] = largestCircle(needs)
	}
	return found
}

// largestCircle is the largest strongly connected component, sorted.
func largestCircle(needs map[string][]string) (largest []string) {
	reach := func(start string) map[string]bool {
		seen, next := map[string]bool{start: true}, []string{start}
		for len(next) > 0 {
			at := next[len(next)-1]
			next = next[:len(next)-1]
			for _, to := range needs[at] {
				if !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
		}
		return seen
	}
	all := map[string]map[string]bool{}
	for file := range needs {
		all[file] = reach(file)
	}
	for file, reached := range all {
		var circle []string
		for other := range reached {
			if all[other][file] {
				circle = append(circle, other)
			}
		}
		if len(circle) > len(largest) {
			largest = circle
		}
	}
	slices.Sort(largest)
	return largest
}

// TestLargestCircle tries what finds circles.
func TestLargestCircle(t *testing.T) {
	needs := map[string][]string{"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
	if got := largestCircle(needs); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("%q", got)
	}
}

// longFunction is how many lines a function may have without a comment inside: what is longer has a thought that the code does not say.
const longFunction = 40

// unexplained are the parts of the tree with longer functions that say nothing, and how many. They may shrink, with a little room for
// several people who shrink them at a time.
var unexplained = map[string]int{"engine": 2, "plan": 5}

// TestLongFunctions looks for a comment in every long function.
func TestLongFunctions(t *testing.T) {
	found := map[string][]string{}
	for file, code := range sources(t) {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, code, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		line := func(p token.Pos) int { return set.Position(p).Line }
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || line(fn.End())-line(fn.Pos()) < longFunction {
				continue
			}
			explains := func(g *ast.CommentGroup) bool {
				return g.Pos() > fn.Body.Lbrace && g.End() < fn.Body.Rbrace && strings.TrimSpace(g.Text()) != "" // it has no //nolint
			}
			if !slices.ContainsFunc(f.Comments, explains) {
				part := filepath.Dir(file)
				for part != "." && unexplained[part] == 0 {
					part = filepath.Dir(part)
				}
				found[part] = append(found[part], set.Position(fn.Pos()).String()+" "+fn.Name.Name)
			}
		}
	}
	for part, list := range found {
		if n, bound := len(list), unexplained[part]; n > bound {
			slices.Sort(list)
			t.Errorf("%d functions of %s are over %d lines and have no comment inside, and %d may be so: cut one, or say what the code does not:\n\t%s",
				n, part, longFunction, bound, strings.Join(list, "\n\t"))
		}
	}
	for part, bound := range unexplained {
		if n := len(found[part]); n < bound-bound/10-2 {
			t.Errorf("%s has only %d long functions without a comment: lower the %d of the table", part, n, bound)
		}
	}
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

// mostSwitches is how often the code asks which of the two dialects a playbook is of, outside of plan/dialect: a rule that is a yes or a
// no, a table that is looked up, a host that only plays have. It may only shrink: what is an accident goes, what is data is a rule
// that is handed on, what is done in two ways is two functions that are chosen once.
const mostSwitches = 40

// TestDialect counts them.
func TestDialect(t *testing.T) {
	var rules []string
	for f := range reflect.TypeFor[dialect.Rules]().Fields() {
		if f.Type.Kind() == reflect.Bool {
			rules = append(rules, f.Name)
		}
	}
	find := regexp.MustCompile(`\b[cC]\.[oO]n [!=]= nil|\.In\([\w.()]*Dialect\)|dialect\.(Steps|Ansible) [!=]=|[!=]= dialect\.(Steps|Ansible)|\bp\.plays\b` +
		`|\.Plays [!=]= nil|\.[lL]ikeAnsible\b|[rR]ules(\(\))?\.(` + strings.Join(rules, "|") + `)\b`)
	n := 0
	for file, code := range sources(t) {
		if strings.HasPrefix(file, "plan/dialect/") {
			continue
		}
		for i, line := range strings.Split(string(code), "\n") {
			line, _, _ = strings.Cut(line, "//")
			if k := len(find.FindAllString(line, -1)); k > 0 {
				n += k
				t.Logf("%s:%d: %s", file, i+1, strings.TrimSpace(line))
			}
		}
	}
	switch {
	case n > mostSwitches:
		t.Errorf("the code asks for the dialect %d times, and may do so %d times (-v lists them)", n, mostSwitches)
	case n < mostSwitches-5: // room for several people who shrink it at a time
		t.Errorf("the code asks for the dialect only %d times: lower mostSwitches to it", n)
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
	eachFile(t, func(path string, code []byte) {
		for _, m := range comment.FindAllStringSubmatch(string(code), -1) {
			for name := range strings.SplitSeq(m[1], ",") {
				if !runs[name] && path != "house_test.go" {
					t.Errorf("%s silences %s, which does not run", path, name)
				}
			}
		}
	})
}

// TestFormatted has the code as gofmt writes it, which CI would not see otherwise: it does not run the linter.
func TestFormatted(t *testing.T) {
	eachFile(t, func(path string, code []byte) {
		formatted, err := format.Source(code)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if !bytes.Equal(code, formatted) {
			t.Errorf("%s is not formatted: make fmt", path)
		}
	})
}

// eachFile reads every file of code.
func eachFile(t *testing.T, do func(path string, code []byte)) {
	t.Helper()
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
			do(path, code)
		}
	}
}

// owned are the names of the files that moon keeps, each known to one package. A name with a dot is looked for in all of the code, a
// plain word only in paths that are put together.
var owned = map[string][]string{
	"events/rundir":         {"journal.jsonl", "control.sock", "blobs", "out", "plans", "lock"},
	"internal/app/statedir": {"runs", "sources", "durations", "state", "view", "trusted"},
}

// TestOwnedPaths leaves it to their owners to put together the paths of a run's files and of the state directory.
func TestOwnedPaths(t *testing.T) {
	owner, used := map[string]string{}, map[string]bool{}
	for pkg, names := range owned {
		for _, name := range names {
			owner[name] = pkg
		}
	}
	for file, code := range sources(t) {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, code, 0)
		if err != nil {
			t.Fatal(err)
		}
		check := func(e ast.Expr, inPath bool) {
			lit, ok := e.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return
			}
			name, _ := strconv.Unquote(lit.Value)
			switch pkg := owner[name]; {
			case pkg == "" || !inPath && !strings.Contains(name, "."):
			case pkg == filepath.ToSlash(filepath.Dir(file)):
				used[name] = true
			default:
				t.Errorf("%s: %q is a name that %s knows: ask it for the path", set.Position(lit.Pos()), name, pkg)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if fn, ok := n.Fun.(*ast.SelectorExpr); ok && fn.Sel.Name == "Join" && len(n.Args) > 1 {
					for _, arg := range n.Args[1:] {
						check(arg, true)
					}
				}
			case *ast.BasicLit:
				check(n, false)
			}
			return true
		})
	}
	for name, pkg := range owner {
		if !used[name] {
			t.Errorf("%s does not use %q any more: remove it from the table", pkg, name)
		}
	}
}

// mostPath is how many lines of CONTRIBUTING.md say how to add something.
const mostPath = 10

// TestPaths follows the paths of CONTRIBUTING.md through the tree: what an item says in code is in each of the files, or below each of the
// directories, that it begins with, and the tests that a path names exist. So the example of each path touches all its places.
func TestPaths(t *testing.T) {
	page, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	all := textAt(t, ".")
	_, rest, _ := strings.Cut(string(page), "\n## Adding something else\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	sections := strings.Split(rest, "\n### ")[1:]
	if len(sections) != 5 {
		t.Errorf("CONTRIBUTING.md has %d paths: for a command, an event, a pane, a filter, a doctor rule", len(sections))
	}
	span, item := regexp.MustCompile("`([^`]+)`"), regexp.MustCompile(`(?m)^\d\. ((?:.|\n   )+)`)
	for _, section := range sections {
		title, body, _ := strings.Cut(section, "\n")
		if n := len(strings.Split(strings.ReplaceAll(strings.TrimSpace(body), "\n\n", "\n"), "\n")); n > mostPath {
			t.Errorf("%s: the path has %d lines; the limit is %d", title, n, mostPath)
		}
		items := item.FindAllStringSubmatch(body, -1)
		if len(items) < 2 {
			t.Errorf("%s: there are %d items", title, len(items))
		}
		for _, m := range items {
			paths, words, _ := strings.Cut(m[1], ": ")
			for _, path := range span.FindAllStringSubmatch(paths, -1) {
				text := textAt(t, path[1])
				for _, want := range span.FindAllStringSubmatch(words, -1) {
					if !strings.Contains(text, want[1]) {
						t.Errorf("%s: %s has no %s", title, path[1], want[1])
					}
				}
			}
		}
		for _, name := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(body, -1) {
			if !strings.Contains(all, "\nfunc "+name[1]+"(") {
				t.Errorf("%s: there is no test %s", title, name[1])
			}
		}
	}
}

// textAt is the text of a file, or of all Go files below a directory.
func textAt(t *testing.T, path string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || p != path && filepath.Ext(p) != ".go" {
			return err
		}
		text, err := os.ReadFile(p)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return all.String()
}

// word is one that a native reader stumbles over, and what to say instead. A phrase is words with blanks between, and each of them one
// of several with | between: "go|goes on". Pages, help and the texts of exec/spec are free of it. Elsewhere it is still found:
// comments counts it in comments and names, messages in the other texts of the code. Both may only shrink.
type word struct {
	phrase, say        string
	comments, messages int
}

// words is the table. What to do with it: replace words in the code, run the test, lower the numbers.
var words = []word{
	{"foretell|foretells|foretelling|foretold|foresee|foreseen|foresaw|foresight", "predict, preview, dry run", 0, 0},
	{"oracle|oracles", "predictor", 0, 0},
	{"told", "given, notified, known, reported", 10, 0},
	{"shall", "should; desired state", 32, 0},
	{"whoever|nobody|somebody|anybody|everybody", "the user, the caller, no one; or passive", 318, 1},
	{"mend|mends|mended|mending", "fix", 3, 0},
	{"heed|heeds|heeded|heeding", "honour, ignore", 0, 0},
	{"spelt", "written", 3, 0},
	{"beside|besides", "next to, in addition to", 163, 5},
	{"once more", "again", 12, 0},
	{"anew", "again", 16, 0},
	{"such as are|is|have|has|that|those", "those that", 2, 0},
	{"such are|is", "those are", 0, 0},
	{"such a one", "one of those", 1, 0},
	{"end|ends|ended|ending|go|goes|going|went|is|are well", "succeed", 45, 0},
	{"as it|they was|were", "unchanged", 61, 1},
	{"is|are other|others|another now|than", "changed", 7, 0},
	{"left|leave|leaves|leaving out", "exclude, skip, omit, remove", 91, 1},
	{"left|leave|leaves|leaving it|them|these|this out", "exclude, skip, omit, remove", 1, 1},
	{"lane|lanes", "connection, session", 0, 0},
	{"giver|givers|taker|takers", "producer, consumer", 0, 0},
	{"standing|standings", "status", 0, 0},
	{"desk|desks", "console", 1, 0},
	{"go|goes|going|went|gone on", "continue", 92, 4},
	{"die|dies|died|dying", "crash, end", 22, 2},
	{"the screen", "the TUI, the terminal", 159, 1},
	{"of ansible", "Ansible's", 7, 0},
	{"is|are|was|were|be no", "is not a", 100, 1},
	{"where there is|are", "if", 25, 0},
	{"where nothing|none|neither", "if", 28, 0},
	{"under your|their|the eyes", "in front of you", 0, 0},
	{"skipped when", "skipped: X is false", 2, 4},
	{"undecided", "not approved", 154, 0},
	{"wait|waits|need|needs for you", "paused, needs attention", 0, 0},
	{"need|needs you", "needs attention", 5, 0},
	{"give|gives|gave|given|giving up", "continue without it", 52, 0},
	{"withdraw|withdraws|withdrawn|withdrew|withdrawal", "unapprove", 18, 0},
	{"all the same", "anyway, still", 13, 0},
	{"its|their kin", "related", 1, 0},
	{"and its|their like", "similar", 2, 0},
	{"color|colors|behavior|favor|honor|honors|canceled|canceling|center", "British spelling", 65, 2},
}

// right are the places where such a word is the right one.
var right = []struct{ file, text, why string }{}

// plain are the phrases that only look like one of the table: "there is no file", "is no longer", "of Ansible's".
var plain = regexp.MustCompile(`(?i)there (is|are|was|were) no\b|\bno (longer|more|later|earlier|less|matter)\b|of ansible(['’-]|\.cfg)`)

// TestWords keeps foreign English out of what users read, and lets it shrink in the code.
func TestWords(t *testing.T) {
	find := newFinder()
	comments, messages := make([]int, len(words)), make([]int, len(words))
	public := func(file, text string) {
		find.each(text, func(i int, around string) {
			if !slices.ContainsFunc(right, func(r struct{ file, text, why string }) bool {
				return r.file == file && strings.Contains(around, r.text)
			}) {
				t.Errorf("%s: …%s…\n\tsay %s", file, around, words[i].say)
			}
		})
	}
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		public(page, codeOfPage.ReplaceAllString(string(text), "·"))
	}
	for file, code := range sources(t) {
		said, rest := texts(file, code)
		find.each(rest, func(i int, _ string) { comments[i]++ })
		if dir := filepath.ToSlash(filepath.Dir(file)); dir == "internal/cli" || dir == "exec/spec" {
			public(file, said)
			continue
		}
		find.each(said, func(i int, _ string) { messages[i]++ })
	}
	for i, w := range words {
		ratchet(t, w, "comments and names", comments[i], w.comments)
		ratchet(t, w, "messages", messages[i], w.messages)
	}
}

// ratchet lets a count only shrink, and the bound with it. In between is room for several people who shrink it at a time.
func ratchet(t *testing.T, w word, what string, n, bound int) {
	t.Helper()
	switch {
	case n > bound:
		t.Errorf("%q is %d times in the %s of the code, and may be %d times: say %s", w.phrase, n, what, bound, w.say)
	case n < bound-bound/10-2:
		t.Errorf("%q is only %d times in the %s of the code: lower the %d of the table", w.phrase, n, what, bound)
	}
}

// pages are what is read before the code. Decisions and the changelog are records, and stay as they were written.
func pages(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob("docs/*.md")
	if err != nil || len(docs) == 0 {
		t.Fatal("there are no docs", err)
	}
	return append(docs, "README.md", "CONTRIBUTING.md", "DESIGN.md", "examples/plugins/README.md", "examples/plugins/playbook.yml")
}

// codeOfPage are blocks of code, code within text, addresses of links and what marks generated parts.
var codeOfPage = regexp.MustCompile("(?s)```.*?\n *```|`[^`\n]*`|\\]\\([^)]*\\)|<!--.*?-->")

// suites is where the tests from outside are, with what they share.
var suites = filepath.Join("internal", "test")

// sources are the files of the code, without tests.
func sources(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || path == suites || strings.HasPrefix(d.Name(), ".") && path != "."):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		all[filepath.ToSlash(path)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// hump is where a name of several words has its next one.
var hump = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// texts parts a file into what it says, which are its strings of more than one word, and its comments and names.
func texts(file string, code []byte) (said, rest string) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile(file, -1, len(code)), code, nil, scanner.ScanComments)
	var strs, others strings.Builder
	for {
		_, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return strs.String(), others.String()
		case tok == token.STRING && strings.Contains(lit, " "):
			strs.WriteString(lit + " .\n")
		case tok == token.IDENT:
			others.WriteString(hump.ReplaceAllString(lit, "$1 $2") + " .\n")
		case tok == token.COMMENT:
			others.WriteString(lit + "\n")
		}
	}
}

// finder finds the phrases of the table by their first word, so that a text is gone through once.
type finder map[string][]phrase

type phrase struct {
	index int
	words [][]string
}

func newFinder() finder {
	f := finder{}
	for i, w := range words {
		p := phrase{index: i}
		for field := range strings.FieldsSeq(w.phrase) {
			p.words = append(p.words, strings.Split(field, "|"))
		}
		for _, first := range p.words[0] {
			f[first] = append(f[first], p)
		}
	}
	return f
}

// each calls found for each place of a phrase, with what is around it. Words are letters; only blanks, ends of lines with what begins
// a comment, may be between those of a phrase, and the colon and the bracket of "skipped (when: …".
func (f finder) each(text string, found func(i int, around string)) {
	at := wordOf.FindAllStringIndex(text, -1)
	is := func(k int, any []string) bool {
		return slices.Contains(any, strings.ToLower(text[at[k][0]:at[k][1]]))
	}
	for k := range at {
		for _, p := range f[strings.ToLower(text[at[k][0]:at[k][1]])] {
			n, gap := 1, " \n\t/"
			if words[p.index].phrase == "skipped when" {
				gap += ":("
			}
			for n < len(p.words) && k+n < len(at) && is(k+n, p.words[n]) && strings.Trim(text[at[k+n-1][1]:at[k+n][0]], gap) == "" {
				n++
			}
			if n < len(p.words) {
				continue
			}
			from, to := at[max(0, k-5)][0], at[min(len(at)-1, k+n+4)][1]
			if !plain.MatchString(text[at[max(0, k-1)][0]:at[min(len(at)-1, k+n)][1]]) {
				found(p.index, strings.Join(strings.Fields(text[from:to]), " "))
			}
		}
	}
}

var wordOf = regexp.MustCompile(`[A-Za-z_]+`)
