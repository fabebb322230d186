package action

import (
	"context"
	"crypto/sha1" // as the server hashes passwords
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/database"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("mysql_user", exec.Action{Plan: planMysqlUser, Supplies: func(args any) string {
	return suppliesMysql(&args.(*spec.MysqlUserArgs).MysqlLogin)
}})

// mysqlUserStep is one mysql_user step being planned. It collects the statements that are missing.
type mysqlUserStep struct {
	*mysqlServer
	args       *spec.MysqlUserArgs
	c          *exec.Change
	statements []string
	words      []string
	said       string // what Ansible's module says of it
	password   bool   // it is set
}

func planMysqlUser(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.MysqlUserArgs)
	server, err := openMysql(ctx, a, &args.MysqlLogin, args.CheckImplicitAdmin, false)
	if err != nil {
		return nil, err
	}
	if !args.SQLLogBin {
		server.session = append(server.session, "SET SQL_LOG_BIN = 0")
	}
	for _, name := range slices.Sorted(maps.Keys(args.SessionVars)) {
		value, err := literalOf(args.SessionVars[name])
		if err != nil {
			return nil, err
		}
		server.session = append(server.session, "SET SESSION "+server.quote(name)+" = "+value)
	}
	if args.ForceContext {
		server.database = "mysql"
	}
	s := &mysqlUserStep{mysqlServer: server, args: args, c: &exec.Change{Fields: map[string]any{"user": args.Name}}}
	s.c.PlanNothing()
	if err := s.plan(ctx); err != nil {
		return nil, err
	}
	s.c.Fields["password_changed"] = s.password
	said := s.said
	s.c.InPlays = append(s.c.InPlays, func(fields map[string]any) { fields["msg"] = said })
	return s.c, nil
}

func (s *mysqlUserStep) plan(ctx context.Context) error {
	query := "SELECT Host FROM mysql.user WHERE User = " + s.text(s.args.Name)
	if !s.args.HostAll {
		query += " AND Host = " + s.text(s.args.Host)
	}
	results, err := s.ask(ctx, "SELECT VERSION()", query)
	if err != nil || len(results) != 2 || len(results[0]) != 1 {
		return orError(err, "the server does not say what it is")
	}
	s.setVersion(results[0][0].Text(0))
	var hosts []string
	for _, row := range results[1] {
		hosts = append(hosts, row.Text(0))
	}
	switch {
	case s.args.State == fsys.Absent:
		s.planRemoval(hosts)
		return nil
	case len(hosts) == 0:
		return s.planCreation(ctx)
	}
	s.said = "User unchanged"
	for _, host := range hosts {
		if err := s.compare(ctx, host); err != nil {
			return err
		}
	}
	if len(s.statements) > 0 {
		s.planStatements(events.ChangeUpdate, s.args.Name+"@"+s.hostWords())
	}
	return nil
}

// hostWords is the host in the name of the user.
func (s *mysqlUserStep) hostWords() string {
	if s.args.HostAll {
		return "*"
	}
	return s.args.Host
}

func (s *mysqlUserStep) planStatements(kind events.ChangeKind, name string) {
	if kind != events.ChangeCreate {
		s.c.AddResource(kind, "mysql_user", s.fullName(name))
	}
	s.c.Plan(kind, func(ctx context.Context) error {
		_, err := s.run(ctx, s.statements...)
		return err
	}, s.words...)
}

func (s *mysqlUserStep) account(host string) string { return s.text(s.args.Name) + "@" + s.text(host) }

func (s *mysqlUserStep) planRemoval(hosts []string) {
	s.said = "User doesn't exist"
	if len(hosts) == 0 {
		return
	}
	s.said = "User deleted"
	for _, host := range hosts {
		s.statements = append(s.statements, "DROP USER "+s.account(host))
		s.c.AddResource(events.ChangeDelete, "mysql_user", s.fullName(s.args.Name+"@"+host))
		s.words = append(s.words, "user "+s.args.Name+"@"+host)
	}
	s.c.Plan(events.ChangeDelete, func(ctx context.Context) error {
		_, err := s.run(ctx, s.statements...)
		return err
	}, s.words...)
}

// hashOf is the hash of a password of mysql_native_password. It is made here, so that the server's log does not have the password.
func hashOf(password string) string {
	once := sha1.Sum([]byte(password))
	twice := sha1.Sum(once[:])
	return "*" + strings.ToUpper(hex.EncodeToString(twice[:]))
}

// wantedHash is the hash of the password that the user should have; "" if the step names none.
func (s *mysqlUserStep) wantedHash() string {
	switch p := s.args.Password; {
	case p == nil || *p == "":
		return ""
	case s.args.Encrypted:
		return *p
	default:
		return hashOf(*p)
	}
}

