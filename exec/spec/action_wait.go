package spec

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"moon/internal/pyregexp"
)

// WaitArgs are the arguments of wait. Once decoded, Condition is set, or empty where only time is to pass, and
// Absent says which way a port or path is awaited.
type WaitArgs struct {
	Condition   string        `arg:"condition" implied:"decided by the other fields" enum:"file_exists|file_absent|command|http|port" doc:"What to wait for."`
	Path        string        `arg:"path" kind:"path" doc:"The file that must appear or go away."`
	Cmd         string        `arg:"cmd" doc:"A shell command that must succeed."`
	URL         string        `arg:"url" doc:"What an HTTP server must answer with the status."`
	Status      int           `arg:"status" default:"200" doc:"The status it must answer with."`
	Port        int           `arg:"port" doc:"The TCP port that must accept connections, or must not."`
	Host        string        `arg:"host" default:"127.0.0.1" doc:"The host of the port."`
	SearchRegex string        `arg:"search_regex" doc:"What the file must contain, or the server on the port must send first: a regular expression."`
	State       string        `arg:"state" implied:"started" enum:"started|present>started|stopped|absent>stopped|drained" doc:"Whether the port or file must be there, or be gone. drained: the port of this machine has no connection left."`
	Timeout     time.Duration `arg:"timeout" implied:"300s" doc:"How long to wait before the step fails. Without a condition, how long to wait."`
	Delay       time.Duration `arg:"delay" default:"0s" doc:"How long to wait before the first check."`
	Interval    time.Duration `arg:"interval,sleep" default:"1s" doc:"How long to wait between two checks."`
	Msg         string        `arg:"msg" implied:"says what did not happen" doc:"The error after the timeout."`

	ExcludeHosts   []string      `arg:"exclude_hosts" doc:"With drained, hosts whose connections do not count; a list or text with commas."`
	ActiveStates   []string      `arg:"active_connection_states" implied:"ESTABLISHED, FIN_WAIT1, FIN_WAIT2, SYN_RECV, SYN_SENT, TIME_WAIT" doc:"With drained, the states of connections that count."`
	ConnectTimeout time.Duration `arg:"connect_timeout" default:"5s" doc:"How long one attempt to connect to the port may take."`

	Absent bool
	Search *pyregexp.Pattern // nil: none
}

// waitDefault is the timeout when none is given.
const waitDefault = 300 * time.Second

var _ = declareAction(&Action{
	Name:    "wait",
	Aliases: []string{"wait_for"},
	Doc:     "Waits until a file, a port, a command or an HTTP server is as wanted, and fails after a time.",
	Check:   true,
	Process: "cmd",
	args:    reflect.TypeFor[WaitArgs](),
	Returns: []Return{{"elapsed", "How long it took, in seconds."}},
	Least:   "wait: {port: 1}",
	Example: `- wait: {condition: port, port: 5432, timeout: 60s}
- wait: {condition: http, url: "http://localhost:8080/health"}
- wait_for: {path: /run/app.pid, state: absent}
`,
})

func (a *WaitArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	if a.SearchRegex != "" {
		// Ansible compiles it so: ^ and $ match at every line.
		var wrong []Problem
		a.Search, wrong = compilePattern("search_regex", a.SearchRegex, "m")
		problems = append(problems, wrong...)
	}
	if given("port") && (a.Port < 1 || a.Port > 65535) {
		add("port", "`port` must be between 1 and 65535", "")
	}
	if a.Interval <= 0 {
		add("interval", "`interval` must be longer than nothing", "")
	}
	a.Absent = a.State == "stopped"
	problems = append(problems, a.checkDrained(given)...)
	switch a.Condition {
	case "":
		a.guessCondition()
		if a.Condition == "" && !given("timeout") && !given("delay") {
			add("", "`wait` has nothing to wait for", "give `condition`, `port`, `path`, `url` or `cmd`")
		}
	// A condition counts before a state.
	case "file_exists":
		a.Absent = false
	case "file_absent":
		a.Absent = true
	}
	if need := waitNeeds[a.Condition]; need != "" && !given(need) {
		add(need, "`condition: "+a.Condition+"` needs `"+need+"`", "")
	}
	if a.Search != nil && (a.Absent || a.Condition != "file_exists" && a.Condition != "port") {
		add("search_regex", "`search_regex` goes with a file or port that is to be there", "")
	}
	if given("state") && (a.Condition == "http" || a.Condition == "command") {
		add("state", "`state` goes with `path` and `port` only", "")
	}
	if a.Condition != "" && !given("timeout") {
		// Without a condition only the given time passes, which has no default of its own.
		a.Timeout = waitDefault
	}
	return problems
}

// ConnectionStates are the states of connections that can be waited for, by their numbers in /proc/net/tcp.
var ConnectionStates = map[string]int{"ESTABLISHED": 1, "SYN_SENT": 2, "SYN_RECV": 3, "FIN_WAIT1": 4, "FIN_WAIT2": 5, "TIME_WAIT": 6}

// checkDrained checks what goes with `state: drained`, and splits its lists.
func (a *WaitArgs) checkDrained(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message string) { problems = append(problems, Problem{Field: field, Message: message}) }
	a.ExcludeHosts, a.ActiveStates = splitCommas(strings.Join(a.ExcludeHosts, ",")), splitCommas(strings.Join(a.ActiveStates, ","))
	if given("exclude_hosts") && a.State != "drained" {
		add("exclude_hosts", "`exclude_hosts` goes with `state: drained` only")
	}
	if a.State == "drained" && (a.Port == 0 || a.Path != "") {
		add("state", "`state: drained` is for a `port`")
	}
	all := slices.Sorted(maps.Keys(ConnectionStates))
	for _, state := range a.ActiveStates {
		if _, known := ConnectionStates[state]; !known {
			add("active_connection_states", "`active_connection_states` must be of "+strings.Join(all, ", ")+", found "+nameValue(state))
		}
	}
	if len(a.ActiveStates) == 0 && a.State == "drained" {
		a.ActiveStates = all
	}
	if a.ConnectTimeout <= 0 {
		add("connect_timeout", "`connect_timeout` must be longer than nothing")
	}
	return problems
}

// waitNeeds is the field that each condition is about.
var waitNeeds = map[string]string{"file_exists": "path", "file_absent": "path", "command": "cmd", "http": "url", "port": "port"}

// guessCondition finds the condition of a call in Ansible's form.
func (a *WaitArgs) guessCondition() {
	switch {
	case a.URL != "":
		a.Condition = "http"
	case a.Cmd != "":
		a.Condition = "command"
	case a.Port != 0:
		a.Condition = "port"
	case a.Path != "" && a.Absent:
		a.Condition = "file_absent"
	case a.Path != "":
		a.Condition = "file_exists"
	}
}
