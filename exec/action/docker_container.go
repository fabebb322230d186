package action

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("docker_container", exec.Action{Plan: planDockerContainer})

// dockerContainer is a step of docker_container.
type dockerContainer struct {
	docker
	args   *spec.DockerContainerArgs
	wanted *spec.DockerWanted

	is      map[string]any // the container, as docker inspect describes it; nil if there is none
	image   map[string]any // the image that it is to have; nil if none is named, or it is not there
	compare map[string]any // the image that says what the arguments do not
	env     map[string]string

	fields  map[string]any
	actions []any
	doing   []func(context.Context) error
	words   []string
	before  map[string]any // what differs, as it is and as it is to be
	after   map[string]any
}

func planDockerContainer(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.DockerContainerArgs)
	d := &dockerContainer{args: args, wanted: &args.Wanted}
	var err error
	if d.docker, err = openDocker(a, &args.DockerClient); err != nil {
		return nil, err
	}
	c := &exec.Change{Fields: map[string]any{}}
	c.PlanNothing()
	d.fields = c.Fields
	if d.is, err = d.inspect(ctx, "container", args.Name); err != nil {
		return nil, err
	}
	pull := false
	if args.State == fsys.Absent {
		d.planRemoval()
	} else {
		if err = d.prepare(ctx); err != nil {
			return nil, err
		}
		if pull, err = d.findImages(ctx); err != nil {
			return nil, err
		}
		if err = d.decide(); err != nil {
			return nil, err
		}
	}
	d.describe(c, pull)
	return c, nil
}

// describe makes the plan of a step a change.
func (d *dockerContainer) describe(c *exec.Change, pull bool) {
	apply := func(ctx context.Context) error {
		if pull {
			if err := d.pull(ctx, c); err != nil {
				return err
			}
		}
		for _, do := range d.doing {
			if err := do(ctx); err != nil {
				return err
			}
		}
		return d.report(ctx)
	}
	name := d.args.Name
	kind := events.ChangeUpdate
	words := d.words
	if pull && d.image == nil {
		words = append([]string{"pull " + imageTag(d.args.Image)}, words...)
	}
	switch {
	case len(words) == 0:
		// The image that is asked for may be newer only on the server.
		c.Always, c.Apply = pull, apply
		if d.is != nil {
			c.Fields["container"] = d.is
		}
		c.AddResource(kind, "docker_container", name)
		return
	case d.is == nil || d.removing():
		kind = events.ChangeCreate
		undo := map[string]any{"name": name, "state": fsys.Absent, "keep_volumes": false}
		addClient(undo, d.client)
		c.AddCreated("docker_container", name, d.UndoWithTools("docker_container", undo))
	case d.args.State == fsys.Absent:
		kind = events.ChangeDelete
		c.AddResource(kind, "docker_container", name)
	default:
		c.AddResource(kind, "docker_container", name)
	}
	if d.Predicts() {
		c.Fields["actions"] = d.actions
	}
	if d.Diff && !d.NoLog {
		c.Diff.Text = settingsDiff(d.before, d.after)
	}
	c.Plan(kind, apply, words...)
}

// settingsDiff shows settings that differ, one in a line.
func settingsDiff(before, after map[string]any) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(after)) {
		fmt.Fprintf(&b, "- %s: %s\n+ %s: %s\n", name, asJSON(before[name], ""), name, asJSON(after[name], ""))
	}
	return b.String()
}

func (d *dockerContainer) removing() bool { return digText(d.is, "State", "Status") == "removing" }
func (d *dockerContainer) running() bool  { return dig(d.is, "State", "Running") == true }
func (d *dockerContainer) paused() bool   { return dig(d.is, "State", "Paused") == true }

