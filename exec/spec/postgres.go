package spec

import (
	"strings"

	"moon/internal/pattern"
)

// PostgresLogin says how a step reaches a server of PostgreSQL.
type PostgresLogin struct {
	LoginUser       string         `arg:"login_user,login" default:"postgres" doc:"The role to log in as."`
	LoginPassword   string         `arg:"login_password" doc:"Its password. It is handed over unseen."`
	LoginHost       string         `arg:"login_host,host" implied:"its socket" doc:"The host of the server."`
	LoginUnixSocket string         `arg:"login_unix_socket,unix_socket" implied:"where psql looks" doc:"The directory of the server's socket."`
	Port            int            `arg:"port,login_port" default:"5432" doc:"Its port, also in the name of its socket."`
	SSLMode         string         `arg:"ssl_mode" default:"prefer" enum:"allow|disable|prefer|require|verify-ca|verify-full" doc:"Whether the connection is encrypted, and the server's certificate checked."`
	CACert          string         `arg:"ca_cert,ssl_rootcert" kind:"path" doc:"The certificate of the authority that signed the server's."`
	SSLCert         string         `arg:"ssl_cert" kind:"path" doc:"The client's certificate."`
	SSLKey          string         `arg:"ssl_key" kind:"path" doc:"Its key."`
	ConnectParams   map[string]any `arg:"connect_params" doc:"More parameters of libpq, such as connect_timeout."`
	SessionRole     string         `arg:"session_role" doc:"The role to become after the login."`
	TrustInput      bool           `arg:"trust_input" default:"true" doc:"Ignored: moon quotes all names and values."`
}

func postgresNames(name string) []string {
	return []string{"community.postgresql." + name, "community.general." + name}
}

var connectParam = pattern.New(`^[a-z_]+$`)

func (l *PostgresLogin) problems() (problems []Problem) {
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	if l.Port < 1 || l.Port > 65535 {
		add("port", "`port` must be between 1 and 65535", "")
	}
	for _, name := range sortedNames(l.ConnectParams) {
		_, isText := asText(l.ConnectParams[name])
		if !connectParam.MatchString(name) || !isText {
			add("connect_params", "`connect_params` has "+nameValue(name)+", which is not a parameter with a text", "")
		}
		if name == "password" {
			add("connect_params", "`connect_params` may not hold the password", "give it as `login_password`")
		}
	}
	for _, value := range []string{l.LoginUser, l.LoginHost, l.LoginUnixSocket, l.SessionRole} {
		if strings.ContainsAny(value, "\x00\r\n") {
			add("", "how to log in must be on one line", "")
		}
	}
	return problems
}

// emptyNames reports names that are given, and empty or with a zero byte, which PostgreSQL has no way to write.
func emptyNames(fields map[string]string) (problems []Problem) {
	for _, name := range []string{"name", "db", "schema", "ext", "database"} {
		if value, ok := fields[name]; ok && (strings.TrimSpace(value) == "" || strings.Contains(value, "\x00")) {
			problems = append(problems, Problem{name, "`" + name + "` is empty", ""})
		}
	}
	return problems
}
