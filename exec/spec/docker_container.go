package spec

import (
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"moon/internal/pattern"
)

// DockerWanted is what a container is to be, as far as the arguments say it. Values has it by the names of the arguments, in the form
// that docker inspect has it in; what depends on the host or the image is added to it there.
type DockerWanted struct {
	Values   map[string]any
	Compare  map[string]string // by the name of the argument: strict, ignore or allow_more_present
	Env      map[string]string
	Ports    []DockerPort
	Exposed  []string // with their protocols: 80/tcp
	Networks []DockerNetwork
	Purge    bool // no other networks
	Mounts   []DockerMount
	Volumes  []DockerVolume
	Requests []string // --gpus
	Wait     time.Duration
}

// DockerPort is a published port. A range is one for each port.
type DockerPort struct {
	Container string // with its protocol: 80/tcp
	Default   bool   // where ports without an address are published
	HostIP    string
	HostPort  string // empty: any; it may be a range
}

// DockerNetwork is a network that a container is in.
type DockerNetwork struct {
	Name    string   `arg:"name" need:"yes"`
	IPv4    string   `arg:"ipv4_address"`
	IPv6    string   `arg:"ipv6_address"`
	Aliases []string `arg:"aliases"`
	Links   []string `arg:"links"`
}

// DockerMount is a mount of a container.
type DockerMount struct {
	Target        string         `arg:"target" need:"yes"`
	Source        *string        `arg:"source"`
	Type          string         `arg:"type" default:"volume" enum:"bind|npipe|tmpfs|volume"`
	ReadOnly      *bool          `arg:"read_only"`
	Consistency   *string        `arg:"consistency" enum:"default|consistent|cached|delegated"`
	Propagation   *string        `arg:"propagation" enum:"private|rprivate|shared|rshared|slave|rslave"`
	NoCopy        *bool          `arg:"no_copy"`
	Labels        map[string]any `arg:"labels"`
	VolumeDriver  *string        `arg:"volume_driver"`
	VolumeOptions map[string]any `arg:"volume_options"`
	TmpfsSize     *string        `arg:"tmpfs_size"`
	TmpfsMode     *string        `arg:"tmpfs_mode"`

	Size, Mode int // of a tmpfs
}

// DockerVolume is a volume as -v has it; Host is empty for an anonymous one.
type DockerVolume struct{ Host, Container, Mode string }

// DockerHealth is how Docker checks the health of a container.
type DockerHealth struct {
	Test        any    `arg:"test" doc:"A line for the shell of the image, or a list that begins with CMD-SHELL, CMD or NONE."`
	Interval    string `arg:"interval" doc:"How often: 1m30s."`
	Timeout     string `arg:"timeout" doc:"How long one test may take."`
	StartPeriod string `arg:"start_period" doc:"How long after the start failures do not count."`
	Retries     *int   `arg:"retries" doc:"After how many failures it is unhealthy."`
}

// deviceRate is how fast or how often a device may be used.
type deviceRate struct {
	Path string `arg:"path" need:"yes"`
	Rate string `arg:"rate" need:"yes"`
}

// deviceRequest asks for devices by what they can do.
type deviceRequest struct {
	Driver       string         `arg:"driver"`
	Count        *int           `arg:"count"`
	IDs          []string       `arg:"device_ids"`
	Capabilities any            `arg:"capabilities"`
	Options      map[string]any `arg:"options"`
}

// How two values are compared.
const (
	CompareValue = "value"
	CompareList  = "list"
	CompareSet   = "set"
	CompareMaps  = "set(dict)"
	CompareDict  = "dict"
)

