package action

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("docker_prune", exec.Action{Plan: planDockerPrune})

func planDockerPrune(_ context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.DockerPruneArgs)
	d, err := openDocker(a, &args.DockerClient)
	if err != nil {
		return nil, err
	}
	c := &exec.Change{Fields: map[string]any{}}
	c.PlanNothing()
	if a.Predicts() {
		c.Diff.Kind, c.Diff.Summary = events.ChangeUnknown, "what is not used any more is known once it has run"
		return c, nil
	}
	c.Always, c.Apply = true, func(ctx context.Context) error {
		for _, p := range []struct {
			name, kind string
			wanted     bool
			filters    map[string]any
		}{
			{"containers", "container", args.Containers, args.ContainersFilters},
			{"images", "image", args.Images, args.ImagesFilters},
			{"networks", "network", args.Networks, args.NetworksFilters},
			{"volumes", "volume", args.Volumes, args.VolumesFilters},
			{"builder_cache", "builder", args.BuilderCache, nil},
		} {
			if !p.wanted {
				continue
			}
			said, err := d.run(ctx, append([]string{p.kind, "prune", "--force"}, pruneFilters(p.kind, p.filters)...)...)
			if err != nil {
				return err
			}
			// The cache has no names, and networks take no space.
			removed, freed := pruned(said.Stdout)
			if p.kind != "builder" {
				c.Fields[p.name] = removed
			}
			if p.kind != "network" {
				c.Fields[p.name+"_space_reclaimed"] = freed
			}
			if len(removed) > 0 && p.kind != "builder" || freed > 0 {
				c.Diff.Kind = events.ChangeDelete
				c.AddResource(events.ChangeDelete, "docker_prune", p.name)
			}
		}
		if c.Diff.Kind != events.ChangeNone {
			c.Diff.Summary = fmt.Sprintf("removed what is not used of %d kinds", len(c.Resources))
		}
		return nil
	}
	return c, nil
}

// pruneFilters are words of the client for filters. Two of them have words of their own.
func pruneFilters(kind string, filters map[string]any) (words []string) {
	for _, name := range slices.Sorted(maps.Keys(filters)) {
		list, isList := filters[name].([]any)
		if !isList {
			list = []any{filters[name]}
		}
		for _, value := range list {
			on, isBool := spec.ParseBool(value)
			switch {
			case kind == "image" && name == "dangling" && isBool:
				if !on {
					words = append(words, "--all")
				}
			case kind == "volume" && name == "all" && isBool:
				if on {
					words = append(words, "--all")
				}
			default:
				words = append(words, fmt.Sprintf("--filter=%s=%v", name, value))
			}
		}
	}
	return words
}

// freedSpace is the amount at the end of what the client prints.
var freedSpace = pattern.New(`^Total(?: reclaimed space)?:\s*([0-9.]+)([kMGTP]?)B$`)

// pruned reads what the client says of what it has removed: a heading, an id or name in each line, an empty line, and the amount.
func pruned(text string) (removed []any, freed int) {
	removed = []any{}
	listing := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		amount := freedSpace.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "Deleted ") && strings.HasSuffix(line, ":"):
			listing = true
		case amount != nil:
			number, _ := strconv.ParseFloat(amount[1], 64) // the pattern has only numbers
			freed = int(number * math.Pow(1000, float64(strings.Index(" kMGTP", amount[2]))))
		case line == "":
			listing = false
		case !listing:
		case strings.HasPrefix(line, "untagged: "):
			removed = append(removed, map[string]any{"Untagged": line[len("untagged: "):]})
		case strings.HasPrefix(line, "deleted: "):
			removed = append(removed, map[string]any{"Deleted": line[len("deleted: "):]})
		default:
			removed = append(removed, line)
		}
	}
	return removed, freed
}
