package action

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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

// mysqlServer is a server of MySQL or MariaDB as a step reaches it: by the command line client of the host.
type mysqlServer struct {
	*exec.Attempt
	login    *spec.MysqlLogin
	client   string
	options  string   // for the client: how to log in
	session  []string // what each conversation begins with
	database string
	maria    bool
}

// mysqlPackages are the packages with the client.
const mysqlPackages = "mariadb-client or default-mysql-client (Debian), mariadb (Fedora, RHEL), mariadb-client (Alpine)"

// openMysql finds the client. It logs in only to find out whether it may as root.
func openMysql(ctx context.Context, a *exec.Attempt, login *spec.MysqlLogin, implicitAdmin, fileWins bool) (*mysqlServer, error) {
	s := &mysqlServer{Attempt: a, login: login, client: "mariadb"}
	if !a.Installed(s.client) {
		s.client = "mysql"
	}
	if err := lacksTool(a, s.client, mysqlPackages); err != nil {
		return nil, err
	}
	var err error
	if implicitAdmin {
		none := ""
		admin := *login
		admin.LoginUser, admin.LoginPassword = "root", &none
		if s.options, err = mysqlOptions(&admin, fileWins); err != nil {
			return nil, err
		}
		if _, err = s.askOne(ctx, "SELECT 1"); err == nil {
			return s, nil
		}
	}
	s.options, err = mysqlOptions(login, fileWins)
	return s, err
}

// setVersion learns from the version whose server it is.
func (s *mysqlServer) setVersion(version string) {
	s.maria = strings.Contains(strings.ToLower(version), "mariadb")
}

// mysqlOptions is the option file with how to log in. It goes through a pipe: neither the list of processes nor a disk has the password.
func mysqlOptions(l *spec.MysqlLogin, fileWins bool) (string, error) {
	include := ""
	if l.ConfigFile != nil {
		include = *l.ConfigFile
	} else if home, err := os.UserHomeDir(); err == nil {
		include = filepath.Join(home, ".my.cnf")
	}
	if include != "" {
		switch _, err := os.Stat(include); {
		case errors.Is(err, fs.ErrNotExist):
			include = ""
		case err != nil:
			return "", err
		}
	}
	var list []database.Option
	add := func(name, value string) {
		if value != "" {
			list = append(list, database.Option{Name: name, Value: value})
		}
	}
	add("user", l.LoginUser)
	if l.LoginPassword != nil {
		list = append(list, database.Option{Name: "password", Value: *l.LoginPassword})
	}
	switch {
	case l.LoginUnixSocket != "":
		add("socket", l.LoginUnixSocket)
		add("protocol", "socket")
	case !fileWins || include == "":
		add("host", l.LoginHost)
		add("port", strconv.Itoa(l.LoginPort))
	}
	add("ssl-cert", l.ClientCert)
	add("ssl-key", l.ClientKey)
	add("ssl-ca", l.CACert)
	if l.CheckHostname != nil {
		// The two clients have different words for it, and skip a loose one that they do not know.
		mode := "REQUIRED"
		if *l.CheckHostname {
			mode = "VERIFY_IDENTITY"
		}
		add("loose-ssl-mode", mode)
		add("loose-ssl-verify-server-cert", strconv.Itoa(map[bool]int{true: 1}[*l.CheckHostname]))
	}
	return database.Options(include, list...), nil
}

// tool is the client with statements to run.
func (s *mysqlServer) tool(statements []string) exec.Tool {
	argv := []string{
		s.client, "--defaults-file=/dev/fd/3", "--xml", "--binary-mode", "--default-character-set=utf8mb4",
		"--connect-timeout=" + strconv.Itoa(s.login.ConnectTimeout),
	}
	if s.database != "" {
		argv = append(argv, "--database="+s.database)
	}
	text := strings.Join(append(append([]string{}, s.session...), statements...), ";\n") + ";\n"
	return exec.Tool{Argv: argv, Stdin: &text, Private: &s.options}
}

// ask sends statements that change nothing, and returns the rows of each that has any columns.
func (s *mysqlServer) ask(ctx context.Context, statements ...string) ([][]database.Row, error) {
	said, err := s.AskTool(ctx, s.tool(statements))
	if err == nil && said.Code != 0 {
		err = mysqlError(said)
	}
	if err != nil {
		return nil, err
	}
	return database.ParseXML(said.Stdout)
}