// DockerCompared are the arguments of docker_container that a container is compared by, with how.
var DockerCompared = map[string]string{
	"command": CompareList, "entrypoint": CompareList, "dns_servers": CompareList, "dns_search_domains": CompareList,
	"capabilities": CompareSet, "cap_drop": CompareSet, "dns_opts": CompareSet, "env": CompareSet,
	"etc_hosts": CompareSet, "groups": CompareSet, "links": CompareSet, "security_opts": CompareSet,
	"volumes_from": CompareSet, "exposed_ports": CompareSet, "volume_binds": CompareSet, "volumes": CompareDict,
	"devices": CompareMaps, "device_read_bps": CompareMaps, "device_write_bps": CompareMaps,
	"device_read_iops": CompareMaps, "device_write_iops": CompareMaps, "device_requests": CompareMaps,
	"ulimits": CompareMaps, "mounts": CompareMaps, "networks": CompareMaps, "healthcheck": CompareDict,
	"labels": CompareDict, "log_options": CompareDict, "storage_opts": CompareDict, "sysctls": CompareDict,
	"tmpfs": CompareDict, "published_ports": CompareDict, "auto_remove": CompareValue, "blkio_weight": CompareValue,
	"cgroupns_mode": CompareValue, "cgroup_parent": CompareValue, "cpu_period": CompareValue, "cpu_quota": CompareValue,
	"cpuset_cpus": CompareValue, "cpuset_mems": CompareValue, "cpu_shares": CompareValue, "cpus": CompareValue,
	"detach": CompareValue, "interactive": CompareValue, "domainname": CompareValue, "hostname": CompareValue,
	"image": CompareValue, "init": CompareValue, "ipc_mode": CompareValue, "kernel_memory": CompareValue,
	"log_driver": CompareValue, "mac_address": CompareValue, "memory": CompareValue, "memory_reservation": CompareValue,
	"memory_swap": CompareValue, "memory_swappiness": CompareValue, "stop_timeout": CompareValue,
	"network_mode": CompareValue, "oom_killer": CompareValue, "oom_score_adj": CompareValue, "pid_mode": CompareValue,
	"pids_limit": CompareValue, "platform": CompareValue, "privileged": CompareValue, "read_only": CompareValue,
	"restart_policy": CompareValue, "restart_retries": CompareValue, "runtime": CompareValue, "shm_size": CompareValue,
	"stop_signal": CompareValue, "tty": CompareValue, "user": CompareValue, "userns_mode": CompareValue,
	"uts": CompareValue, "volume_driver": CompareValue, "working_dir": CompareValue, "publish_all_ports": CompareValue,
}

// Ways of comparing what a container is with what it is to be.
const (
	compareStrict = "strict"
	compareIgnore = "ignore"
	compareMore   = "allow_more_present"
)

// containerDecoder works out what arguments of docker_container mean.
type containerDecoder struct {
	args     *DockerContainerArgs
	wanted   *DockerWanted
	given    func(string) bool
	problems []Problem
}

func (d *containerDecoder) refuse(field, hint, format string, args ...any) {
	d.problems = append(d.problems, Problem{field, fmt.Sprintf(format, args...), hint})
}

func (d *containerDecoder) decode() {
	a := d.args
	d.wanted.Values = map[string]any{}
	if a.State == "present" && a.Image == "" {
		d.refuse("image", "", "`state: present` needs `image`")
	}
	if a.RestartRetries != nil && a.RestartPolicy == nil {
		d.refuse("restart_retries", "", "`restart_retries` needs `restart_policy`")
	}
	if a.LogOptions != nil && a.LogDriver == nil {
		d.refuse("log_options", "", "`log_options` needs `log_driver`")
	}
	if a.RemovalWait != "" {
		wait, ok := asDuration(a.RemovalWait)
		if !ok {
			d.refuse("removal_wait_timeout", "", "`removal_wait_timeout` must be a number of seconds, found %s", nameValue(a.RemovalWait))
		}
		d.wanted.Wait = wait
	}
	d.setDefaults()
	d.decodeComparisons()
	d.decodeWords()
	d.decodeTexts()
	d.decodeSizes()
	d.decodeNetworks()
	d.decodePorts()
	d.decodeMounts()
	d.decodeDevices()
	d.decodeHealth()
}

