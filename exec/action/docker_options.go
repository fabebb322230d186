package action

import (
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
)

// dockerOption is an argument of docker_container that the container is compared by.
type dockerOption struct {
	name   string
	in     string // Config or HostConfig
	key    string // where docker inspect has it
	flag   string // of docker create; "": it is not as simple
	update bool   // docker update can change it
}

// dockerOptions are in the order of Ansible's module. What is compared in other ways is in differences.
var dockerOptions = []dockerOption{
	{"auto_remove", "HostConfig", "AutoRemove", "--rm", false},
	{"blkio_weight", "HostConfig", "BlkioWeight", "--blkio-weight", true},
	{"capabilities", "HostConfig", "CapAdd", "--cap-add", false},
	{"cap_drop", "HostConfig", "CapDrop", "--cap-drop", false},
	{"cgroupns_mode", "HostConfig", "CgroupnsMode", "--cgroupns", false},
	{"cgroup_parent", "HostConfig", "CgroupParent", "--cgroup-parent", false},
	{"command", "Config", "Cmd", "", false},
	{"cpu_period", "HostConfig", "CpuPeriod", "--cpu-period", true},
	{"cpu_quota", "HostConfig", "CpuQuota", "--cpu-quota", true},
	{"cpuset_cpus", "HostConfig", "CpusetCpus", "--cpuset-cpus", true},
	{"cpuset_mems", "HostConfig", "CpusetMems", "--cpuset-mems", true},
	{"cpu_shares", "HostConfig", "CpuShares", "--cpu-shares", true},
	{"entrypoint", "Config", "Entrypoint", "", false},
	{"cpus", "HostConfig", "NanoCpus", "", false},
	{"detach", "", "", "", false},
	{"interactive", "Config", "OpenStdin", "--interactive", false},
	{"devices", "HostConfig", "Devices", "", false},
	{"device_read_bps", "HostConfig", "BlkioDeviceReadBps", "--device-read-bps", false},
	{"device_write_bps", "HostConfig", "BlkioDeviceWriteBps", "--device-write-bps", false},
	{"device_read_iops", "HostConfig", "BlkioDeviceReadIOps", "--device-read-iops", false},
	{"device_write_iops", "HostConfig", "BlkioDeviceWriteIOps", "--device-write-iops", false},
	{"device_requests", "HostConfig", "DeviceRequests", "", false},
	{"dns_servers", "HostConfig", "Dns", "--dns", false},
	{"dns_opts", "HostConfig", "DnsOptions", "--dns-option", false},
	{"dns_search_domains", "HostConfig", "DnsSearch", "--dns-search", false},
	{"domainname", "Config", "Domainname", "--domainname", false},
	{"env", "Config", "Env", "", false},
	{"etc_hosts", "HostConfig", "ExtraHosts", "--add-host", false},
	{"groups", "HostConfig", "GroupAdd", "--group-add", false},
	{"healthcheck", "Config", "Healthcheck", "", false},
	{"hostname", "Config", "Hostname", "--hostname", false},
	{"init", "HostConfig", "Init", "--init", false},
	{"ipc_mode", "HostConfig", "IpcMode", "--ipc", false},
	{"kernel_memory", "HostConfig", "KernelMemory", "--kernel-memory", true},
	{"labels", "Config", "Labels", "--label", false},
	{"links", "HostConfig", "Links", "", false},
	{"log_driver", "", "", "--log-driver", false},
	{"log_options", "", "", "--log-opt", false},
	{"mac_address", "Config", "MacAddress", "--mac-address", false},
	{"memory", "HostConfig", "Memory", "--memory", true},
	{"memory_reservation", "HostConfig", "MemoryReservation", "--memory-reservation", true},
	{"memory_swap", "HostConfig", "MemorySwap", "--memory-swap", true},
	{"memory_swappiness", "HostConfig", "MemorySwappiness", "--memory-swappiness", false},
	{"stop_timeout", "Config", "StopTimeout", "--stop-timeout", false},
	{"network_mode", "HostConfig", "NetworkMode", "--network", false},
	{"oom_killer", "HostConfig", "OomKillDisable", "--oom-kill-disable", false},
	{"oom_score_adj", "HostConfig", "OomScoreAdj", "--oom-score-adj", false},
	{"pid_mode", "HostConfig", "PidMode", "--pid", false},
	{"pids_limit", "HostConfig", "PidsLimit", "--pids-limit", false},
	{"platform", "", "", "--platform", false},
	{"privileged", "HostConfig", "Privileged", "--privileged", false},
	{"read_only", "HostConfig", "ReadonlyRootfs", "--read-only", false},
	{"restart_policy", "", "", "", true},
	{"restart_retries", "", "", "", true},
	{"runtime", "HostConfig", "Runtime", "--runtime", false},
	{"security_opts", "HostConfig", "SecurityOpt", "--security-opt", false},
	{"shm_size", "HostConfig", "ShmSize", "--shm-size", false},
	{"stop_signal", "Config", "StopSignal", "--stop-signal", false},
	{"storage_opts", "HostConfig", "StorageOpt", "--storage-opt", false},
	{"sysctls", "HostConfig", "Sysctls", "--sysctl", false},
	{"tmpfs", "HostConfig", "Tmpfs", "", false},
	{"tty", "Config", "Tty", "--tty", false},
	{"ulimits", "HostConfig", "Ulimits", "", false},
	{"user", "Config", "User", "--user", false},
	{"userns_mode", "HostConfig", "UsernsMode", "--userns", false},
	{"uts", "HostConfig", "UTSMode", "--uts", false},
	{"volume_driver", "HostConfig", "VolumeDriver", "--volume-driver", false},
	{"volumes_from", "HostConfig", "VolumesFrom", "--volumes-from", false},
	{"working_dir", "Config", "WorkingDir", "--workdir", false},
	{"mounts", "", "", "", false},
	{"volumes", "Config", "Volumes", "", false},
	{"volume_binds", "HostConfig", "Binds", "", false},
	{"exposed_ports", "", "", "", false},
	{"publish_all_ports", "HostConfig", "PublishAllPorts", "--publish-all", false},
	{"published_ports", "HostConfig", "PortBindings", "", false},
}

