package action_test

import (
	"fmt"
	"testing"

	"moon/events"
	"moon/exec/exectest"
)

// statements is a client that answers with the version of a server, and writes down what else it is asked to do.
const statements = `text=$(/bin/cat)
case $text in
"SELECT VERSION();") printf '<resultset statement=""><row>\t<field name="v">%s</field></row></resultset>' ;;
*) echo "$text" >> "$0.said" ;;
esac`

// TestReplicationWords checks that each server is asked in its own words. The machine tests have a MariaDB only.
func TestReplicationWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		version string
		args    exectest.Args
		said    string
	}{
		{"5.7.44", exectest.Args{"mode": "getprimary"}, "SHOW MASTER STATUS;\n"},
		{"8.2.0", exectest.Args{"mode": "getprimary"}, "SHOW BINARY LOG STATUS;\n"},
		{"10.5.1-MariaDB", exectest.Args{"mode": "getprimary"}, "SHOW MASTER STATUS;\n"},
		{"10.5.2-MariaDB", exectest.Args{"mode": "getprimary"}, "SHOW BINLOG STATUS;\n"},
		{"8.0.21", exectest.Args{"mode": "getreplica", "channel": "far"}, "SHOW SLAVE STATUS FOR CHANNEL 'far';\n"},
		{"8.0.22", exectest.Args{"mode": "getreplica", "channel": "far"}, "SHOW REPLICA STATUS FOR CHANNEL 'far';\n"},
		{"10.5.0-MariaDB", exectest.Args{"connection_name": "far"}, "SHOW SLAVE 'far' STATUS;\n"},
		{"8.0.36", exectest.Args{"mode": "resetprimary"}, "RESET MASTER;\n"},
		{"8.4.0", exectest.Args{"mode": "resetprimary"}, "RESET BINARY LOGS AND GTIDS;\n"},
		{"8.4.0", exectest.Args{"mode": "resetreplicaall", "channel": "far"}, "RESET REPLICA ALL FOR CHANNEL 'far';\n"},
		{"8.0.22", exectest.Args{"mode": "changeprimary", "primary_host": "h", "primary_auto_position": true}, "CHANGE MASTER TO MASTER_HOST='h',MASTER_AUTO_POSITION=1;\n"},
		{
			"8.0.23",
			exectest.Args{"mode": "changeprimary", "primary_host": "h", "primary_ssl_verify_server_cert": true, "relay_log_pos": 4, "channel": "far"},
			"CHANGE REPLICATION SOURCE TO SOURCE_HOST='h',RELAY_LOG_POS=4,SOURCE_SSL_VERIFY_SERVER_CERT=1 FOR CHANNEL 'far';\n",
		},
		{"8.0.22", exectest.Args{"mode": "changereplication", "primary_port": 1}, "CHANGE REPLICATION SOURCE TO SOURCE_PORT=1;\n"},
		{"10.4.9-MariaDB", exectest.Args{"mode": "changeprimary", "primary_use_gtid": "replica_pos"}, "CHANGE MASTER TO MASTER_USE_GTID=slave_pos;\n"},
	} {
		t.Run(tt.version+" "+tt.said, func(t *testing.T) {
			t.Parallel()
			f := fake(t, map[string]string{"mysql": fmt.Sprintf(statements, tt.version)})
			tt.args["config_file"] = ""
			exectest.WantOutcome(t, exectest.RunJob(t, f.job(t, "mysql_replication", tt.args)), outcomeOf(tt.said), "")
			if said := exectest.ReadFile(t, f.dir+"/mysql.said"); said != tt.said {
				t.Errorf("said %q, want %q", said, tt.said)
			}
		})
	}
}

// outcomeOf is how a step ends that says something to a server.
func outcomeOf(said string) events.Outcome {
	if said[:4] == "SHOW" {
		return events.OK
	}
	return events.Changed
}

// TestReplicationRefused checks that what the other server has is named, and not sent.
func TestReplicationRefused(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{"primary_use_gtid": "disabled", "connection_name": "far"} {
		f := fake(t, map[string]string{"mysql": fmt.Sprintf(statements, "8.4.0")})
		job := f.job(t, "mysql_replication", exectest.Args{"mode": "changeprimary", "primary_host": "h", name: value, "config_file": ""})
		exectest.WantOutcome(t, exectest.RunJob(t, job), events.Failed, name+" is only for MariaDB")
	}
}