// setDefaults has arguments that are not given mean what they meant in old versions of Ansible's module, if the playbook asks for it.
func (d *containerDecoder) setDefaults() {
	a := d.args
	if a.OldDefaults != "compatibility" {
		return
	}
	yes, no, none := true, false, "0"
	for _, b := range []**bool{&a.AutoRemove, &a.Init, &a.Interactive, &a.Paused, &a.Privileged, &a.ReadOnly, &a.TTY} {
		if *b == nil {
			*b = &no
		}
	}
	if a.Detach == nil {
		a.Detach = &yes
	}
	if a.Memory == nil {
		a.Memory = &none
	}
}

func (d *containerDecoder) decodeComparisons() {
	a := d.args
	how := map[string]string{}
	for name, kind := range DockerCompared {
		how[name] = compareMore
		if kind == CompareValue || kind == CompareList {
			how[name] = compareStrict
		}
	}
	how["stop_timeout"] = compareIgnore
	if a.IgnoreImage {
		how["image"] = compareIgnore
	}
	if a.PurgeNetworks {
		how["networks"] = compareStrict
	}
	texts, _ := textMap(a.Comparisons)
	if all, ok := texts["*"]; ok {
		if all != compareStrict && all != compareIgnore {
			d.refuse("comparisons", "", "`*` in `comparisons` can be strict or ignore, found %s", nameValue(a.Comparisons["*"]))
		}
		for name := range how {
			// Without networks there is nothing to compare them with.
			if name != "networks" || a.Networks != nil {
				how[name] = all
			}
		}
	}
	declared := fieldsOf(containerArgs)
	seen := map[string]string{}
	for _, written := range slices.Sorted(maps.Keys(texts)) {
		value, name := texts[written], written
		if f, ok := findField(declared, written); ok {
			name = f.Name
		}
		kind, known := DockerCompared[name]
		if name == "volume_binds" {
			known = false
		}
		switch {
		case written == "*":
		case !known:
			d.refuse("comparisons", "", "`comparisons` has %s, which containers are not compared by", nameValue(written))
		case seen[name] != "":
			d.refuse("comparisons", "give one of them", "`%s` and `%s` in `comparisons` are the same", seen[name], written)
		case value != compareStrict && value != compareIgnore && value != compareMore:
			d.refuse("comparisons", "", "`comparisons.%s` must be strict, ignore or allow_more_present, found %s", written, nameValue(a.Comparisons[written]))
		case value == compareMore && kind == CompareValue:
			d.refuse("comparisons", "write strict or ignore", "`%s` is a single value, and cannot have more", written)
		default:
			how[name] = value
		}
		seen[name] = written
	}
	how["volume_binds"] = how["volumes"]
	d.wanted.Compare = how
}

// words are the words of a command.
func (d *containerDecoder) words(field string, value any) []string {
	list, ok := asStrings(value)
	_, isList := value.([]any)
	if given, isTexts := value.([]string); isTexts {
		list, ok, isList = given, true, true
	}
	if !ok {
		d.refuse(field, "", "`%s` must be text or a list of texts, found %s", field, nameValue(value))
		return nil
	}
	if isList && d.args.CommandHandling == "correct" {
		return list
	}
	words, err := Words(strings.Join(list, " "))
	if err != nil {
		d.refuse(field, "", "`%s` %s", field, err)
	}
	return words
}

func (d *containerDecoder) decodeWords() {
	a := d.args
	set := func(name string, value any) {
		words := d.words(name, value)
		if len(words) > 0 || a.CommandHandling == "correct" {
			d.wanted.Values[name] = append([]string{}, words...)
		}
	}
	if a.Command != nil {
		set("command", a.Command)
	}
	if a.Entrypoint != nil {
		set("entrypoint", a.Entrypoint)
	}
	for _, option := range a.SecurityOpts {
		name, value, _ := strings.Cut(strings.Replace(option, ":", "=", 1), "=")
		// The client would read a file of that name, and the daemon have what is in it.
		if name == "seccomp" && value != "unconfined" && value != "builtin" {
			d.refuse("security_opts", "use `command: docker run --security-opt …`", "a profile for seccomp is not supported yet")
		}
	}
}

