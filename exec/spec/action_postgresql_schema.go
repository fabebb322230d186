package spec

import "reflect"

// PostgresqlSchemaArgs are the arguments of postgresql_schema.
type PostgresqlSchemaArgs struct {
	Name        string `arg:"name,schema" need:"yes" doc:"The schema."`
	Database    string `arg:"database,db,login_db" default:"postgres" doc:"The database that it is in."`
	Owner       string `arg:"owner" doc:"The role that owns it."`
	State       string `arg:"state" default:"present" enum:"present|absent" doc:"Whether the schema should exist."`
	CascadeDrop bool   `arg:"cascade_drop" default:"false" doc:"With state: absent, remove what is in it, too. Otherwise only an empty one is removed."`
	PostgresLogin
}

var _ = declareAction(&Action{
	Name:    "postgresql_schema",
	Aliases: postgresNames("postgresql_schema"),
	Doc:     "Creates, changes and removes schemas in a database of PostgreSQL.",
	Subject: "name",
	Process: "*",
	Check:   true,
	args:    reflect.TypeFor[PostgresqlSchemaArgs](),
	Returns: []Return{
		{"schema", "The schema."},
		{"queries", "The statements that were run."},
	},
	Least: "postgresql_schema: {name: x}",
	Example: `- postgresql_schema: {name: sales, owner: postgres, login_unix_socket: /tmp/pg}
- postgresql_schema: {name: old, state: absent, login_unix_socket: /tmp/pg}
`,
})

func (a *PostgresqlSchemaArgs) validateArgs(func(string) bool) []Problem {
	return append(a.problems(), emptyNames(map[string]string{"name": a.Name, "database": a.Database})...)
}