// prepare works out what the arguments mean on this host.
func (d *dockerContainer) prepare(ctx context.Context) error {
	d.env = map[string]string{}
	if err := d.readEnvFile(); err != nil {
		return err
	}
	maps.Copy(d.env, d.wanted.Env)
	values := d.wanted.Values
	for i, v := range d.wanted.Volumes {
		if strings.HasPrefix(v.Host, ".") {
			d.wanted.Volumes[i].Host = filepath.Join(d.Cwd, v.Host)
		}
		if rest, ok := strings.CutPrefix(v.Host, "~"); ok && (rest == "" || rest[0] == '/') {
			d.wanted.Volumes[i].Host = filepath.Join(d.Getenv("HOME"), rest)
		}
	}
	for _, name := range []string{"network_mode", "pid_mode", "ipc_mode"} {
		value, _ := values[name].(string)
		other, ok := strings.CutPrefix(value, "container:")
		if !ok {
			continue
		}
		is, err := d.inspect(ctx, "container", other)
		if err != nil {
			return err
		}
		if is == nil {
			return fault.Missing("", "`%s`: there is no container %s", name, other)
		}
		values[name] = "container:" + digText(is, "Id")
	}
	// As with Ansible, a bridge may say where its ports are published.
	ip := "0.0.0.0"
	for _, n := range d.wanted.Networks {
		is, err := d.inspect(ctx, "network", n.Name)
		if err != nil {
			return err
		}
		if is == nil {
			return fault.Missing("", "there is no network %s", n.Name)
		}
		bound := digText(is, "Options", "com.docker.network.bridge.host_binding_ipv4")
		if bound != "" && ip == "0.0.0.0" && digText(is, "Driver") == "bridge" {
			ip = bound
		}
	}
	if d.args.DefaultHostIP != nil {
		ip = strings.Trim(*d.args.DefaultHostIP, "[]")
	}
	for i := range d.wanted.Ports {
		if d.wanted.Ports[i].Default {
			d.wanted.Ports[i].HostIP = ip
		}
	}
	return nil
}

// readEnvFile reads NAME=VALUE in lines.
func (d *dockerContainer) readEnvFile() error {
	path := d.args.EnvFile
	if path == "" {
		return nil
	}
	if d.Overlay.Concerns(path) {
		return fault.Missing(path, "an earlier step would change %s", path)
	}
	f, err := fsys.OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	const most = 4 << 20
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return err
	}
	if len(text) > most {
		return fault.CommandError{Message: path + " is too large for a file of variables", Class: fault.Fatal}
	}
	for n, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok {
			return fault.CommandError{Message: fmt.Sprintf("%s:%d: the line is not like NAME=VALUE", path, n+1), Class: fault.Fatal}
		}
		d.env[name] = value
	}
	return nil
}

// findImages looks for the image, and for the one that the container is compared by. It reports whether to pull one.
func (d *dockerContainer) findImages(ctx context.Context) (pull bool, err error) {
	own := func() (map[string]any, error) {
		if d.is == nil || d.removing() {
			return nil, nil // there is none
		}
		return d.inspect(ctx, "image", digText(d.is, "Image"))
	}
	if d.args.Image == "" {
		if d.is == nil || d.removing() {
			return false, fault.Missing("", "there is no container %s, and without `image` none can be created", d.args.Name)
		}
		d.compare, err = own()
		return false, err
	}
	name := imageTag(d.args.Image)
	if d.image, err = d.inspect(ctx, "image", name); err != nil {
		return false, err
	}
	if d.image == nil && spec.IsDockerID(name) {
		return false, fault.Missing("", "there is no image %s", name)
	}
	d.compare = d.image
	if d.args.ImageComparison == "current-image" {
		current, err := own()
		if err != nil {
			return false, err
		}
		if current != nil {
			d.compare = current
		}
	}
	return !spec.IsDockerID(name) && (d.image == nil || d.args.Pull), nil
}

// pull gets the image, and decides once more what is to be done, with what is known now.
func (d *dockerContainer) pull(ctx context.Context, c *exec.Change) error {
	words := []string{"pull"}
	if d.args.Platform != nil {
		words = append(words, "--platform", *d.args.Platform)
	}
	old := digText(d.image, "Id")
	if _, err := d.run(ctx, append(words, imageTag(d.args.Image))...); err != nil {
		return err
	}
	if _, err := d.findImages(ctx); err != nil {
		return err
	}
	d.actions, d.doing, d.words, d.before, d.after = nil, nil, nil, nil, nil
	if err := d.decide(); err != nil {
		return err
	}
	if digText(d.image, "Id") != old {
		d.words = append([]string{"pull " + imageTag(d.args.Image)}, d.words...)
	}
	if c.Diff.Kind == events.ChangeNone && len(d.words) > 0 {
		c.Diff.Kind, c.Diff.Summary = events.ChangeUpdate, strings.Join(d.words, ", ")
		if d.Diff && !d.NoLog {
			c.Diff.Text = settingsDiff(d.before, d.after)
		}
	}
	return nil
}