// asIs puts an argument that was given into the values.
func asIs[T any](values map[string]any, name string, value *T) {
	if value != nil {
		values[name] = *value
	}
}

func (d *containerDecoder) decodeTexts() {
	a, v := d.args, d.wanted.Values
	for name, value := range map[string]*string{
		"cgroupns_mode": a.CgroupnsMode, "cgroup_parent": a.CgroupParent, "cpuset_cpus": a.CpusetCpus, "cpuset_mems": a.CpusetMems,
		"domainname": a.Domainname, "hostname": a.Hostname, "ipc_mode": a.IpcMode, "log_driver": a.LogDriver, "network_mode": a.NetworkMode,
		"pid_mode": a.PidMode, "platform": a.Platform, "restart_policy": a.RestartPolicy, "runtime": a.Runtime, "stop_signal": a.StopSignal,
		"user": a.User, "userns_mode": a.UsernsMode, "uts": a.UTS, "volume_driver": a.VolumeDriver, "working_dir": a.WorkingDir,
	} {
		asIs(v, name, value)
	}
	for name, value := range map[string]*bool{
		"auto_remove": a.AutoRemove, "detach": a.Detach, "init": a.Init, "interactive": a.Interactive, "oom_killer": a.OomKiller,
		"privileged": a.Privileged, "read_only": a.ReadOnly, "tty": a.TTY, "publish_all_ports": a.PublishAllPorts,
	} {
		asIs(v, name, value)
	}
	for name, value := range map[string]*int{
		"blkio_weight": a.BlkioWeight, "cpu_period": a.CPUPeriod, "cpu_quota": a.CPUQuota, "cpu_shares": a.CPUShares,
		"memory_swappiness": a.MemorySwappiness, "stop_timeout": a.StopTimeout, "oom_score_adj": a.OomScoreAdj, "pids_limit": a.PidsLimit,
		"restart_retries": a.RestartRetries,
	} {
		asIs(v, name, value)
	}
	for name, list := range map[string][]string{
		"capabilities": a.Capabilities, "cap_drop": a.CapDrop, "dns_opts": a.DNSOpts, "dns_servers": a.DNSServers,
		"dns_search_domains": a.DNSSearch, "groups": a.Groups, "security_opts": a.SecurityOpts, "volumes_from": a.VolumesFrom,
	} {
		if list != nil {
			v[name] = list
		}
	}
	given := map[string]map[string]any{
		"labels": a.Labels, "log_options": a.LogOptions, "storage_opts": a.StorageOpts, "sysctls": a.Sysctls,
		"etc_hosts": a.EtcHosts, "env": a.Env,
	}
	for _, name := range slices.Sorted(maps.Keys(given)) { // the order of what is wrong is the same each time
		m := given[name]
		texts, wrong := textMap(m)
		for _, key := range wrong {
			d.refuse(name, "", "`%s.%s` must be text, found %s", name, key, nameValue(m[key]))
		}
		if m != nil {
			v[name] = texts
		}
	}
	d.wanted.Env, _ = v["env"].(map[string]string)
	delete(v, "env") // it is compared together with that of the image
	for _, key := range slices.Sorted(maps.Keys(d.wanted.Env)) {
		if key == "" || strings.ContainsAny(key, "= \t\n") {
			d.refuse("env", "", "`env` has %s, which is not the name of a variable", nameValue(key))
		}
		if _, isBool := a.Env[key].(bool); isBool {
			d.refuse("env", "put it into quotes", "`env.%s` must be text, found %s", key, nameValue(a.Env[key]))
		}
	}
	if hosts, ok := v["etc_hosts"].(map[string]string); ok {
		lines := []string{}
		for _, name := range slices.Sorted(maps.Keys(hosts)) {
			lines = append(lines, name+":"+hosts[name])
		}
		v["etc_hosts"] = lines
	}
	if a.Links != nil {
		links := []string{}
		for _, link := range a.Links {
			name, alias, ok := strings.Cut(link, ":")
			if !ok {
				alias = name
			}
			links = append(links, "/"+name+":/"+a.Name+"/"+alias)
		}
		v["links"] = links
	}
	if a.MacAddress != nil {
		v["mac_address"] = strings.ReplaceAll(*a.MacAddress, "-", ":")
	}
}

