package spec

import (
	"reflect"
	"strings"
)

// GroupArgs are the arguments of group.
type GroupArgs struct {
	Name      string `arg:"name" need:"yes" doc:"The group."`
	State     string `arg:"state" default:"present" enum:"present|absent" doc:"Whether the group should exist."`
	Gid       *int   `arg:"gid" doc:"Its id."`
	System    bool   `arg:"system" default:"false" doc:"Give a new group an id from the system range."`
	NonUnique bool   `arg:"non_unique" default:"false" doc:"Allow a gid that another group has."`
	GidMin    *int   `arg:"gid_min" implied:"what /etc/login.defs says" doc:"The lowest id for a new group."`
	GidMax    *int   `arg:"gid_max" implied:"what /etc/login.defs says" doc:"The highest id for a new group."`
	Local     bool   `arg:"local" default:"false" doc:"Use only the groups of this machine, not those of a directory service such as LDAP."`
	Force     bool   `arg:"force" default:"false" doc:"Remove the group even if it is a user's primary group."`
}

var _ = declareAction(&Action{
	Name:  "group",
	Doc:   "Creates, changes and removes user groups.",
	Check: true,
	args:  reflect.TypeFor[GroupArgs](),
	Returns: []Return{
		{"name", "The group."},
		{"gid", "Its id."},
		{"state", "present or absent."},
		{"system", "Whether a new group gets an id from the system range."},
	},
	Least: "group: {name: x}",
	Example: `- group: {name: deploy, gid: 1200}
- group: {name: metrics, system: true}
- group: {name: old-team, state: absent}
`,
})

func (a *GroupArgs) validateArgs(given func(string) bool) []Problem {
	problems := checkAccount(a.Name, a.State)
	if a.NonUnique && !given("gid") && a.State == "present" {
		problems = append(problems, Problem{"non_unique", "`non_unique` needs `gid`", ""})
	}
	return append(problems, checkIDs(idField{"gid", a.Gid}, idField{"gid_min", a.GidMin}, idField{"gid_max", a.GidMax})...)
}

// checkAccount refuses the name of what a step makes. What no user or group can be named is not there, which is well if it is to be absent.
func checkAccount(name, state string) []Problem {
	if state == "absent" && name != "" {
		return nil
	}
	return checkAccountName("name", name)
}

// checkAccountName refuses what can be no user or group anywhere. What a system takes besides is its own affair.
func checkAccountName(field, name string) []Problem {
	wrong := ""
	switch {
	case name == "":
		wrong = "is empty"
	case strings.HasPrefix(name, "-"):
		wrong = "cannot begin with -"
	case strings.ContainsAny(name, ":,/ \t\r\n"):
		wrong = "can have no blank, colon, comma or slash"
	case len(name) > 256:
		wrong = "is too long"
	default:
		return nil
	}
	return []Problem{{field, "`" + field + "` " + wrong, ""}}
}

type idField struct {
	name  string
	value *int
}

// maxID is the greatest id of a user or a group. The one above means that there is none.
const maxID = 1<<32 - 2

func checkIDs(fields ...idField) (problems []Problem) {
	for _, f := range fields {
		if f.value != nil && (*f.value < 0 || int64(*f.value) > maxID) {
			problems = append(problems, Problem{f.name, "`" + f.name + "` must be between 0 and 4294967294", ""})
		}
	}
	return problems
}
