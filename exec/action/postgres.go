package action

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/database"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

// postgresServer is a server of PostgreSQL as a step reaches it: by psql of the host.
type postgresServer struct {
	*exec.Attempt
	login    *spec.PostgresLogin
	database string
}

// postgresPackages are the packages with psql.
const postgresPackages = "postgresql-client (Debian), postgresql (Fedora, RHEL, Alpine)"

func openPostgres(a *exec.Attempt, login *spec.PostgresLogin, database string) (*postgresServer, error) {
	if err := lacksTool(a, "psql", postgresPackages); err != nil {
		return nil, err
	}
	return &postgresServer{a, login, database}, nil
}

// conninfo is how to log in, as libpq reads it. The password is not part of it: every user can read the arguments of a program.
func (s *postgresServer) conninfo(database string) string {
	l := s.login
	params := map[string]string{
		"dbname": database, "user": l.LoginUser, "port": strconv.Itoa(l.Port), "sslmode": l.SSLMode,
		"host": l.LoginHost, "sslrootcert": l.CACert, "sslcert": l.SSLCert, "sslkey": l.SSLKey,
	}
	if l.LoginUnixSocket != "" && (l.LoginHost == "" || l.LoginHost == "localhost") {
		params["host"] = l.LoginUnixSocket
	}
	for name, value := range l.ConnectParams {
		params[name] = paramText(value)
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if params[name] != "" {
			words = append(words, name+"='"+strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(params[name])+"'")
		}
	}
	return strings.Join(words, " ")
}

// environment has the password, which only the user of the step and root can read there.
func (s *postgresServer) environment() map[string]string {
	env := map[string]string{"PGCLIENTENCODING": "UTF8"}
	if s.login.LoginPassword != "" {
		env["PGPASSWORD"] = s.login.LoginPassword
	}
	return env
}

// sectionEnd is what psql is asked to say after each statement.
const sectionEnd = "\x1d\n"

func (s *postgresServer) tool(statements []string, options ...string) exec.Tool {
	argv := append([]string{
		"psql", "-X", "-A", "-F", database.FieldEnd, "-R", database.RowEnd, "-P", "null=" + database.Null, "-P", "footer=off",
		"-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", "-w",
	}, append(options, "-d", s.conninfo(s.database))...)
	var text strings.Builder
	if s.login.SessionRole != "" {
		statements = append([]string{"SET ROLE " + s.quote(s.login.SessionRole)}, statements...)
	}
	for _, statement := range statements {
		text.WriteString(statement)
		if !strings.HasSuffix(statement, "gdesc") {
			text.WriteString("\n;")
		}
		text.WriteString("\n\\echo '" + `\035` + "'\n")
	}
	script := text.String()
	return exec.Tool{Argv: argv, Stdin: &script, Env: s.environment()}
}

// sections parts what psql has printed by the statements.
func (s *postgresServer) sections(output string) []string {
	list := strings.Split(output, sectionEnd)
	list = list[:len(list)-1]
	if s.login.SessionRole != "" && len(list) > 0 {
		list = list[1:]
	}
	return list
}

