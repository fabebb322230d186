package spec

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"moon/internal/suggest"
)

// SetupArgs are the arguments of setup.
type SetupArgs struct {
	Subset   []string      `arg:"gather_subset" implied:"all" doc:"What to gather: all, min, hardware, network, virtual, or names of facts; with ! in front, everything except that."`
	Filter   []string      `arg:"filter" implied:"everything" doc:"Names of the facts to return, with * and ?, with or without ansible_ in front."`
	Timeout  time.Duration `arg:"gather_timeout" default:"10s" doc:"How long to wait for sources that do not answer, such as a network file system."`
	FactPath string        `arg:"fact_path" kind:"path" default:"/etc/ansible/facts.d" doc:"Directory of the machine's own facts: files NAME.fact with JSON or INI, or programs that print one of these."`
}

var _ = declareAction(&Action{
	Name:    "setup",
	Aliases: []string{"gather_facts"},
	Doc:     "Gathers facts about the machine under Ansible's names, and changes nothing. It reads files, and does not need Python.",
	Check:   true,
	args:    reflect.TypeFor[SetupArgs](),
	Returns: []Return{{"ansible_facts", "The facts: ansible_os_family, ansible_default_ipv4 and so on."}},
	Least:   "setup: {}",
	Example: `- setup:
    gather_subset: ["!all", network]
  register: machine
- print: "{{ machine.ansible_facts.ansible_interfaces | length }} interfaces"
`,
})

// subsetWords are what gather_subset may name. Some stand for nothing that moon finds out.
var subsetWords = strings.Fields(`all min hardware network virtual
	apparmor caps cmdline date_time distribution dns env facter fips local lsb ohai pkg_mgr platform python selinux service_mgr
	ssh_pub_keys user devices dmi loadavg memory mounts processor uptime_seconds interfaces all_ipv4_addresses all_ipv6_addresses
	default_ipv4 default_ipv6 architecture kernel kernel_version machine machine_id nodename python_version system
	processor_cores processor_count virtualization_role virtualization_type virtualization_tech_guest virtualization_tech_host
	iscsi fibre_channel_wwn nvme system_capabilities system_capabilities_enforced
	os_family distribution_version distribution_release distribution_major_version chroot is_chroot`)

// FactSubset reports a word of gather_subset that means nothing.
func FactSubset(words []string) []Problem {
	var problems []Problem
	for _, word := range words {
		name, excluded := strings.CutPrefix(word, "!")
		if slices.Contains(subsetWords, name) {
			continue
		}
		hint := suggest.DidYouMean(name, subsetWords)
		// As with Ansible, what there is not may be excluded, unless it looks like a mistake.
		if excluded && hint == "" {
			continue
		}
		if hint == "" {
			hint = "it takes " + strings.Join(subsetWords[:5], ", ") + ", and names of facts"
		}
		problems = append(problems, Problem{"gather_subset", "`gather_subset` knows no " + nameValue(name), hint})
	}
	return problems
}

func (a *SetupArgs) validateArgs(func(string) bool) []Problem {
	if len(a.Subset) == 1 { // as a play's gather_subset may be written
		a.Subset = strings.FieldsFunc(a.Subset[0], func(r rune) bool { return r == ',' || r == ' ' })
	}
	return FactSubset(a.Subset)
}
