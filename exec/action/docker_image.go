package action

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("docker_image", exec.Action{Plan: planDockerImage})

// dockerImage is a step of docker_image.
type dockerImage struct {
	docker
	args    *spec.DockerImageArgs
	c       *exec.Change
	name    string // with its tag
	is      map[string]any
	actions []any
}

func planDockerImage(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.DockerImageArgs)
	client, err := openDocker(a, &args.DockerClient)
	if err != nil {
		return nil, err
	}
	d := &dockerImage{docker: client, args: args, name: imageName(args.Name, args.Tag)}
	d.c = &exec.Change{Fields: map[string]any{"image": map[string]any{}}}
	d.c.PlanNothing()
	if d.is, err = d.inspect(ctx, "image", d.name); err != nil {
		return nil, err
	}
	if d.is != nil {
		d.c.Fields["image"] = d.is
	}
	if args.State == fsys.Absent {
		d.planRemoval()
	} else {
		err = errors.Join(d.planSource(), d.planArchive())
		if err == nil {
			err = d.planNames(ctx)
		}
	}
	if d.actions == nil {
		d.actions = []any{}
	}
	d.c.Fields["actions"] = d.actions
	return d.c, err
}

// imageName is the name of an image with its tag or digest.
func imageName(repository, tag string) string {
	switch {
	case tag == "":
		return repository
	case strings.HasPrefix(tag, "sha256:"):
		return repository + "@" + tag
	}
	return repository + ":" + tag
}

// do plans something to be done after what was planned before. action is what Ansible's module calls it.
func (d *dockerImage) do(kind events.ChangeKind, words, action string, run func(context.Context) error) {
	d.actions = append(d.actions, action)
	planAfter(d.c, kind, run, words)
}

func (d *dockerImage) planRemoval() {
	if d.is == nil {
		return
	}
	d.c.AddResource(events.ChangeDelete, "docker_image", d.name)
	d.c.Fields["image"] = map[string]any{"state": "Deleted"}
	d.do(events.ChangeDelete, "remove", "Removed image "+d.name, func(ctx context.Context) error {
		argv := []string{"image", "rm"}
		if d.args.ForceAbsent {
			argv = append(argv, "--force")
		}
		_, err := d.run(ctx, append(argv, "--", d.name)...)
		return err
	})
}

// planSource plans to get the image if it is not there.
func (d *dockerImage) planSource() error {
	if d.is != nil && !d.args.ForceSource {
		return nil
	}
	kind := events.ChangeCreate
	if d.is != nil {
		kind = events.ChangeUpdate
	}
	var get func(context.Context) error
	var action string
	switch d.args.Source {
	case "local":
		if d.is == nil {
			return fault.Missing("", "there is no image %s", d.name)
		}
		return nil
	case "pull":
		action, get = "Pulled image "+d.name, d.pull
	case "load":
		action, get = "Loaded image "+d.name+" from "+d.args.LoadPath, d.load
		if err := mustFile(d.Attempt, d.args.LoadPath); err != nil {
			return err
		}
	case "build":
		dir := d.buildPath()
		action, get = "Built image "+d.name+" from "+dir, d.build
		if !isURL(dir) && isMissing(d.Attempt, dir) {
			return fault.Missing(dir, "%s does not exist", dir)
		}
	}
	if kind == events.ChangeCreate {
		undo := map[string]any{"name": d.name, "state": fsys.Absent}
		addClient(undo, d.client)
		d.c.AddCreated("docker_image", d.name, d.UndoWithTools("docker_image", undo))
	} else {
		d.c.AddResource(kind, "docker_image", d.name)
	}
	d.do(kind, d.args.Source, action, func(ctx context.Context) error {
		old := digText(d.is, "Id")
		if err := get(ctx); err != nil {
			return err
		}
		is, err := d.inspect(ctx, "image", d.name)
		if err == nil && is == nil {
			err = fault.CommandError{Message: "docker: there is no image " + d.name + " now", Class: fault.Fatal}
		}
		if err != nil {
			return err
		}
		d.is, d.c.Fields["image"] = is, is
		// What came is what was there, so nothing has changed, unless something else will.
		if digText(is, "Id") == old && len(d.actions) == 1 {
			d.c.PlanNothing()
		}
		return nil
	})
	return nil
}

