package spec

import (
	"reflect"
	"strings"

	"moon/internal/pattern"
)

// DockerImageArgs are the arguments of docker_image. Once decoded, Name has no tag: that is in Tag, which is empty for an image by its id.
type DockerImageArgs struct {
	DockerClient
	Name        string       `arg:"name" need:"yes" doc:"The image, perhaps with a registry and a tag, or its id."`
	Tag         string       `arg:"tag" default:"latest" doc:"Its tag; that in name wins."`
	State       string       `arg:"state" default:"present" enum:"present|absent" doc:"Whether it should be there."`
	Source      string       `arg:"source" enum:"build|load|pull|local" doc:"Where it comes from if it is not there. local: nowhere."`
	Build       *DockerBuild `arg:"build" doc:"How to build it."`
	Pull        *DockerPull  `arg:"pull" doc:"How to pull it."`
	LoadPath    string       `arg:"load_path" kind:"path" doc:"The archive that it is loaded from."`
	ArchivePath string       `arg:"archive_path" kind:"path" doc:"An archive to write it to."`
	Repository  string       `arg:"repository" doc:"A further name for it, perhaps with a tag."`
	Push        bool         `arg:"push" default:"false" doc:"Push it, under repository if that is given."`
	ForceSource bool         `arg:"force_source" default:"false" doc:"Build, load or pull it also if it is there."`
	ForceTag    bool         `arg:"force_tag" default:"false" doc:"Give it the name of repository also if another image has that."`
	ForceAbsent bool         `arg:"force_absent" default:"false" doc:"Remove it also if it has other names or stopped containers."`
}

// DockerBuild is how an image is built.
type DockerBuild struct {
	Path        string         `arg:"path" need:"yes" doc:"The directory to build from, or the URL of a git repository."`
	Dockerfile  string         `arg:"dockerfile" implied:"Dockerfile" doc:"The file that says how, in path."`
	Args        map[string]any `arg:"args" doc:"Values of ARG. The list of processes does not show them."`
	Target      string         `arg:"target" doc:"The stage to build."`
	Pull        bool           `arg:"pull" default:"false" doc:"Ask for newer images that it begins with."`
	NoCache     bool           `arg:"nocache" default:"false" doc:"Build everything again."`
	Remove      bool           `arg:"rm" default:"true" doc:"Remove the containers of the build."`
	CacheFrom   []string       `arg:"cache_from" doc:"Images to take layers from."`
	Network     string         `arg:"network" doc:"The network of the build."`
	EtcHosts    map[string]any `arg:"etc_hosts" doc:"Names and addresses for its /etc/hosts."`
	Platform    string         `arg:"platform" doc:"The platform: linux/amd64."`
	Limits      *DockerLimits  `arg:"container_limits" doc:"Limits of the build."`
	HTTPTimeout *int           `arg:"http_timeout" doc:"Accepted from playbooks written for Ansible; the timeout of the step counts."`
	ConfigProxy *bool          `arg:"use_config_proxy" implied:"true" doc:"Accepted from playbooks written for Ansible: the client always uses the proxies of its configuration."`
}

// DockerLimits are limits of a build.
type DockerLimits struct {
	Memory    *int    `arg:"memory" doc:"Bytes of memory."`
	Swap      *int    `arg:"memswap" doc:"Bytes of memory and swap; -1: any."`
	CPUShares *int    `arg:"cpushares" doc:"Its weight."`
	CPUSet    *string `arg:"cpusetcpus" doc:"Processors: 0-3."`
}

// DockerPull is how an image is pulled.
type DockerPull struct {
	Platform string `arg:"platform" doc:"The platform: linux/amd64."`
}

var _ = declareAction(&Action{
	Name:    "docker_image",
	Aliases: dockerNames("docker_image"),
	Doc:     "Pulls, builds, loads, tags, pushes, archives and removes an image of Docker, with docker.",
	Subject: "name",
	Process: "*",
	Check:   true,
	args:    reflect.TypeFor[DockerImageArgs](),
	Returns: []Return{
		{"image", "The image as docker inspect describes it."},
		{"stdout", "What a build has printed."},
		{"actions", "What was done, in words."},
	},
	Least: "docker_image: {name: nginx, source: pull}",
	Example: `- docker_image: {name: busy, tag: "1", source: local, repository: "registry.example.com/busy:2"}
- docker_image: {name: "old:1", state: absent}
`,
})

var dockerTag = pattern.New(`^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}$`)

// IsDockerID reports whether a name is the id of an image.
func IsDockerID(name string) bool {
	hex, ok := strings.CutPrefix(name, "sha256:")
	return ok && len(hex) == 64 && strings.Trim(strings.ToLower(hex), "0123456789abcdef") == ""
}

// SplitDockerTag takes a tag or digest off the name of an image.
func SplitDockerTag(name string) (repository, tag string) {
	if repository, digest, ok := strings.Cut(name, "@"); ok {
		return repository, digest
	}
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		return name[:i], name[i+1:]
	}
	return name, ""
}

func (a *DockerImageArgs) validateArgs(func(string) bool) []Problem {
	problems := a.clientProblems()
	add := func(field, message string) { problems = append(problems, Problem{field, message, ""}) }
	if a.Tag != "" && !dockerTag.MatchString(a.Tag) {
		add("tag", "`tag` cannot be "+nameValue(a.Tag))
	}
	id := IsDockerID(a.Name)
	if id {
		a.Tag = ""
	} else if name, tag := SplitDockerTag(a.Name); tag != "" {
		a.Name, a.Tag = name, tag
	}
	switch {
	case a.State == "present" && a.Source == "":
		add("source", "`state: present` needs `source`")
	case a.Source == "build" && a.Build == nil:
		add("build", "`source: build` needs `build`")
	case a.Source == "load" && a.LoadPath == "":
		add("load_path", "`source: load` needs `load_path`")
	case id && (a.Source == "build" || a.Source == "pull"):
		add("name", "`source: "+a.Source+"` needs a name, and not an id")
	}
	if id && a.Push && a.Repository == "" {
		add("push", "an image by its id can be pushed under a name only; give `repository`")
	}
	if IsDockerID(a.Repository) {
		add("repository", "`repository` must be a name, and not an id")
	}
	if b := a.Build; b != nil {
		textsGiven("build.args", b.Args, &problems)
		textsGiven("build.etc_hosts", b.EtcHosts, &problems)
	}
	return problems
}
