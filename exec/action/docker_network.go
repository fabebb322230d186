package action

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var (
	_ = exec.Register("docker_network", exec.Action{Plan: planDockerNetwork})
	_ = exec.Register("docker_volume", exec.Action{Plan: planDockerVolume})
)

// dockerThing is a network or a volume that a step is about.
type dockerThing struct {
	docker
	kind, name string
	is         map[string]any // nil if it does not exist
	c          *exec.Change
	words      []string
	actions    []any
	doing      [][]string
	before     map[string]any
	after      map[string]any
}

func openDockerThing(ctx context.Context, a *exec.Attempt, client *spec.DockerClient, kind, name string) (*dockerThing, error) {
	d, err := openDocker(a, client)
	if err != nil {
		return nil, err
	}
	t := &dockerThing{docker: d, kind: kind, name: name, before: map[string]any{}, after: map[string]any{}}
	t.c = &exec.Change{Fields: map[string]any{}}
	t.c.PlanNothing()
	t.is, err = t.find(ctx)
	return t, err
}

// find describes the thing by its name. The beginning of an id names nothing here.
func (t *dockerThing) find(ctx context.Context) (map[string]any, error) {
	is, err := t.inspect(ctx, t.kind, t.name)
	if digText(is, "Name") != t.name {
		is = nil
	}
	return is, err
}

func (t *dockerThing) do(words, action string, argv ...string) {
	t.words, t.actions, t.doing = append(t.words, words), append(t.actions, action), append(t.doing, argv)
}

func (t *dockerThing) differ(name string, want, is any) { t.before[name], t.after[name] = is, want }

// differing compares maps of which more may be there.
func (t *dockerThing) differing(name string, want map[string]string, is map[string]any) (differs bool) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if is[key] != want[key] {
			t.differ(name+"."+key, want[key], is[key])
			differs = true
		}
	}
	return differs
}

// plan makes what is to be done the change of the step.
func (t *dockerThing) plan(state string) *exec.Change {
	c := t.c
	typ := "docker_" + t.kind
	if t.is != nil && state != fsys.Absent {
		c.Fields[t.kind] = t.is
	}
	if len(t.doing) == 0 {
		return c
	}
	kind := events.ChangeUpdate
	switch {
	case state == fsys.Absent:
		kind = events.ChangeDelete
		c.AddResource(kind, typ, t.name)
	// One that is replaced was there before, and stays.
	case t.is == nil:
		kind = events.ChangeCreate
		undo := map[string]any{"name": t.name, "state": fsys.Absent}
		addClient(undo, t.client)
		c.AddCreated(typ, t.name, t.UndoWithTools(typ, undo))
	default:
		c.AddResource(kind, typ, t.name)
	}
	if t.Predicts() {
		c.Fields["actions"] = t.actions
	}
	if t.Diff && !t.NoLog {
		c.Diff.Text = settingsDiff(t.before, t.after)
	}
	return c.Plan(kind, func(ctx context.Context) error {
		for _, argv := range t.doing {
			if _, err := t.run(ctx, argv...); err != nil {
				return err
			}
		}
		if state == fsys.Absent {
			return nil
		}
		is, err := t.find(ctx)
		c.Fields[t.kind] = is
		return err
	}, t.words...)
}

func planDockerVolume(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.DockerVolumeArgs)
	t, err := openDockerThing(ctx, a, &args.DockerClient, "volume", args.Name)
	if err != nil {
		return nil, err
	}
	remove := func() { t.do("remove", "Removed volume "+t.name, "volume", "rm", t.name) }
	if args.State == fsys.Absent {
		if t.is != nil {
			t.differ("exists", false, true)
			remove()
		}
		return t.plan(args.State), nil
	}
	fresh := t.is == nil
	if !fresh {
		differs := false
		if has := digText(t.is, "Driver"); has != args.Driver {
			t.differ("driver", args.Driver, has)
			differs = true
		}
		differs = t.differing("driver_options", args.Options, digMap(t.is, "Options")) || differs
		differs = t.differing("labels", args.LabelTs, digMap(t.is, "Labels")) || differs
		if differs && args.Recreate == "options-changed" || args.Recreate == "always" {
			remove()
			fresh = true
		}
	}
	if fresh {
		t.differ("exists", true, t.is != nil)
		argv := []string{"volume", "create", "--driver=" + args.Driver}
		argv = append(append(argv, flagWords("--opt", args.Options)...), flagWords("--label", args.LabelTs)...)
		t.do("create", fmt.Sprintf("Created volume %s with driver %s", t.name, args.Driver), append(argv, "--", t.name)...)
	}
	return t.plan(args.State), nil
}

