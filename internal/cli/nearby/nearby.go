package nearby

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"moon/internal/diag"
	"moon/internal/pattern"
	"moon/plan"
)

// FromHere gives diagnostics the names by which an editor finds their files from the working directory. In a plan they are relative to
// the directory of the playbook, because a plan is the same from wherever it is made.
func FromHere(o plan.Options, ds diag.List) diag.List {
	root, given := o.Dir, ""
	if o.Path != "-" {
		root, given = filepath.Dir(o.Path), o.Given
	}
	if given == "" {
		given = o.Path
	}
	called := func(file string) string {
		switch {
		case file == "" || strings.HasPrefix(file, "-"): // a flag
			return file
		case filepath.IsAbs(file):
			return nearby(o.Dir, file)
		case file == filepath.Base(o.Path) && !filepath.IsAbs(given):
			return given
		case o.Path == "-":
			return file
		}
		path := filepath.Join(root, file)
		if _, err := os.Lstat(path); err != nil {
			return file // it was never there, or is no file
		}
		if filepath.IsAbs(given) {
			return nearby(o.Dir, path)
		}
		return filepath.Join(filepath.Dir(given), file)
	}
	renamed := make(diag.List, len(ds))
	for i, d := range ds {
		d.Pos.File = called(d.Pos.File)
		d.Message, d.Hint = renamePlaces(d.Message, called), renamePlaces(d.Hint, called)
		chain := make([]string, len(d.Chain))
		for i, place := range d.Chain {
			chain[i] = calledAt(place, called)
		}
		d.Chain = chain
		renamed[i] = d
	}
	return renamed
}

// placeInText is what a sentence says when it points to another line: main.yml:3.
var placeInText = pattern.New(`[^\s"'(),;\x60«»]+\.[A-Za-z0-9]+:[0-9]+`)

// renamePlaces renames the files of the places that a sentence names: an editor is to find them just as it finds the place of the
// diagnostic itself.
func renamePlaces(text string, called func(string) string) string {
	return placeInText.ReplaceAllStringFunc(text, func(place string) string { return calledAt(place, called) })
}

// calledAt renames the file of a place such as main.yml:3.
func calledAt(place string, called func(string) string) string {
	at := strings.LastIndexByte(place, ':')
	if at < 0 {
		return called(place)
	}
	if _, err := strconv.Atoi(place[at+1:]); err != nil {
		return called(place)
	}
	return called(place[:at]) + place[at:]
}

// farUp is up to how many directories above the working directory a file has a relative name.
const farUp = 2

// nearby is the shorter name of a path from a directory: relative if the path is below it or near, else absolute.
func nearby(dir, path string) string {
	// The working directory may be named by a link, and the paths of a plan have none.
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil || strings.Count(rel+"/", "../") > farUp {
		return path
	}
	return rel
}