// has is what the container has, in the form that its argument is compared in.
func (d *dockerContainer) has(o dockerOption) any {
	is := dig(d.is, o.in, o.key)
	// Some have several names for the same, or stand elsewhere.
	switch o.name {
	case "detach":
		return dig(d.is, "Config", "AttachStdout") != true || dig(d.is, "Config", "AttachStderr") != true
	case "log_driver":
		return dig(d.is, "HostConfig", "LogConfig", "Type")
	case "log_options":
		return digMap(d.is, "HostConfig", "LogConfig", "Config")
	case "restart_policy":
		if name := digText(d.is, "HostConfig", "RestartPolicy", "Name"); name != "" {
			return name
		}
		return "no"
	case "restart_retries":
		return dig(d.is, "HostConfig", "RestartPolicy", "MaximumRetryCount")
	case "platform":
		return strings.Trim(digText(d.compare, "Os")+"/"+digText(d.compare, "Architecture")+"/"+digText(d.compare, "Variant"), "/")
	case "capabilities", "cap_drop":
		return capabilities(digTexts(is))
	case "network_mode":
		return networkMode(is)
	case "mac_address":
		if is == nil || is == "" {
			is = dig(d.is, "NetworkSettings", "Networks", digText(d.is, "HostConfig", "NetworkMode"), "MacAddress")
		}
	case "healthcheck":
		if test := digTexts(is, "Test"); len(test) == 0 || test[0] == "NONE" {
			return map[string]any{"Test": []any{"NONE"}}
		}
	case "exposed_ports":
		return portNames(digMap(d.is, "Config", "ExposedPorts"))
	case "mounts":
		return hasMounts(d.is)
	}
	switch spec.DockerCompared[o.name] {
	case spec.CompareList, spec.CompareSet:
		return digTexts(is)
	case spec.CompareDict:
		return digMap(is)
	case spec.CompareMaps:
		list, _ := is.([]any)
		return list
	}
	return is
}

// capabilities are names of capabilities in one spelling: the daemon takes NET_ADMIN and CAP_NET_ADMIN.
func capabilities(names []string) []string {
	list := make([]string, 0, len(names))
	for _, name := range names {
		list = append(list, strings.TrimPrefix(strings.ToUpper(name), "CAP_"))
	}
	return list
}

