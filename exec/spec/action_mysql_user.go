package spec

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"moon/internal/pattern"
)

// MysqlUserArgs are the arguments of mysql_user. Once decoded, Host is in lower case, and Privileges and Limits are what Priv and
// ResourceLimits say.
type MysqlUserArgs struct {
	Name               string         `arg:"name,user" need:"yes" doc:"The user. An empty text is the anonymous one."`
	Host               string         `arg:"host" default:"localhost" doc:"From where it may log in; % is anywhere."`
	HostAll            bool           `arg:"host_all" default:"false" doc:"Change the user of every host. It cannot be created that way."`
	Password           *string        `arg:"password" doc:"Its password, or with encrypted the hash of it. It is handed over unseen."`
	Encrypted          bool           `arg:"encrypted" default:"false" doc:"Whether password is a hash of mysql_native_password: * and 40 hexadecimal digits."`
	UpdatePassword     string         `arg:"update_password" default:"always" enum:"always|on_create|on_new_username" doc:"When to set the password. on_new_username gives a new user the one that the same name has for other hosts."`
	Priv               any            `arg:"priv" doc:"What it may do: DB.TABLE:PRIVILEGE,PRIVILEGE/DB.TABLE:…, or a map of DB.TABLE to PRIVILEGE,PRIVILEGE. GRANT lets it pass them on."`
	AppendPrivs        bool           `arg:"append_privs" default:"false" doc:"Keep privileges that priv does not list."`
	SubtractPrivs      bool           `arg:"subtract_privs" default:"false" doc:"Revoke what priv lists, and keep the rest."`
	ColumnCase         bool           `arg:"column_case_sensitive" default:"true" doc:"Keep the names of columns in priv as they are written. false makes capitals of them, as older versions of Ansible's module do."`
	TLSRequires        map[string]any `arg:"tls_requires" implied:"none" doc:"What the user's connections must have: ssl, x509, or any of subject, issuer and cipher."`
	Plugin             string         `arg:"plugin" doc:"The plugin that authenticates the user."`
	PluginHashString   string         `arg:"plugin_hash_string" doc:"The hash that it compares with."`
	PluginAuthString   string         `arg:"plugin_auth_string" doc:"What it makes the hash of."`
	ResourceLimits     map[string]any `arg:"resource_limits" doc:"MAX_QUERIES_PER_HOUR, MAX_UPDATES_PER_HOUR, MAX_CONNECTIONS_PER_HOUR, MAX_USER_CONNECTIONS and, in MariaDB, MAX_STATEMENT_TIME."`
	SessionVars        map[string]any `arg:"session_vars" doc:"Variables of the session to set first."`
	SQLLogBin          bool           `arg:"sql_log_bin" default:"true" doc:"Whether the changes go into the binary log."`
	ForceContext       bool           `arg:"force_context" default:"false" doc:"Use the database mysql, for filters of replication."`
	CheckImplicitAdmin bool           `arg:"check_implicit_admin" default:"false" doc:"First try to log in as root without a password."`
	State              string         `arg:"state" default:"present" enum:"present|absent" doc:"Whether the user should exist."`
	MysqlLogin

	Privileges []Grant
	Limits     []Limit
	Requires   []Requirement // by name
}

// Grant is what a user may do with an object, such as db.* or PROCEDURE db.name. Names in it are quoted by `.
type Grant struct {
	On         string
	Privileges []string // in capitals, but for columns
}

// Limit is a limit of a user, in capitals.
type Limit struct {
	Name  string
	Value int
}

// Requirement is SSL or X509, or a word with a value.
type Requirement struct{ Word, Value string }

var _ = declareAction(&Action{
	Name:    "mysql_user",
	Aliases: mysqlNames("mysql_user"),
	Doc:     "Creates, changes and removes users of MySQL and MariaDB, with their privileges.",
	Subject: "name",
	Process: "*",
	Check:   true,
	args:    reflect.TypeFor[MysqlUserArgs](),
	Returns: []Return{
		{"user", "The user."},
		{"password_changed", "Whether its password was set."},
	},
	Least: "mysql_user: {name: x}",
	Example: `- mysql_user: {name: shop, host: "%", password: correct horse, priv: "shop.*:ALL", login_unix_socket: /tmp/my/sock}
- mysql_user:
    name: report
    password: "*EE0D72C1085C46C5278932678FBE2C6A782821B4"
    encrypted: true
    priv: {"shop.*": "SELECT,SHOW VIEW", "stock.items": SELECT}
    login_unix_socket: /tmp/my/sock
- mysql_user: {name: "", host_all: true, state: absent, login_unix_socket: /tmp/my/sock}
`,
})

