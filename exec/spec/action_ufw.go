package spec

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// UfwArgs are the arguments of ufw.
type UfwArgs struct {
	State        string `arg:"state" enum:"enabled|disabled|reloaded|reset" doc:"enabled and disabled: now and at boot. reloaded loads the rules again; reset disables the firewall and removes all rules; both are done every time."`
	Default      string `arg:"default,policy" enum:"allow|deny|reject" doc:"What happens to traffic that no rule is for; direction says which, incoming if it is missing."`
	Logging      string `arg:"logging" enum:"on|off|low|medium|high|full" doc:"What is logged."`
	Rule         string `arg:"rule" enum:"allow|deny|limit|reject" doc:"What the rule does."`
	Direction    string `arg:"direction" enum:"in|incoming|out|outgoing|routed" doc:"in or out for a rule; incoming, outgoing or routed for default."`
	Delete       bool   `arg:"delete" default:"false" doc:"Remove the rule instead of adding it."`
	Route        bool   `arg:"route" default:"false" doc:"The rule is for forwarded traffic."`
	Insert       *int   `arg:"insert" doc:"The number that a new rule gets. Without it the rule is the last."`
	RelativeTo   string `arg:"insert_relative_to" default:"zero" enum:"zero|first-ipv4|last-ipv4|first-ipv6|last-ipv6" doc:"Where insert counts from: the number itself, or the first or last rule for IPv4 or IPv6 (0 is that rule)."`
	Interface    string `arg:"interface,if" doc:"The interface of direction."`
	InterfaceIn  string `arg:"interface_in,if_in" doc:"The interface for incoming traffic."`
	InterfaceOut string `arg:"interface_out,if_out" doc:"The interface for outgoing traffic."`
	Log          bool   `arg:"log" default:"false" doc:"Log new connections that match the rule."`
	FromIP       string `arg:"from_ip,from,src" default:"any" doc:"The address or network that the traffic comes from."`
	FromPort     string `arg:"from_port" doc:"The port that it comes from."`
	ToIP         string `arg:"to_ip,to,dest" default:"any" doc:"The address or network that it goes to."`
	ToPort       string `arg:"to_port,port" doc:"The port that it goes to, as 80, 80,443 or 6000:6007."`
	Proto        string `arg:"proto,protocol" enum:"any|tcp|udp|ipv6|esp|ah|gre|igmp|vrrp" doc:"The protocol."`
	App          string `arg:"name,app" doc:"A profile of /etc/ufw/applications.d."`
	Comment      string `arg:"comment" doc:"A comment of the rule."`
}

var _ = declareAction(&Action{
	Name:    "ufw",
	Aliases: []string{"community.general.ufw"},
	Doc:     "Sets rules and policies of the firewall ufw, and switches it on or off.",
	Process: "*",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[UfwArgs](),
	Returns: []Return{
		{"commands", "The commands that change something."},
		{"msg", "The status after that, as ufw prints it."},
	},
	Least: "ufw: {rule: allow, port: 22}",
	Example: `- ufw: {rule: allow, port: 22, proto: tcp, comment: ssh}
- ufw: {default: deny, direction: incoming, state: enabled}
- ufw: {rule: deny, from: 203.0.113.0/24, delete: true}
`,
})

