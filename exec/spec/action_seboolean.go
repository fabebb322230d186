package spec

import (
	"reflect"

	"moon/internal/pattern"
)

// SebooleanArgs are the arguments of seboolean.
type SebooleanArgs struct {
	Name       string `arg:"name" need:"yes" doc:"The boolean, as httpd_can_network_connect."`
	State      bool   `arg:"state" need:"yes" doc:"Whether it should be on."`
	Persistent bool   `arg:"persistent" default:"false" doc:"Keep the value in the policy, so that it holds after the next start."`
	Ignore     bool   `arg:"ignore_selinux_state" default:"false" doc:"Set it also where SELinux seems to be disabled, as in a chroot."`
}

var _ = declareAction(&Action{
	Name:    "seboolean",
	Aliases: []string{"ansible.posix.seboolean"},
	Doc:     "Sets a boolean of the SELinux policy, with setsebool.",
	Process: "*",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[SebooleanArgs](),
	Returns: []Return{
		{"name", "The boolean."},
		{"state", "Its value."},
		{"persistent", "Whether the value is kept."},
	},
	Least: "seboolean: {name: x, state: true}",
	Example: `- seboolean: {name: httpd_can_network_connect, state: true, persistent: true}
- seboolean: {name: httpd_enable_cgi, state: false}
`,
})

var sebooleanName = pattern.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

func (a *SebooleanArgs) validateArgs(func(string) bool) []Problem {
	if !sebooleanName.MatchString(a.Name) {
		return []Problem{{"name", "`name` must be a boolean like httpd_can_network_connect, found " + nameValue(a.Name), ""}}
	}
	return nil
}
