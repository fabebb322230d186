package spec

import (
	"reflect"

	"moon/internal/pattern"
)

// PostgresqlDBArgs are the arguments of postgresql_db.
type PostgresqlDBArgs struct {
	Name          string `arg:"name,db" need:"yes" doc:"The database."`
	State         string `arg:"state" default:"present" enum:"present|absent|dump|restore|rename" doc:"Whether the database should exist; dump writes it to the file target, restore reads that, rename gives it the name target."`
	IfEmpty       bool   `arg:"if_empty" default:"false" doc:"With state: absent, remove only a database without tables, views, sequences and functions. Otherwise the step fails."`
	Owner         string `arg:"owner" doc:"The role that owns it."`
	Template      string `arg:"template" doc:"The database that a new one is a copy of."`
	Encoding      string `arg:"encoding" doc:"The encoding of a new database. It cannot be changed."`
	LCCollate     string `arg:"lc_collate" doc:"The order of texts in a new database. It cannot be changed."`
	LCCtype       string `arg:"lc_ctype" doc:"The classes of characters in a new database. It cannot be changed."`
	ConnLimit     string `arg:"conn_limit" doc:"How many connections it takes at once; -1: any number."`
	Tablespace    string `arg:"tablespace" doc:"The tablespace it is in."`
	Force         bool   `arg:"force" default:"false" doc:"With state: absent, end its connections first."`
	Target        string `arg:"target" implied:"NAME.sql where the step runs" doc:"The file of a dump, or the new name. .tar, .pgc and .dir are pg_dump's formats; .gz, .bz2 and .xz compress."`
	TargetOpts    string `arg:"target_opts" doc:"More options for pg_dump, pg_restore or psql."`
	DumpExtraArgs string `arg:"dump_extra_args" doc:"More options for pg_dump."`
	MaintenanceDB string `arg:"maintenance_db" default:"postgres" doc:"The database to log in to."`
	PostgresLogin

	ExtraWords []string
}

var _ = declareAction(&Action{
	Name:    "postgresql_db",
	Aliases: postgresNames("postgresql_db"),
	Doc:     "Creates, changes, removes, dumps and restores databases of PostgreSQL.",
	Subject: "name",
	Process: "*",
	Check:   true,
	args:    reflect.TypeFor[PostgresqlDBArgs](),
	Returns: []Return{
		{"db", "The database."},
		{"executed_commands", "The statements and commands that were run."},
	},
	Least: "postgresql_db: {name: x}",
	Example: `- postgresql_db: {name: shop, encoding: UTF8, template: template0, login_unix_socket: /tmp/pg}
- postgresql_db: {name: trial, state: absent, login_unix_socket: /tmp/pg}
`,
})

var wholeNumber = pattern.New(`^-?[0-9]+$`)

func (a *PostgresqlDBArgs) validateArgs(given func(string) bool) []Problem {
	problems := append(a.problems(), emptyNames(map[string]string{"name": a.Name})...)
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	if a.ConnLimit != "" && !wholeNumber.MatchString(a.ConnLimit) {
		add("conn_limit", "`conn_limit` must be a whole number", "")
	}
	switch {
	case a.State == "rename" && a.Target == "":
		add("target", "`state: rename` needs `target`, the new name", "")
	case a.State == "rename" && a.Target == a.Name:
		add("target", "`target` is the name that the database has", "")
	case a.State == "rename" && a.MaintenanceDB == a.Name:
		add("maintenance_db", "a database cannot be renamed by who is logged in to it", "name another `maintenance_db`")
	case a.Target != "" && (a.State == "present" || a.State == "absent"):
		add("target", "`target` is for `state: dump`, `restore` and `rename`", "")
	}
	for _, field := range []struct{ name, text string }{{"dump_extra_args", a.DumpExtraArgs}, {"target_opts", a.TargetOpts}} {
		words, more := extraWords(field.name, field.text)
		a.ExtraWords, problems = append(a.ExtraWords, words...), append(problems, more...)
	}
	return append(problems, onlyAbsent(a.State, given, "if_empty", "force")...)
}
