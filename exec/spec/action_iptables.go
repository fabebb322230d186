package spec

import (
	"reflect"
	"slices"
	"strings"
)

// IptablesArgs are the arguments of iptables. Once decoded, Rule has the words of the rule.
type IptablesArgs struct {
	Chain            string    `arg:"chain" doc:"The chain: INPUT, or one of your own. Needed, unless flush is for all of the table."`
	Table            string    `arg:"table" default:"filter" enum:"filter|nat|mangle|raw|security" doc:"The table that the chain is in."`
	IPVersion        string    `arg:"ip_version" default:"ipv4" enum:"ipv4|ipv6" doc:"ipv6: with ip6tables."`
	State            string    `arg:"state" default:"present" enum:"present|absent" doc:"Whether the rule should be there, or with chain_management and without a rule the chain."`
	Action           string    `arg:"action" default:"append" enum:"append|insert" doc:"Where a new rule goes: behind all others, or before them."`
	RuleNum          string    `arg:"rule_num" doc:"With insert, the number it gets."`
	Policy           string    `arg:"policy" enum:"ACCEPT|DROP|QUEUE|RETURN" doc:"What happens to packets that no rule of the chain takes, instead of a rule."`
	Flush            bool      `arg:"flush" default:"false" doc:"Remove all rules of the chain, or of the table, instead."`
	ChainManagement  bool      `arg:"chain_management" default:"false" doc:"Create a chain that is not there, and with state: absent and no rule remove it."`
	Wait             string    `arg:"wait" doc:"How long to wait for another that changes rules, in seconds."`
	Protocol         string    `arg:"protocol" doc:"The protocol: tcp, udp, icmp, ipv6-icmp, esp, all or a number. Like most texts here it may begin with !, for any other."`
	Source           string    `arg:"source" doc:"Where packets come from: an address, a network or a name."`
	Destination      string    `arg:"destination" doc:"Where they go."`
	Match            []string  `arg:"match" doc:"Extensions to use: conntrack, set."`
	TCPFlags         *TCPFlags `arg:"tcp_flags" doc:"Which flags of TCP are looked at, and which of them must be set."`
	Jump             string    `arg:"jump" doc:"What happens to a packet: ACCEPT, DROP, LOG, or a chain."`
	Gateway          string    `arg:"gateway" doc:"Where TEE sends copies."`
	LogPrefix        string    `arg:"log_prefix" doc:"What stands before each line of LOG, which is then implied."`
	LogLevel         string    `arg:"log_level" enum:"0|1|2|3|4|5|6|7|emerg|alert|crit|error|warning|notice|info|debug" doc:"The level of LOG, which is then implied."`
	ToDestination    string    `arg:"to_destination" doc:"The address that DNAT puts in."`
	DestinationPorts []string  `arg:"destination_ports" doc:"Several ports that packets go to, and ranges: 80, 8080:8090."`
	ToSource         string    `arg:"to_source" doc:"The address that SNAT puts in."`
	Goto             string    `arg:"goto" doc:"A chain that does not come back to this one."`
	InInterface      string    `arg:"in_interface" doc:"The interface that packets come in by; eth+ for all that begin so."`
	OutInterface     string    `arg:"out_interface" doc:"The interface that they leave by."`
	Fragment         string    `arg:"fragment" doc:"Only later fragments."`
	SetCounters      string    `arg:"set_counters" doc:"What the counters of the rule begin with."`
	SourcePort       string    `arg:"source_port" doc:"The port, or the range first:last, that packets come from."`
	DestinationPort  string    `arg:"destination_port" doc:"The port or range that they go to."`
	ToPorts          string    `arg:"to_ports" doc:"Where REDIRECT sends them."`
	SetDSCPMark      string    `arg:"set_dscp_mark" doc:"The number that DSCP puts in."`
	SetDSCPMarkClass string    `arg:"set_dscp_mark_class" doc:"The class that DSCP puts in."`
	Syn              string    `arg:"syn" default:"ignore" enum:"ignore|match|negate" doc:"Only packets that begin connections, or all others."`
	Ctstate          []string  `arg:"ctstate" doc:"States of connections: NEW, ESTABLISHED, RELATED, INVALID, UNTRACKED, SNAT, DNAT."`
	SrcRange         string    `arg:"src_range" doc:"A range of addresses that packets come from: 192.0.2.1-192.0.2.9."`
	DstRange         string    `arg:"dst_range" doc:"A range that they go to."`
	MatchSet         string    `arg:"match_set" doc:"A set of ipset."`
	MatchSetFlags    string    `arg:"match_set_flags" enum:"src|dst|src,dst|dst,src" doc:"What of a packet is looked for in the set."`
	Limit            string    `arg:"limit" doc:"How often the rule takes a packet, on average: 5/minute."`
	LimitBurst       string    `arg:"limit_burst" doc:"How many may come at once before the limit holds."`
	UIDOwner         string    `arg:"uid_owner" doc:"The user whose process sends the packet."`
	GIDOwner         string    `arg:"gid_owner" doc:"The group."`
	RejectWith       string    `arg:"reject_with" doc:"What REJECT answers, which is then implied."`
	ICMPType         string    `arg:"icmp_type" doc:"The type of ICMP."`
	Comment          string    `arg:"comment" doc:"A comment on the rule."`

	Rule  []string
	Shown string // what results have: the rule without what is only implied
}