var nativeHash = pattern.New(`^\*[0-9A-Fa-f]{40}$`)

var mysqlLimits = []string{
	"MAX_QUERIES_PER_HOUR", "MAX_UPDATES_PER_HOUR", "MAX_CONNECTIONS_PER_HOUR", "MAX_USER_CONNECTIONS", "MAX_STATEMENT_TIME",
}

func (a *MysqlUserArgs) validateArgs(func(string) bool) []Problem {
	problems := a.problems()
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	a.Host = strings.ToLower(a.Host)
	if a.AppendPrivs && a.SubtractPrivs {
		add("subtract_privs", "`append_privs` and `subtract_privs` exclude each other", "give one of them")
	}
	if a.Encrypted && a.Password != nil && *a.Password != "" && !nativeHash.MatchString(*a.Password) {
		add("password", "`password` with `encrypted` must be * and 40 hexadecimal digits", "remove `encrypted` if it is the password itself")
	}
	if a.Plugin == "" && (a.PluginHashString != "" || a.PluginAuthString != "") {
		add("plugin", "`plugin_hash_string` and `plugin_auth_string` need `plugin`", "")
	}
	if a.Plugin != "" && !plainWord.MatchString(a.Plugin) {
		add("plugin", "`plugin` must be a name of letters, digits and _", "")
	}
	for name := range a.SessionVars {
		if !plainWord.MatchString(name) {
			add("session_vars", "`session_vars` has "+nameValue(name)+", which is not the name of a variable", "")
		}
	}
	var more []Problem
	a.Privileges, more = readGrants(a.Priv, !a.SubtractPrivs)
	if !a.ColumnCase {
		for _, g := range a.Privileges {
			for i := range g.Privileges {
				g.Privileges[i] = strings.ToUpper(g.Privileges[i])
			}
		}
	}
	problems = append(problems, more...)
	a.Requires, more = readRequires(a.TLSRequires)
	problems = append(problems, more...)
	a.Limits, more = readLimits(a.ResourceLimits)
	return append(problems, more...)
}

var plainWord = pattern.New(`^[0-9A-Za-z_.]+$`)

// readGrants reads privileges as they are written. USAGE is what every user has.
func readGrants(priv any, usage bool) (grants []Grant, problems []Problem) {
	wrong := func(message, hint string) {
		problems = append(problems, Problem{"priv", "`priv` " + message, hint})
	}
	var items [][2]string
	switch v := priv.(type) {
	case nil:
		return nil, nil
	case string:
		for item := range strings.SplitSeq(strings.TrimSpace(v), "/") {
			at := strings.LastIndexByte(item, ':')
			if at < 0 {
				wrong("has "+nameValue(item)+", which is not like db.table:SELECT,INSERT", "")
				continue
			}
			items = append(items, [2]string{strings.TrimSpace(item[:at]), item[at+1:]})
		}
	case map[string]any:
		for _, on := range sortedNames(v) {
			text, ok := asText(v[on])
			if !ok {
				wrong("must have text like SELECT,INSERT for "+on, "")
				continue
			}
			// As in the text form, where a slash begins the next object.
			for i, part := range strings.Split(text, "/") {
				if i == 0 {
					items = append(items, [2]string{on, part})
				} else if at := strings.LastIndexByte(part, ':'); at >= 0 {
					items = append(items, [2]string{strings.TrimSpace(part[:at]), part[at+1:]})
				} else {
					wrong("has "+nameValue(part)+", which is not like db.table:SELECT,INSERT", "")
				}
			}
		}
	default:
		wrong("must be text or a map", "")
	}
	for _, item := range items {
		g := Grant{On: quoteGrantee(item[0]), Privileges: SplitPrivileges(item[1])}
		for _, p := range g.Privileges {
			if !privilegeWords.MatchString(p) {
				wrong("has "+nameValue(p)+", which is not a privilege", "")
			}
		}
		// What is said last of an object counts.
		grants = slices.DeleteFunc(grants, func(other Grant) bool { return other.On == g.On })
		grants = append(grants, g)
	}
	if usage && len(problems) == 0 && !slices.ContainsFunc(grants, func(g Grant) bool { return g.On == "*.*" }) {
		grants = append(grants, Grant{On: "*.*", Privileges: []string{"USAGE"}})
	}
	return grants, problems
}

