package machine

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"moon/internal/test/fakes"
)

// The command docker of a scratch machine that has linked it: a client and its daemon in one. What exists is in files of dockerRoot, in the
// form in which docker inspect prints it; containers run nothing. Every call that changes something is a line of /tmp/docker.log.
const dockerRoot = "/srv/docker"

func init() { fakes.Commands["docker"] = beDocker }

type object = map[string]any

// fakeDocker is one call.
type fakeDocker struct{ words []string }

func beDocker() {
	d := fakeDocker{os.Args[1:]}
	for len(d.words) > 1 && (d.words[0] == "--host" || d.words[0] == "--config") {
		d.words = d.words[2:]
	}
	if len(d.words) > 1 && d.words[1] == "inspect" {
		d.inspect(d.words[0], d.words[2])
		return
	}
	d.log()
	d.change()
}

// log notes a call, with what its standard input and the file that only it can read have.
func (d fakeDocker) log() {
	line := strings.Join(d.words, " ")
	if strings.Contains(line, "/dev/fd/3") {
		text, err := io.ReadAll(os.NewFile(3, "private"))
		if err != nil {
			fatal(err.Error())
		}
		line += " <3 " + strings.ReplaceAll(string(text), "\n", ";")
		d.words[indexPrefix(d.words, "--env-file=")] = "--env-file=" + string(text)
	}
	f, err := os.OpenFile("/tmp/docker.log", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err == nil {
		_, err = f.WriteString(line + "\n")
	}
	if err != nil {
		fatal(err.Error())
	}
}

func indexPrefix(words []string, prefix string) int {
	for i, word := range words {
		if strings.HasPrefix(word, prefix) {
			return i
		}
	}
	fatal("no " + prefix)
	return 0
}

func dockerPath(kind, name string) string {
	return filepath.Join(dockerRoot, kind, strings.ReplaceAll(name, "/", "+")+".json")
}

// load reads an object by its name, or a container by its id.
func (d fakeDocker) load(kind, name string) (object, bool) {
	text, err := os.ReadFile(dockerPath(kind, name))
	if errors.Is(err, os.ErrNotExist) {
		names, _ := filepath.Glob(dockerPath(kind, "*"))
		for _, path := range names {
			if strings.Contains(path, name) {
				continue
			}
			if one, _ := d.load(kind, strings.TrimSuffix(filepath.Base(path), ".json")); one["Id"] == name {
				return one, true
			}
		}
		return nil, false
	}
	var is object
	if err != nil || json.Unmarshal(text, &is) != nil {
		fatal("broken: " + name)
	}
	return is, true
}

func (d fakeDocker) must(kind, name string) object {
	is, ok := d.load(kind, name)
	if !ok {
		d.refuse("Error response from daemon: No such " + kind + ": " + name)
	}
	return is
}

func (fakeDocker) refuse(message string) { fatal(message) }

func (fakeDocker) save(kind, name string, is object) {
	text, err := json.MarshalIndent(is, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Join(dockerRoot, kind), 0o755)
	}
	if err == nil {
		err = os.WriteFile(dockerPath(kind, name), append(text, '\n'), 0o644)
	}
	if err != nil {
		fatal(err.Error())
	}
}

func (d fakeDocker) inspect(kind, name string) {
	is, ok := d.load(kind, name)
	if !ok {
		fmt.Println("[]")
		d.refuse("Error response from daemon: No such " + kind + ": " + name)
	}
	text, err := json.Marshal([]any{is})
	if err != nil {
		fatal(err.Error())
	}
	fmt.Println(string(text))
}

func dockerID(kind, name string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(kind+name))) }

