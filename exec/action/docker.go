package action

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
)

// docker is the command line client of Docker.
type docker struct {
	*exec.Attempt
	client *spec.DockerClient
}

// dockerPackages are the packages with the client.
const dockerPackages = "docker-ce-cli (Docker's own), docker.io (Debian), docker-cli (Alpine), docker (Arch, SUSE)"

func openDocker(a *exec.Attempt, client *spec.DockerClient) (docker, error) {
	return docker{a, client}, lacksTool(a, "docker", dockerPackages)
}

// tool is a call of the client.
func (d docker) tool(words ...string) exec.Tool {
	argv := []string{"docker"}
	flag := func(name, value string) {
		if value != "" {
			argv = append(argv, name, value)
		}
	}
	c := d.client
	flag("--host", c.DockerHost)
	switch {
	case c.ValidateCerts:
		argv = append(argv, "--tlsverify")
	case c.TLS:
		argv = append(argv, "--tls")
	}
	flag("--tlscacert", c.CAPath)
	flag("--tlscert", c.ClientCert)
	flag("--tlskey", c.ClientKey)
	t := exec.NewTool(append(argv, words...)...)
	if c.APIVersion != "auto" {
		t.Env = map[string]string{"DOCKER_API_VERSION": c.APIVersion}
	}
	return t
}

// run has the client change something.
func (d docker) run(ctx context.Context, words ...string) (exec.Answer, error) {
	return d.runTool(ctx, d.tool(words...))
}

func (d docker) runTool(ctx context.Context, t exec.Tool) (exec.Answer, error) {
	said, err := d.RunToolReading(ctx, t)
	if err != nil && said.Code != 0 {
		err = dockerError(said)
	}
	return said, err
}

// dockerError is what the client said. A daemon that does not answer may be started by an earlier step.
func dockerError(said exec.Answer) error {
	text := strings.TrimSpace(said.Stderr)
	// What follows only says how to call it.
	for _, help := range []string{"\n\nUsage: ", "\n\nRun 'docker ", "\nSee 'docker "} {
		text, _, _ = strings.Cut(text, help)
	}
	said.Stderr = text
	message := strings.TrimPrefix(said.LastWords(), "Error response from daemon: ")
	if strings.Contains(text, "Cannot connect to the Docker daemon") || strings.Contains(text, "error during connect") {
		return fault.Missing("", "docker: %s", message)
	}
	return fault.CommandError{Message: "docker: " + message, RC: &said.Code, Class: fault.Fatal}
}

// inspect describes something by its name or id; nil if it does not exist.
func (d docker) inspect(ctx context.Context, kind, name string) (map[string]any, error) {
	said, err := d.AskTool(ctx, d.tool(kind, "inspect", name))
	if err != nil {
		return nil, err
	}
	if said.Code != 0 {
		if strings.Contains(strings.ToLower(said.Stderr), "no such ") || strings.Contains(said.Stderr, " not found") {
			return nil, nil // it does not exist
		}
		return nil, dockerError(said)
	}
	value, _ := decodeJSON([]byte(said.Stdout))
	list, _ := value.([]any)
	if len(list) == 1 {
		if is, ok := list[0].(map[string]any); ok {
			return is, nil
		}
	}
	return nil, fault.CommandError{Message: "docker " + kind + " inspect: the answer is not a list of one object", Class: fault.Fatal}
}

// dig is what is in maps within maps; nil if a part of the way is missing.
func dig(value any, path ...string) any {
	for _, name := range path {
		m, _ := value.(map[string]any)
		value = m[name]
	}
	return value
}

func digText(value any, path ...string) string {
	text, _ := dig(value, path...).(string)
	return text
}

func digMap(value any, path ...string) map[string]any {
	m, _ := dig(value, path...).(map[string]any)
	return m
}

// digTexts is a list of texts.
func digTexts(value any, path ...string) []string {
	list, _ := dig(value, path...).([]any)
	texts := make([]string, 0, len(list))
	for _, item := range list {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// imageTag gives the name of an image the tag that it has without one.
func imageTag(name string) string {
	if strings.Contains(name, "@") || spec.IsDockerID(name) {
		return name
	}
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		return name
	}
	return name + ":latest"
}

// sameSettings compares what is wanted with what is, by a kind and a way of comparing (spec.DockerCompared).
func sameSettings(want, is any, kind, how string) bool {
	if how == "ignore" {
		return true
	}
	strict := how == "strict"
	switch kind {
	case spec.CompareValue:
		return isZero(want) && isZero(is) || reflect.DeepEqual(want, is)
	case spec.CompareDict:
		want, is := want.(map[string]any), is.(map[string]any)
		return hasFields(want, is) && (!strict || len(want) == len(is))
	case spec.CompareMaps:
		want, is := want.([]any), is.([]any)
		if !allIn(want, is, hasFields) {
			return false
		}
		return !strict || allIn(is, want, func(is, want map[string]any) bool { return hasFields(want, is) })
	}
	wanted, has := want.([]string), is.([]string)
	switch {
	case kind == spec.CompareList && strict:
		return slices.Equal(wanted, has)
	case kind == spec.CompareList: // in this order, with others between them
		for _, item := range has {
			if len(wanted) > 0 && wanted[0] == item {
				wanted = wanted[1:]
			}
		}
		return len(wanted) == 0
	}
	for _, item := range wanted {
		if !slices.Contains(has, item) {
			return false
		}
	}
	return !strict || !slices.ContainsFunc(has, func(item string) bool { return !slices.Contains(wanted, item) })
}

func isZero(value any) bool { return value == nil || value == "" || value == 0 || value == false }

// hasFields reports whether a map has all that is wanted. What is nothing may be missing.
func hasFields(want, is map[string]any) bool {
	for name, value := range want {
		if !reflect.DeepEqual(value, is[name]) && (!isZero(value) || !isZero(is[name])) {
			return false
		}
	}
	return true
}

// allIn reports whether each map of a list has a match in another.
func allIn(list, in []any, match func(a, b map[string]any) bool) bool {
	return !slices.ContainsFunc(list, func(one any) bool {
		a, _ := one.(map[string]any)
		return !slices.ContainsFunc(in, func(other any) bool {
			b, _ := other.(map[string]any)
			return match(a, b)
		})
	})
}
