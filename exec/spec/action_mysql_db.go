package spec

import (
	"reflect"
	"slices"
	"strings"
)

// MysqlDBArgs are the arguments of mysql_db.
type MysqlDBArgs struct {
	Name                    []string `arg:"name,db" need:"yes" doc:"The databases. all dumps or imports everything."`
	State                   string   `arg:"state" default:"present" enum:"present|absent|dump|import" doc:"Whether the databases should exist; dump writes them to the file target, import reads it."`
	IfEmpty                 bool     `arg:"if_empty" default:"false" doc:"With state: absent, remove only a database without tables, views and routines. Otherwise the step fails."`
	Encoding                string   `arg:"encoding" implied:"the server's" doc:"The character set of a new database, and of a dump."`
	Collation               string   `arg:"collation" implied:"the server's" doc:"The collation of a new database."`
	Target                  string   `arg:"target" kind:"path" doc:"The file of a dump. The endings .gz, .bz2 and .xz compress it."`
	SingleTransaction       bool     `arg:"single_transaction" default:"false" doc:"Dump everything as it is at one moment."`
	Quick                   bool     `arg:"quick" default:"true" doc:"Dump row by row, without keeping tables in memory."`
	IgnoreTables            []string `arg:"ignore_tables" doc:"Tables not to dump, as DATABASE.TABLE."`
	HexBlob                 bool     `arg:"hex_blob" default:"false" doc:"Dump binary columns in hexadecimal."`
	Force                   bool     `arg:"force" default:"false" doc:"Continue after an error in a dump or an import."`
	MasterData              int      `arg:"master_data" default:"0" doc:"Write the position in the binary log into a dump: 1 as a statement, 2 as a comment."`
	SkipLockTables          bool     `arg:"skip_lock_tables" default:"false" doc:"Dump without locking tables."`
	DumpExtraArgs           string   `arg:"dump_extra_args" doc:"More options for mysqldump."`
	CheckImplicitAdmin      bool     `arg:"check_implicit_admin" default:"false" doc:"First try to log in as root without a password."`
	ConfigOverridesDefaults bool     `arg:"config_overrides_defaults" default:"false" doc:"Let host and port of config_file win over the defaults of login_host and login_port."`
	RestrictConfigFile      bool     `arg:"restrict_config_file" default:"false" doc:"Ignored: no file but config_file is ever read."`
	UseShell                bool     `arg:"use_shell" default:"false" doc:"Ignored: moon uncompresses a file itself."`
	Pipefail                bool     `arg:"pipefail" default:"false" doc:"Ignored: a dump that fails always fails the step."`
	UnsafeLoginPassword     bool     `arg:"unsafe_login_password" default:"false" doc:"Ignored: a password is never part of a command."`
	Chdir                   string   `arg:"chdir" kind:"path" doc:"Where mysqldump runs, for paths in dump_extra_args."`
	MysqlLogin

	ExtraWords []string
}

var _ = declareAction(&Action{
	Name:    "mysql_db",
	Aliases: mysqlNames("mysql_db"),
	Doc:     "Creates, removes, dumps and imports databases of MySQL and MariaDB.",
	Subject: "name",
	Process: "*",
	Check:   true,
	args:    reflect.TypeFor[MysqlDBArgs](),
	Returns: []Return{
		{"db", "The databases, with blanks between."},
		{"db_list", "The databases, as a list."},
		{"executed_commands", "The statements and commands that were run."},
	},
	Least: "mysql_db: {name: x}",
	Example: `- mysql_db: {name: shop, encoding: utf8mb4, login_unix_socket: /tmp/my/sock}
- mysql_db: {name: [stock, orders], login_unix_socket: /tmp/my/sock}
- mysql_db: {name: trial, state: absent, login_unix_socket: /tmp/my/sock}
`,
})

func (a *MysqlDBArgs) validateArgs(given func(string) bool) []Problem {
	problems := a.problems()
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	for i, name := range a.Name {
		a.Name[i] = strings.TrimSpace(name)
	}
	moves := a.State == "dump" || a.State == "import"
	switch all := slices.Equal(a.Name, []string{"all"}); {
	case slices.Contains(a.Name, ""):
		add("name", "`name` has a database without a name", "")
	case all && !moves:
		add("name", "`name: all` is for a dump or an import", "list the databases by name")
	case len(a.Name) > 1 && a.State == "import":
		add("name", "an import goes into one database", "use a loop")
	}
	switch {
	case moves && a.Target == "":
		add("target", "`state: "+a.State+"` needs `target`", "")
	case !moves && a.Target != "":
		add("target", "`target` is for `state: dump` and `state: import`", "")
	}
	if a.MasterData < 0 || a.MasterData > 2 {
		add("master_data", "`master_data` must be 0, 1 or 2", "")
	}
	if slices.Contains(a.IgnoreTables, "") {
		add("ignore_tables", "`ignore_tables` has a table without a name", "")
	}
	var more []Problem
	a.ExtraWords, more = extraWords("dump_extra_args", a.DumpExtraArgs)
	problems = append(problems, more...)
	return append(problems, onlyAbsent(a.State, given, "if_empty")...)
}