func (d *dockerImage) pull(ctx context.Context) error {
	argv := []string{"image", "pull"}
	if p := d.args.Pull; p != nil && p.Platform != "" {
		argv = append(argv, "--platform="+p.Platform)
	}
	_, err := d.run(ctx, append(argv, "--", d.name)...)
	return err
}

func (d *dockerImage) load(ctx context.Context) error {
	// The daemon knows what an archive is compressed with.
	f, err := fsys.OpenRegular(d.args.LoadPath)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	r, w := io.Pipe()
	t := d.tool("image", "load")
	t.Input = r
	go func() {
		_, err := io.Copy(w, f)
		w.CloseWithError(err)
	}()
	said, err := d.runTool(ctx, t)
	_ = r.Close() // so that the copy ends
	if err != nil {
		return err
	}
	var loaded []string
	for line := range strings.Lines(said.Stdout) {
		for _, words := range []string{"Loaded image: ", "Loaded image ID: "} {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), words); ok {
				loaded = append(loaded, name)
			}
		}
	}
	if !slices.Contains(loaded, d.name) {
		message := fmt.Sprintf("%s has no image %s, but %s", d.args.LoadPath, d.name, strings.Join(loaded, ", "))
		return fault.CommandError{Message: message, Class: fault.Fatal}
	}
	return nil
}

func isURL(text string) bool {
	return strings.Contains(text, "://") || strings.HasPrefix(text, "git@") || strings.HasPrefix(text, "github.com/")
}

// buildPath is what the image is built from.
func (d *dockerImage) buildPath() string {
	dir := d.args.Build.Path
	if isURL(dir) || filepath.IsAbs(dir) {
		return dir
	}
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		return filepath.Join(d.Getenv("HOME"), rest)
	}
	return filepath.Join(d.Cwd, dir)
}

func (d *dockerImage) build(ctx context.Context) error {
	b := d.args.Build
	dir := d.buildPath()
	t := d.tool("build", "--tag="+d.name)
	add := func(flag, value string) {
		if value != "" {
			t.Argv = append(t.Argv, flag+"="+value)
		}
	}
	if b.Dockerfile != "" && isURL(dir) || path.IsAbs(b.Dockerfile) {
		add("--file", b.Dockerfile)
	} else if b.Dockerfile != "" {
		add("--file", filepath.Join(dir, b.Dockerfile))
	}
	if b.Pull {
		add("--pull", "true")
	}
	if b.NoCache {
		add("--no-cache", "true")
	}
	if !b.Remove {
		add("--rm", "false")
	}
	add("--target", b.Target)
	add("--network", b.Network)
	add("--platform", b.Platform)
	for _, image := range b.CacheFrom {
		add("--cache-from", image)
	}
	for _, host := range assignments(plainTexts(b.EtcHosts)) {
		add("--add-host", strings.Replace(host, "=", ":", 1))
	}
	if l := b.Limits; l != nil {
		for _, f := range []struct {
			flag  string
			value *int
		}{{"--memory", l.Memory}, {"--memory-swap", l.Swap}, {"--cpu-shares", l.CPUShares}} {
			if f.value != nil {
				add(f.flag, strconv.Itoa(*f.value))
			}
		}
		if l.CPUSet != nil {
			add("--cpuset-cpus", *l.CPUSet)
		}
	}
	// The client takes a value from its environment if the word has none.
	for _, line := range assignments(plainTexts(b.Args)) {
		name, value, _ := strings.Cut(line, "=")
		if meansSomething(name) || d.Env[name] != "" {
			add("--build-arg", line)
			continue
		}
		if t.Env == nil {
			t.Env = map[string]string{}
		}
		t.Env[name] = value
		add("--build-arg", name)
	}
	t.Argv = append(t.Argv, "--", dir)
	said, err := d.runTool(ctx, t)
	d.c.Fields["stdout"] = strings.TrimSuffix(said.Stdout, "\n")
	return err
}

// meansSomething reports whether a variable means something to the client itself.
func meansSomething(name string) bool {
	return strings.HasPrefix(name, "DOCKER_") || slices.Contains([]string{"PATH", "HOME", "LC_ALL", "LANGUAGE"}, name)
}

// plainTexts is a map with its values as texts.
func plainTexts(m map[string]any) map[string]string {
	texts := make(map[string]string, len(m))
	for name, value := range m {
		texts[name] = fmt.Sprint(value)
	}
	return texts
}