// differ notes that something is other than it is to be.
func (d *dockerContainer) differ(name string, want, is any) {
	if d.before == nil {
		d.before, d.after = map[string]any{}, map[string]any{}
	}
	d.before[name], d.after[name] = is, want
}

// do plans something to be done. action is what Ansible's module calls it.
func (d *dockerContainer) do(words string, action map[string]any, run func(context.Context) error) {
	d.words = append(d.words, words)
	d.actions = append(d.actions, action)
	d.doing = append(d.doing, run)
}

// call is a call of the client, as something to do.
func (d *dockerContainer) call(words ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := d.run(ctx, words...)
		return err
	}
}

func (d *dockerContainer) planRemoval() {
	if d.is == nil {
		return
	}
	if d.running() {
		d.differ("running", false, true)
		d.planStop()
	}
	d.differ("exists", false, true)
	d.planRemove()
}

func (d *dockerContainer) planStop() {
	id := digText(d.is, "Id")
	if d.paused() {
		d.doing = append(d.doing, d.call("unpause", id)) // one that is paused cannot be stopped
	}
	if d.args.ForceKill {
		words := []string{"kill"}
		if d.args.KillSignal != "" {
			words = append(words, "--signal", d.args.KillSignal)
		}
		d.do("kill", map[string]any{"killed": id, "signal": noText(d.args.KillSignal)}, d.call(append(words, id)...))
		return
	}
	words := []string{"stop"}
	var timeout any
	if d.args.StopTimeout != nil {
		timeout = *d.args.StopTimeout
		if timeout != 0 {
			words = append(words, "-t", strconv.Itoa(*d.args.StopTimeout))
		}
	}
	d.do("stop", map[string]any{"stopped": id, "timeout": timeout}, d.call(append(words, id)...))
}

