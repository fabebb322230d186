package spec

import (
	"reflect"

	"moon/internal/pattern"
)

// HostnameArgs are the arguments of hostname.
type HostnameArgs struct {
	Name string `arg:"name" need:"yes" doc:"The name of the machine, with or without its domain."`
	Use  string `arg:"use" implied:"systemd where it runs, otherwise generic" enum:"systemd|generic|debian>generic|alpine>generic" doc:"How to set it. systemd: with hostnamectl; generic: in /etc/hostname and the kernel."`
}

var _ = declareAction(&Action{
	Name:  "hostname",
	Doc:   "Sets the name of the machine, now and for the next start.",
	Check: true,
	Diff:  true,
	args:  reflect.TypeFor[HostnameArgs](),
	Returns: []Return{
		{"name", "The name."},
	},
	Least:   "hostname: {name: x}",
	Example: "- hostname: {name: web1.example.com}\n",
})

var hostName = pattern.New(`^[A-Za-z0-9]([A-Za-z0-9_-]{0,62})(\.[A-Za-z0-9_-]{1,63})*$`)

func (a *HostnameArgs) validateArgs(func(string) bool) []Problem {
	if !hostName.MatchString(a.Name) || len(a.Name) > 64 {
		return []Problem{{"name", "`name` must be letters, digits and hyphens with dots between, at most 64 in all", ""}}
	}
	return nil
}