// identified is how the user logs in, as SQL; "" if the step does not say.
func (s *mysqlUserStep) identified(hash string) string {
	args := s.args
	switch {
	case hash != "":
		return " IDENTIFIED WITH mysql_native_password AS " + s.text(hash)
	case args.Plugin != "" && args.PluginHashString != "":
		return " IDENTIFIED WITH " + args.Plugin + " AS " + s.text(args.PluginHashString)
	// The plugin of MariaDB takes the name of a service here.
	case args.Plugin == "pam" && args.PluginAuthString != "":
		return " IDENTIFIED WITH pam USING " + s.text(args.PluginAuthString)
	case args.Plugin != "" && args.PluginAuthString != "" && s.maria:
		return " IDENTIFIED VIA " + args.Plugin + " USING PASSWORD(" + s.text(args.PluginAuthString) + ")"
	case args.Plugin != "" && args.PluginAuthString != "":
		return " IDENTIFIED WITH " + args.Plugin + " BY " + s.text(args.PluginAuthString)
	case args.Plugin != "":
		return " IDENTIFIED WITH " + args.Plugin
	}
	return ""
}

// requireClauseOf is what connections must have, as SQL.
func requireClauseOf(list []spec.Requirement) string {
	if len(list) == 0 {
		return ""
	}
	var words []string
	for _, r := range list {
		if r.Word == "SSL" || r.Word == "X509" {
			words = append(words, r.Word)
			continue
		}
		words = append(words, r.Word+" "+database.MySQL.Text(r.Value))
	}
	return " REQUIRE " + strings.Join(words, " AND ")
}

func (s *mysqlUserStep) planCreation(ctx context.Context) error {
	args := s.args
	if args.HostAll {
		return fault.Missing("", "user %s does not exist, and `host_all` cannot create it; give its `host`", args.Name)
	}
	how := s.identified(s.wantedHash())
	if args.UpdatePassword == "on_new_username" {
		same, err := s.sameName(ctx)
		if err != nil {
			return err
		}
		if same != "" {
			how = same
			s.words = append(s.words, "with the password that it has for other hosts")
		} else {
			s.password = true
		}
	} else {
		s.password = true // Ansible's module says so of every new user
	}
	account := s.account(args.Host)
	s.statements = append(s.statements, "CREATE USER "+account+how+requireClauseOf(s.args.Requires))
	s.words = append([]string{"new user " + args.Name + "@" + args.Host}, s.words...)
	if !args.SubtractPrivs {
		for _, g := range args.Privileges {
			s.statements = append(s.statements, s.grant(g.On, g.Privileges, args.Host))
			s.words = append(s.words, strings.Join(g.Privileges, " and ")+" on "+g.On)
		}
	}
	if limits := s.limits(args.Limits, args.Host); limits != "" {
		s.statements = append(s.statements, limits)
	}
	s.said = "User added"
	s.addCreated(s.c, "mysql_user", args.Name+"@"+args.Host, s.undo("mysql_user", map[string]any{"name": args.Name, "host": args.Host}))
	s.planStatements(events.ChangeCreate, args.Name+"@"+args.Host)
	return nil
}

// sameName is how users of this name for other hosts log in, if all do in the same way.
func (s *mysqlUserStep) sameName(ctx context.Context) (string, error) {
	rows, err := s.askOne(ctx, "SELECT DISTINCT plugin, authentication_string FROM mysql.user WHERE User = "+s.text(s.args.Name))
	if err != nil || len(rows) != 1 {
		return "", err
	}
	return " IDENTIFIED WITH " + rows[0].Text(0) + " AS " + s.text(rows[0].Text(1)), nil
}

func (s *mysqlUserStep) limits(list []spec.Limit, host string) string {
	var words []string
	for _, l := range list {
		words = append(words, l.String())
	}
	if len(words) == 0 {
		return ""
	}
	return "ALTER USER " + s.account(host) + " WITH " + strings.Join(words, " ")
}

// grant is the statement that grants privileges, of which GRANT is written in another place.
func (s *mysqlUserStep) grant(on string, privileges []string, host string) string {
	list := slices.DeleteFunc(slices.Clone(privileges), func(p string) bool { return p == "GRANT" })
	if len(list) == 0 {
		list = []string{"USAGE"} // it is always there
	}
	text := "GRANT " + strings.Join(list, ", ") + " ON " + on + " TO " + s.account(host)
	if len(list) < len(privileges) || slices.Contains(privileges, "GRANT") {
		text += " WITH GRANT OPTION"
	}
	return text
}