// networkMode is the mode of the network by one name: daemons call the default one default or bridge.
func networkMode(mode any) any {
	if mode == "bridge" {
		return "default"
	}
	return mode
}

// portNames are the ports of an object of Docker, with their protocols.
func portNames(ports map[string]any) []string {
	names := []string{}
	for _, name := range slices.Sorted(maps.Keys(ports)) {
		if !strings.Contains(name, "/") {
			name += "/tcp"
		}
		names = append(names, name)
	}
	return names
}

// wants is what the container is to have, in the form that it is compared in; false if no argument says it.
func (d *dockerContainer) wants(o dockerOption) (any, bool) {
	value, given := d.wanted.Values[o.name]
	switch o.name {
	case "entrypoint":
		return d.wantsEntrypoint(value, given)
	case "command":
		return d.wantsCommand(value, given)
	case "env":
		env := map[string]string{}
		for _, line := range digTexts(d.compare, "Config", "Env") {
			name, text, _ := strings.Cut(line, "=")
			env[name] = text
		}
		maps.Copy(env, d.env)
		return assignments(env), true
	case "labels":
		labels := map[string]any{}
		if d.args.ImageLabels == "ignore" {
			maps.Copy(labels, digMap(d.compare, "Config", "Labels"))
		}
		maps.Copy(labels, anyTexts(value))
		return labels, given
	case "capabilities", "cap_drop":
		names, _ := value.([]string)
		return capabilities(names), given
	case "network_mode":
		return networkMode(value), given
	case "platform":
		text, _ := value.(string)
		has, _ := d.has(o).(string)
		if system, architecture, _ := strings.Cut(has, "/"); text == system { // any architecture will do
			text += "/" + architecture
		} else if !strings.Contains(text, "/") {
			text = "linux/" + text
		}
		// arm64 is arm64/v8.
		if strings.HasPrefix(has, text+"/") {
			text = has
		}
		return text, given && d.compare != nil
	case "healthcheck":
		if health, ok := value.(map[string]any); ok {
			if sameSettings(health, d.has(o), spec.CompareDict, "strict") { // made by another client, which can have words
				return health, true
			}
			return shellHealth(health), true
		}
	case "volumes":
		volumes := map[string]any{}
		maps.Copy(volumes, digMap(d.compare, "Config", "Volumes"))
		for _, v := range d.wanted.Volumes {
			if v.Host == "" {
				volumes[v.Container] = map[string]any{}
			}
		}
		return volumes, len(volumes) > 0
	case "volume_binds":
		return d.binds(), true
	case "mounts":
		return wantsMounts(d.wanted.Mounts), d.wanted.Mounts != nil
	case "exposed_ports":
		return append(portNames(digMap(d.compare, "Config", "ExposedPorts")), d.wanted.Exposed...), true
	case "published_ports":
		ports := map[string]any{}
		for _, p := range d.wanted.Ports {
			list, _ := ports[p.Container].([]any)
			ports[p.Container] = append(list, map[string]any{"HostIp": p.HostIP, "HostPort": p.HostPort})
		}
		return ports, d.args.PublishedPorts != nil
	}
	if texts, ok := value.(map[string]string); ok {
		return anyTexts(texts), given
	}
	return value, given
}

// anyTexts is a map of texts as a map of anything.
func anyTexts(value any) map[string]any {
	texts, _ := value.(map[string]string)
	m := make(map[string]any, len(texts))
	for name, text := range texts {
		m[name] = text
	}
	return m
}

// assignments are NAME=VALUE, by name.
func assignments(values map[string]string) []string {
	list := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, name+"="+values[name])
	}
	return list
}

// wantsEntrypoint is the entry point to compare with. The client takes one word of it, so the others stand before the command.
func (d *dockerContainer) wantsEntrypoint(value any, given bool) (any, bool) {
	entry, _ := value.([]string)
	if !given {
		return nil, false
	}
	_, withCommand := d.wanted.Values["command"]
	has := digTexts(d.is, "Config", "Entrypoint")
	command := digTexts(d.is, "Config", "Cmd")
	if len(entry) > 1 && (withCommand || !slices.Equal(entry, has)) {
		words, _ := d.wanted.Values["command"].([]string)
		if slices.Equal(slices.Concat(entry, words), slices.Concat(has, command)) {
			return has, true // the same words are run
		}
	}
	return entry, true
}

