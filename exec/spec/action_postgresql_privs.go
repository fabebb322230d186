package spec

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// PostgresqlPrivsArgs are the arguments of postgresql_privs. Once decoded, Schema is what the type needs, and Privileges, Objects, To
// and For are what the texts list.
type PostgresqlPrivsArgs struct {
	Database    string `arg:"database,db,login_db" need:"yes" doc:"The database to log in to, in which the objects are."`
	Roles       string `arg:"roles,role" need:"yes" doc:"To whom, with commas between; PUBLIC is every role."`
	Type        string `arg:"type" default:"table" enum:"table|sequence|function|procedure|database|schema|language|tablespace|group|default_privs|foreign_data_wrapper|foreign_server|type" doc:"What the objects are. group makes the roles members of others."`
	Privs       string `arg:"privs,priv" implied:"required but for type: group" doc:"The privileges, with commas between, or ALL."`
	Objs        string `arg:"objs,obj" implied:"the database, for type: database" doc:"The objects, with commas between; ALL_IN_SCHEMA; for default_privs TABLES, SEQUENCES, FUNCTIONS, TYPES, SCHEMAS or ALL_DEFAULT. Arguments of functions have a colon between."`
	Schema      string `arg:"schema" implied:"public" doc:"The schema of the objects; not-specified: any, for default_privs."`
	State       string `arg:"state" default:"present" enum:"present|absent" doc:"Whether to grant or to revoke."`
	GrantOption *bool  `arg:"grant_option,admin_option" implied:"left as it is" doc:"Whether the roles may pass it on."`
	TargetRoles string `arg:"target_roles" doc:"Whose new objects default_privs are about."`
	FailOnRole  bool   `arg:"fail_on_role" default:"true" doc:"Fail if a role does not exist. Otherwise it is passed over."`
	UsageTypes  bool   `arg:"usage_on_types" default:"true" doc:"With default_privs, also grant USAGE on types."`
	Password    string `arg:"password" doc:"The same as login_password."`
	PostgresLogin

	Privileges, Objects, To, For []string
	AllInSchema                  bool
}

var _ = declareAction(&Action{
	Name:    "postgresql_privs",
	Aliases: postgresNames("postgresql_privs"),
	Doc:     "Grants and revokes privileges on objects of PostgreSQL, and memberships in roles.",
	Subject: "roles",
	Process: "*",
	Check:   true,
	args:    reflect.TypeFor[PostgresqlPrivsArgs](),
	Returns: []Return{{"queries", "The statements that were run."}},
	Least:   "postgresql_privs: {database: x, roles: y, privs: ALL, objs: z}",
	Example: `- postgresql_privs: {database: postgres, roles: reader, type: schema, objs: public, privs: USAGE, login_unix_socket: /tmp/pg}
- postgresql_privs: {database: postgres, roles: reader, privs: "SELECT,INSERT", objs: "items,orders", login_unix_socket: /tmp/pg}
- postgresql_privs: {database: postgres, roles: reader, type: group, objs: pg_monitor, login_unix_socket: /tmp/pg}
`,
})

var (
	postgresPrivileges = []string{
		"SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "CREATE", "CONNECT",
		"TEMPORARY", "TEMP", "EXECUTE", "USAGE", "ALL", "SET", "ALTER SYSTEM",
	}
	defaultObjects = map[string][]string{
		"TABLES":    {"ALL", "SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"},
		"SEQUENCES": {"ALL", "SELECT", "UPDATE", "USAGE"}, "FUNCTIONS": {"ALL", "EXECUTE"}, "TYPES": {"ALL", "USAGE"},
		"SCHEMAS": {"CREATE", "USAGE"},
	}
)

func (a *PostgresqlPrivsArgs) validateArgs(given func(string) bool) []Problem {
	problems := append(a.problems(), emptyNames(map[string]string{"database": a.Database})...)
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	if a.Password != "" {
		if given("login_password") {
			add("password", "`password` and `login_password` are the same", "give one of them")
		}
		a.LoginPassword = a.Password
	}
	inSchema := slices.Contains([]string{"table", "sequence", "function", "procedure", "type", "default_privs"}, a.Type)
	switch {
	case !inSchema && a.Schema != "":
		add("schema", "`schema` is not for `type: "+a.Type+"`", "")
	case a.Objs == "schemas" || a.Schema == "not-specified":
		a.Schema = ""
	case inSchema && a.Schema == "":
		a.Schema = "public"
	}
	// These words stand for objects that only the server can list.
	a.AllInSchema = a.Objs == "ALL_IN_SCHEMA"
	switch {
	case a.AllInSchema && !slices.Contains([]string{"table", "sequence", "function", "procedure"}, a.Type):
		add("objs", "`objs: ALL_IN_SCHEMA` is for tables, sequences, functions and procedures", "")
	case a.Objs == "" && a.Type == "database":
		a.Objs = a.Database
	case a.Objs == "":
		add("objs", "`type: "+a.Type+"` needs `objs`", "")
	}
	switch {
	case a.Type == "group" && a.Privs != "":
		add("privs", "`privs` is not for `type: group`", "")
	case a.Type != "group" && a.Privs == "":
		add("privs", "`type: "+a.Type+"` needs `privs`", "")
	}
	if a.Privs != "" {
		a.Privileges = splitCommas(strings.ToUpper(a.Privs))
	}
	for _, p := range a.Privileges {
		if !slices.Contains(postgresPrivileges, p) {
			add("privs", "`privs` has "+nameValue(p)+", which is not a privilege", "it may have "+strings.Join(postgresPrivileges, ", "))
		}
	}
	a.Objects, a.To, a.For = splitCommas(a.Objs), splitCommas(a.Roles), splitCommas(a.TargetRoles)
	if strings.EqualFold(a.Roles, "PUBLIC") {
		a.To = []string{"PUBLIC"}
	}
	if len(a.To) == 0 {
		add("roles", "`roles` is empty", "")
	}
	switch a.Type {
	case "default_privs":
		a.readDefaults(add)
	case "function", "procedure":
		for i, o := range a.Objects {
			a.Objects[i] = strings.ReplaceAll(o, ":", ",")
			if !a.AllInSchema && (!strings.Contains(o, "(") || !strings.HasSuffix(o, ")") || strings.ContainsAny(o, `;'`)) {
				add("objs", "`objs` has "+nameValue(o)+", which is not like name(type:type)", "")
			}
		}
	}
	return problems
}

// readDefaults checks what default privileges are about.
func (a *PostgresqlPrivsArgs) readDefaults(add func(field, message, hint string)) {
	if strings.EqualFold(a.Objs, "ALL_DEFAULT") {
		a.Objects = []string{"FUNCTIONS", "SEQUENCES", "TABLES", "TYPES"}
	}
	for i, o := range a.Objects {
		a.Objects[i] = strings.ToUpper(o)
		allowed, ok := defaultObjects[a.Objects[i]]
		if !ok {
			add("objs", "`objs` of default_privs has no "+nameValue(o), "it has "+strings.Join(slices.Sorted(maps.Keys(defaultObjects)), ", ")+" and ALL_DEFAULT")
			continue
		}
		for _, p := range a.Privileges {
			if !slices.Contains(allowed, p) {
				add("privs", "there is no privilege "+p+" on "+a.Objects[i], "there is "+strings.Join(allowed, ", "))
			}
		}
	}
}

// splitCommas is a text with commas as a list.
func splitCommas(text string) (list []string) {
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}