// askOne is ask for one statement.
func (s *mysqlServer) askOne(ctx context.Context, statement string) ([]database.Row, error) {
	results, err := s.ask(ctx, statement)
	if err == nil && len(results) != 1 {
		err = errors.New(s.client + " has answered something else than rows")
	}
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// run sends statements that change something. They are not shown, since there may be passwords in them.
func (s *mysqlServer) run(ctx context.Context, statements ...string) ([][]database.Row, error) {
	if len(statements) == 0 {
		return nil, nil
	}
	t := s.tool(statements)
	var out strings.Builder
	t.Output, t.Quiet = &out, true // the client shows a statement that fails
	said, err := s.RunToolReading(ctx, t)
	if _, failed := errors.AsType[fault.CommandError](err); failed {
		err = mysqlError(said)
	}
	if err != nil {
		return nil, err
	}
	return database.ParseXML(out.String())
}

// unreachable are the numbers of errors of who cannot log in: an earlier step may start the server, or create the user.
var unreachable = []string{"1044", "1045", "1698", "2002", "2003", "2005", "2013"}

// mysqlError is what the client has said of an error.
func mysqlError(said exec.Answer) error {
	text := said.LastWords()
	for line := range strings.Lines(said.Stderr) {
		if strings.HasPrefix(line, "ERROR ") {
			text = strings.TrimSpace(line)
			break
		}
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(text, "ERROR "), " ")
	if slices.Contains(unreachable, number) {
		return fault.Missing("", "cannot log in to the server: %s; check login_user, login_password, login_host and login_unix_socket", text)
	}
	return fault.CommandError{Message: text, RC: &said.Code, Class: fault.Fatal}
}

// quote is a name of the server's.
func (*mysqlServer) quote(name string) string { return database.Backtick.Name(name) }

// text is a text in SQL.
func (*mysqlServer) text(text string) string { return database.MySQL.Text(text) }

// undo is the step that takes away what was created on the server; nil if that would need a password, which no record may hold.
func (s *mysqlServer) undo(action string, args map[string]any) *events.Undo {
	l := s.login
	if l.LoginPassword != nil {
		return nil
	}
	for name, value := range map[string]string{
		"login_user": l.LoginUser, "login_unix_socket": l.LoginUnixSocket,
		"client_cert": l.ClientCert, "client_key": l.ClientKey, "ca_cert": l.CACert,
	} {
		if value != "" {
			args[name] = value
		}
	}
	if l.ConfigFile != nil {
		args["config_file"] = *l.ConfigFile
	}
	if l.CheckHostname != nil {
		args["check_hostname"] = *l.CheckHostname
	}
	if l.LoginHost != "localhost" || l.LoginPort != 3306 {
		args["login_host"], args["login_port"] = l.LoginHost, l.LoginPort
	}
	args["state"] = fsys.Absent
	return s.UndoWithTools(action, args)
}

// addCreated notes what is created on the server, under a name that no other server has.
func (s *mysqlServer) addCreated(c *exec.Change, typ, name string, undo *events.Undo) {
	c.AddCreated(typ, s.fullName(name), undo)
	if undo == nil {
		c.Warnings = append(c.Warnings, "moon will not remove "+typ+" "+name+" by itself: it logs in with a password, which is not recorded; "+
			"one in config_file could be used")
	}
}

// fullName is a name with its server, unless that is the usual one.
func (s *mysqlServer) fullName(name string) string {
	l := s.login
	switch {
	case l.LoginUnixSocket != "":
		return name + " at " + l.LoginUnixSocket
	case l.LoginHost != "localhost" || l.LoginPort != 3306:
		return name + " at " + l.LoginHost + ":" + strconv.Itoa(l.LoginPort)
	}
	return name
}

// suppliesMysql is what of a playbook would steer the client: an option file can name a library to load.
func suppliesMysql(l *spec.MysqlLogin) string {
	if l.ConfigFile == nil {
		return ""
	}
	return exec.QuoteGiven("config_file", *l.ConfigFile)
}

// literalOf is a value of the playbook in the SQL of MySQL.
func literalOf(value any) (string, error) { return database.MySQL.Literal(value) }