// noText is a text, or nothing if it is empty.
func noText(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func (d *dockerContainer) planRemove() {
	id := digText(d.is, "Id")
	action := map[string]any{"removed": id, "volume_state": !d.args.KeepVolumes, "link": false, "force": false}
	d.do("remove", action, func(ctx context.Context) error { return d.remove(ctx, id, false) })
}

// remove removes a container, and waits until it is gone. It may be going by itself already.
func (d *dockerContainer) remove(ctx context.Context, id string, force bool) error {
	words := []string{"rm"}
	if !d.args.KeepVolumes {
		words = append(words, "--volumes")
	}
	if force {
		words = append(words, "--force")
	}
	said, err := d.RunToolReading(ctx, d.tool(append(words, id)...))
	going := strings.Contains(said.Stderr, "already in progress") || strings.Contains(said.Stderr, "No such container")
	if err != nil && (said.Code == 0 || !going) {
		if said.Code != 0 {
			err = dockerError(said)
		}
		return err
	}
	return d.awaitRemoval(ctx, id)
}

func (d *dockerContainer) awaitRemoval(ctx context.Context, id string) error {
	began := time.Now()
	for {
		is, err := d.inspect(ctx, "container", id)
		switch {
		case err != nil:
			return err
		case is == nil:
			return nil
		case digText(is, "State", "Status") != "removing" && time.Since(began) > time.Second:
			return fault.CommandError{Message: "docker: the container " + id + " is still there", Class: fault.Fatal}
		case d.wanted.Wait > 0 && time.Since(began) > d.wanted.Wait:
			return fault.CommandError{Message: "docker: the container " + id + " is not removed yet", Class: fault.Transient}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// decide plans what makes the container what it is to be.
func (d *dockerContainer) decide() error {
	fresh := d.is == nil || d.removing()
	if fresh {
		d.differ("exists", true, false)
		if id := digText(d.is, "Id"); id != "" {
			d.doing = append(d.doing, func(ctx context.Context) error { return d.awaitRemoval(ctx, id) })
		}
		d.planCreate(d.args.Image)
	} else {
		different, limits, err := d.differences()
		if err != nil {
			return err
		}
		if different = d.imageDiffers() || different; different || d.args.Recreate {
			image := d.args.Image
			if image == "" {
				image = digText(d.is, "Image")
			}
			if d.running() {
				d.planStop()
			}
			d.planRemove()
			d.planCreate(image)
			fresh = true
		} else if limits {
			words := d.updateWords()
			d.do("update", map[string]any{"updated": digText(d.is, "Id")}, d.call(append(words, digText(d.is, "Id"))...))
		}
	}
	d.planNetworks(fresh)
	d.planState(fresh)
	return nil
}

func (d *dockerContainer) imageDiffers() bool {
	if d.wanted.Compare["image"] != "strict" || d.args.Image == "" {
		return false
	}
	differs := false
	if want, is := digText(d.image, "Id"), digText(d.is, "Image"); want != is && d.image != nil {
		d.differ("image", want, is)
		differs = true
	}
	if want, is := d.args.Image, digText(d.is, "Config", "Image"); d.args.ImageNameChanged == "recreate" && want != is {
		d.differ("image_name", want, is)
		differs = true
	}
	return differs
}

func (d *dockerContainer) planCreate(image string) {
	t := d.createTool(image)
	d.do("create", map[string]any{"created": "Created container"}, func(ctx context.Context) error {
		_, err := d.runTool(ctx, t)
		return err
	})
}

// name is how the container is called once it exists; before that it may be given by its id.
func (d *dockerContainer) name(fresh bool) string {
	if fresh {
		return d.args.Name
	}
	return digText(d.is, "Id")
}

// planState plans to start, stop, restart or pause the container, as it is after what was planned before.
func (d *dockerContainer) planState(fresh bool) {
	running, name := d.running() && !fresh, d.name(fresh)
	switch {
	case d.args.State == "started" && !running:
		d.differ("running", true, d.running())
		d.do("start", map[string]any{"started": name}, func(ctx context.Context) error { return d.start(ctx, name) })
	case d.args.State == "started" && d.args.Restart:
		d.differ("restarted", true, false)
		timeout := 10
		if d.args.StopTimeout != nil && *d.args.StopTimeout != 0 {
			timeout = *d.args.StopTimeout
		}
		d.do("restart", map[string]any{"restarted": name, "timeout": timeout}, d.call("restart", "-t", strconv.Itoa(timeout), name))
	case d.args.State == "stopped" && running:
		d.differ("running", false, true)
		d.planStop()
	}
	if p := d.args.Paused; d.args.State == "started" && p != nil && *p != (d.paused() && !fresh) {
		d.differ("paused", *p, d.paused())
		verb := map[bool]string{true: "pause", false: "unpause"}[*p]
		d.do(verb, map[string]any{"set_paused": *p}, d.call(verb, name))
	}
}

// start starts the container. With detach: false its end is waited for, and its exit status is the step's.
func (d *dockerContainer) start(ctx context.Context, name string) error {
	if d.args.Detach == nil || *d.args.Detach {
		return d.call("start", name)(ctx)
	}
	t := d.tool("start", "--attach", name)
	t.Quiet = !d.args.OutputLogs
	said, err := d.RunToolReading(ctx, t)
	if err != nil && said.Code == 0 {
		return err
	}
	is, inspectErr := d.inspect(ctx, "container", name)
	status, ended := dig(is, "State", "ExitCode").(int)
	switch {
	case inspectErr != nil:
		return inspectErr
	case !ended: // it has removed itself, and only the client knows
		status = said.Code
	case digText(is, "State", "Status") == "created" || digText(is, "State", "Error") != "":
		return dockerError(said)
	}
	if is == nil {
		is = map[string]any{}
	}
	output := said.Stdout + said.Stderr
	if d.args.Cleanup {
		if err := d.remove(ctx, name, true); err != nil {
			return err
		}
		is = map[string]any{}
	}
	is["Output"] = output
	d.fields["status"], d.fields["container"] = status, is
	if status != 0 {
		last := exec.Answer{Stdout: output}.LastWords()
		if last == "" {
			last = fmt.Sprintf("the container has ended with exit status %d", status)
		}
		fields := map[string]any{"status": status, "container": is, "msg": output}
		return fault.WithFields{Err: fault.CommandError{Message: last, RC: &status, Class: fault.Fatal}, Fields: fields}
	}
	return nil
}

// report adds the container, as it is then, to the result.
func (d *dockerContainer) report(ctx context.Context) error {
	if d.args.State == fsys.Absent || d.fields["status"] != nil {
		return nil
	}
	is, err := d.inspect(ctx, "container", d.args.Name)
	if is != nil {
		d.fields["container"] = is
	}
	return err
}
