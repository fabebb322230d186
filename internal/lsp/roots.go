package lsp

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"moon/internal/lsp/index"
)

var (
	ofPlays   = regexp.MustCompile(`(?m)^(-| )\s+(- )?(hosts|import_playbook)\s*:`)
	ofMap     = regexp.MustCompile(`(?m)^(steps|plays)\s*:`)
	ofSteps   = regexp.MustCompile(`(?m)^-( |$)`)
	otherList = []string{"requirements.yml", "requirements.yaml"} // lists of something else
)

// part is what a file can be.
type part uint8

const (
	neither  part = iota // it may belong to a playbook, and is none
	either               // a list of steps: a playbook, or a part of one
	playbook             // it is one
)

// partOf says what a file can be by its name and its text.
func partOf(path, content string) part {
	base, dir := filepath.Base(path), filepath.Base(filepath.Dir(path))
	switch ext := filepath.Ext(base); {
	case ext != ".yml" && ext != ".yaml", slices.Contains(otherList, base), dir == "tasks", dir == "handlers", dir == "vars",
		dir == "defaults", dir == "meta", dir == "group_vars", dir == "host_vars", strings.Contains(path, "/.github/"):
		return neither
	case ofPlays.MatchString(content), ofMap.MatchString(content):
		return playbook
	case ofSteps.MatchString(content):
		return either
	}
	return neither
}

// How far playbooks are looked for: directories upwards if the client has named no folder, files in all, and bytes of a file.
const (
	mostLevels    = 4
	mostPlaybooks = 60
	mostBytes     = 1 << 20
)

// playbooksAround lists the files around one that may be playbooks which lead to it, the nearest first. It stops at the folder of the
// client.
func playbooksAround(path string, folders []string, open documents) (found []string) {
	dir := filepath.Dir(path)
	for level := 0; ; level++ {
		for _, in := range []string{dir, filepath.Join(dir, "playbooks")} {
			found = append(found, playbooksIn(in, open)...)
		}
		up := filepath.Dir(dir)
		if up == dir || slices.Contains(folders, dir) || len(found) > mostPlaybooks || len(folders) == 0 && level >= mostLevels {
			break
		}
		dir = up
	}
	return found[:min(len(found), mostPlaybooks)]
}

// playbooksIn are the playbooks of a directory by name, those of plays first: they lead to more than others.
func playbooksIn(dir string, open documents) []string {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 20*mostPlaybooks {
		return nil
	}
	var sure, perhaps []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		content, ok := contentOf(path, open)
		if !ok {
			continue
		}
		switch partOf(path, content) {
		case playbook:
			sure = append(sure, path)
		case either:
			perhaps = append(perhaps, path)
		case neither:
		}
	}
	return append(sure, perhaps...)
}

// contentOf is the text of a file that may be a playbook.
func contentOf(path string, open documents) (string, bool) {
	if ext := filepath.Ext(path); ext != ".yml" && ext != ".yaml" {
		return "", false
	}
	if d := open.byPath(path); d != nil {
		return d.text.String(), true
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostBytes {
		return "", false
	}
	text, err := os.ReadFile(path)
	return string(text), err == nil
}

// rootsOf are the playbooks by which a document is planned: itself, if it is one; or those that lead to it.
func (a *analyst) rootsOf(d *document, open documents, edits index.Edits) []string {
	is := partOf(d.path, d.text.String())
	if is == playbook {
		return []string{d.path}
	}
	if known, ok := a.roots[d.path]; ok {
		return known
	}
	var roots []string
	for _, path := range playbooksAround(d.path, a.folders, open) {
		if path == d.path || edits.Halted() != nil {
			continue
		}
		if x := a.scan(path, edits); x != nil && x.Files[d.path] != nil {
			roots = append(roots, path)
		}
	}
	if len(roots) == 0 && is == either {
		roots = []string{d.path}
	}
	if edits.Halted() == nil {
		a.roots[d.path] = roots
	}
	return roots
}

// scan reads what a playbook names, without planning it.
func (a *analyst) scan(path string, edits index.Edits) *index.Index {
	o, err := a.options(path)
	if err != nil {
		return nil
	}
	return index.New(index.Request{Options: o, Disk: edits.Disk()})
}
