package spec

import (
	"fmt"
	"reflect"
	"strings"
)

// FirewalldArgs are the arguments of firewalld. Once decoded, Option and Value are what the step is about, in the words of firewall-cmd
// ("service", "http"); both are empty if it is about the zone itself. On says whether it should be there.
type FirewalldArgs struct {
	Service       string `arg:"service" doc:"A service, such as https."`
	Port          string `arg:"port" doc:"A port or range with its protocol: 8080/tcp, 5000-5010/udp."`
	Protocol      string `arg:"protocol" doc:"A protocol, such as ospf."`
	RichRule      string `arg:"rich_rule" doc:"A rule in the rich language."`
	Source        string `arg:"source" doc:"An address or network whose traffic belongs to the zone. Needs permanent."`
	Interface     string `arg:"interface" doc:"An interface that belongs to the zone; it leaves the zone it was in. Needs zone."`
	IcmpBlock     string `arg:"icmp_block" doc:"A type of ICMP that is blocked, such as echo-request."`
	IcmpInversion string `arg:"icmp_block_inversion" doc:"true: block all types of ICMP except those of icmp_block."`
	Masquerade    string `arg:"masquerade" doc:"true: traffic leaves with the address of the machine."`
	PortForward   any    `arg:"port_forward" doc:"A forwarded port: a list of one map with port, proto, toport and perhaps toaddr."`
	Target        string `arg:"target" enum:"default|ACCEPT|DROP|%%REJECT%%" doc:"What happens to traffic that no rule matches. Needs zone and permanent."`
	Zone          string `arg:"zone" implied:"the default zone" doc:"The zone. With state: present or absent and nothing else, the zone itself."`
	State         string `arg:"state" need:"yes" enum:"enabled|disabled|present|absent" doc:"enabled or disabled for what is in a zone, present or absent for a zone itself; any of them for target."`
	Permanent     *bool  `arg:"permanent" implied:"false" doc:"Keep it after the next start of firewalld."`
	Immediate     bool   `arg:"immediate" default:"false" doc:"Put it into effect now, which is the default without permanent."`
	Timeout       int    `arg:"timeout" default:"0" doc:"After how many seconds what is put into effect ends; 0: never."`
	Offline       *bool  `arg:"offline" implied:"true" doc:"Accepted from playbooks written for Ansible: if firewalld is not running, its files are changed anyway."`

	Option, Value string
	On            bool
	Lasting       bool // Permanent
}

var _ = declareAction(&Action{
	Name:    "firewalld",
	Aliases: []string{"ansible.posix.firewalld"},
	Doc:     "Sets rules of firewalld, with firewall-cmd, or with firewall-offline-cmd if firewalld is not running.",
	Process: "*",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[FirewalldArgs](),
	Returns: []Return{{"msg", "What was done."}},
	Least:   "firewalld: {service: ssh, state: enabled}",
	Example: `- firewalld: {service: https, state: enabled, permanent: true, immediate: true}
- firewalld: {zone: dmz, port: 8080/tcp, state: enabled}
- firewalld: {zone: public, rich_rule: rule family="ipv4" source address="192.0.2.0/24" drop, state: disabled, permanent: true}
`,
})

func (a *FirewalldArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	a.Lasting = a.Permanent != nil && *a.Permanent
	a.Immediate = a.Immediate || !a.Lasting
	a.On = a.State == "enabled" || a.State == "present"
	var about []string
	for _, f := range []struct{ field, option, value string }{
		{"service", "service", a.Service},
		{"port", "port", a.Port},
		{"protocol", "protocol", a.Protocol},
		{"rich_rule", "rich-rule", a.RichRule},
		{"source", "source", a.Source},
		{"interface", "interface", a.Interface},
		{"icmp_block", "icmp-block", a.IcmpBlock},
		{"icmp_block_inversion", "icmp-block-inversion", a.IcmpInversion},
		{"masquerade", "masquerade", a.Masquerade},
		{"port_forward", "forward-port", ""},
		{"target", "target", a.Target},
	} {
		if !given(f.field) {
			continue
		}
		about = append(about, f.field)
		a.Option, a.Value = f.option, f.value
	}
	zone, what := len(about) == 0, "state: "+a.State
	if !zone {
		what = about[0]
	}
	switch {
	case len(about) > 1:
		add(about[1], "`"+strings.Join(about, "`, `")+"` exclude each other", "make several steps")
		return problems
	case zone && (a.State == "enabled" || a.State == "disabled"):
		add("state", "`state: "+a.State+"` does not say what", "give `service`, `port` or another")
	case zone && a.Zone == "":
		add("zone", "`"+what+"` needs `zone`", "")
	case !zone && a.Target == "" && (a.State == "present" || a.State == "absent"):
		add("state", "`state: "+a.State+"` is for a zone", "write `enabled` or `disabled`")
	case (zone || a.Target != "") && (!a.Lasting || a.Immediate):
		add("permanent", "`"+what+"` needs `permanent: true` without `immediate: true`", "")
	case (a.Interface != "" || a.Target != "") && a.Zone == "":
		add("zone", "`"+what+"` needs `zone`", "")
	case a.Source != "" && a.Permanent == nil:
		add("permanent", "`source` needs `permanent`", "")
	case a.Port != "" && !strings.Contains(strings.Trim(a.Port, "/"), "/"):
		add("port", "`port` must be like 8080/tcp, found "+nameValue(a.Port), "")
	}
	if a.Option == "masquerade" || a.Option == "icmp-block-inversion" {
		on, ok := asBool(a.Value)
		if !ok {
			add(what, "`"+what+"` must be true or false, found "+nameValue(a.Value), "")
		}
		a.Value, a.On = "", a.On == on // false reverses the state
	}
	if a.PortForward != nil {
		value, ok := forwardedPort(a.PortForward)
		if !ok {
			add("port_forward", "`port_forward` must be a list of one map with port, proto, toport and perhaps toaddr", "")
		}
		a.Value = value
	}
	return problems
}

// forwardedPort is a forwarded port in the words of firewall-cmd.
func forwardedPort(value any) (text string, ok bool) {
	list, isList := value.([]any)
	if !isList || len(list) != 1 {
		return "", false
	}
	fields, isMap := list[0].(map[string]any)
	var words []string
	for _, name := range []string{"port", "proto", "toport", "toaddr"} {
		is, there := asText(fields[name])
		if there && is != "" {
			words = append(words, fmt.Sprintf("%s=%s", name, is))
			continue
		}
		isMap = isMap && name == "toaddr"
	}
	return strings.Join(words, ":"), isMap
}