func (d *containerDecoder) decodeSizes() {
	a, v := d.args, d.wanted.Values
	for name, text := range map[string]*string{
		"memory": a.Memory, "memory_reservation": a.MemoryReservation, "memory_swap": a.MemorySwap,
		"kernel_memory": a.KernelMemory, "shm_size": a.ShmSize,
	} {
		if text == nil {
			continue
		}
		size, ok := parseBytes(*text)
		if name == "memory_swap" && (*text == "unlimited" || *text == "-1") {
			size, ok = -1, true
		}
		if !ok {
			d.refuse(name, "", "`%s` must be a size like 512M, found %s", name, nameValue(*text))
		}
		v[name] = size
	}
	if a.CPUs != nil {
		number, err := strconv.ParseFloat(*a.CPUs, 64)
		if err != nil || number < 0 {
			d.refuse("cpus", "", "`cpus` must be a number, found %s", nameValue(*a.CPUs))
		}
		v["cpus"] = int(math.Round(number * 1e9))
	}
}

func (d *containerDecoder) decodeNetworks() {
	a := d.args
	if a.Networks != nil {
		list, problems := decodeList[DockerNetwork]("docker_container", "networks", a.Networks)
		d.problems = append(d.problems, problems...)
		for i := range list {
			for k, link := range list[i].Links {
				if !strings.Contains(link, ":") {
					list[i].Links[k] = link + ":" + link
				}
			}
		}
		d.wanted.Networks = list
		if len(list) > 0 && a.CLICompatible && a.NetworkMode == nil {
			d.wanted.Values["network_mode"] = list[0].Name
		}
	}
	d.wanted.Purge = a.PurgeNetworks || a.Networks != nil && d.wanted.Compare["networks"] == compareStrict
}

// portSpec is a port, or several, perhaps with where it is published.
var portSpec = pattern.New(`^(?:(?:(\[[^\]]*\]|[^:\[\]]*):)?([0-9-]*):)?([0-9-]+)(?:/([a-z]+))?$`)

func (d *containerDecoder) decodePorts() {
	a := d.args
	if ip := a.DefaultHostIP; ip != nil && *ip != "" {
		if _, err := netip.ParseAddr(strings.Trim(*ip, "[]")); err != nil {
			d.refuse("default_host_ip", "", "`default_host_ip` must be an address or empty, found %s", nameValue(*ip))
		}
	}
	for _, text := range a.ExposedPorts {
		port, protocol, ok := strings.Cut(strings.TrimSpace(text), "/")
		if !ok {
			protocol = "tcp"
		}
		ports, ok := portRange(port)
		if !ok {
			d.refuse("exposed_ports", "", "`exposed_ports` has %s, which is not a port", nameValue(text))
		}
		for _, port := range ports {
			d.wanted.Exposed = append(d.wanted.Exposed, strconv.Itoa(port)+"/"+protocol)
		}
	}
	for _, text := range a.PublishedPorts {
		// As with Ansible, an address must be one: names are not looked up.
		parts := portSpec.FindStringSubmatch(text)
		switch {
		case text == "all":
			d.refuse("published_ports", "use `publish_all_ports: true`", "`published_ports` cannot be all")
			continue
		case parts == nil:
			d.refuse("published_ports", "", "`published_ports` has %s, which is not like 8080:80 or 127.0.0.1:8080:80/tcp", nameValue(text))
			continue
		}
		d.publish(text, parts[1], parts[2], parts[3], parts[4])
	}
	if a.PublishedPorts == nil {
		return
	}
	for _, port := range d.wanted.Ports {
		if !slices.Contains(d.wanted.Exposed, port.Container) {
			d.wanted.Exposed = append(d.wanted.Exposed, port.Container)
		}
	}
}