func (a *UfwArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	if a.State+a.Default+a.Rule+a.Logging == "" {
		add("", "`ufw` has nothing to do", "give `rule`, `default`, `logging` or `state`")
	}
	for _, pair := range [][2]string{
		{"name", "proto"}, {"name", "logging"}, {"proto", "logging"}, {"direction", "interface_in"}, {"direction", "interface_out"},
	} {
		if given(pair[0]) && given(pair[1]) {
			add(pair[1], "`"+pair[0]+"` and `"+pair[1]+"` exclude each other", "")
		}
	}
	switch {
	case a.Interface != "" && a.Direction == "":
		add("interface", "`interface` needs `direction`", "or give `interface_in` or `interface_out`")
	case a.Default != "" && (a.Direction == "in" || a.Direction == "out"):
		add("direction", "`direction` of `default` must be incoming, outgoing or routed", "")
	case a.Rule != "" && a.Direction != "" && a.Direction != "in" && a.Direction != "out":
		add("direction", "`direction` of `rule` must be in or out", "")
	case a.Rule != "" && !a.Route && a.InterfaceIn != "" && a.InterfaceOut != "":
		add("interface_out", "`interface_in` and `interface_out` together need `route: true`", "")
	}
	for _, f := range []struct{ name, text string }{
		{"interface", a.Interface},
		{"interface_in", a.InterfaceIn},
		{"interface_out", a.InterfaceOut},
		{"from_ip", a.FromIP},
		{"from_port", a.FromPort},
		{"to_ip", a.ToIP},
		{"to_port", a.ToPort},
		{"name", a.App},
	} {
		if strings.HasPrefix(f.text, "-") || f.name != "name" && strings.ContainsAny(f.text, " \t\n") {
			add(f.name, "`"+f.name+"` has blanks, or begins with a hyphen: "+nameValue(f.text), "")
		}
	}
	if strings.ContainsAny(a.Comment, "'\n") { // which ufw refuses, too
		add("comment", "`comment` must be one line without '", "")
	}
	return problems
}

// RuleWords are the words of the rule for ufw, but for the number that it is inserted at.
func (a *UfwArgs) RuleWords() []string {
	words := []string{a.Rule}
	for _, part := range []struct{ name, value string }{
		{"", a.Direction}, {"on", a.Interface}, {"in on", a.InterfaceIn}, {"out on", a.InterfaceOut},
	} {
		if part.value != "" {
			words = append(append(words, strings.Fields(part.name)...), part.value)
		}
	}
	if a.Log {
		words = append(words, "log")
	}
	for _, part := range []struct{ name, value string }{
		{"from", a.FromIP},
		{"port", a.FromPort},
		{"to", a.ToIP},
		{"port", a.ToPort},
		{"proto", a.Proto},
		{"app", a.App},
		{"comment", a.Comment},
	} {
		if part.value != "" {
			words = append(words, part.name, part.value)
		}
	}
	return words
}

// RuleFields are the fields that say which rule it is.
func (a *UfwArgs) RuleFields() map[string]any {
	fields := map[string]any{"rule": a.Rule}
	for name, value := range map[string]string{
		"direction": a.Direction, "interface": a.Interface, "interface_in": a.InterfaceIn, "interface_out": a.InterfaceOut,
		"from_ip": a.FromIP, "from_port": a.FromPort, "to_ip": a.ToIP, "to_port": a.ToPort, "proto": a.Proto, "name": a.App,
	} {
		if value != "" && value != "any" {
			fields[name] = value
		}
	}
	for name, value := range map[string]bool{"route": a.Route, "log": a.Log} {
		if value {
			fields[name] = true
		}
	}
	return fields
}

// InsertAt is the number that a rule gets among those that ufw numbers; 0: it is the last. IPv6 says of each whether it is for IPv6: they
// come after the others.
func (a *UfwArgs) InsertAt(ipv6 []bool) int {
	if a.Insert == nil || a.Delete {
		return 0
	}
	last := len(ipv6)
	four := slices.Index(ipv6, true)
	if four < 0 {
		four = last
	}
	from := map[string]int{"zero": 0, "first-ipv4": 1, "last-ipv4": max(four, 1), "first-ipv6": four + 1, "last-ipv6": last}[a.RelativeTo]
	if a.RelativeTo == "last-ipv6" && four == last {
		from = last + 1
	}
	// A number of its own is ufw's to judge; one that was worked out and is too large means the end.
	if at := *a.Insert + from; a.RelativeTo == "zero" || at <= last {
		return at
	}
	return 0
}

// InsertWords are the words that insert a rule.
func (a *UfwArgs) InsertWords(ipv6 []bool) []string {
	if at := a.InsertAt(ipv6); at != 0 {
		return []string{"insert", strconv.Itoa(at)}
	}
	return nil
}