// TCPFlags are flags of TCP that a rule looks at.
type TCPFlags struct {
	Flags []string `arg:"flags" doc:"Flags that are looked at: SYN, ACK, FIN, RST, URG, PSH, ALL or NONE."`
	Set   []string `arg:"flags_set" doc:"Those of them that must be set."`
}

var _ = declareAction(&Action{
	Name:    "iptables",
	Doc:     "Adds and removes a rule of the kernel's packet filter, sets the policy of a chain or empties it, with iptables. Nothing is saved for the next start.",
	Process: "*",
	Check:   true,
	args:    reflect.TypeFor[IptablesArgs](),
	Returns: []Return{
		{"rule", "The words of the rule."},
		{"chain", "The chain, and in the same way table, ip_version, state, flush and chain_management."},
	},
	Least: "iptables: {chain: INPUT, jump: ACCEPT}",
	Example: `- iptables: {chain: INPUT, protocol: tcp, destination_port: 22, ctstate: [NEW], jump: ACCEPT, comment: SSH}
- iptables: {chain: INPUT, source: 192.0.2.1, jump: DROP, state: absent}
- iptables: {chain: FORWARD, policy: DROP}
`,
})

func (a *IptablesArgs) validateArgs(func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	var match []string
	for _, text := range a.Match {
		match = append(match, splitCommas(text)...)
	}
	a.Match = match
	a.Shown = strings.Join(a.words(), " ")
	logs := a.LogPrefix != "" || a.LogLevel != ""
	switch {
	case logs && a.Jump == "":
		a.Jump = "LOG"
	case logs && a.Jump != "LOG":
		add("jump", "`log_prefix` and `log_level` are for `jump: LOG`", "log in a rule of its own")
	}
	if a.Chain == "" && !a.Flush {
		add("chain", "`iptables` needs `chain`, or `flush: true`", "")
	}
	if a.Flush && a.Policy != "" {
		add("flush", "`flush` and `policy` exclude each other", "make two steps")
	}
	if a.SetDSCPMark != "" && a.SetDSCPMarkClass != "" {
		add("set_dscp_mark", "`set_dscp_mark` and `set_dscp_mark_class` exclude each other", "")
	}
	if strings.EqualFold(a.Jump, "tee") && a.Gateway == "" {
		add("gateway", "`jump: "+a.Jump+"` needs `gateway`", "")
	}
	a.Rule = a.words()
	if a.State == "absent" && len(a.Rule) == 0 && !a.ChainManagement && !a.Flush && a.Policy == "" {
		add("state", "`state: absent` has no rule to remove", "with `chain_management: true` it removes the chain")
	}
	return problems
}