func (d *containerDecoder) publish(text, ip, host, container, protocol string) {
	refuse := func(why string) {
		d.refuse("published_ports", "", "`published_ports` has %s: %s", nameValue(text), why)
	}
	address := strings.Trim(ip, "[]")
	if _, err := netip.ParseAddr(address); ip != "" && err != nil {
		refuse("the address must be one of IPv4, or of IPv6 in square brackets")
		return
	}
	if protocol == "" {
		protocol = "tcp"
	}
	inside, ok := portRange(container)
	outside, fits := portRange(host)
	if host == "" {
		outside, fits = nil, true
	}
	switch {
	case !ok || !fits:
		refuse("this is not a range of ports")
		return
	case len(inside) > 1 && host != "" && len(outside) != len(inside):
		refuse("the ranges are not of the same size")
		return
	}
	for i, port := range inside {
		one := DockerPort{Container: strconv.Itoa(port) + "/" + protocol, Default: ip == "", HostIP: address}
		switch {
		case host == "":
		case len(inside) == 1: // docker takes one out of a range
			one.HostPort = host
		default:
			one.HostPort = strconv.Itoa(outside[i])
		}
		d.wanted.Ports = append(d.wanted.Ports, one)
	}
}

// portRange is a port or a range of them.
func portRange(text string) (ports []int, ok bool) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	first, err := strconv.Atoi(from)
	last, errLast := strconv.Atoi(to)
	if err != nil || errLast != nil || first > last || last > 65535 {
		return nil, false
	}
	for port := first; port <= last; port++ {
		ports = append(ports, port)
	}
	return ports, true
}

var volumeModes = []string{
	"rw", "ro", "z", "Z", "consistent", "delegated", "cached", "rprivate", "private", "rshared", "shared", "rslave", "slave", "nocopy",
}

func isVolumeMode(text string) bool {
	for word := range strings.SplitSeq(text, ",") {
		if !slices.Contains(volumeModes, word) {
			return false
		}
	}
	return true
}

func (d *containerDecoder) decodeMounts() {
	a := d.args
	targets := map[string]string{} // nothing can be mounted over something else
	target := func(field, path string) {
		if before := targets[path]; before != "" {
			d.refuse(field, "", "%s is mounted to twice, in `%s` and in `%s`", path, before, field)
		}
		targets[path] = field
	}
	if a.Mounts != nil {
		list, problems := decodeList[DockerMount]("docker_container", "mounts", a.Mounts)
		d.problems = append(d.problems, problems...)
		for i := range list {
			target("mounts", list[i].Target)
			d.checkMount(&list[i])
		}
		d.wanted.Mounts = append([]DockerMount{}, list...)
	}
	for _, text := range a.Volumes {
		parts := strings.Split(text, ":")
		v := DockerVolume{Container: parts[len(parts)-1]}
		switch {
		case len(parts) == 2 && isVolumeMode(parts[1]):
			d.refuse("volumes", "create it with `docker_volume`, and give its name",
				"`volumes` has %s: an anonymous volume cannot have a mode", nameValue(text))
		case len(parts) == 2:
			v = DockerVolume{parts[0], parts[1], "rw"}
		case len(parts) == 3 && isVolumeMode(parts[2]):
			v = DockerVolume{parts[0], parts[1], parts[2]}
		case len(parts) != 1:
			d.refuse("volumes", "", "`volumes` has %s, which is not like SOURCE:TARGET:ro", nameValue(text))
			continue
		}
		target("volumes", v.Container)
		d.wanted.Volumes = append(d.wanted.Volumes, v)
	}
	if a.Tmpfs != nil {
		tmpfs := map[string]string{}
		for _, text := range a.Tmpfs {
			path, options, _ := strings.Cut(text, ":")
			tmpfs[path] = options
		}
		d.wanted.Values["tmpfs"] = tmpfs
	}
}

