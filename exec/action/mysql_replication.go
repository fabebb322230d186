package action

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/database"
	"moon/exec/fault"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("mysql_replication", exec.Action{Plan: planMysqlReplication, Supplies: func(args any) string {
	return suppliesMysql(&args.(*spec.MysqlReplicationArgs).MysqlLogin)
}})

// mysqlReplicationStep is one mysql_replication step being planned.
type mysqlReplicationStep struct {
	*mysqlServer
	args *spec.MysqlReplicationArgs
	c    *exec.Change
	said string // what Ansible's module says of it
	serverVersion
}

// serverVersion is the version of a server of MySQL or MariaDB, which decides what a statement is called.
type serverVersion [3]int

func planMysqlReplication(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.MysqlReplicationArgs)
	server, err := openMysql(ctx, a, &args.MysqlLogin, false, false)
	if err != nil {
		return nil, err
	}
	s := &mysqlReplicationStep{mysqlServer: server, args: args, c: &exec.Change{Fields: map[string]any{"queries": []any{}}}}
	rows, err := s.askOne(ctx, "SELECT VERSION()")
	if err == nil && len(rows) != 1 {
		err = errors.New("the server does not say what it is")
	}
	if err != nil {
		return nil, err
	}
	s.setVersion(rows[0].Text(0))
	s.serverVersion = readServerVersion(rows[0].Text(0))
	s.c.PlanNothing()
	if err := s.refuse(); err != nil {
		return nil, err
	}
	if err := s.plan(ctx); err != nil {
		return nil, err
	}
	s.c.InPlays = append(s.c.InPlays, func(fields map[string]any) {
		if s.said != "" {
			fields["msg"] = s.said
		}
	})
	return s.c, nil
}

var versionNumbers = pattern.New(`^(\d+)\.(\d+)\.(\d+)`)

func readServerVersion(text string) (v serverVersion) {
	if m := versionNumbers.FindStringSubmatch(text); m != nil {
		for i := range v {
			v[i], _ = strconv.Atoi(m[i+1])
		}
	}
	return v
}

func (v serverVersion) since(major, minor, patch int) bool {
	for i, n := range []int{major, minor, patch} {
		if v[i] != n {
			return v[i] > n
		}
	}
	return true
}

// refuse names what the other server has, where this one would only find a mistake in the syntax.
func (s *mysqlReplicationStep) refuse() error {
	only := func(name, server, way string) error {
		return fault.CommandError{Message: name + " is only for " + server + "; " + way, Class: fault.Fatal}
	}
	switch a := s.args; {
	case s.maria && a.Mode == "changereplication":
		return only("mode: changereplication", "MySQL", "write mode: changeprimary")
	case s.maria && a.AutoPosition:
		return only("primary_auto_position", "MySQL", "give primary_use_gtid for MariaDB")
	case !s.maria && a.UseGTID != "":
		return only("primary_use_gtid", "MariaDB", "give primary_auto_position for MySQL")
	case !s.maria && a.ConnectionName != "":
		return only("connection_name", "MariaDB", "give channel for MySQL")
	}
	return nil
}

func (s *mysqlReplicationStep) plan(ctx context.Context) error {
	switch s.args.Mode {
	case "getprimary":
		return s.look(ctx, s.primaryStatus(), "Is_Primary", "Server is not configured as mysql primary")
	case "getreplica":
		return s.look(ctx, s.replicaStatus(), "Is_Replica", "Server is not configured as mysql replica")
	case "startreplica":
		// Whether there is a replica to start may be due to an earlier step.
		s.said = "Replica already started (Or cannot be started)"
		if both, _, err := s.threads(ctx); err != nil || both {
			return err
		}
		s.planStatement(s.replica("START"), "Replica started ")
	case "stopreplica":
		s.said = "Replica already stopped"
		if _, none, err := s.threads(ctx); err != nil || none {
			return err
		}
		s.planStatement(s.replica("STOP"), "Replica stopped")
	case "resetprimary":
		s.said = "Primary already reset"
		s.planStatement(s.resetPrimary(), "Primary reset")
	case "resetreplica":
		s.said = "Replica already reset"
		s.planStatement(s.replica("RESET"), "Replica reset")
	case "resetreplicaall":
		s.said = "Replica already reset"
		s.planStatement(s.replica("RESET", "ALL"), "Replica reset")
	default:
		s.planPrimary()
	}
	return nil
}