func (d *dockerContainer) wantsCommand(value any, given bool) (any, bool) {
	words, _ := value.([]string)
	entry, withEntry := d.wanted.Values["entrypoint"].([]string)
	switch {
	case !given:
		return nil, false
	// Without words of its own a container has those of its image.
	case len(words) == 0 && !withEntry:
		return digTexts(d.compare, "Config", "Cmd"), d.compare != nil
	case len(entry) > 1:
		has, command := digTexts(d.is, "Config", "Entrypoint"), digTexts(d.is, "Config", "Cmd")
		if slices.Equal(slices.Concat(entry, words), slices.Concat(has, command)) {
			return command, true
		}
	}
	return words, true
}

// binds are the volumes with a name or path on the host.
func (d *dockerContainer) binds() []string {
	binds := []string{}
	for _, v := range d.wanted.Volumes {
		if v.Host != "" {
			binds = append(binds, v.Host+":"+v.Container+":"+v.Mode)
		}
	}
	return binds
}

// shellHealth is a health check as the client can word it: a list of words becomes a line for the shell of the image.
func shellHealth(health map[string]any) map[string]any {
	test := digTexts(health, "Test")
	if len(test) == 0 || test[0] != "CMD" {
		return health
	}
	words := make([]string, 0, len(test))
	for _, word := range test[1:] {
		words = append(words, shellQuote(word))
	}
	health = maps.Clone(health)
	health["Test"] = []any{"CMD-SHELL", strings.Join(words, " ")}
	return health
}

// mountNames are the names that mounts are compared by, with where docker inspect has them.
var mountNames = map[string][]string{
	"type": {"Type"}, "source": {"Source"}, "target": {"Target"}, "read_only": {"ReadOnly"}, "consistency": {"Consistency"},
	"propagation": {"BindOptions", "Propagation"}, "no_copy": {"VolumeOptions", "NoCopy"}, "labels": {"VolumeOptions", "Labels"},
	"volume_driver": {"VolumeOptions", "DriverConfig", "Name"}, "volume_options": {"VolumeOptions", "DriverConfig", "Options"},
	"tmpfs_size": {"TmpfsOptions", "SizeBytes"}, "tmpfs_mode": {"TmpfsOptions", "Mode"},
}

func hasMounts(container any) []any {
	mounts, _ := dig(container, "HostConfig", "Mounts").([]any)
	list := make([]any, 0, len(mounts))
	for _, m := range mounts {
		is := map[string]any{}
		for name, path := range mountNames {
			if value := dig(m, path...); value != nil {
				is[name] = value
			}
		}
		list = append(list, is)
	}
	return list
}

func wantsMounts(mounts []spec.DockerMount) []any {
	list := make([]any, 0, len(mounts))
	for _, m := range mounts {
		want := map[string]any{"type": m.Type, "target": m.Target}
		for name, value := range map[string]*string{
			"source": m.Source, "consistency": m.Consistency, "propagation": m.Propagation, "volume_driver": m.VolumeDriver,
		} {
			if value != nil {
				want[name] = *value
			}
		}
		for name, value := range map[string]*bool{"read_only": m.ReadOnly, "no_copy": m.NoCopy} {
			if value != nil {
				want[name] = *value
			}
		}
		for name, value := range map[string]map[string]any{"labels": m.Labels, "volume_options": m.VolumeOptions} {
			if len(value) > 0 {
				want[name] = anyTexts(plainTexts(value))
			}
		}
		if m.TmpfsSize != nil {
			want["tmpfs_size"] = m.Size
		}
		if m.TmpfsMode != nil {
			want["tmpfs_mode"] = m.Mode
		}
		list = append(list, want)
	}
	return list
}