func (d *containerDecoder) checkMount(m *DockerMount) {
	if m.Source == nil && m.Type != "tmpfs" && m.Type != "volume" {
		d.refuse("mounts", "", "the mount %s of type %s needs `source`", m.Target, m.Type)
	}
	for _, only := range []struct {
		name, kind string
		given      bool
	}{
		{"volume_driver", "volume", m.VolumeDriver != nil},
		{"volume_options", "volume", m.VolumeOptions != nil},
		{"no_copy", "volume", m.NoCopy != nil},
		{"labels", "volume", m.Labels != nil},
		{"propagation", "bind", m.Propagation != nil},
		{"tmpfs_size", "tmpfs", m.TmpfsSize != nil},
		{"tmpfs_mode", "tmpfs", m.TmpfsMode != nil},
	} {
		if only.given && m.Type != only.kind {
			d.refuse("mounts", "", "the mount %s is of type %s; `%s` is for type %s", m.Target, m.Type, only.name, only.kind)
		}
	}
	if m.TmpfsSize != nil {
		size, ok := parseBytes(*m.TmpfsSize)
		if !ok {
			d.refuse("mounts", "", "`tmpfs_size` of the mount %s must be a size like 64M, found %s", m.Target, nameValue(*m.TmpfsSize))
		}
		m.Size = size
	}
	if m.TmpfsMode != nil {
		mode, err := strconv.ParseInt(*m.TmpfsMode, 8, 32)
		if err != nil {
			d.refuse("mounts", "", "`tmpfs_mode` of the mount %s must be octal, found %s", m.Target, nameValue(*m.TmpfsMode))
		}
		m.Mode = int(mode)
	}
}

func (d *containerDecoder) decodeDevices() {
	a, v := d.args, d.wanted.Values
	if a.Devices != nil {
		list := []any{}
		for _, text := range a.Devices {
			// What is not given is as on the host, and allows everything.
			parts := strings.Split(text, ":")
			if len(parts) == 1 {
				parts = append(parts, parts[0])
			}
			if len(parts) == 2 {
				parts = append(parts, "rwm")
			}
			list = append(list, map[string]any{"PathOnHost": parts[0], "PathInContainer": parts[1], "CgroupPermissions": parts[2]})
		}
		v["devices"] = list
	}
	for name, value := range map[string]any{
		"device_read_bps": a.DeviceReadBps, "device_write_bps": a.DeviceWriteBps,
		"device_read_iops": a.DeviceReadIops, "device_write_iops": a.DeviceWriteIops,
	} {
		if value == nil {
			continue
		}
		list, problems := decodeList[deviceRate]("docker_container", name, value)
		d.problems = append(d.problems, problems...)
		rates := []any{}
		for _, one := range list {
			rate, ok := parseBytes(one.Rate)
			if !ok {
				d.refuse(name, "", "`rate` in `%s` must be a number, found %s", name, nameValue(one.Rate))
			}
			rates = append(rates, map[string]any{"Path": one.Path, "Rate": rate})
		}
		v[name] = rates
	}
	if a.Ulimits != nil {
		list := []any{}
		for _, text := range a.Ulimits {
			parts := strings.Split(text, ":")
			if len(parts) == 2 {
				parts = append(parts, parts[1])
			}
			soft, err := strconv.Atoi(parts[min(1, len(parts)-1)])
			hard, errHard := strconv.Atoi(parts[len(parts)-1])
			if len(parts) != 3 || err != nil || errHard != nil {
				d.refuse("ulimits", "", "`ulimits` has %s, which is not like nofile:1024:2048", nameValue(text))
			}
			list = append(list, map[string]any{"Name": parts[0], "Soft": soft, "Hard": hard})
		}
		v["ulimits"] = list
	}
	if a.DeviceRequests != nil {
		d.decodeRequests()
	}
}

