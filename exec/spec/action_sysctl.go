package spec

import (
	"reflect"
	"strings"

	"moon/internal/pattern"
)

// SysctlArgs are the arguments of sysctl. Once decoded, Value is as the kernel has it, and Key is a path below /proc/sys.
type SysctlArgs struct {
	Name         string `arg:"name,key" need:"yes" doc:"The parameter, as net.ipv4.ip_forward or net/ipv4/conf/eth0.1/forwarding."`
	Value        string `arg:"value,val" doc:"The value. true and yes are 1, false and no are 0."`
	State        string `arg:"state" default:"present" enum:"present|absent" doc:"Whether it should be in the file. absent does not change the value in effect."`
	Reload       bool   `arg:"reload" default:"true" doc:"Put the value into effect when the file changes."`
	SysctlSet    bool   `arg:"sysctl_set" default:"false" doc:"Put the value into effect even if the file already has it."`
	SysctlFile   string `arg:"sysctl_file" kind:"path" default:"/etc/sysctl.conf" doc:"The file it is kept in for the next start."`
	IgnoreErrors bool   `arg:"ignoreerrors" default:"false" doc:"Ignore a parameter that the kernel does not have, or a value that it does not accept."`

	Key string
}

var _ = declareAction(&Action{
	Name:    "sysctl",
	Aliases: []string{"ansible.posix.sysctl"},
	Doc:     "Sets a parameter of the kernel, in a file for the next start and in effect.",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[SysctlArgs](),
	Returns: []Return{
		{"name", "The parameter."},
		{"value", "The value that is in effect; missing if there is none."},
		{"checksum", "SHA-1 of the file."},
	},
	Least: "sysctl: {name: kernel.ostype, value: x}",
	Example: `- sysctl: {name: net.ipv4.ip_forward, value: 1, sysctl_set: true, sysctl_file: /etc/sysctl.d/60-router.conf}
- sysctl: {name: net.core.somaxconn, value: 1024}
- sysctl: {name: net.ipv4.conf.all.forwarding, state: absent}
`,
})

var sysctlName = pattern.New(`^[A-Za-z0-9_][A-Za-z0-9_:@+*/.-]*$`)

func (a *SysctlArgs) validateArgs(func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	a.Key = SysctlKey(a.Name)
	// The name becomes a path below /proc/sys, so it must not lead out of it.
	if !sysctlName.MatchString(a.Name) || !strings.Contains(a.Key, "/") || strings.Contains("/"+a.Key+"/", "/../") ||
		strings.Contains(a.Key, "//") || strings.HasSuffix(a.Key, "/") {
		add("name", "`name` must be like net.ipv4.ip_forward", "")
	}
	a.Value = strings.Join(strings.Fields(a.Value), " ")
	// YAML has made true of yes; the kernel knows numbers only.
	switch strings.ToLower(a.Value) {
	case "true", "yes", "on", "y", "t":
		a.Value = "1"
	case "false", "no", "off", "n", "f":
		a.Value = "0"
	}
	if a.State == "present" && a.Value == "" {
		add("value", "`sysctl` needs `value`", "")
	}
	return problems
}

// SysctlKey is where a parameter is below /proc/sys. Whichever of dot and slash comes first in a name parts it, and the
// other is the dot of a name, such as that of an interface.
func SysctlKey(name string) string {
	if i := strings.IndexAny(name, "./"); i >= 0 && name[i] == '.' {
		return strings.NewReplacer(".", "/", "/", ".").Replace(name)
	}
	return name
}