// primaryStatus is the statement that asks for the log of a primary.
func (s *mysqlReplicationStep) primaryStatus() string {
	switch {
	case s.maria && s.since(10, 5, 2):
		return "SHOW BINLOG STATUS"
	case !s.maria && s.since(8, 2, 0):
		return "SHOW BINARY LOG STATUS"
	}
	return "SHOW MASTER STATUS"
}

func (s *mysqlReplicationStep) resetPrimary() string {
	if !s.maria && s.since(8, 4, 0) {
		return "RESET BINARY LOGS AND GTIDS"
	}
	return "RESET MASTER"
}

func (s *mysqlReplicationStep) replicaStatus() string { return s.replica("SHOW", "STATUS") }

// replica is a statement about a replica: its verb, the connection, what follows that, and the channel.
func (s *mysqlReplicationStep) replica(verb string, after ...string) string {
	words := []string{verb, "SLAVE"}
	if s.maria && s.since(10, 5, 1) || !s.maria && s.since(8, 0, 22) {
		words[1] = "REPLICA"
	}
	if s.args.ConnectionName != "" {
		words = append(words, s.text(s.args.ConnectionName))
	}
	return strings.Join(append(words, after...), " ") + s.ofChannel()
}

func (s *mysqlReplicationStep) ofChannel() string {
	if s.args.Channel == "" {
		return ""
	}
	return " FOR CHANNEL " + s.text(s.args.Channel)
}

// look puts the first row of a status into the result.
func (s *mysqlReplicationStep) look(ctx context.Context, query, is, not string) error {
	rows, err := s.ask(ctx, query)
	if isUnknownConnection(err) { // which an earlier step may make
		return fault.Missing("", "%s", err.Error())
	}
	if err != nil {
		return err
	}
	s.c.Fields[is] = len(rows) > 0 && len(rows[0]) > 0
	if s.c.Fields[is] == false {
		s.c.Fields["msg"] = not
		return nil
	}
	for name, v := range columnsOf(rows[0][0]) {
		if text, ok := v.(string); ok && numberColumn.MatchString(name) {
			v = wholeOr(text)
		}
		s.c.Fields[name] = v
	}
	return nil
}

// numberColumn matches the columns of a status that are numbers. The client does not say which are, and the name of a host, a user or a
// list of servers may be written as one.
var numberColumn = pattern.New(`^(Position|Auto_Position|Seconds_Behind_\w+|SQL_Remaining_Delay|Get_\w+_public_key|\w+_(Log_Pos|Port|Retry|Retry_Count|` +
	`Errno|Counter|Space|Delay|Groups|Server_Id))$`)

