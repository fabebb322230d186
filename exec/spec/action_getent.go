package spec

import "reflect"

// GetentArgs are the arguments of getent.
type GetentArgs struct {
	Database string  `arg:"database" need:"yes" doc:"What to look in: passwd, group, hosts, services."`
	Key      string  `arg:"key" doc:"What to look for. Without it all entries are returned."`
	Split    *string `arg:"split" implied:": for passwd, shadow, group and gshadow; otherwise white space" doc:"The separator between the fields of an entry."`
	FailKey  bool    `arg:"fail_key" default:"true" doc:"Fail where the key is not found. Without it the key is null."`
	Service  string  `arg:"service" doc:"The one service to ask, such as files."`
}

var _ = declareAction(&Action{
	Name:    "getent",
	Doc:     "Looks up users, groups, hosts and so on as the system does, and changes nothing.",
	Check:   true,
	args:    reflect.TypeFor[GetentArgs](),
	Returns: []Return{{"ansible_facts.getent_DATABASE", "The entries by their first field, each the list of its other fields."}},
	Least:   "getent: {database: passwd}",
	Example: `- getent: {database: passwd, key: root}
  register: root
- print: "{{ root.ansible_facts.getent_passwd.root }}"
`,
})

func (a *GetentArgs) validateArgs(func(string) bool) []Problem {
	return optionWords(map[string][]string{"database": {a.Database}, "key": {a.Key}, "service": {a.Service}})
}
