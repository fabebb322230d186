package release

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pkg is a package as go list has it.
type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string
	Module     *struct{ GoVersion string }
}

// checker checks the types of packages for a system, without compiling any: that takes a fraction of the time of `go build`, which would
// compile the library for each system. Files that several systems have are parsed once.
type checker struct {
	set    *token.FileSet
	parsed map[string]*ast.File
}

// check returns what is wrong with the packages of moon among those in a directory and all that they import. Only of moon the bodies of functions are
// looked at.
func (c *checker) check(t *testing.T, goos, goarch, dir, pattern string) (mistakes []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-C", dir, "-e", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", pattern)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	done := map[string]*types.Package{"unsafe": types.Unsafe}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; { // what a package needs comes before it
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return mistakes
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		own := p.ImportPath == "moon" || strings.HasPrefix(p.ImportPath, "moon/")
		conf := types.Config{
			Sizes: types.SizesFor("gc", goarch), IgnoreFuncBodies: !own, FakeImportC: true,
			Importer: importer(func(path string) (*types.Package, error) {
				if mapped := p.ImportMap[path]; mapped != "" {
					path = mapped
				}
				if done[path] == nil {
					return nil, fmt.Errorf("%s is not there", path)
				}
				return done[path], nil
			}),
			Error: func(err error) { mistakes = append(mistakes, fmt.Sprintf("%s/%s: %v", goos, goarch, err)) },
		}
		if p.Module != nil && p.Module.GoVersion != "" {
			conf.GoVersion = "go" + p.Module.GoVersion
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			path := name
			if !filepath.IsAbs(path) {
				path = filepath.Join(p.Dir, name)
			}
			f := c.parsed[path]
			if f == nil {
				if f, err = parser.ParseFile(c.set, path, nil, parser.SkipObjectResolution); err != nil {
					t.Fatal(err)
				}
				c.parsed[path] = f
			}
			files = append(files, f)
		}
		// Its error is the first of those that Error has had.
		done[p.ImportPath], _ = conf.Check(p.ImportPath, c.set, files, nil)
	}
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }

// TestOtherSystems checks moon and its agent as they are for systems that releases are for and CI does not run on: one with other calls of
// the system, one with other users and mounts, and one whose int has 32 bits.
func TestOtherSystems(t *testing.T) {
	t.Parallel()
	c := &checker{set: token.NewFileSet(), parsed: map[string]*ast.File{}}
	for _, system := range [][2]string{{"darwin", "arm64"}, {"freebsd", "amd64"}, {"linux", "386"}} {
		for _, mistake := range c.check(t, system[0], system[1], ".", "./...") {
			t.Error(mistake)
		}
	}
	// Of Windows the first to fail is a package that everything has, and it says why.
	mistakes := c.check(t, "windows", "amd64", ".", "./internal/build")
	if !slices.ContainsFunc(mistakes, func(m string) bool {
		return strings.Contains(m, "undefined: moon_does_not_run_on_Windows_use_WSL")
	}) || len(mistakes) != 1 {
		t.Errorf("for Windows: %s", strings.Join(mistakes, "\n"))
	}
}

// TestMistakesOfSystems finds a mistake that only one system has.
func TestMistakesOfSystems(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module moon/tried\n\ngo 1.26\n", "all.go": "package tried\n\nconst most int = 1 << 40\n\nfunc f() int { return most + g() }\n",
		"g_linux.go": "package tried\n\nfunc g() int { return 1 }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &checker{set: token.NewFileSet(), parsed: map[string]*ast.File{}}
	for system, want := range map[[2]string]string{
		{"linux", "amd64"}: "", {"linux", "386"}: "overflows", {"darwin", "arm64"}: "undefined: g",
	} {
		got := strings.Join(c.check(t, system[0], system[1], dir, "."), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%v: %q", system, got)
		}
	}
}
