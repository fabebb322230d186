package spec

import "reflect"

// MysqlVariablesArgs are the arguments of mysql_variables.
type MysqlVariablesArgs struct {
	Variable string  `arg:"variable" need:"yes" doc:"The variable."`
	Value    *string `arg:"value" doc:"Its value. Without it the variable is only read."`
	Mode     string  `arg:"mode" default:"global" enum:"global|persist|persist_only" doc:"global sets it until the server is restarted; persist also for later; persist_only only for later. MariaDB has global only."`
	MysqlLogin
}

var _ = declareAction(&Action{
	Name:    "mysql_variables",
	Aliases: mysqlNames("mysql_variables"),
	Doc:     "Sets a variable of a server of MySQL or MariaDB.",
	Subject: "variable",
	Process: "*",
	Check:   true,
	args:    reflect.TypeFor[MysqlVariablesArgs](),
	Returns: []Return{
		{"queries", "The statement that has set it."},
		{"msg", "The value, where the variable is only read."},
	},
	Least: "mysql_variables: {variable: x}",
	Example: `- mysql_variables: {variable: max_connections, value: 300, login_unix_socket: /tmp/my/sock}
- mysql_variables: {variable: version, login_unix_socket: /tmp/my/sock}
`,
})

func (a *MysqlVariablesArgs) validateArgs(func(string) bool) []Problem {
	problems := a.problems()
	if !plainWord.MatchString(a.Variable) {
		problems = append(problems, Problem{"variable", "`variable` must be a name of letters, digits, _ and .", ""})
	}
	return problems
}