// decodeRequests words requests for devices as --gpus has them, which always asks for the capability gpu.
func (d *containerDecoder) decodeRequests() {
	list, problems := decodeList[deviceRequest]("docker_container", "device_requests", d.args.DeviceRequests)
	d.problems = append(d.problems, problems...)
	wanted := []any{}
	for _, r := range list {
		// One list of capabilities that must all be there; the client has no word for another.
		lists, _ := r.Capabilities.([]any)
		var abilities []string
		if len(lists) == 1 {
			abilities, _ = asStrings(lists[0])
		}
		if !slices.Contains(abilities, "gpu") {
			d.refuse("device_requests", "use `command: docker run …`", "`device_requests` is supported for capabilities: [[gpu]] only")
			continue
		}
		is := map[string]any{"Capabilities": []any{anyTexts(abilities)}}
		var words []string
		word := func(name, value string) { words = append(words, `"`+name+"="+strings.ReplaceAll(value, `"`, `""`)+`"`) }
		if r.Driver != "" {
			word("driver", r.Driver)
			is["Driver"] = r.Driver
		}
		if r.Count != nil {
			word("count", strconv.Itoa(*r.Count))
			is["Count"] = *r.Count
		}
		if r.IDs != nil {
			word("device", strings.Join(r.IDs, ","))
			is["DeviceIDs"] = anyTexts(r.IDs)
		}
		if others := slices.DeleteFunc(slices.Clone(abilities), func(s string) bool { return s == "gpu" }); len(others) > 0 {
			word("capabilities", strings.Join(others, ","))
		}
		texts, _ := textMap(r.Options)
		var options []string
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			options = append(options, name+"="+texts[name])
		}
		if len(options) > 0 {
			word("options", strings.Join(options, ","))
		}
		wanted = append(wanted, is)
		d.wanted.Requests = append(d.wanted.Requests, strings.Join(words, ","))
	}
	d.wanted.Values["device_requests"] = wanted
}

func anyTexts(list []string) []any {
	texts := make([]any, len(list))
	for i, text := range list {
		texts[i] = text
	}
	return texts
}

// healthTime is a duration as health checks have it; Docker knows no days.
var healthTime = pattern.New(`^([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?([0-9]+us)?$`)

func (d *containerDecoder) decodeHealth() {
	h := d.args.Healthcheck
	if h == nil {
		return
	}
	is := map[string]any{"Test": []any{"NONE"}}
	d.wanted.Values["healthcheck"] = is
	test, ok := asStrings(h.Test)
	if h.Test != nil && !ok {
		d.refuse("healthcheck", "", "`healthcheck.test` must be text or a list of texts, found %s", nameValue(h.Test))
	}
	if len(test) == 0 || test[0] == "" {
		return
	}
	if _, isText := asText(h.Test); isText {
		test = append([]string{"CMD-SHELL"}, test...)
	}
	is["Test"] = anyTexts(test)
	right := test[0] == "NONE" || test[0] == "CMD" && len(test) > 1 || test[0] == "CMD-SHELL" && len(test) == 2
	if !right {
		d.refuse("healthcheck", "", "`healthcheck.test` must be a line, or a list that begins with CMD, CMD-SHELL or NONE")
	}
	for name, text := range map[string]string{"Interval": h.Interval, "Timeout": h.Timeout, "StartPeriod": h.StartPeriod} {
		if text == "" {
			continue
		}
		long, err := time.ParseDuration(text)
		if !healthTime.MatchString(text) || err != nil {
			d.refuse("healthcheck", "", "a duration of `healthcheck` must be like 1m30s, found %s", nameValue(text))
		}
		if long != 0 {
			is[name] = int(long)
		}
	}
	if h.Retries != nil && *h.Retries != 0 {
		is["Retries"] = *h.Retries
	}
}
