package spec

import "reflect"

// DockerContainerArgs are the arguments of docker_container. Once decoded, Wanted has them in the form that they are compared in.
type DockerContainerArgs struct {
	DockerClient
	Name  string `arg:"name" need:"yes" doc:"The container, by its name. With state: absent also by its id."`
	State string `arg:"state" default:"started" enum:"started|present|stopped|absent" doc:"started: it exists and runs. present: it exists. stopped: it exists and does not run."`
	Image string `arg:"image" doc:"The image, as postgres:16, or by its id. Needed for a container that does not exist."`

	Command         any            `arg:"command" doc:"What the container runs: words, or a list of them."`
	CommandHandling string         `arg:"command_handling" default:"correct" enum:"correct|compatibility" doc:"compatibility: words of command and entrypoint are split again, and empty ones are as if not given."`
	Entrypoint      []string       `arg:"entrypoint" doc:"What replaces the entry point of the image."`
	Env             map[string]any `arg:"env" doc:"Its environment. The list of processes never shows it."`
	EnvFile         string         `arg:"env_file" kind:"path" doc:"A file on the host with NAME=VALUE in lines; env wins."`
	WorkingDir      *string        `arg:"working_dir" doc:"The directory that the command starts in."`
	User            *string        `arg:"user" doc:"The user in the container: name, uid or uid:gid."`
	Groups          []string       `arg:"groups" doc:"Further groups of the user."`
	Hostname        *string        `arg:"hostname" doc:"The name of the container in it."`
	Domainname      *string        `arg:"domainname" doc:"Its domain."`
	Labels          map[string]any `arg:"labels" doc:"Its labels."`
	Interactive     *bool          `arg:"interactive" implied:"false" doc:"Keep its standard input open."`
	TTY             *bool          `arg:"tty" implied:"false" doc:"Give it a terminal."`
	Detach          *bool          `arg:"detach" implied:"true" doc:"false: wait until it has ended; its exit status is the step's."`
	AutoRemove      *bool          `arg:"auto_remove" implied:"false" doc:"Remove it when it has ended."`
	Init            *bool          `arg:"init" implied:"as the daemon is configured" doc:"Run a small init in it, which forwards signals and reaps processes."`
	StopSignal      *string        `arg:"stop_signal" doc:"The signal that stops it."`
	StopTimeout     *int           `arg:"stop_timeout" doc:"How long to wait for it to stop before it is killed, in seconds."`
	RestartPolicy   *string        `arg:"restart_policy" enum:"no|on-failure|always|unless-stopped|false>no" doc:"When Docker starts it again."`
	RestartRetries  *int           `arg:"restart_retries" doc:"How often, for on-failure."`
	Healthcheck     *DockerHealth  `arg:"healthcheck" doc:"How Docker checks its health."`
	LogDriver       *string        `arg:"log_driver" doc:"Where its output goes."`
	LogOptions      map[string]any `arg:"log_options,log_opt" doc:"Options of the log driver."`
	Platform        *string        `arg:"platform" doc:"The platform of the image: linux/amd64."`
	Runtime         *string        `arg:"runtime" doc:"The runtime to use."`

	PublishedPorts  []string `arg:"published_ports,ports" doc:"Published ports: 80, 8080:80, 127.0.0.1:8080:80/tcp, 9000-9010:9000-9010."`
	PublishAllPorts *bool    `arg:"publish_all_ports" implied:"false" doc:"Publish all exposed ports."`
	ExposedPorts    []string `arg:"exposed_ports,exposed,expose" doc:"Ports that are exposed: 9000, 9000/udp."`
	DefaultHostIP   *string  `arg:"default_host_ip" implied:"0.0.0.0, or what the network says" doc:"Where ports without an address are published. Empty: on all addresses."`

	Networks      any            `arg:"networks" doc:"Networks it is in: a list of maps with name, and perhaps ipv4_address, ipv6_address, aliases, links."`
	NetworkMode   *string        `arg:"network_mode" implied:"the first of networks" doc:"bridge, host, none, container:NAME, or a network."`
	CLICompatible bool           `arg:"networks_cli_compatible" default:"true" doc:"false: also with networks, the container is in the default network."`
	PurgeNetworks bool           `arg:"purge_networks" default:"false" doc:"Take it out of networks that are not in networks."`
	DNSServers    []string       `arg:"dns_servers" doc:"Name servers."`
	DNSOpts       []string       `arg:"dns_opts" doc:"Options of name resolution."`
	DNSSearch     []string       `arg:"dns_search_domains" doc:"Domains to search."`
	EtcHosts      map[string]any `arg:"etc_hosts" doc:"Lines for its /etc/hosts: names and addresses."`
	Links         []string       `arg:"links" doc:"Links to other containers: NAME or NAME:ALIAS."`
	MacAddress    *string        `arg:"mac_address" doc:"Its MAC address."`

	Volumes      []string       `arg:"volumes" doc:"SOURCE:TARGET or SOURCE:TARGET:MODE, a source being a path or a volume; TARGET alone is an anonymous volume."`
	Mounts       any            `arg:"mounts" doc:"A list of maps with target, type (volume, bind, tmpfs, npipe), source, read_only, consistency, propagation, no_copy, labels, volume_driver, volume_options, tmpfs_size, tmpfs_mode."`
	Tmpfs        []string       `arg:"tmpfs" doc:"Directories in memory: PATH or PATH:OPTIONS."`
	VolumesFrom  []string       `arg:"volumes_from" doc:"Containers whose volumes it has too."`
	VolumeDriver *string        `arg:"volume_driver" doc:"The driver of its volumes."`
	ShmSize      *string        `arg:"shm_size" doc:"The size of /dev/shm: 64M."`
	StorageOpts  map[string]any `arg:"storage_opts" doc:"Options of its storage."`
	ReadOnly     *bool          `arg:"read_only" implied:"false" doc:"Its files cannot be written to."`

	Privileged      *bool          `arg:"privileged" implied:"false" doc:"Give it all rights of the host."`
	Capabilities    []string       `arg:"capabilities" doc:"Capabilities to add."`
	CapDrop         []string       `arg:"cap_drop" doc:"Capabilities to drop."`
	SecurityOpts    []string       `arg:"security_opts" doc:"Security options."`
	Devices         []string       `arg:"devices" doc:"Devices: ON_HOST, ON_HOST:IN_CONTAINER, or both with :rwm."`
	DeviceReadBps   any            `arg:"device_read_bps" doc:"A list of maps with path and rate: how fast devices may be read, in bytes."`
	DeviceWriteBps  any            `arg:"device_write_bps" doc:"The same for writing."`
	DeviceReadIops  any            `arg:"device_read_iops" doc:"A list of maps with path and rate: how often devices may be read."`
	DeviceWriteIops any            `arg:"device_write_iops" doc:"The same for writing."`
	DeviceRequests  any            `arg:"device_requests" doc:"A list of maps with driver, count, device_ids, capabilities and options, as for GPUs."`
	Sysctls         map[string]any `arg:"sysctls" doc:"Kernel parameters."`
	Ulimits         []string       `arg:"ulimits" doc:"Limits: nofile:1024 or nofile:1024:2048."`
	UsernsMode      *string        `arg:"userns_mode" doc:"The user namespace: host."`
	PidMode         *string        `arg:"pid_mode" doc:"The namespace of processes: host or container:NAME."`
	IpcMode         *string        `arg:"ipc_mode" doc:"The namespace of IPC."`
	UTS             *string        `arg:"uts" doc:"The UTS namespace."`
	CgroupnsMode    *string        `arg:"cgroupns_mode" enum:"private|host" doc:"The namespace of cgroups."`
	CgroupParent    *string        `arg:"cgroup_parent" doc:"The cgroup above it."`

	Memory            *string `arg:"memory" doc:"How much memory it may use: 512M. 0: any."`
	MemoryReservation *string `arg:"memory_reservation" doc:"How much it is left with when memory is short."`
	MemorySwap        *string `arg:"memory_swap" doc:"Memory and swap together; unlimited or -1: any."`
	MemorySwappiness  *int    `arg:"memory_swappiness" doc:"How readily it is swapped out: 0 to 100."`
	KernelMemory      *string `arg:"kernel_memory" doc:"How much memory of the kernel."`
	OomKiller         *bool   `arg:"oom_killer" implied:"false" doc:"true: the kernel does not kill it when memory is short. The name means the opposite, as in Ansible."`
	OomScoreAdj       *int    `arg:"oom_score_adj" doc:"How readily the kernel kills it."`
	CPUs              *string `arg:"cpus" doc:"How many processors: 1.5."`
	CPUPeriod         *int    `arg:"cpu_period" doc:"The period of the scheduler, in microseconds."`
	CPUQuota          *int    `arg:"cpu_quota" doc:"How much of the period."`
	CPUShares         *int    `arg:"cpu_shares" doc:"Its weight among containers."`
	CpusetCpus        *string `arg:"cpuset_cpus" doc:"Processors: 0-3 or 0,1."`
	CpusetMems        *string `arg:"cpuset_mems" doc:"Memory nodes."`
	BlkioWeight       *int    `arg:"blkio_weight" doc:"Its weight for reading and writing: 10 to 1000."`
	PidsLimit         *int    `arg:"pids_limit" doc:"How many processes. -1: any."`

	Pull        bool   `arg:"pull" default:"false" doc:"Always ask for a newer image. Without it an image is pulled if it is not there."`
	Recreate    bool   `arg:"recreate" default:"false" doc:"Replace the container in any case."`
	Restart     bool   `arg:"restart" default:"false" doc:"Restart a container that runs."`
	Paused      *bool  `arg:"paused" implied:"as it is" doc:"With state: started, whether its processes are paused."`
	ForceKill   bool   `arg:"force_kill,forcekill" default:"false" doc:"Kill it instead of stopping it."`
	KillSignal  string `arg:"kill_signal" implied:"KILL" doc:"The signal for that."`
	KeepVolumes bool   `arg:"keep_volumes" default:"true" doc:"Keep its anonymous volumes when it is removed."`
	Cleanup     bool   `arg:"cleanup" default:"false" doc:"With detach: false, remove it when it has ended."`
	OutputLogs  bool   `arg:"output_logs" default:"false" doc:"With detach: false, its output is the step's."`
	RemovalWait string `arg:"removal_wait_timeout" doc:"How long to wait until a container is removed, in seconds."`

	Comparisons      map[string]any `arg:"comparisons" doc:"For arguments, or * for all: strict, ignore or allow_more_present. What differs replaces the container."`
	OldDefaults      string         `arg:"container_default_behavior" default:"no_defaults" enum:"no_defaults|compatibility" doc:"compatibility: arguments that are not given have the defaults of old modules."`
	IgnoreImage      bool           `arg:"ignore_image" default:"false" doc:"As comparisons: {image: ignore}."`
	ImageComparison  string         `arg:"image_comparison" default:"desired-image" enum:"desired-image|current-image" doc:"From which image to take what arguments do not say: image, or that of the container."`
	ImageLabels      string         `arg:"image_label_mismatch" default:"ignore" enum:"ignore|fail" doc:"Whether labels of the image count as given."`
	ImageNameChanged string         `arg:"image_name_mismatch" default:"ignore" enum:"ignore|recreate" doc:"recreate: replace a container whose image has another name, though it is the same."`

	Wanted DockerWanted
}

var containerArgs = reflect.TypeFor[DockerContainerArgs]()

var _ = declareAction(&Action{
	Name:    "docker_container",
	Aliases: dockerNames("docker_container"),
	Doc:     "Creates, starts, stops and removes a container of Docker, with docker.",
	Subject: "name",
	Process: "*",
	Check:   true,
	Diff:    true,
	args:    containerArgs,
	Returns: []Return{
		{"container", "The container as docker inspect describes it. With detach: false, container.Output is its output."},
		{"status", "With detach: false, its exit status."},
		{"actions", "In a dry run, what would be done."},
	},
	Least: "docker_container: {name: web, image: nginx}",
	Example: `- docker_container:
    name: web
    image: busy:1
    command: [sleep, "1000"]
    published_ports: ["127.0.0.1:8080:80"]
    volumes: [/srv/web:/srv:ro]
    env: {MODE: production}
    restart_policy: unless-stopped
- docker_container: {name: old, state: absent}
`,
})

func (a *DockerContainerArgs) validateArgs(given func(string) bool) []Problem {
	w := containerDecoder{args: a, wanted: &a.Wanted, given: given}
	w.problems = a.clientProblems()
	w.decode()
	return w.problems
}
