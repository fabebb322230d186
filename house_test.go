package main

import (
	"go/parser"
	"go/token"
	"path/filepath"
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