// ask sends statements that change nothing, and returns the rows of each.
func (s *postgresServer) ask(ctx context.Context, statements ...string) ([][]database.Row, error) {
	said, err := s.AskTool(ctx, s.tool(statements, "-q"))
	if err == nil && said.Code != 0 {
		err = postgresError(said)
	}
	if err != nil {
		return nil, err
	}
	sections := s.sections(said.Stdout)
	if len(sections) != len(statements) {
		return nil, errors.New("psql has answered something else than rows")
	}
	results := make([][]database.Row, len(sections))
	for i, text := range sections {
		if results[i], err = database.ParseRows(text); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// askOne is ask for one statement.
func (s *postgresServer) askOne(ctx context.Context, statement string) ([]database.Row, error) {
	results, err := s.ask(ctx, statement)
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// run sends statements that change something, all of them or none. They are not shown, since there may be passwords in them.
func (s *postgresServer) run(ctx context.Context, statements ...string) error {
	return s.runEach(ctx, statements, "-q", "-1")
}

// runEach sends statements that change something one by one: some cannot be part of a transaction.
func (s *postgresServer) runEach(ctx context.Context, statements []string, options ...string) error {
	t := s.tool(statements, options...)
	t.Quiet = true
	said, err := s.RunToolReading(ctx, t)
	if _, failed := errors.AsType[fault.CommandError](err); failed {
		return postgresError(said)
	}
	return err
}

// postgresError is what psql has said of an error. Only the line with the error is kept: the others quote the statement.
func postgresError(said exec.Answer) error {
	text, code := said.LastWords(), ""
	for line := range strings.Lines(said.Stderr) {
		if _, after, ok := strings.Cut(line, "ERROR:  "); ok {
			code, text, _ = strings.Cut(strings.TrimSpace(after), ": ")
			break
		}
		// The first line of those about a connection says why there is none.
		if strings.Contains(line, "psql: error: ") || strings.Contains(line, "FATAL:  ") {
			return fault.Missing("", "cannot log in to the server: %s; check login_user, login_password, login_host and login_unix_socket",
				strings.TrimSpace(strings.TrimPrefix(line, "psql: error: ")))
		}
	}
	err := fault.CommandError{Message: "psql: " + strings.TrimSpace(text), RC: &said.Code, Class: fault.Fatal}
	switch code {
	case "42704", "3D000", "42P01", "3F000", "42883": // a role, database, table, schema or function that does not exist: an earlier step may create it
		return fault.NotYet{Message: err.Message, RC: said.Code}
	case "55006", "40P01", "55P03", "53300": // in use, deadlock, locked, too many connections
		err.Class = fault.Transient
	}
	return err
}

func (*postgresServer) quote(name string) string { return database.Double.Name(name) }

func (*postgresServer) text(text string) string { return database.Postgres.Text(text) }

// undo is the step that takes away what was created on the server; nil if that would need a password, which no record may hold.
func (s *postgresServer) undo(action string, args map[string]any) *events.Undo {
	l := s.login
	if l.LoginPassword != "" {
		return nil
	}
	for name, value := range map[string]string{
		"login_host": l.LoginHost, "login_unix_socket": l.LoginUnixSocket, "ca_cert": l.CACert,
		"ssl_cert": l.SSLCert, "ssl_key": l.SSLKey, "session_role": l.SessionRole,
	} {
		if value != "" {
			args[name] = value
		}
	}
	if l.LoginUser != "postgres" {
		args["login_user"] = l.LoginUser
	}
	if l.Port != 5432 {
		args["port"] = l.Port
	}
	if l.SSLMode != "prefer" {
		args["ssl_mode"] = l.SSLMode
	}
	if len(l.ConnectParams) > 0 {
		args["connect_params"] = l.ConnectParams
	}
	args["state"] = fsys.Absent
	return s.UndoWithTools(action, args)
}

// addCreated notes what is created on the server, under a name that no other server has.
func (s *postgresServer) addCreated(c *exec.Change, typ, name string, undo *events.Undo) {
	c.AddCreated(typ, s.fullName(name), undo)
	if undo == nil {
		c.Warnings = append(c.Warnings, "moon will not remove "+typ+" "+name+" by itself: it logs in with a password, which is not recorded")
	}
}

// fullName is a name with its server, unless that is the usual one.
func (s *postgresServer) fullName(name string) string {
	l := s.login
	at := l.LoginHost
	if at == "" {
		at = l.LoginUnixSocket
	}
	if l.Port != 5432 {
		at += ":" + strconv.Itoa(l.Port)
	}
	if at == "" {
		return name
	}
	return name + " at " + at
}

// paramText is a value of the playbook as text.
func paramText(value any) string {
	text, err := database.MySQL.Literal(value)
	if v, ok := value.(string); ok || err != nil {
		return v
	}
	return text
}

// planQueries makes a change of statements, if there are any. What Ansible's module says of them is in the field.
func (s *postgresServer) planQueries(
	c *exec.Change, kind events.ChangeKind, typ, name, field string, statements []string, alone bool, words ...string,
) {
	if !s.Predicts() {
		c.Fields[field] = []any{}
	}
	if len(statements) == 0 {
		return
	}
	if kind != events.ChangeCreate {
		c.AddResource(kind, typ, s.fullName(name))
	}
	c.Plan(kind, func(ctx context.Context) error {
		c.Fields[field] = anyList(statements)
		if alone {
			return s.runEach(ctx, statements, "-q")
		}
		return s.run(ctx, statements...)
	}, words...)
}