// differences compares the container with what it is to be. limits are what docker update changes; they count as other differences do
// if there are any.
func (d *dockerContainer) differences() (different, limits bool, err error) {
	for _, o := range dockerOptions {
		want, given := d.wants(o)
		if !given {
			continue
		}
		has, kind, how := d.has(o), spec.DockerCompared[o.name], d.wanted.Compare[o.name]
		// Without a size or driver of its own the daemon decides, and without init what it is told to do by itself.
		if sameSettings(want, has, kind, how) && (o.name != "init" || how == "ignore" || has != nil) {
			continue
		}
		if err := d.refuseImageLabels(o); err != nil {
			return false, false, err
		}
		d.differ(o.name, want, has)
		if o.update {
			limits = true
		} else {
			different = true
		}
	}
	return different, limits, nil
}

// refuseImageLabels is for a playbook that wants no labels of the image.
func (d *dockerContainer) refuseImageLabels(o dockerOption) error {
	if o.name != "labels" || d.wanted.Compare["labels"] != "strict" || d.args.ImageLabels != "fail" {
		return nil
	}
	var extra []string
	for _, label := range slices.Sorted(maps.Keys(digMap(d.compare, "Config", "Labels"))) {
		if _, given := d.args.Labels[label]; !given {
			extra = append(extra, label)
		}
	}
	if len(extra) == 0 {
		return nil
	}
	message := "the image has labels that are not in `labels`: " + strings.Join(extra, ", ") + "; `image_label_mismatch: ignore` lets it"
	return fault.CommandError{Message: message, Class: fault.Fatal}
}

// updateWords is a call of docker update for all limits that were given.
func (d *dockerContainer) updateWords() []string {
	words := []string{"update"}
	for _, o := range dockerOptions {
		if value, given := d.wanted.Values[o.name]; given && o.update && o.flag != "" {
			words = append(words, flagWords(o.flag, value)...)
		}
	}
	return append(words, d.restartWords()...)
}

func (d *dockerContainer) restartWords() []string {
	policy, ok := d.wanted.Values["restart_policy"].(string)
	if !ok {
		return nil
	}
	if retries, ok := d.wanted.Values["restart_retries"].(int); ok && policy == "on-failure" {
		policy += ":" + strconv.Itoa(retries)
	}
	return []string{"--restart=" + policy}
}

// flagWords are the words of the client for a value.
func flagWords(flag string, value any) (words []string) {
	switch v := value.(type) {
	case []string:
		for _, text := range v {
			words = append(words, flag+"="+text)
		}
	case map[string]string:
		for _, text := range assignments(v) {
			words = append(words, flag+"="+text)
		}
	case []any:
		for _, rate := range v {
			words = append(words, fmt.Sprintf("%s=%s:%d", flag, digText(rate, "Path"), dig(rate, "Rate")))
		}
	default:
		words = append(words, fmt.Sprintf("%s=%v", flag, v))
	}
	return words
}

// createTool is the call of docker create.
func (d *dockerContainer) createTool(image string) exec.Tool {
	t := d.tool("create", "--name="+d.args.Name)
	add := func(words ...string) { t.Argv = append(t.Argv, words...) }
	for _, o := range dockerOptions {
		value, given := d.wanted.Values[o.name]
		switch {
		case o.name == "detach" && (!given || value == true):
			add("--attach=stderr") // without it the client notes that it would like to see all that the container prints
		case o.name == "env":
			d.addEnv(&t)
		case !given || o.name == "memory_swappiness" && value == -1:
		case o.flag != "":
			add(flagWords(o.flag, value)...)
		case o.name == "cpus":
			add("--cpus=" + strconv.FormatFloat(float64(value.(int))/1e9, 'f', -1, 64))
		case o.name == "devices":
			for _, v := range value.([]any) {
				add("--device=" + digText(v, "PathOnHost") + ":" + digText(v, "PathInContainer") + ":" + digText(v, "CgroupPermissions"))
			}
		case o.name == "ulimits":
			for _, v := range value.([]any) {
				add(fmt.Sprintf("--ulimit=%s=%d:%d", digText(v, "Name"), dig(v, "Soft"), dig(v, "Hard")))
			}
		case o.name == "tmpfs":
			tmpfs := value.(map[string]string)
			for _, path := range slices.Sorted(maps.Keys(tmpfs)) {
				add("--tmpfs=" + strings.TrimSuffix(path+":"+tmpfs[path], ":"))
			}
		case o.name == "healthcheck":
			add(healthWords(shellHealth(value.(map[string]any)))...)
		}
	}
	for _, link := range d.args.Links {
		add("--link=" + link)
	}
	for _, request := range d.wanted.Requests {
		add("--gpus=" + request)
	}
	add(d.restartWords()...)
	for _, m := range d.wanted.Mounts {
		add("--mount=" + mountWord(m))
	}
	for _, v := range d.wanted.Volumes {
		if v.Host == "" {
			add("--volume=" + v.Container)
		}
	}
	for _, bind := range d.binds() {
		add("--volume=" + bind)
	}
	for _, port := range d.wanted.Exposed {
		add("--expose=" + port)
	}
	for _, p := range d.wanted.Ports {
		ip := p.HostIP
		if strings.Contains(ip, ":") {
			ip = "[" + ip + "]"
		}
		add("--publish=" + strings.TrimPrefix(ip+":", ":") + p.HostPort + ":" + p.Container)
	}
	if first := d.firstNetwork(); first != nil {
		add(endpointWords(*first, "--network-alias=")...)
	}
	var command []string
	if entry, given := d.wanted.Values["entrypoint"].([]string); given && len(entry) > 0 {
		add("--entrypoint=" + entry[0])
		command = entry[1:]
	} else if given {
		add("--entrypoint=")
	}
	words, _ := d.wanted.Values["command"].([]string)
	add("--", image)
	add(slices.Concat(command, words)...)
	return t
}

