package command

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// groupsFile is the variable that names the file which says who is in which group.
const groupsFile = "MOON_NATS_GROUPS"

// groups are users, as the servers know them, by the groups that they are in.
type groups map[string][]string

// has is engine.Config.InGroup.
func (g groups) has(user, group string) bool { return slices.Contains(g[group], user) }

// readGroups reads lines such as "ops: ada bob". A group may have several. Without a file no one is in any.
func readGroups(path string) (groups, error) {
	g := groups{}
	if path == "" {
		return g, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read who is in which group: %w", err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		if line == "" {
			continue
		}
		name, users, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(name, " \t") {
			return nil, fmt.Errorf("%s:%d: a line names a group and its users: ops: ada bob", path, n)
		}
		g[name] = append(g[name], strings.Fields(strings.ReplaceAll(users, ",", " "))...)
	}
	return g, nil
}