func (s *mysqlUserStep) revoke(on string, privileges []string, host string) {
	list := slices.DeleteFunc(slices.Clone(privileges), func(p string) bool { return p == "GRANT" })
	if len(list) < len(privileges) {
		s.statements = append(s.statements, "REVOKE GRANT OPTION ON "+on+" FROM "+s.account(host))
	}
	if len(list) > 0 {
		s.statements = append(s.statements, "REVOKE "+strings.Join(list, ", ")+" ON "+on+" FROM "+s.account(host))
	}
}

// compare adds what the user lacks for a host.
func (s *mysqlUserStep) compare(ctx context.Context, host string) error {
	account := s.account(host)
	// One question for all of it: what is compared must be of one moment.
	columns := "plugin, authentication_string"
	if s.maria {
		columns += ", max_statement_time"
	}
	results, err := s.ask(ctx,
		"SELECT "+columns+", max_questions, max_updates, max_connections, max_user_connections FROM mysql.user WHERE User = "+
			s.text(s.args.Name)+" AND Host = "+s.text(host),
		"SHOW GRANTS FOR "+account, "SHOW CREATE USER "+account)
	if err != nil {
		return err
	}
	if len(results) != 3 || len(results[0]) != 1 || len(results[2]) == 0 {
		return fmt.Errorf("the server does not describe user %s@%s", s.args.Name, host)
	}
	is := results[0][0]
	hash := s.wantedHash()
	if s.args.UpdatePassword == "always" {
		args, has := s.args, is.Get("authentication_string")
		switch {
		case hash != "" && !strings.EqualFold(hash, has):
			s.said = "Password updated"
			if !s.Predicts() {
				s.said = "Password updated (new style)"
			}
		case hash == "" && args.Plugin != "" && (args.Plugin != is.Get("plugin") ||
			args.PluginHashString != "" && args.PluginHashString != has ||
			args.PluginAuthString != "" && args.PluginAuthString != has && hashOf(args.PluginAuthString) != has):
		default:
			hash = "-"
		}
		if hash != "-" && s.identified(hash) != "" {
			s.statements = append(s.statements, "ALTER USER "+account+s.identified(hash))
			s.words, s.password = append(s.words, "another password"), true
		}
	}
	if s.args.Priv != nil {
		var grants []string
		for _, row := range results[1] {
			grants = append(grants, row.Text(0))
		}
		has, err := readMysqlGrants(grants)
		if err != nil {
			return err
		}
		s.comparePrivileges(has, host)
	}
	if want := requireClauseOf(s.args.Requires); want != requiresOf(results[2][0].Text(0)) {
		s.said = "TLS requires updated"
		if want == "" {
			want = " REQUIRE NONE"
		}
		s.statements = append(s.statements, "ALTER USER "+account+want)
		s.words = append(s.words, "requires"+strings.TrimPrefix(want, " REQUIRE"))
	}
	var limits []spec.Limit
	for _, l := range s.args.Limits {
		column := strings.ToLower(l.Name)
		if of, ok := limitColumns[column]; ok {
			column = of
		}
		text := is.Get(column)
		if text == "" {
			return fmt.Errorf("this server does not have the limit %s", l.Name)
		}
		if strings.TrimSuffix(text, ".000000") != fmt.Sprint(l.Value) {
			limits = append(limits, l)
			s.words = append(s.words, l.String())
		}
	}
	if text := s.limits(limits, host); text != "" {
		s.statements = append(s.statements, text)
	}
	return nil
}

// limitColumns are the columns that limits are in, where their names differ.
var limitColumns = map[string]string{
	"max_queries_per_hour": "max_questions", "max_updates_per_hour": "max_updates", "max_connections_per_hour": "max_connections",
}

// comparePrivileges adds what is to be granted and revoked.
func (s *mysqlUserStep) comparePrivileges(has map[string][]string, host string) {
	want := map[string][]string{}
	for _, g := range s.args.Privileges {
		want[g.On] = g.Privileges
	}
	replaces := !s.args.AppendPrivs && !s.args.SubtractPrivs
	for _, on := range slices.Sorted(maps.Keys(has)) {
		// A user who takes the privileges of root could not give them back.
		if replaces && want[on] == nil && s.args.Name != "root" && !slices.Contains(has[on], "PROXY") {
			s.said = "Privileges updated"
			s.revoke(on, has[on], host)
			s.words = append(s.words, "no "+strings.Join(has[on], " and ")+" on "+on)
		}
	}
	for _, on := range slices.Sorted(maps.Keys(want)) {
		if has[on] != nil {
			s.compareObject(on, has[on], want[on], host)
			continue
		}
		if s.args.SubtractPrivs {
			continue
		}
		s.said = "New privileges granted"
		s.statements = append(s.statements, s.grant(on, want[on], host))
		s.words = append(s.words, strings.Join(want[on], " and ")+" on "+on)
	}
}