// addEnv hands the environment of the container over unseen: as a file that only the client can read, and where a file cannot have it, in
// the client's own.
func (d *dockerContainer) addEnv(t *exec.Tool) {
	var file strings.Builder
	var others []string
	for _, line := range assignments(d.env) {
		name, value, _ := strings.Cut(line, "=")
		switch {
		case !strings.ContainsAny(value, "\r\n") && len(line) < 60000 && !strings.HasPrefix(name, "#"):
			file.WriteString(line + "\n")
		// These mean something to the client itself.
		case meansSomething(name) || d.Env[name] != "":
			others = append(others, "--env="+line)
		default:
			if t.Env == nil {
				t.Env = map[string]string{}
			}
			t.Env[name] = value
			others = append(others, "--env="+name)
		}
	}
	if text := file.String(); text != "" {
		t.Private = &text
		t.Argv = append(t.Argv, "--env-file=/dev/fd/3")
	}
	t.Argv = append(t.Argv, others...)
}

func healthWords(health map[string]any) []string {
	test := digTexts(health, "Test")
	if test[0] == "NONE" {
		return []string{"--no-healthcheck"}
	}
	words := []string{"--health-cmd=" + test[1]}
	for _, f := range []struct{ name, flag string }{
		{"Interval", "--health-interval"}, {"Timeout", "--health-timeout"}, {"StartPeriod", "--health-start-period"},
	} {
		if long, ok := health[f.name].(int); ok {
			words = append(words, fmt.Sprintf("%s=%dns", f.flag, long))
		}
	}
	if retries, ok := health["Retries"].(int); ok {
		words = append(words, "--health-retries="+strconv.Itoa(retries))
	}
	return words
}