// privilegeWords matches a privilege, with columns or not.
var privilegeWords = pattern.New("^[A-Z_]+( [A-Z_]+)*( ?\\([^()'\";]*\\))?$")

// quoteGrantee quotes the names of an object, but for the stars.
func quoteGrantee(on string) string {
	kind := ""
	for _, word := range []string{"FUNCTION ", "PROCEDURE "} {
		if rest, ok := strings.CutPrefix(on, word); ok {
			kind, on = word, rest
		}
	}
	db, name, dotted := on, "", false
	if at := strings.LastIndexByte(on, '.'); at >= 0 {
		db, name, dotted = on[:at], on[at+1:], true
	}
	quote := func(name string) string {
		name = strings.Trim(name, "`")
		if name == "*" {
			return name
		}
		return "`" + strings.ReplaceAll(name, "`", "``") + "`"
	}
	if !dotted {
		return kind + quote(db)
	}
	return kind + quote(db) + "." + quote(name)
}

// SplitPrivileges parts a list at its commas, but for those between columns, which are sorted.
func SplitPrivileges(text string) (list []string) {
	depth, start := 0, 0
	add := func(part string) {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, SortColumns(part))
		}
	}
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			add(text[start:i])
			start = i + 1
		}
	}
	add(text[start:])
	return list
}

// SortColumns puts the columns of a privilege in order: SELECT (B, A) becomes SELECT (A, B).
func SortColumns(privilege string) string {
	name, columns, ok := strings.Cut(privilege, "(")
	name = strings.ToUpper(name) // and not the columns, whose names may be in any case
	if !ok {
		return name
	}
	list := strings.Split(strings.TrimSuffix(columns, ")"), ",")
	for i := range list {
		list[i] = strings.Trim(strings.TrimSpace(list[i]), "`")
	}
	slices.Sort(list)
	return strings.TrimSpace(name) + " (" + strings.Join(list, ", ") + ")"
}

func readRequires(tls map[string]any) (list []Requirement, problems []Problem) {
	if len(tls) == 0 {
		return nil, nil
	}
	plain := "SSL"
	for _, name := range sortedNames(tls) {
		switch word := strings.ToUpper(name); word {
		case "CIPHER", "ISSUER", "SUBJECT":
			text, ok := asText(tls[name])
			if !ok {
				problems = append(problems, Problem{"tls_requires", "`tls_requires` needs text for " + name, ""})
			}
			list = append(list, Requirement{word, text})
		case "X509":
			plain = word
		case "SSL":
		default:
			problems = append(problems, Problem{"tls_requires", "`tls_requires` has no " + name, "it has ssl, x509, subject, issuer and cipher"})
		}
	}
	if len(list) == 0 {
		list = []Requirement{{plain, ""}}
	}
	return list, problems
}

func readLimits(limits map[string]any) (list []Limit, problems []Problem) {
	for _, name := range sortedNames(limits) {
		n, ok := asInt(limits[name])
		switch {
		case !slices.Contains(mysqlLimits, name):
			problems = append(problems, Problem{"resource_limits", "`resource_limits` has no " + name, "it has " + strings.Join(mysqlLimits, ", ")})
		case !ok || n < 0:
			problems = append(problems, Problem{"resource_limits", "`resource_limits` needs a whole number for " + name, ""})
		default:
			list = append(list, Limit{name, n})
		}
	}
	return list, problems
}

// String is the limit as SQL has it.
func (l Limit) String() string { return l.Name + " " + strconv.Itoa(l.Value) }