// usage is what every user has.
func isUsage(privilege string) bool { return privilege == "USAGE" }

func (s *mysqlUserStep) compareObject(on string, has, want []string, host string) {
	lacks := slices.DeleteFunc(without(want, has), isUsage)
	more := slices.DeleteFunc(without(has, want), isUsage)
	switch {
	case s.args.SubtractPrivs:
		lacks, more = nil, slices.DeleteFunc(without(has, without(has, want)), isUsage)
	case s.args.AppendPrivs:
		more = nil
		if slices.Contains(has, "ALL") { // it has everything but the right to pass it on
			lacks = slices.DeleteFunc(lacks, func(p string) bool { return p != "GRANT" })
		}
	case slices.Contains(lacks, "ALL") || slices.Contains(lacks, "ALL PRIVILEGES"):
		more = slices.DeleteFunc(more, func(p string) bool { return p != "GRANT" && p != "PROXY" })
	}
	if slices.Contains(has, "ALL") {
		lacks = slices.DeleteFunc(lacks, func(p string) bool { return p == "ALL PRIVILEGES" })
		if slices.Contains(want, "ALL PRIVILEGES") {
			more = slices.DeleteFunc(more, func(p string) bool { return p == "ALL" })
		}
	}
	if len(lacks)+len(more) == 0 {
		return
	}
	s.said = fmt.Sprintf("Privileges updated: granted %s, revoked %s", pythonList(lacks), pythonList(more))
	if len(more) > 0 {
		s.revoke(on, more, host)
		s.words = append(s.words, "no "+strings.Join(more, " and ")+" on "+on)
	}
	if len(lacks) > 0 {
		s.statements = append(s.statements, s.grant(on, lacks, host))
		s.words = append(s.words, strings.Join(lacks, " and ")+" on "+on)
	}
}

// without is what of a list is not in another.
func without(list, other []string) (rest []string) {
	for _, item := range list {
		if !slices.Contains(other, item) {
			rest = append(rest, item)
		}
	}
	return rest
}

func pythonList(list []string) string {
	words := make([]string, len(list))
	for i, item := range list {
		words[i] = "'" + item + "'"
	}
	return "[" + strings.Join(words, ", ") + "]"
}

var (
	grantLine = pattern.New("^GRANT (.+) ON (.+) TO ['`\"].*['`\"]@['`\"]")
	roleLine  = pattern.New("^(GRANT .+ TO|SET DEFAULT ROLE) ")
)

// readMysqlGrants reads what a user may do, as the server writes it.
func readMysqlGrants(lines []string) (map[string][]string, error) {
	all := map[string][]string{}
	for _, line := range lines {
		m := grantLine.FindStringSubmatch(line)
		if m == nil && roleLine.MatchString(line) {
			continue // a role, which has privileges of its own
		}
		if m == nil {
			return nil, fmt.Errorf("the server describes a privilege in another way: %s", line)
		}
		for _, p := range spec.SplitPrivileges(m[1]) {
			if p == "ALL PRIVILEGES" {
				p = "ALL"
			}
			all[m[2]] = append(all[m[2]], p)
		}
		if strings.Contains(line, " WITH GRANT OPTION") {
			all[m[2]] = append(all[m[2]], "GRANT")
		}
	}
	return all, nil
}

var requireClause = pattern.New(` REQUIRE ((?:NONE|SSL|X509|(?:(?:AND )?(?:CIPHER|ISSUER|SUBJECT) '(?:[^'\\]|\\.|'')*' ?)+))`)

var tlsWord = pattern.New(`(CIPHER|ISSUER|SUBJECT) ('(?:[^'\\]|\\.|'')*')`)

// requiresOf is what the statement that would create a user requires of its connections, as requireClauseOf writes it.
func requiresOf(create string) string {
	m := requireClause.FindStringSubmatch(create)
	if m == nil || m[1] == "NONE" {
		return ""
	}
	var list []spec.Requirement
	for _, r := range tlsWord.FindAllStringSubmatch(m[1], -1) {
		list = append(list, spec.Requirement{Word: r[1], Value: fromQuotes.Replace(r[2][1 : len(r[2])-1])})
	}
	if len(list) == 0 {
		return requireClauseOf([]spec.Requirement{{Word: m[1]}})
	}
	slices.SortFunc(list, func(a, b spec.Requirement) int { return strings.Compare(a.Word, b.Word) })
	return requireClauseOf(list)
}

// fromQuotes is a text of the server's without its escapes.
var fromQuotes = strings.NewReplacer(`\\`, `\`, `\'`, `'`, `''`, `'`)
