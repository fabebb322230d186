package spec

import (
	"reflect"
	"strings"

	"moon/internal/pattern"
)

// ModprobeArgs are the arguments of modprobe. Once decoded, Words are the parameters.
type ModprobeArgs struct {
	Name       string `arg:"name" need:"yes" doc:"The module of the kernel."`
	State      string `arg:"state" default:"present" enum:"present|absent" doc:"Whether it should be loaded."`
	Params     string `arg:"params" doc:"Parameters for a module that is not loaded yet, as numdummies=2."`
	Persistent string `arg:"persistent" default:"disabled" enum:"disabled|present|absent" doc:"present: load it at boot, too, with these parameters: /etc/modules-load.d/NAME.conf and /etc/modprobe.d/NAME.conf. absent: lines that load it, or give it parameters, become comments. disabled: leave these files alone."`

	Words []string
}

var _ = declareAction(&Action{
	Name:    "modprobe",
	Aliases: []string{"community.general.modprobe"},
	Doc:     "Loads a module of the Linux kernel, or unloads it, now and at boot.",
	Process: "*",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[ModprobeArgs](),
	Returns: []Return{
		{"name", "The module."},
		{"params", "The parameters."},
		{"state", "The desired state."},
	},
	Least: "modprobe: {name: dummy}",
	Example: `- modprobe: {name: br_netfilter, persistent: present}
- modprobe: {name: dummy, params: numdummies=2}
- modprobe: {name: pcspkr, state: absent, persistent: absent}
`,
})

var kernelModule = pattern.New(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)

func (a *ModprobeArgs) validateArgs(func(string) bool) []Problem {
	var problems []Problem
	// The name is that of a file as well, and must not lead elsewhere.
	if !kernelModule.MatchString(a.Name) {
		problems = append(problems, Problem{"name", "`name` must be that of a module like br_netfilter, found " + nameValue(a.Name), ""})
	}
	words, wrong := extraWords("params", a.Params)
	a.Words = words
	for _, word := range words {
		if strings.HasPrefix(word, "-") {
			wrong = append(wrong, Problem{"params", "`params` has " + nameValue(word) + ", which begins with a hyphen", "they are like numdummies=2"})
		}
	}
	return append(problems, wrong...)
}
