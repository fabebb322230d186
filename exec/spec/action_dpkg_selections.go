package spec

import (
	"reflect"

	"moon/internal/pattern"
)

// DpkgSelectionsArgs are the arguments of dpkg_selections.
type DpkgSelectionsArgs struct {
	Name      string `arg:"name" need:"yes" doc:"The package."`
	Selection string `arg:"selection" need:"yes" enum:"install|hold|deinstall|purge" doc:"What apt and dpkg may do with it: hold keeps the installed version."`
}

var _ = declareAction(&Action{
	Name:    "dpkg_selections",
	Doc:     "Holds packages at their version on Debian and Ubuntu, or releases them, with dpkg --set-selections. Nothing is installed or removed.",
	Process: "*",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[DpkgSelectionsArgs](),
	Returns: []Return{
		{"before", "The selection before; not present if dpkg does not know the package."},
		{"after", "The selection now."},
	},
	Least: "dpkg_selections: {name: x, selection: hold}",
	Example: `- dpkg_selections: {name: dpkg, selection: hold}
`,
})

var debianPackage = pattern.New(`^[a-z0-9][a-z0-9+.-]*(:[a-z0-9-]+)?$`)

func (a *DpkgSelectionsArgs) validateArgs(func(string) bool) []Problem {
	if !debianPackage.MatchString(a.Name) {
		return []Problem{{"name", "`name` has " + nameValue(a.Name) + ", which is not a package name", ""}}
	}
	return nil
}
