package spec

import "reflect"

// DockerVolumeArgs are the arguments of docker_volume.
type DockerVolumeArgs struct {
	DockerClient
	Name          string         `arg:"volume_name,name" need:"yes" doc:"The volume."`
	State         string         `arg:"state" default:"present" enum:"present|absent" doc:"Whether it should exist."`
	Driver        string         `arg:"driver" default:"local" doc:"Its driver."`
	DriverOptions map[string]any `arg:"driver_options" doc:"Options of the driver."`
	Labels        map[string]any `arg:"labels" doc:"Its labels."`
	Recreate      string         `arg:"recreate" default:"never" enum:"never|options-changed|always" doc:"When a volume that exists is replaced. What it holds is lost then."`

	Options, LabelTs map[string]string
}

var _ = declareAction(&Action{
	Name:    "docker_volume",
	Aliases: dockerNames("docker_volume"),
	Doc:     "Creates and removes a volume of Docker, with docker.",
	Subject: "volume_name",
	Process: "*",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[DockerVolumeArgs](),
	Returns: []Return{
		{"volume", "The volume as docker inspect describes it."},
		{"actions", "In a dry run, what would be done."},
	},
	Least: "docker_volume: {name: data}",
	Example: `- docker_volume: {name: data, labels: {backup: daily}}
- docker_volume: {name: old, state: absent}
`,
})

func (a *DockerVolumeArgs) validateArgs(func(string) bool) []Problem {
	problems := a.clientProblems()
	a.Options = textsGiven("driver_options", a.DriverOptions, &problems)
	a.LabelTs = textsGiven("labels", a.Labels, &problems)
	return problems
}