// threads reports whether both threads of each replica run, and whether none of any does, of which there may be none.
func (s *mysqlReplicationStep) threads(ctx context.Context) (both, none bool, err error) {
	results, err := s.ask(ctx, s.replicaStatus())
	if isUnknownConnection(err) { // starting and stopping it says so, if the step wants to hear it
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	var rows []database.Row
	if len(results) > 0 {
		rows = results[0]
	}
	both, none = len(rows) > 0, true
	for _, row := range rows {
		columns := columnsOf(row)
		for _, thread := range []string{"IO_Running", "SQL_Running"} {
			state, ok := columns["Slave_"+thread]
			if !ok {
				state = columns["Replica_"+thread]
			}
			both, none = both && state != "No", none && state == "No"
		}
	}
	return both, none, nil
}

// isUnknownConnection reports whether a server has said that it has no connection or channel of the name.
func isUnknownConnection(err error) bool {
	failed, ok := errors.AsType[fault.CommandError](err)
	return ok && (strings.HasPrefix(failed.Message, "ERROR 1617 ") || strings.HasPrefix(failed.Message, "ERROR 3074 "))
}

// planStatement plans a statement that may fail unless the step says otherwise: as far as anyone can tell, nothing has changed then.
func (s *mysqlReplicationStep) planStatement(query, done string) {
	kind := events.ChangeUpdate
	if strings.HasPrefix(query, "RESET ") {
		kind = events.ChangeDelete
	}
	otherwise := s.said
	s.said = done
	s.c.PlanFor(kind, "mysql_replication", s.fullName(s.subject()), func(ctx context.Context) error {
		s.c.Fields["queries"] = []any{query}
		_, err := s.run(ctx, query)
		if failed, refused := errors.AsType[fault.CommandError](err); refused && !s.args.FailOnError {
			s.said, s.c.Resources = otherwise, nil
			s.c.Diff.Kind, s.c.Diff.Summary = events.ChangeNone, failed.Message
			s.c.Warnings = append(s.c.Warnings, query+" has changed nothing: "+failed.Message+"; fail_on_error makes this an error")
			return nil
		}
		return err
	}, query)
}

// subject is the connection or channel, or that which has no name.
func (s *mysqlReplicationStep) subject() string {
	if s.args.ConnectionName != "" {
		return s.args.ConnectionName
	}
	if s.args.Channel != "" {
		return s.args.Channel
	}
	return "replication"
}

// planPrimary plans to follow another primary, or the same in another way. What a server follows now cannot be compared with what it
// should: it does not tell the password, and the position in the log has moved on.
func (s *mysqlReplicationStep) planPrimary() {
	statement, shown := s.changePrimary()
	s.c.PlanFor(events.ChangeUpdate, "mysql_replication", s.fullName(s.subject()), func(ctx context.Context) error {
		s.c.Fields["queries"] = []any{shown}
		_, err := s.run(ctx, statement)
		// A server quotes of a statement what it does not understand.
		if failed, ok := errors.AsType[fault.CommandError](err); ok && s.args.Password != nil && *s.args.Password != "" {
			failed.Message = strings.ReplaceAll(failed.Message, *s.args.Password, "********")
			return failed
		}
		return err
	}, shown)
}

// changePrimary is the statement, and the same to be seen.
func (s *mysqlReplicationStep) changePrimary() (statement, shown string) {
	a := s.args
	head, prefix := "CHANGE MASTER", "MASTER_"
	if !s.maria && s.since(8, 0, 23) || a.Mode == "changereplication" {
		head, prefix = "CHANGE REPLICATION SOURCE", "SOURCE_"
	}
	if a.ConnectionName != "" {
		head += " " + s.text(a.ConnectionName)
	}
	var options, seen []string
	add := func(name, value string) {
		options, seen = append(options, name+"="+value), append(seen, name+"="+value)
	}
	text := func(name string, v *string) {
		if v != nil {
			add(name, s.text(*v))
		}
	}
	number := func(name string, v *int) {
		if v != nil {
			add(name, strconv.Itoa(*v))
		}
	}
	flag := func(name string, v *bool) {
		if v != nil {
			add(name, strconv.Itoa(map[bool]int{true: 1}[*v]))
		}
	}
	// In the order of Ansible's module, so that `queries` are the same.
	text(prefix+"HOST", a.Host)
	text(prefix+"USER", a.User)
	if text(prefix+"PASSWORD", a.Password); a.Password != nil {
		seen[len(seen)-1] = prefix + "PASSWORD='********'"
	}
	number(prefix+"PORT", a.Port)
	number(prefix+"CONNECT_RETRY", a.ConnectRetry)
	text(prefix+"LOG_FILE", a.LogFile)
	number(prefix+"LOG_POS", a.LogPos)
	number(prefix+"DELAY", a.Delay)
	text("RELAY_LOG_FILE", a.RelayLogFile)
	number("RELAY_LOG_POS", a.RelayLogPos)
	flag(prefix+"SSL", a.SSL)
	text(prefix+"SSL_CA", a.SSLCA)
	text(prefix+"SSL_CAPATH", a.SSLCAPath)
	text(prefix+"SSL_CERT", a.SSLCert)
	text(prefix+"SSL_KEY", a.SSLKey)
	text(prefix+"SSL_CIPHER", a.SSLCipher)
	flag(prefix+"SSL_VERIFY_SERVER_CERT", a.SSLVerifyServerCert)
	if a.AutoPosition {
		add(prefix+"AUTO_POSITION", "1")
	}
	if a.UseGTID != "" {
		add("MASTER_USE_GTID", s.gtid())
	}
	whole := func(list []string) string { return head + " TO " + strings.Join(list, ",") + s.ofChannel() }
	return whole(options), whole(seen)
}

// gtid is what MariaDB calls a position: replica_pos has another name in old servers.
func (s *mysqlReplicationStep) gtid() string {
	switch a := s.args.UseGTID; {
	case a == "disabled":
		return "no"
	case a == "replica_pos" && !s.since(10, 5, 1):
		return "slave_pos"
	default:
		return a
	}
}
