package spec

import (
	"maps"
	"net/netip"
	"reflect"
	"slices"
)

// DockerNetworkArgs are the arguments of docker_network.
type DockerNetworkArgs struct {
	DockerClient
	Name          string         `arg:"name,network_name" need:"yes" doc:"The network."`
	State         string         `arg:"state" default:"present" enum:"present|absent" doc:"Whether it should exist."`
	Connected     []string       `arg:"connected,containers" doc:"Containers that are in it. Others are taken out, unless none are named."`
	Appends       bool           `arg:"appends,incremental" default:"false" doc:"Leave others in it."`
	Driver        string         `arg:"driver" default:"bridge" doc:"Its driver."`
	DriverOptions map[string]any `arg:"driver_options" doc:"Options of the driver."`
	IPAMDriver    string         `arg:"ipam_driver" doc:"The driver that gives addresses."`
	IPAMOptions   map[string]any `arg:"ipam_driver_options" doc:"Its options."`
	IPAMConfig    any            `arg:"ipam_config" doc:"A list of maps with subnet, and perhaps iprange, gateway, aux_addresses."`
	EnableIPv6    *bool          `arg:"enable_ipv6" implied:"as it is, or false" doc:"Whether it has IPv6."`
	Internal      *bool          `arg:"internal" implied:"as it is, or false" doc:"Whether it is cut off from others."`
	Attachable    *bool          `arg:"attachable" implied:"as it is, or false" doc:"Whether containers of their own may join a network of a swarm."`
	Scope         string         `arg:"scope" enum:"local|global|swarm" doc:"Where it exists."`
	Labels        map[string]any `arg:"labels" doc:"Its labels."`
	Force         bool           `arg:"force" default:"false" doc:"Replace it in any case."`

	Pools                       []DockerPool
	Options, IPAMTexts, LabelTs map[string]string
}

// DockerPool is a range of addresses of a network.
type DockerPool struct {
	Subnet  string         `arg:"subnet" need:"yes"`
	Range   string         `arg:"iprange"`
	Gateway string         `arg:"gateway"`
	Aux     map[string]any `arg:"aux_addresses"`
}

var _ = declareAction(&Action{
	Name:    "docker_network",
	Aliases: dockerNames("docker_network"),
	Doc:     "Creates, changes and removes a network of Docker, with docker.",
	Subject: "name",
	Process: "*",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[DockerNetworkArgs](),
	Returns: []Return{
		{"network", "The network as docker inspect describes it."},
		{"actions", "In a dry run, what would be done."},
	},
	Least: "docker_network: {name: inner}",
	Example: `- docker_network:
    name: inner
    driver_options: {com.docker.network.bridge.name: inner0}
    ipam_config: [{subnet: 172.31.9.0/24, gateway: 172.31.9.1}]
- docker_network: {name: old, state: absent}
`,
})

func (a *DockerNetworkArgs) validateArgs(func(string) bool) []Problem {
	problems := a.clientProblems()
	if a.IPAMConfig != nil {
		list, more := decodeList[DockerPool]("docker_network", "ipam_config", a.IPAMConfig)
		problems, a.Pools = append(problems, more...), list
		for _, pool := range list {
			if _, err := netip.ParsePrefix(pool.Subnet); err != nil && pool.Subnet != "" {
				problems = append(problems, Problem{"ipam_config", "`subnet` must be like 172.16.0.0/24, found " + nameValue(pool.Subnet), ""})
			}
		}
	}
	a.Options = textsGiven("driver_options", a.DriverOptions, &problems)
	a.IPAMTexts = textsGiven("ipam_driver_options", a.IPAMOptions, &problems)
	a.LabelTs = textsGiven("labels", a.Labels, &problems)
	return problems
}

// textsGiven are the values of a map as texts. It adds a problem for each that is none.
func textsGiven(field string, m map[string]any, problems *[]Problem) map[string]string {
	texts, wrong := textMap(m)
	for _, name := range wrong {
		*problems = append(*problems, Problem{field, "`" + field + "." + name + "` must be text, found " + nameValue(m[name]), ""})
	}
	return texts
}

// Texts are the values of aux_addresses, by name.
func (p DockerPool) Texts() (names []string, addresses map[string]string) {
	addresses, _ = textMap(p.Aux)
	return slices.Sorted(maps.Keys(addresses)), addresses
}
