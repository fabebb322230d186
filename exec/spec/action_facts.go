package spec

import "reflect"

// ServiceFactsArgs are the arguments of service_facts: none.
type ServiceFactsArgs struct{}

var _ = declareAction(&Action{
	Name:  "service_facts",
	Doc:   "Finds out which services the machine has, and changes nothing.",
	Check: true,
	args:  reflect.TypeFor[ServiceFactsArgs](),
	Returns: []Return{{
		"ansible_facts.services",
		"By name, as nginx.service: each has name, state (running, stopped …), status (enabled, disabled …) and source.",
	}},
	Least: "service_facts: {}",
	Example: `- service_facts:
  register: found
- print: "{{ found.ansible_facts.services | length }} services"
`,
})

// PackageFactsArgs are the arguments of package_facts.
type PackageFactsArgs struct {
	Manager  []string `arg:"manager" default:"auto" doc:"Whose packages: auto, or apt, rpm, pacman, apk."`
	Strategy string   `arg:"strategy" default:"first" enum:"first|all" doc:"Whether to ask the first manager found, or all of them."`
}

var _ = declareAction(&Action{
	Name:    "package_facts",
	Doc:     "Finds out which packages are installed, and changes nothing.",
	Check:   true,
	args:    reflect.TypeFor[PackageFactsArgs](),
	Returns: []Return{{"ansible_facts.packages", "By name, each a list with name, version, arch and source of what is installed."}},
	Least:   "package_facts: {}",
	Example: `- package_facts: {manager: auto}
  register: found
- print: "{{ found.ansible_facts.packages | length }} packages"
`,
})

func (a *PackageFactsArgs) validateArgs(func(string) bool) []Problem {
	a.Manager = commaNames(a.Manager)
	for _, name := range a.Manager {
		switch name {
		case "auto", "apt", "rpm", "pacman", "apk", "dnf", "yum", "zypper":
		default:
			return []Problem{{"manager", "`manager` knows no " + nameValue(name), "it takes auto, apt, rpm, pacman and apk"}}
		}
	}
	return nil
}