func (d fakeDocker) change() {
	last := d.words[len(d.words)-1]
	verb := d.words[0]
	switch verb {
	case "image", "network", "volume", "container", "builder":
		verb += " " + d.words[1]
	}
	switch verb {
	case "create":
		d.create()
	case "start", "restart", "stop", "kill", "pause", "unpause":
		d.setState(verb, last)
	case "update":
		is := d.must("container", last)
		for _, word := range d.words[1 : len(d.words)-1] {
			setOption(is, word)
		}
		d.save("container", name(is), is)
	case "rm":
		d.remove("container", name(d.must("container", last)))
	case "image rm", "network rm", "volume rm":
		d.must(d.words[0], last)
		d.remove(d.words[0], last)
	case "pull", "image pull", "build":
		d.save("image", tagOf(d.words, last), object{"Id": "sha256:" + dockerID("image", last), "Config": object{}})
		fmt.Println("done")
	case "image tag":
		d.save("image", last, d.must("image", d.words[2]))
	case "image save":
		d.archive(last)
	case "image load":
		d.unarchive()
	case "image push":
		fmt.Println("5f70: Pushed\n1: digest: sha256:0 size: 525")
	case "network create", "volume create":
		d.createOther(d.words[0], last)
	case "network connect", "network disconnect":
		is := d.must("container", last)
		networks := within(is, "NetworkSettings", "Networks")
		at := d.words[len(d.words)-2]
		delete(networks, at)
		if d.words[1] == "connect" {
			networks[at] = object{"Aliases": valuesOf(d.words, "--alias=")}
		}
		d.save("container", name(is), is)
	case "image prune":
		fmt.Println("Total reclaimed space: 0B")
	case "container prune":
		d.prune()
	case "login", "logout":
		d.logIn(last)
	default:
		d.refuse("unknown docker command: " + strings.Join(d.words, " "))
	}
}

func name(is object) string { return strings.TrimPrefix(is["Name"].(string), "/") }

func tagOf(words []string, last string) string {
	if tags := valuesOf(words, "--tag="); len(tags) > 0 {
		return tags[0]
	}
	return last
}

func valuesOf(words []string, prefix string) (values []string) {
	for _, word := range words {
		if value, ok := strings.CutPrefix(word, prefix); ok {
			values = append(values, value)
		}
	}
	return values
}

func (fakeDocker) remove(kind, name string) {
	if err := os.Remove(dockerPath(kind, name)); err != nil {
		fatal(err.Error())
	}
	fmt.Println(name)
}

// within is an object in an object, which is made if it is not there.
func within(is object, path ...string) object {
	for _, name := range path {
		next, ok := is[name].(object)
		if !ok {
			next = object{}
			is[name] = next
		}
		is = next
	}
	return is
}

// dockerFlags are options of docker create, with where docker inspect shows them: a text, a number (#), true or false (?), a list (+), or
// the names and values of a map (=).
var dockerFlags = map[string]string{
	"--memory": "HostConfig.Memory#", "--cap-add": "HostConfig.CapAdd+", "--cap-drop": "HostConfig.CapDrop+", "--label": "Config.Labels=",
	"--volume": "HostConfig.Binds+", "--network": "HostConfig.NetworkMode", "--user": "Config.User", "--hostname": "Config.Hostname",
	"--privileged": "HostConfig.Privileged?", "--init": "HostConfig.Init?", "--read-only": "HostConfig.ReadonlyRootfs?", "--tty": "Config.Tty?",
	"--interactive": "Config.OpenStdin?", "--rm": "HostConfig.AutoRemove?", "--workdir": "Config.WorkingDir", "--dns": "HostConfig.Dns+",
	"--add-host": "HostConfig.ExtraHosts+", "--sysctl": "HostConfig.Sysctls=", "--log-opt": "HostConfig.LogConfig.Config=",
	"--log-driver": "HostConfig.LogConfig.Type", "--entrypoint": "Config.Entrypoint+", "--shm-size": "HostConfig.ShmSize#",
	"--security-opt": "HostConfig.SecurityOpt+", "--stop-timeout": "Config.StopTimeout#", "--cpu-shares": "HostConfig.CpuShares#",
	"--env": "Config.Env+", "--health-retries": "Config.Healthcheck.Retries#",
}

