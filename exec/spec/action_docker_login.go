package spec

import (
	"path/filepath"
	"reflect"
)

// DockerLoginArgs are the arguments of docker_login.
type DockerLoginArgs struct {
	DockerClient
	Registry    string `arg:"registry_url,registry,url" default:"https://index.docker.io/v1/" doc:"The registry."`
	Username    string `arg:"username" doc:"The user. Needed to log in."`
	Password    string `arg:"password" doc:"The password. It is handed over unseen; the client keeps it in the file, or in a store of its own."`
	Reauthorize bool   `arg:"reauthorize,reauth" default:"false" doc:"Log in also with what is there already."`
	ConfigPath  string `arg:"config_path,dockercfg_path" kind:"path" implied:"~/.docker/config.json" doc:"The file of the client that keeps it; its name must be config.json."`
	State       string `arg:"state" default:"present" enum:"present|absent" doc:"present: log in. absent: log out."`
}

var _ = declareAction(&Action{
	Name:    "docker_login",
	Aliases: dockerNames("docker_login"),
	Doc:     "Logs in to a registry of images, or out of it, with docker.",
	Subject: "registry_url",
	Process: "*",
	Check:   true,
	args:    reflect.TypeFor[DockerLoginArgs](),
	Returns: []Return{{"login_result", "The user and the registry, after logging in."}},
	Least:   "docker_login: {registry_url: registry.example.com, state: absent}",
	Example: `- docker_login: {registry_url: registry.example.com, username: ci, password: "{{ registry_password }}"}
- docker_login: {registry_url: old.example.com, state: absent}
`,
})

func (a *DockerLoginArgs) validateArgs(func(string) bool) []Problem {
	problems := a.clientProblems()
	if a.State == "present" && (a.Username == "" || a.Password == "") {
		problems = append(problems, Problem{"username", "`docker_login` needs `username` and `password`, or `state: absent`", ""})
	}
	if a.ConfigPath != "" && filepath.Base(a.ConfigPath) != "config.json" {
		problems = append(problems, Problem{"config_path", "`config_path` must end in config.json, since docker takes a directory", ""})
	}
	return problems
}
