package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the project, as its own tests see it.
const root = "../../.."

// sources are the test files below a directory, by package, as one text each.
func sources(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		dir, _ := filepath.Rel(root, filepath.Dir(path))
		if dir != "." {
			dir = "./" + filepath.ToSlash(dir)
		}
		all[dir] += string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var tries = regexp.MustCompile(`\bassault\.Tried\(\w+, "([^"]+)"`)

// TestAttacks holds the table and the tests together: each test that is named exists, and says what the table says of it.
func TestAttacks(t *testing.T) {
	tests := sources(t)
	var names, rows []string
	for _, a := range attacks {
		names, rows = append(names, a.name), append(rows, a.row)
		packages := map[string]bool{}
		for test := range strings.FieldsSeq(a.tests) {
			pkg, name, _ := strings.Cut(test, ":")
			packages[pkg] = true
			if !strings.Contains(tests[pkg], "func "+name+"(t *testing.T)") {
				t.Errorf("%s %s: there is no test %s", a.row, a.name, test)
			}
		}
		for pkg := range packages {
			if !strings.Contains(tests[pkg], `"`+a.name+`"`) {
				t.Errorf("%s: no test of %s says that it tries that", a.name, pkg)
			}
		}
	}
	for pkg, text := range tests {
		for _, m := range tries.FindAllStringSubmatch(text, -1) {
			if pkg != "./internal/assault" && !slices.Contains(names, m[1]) {
				t.Errorf("%s tries %q, which is not in the table", pkg, m[1])
			}
		}
	}
	for i := 1; i <= 24; i++ {
		if !slices.Contains(rows, fmt.Sprint("R", i)) {
			t.Errorf("nothing is tried for R%d", i)
		}
	}
	if sorted := slices.Clone(names); len(slices.Compact(sorted)) != len(names) {
		t.Error("an attack is in the table twice")
	}
	targets, err := fuzzTargets(root)
	if err != nil || len(targets) < 20 {
		t.Errorf("%d fuzz targets: %v", len(targets), err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		pkg, name, _ := strings.Cut(strings.TrimPrefix(target, "./"+root+"/"), ":")
		if entry := fmt.Sprintf("`%s` `%s`", pkg, name); !strings.Contains(string(page), entry) {
			t.Errorf("docs/reliability.md does not list what is fuzzed: %s", entry)
		}
	}
}

var named = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w*)(?:/(\\w+))?`")

// TestDocsNameTests has every test that a promise names be there.
func TestDocsNameTests(t *testing.T) {
	var all strings.Builder
	for _, text := range sources(t) {
		all.WriteString(text)
	}
	for _, page := range []string{"reliability", "security"} {
		text, err := os.ReadFile(filepath.Join(root, "docs", page+".md"))
		if err != nil {
			t.Fatal(err)
		}
		names := named.FindAllSubmatch(text, -1)
		if len(names) < 10 {
			t.Errorf("%s names %d tests", page, len(names))
		}
		for _, m := range names {
			if !strings.Contains(all.String(), "func "+string(m[1])+"(") {
				t.Errorf("%s: there is no %s", page, m[1])
			}
			if string(m[1]) != "TestScript" || len(m[2]) == 0 {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, "testdata/script", string(m[2])+".txtar")); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// tabulate is the whole table, and says whether every figure in it is held.
func tabulate(chosen []attack, tried map[string]result) (string, bool) {
	table, held := tableHead, true
	for _, a := range chosen {
		line, ok := tableLine(a, tried[a.name])
		table, held = table+line, held && ok
	}
	sums, ok := tableSums(false, chosen, tried)
	return table + sums, held && ok
}

// TestTable refuses what is missing, too few, or did not hold.
func TestTable(t *testing.T) {
	some := attacks[:3]
	full := map[string]result{}
	for _, a := range some {
		full[a.name] = result{a.figure, 0}
	}
	if table, held := tabulate(some, full); !held || strings.Count(table, "| held |\n") != 5 {
		t.Errorf("held %v\n%s", held, table)
	}
	for verdict, r := range map[string]result{"MISSING": {}, "TOO FEW": {some[1].figure - 1, 0}, "BROKEN": {some[1].figure, 1}} {
		with := map[string]result{some[0].name: full[some[0].name], some[1].name: r, some[2].name: full[some[2].name]}
		if table, held := tabulate(some, with); held || !strings.Contains(table, verdict) {
			t.Errorf("%s: held %v\n%s", verdict, held, table)
		}
	}
	if sums, held := tableSums(true, some, full); held || !strings.Contains(sums, "| all | injected faults | 0 | 0 | 255 | BROKEN |") {
		t.Errorf("too few faults: held %v\n%s", held, sums)
	}
	got, err := parse("bombs\t3\t0\tTestX\nbombs\t4\t1\tTestY\n")
	if err != nil || got["bombs"] != (result{7, 1}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"bombs\t3\t0\n", "nothing\t3\t0\tTestX\n", "bombs\tx\t0\tTestX\n"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
