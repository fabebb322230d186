package spec

import "reflect"

// MysqlReplicationArgs are the arguments of mysql_replication.
type MysqlReplicationArgs struct {
	Mode                string  `arg:"mode" default:"getreplica" enum:"getprimary|getreplica|changeprimary|changereplication|startreplica|stopreplica|resetprimary|resetreplica|resetreplicaall" doc:"What to do: look at the server as a primary or as a replica; change which primary it follows (changereplication: in MySQL's words since 8.0.23); start or stop to follow it; delete the primary's binary logs (resetprimary), or the replica's state (resetreplica), also with its connection (resetreplicaall)."`
	Host                *string `arg:"primary_host,master_host" doc:"The host of the primary."`
	User                *string `arg:"primary_user,master_user" doc:"The user to log in there as."`
	Password            *string `arg:"primary_password,master_password" doc:"Its password. It is handed over unseen; the server keeps it."`
	Port                *int    `arg:"primary_port,master_port" doc:"The port of the primary."`
	ConnectRetry        *int    `arg:"primary_connect_retry,master_connect_retry" doc:"How many seconds to wait before connecting again."`
	LogFile             *string `arg:"primary_log_file,master_log_file" doc:"The binary log of the primary to begin with."`
	LogPos              *int    `arg:"primary_log_pos,master_log_pos" doc:"The position in it."`
	RelayLogFile        *string `arg:"relay_log_file" doc:"The relay log of the replica to continue with."`
	RelayLogPos         *int    `arg:"relay_log_pos" doc:"The position in it."`
	SSL                 *bool   `arg:"primary_ssl,master_ssl" implied:"as the server has it" doc:"Whether the connection is encrypted."`
	SSLCA               *string `arg:"primary_ssl_ca,master_ssl_ca" doc:"A file of authorities that sign the primary's certificate, on the replica."`
	SSLCAPath           *string `arg:"primary_ssl_capath,master_ssl_capath" doc:"A directory with such files."`
	SSLCert             *string `arg:"primary_ssl_cert,master_ssl_cert" doc:"The replica's certificate."`
	SSLKey              *string `arg:"primary_ssl_key,master_ssl_key" doc:"The file with its key."`
	SSLCipher           *string `arg:"primary_ssl_cipher,master_ssl_cipher" doc:"The ciphers that it takes, with colons between them."`
	SSLVerifyServerCert *bool   `arg:"primary_ssl_verify_server_cert" implied:"as the server has it" doc:"Whether the primary's certificate must be for its name."`
	AutoPosition        bool    `arg:"primary_auto_position,master_auto_position" default:"false" doc:"Find the position by the ids of transactions. MySQL only."`
	UseGTID             string  `arg:"primary_use_gtid,master_use_gtid" enum:"current_pos|replica_pos|disabled" doc:"Which id of transactions to begin with. MariaDB only."`
	Delay               *int    `arg:"primary_delay,master_delay" doc:"How many seconds to stay behind the primary."`
	ConnectionName      string  `arg:"connection_name" doc:"The connection, if there are several. MariaDB only."`
	Channel             string  `arg:"channel" doc:"The channel, if there are several."`
	FailOnError         bool    `arg:"fail_on_error" default:"false" doc:"Fail if the server does not start, stop or reset. Otherwise nothing has changed then."`
	MysqlLogin
}

var _ = declareAction(&Action{
	Name:    "mysql_replication",
	Aliases: mysqlNames("mysql_replication"),
	Doc:     "Sets up, starts, stops and looks at the replication of a server of MySQL or MariaDB.",
	Subject: "mode",
	Process: "*",
	Check:   true,
	args:    reflect.TypeFor[MysqlReplicationArgs](),
	Returns: []Return{
		{"queries", "The statements that were sent to change something, without passwords."},
		{"Is_Primary", "Whether the server writes a log for replicas. With it come the columns of SHOW MASTER STATUS."},
		{"Is_Replica", "Whether it follows a primary. With it come the columns of SHOW REPLICA STATUS."},
		{"msg", "What was found or done."},
	},
	Least: "mysql_replication: {mode: getreplica}",
	Example: `- mysql_replication: {mode: getreplica, login_user: root, login_unix_socket: /tmp/my/sock}
  register: replica
- mysql_replication:
    mode: changeprimary
    primary_host: db1.example.com
    primary_user: replication
    primary_password: correct horse
    primary_log_file: binlog.000001
    primary_log_pos: 4
    login_user: root
    login_unix_socket: /tmp/my/sock
  when: not replica.Is_Replica
- mysql_replication: {mode: startreplica, login_user: root, login_unix_socket: /tmp/my/sock}
`,
})

// Changes reports whether a step says which primary is followed, and how.
func (a *MysqlReplicationArgs) Changes() bool {
	return a.Mode == "changeprimary" || a.Mode == "changereplication"
}

func (a *MysqlReplicationArgs) validateArgs(given func(string) bool) []Problem {
	problems := a.problems()
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	if a.ConnectionName != "" && a.Channel != "" {
		add("channel", "`channel` and `connection_name` exclude each other", "give `connection_name` for MariaDB, `channel` for MySQL")
	}
	if !a.Changes() {
		return problems
	}
	options := []string{
		"primary_host", "primary_user", "primary_password", "primary_port", "primary_connect_retry", "primary_log_file", "primary_log_pos",
		"relay_log_file", "relay_log_pos", "primary_ssl", "primary_ssl_ca", "primary_ssl_capath", "primary_ssl_cert", "primary_ssl_key",
		"primary_ssl_cipher", "primary_ssl_verify_server_cert", "primary_auto_position", "primary_use_gtid", "primary_delay",
	}
	some := false
	for _, name := range options {
		some = some || given(name)
	}
	if !some {
		add("mode", "`mode: "+a.Mode+"` needs something to change", "give `primary_host`, for example")
	}
	if a.Mode == "changereplication" {
		for _, name := range []string{"primary_use_gtid", "connection_name"} {
			if given(name) {
				add(name, "`"+name+"` is for MariaDB, and `changereplication` for MySQL", "write `mode: changeprimary`")
			}
		}
	}
	return problems
}
