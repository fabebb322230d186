package action_test

import (
	"net"
	"os"
	"strings"
	"testing"

	"moon/events"
	"moon/exec/exectest"
)

// TestWaitDrained waits for connections of this process to go.
func TestWaitDrained(t *testing.T) {
	server, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	port := server.Addr().(*net.TCPAddr).Port
	wait := func(more exectest.Args) (events.Outcome, string) {
		in := exectest.Args{"port": port, "state": "drained", "timeout": 1, "interval": "100ms"}
		for name, value := range more {
			in[name] = value
		}
		r := exectest.RunJob(t, exectest.NewJob(t, "wait", in))
		return r.Outcome, r.Error
	}
	if _, err := os.Stat("/proc/net/tcp"); err != nil {
		t.Skip("connections are not listed here: ", err)
	}
	// A port that only listens has no connection.
	if outcome, says := wait(nil); outcome != events.OK {
		t.Fatalf("a port without connections: %v, %s", outcome, says)
	}
	client, err := net.Dial("tcp4", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	other, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	for _, tt := range []struct {
		in   exectest.Args
		want string
	}{
		{nil, "has connections: 1"},
		{exectest.Args{"host": "0.0.0.0"}, "has connections: 1"},
		{exectest.Args{"host": "127.0.0.2"}, ""},
		{exectest.Args{"exclude_hosts": "10.0.0.1,127.0.0.1"}, ""},
		{exectest.Args{"exclude_hosts": []any{"10.0.0.1"}}, "has connections: 1"},
		{exectest.Args{"active_connection_states": []any{"TIME_WAIT", "SYN_SENT"}}, ""},
	} {
		outcome, says := wait(tt.in)
		if (outcome == events.OK) != (tt.want == "") || !strings.Contains(says, tt.want) {
			t.Errorf("%v: %v %s", tt.in, outcome, says)
		}
	}
}
