package spec

import "reflect"

// DockerPruneArgs are the arguments of docker_prune.
type DockerPruneArgs struct {
	DockerClient
	Containers        bool           `arg:"containers" default:"false" doc:"Remove stopped containers."`
	ContainersFilters map[string]any `arg:"containers_filters" doc:"Only those that docker container prune --filter would take."`
	Images            bool           `arg:"images" default:"false" doc:"Remove images without a name."`
	ImagesFilters     map[string]any `arg:"images_filters" doc:"Filters of images. dangling: false is for all that no container uses."`
	Networks          bool           `arg:"networks" default:"false" doc:"Remove networks that no container is in."`
	NetworksFilters   map[string]any `arg:"networks_filters" doc:"Filters of networks."`
	Volumes           bool           `arg:"volumes" default:"false" doc:"Remove volumes that no container uses."`
	VolumesFilters    map[string]any `arg:"volumes_filters" doc:"Filters of volumes. all: true is also for those with a name."`
	BuilderCache      bool           `arg:"builder_cache" default:"false" doc:"Empty the cache of builds."`
}

var _ = declareAction(&Action{
	Name:    "docker_prune",
	Aliases: dockerNames("docker_prune"),
	Doc:     "Removes what Docker does not use any more, with docker.",
	Process: "*",
	Check:   true,
	args:    reflect.TypeFor[DockerPruneArgs](),
	Returns: []Return{
		{"containers", "The ids of containers that were removed; in the same way images, networks and volumes."},
		{"containers_space_reclaimed", "How many bytes that has freed, about; in the same way for images, volumes and builder_cache."},
	},
	Least: "docker_prune: {containers: true}",
	Example: `- docker_prune: {containers: true}
- docker_prune: {images: true, images_filters: {dangling: false}}
`,
})

func (a *DockerPruneArgs) validateArgs(func(string) bool) []Problem { return a.clientProblems() }
