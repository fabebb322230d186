package fakes

import (
	"os"
	"strings"
	"testing"
)

// AnsiblePage is written from the trials: what moon does as ansible-playbook does is what they show.
const AnsiblePage = "docs/ansible.md"

// CutMarked cuts a page at a part, whose markers stay outside.
func CutMarked(t *testing.T, page, text, name string) (before, part, after string) {
	t.Helper()
	open, end := "<!-- "+name+" -->", "<!-- /"+name+" -->"
	before, rest, ok := strings.Cut(text, open)
	part, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no %s … %s", page, open, end)
	}
	return before + open, part, end + after
}

// ReadLines reads a page.
func ReadLines(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// WriteLines saves a page if that is what was asked for.
func WriteLines(t *testing.T, page string, lines []string) {
	t.Helper()
	if os.Getenv("UPDATE") == "" {
		return
	}
	if err := os.WriteFile(page, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