// words are the words of the rule, in the order in which iptables needs them: an extension before what belongs to it.
func (a *IptablesArgs) words() (rule []string) {
	add := func(flag, value string) {
		rest, not := strings.CutPrefix(value, "!")
		switch {
		case value == "":
		case not:
			rule = append(rule, "!", flag, rest)
		default:
			rule = append(rule, flag, value)
		}
	}
	list := func(flag string, values []string) {
		if len(values) > 0 {
			rule = append(rule, flag, strings.Join(values, ","))
		}
	}
	load := func(extension string, wanted bool) {
		if wanted {
			rule = append(rule, "-m", extension)
		}
	}
	// Its own option comes after the extension, whichever argument loads it.
	uses := func(extension string) bool { return slices.Contains(a.Match, extension) }
	if a.Wait != "" {
		rule = append(rule, "-w", a.Wait)
	}
	add("-p", a.Protocol)
	add("-s", a.Source)
	add("-d", a.Destination)
	for _, extension := range a.Match {
		add("-m", extension)
	}
	if f := a.TCPFlags; f != nil && f.Flags != nil && f.Set != nil {
		rule = append(rule, "--tcp-flags", strings.Join(f.Flags, ","), strings.Join(f.Set, ","))
	}
	add("-j", a.Jump)
	if strings.EqualFold(a.Jump, "tee") {
		add("--gateway", a.Gateway)
	}
	add("--log-prefix", a.LogPrefix)
	add("--log-level", a.LogLevel)
	add("--to-destination", a.ToDestination)
	load("multiport", len(a.DestinationPorts) > 0)
	list("--dports", a.DestinationPorts)
	add("--to-source", a.ToSource)
	add("-g", a.Goto)
	add("-i", a.InInterface)
	add("-o", a.OutInterface)
	add("-f", a.Fragment)
	add("-c", a.SetCounters)
	add("--source-port", a.SourcePort)
	add("--destination-port", a.DestinationPort)
	add("--to-ports", a.ToPorts)
	add("--set-dscp", a.SetDSCPMark)
	add("--set-dscp-class", a.SetDSCPMarkClass)
	switch a.Syn {
	case "match":
		rule = append(rule, "--syn")
	case "negate":
		rule = append(rule, "!", "--syn")
	}
	if uses("state") && !uses("conntrack") {
		list("--state", a.Ctstate)
	} else {
		load("conntrack", len(a.Ctstate) > 0 && !uses("conntrack"))
		list("--ctstate", a.Ctstate)
	}
	load("iprange", a.SrcRange+a.DstRange != "" && !uses("iprange"))
	add("--src-range", a.SrcRange)
	add("--dst-range", a.DstRange)
	load("set", a.MatchSet != "" && !uses("set"))
	add("--match-set", a.MatchSet)
	if (a.MatchSet != "" || uses("set")) && a.MatchSetFlags != "" {
		rule = append(rule, a.MatchSetFlags)
	}
	load("limit", a.Limit+a.LimitBurst != "")
	add("--limit", a.Limit)
	add("--limit-burst", a.LimitBurst)
	load("owner", a.UIDOwner != "")
	add("--uid-owner", a.UIDOwner)
	load("owner", a.GIDOwner != "")
	add("--gid-owner", a.GIDOwner)
	if a.Jump == "" && a.RejectWith != "" {
		rule = append(rule, "-j", "REJECT")
	}
	add("--reject-with", a.RejectWith)
	add(map[string]string{"ipv4": "--icmp-type", "ipv6": "--icmpv6-type"}[a.IPVersion], a.ICMPType)
	load("comment", a.Comment != "")
	add("--comment", a.Comment)
	return rule
}

// Removal are the arguments of a step that removes the rule again.
func (a *IptablesArgs) Removal() map[string]any {
	undo := map[string]any{}
	v := reflect.ValueOf(*a)
	for i := range v.NumField() {
		name, ok := v.Type().Field(i).Tag.Lookup("arg")
		if !ok || v.Field(i).IsZero() {
			continue
		}
		switch value := v.Field(i).Interface().(type) {
		case []string:
			undo[name] = anyTexts(value)
		case *TCPFlags:
			undo[name] = map[string]any{"flags": anyTexts(value.Flags), "flags_set": anyTexts(value.Set)}
		default:
			undo[name] = value
		}
	}
	undo["state"] = "absent"
	delete(undo, "chain_management")
	return undo
}