// mountWord is a mount as --mount has it: fields as in a line of CSV.
func mountWord(m spec.DockerMount) string {
	fields := []string{"type=" + m.Type}
	add := func(name string, value *string) {
		if value != nil {
			fields = append(fields, name+"="+*value)
		}
	}
	add("source", m.Source)
	fields = append(fields, "target="+m.Target)
	if m.ReadOnly != nil {
		fields = append(fields, "readonly="+strconv.FormatBool(*m.ReadOnly))
	}
	add("consistency", m.Consistency)
	add("bind-propagation", m.Propagation)
	if m.NoCopy != nil {
		fields = append(fields, "volume-nocopy="+strconv.FormatBool(*m.NoCopy))
	}
	labels, options := plainTexts(m.Labels), plainTexts(m.VolumeOptions)
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		fields = append(fields, fmt.Sprintf("volume-label=%s=%s", name, labels[name]))
	}
	add("volume-driver", m.VolumeDriver)
	for _, name := range slices.Sorted(maps.Keys(options)) {
		fields = append(fields, fmt.Sprintf("volume-opt=%s=%s", name, options[name]))
	}
	if m.TmpfsSize != nil {
		fields = append(fields, "tmpfs-size="+strconv.Itoa(m.Size))
	}
	if m.TmpfsMode != nil {
		fields = append(fields, "tmpfs-mode="+strconv.FormatInt(int64(m.Mode), 8))
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(fields) // into memory
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

// firstNetwork is the network that the container is created in, if the playbook says more about it; nil otherwise.
func (d *dockerContainer) firstNetwork() *spec.DockerNetwork {
	for i := range d.wanted.Networks {
		if d.wanted.Networks[i].Name == d.wanted.Values["network_mode"] {
			return &d.wanted.Networks[i]
		}
	}
	return nil
}

// endpointWords say how a container is in a network.
func endpointWords(n spec.DockerNetwork, alias string) (words []string) {
	if n.IPv4 != "" {
		words = append(words, "--ip="+n.IPv4)
	}
	if n.IPv6 != "" {
		words = append(words, "--ip6="+n.IPv6)
	}
	for _, name := range n.Aliases {
		words = append(words, alias+name)
	}
	for _, link := range n.Links {
		words = append(words, "--link="+link)
	}
	return words
}

// planNetworks plans to put the container into its networks, and out of others if it is to be in no others.
func (d *dockerContainer) planNetworks(fresh bool) {
	name := d.name(fresh)
	connected := digMap(d.is, "NetworkSettings", "Networks")
	if fresh {
		mode, _ := networkMode(d.wanted.Values["network_mode"]).(string)
		if mode == "" || mode == "default" {
			mode = "bridge"
		}
		connected = map[string]any{mode: nil}
		if strings.HasPrefix(mode, "container:") {
			connected = nil
		}
	}
	if d.wanted.Compare["networks"] != "ignore" || fresh {
		for _, n := range d.wanted.Networks {
			endpoint, in := connected[n.Name]
			if in && (fresh || sameEndpoint(n, endpoint)) {
				continue
			}
			d.differ("network."+n.Name, endpointWords(n, "--alias="), endpoint)
			if in {
				d.disconnect(n.Name, name)
			}
			words := slices.Concat([]string{"network", "connect"}, endpointWords(n, "--alias="), []string{n.Name, name})
			action := map[string]any{"added_to_network": n.Name}
			d.do("join the network "+n.Name, action, d.call(words...))
		}
	}
	if !d.wanted.Purge {
		return
	}
	for _, other := range slices.Sorted(maps.Keys(connected)) {
		if slices.ContainsFunc(d.wanted.Networks, func(n spec.DockerNetwork) bool { return n.Name == other }) {
			continue
		}
		d.differ("network."+other, nil, map[string]any{"name": other})
		d.disconnect(other, name)
	}
}

func (d *dockerContainer) disconnect(network, name string) {
	action := map[string]any{"removed_from_network": network}
	d.do("leave the network "+network, action, d.call("network", "disconnect", network, name))
}

// sameEndpoint reports whether the container is in a network as it is to be.
func sameEndpoint(n spec.DockerNetwork, endpoint any) bool {
	ip4, ip6 := digText(endpoint, "IPAMConfig", "IPv4Address"), digText(endpoint, "IPAMConfig", "IPv6Address")
	if n.IPv4 != "" && n.IPv4 != ip4 || n.IPv6 != "" && n.IPv6 != ip6 {
		return false
	}
	return sameSettings(n.Aliases, digTexts(endpoint, "Aliases"), spec.CompareSet, "allow_more_present") &&
		sameSettings(n.Links, digTexts(endpoint, "Links"), spec.CompareSet, "allow_more_present")
}

// addClient adds how the client reaches the daemon to the arguments of a step that undoes another.
func addClient(args map[string]any, c *spec.DockerClient) {
	for name, value := range map[string]string{
		"docker_host": c.DockerHost, "ca_path": c.CAPath, "client_cert": c.ClientCert, "client_key": c.ClientKey,
	} {
		if value != "" {
			args[name] = value
		}
	}
	for name, value := range map[string]bool{"tls": c.TLS, "validate_certs": c.ValidateCerts} {
		if value {
			args[name] = true
		}
	}
	if c.APIVersion != "auto" {
		args["api_version"] = c.APIVersion
	}
}