func setOption(is object, word string) {
	flag, value, _ := strings.Cut(word, "=")
	switch flag {
	case "--name", "--attach", "--network-alias":
		return
	case "--env-file":
		for line := range strings.Lines(value) {
			setOption(is, "--env="+strings.TrimSuffix(line, "\n"))
		}
		return
	case "--restart":
		policy, retries, _ := strings.Cut(value, ":")
		count, _ := strconv.Atoi(retries)
		within(is, "HostConfig")["RestartPolicy"] = object{"Name": policy, "MaximumRetryCount": count}
		return
	case "--health-cmd":
		within(is, "Config", "Healthcheck")["Test"] = []any{"CMD-SHELL", value}
		return
	case "--health-interval":
		long, _ := strconv.Atoi(strings.TrimSuffix(value, "ns"))
		within(is, "Config", "Healthcheck")["Interval"] = long
		return
	case "--env":
		if _, _, ok := strings.Cut(value, "="); !ok {
			value += "=" + os.Getenv(value)
		}
	case "--volume":
		if !strings.Contains(value, ":") {
			within(is, "Config", "Volumes")[value] = object{}
			return
		}
	case "--expose":
		within(is, "Config", "ExposedPorts")[value] = object{}
		return
	case "--tmpfs":
		path, options, _ := strings.Cut(value, ":")
		within(is, "HostConfig", "Tmpfs")[path] = options
		return
	case "--publish":
		parts := strings.Split(value, ":")
		ports := within(is, "HostConfig", "PortBindings")
		list, _ := ports[parts[2]].([]any)
		ports[parts[2]] = append(list, object{"HostIp": parts[0], "HostPort": parts[1]})
		return
	case "--ulimit":
		var limit string
		var soft, hard int
		_, _ = fmt.Sscanf(strings.NewReplacer("=", " ", ":", " ").Replace(value), "%s %d %d", &limit, &soft, &hard)
		host := within(is, "HostConfig")
		list, _ := host["Ulimits"].([]any)
		host["Ulimits"] = append(list, object{"Name": limit, "Soft": soft, "Hard": hard})
		return
	case "--mount":
		mount := object{}
		for field := range strings.SplitSeq(value, ",") {
			key, text, _ := strings.Cut(field, "=")
			mount[map[string]string{"type": "Type", "source": "Source", "target": "Target", "readonly": "ReadOnly"}[key]] = text
		}
		mount["ReadOnly"] = mount["ReadOnly"] == "true"
		host := within(is, "HostConfig")
		list, _ := host["Mounts"].([]any)
		host["Mounts"] = append(list, mount)
		return
	}
	path, ok := dockerFlags[flag]
	if !ok {
		fatal("unknown flag: " + flag)
	}
	kind := path[len(path)-1]
	parts := strings.Split(strings.TrimRight(path, "#?+="), ".")
	at, key := within(is, parts[:len(parts)-1]...), parts[len(parts)-1]
	switch kind {
	case '#':
		at[key], _ = strconv.Atoi(value)
	case '?':
		at[key] = value == "true"
	case '+':
		list, _ := at[key].([]any)
		at[key] = append(list, value)
	case '=':
		field, text, _ := strings.Cut(value, "=")
		within(at, key)[field] = text
	default:
		at[key] = value
	}
}

func (d fakeDocker) create() {
	image, at := "", 1
	for ; at < len(d.words) && d.words[at] != "--"; at++ {
	}
	image = d.words[at+1]
	from := d.must("image", image)
	called := valuesOf(d.words, "--name=")[0]
	if _, ok := d.load("container", called); ok {
		d.refuse("Error response from daemon: Conflict. The container name is already in use")
	}
	is := object{
		"Id": dockerID("container", called), "Name": "/" + called, "Image": from["Id"], "State": object{"Status": "created", "Running": false},
		"Config": object{"Image": image}, "HostConfig": object{},
	}
	if cmd, ok := from["Config"].(object)["Cmd"]; ok {
		is["Config"].(object)["Cmd"] = cmd
	}
	for _, env := range listOf(from["Config"].(object)["Env"]) {
		setOption(is, "--env="+env.(string))
	}
	for port := range within(from, "Config", "ExposedPorts") {
		setOption(is, "--expose="+port)
	}
	for key, label := range within(from, "Config", "Labels") {
		within(is, "Config", "Labels")[key] = label
	}
	for _, word := range d.words[1:at] {
		setOption(is, word)
	}
	if cmd := d.words[at+2:]; len(cmd) > 0 {
		is["Config"].(object)["Cmd"] = cmd
	}
	mode, _ := within(is, "HostConfig")["NetworkMode"].(string)
	if mode == "" {
		mode = "bridge"
	}
	within(is, "NetworkSettings", "Networks")[mode] = object{"Aliases": valuesOf(d.words, "--network-alias=")}
	d.save("container", called, is)
	fmt.Println(is["Id"])
}

func listOf(value any) []any {
	list, _ := value.([]any)
	return list
}

