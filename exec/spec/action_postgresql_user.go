package spec

import (
	"reflect"
	"slices"
	"strings"
)

// PostgresqlUserArgs are the arguments of postgresql_user. Once decoded, Flags are those of RoleAttrFlags.
type PostgresqlUserArgs struct {
	Name              string  `arg:"name,user" need:"yes" doc:"The user, or another role."`
	State             string  `arg:"state" default:"present" enum:"present|absent" doc:"Whether the user should exist."`
	Password          *string `arg:"password" doc:"Its password, or the hash of it: md5… or SCRAM-SHA-256$…. An empty text takes it away. It is handed over unseen."`
	Encrypted         bool    `arg:"encrypted" default:"true" doc:"Whether the server keeps a hash of it. Only servers before 10 keep the password itself."`
	NoPasswordChanges bool    `arg:"no_password_changes" default:"false" doc:"Leave the password, expires and conn_limit of a user that exists."`
	Expires           string  `arg:"expires" doc:"Until when the password works, or infinity."`
	ConnLimit         *int    `arg:"conn_limit" doc:"How many connections it may have at once; -1: any number."`
	RoleAttrFlags     string  `arg:"role_attr_flags" doc:"What it may do, with commas between: SUPERUSER, CREATEROLE, CREATEDB, INHERIT, LOGIN, REPLICATION, BYPASSRLS, or any of them with NO in front."`
	Comment           *string `arg:"comment" doc:"A comment on the role."`
	FailOnUser        bool    `arg:"fail_on_user,fail_on_role" default:"true" doc:"Fail if the user cannot be removed, because something belongs to it."`
	DB                string  `arg:"db,login_db" implied:"postgres" doc:"The database to log in to."`
	PostgresLogin

	Flags []string
}

var _ = declareAction(&Action{
	Name:    "postgresql_user",
	Aliases: postgresNames("postgresql_user"),
	Doc:     "Creates, changes and removes users of PostgreSQL, which are roles that may log in.",
	Subject: "name",
	Process: "*",
	Check:   true,
	args:    reflect.TypeFor[PostgresqlUserArgs](),
	Returns: []Return{
		{"user", "The user."},
		{"user_removed", "Whether it was removed."},
		{"queries", "The statements that were run, without passwords."},
	},
	Least: "postgresql_user: {name: x}",
	Example: `- postgresql_user: {name: shop, password: correct horse, role_attr_flags: "CREATEDB,NOSUPERUSER", login_unix_socket: /tmp/pg}
- postgresql_user: {name: report, expires: "2030-01-01", conn_limit: 5, comment: reads only, login_unix_socket: /tmp/pg}
- postgresql_user: {name: old, state: absent, login_unix_socket: /tmp/pg}
`,
})

var roleFlags = []string{"SUPERUSER", "CREATEROLE", "CREATEDB", "INHERIT", "LOGIN", "REPLICATION", "BYPASSRLS"}

func (a *PostgresqlUserArgs) validateArgs(func(string) bool) []Problem {
	problems := append(a.problems(), emptyNames(map[string]string{"name": a.Name})...)
	for flag := range strings.SplitSeq(strings.ToUpper(a.RoleAttrFlags), ",") {
		flag = strings.TrimSpace(flag)
		bare, without := strings.CutPrefix(flag, "NO")
		switch {
		case flag == "":
		case !slices.Contains(roleFlags, flag) && (!without || !slices.Contains(roleFlags, bare)):
			problems = append(problems, Problem{"role_attr_flags", "`role_attr_flags` has no " + flag, "it has " + strings.Join(roleFlags, ", ") + ", each with or without NO in front"})
		case !slices.Contains(a.Flags, flag):
			a.Flags = append(a.Flags, flag)
		}
	}
	if a.Password != nil && strings.Contains(*a.Password, "\x00") {
		problems = append(problems, Problem{"password", "`password` has a zero byte", ""})
	}
	if a.Name == "PUBLIC" && (a.Password != nil || len(a.Flags) > 0 || a.State == "absent") {
		problems = append(problems, Problem{"name", "PUBLIC is every role: it has neither a password nor flags, and cannot be removed", ""})
	}
	return problems
}