// planArchive plans to write the image to an archive, unless that has it already, and only it.
func (d *dockerImage) planArchive() error {
	to := d.args.ArchivePath
	if to == "" {
		return nil
	}
	why := "since none present"
	id, tags, err := archivedImage(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		why = "overwriting an unreadable archive file"
	case d.is != nil && "sha256:"+id == digText(d.is, "Id") && slices.Equal(tags, []string{d.name}) && d.c.Diff.Kind == events.ChangeNone:
		return nil
	default:
		why = fmt.Sprintf("overwriting archive with image %s named %s", id, strings.Join(tags, ", "))
	}
	one := &exec.Change{Fields: map[string]any{}}
	one.PlanNothing()
	// Whatever the name says, Docker's archives are not compressed.
	if err := planDumpAs(d.Attempt, one, to, "", d.tool("image", "save", "--", d.name)); err != nil {
		return err
	}
	d.actions = append(d.actions, fmt.Sprintf("Archived image %s to %s, %s", d.name, to, why))
	if d.c.Diff.Kind == events.ChangeNone {
		d.c.Diff.Path = one.Diff.Path
	}
	addChange(d.c, one)
	return nil
}

// archivedImage is the id of the image in an archive, with its names.
func archivedImage(archive string) (id string, tags []string, err error) {
	f, err := fsys.OpenRegular(archive)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if err != nil {
			return "", nil, errors.Join(errors.New("no manifest.json"), err)
		}
		if h.Name != "manifest.json" {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(r, 1<<20))
		if err != nil {
			return "", nil, err
		}
		value, _ := decodeJSON(text)
		list, _ := value.([]any)
		if len(list) != 1 {
			return "", nil, fmt.Errorf("%d images", len(list))
		}
		return strings.TrimSuffix(path.Base(digText(list[0], "Config")), ".json"), digTexts(list[0], "RepoTags"), nil
	}
}

// planNames plans to give the image a further name, and to push it.
func (d *dockerImage) planNames(ctx context.Context) error {
	name := d.name
	if d.args.Repository != "" {
		repository, tag := spec.SplitDockerTag(d.args.Repository)
		if tag == "" {
			if tag = d.args.Tag; tag == "" || strings.HasPrefix(tag, "sha256:") {
				tag = "latest"
			}
		}
		name = imageName(repository, tag)
		has, err := d.inspect(ctx, "image", name)
		if err != nil {
			return err
		}
		comes := d.c.Diff.Kind != events.ChangeNone && d.args.Source != "local"
		if has == nil || d.args.ForceTag && (comes || digText(has, "Id") != digText(d.is, "Id")) {
			d.planTag(name, has == nil)
		}
	}
	if d.args.Push {
		d.c.AddResource(events.ChangeUpdate, "docker_image", name)
		d.do(events.ChangeUpdate, "push "+name, "Pushed image "+name, func(ctx context.Context) error { return d.push(ctx, name) })
	}
	return nil
}

func (d *dockerImage) planTag(name string, fresh bool) {
	kind := events.ChangeUpdate
	if fresh {
		kind = events.ChangeCreate
		undo := map[string]any{"name": name, "state": fsys.Absent}
		addClient(undo, d.client)
		d.c.AddCreated("docker_image", name, d.UndoWithTools("docker_image", undo))
	} else {
		d.c.AddResource(kind, "docker_image", name)
	}
	d.do(kind, "tag "+name, "Tagged image "+d.name+" to "+name, func(ctx context.Context) error {
		if _, err := d.run(ctx, "image", "tag", d.name, name); err != nil {
			return err
		}
		is, err := d.inspect(ctx, "image", name)
		if is != nil {
			d.c.Fields["image"] = is
		}
		return err
	})
}

func (d *dockerImage) push(ctx context.Context, name string) error {
	said, err := d.run(ctx, "image", "push", "--", name)
	if err != nil {
		return err
	}
	is, err := d.inspect(ctx, "image", name)
	if is == nil {
		is = map[string]any{}
	}
	is["push_status"] = said.LastWords()
	d.c.Fields["image"] = is
	// Nothing was pushed if the registry has had it all.
	if !strings.Contains(said.Stdout, ": Pushed") && len(d.actions) == 1 {
		d.c.PlanNothing()
	}
	return err
}
