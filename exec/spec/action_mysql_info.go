package spec

import (
	"reflect"
	"strings"
)

// MysqlSubsets are what mysql_info can tell of a server.
var MysqlSubsets = []string{
	"version", "databases", "settings", "global_status", "engines", "users", "master_status", "slave_hosts", "slave_status",
}

// MysqlInfoArgs are the arguments of mysql_info.
type MysqlInfoArgs struct {
	Filter        []string `arg:"filter" doc:"What to look at, a list or text with commas: version, databases, settings, global_status, engines, users, master_status, slave_hosts, slave_status. !NAME is all but that. Default: all."`
	ExcludeFields []string `arg:"exclude_fields" doc:"db_size: do not add up how large the databases are."`
	EmptyDBs      bool     `arg:"return_empty_dbs" default:"false" doc:"Also name databases without tables."`
	LoginDB       string   `arg:"login_db" doc:"The database to use."`
	MysqlLogin
}

var _ = declareAction(&Action{
	Name:    "mysql_info",
	Aliases: mysqlNames("mysql_info"),
	Doc:     "Looks at a server of MySQL or MariaDB, and changes nothing.",
	Subject: "filter",
	Process: "*",
	Check:   true,
	args:    reflect.TypeFor[MysqlInfoArgs](),
	Returns: []Return{
		{"version", "Its version: full, and its parts major, minor, release and suffix."},
		{"databases", "The databases by name, each with its size in bytes."},
		{"settings", "The variables of the server by name."},
		{"global_status", "Its counters by name."},
		{"engines", "The storage engines by name, with the columns of SHOW ENGINES."},
		{"users", "The users by host and name, with the columns of mysql.user."},
		{"master_status", "The columns of SHOW MASTER STATUS, where it writes a log for replicas."},
		{"slave_hosts", "Its replicas by id, with the columns of SHOW SLAVE HOSTS."},
		{"slave_status", "The columns of SHOW SLAVE STATUS by host, port and user, where it is a replica."},
	},
	Least: "mysql_info: {filter: version}",
	Example: `- mysql_info: {filter: [version, databases], login_unix_socket: /tmp/my/sock}
  register: server
- print: "{{ server.version.full }}"
`,
})

func (a *MysqlInfoArgs) validateArgs(func(string) bool) []Problem {
	split := func(list []string) (all []string) {
		for _, text := range list {
			for word := range strings.SplitSeq(text, ",") {
				all = append(all, strings.TrimSpace(word))
			}
		}
		return all
	}
	a.Filter, a.ExcludeFields = split(a.Filter), split(a.ExcludeFields)
	return a.problems()
}
