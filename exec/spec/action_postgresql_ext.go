package spec

import "reflect"

// PostgresqlExtArgs are the arguments of postgresql_ext.
type PostgresqlExtArgs struct {
	Name    string `arg:"name,ext" need:"yes" doc:"The extension."`
	DB      string `arg:"db,login_db" need:"yes" doc:"The database that it is in."`
	Schema  string `arg:"schema" doc:"The schema for a new one."`
	Version string `arg:"version" doc:"Its version, or latest."`
	State   string `arg:"state" default:"present" enum:"present|absent" doc:"Whether the extension should exist."`
	Cascade bool   `arg:"cascade" default:"false" doc:"Also install what it needs, or remove what needs it."`
	PostgresLogin
}

var _ = declareAction(&Action{
	Name:    "postgresql_ext",
	Aliases: postgresNames("postgresql_ext"),
	Doc:     "Installs, updates and removes extensions in a database of PostgreSQL.",
	Subject: "name",
	Process: "*",
	Check:   true,
	args:    reflect.TypeFor[PostgresqlExtArgs](),
	Returns: []Return{
		{"ext", "The extension."},
		{"db", "The database."},
		{"queries", "The statements that were run."},
	},
	Least:   "postgresql_ext: {name: x, db: y}",
	Example: "- postgresql_ext: {name: plpgsql, db: postgres, login_unix_socket: /tmp/pg}\n",
})

func (a *PostgresqlExtArgs) validateArgs(func(string) bool) []Problem {
	return append(a.problems(), emptyNames(map[string]string{"name": a.Name, "db": a.DB})...)
}