func planDockerNetwork(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.DockerNetworkArgs)
	t, err := openDockerThing(ctx, a, &args.DockerClient, "network", args.Name)
	if err != nil {
		return nil, err
	}
	var members []string
	for _, id := range slices.Sorted(maps.Keys(digMap(t.is, "Containers"))) {
		members = append(members, digText(t.is, "Containers", id, "Name"))
	}
	slices.Sort(members)
	disconnect := func(name string) {
		t.differ("connected."+name, false, true)
		t.do("disconnect "+name, "Disconnected container "+name, "network", "disconnect", t.name, name)
	}
	remove := func() {
		for _, name := range members {
			disconnect(name)
		}
		t.do("remove", "Removed network "+t.name, "network", "rm", t.name)
	}
	if args.State == fsys.Absent {
		if t.is != nil {
			t.differ("exists", false, true)
			remove()
		}
		return t.plan(args.State), nil
	}
	connected := args.Connected
	// Without a list all that are in it stay, also if it is replaced.
	if len(connected) == 0 {
		connected = members
	}
	fresh := t.is == nil
	if !fresh && (t.networkDiffers(args) || args.Force) {
		remove()
		fresh, members = true, nil
	}
	if fresh {
		t.differ("exists", true, t.is != nil)
		t.do("create", fmt.Sprintf("Created network %s with driver %s", t.name, args.Driver), networkWords(args)...)
	}
	for _, name := range connected {
		if !slices.Contains(members, name) {
			t.differ("connected."+name, true, false)
			t.do("connect "+name, "Connected container "+name, "network", "connect", t.name, name)
		}
	}
	for _, name := range members {
		if !args.Appends && !slices.Contains(connected, name) {
			disconnect(name)
		}
	}
	return t.plan(args.State), nil
}

// networkWords is the call that creates a network.
func networkWords(args *spec.DockerNetworkArgs) []string {
	argv := []string{"network", "create", "--driver=" + args.Driver}
	add := func(flag, value string) {
		if value != "" {
			argv = append(argv, flag+"="+value)
		}
	}
	argv = append(argv, flagWords("--opt", args.Options)...)
	for flag, value := range map[string]*bool{"--ipv6": args.EnableIPv6, "--internal": args.Internal, "--attachable": args.Attachable} {
		if value != nil && *value {
			add(flag, "true")
		}
	}
	slices.Sort(argv[3:])
	add("--scope", args.Scope)
	argv = append(argv, flagWords("--label", args.LabelTs)...)
	add("--ipam-driver", args.IPAMDriver)
	argv = append(argv, flagWords("--ipam-opt", args.IPAMTexts)...)
	for _, pool := range args.Pools {
		add("--subnet", pool.Subnet)
		add("--ip-range", pool.Range)
		add("--gateway", pool.Gateway)
		names, addresses := pool.Texts()
		for _, name := range names {
			add("--aux-address", name+"="+addresses[name])
		}
	}
	return append(argv, "--", args.Name)
}

// networkDiffers compares a network with what it is to be.
func (t *dockerThing) networkDiffers(args *spec.DockerNetworkArgs) (differs bool) {
	other := func(name string, want, is any) {
		t.differ(name, want, is)
		differs = true
	}
	if has := digText(t.is, "Driver"); has != args.Driver {
		other("driver", args.Driver, has)
	}
	differs = t.differing("driver_options", args.Options, digMap(t.is, "Options")) || differs
	differs = t.differing("labels", args.LabelTs, digMap(t.is, "Labels")) || differs
	if has := digText(t.is, "IPAM", "Driver"); args.IPAMDriver != "" && has != args.IPAMDriver {
		other("ipam_driver", args.IPAMDriver, has)
	}
	if has := digMap(t.is, "IPAM", "Options"); args.IPAMTexts != nil && !sameSettings(anyTexts(args.IPAMTexts), has, spec.CompareDict, "strict") {
		other("ipam_driver_options", args.IPAMTexts, has)
	}
	// Each range must be there; others may be, too.
	has, _ := dig(t.is, "IPAM", "Config").([]any)
	for i, pool := range args.Pools {
		want := map[string]any{"Subnet": pool.Subnet}
		for name, value := range map[string]string{"IPRange": pool.Range, "Gateway": pool.Gateway} {
			if value != "" {
				want[name] = value
			}
		}
		if _, addresses := pool.Texts(); addresses != nil {
			want["AuxiliaryAddresses"] = anyTexts(addresses)
		}
		if !allIn([]any{want}, has, hasFields) {
			other(fmt.Sprintf("ipam_config[%d]", i), want, has)
		}
	}
	for name, value := range map[string]*bool{"EnableIPv6": args.EnableIPv6, "Internal": args.Internal, "Attachable": args.Attachable} {
		if value != nil && *value != (dig(t.is, name) == true) {
			other(strings.ToLower(name), *value, dig(t.is, name))
		}
	}
	if has := digText(t.is, "Scope"); args.Scope != "" && has != args.Scope {
		other("scope", args.Scope, has)
	}
	return differs
}
