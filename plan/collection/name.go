package collection

import (
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/pattern"
)

// The collections that no directory has: what Ansible itself brings, and the same with the directories next to a playbook before it.
const (
	Builtin = "ansible.builtin"
	Legacy  = "ansible.legacy"
)

var (
	identifier = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// The last part may name a folder and a file whose name is not an identifier, as roles have.
	fullName = pattern.New(`^([A-Za-z_][A-Za-z0-9_]*\.[A-Za-z_][A-Za-z0-9_]*)\.((?:[A-Za-z_][A-Za-z0-9_]*\.)*[A-Za-z0-9_][A-Za-z0-9_-]*)$`)
)

// Split takes a full name apart: community.general.ini_file is ini_file of community.general. A name in a folder keeps its dots.
func Split(full string) (collection, name string, ok bool) {
	m := fullName.FindStringSubmatch(full)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// IsName reports whether a text can be the name of a collection.
func IsName(text string) bool {
	namespace, name, ok := strings.Cut(text, ".")
	return ok && identifier.MatchString(namespace) && identifier.MatchString(name)
}

// Searched are the collections in which a name without one is looked for, where these are given: what Ansible brings comes last, unless it
// has a place among them. own is the collection that the task itself is in, which comes first; "" if there is none.
func Searched(own string, given []string) []string {
	var list []string
	if own != "" {
		list = append(list, own)
	}
	for _, name := range given {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	if len(list) == 0 || slices.Contains(list, Builtin) || slices.Contains(list, Legacy) {
		return list
	}
	if own != "" {
		return append(list, Builtin)
	}
	return append(list, Legacy)
}

// NameIn is the full name of the collection that the path of a file tells: what comes behind the directory of all collections.
func NameIn(path string) string {
	_, inside, _ := strings.Cut(filepath.ToSlash(path), "/"+folder+"/")
	parts := strings.SplitN(inside, "/", 3)
	if len(parts) < 3 || !IsName(parts[0]+"."+parts[1]) {
		return ""
	}
	return parts[0] + "." + parts[1]
}