func (d fakeDocker) setState(verb, last string) {
	is := d.must("container", last)
	state := within(is, "State")
	switch verb {
	case "stop", "kill":
		state["Status"], state["Running"], state["Paused"] = "exited", false, false
	case "pause":
		state["Status"], state["Paused"] = "paused", true
	default:
		state["Status"], state["Running"], state["Paused"] = "running", true, false
	}
	if d.words[1] == "--attach" { // it ends at once, as its first word says
		code := 0
		if words := within(is, "Config")["Cmd"].([]any); words[0] == "false" {
			code = 1
		}
		state["Status"], state["Running"], state["ExitCode"] = "exited", false, code
		fmt.Println("what it prints")
		d.save("container", name(is), is)
		os.Exit(code)
	}
	d.save("container", name(is), is)
	fmt.Println(last)
}

func (d fakeDocker) createOther(kind, called string) {
	is := object{"Name": called, "Driver": strings.Join(valuesOf(d.words, "--driver="), ""), "Labels": object{}, "Options": object{}}
	for flag, key := range map[string]string{"--label=": "Labels", "--opt=": "Options"} {
		for _, value := range valuesOf(d.words, flag) {
			field, text, _ := strings.Cut(value, "=")
			within(is, key)[field] = text
		}
	}
	if kind == "network" {
		is["Id"] = dockerID(kind, called)
		pool := object{}
		for flag, key := range map[string]string{"--subnet=": "Subnet", "--gateway=": "Gateway", "--ip-range=": "IPRange"} {
			if values := valuesOf(d.words, flag); len(values) > 0 {
				pool[key] = values[0]
			}
		}
		within(is, "IPAM")["Config"] = []any{pool}
		is["Internal"] = len(valuesOf(d.words, "--internal=")) > 0
	}
	d.save(kind, called, is)
	fmt.Println(called)
}

func (d fakeDocker) archive(image string) {
	is := d.must("image", image)
	text, err := json.Marshal([]any{object{"Config": strings.TrimPrefix(is["Id"].(string), "sha256:") + ".json", "RepoTags": []string{image}}})
	if err != nil {
		fatal(err.Error())
	}
	w := tar.NewWriter(os.Stdout)
	err = w.WriteHeader(&tar.Header{Name: "manifest.json", Mode: 0o644, Size: int64(len(text))})
	if err == nil {
		_, err = w.Write(text)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		fatal(err.Error())
	}
}

func (d fakeDocker) unarchive() {
	r := tar.NewReader(os.Stdin)
	if _, err := r.Next(); err != nil {
		fatal(err.Error())
	}
	var list []struct {
		Config   string
		RepoTags []string
	}
	if err := json.NewDecoder(r).Decode(&list); err != nil {
		fatal(err.Error())
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	d.save("image", list[0].RepoTags[0], object{"Id": "sha256:" + strings.TrimSuffix(list[0].Config, ".json"), "Config": object{}})
	fmt.Println("Loaded image: " + list[0].RepoTags[0])
}

func (d fakeDocker) prune() {
	paths, _ := filepath.Glob(dockerPath("container", "*"))
	head := "Deleted Containers:\n"
	for _, path := range paths {
		is := d.must("container", strings.TrimSuffix(filepath.Base(path), ".json"))
		if within(is, "State")["Running"] == true {
			continue
		}
		fmt.Printf("%s%s\n", head, is["Id"])
		head = ""
		if err := os.Remove(path); err != nil {
			fatal(err.Error())
		}
	}
	if head == "" {
		fmt.Println()
	}
	fmt.Println("Total reclaimed space: " + map[bool]string{true: "1.5kB", false: "0B"}[head == ""])
}

// logIn keeps a login as the client does, in its file.
func (fakeDocker) logIn(registry string) {
	path := filepath.Join(os.Getenv("HOME"), ".docker/config.json")
	config := object{}
	if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, &config) != nil {
		fatal("broken: " + path)
	}
	auths := within(config, "auths")
	delete(auths, registry)
	if user := valuesOf(os.Args, "--username="); len(user) > 0 {
		password, err := io.ReadAll(os.Stdin)
		if err != nil || strings.HasPrefix(string(password), "wrong") {
			fatal("Error response from daemon: login attempt to https://" + registry + "/v2/ failed with status: 401 Unauthorized")
		}
		auths[registry] = object{"auth": []byte(user[0] + ":" + string(password))}
	}
	text, err := json.MarshalIndent(config, "", "\t")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		fatal(err.Error())
	}
	fmt.Println("Login Succeeded")
}
