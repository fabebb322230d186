package saved

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"moon/plan/called"
)

// placed gives the function that says where a path of these sources is: those below the root are relative to it, and of the others some may
// have been moved to this machine.
func (s *Sources) placed(root string) func(string) string {
	return func(path string) string {
		switch {
		case path == "-":
			return path
		case filepath.IsAbs(path):
			return s.Moved.Here(path)
		}
		return filepath.Join(root, path)
	}
}

// filesOfVars are the values of -e, of which some are files.
func (s *Sources) filesOfVars() []string {
	return paths(s.ExtraVars, func(v string) string { return s.Moved.HereOf("@", v) })
}

// answeredAnywhere are the answers that do not depend on where the playbook was: the others are asked for again.
func (s *Sources) answeredAnywhere() []called.Answer {
	return slices.DeleteFunc(slices.Clone(s.Asked), func(a called.Answer) bool { return s.Moved.Names(a.Result) })
}

// Unmoved are the sources as they are compared with those of a plan that was saved elsewhere: without where directories are now, and in an
// order of their own, since that in which they are kept is the order of their places.
func (s *Sources) Unmoved() *Sources {
	u := *s
	u.Moved = nil
	u.Files = inOrder(u.Files, func(f SourceFile) string { return f.Path })
	u.Trees = inOrder(u.Trees, func(t SourceTree) string { return t.Path })
	u.Reads = inOrder(u.Reads, func(r SourceRead) string { return r.Path })
	u.Imports = inOrder(u.Imports, func(i SourceImport) string { return i.Playbook })
	u.Asked = inOrder(u.Asked, func(a called.Answer) string { return a.Request })
	u.Absent, u.Plays.Present, u.Plays.Passwords = sorted(u.Absent), sorted(u.Plays.Present), sorted(u.Plays.Passwords)
	u.Plays.Printed = inOrder(u.Plays.Printed, func(p Printed) string { return p.Path + " " + strings.Join(p.Args, " ") })
	return &u
}

func sorted(list []string) []string { return inOrder(list, func(s string) string { return s }) }

func inOrder[T any](list []T, by func(T) string) []T {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(by(a), by(b)) })
	return list
}
