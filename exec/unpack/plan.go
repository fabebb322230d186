package unpack

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fsys"
)

// Plan says what is to be done, once all members were compared.
func (u *Unpacking) Plan() error {
	// An `include` without a match is more likely a typo than a wish.
	for i, found := range u.found {
		if !found {
			return fmt.Errorf("include: nothing in %s is called %s", u.ar.Path, u.args.Include[i])
		}
	}
	if u.args.ListFiles {
		u.c.Fields["files"] = u.listNames()
	}
	if u.special != "" {
		u.c.Warnings = append(u.c.Warnings,
			u.special+": its setuid and setgid bits, and those of others, are skipped; a `file` step can set them")
	}
	created, updated, first := 0, 0, ""
	var lines []string
	for i := range u.list {
		p := &u.list[i]
		if p.state == same {
			continue
		}
		mark := "+"
		if p.state == fresh {
			created++
			u.addCreated(p)
		} else {
			updated++
			mark = "~"
			if updated <= exec.FewResources {
				u.c.AddFile(events.ChangeUpdate, u.destPath(p.name))
			}
		}
		if first == "" {
			first = p.name
		}
		if len(lines) < fsys.MaxListed {
			lines = append(lines, strings.TrimSuffix(mark+" "+fsys.Quoted(p.name)+": "+p.words, ": ")+"\n")
		}
	}
	if created+updated == 0 {
		u.c.PlanNothing()
		return nil
	}
	if updated > exec.FewResources {
		u.c.AddFile(events.ChangeUpdate, u.c.Diff.Path) // all that is in it
	}
	u.c.AddPrediction(u.predictFiles)
	if n := created + updated - len(lines); n > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more\n", n))
	}
	if u.Diff && !u.NoLog {
		u.c.Diff.Text = strings.Join(lines, "")
	}
	u.many = created+updated > fsys.FewFiles
	u.c.Plan(events.ChangeUpdate, u.applyPlan, countWords(created, updated)+": "+fsys.Quoted(first))
	return nil
}

// addCreated records what did not exist: a directory with everything in it as one thing.
func (u *Unpacking) addCreated(p *planned) {
	switch {
	case p.below:
	case p.kind == fsys.Directory:
		u.c.AddTree(u.destPath(p.name))
	default:
		u.c.AddFile(events.ChangeCreate, u.destPath(p.name))
	}
}

func countWords(created, updated int) string {
	var parts []string
	if created > 0 {
		parts = append(parts, fmt.Sprintf("%d new", created))
	}
	if updated > 0 {
		parts = append(parts, fmt.Sprintf("%d updated", updated))
	}
	return strings.Join(parts, ", ")
}

// listNames returns those of the archive's members, as they are unpacked.
func (u *Unpacking) listNames() []any {
	names := []any{}
	for i := range u.list {
		if p := &u.list[i]; p.member >= 0 {
			name := p.name
			if p.kind == fsys.Directory {
				name += "/"
			}
			names = append(names, name)
		}
	}
	return names
}
