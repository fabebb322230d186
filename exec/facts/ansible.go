package facts

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// factsTimeout is how long the facts that may take long, such as those of a file system over the network, are waited for.
const factsTimeout = 10 * time.Second

// factsDir is where a machine keeps facts of its own making.
const factsDir = "/etc/ansible/facts.d"

// FactPrefix is what the names of facts begin with where they are variables.
const FactPrefix = "ansible_"

// survey gathers facts under the names that Ansible gives them.
type survey struct {
	ctx   context.Context
	root  string // "" but for tests: where the files of the machine are
	local string // the directory of local facts
	found map[string]any
}

// gatherers find facts out, each those of one subset; those in the first group are always gathered. They read files. Only
// executable files among the local facts are started.
var gatherers = []struct {
	name, group string
	do          func(*survey)
}{
	{"apparmor", "min", (*survey).addAppArmor},
	{"cmdline", "min", (*survey).addCmdline},
	{"date_time", "min", (*survey).dateTime},
	{"distribution", "min", (*survey).addDistribution},
	{"dns", "min", (*survey).addDNS},
	{"env", "min", (*survey).addEnv},
	{"fips", "min", (*survey).addFIPS},
	{"local", "min", (*survey).localFacts},
	{"lsb", "min", (*survey).addLSB},
	{"pkg_mgr", "min", (*survey).packageManager},
	{"platform", "min", (*survey).addPlatform},
	{"python", "min", (*survey).addPython},
	{"selinux", "min", (*survey).addSELinux},
	{"service_mgr", "min", (*survey).serviceManager},
	{"ssh_pub_keys", "min", (*survey).hostKeys},
	{"user", "min", (*survey).addUser},
	{"devices", "hardware", (*survey).addDevices},
	{"dmi", "hardware", (*survey).addDMI},
	{"loadavg", "hardware", (*survey).addLoad},
	{"memory", "hardware", (*survey).addMemory},
	{"mounts", "hardware", (*survey).addMounts},
	{"processor", "hardware", (*survey).addProcessor},
	{"uptime_seconds", "hardware", (*survey).addUptime},
	{"interfaces", "network", (*survey).addNetwork},
	{"virtual", "virtual", (*survey).addVirtual},
}

// subsetNames are facts that are gathered with others, and with which.
var subsetNames = map[string]string{
	"all_ipv4_addresses": "interfaces", "all_ipv6_addresses": "interfaces", "default_ipv4": "interfaces", "default_ipv6": "interfaces",
	"architecture": "platform", "kernel": "platform", "kernel_version": "platform", "machine": "platform", "machine_id": "platform",
	"nodename": "platform", "python_version": "python", "system": "platform", "processor_cores": "processor",
	"processor_count": "processor",
	"os_family":       "distribution", "distribution_version": "distribution", "distribution_release": "distribution",
	"distribution_major_version": "distribution",
	"virtualization_role":        "virtual", "virtualization_type": "virtual", "virtualization_tech_guest": "virtual",
	"virtualization_tech_host": "virtual",
}

// Gather finds out about this machine what ansible_facts holds, under the names it has there: os_family, default_ipv4.
// Prefixed gives the names they have as variables. A subset is as gather_subset has it: min, hardware, network, virtual,
// the name of a fact, with ! for all but that; none: all. Words that it does not know
// count for nothing here; spec.FactSubset reports them. What may take long is waited for until the timeout; 0: 10 s.
//
// A fact that cannot be found out is missing, or says NA where Ansible says so.
func Gather(ctx context.Context, subset []string, timeout time.Duration) map[string]any {
	return GatherBelow(ctx, "", factsDir, subset, timeout)
}

// GatherBelow gathers facts as Gather does, of a system whose root is another directory: tests have one that does not change. local is the
// directory of local facts.
func GatherBelow(ctx context.Context, root, local string, subset []string, timeout time.Duration) map[string]any {
	if timeout <= 0 {
		timeout = factsTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	s := &survey{ctx: ctx, root: root, local: local, found: map[string]any{}}
	wanted := factSubset(subset)
	for _, g := range gatherers {
		if wanted[g.name] {
			g.do(s)
		}
	}
	s.found["gather_subset"] = AnyList(subset)
	if len(subset) == 0 {
		s.found["gather_subset"] = []any{"all"}
	}
	s.found["module_setup"] = true
	return s.found
}

// Prefixed gives facts the names that they have as variables: ansible_os_family.
func Prefixed(facts map[string]any) map[string]any {
	named := make(map[string]any, len(facts))
	for name, value := range facts {
		switch {
		case name == "gather_subset", name == "module_setup", strings.HasPrefix(name, FactPrefix):
			named[name] = value
		default:
			named[FactPrefix+name] = value
		}
	}
	return named
}

// factGroup is what a word of gather_subset stands for.
func factGroup(word string) []string {
	var names []string
	for _, g := range gatherers {
		if word == g.name || word == g.group || subsetNames[word] == g.name {
			names = append(names, g.name)
		}
	}
	return names
}

// factSubset says which gatherers are asked for. What is named is gathered whatever else is excluded; to exclude only is
// to exclude from the first group.
func factSubset(subset []string) map[string]bool {
	if len(subset) == 0 {
		subset = []string{"all"}
	}
	wanted, named, excluded := map[string]bool{}, map[string]bool{}, map[string]bool{}
	add := func(to map[string]bool, names []string) {
		for _, name := range names {
			to[name] = true
		}
	}
	var all []string
	for _, g := range gatherers {
		all = append(all, g.name)
	}
	// As with Ansible, this is gathered unless !min is among the words.
	least := factGroup("min")
	add(wanted, least)
	for _, word := range subset {
		without, not := strings.CutPrefix(word, "!")
		switch {
		case word == "all":
			add(wanted, all)
		case word == "!all":
			// Also as with Ansible, !all leaves the least.
			for _, name := range all {
				excluded[name] = excluded[name] || !slices.Contains(least, name)
			}
		case not:
			add(excluded, factGroup(without))
		default:
			add(named, factGroup(word))
			add(wanted, factGroup(word))
		}
	}
	maps.DeleteFunc(wanted, func(name string, _ bool) bool { return excluded[name] && !named[name] })
	return wanted
}

// readText returns the text of a file, without white space around it; "" if it cannot be read.
func (s *survey) readText(path string) string {
	text, err := os.ReadFile(s.root + path)
	if err != nil {
		return "" // facts are what can be seen
	}
	return strings.TrimSpace(string(text))
}

func (s *survey) fileExists(path string) bool {
	_, err := os.Lstat(s.root + path)
	return err == nil
}

// listDir returns the names in a directory, in order.
func (s *survey) listDir(dir string) []string {
	entries, _ := os.ReadDir(s.root + dir) // none where it cannot be read
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// globPaths returns the paths that a pattern matches, in order.
func (s *survey) globPaths(pattern string) []string {
	found, _ := filepath.Glob(s.root + pattern) // the patterns are moon's own
	for i := range found {
		found[i] = strings.TrimPrefix(found[i], s.root)
	}
	return found
}

// setFact notes a fact.
func (s *survey) setFact(name string, value any) { s.found[name] = value }

// orNA is what Ansible writes for what a machine does not say.
func orNA(text string) string {
	if text == "" {
		return "NA"
	}
	return text
}

// AnyList returns texts as a list value.
func AnyList(texts []string) []any {
	list := make([]any, len(texts))
	for i, s := range texts {
		list[i] = s
	}
	return list
}
