package cli

import (
	"os"
	"slices"

	"github.com/alecthomas/kong"

	"moon/plan"
)

// The groups of flags, in which help lists them. What belongs to one is also what a command may refuse as a whole.
const (
	groupVariables = "variables"
	groupSteps     = "steps"
	groupHosts     = "hosts"
)

// flagGroups are the headings of help, for flags and commands.
var flagGroups = kong.Groups{
	groupVariables: "Variables:",
	groupSteps:     "Which steps:",
	groupHosts:     "Plays and their hosts:",
	"run":          "How to run:",
	"resume":       "How to continue:",
	"saved":        "Saved plans:",
	"passwords":    "Passwords:",
	"plugins":      "Plugins and trust:",
	"output":       "Output:",
	"screen":       "The TUI:",
	"lists":        "Instead of running:",

	"cmd-run":       "Run:",
	"cmd-plans":     "Look before running:",
	"cmd-runs":      "Past runs:",
	"cmd-reference": "Reference:",
	"cmd-programs":  "Plugins and trust:",
	"cmd-other":     "Other:",
}

// givenFlag is a flag that somebody gave: on the command line, or by a variable of the environment.
type givenFlag struct {
	name  string // as it is typed
	group string
	typed bool // on the command line
}

// givenFlags are the flags that were given with a command, in the order of help.
func givenFlags(ctx *kong.Context) (given []givenFlag) {
	typed := map[*kong.Flag]bool{}
	for _, p := range ctx.Path {
		if p.Flag != nil && !p.Resolved { // what files of settings say was not typed
			typed[p.Flag] = true
		}
	}
	for _, f := range ctx.Flags() {
		// A variable that is empty counts as not set.
		if !typed[f] && !slices.ContainsFunc(f.Envs, func(name string) bool { return os.Getenv(name) != "" }) {
			continue
		}
		g := givenFlag{name: "--" + f.Name, typed: typed[f]}
		if f.Group != nil {
			g.group = f.Group.Key
		}
		given = append(given, g)
	}
	return given
}

// AfterApply remembers which flags were given. kong calls it when all of them have their values.
func (f *planFlags) AfterApply(ctx *kong.Context) error {
	f.given = givenFlags(ctx)
	return nil
}

// shaping is the first flag given that shapes a plan, or "".
func (f *playbookFlags) shaping() string {
	if f.Playbook != "" {
		return "a playbook"
	}
	for _, g := range f.given {
		if g.group == groupVariables || g.group == groupSteps || g.group == groupHosts {
			return g.name
		}
	}
	return ""
}

// hostFlagsOfSteps are the flags about hosts that a playbook of steps has a use for, too: for its modules, and its handlers.
var hostFlagsOfSteps = []string{"--no-connect", "--no-probe", "--probe", "--module-path", "--force-handlers"}

// hostFlagsOfAsking are those that one has a use for that asks for hosts: a lookup does, or a step that runs there.
var hostFlagsOfAsking = []string{"--inventory", "--user", "--private-key", "--connection", "--ssh-common-args"}

// ofPlays is the first flag on the command line that says nothing about a playbook of steps, or "". The environment may hold some
// for other playbooks.
func (f *planFlags) ofPlays(p *plan.Plan) string {
	for _, g := range f.given {
		used := slices.Contains(hostFlagsOfSteps, g.name) || p.AsksHosts() && slices.Contains(hostFlagsOfAsking, g.name) ||
			p.ChoosesHosts() && g.name == "--limit"
		if g.typed && g.group == groupHosts && !used {
			return g.name
		}
	}
	return ""
}
