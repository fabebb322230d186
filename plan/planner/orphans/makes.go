package orphans

import (
	"path/filepath"
	"strings"

	"moon/exec/spec"
)

// made is what a step makes that is described by its arguments: things of a type, as events.Resource names them. Its type is "" where
// only doing it tells.
type made struct {
	typ   string
	names []string
}

// makes says what a step with these arguments is there to give, whether or not it is there already. A step that removes gives nothing; its
// type is known anyway: it makes nothing else.
func makes(args any) made {
	present := func(typ, state string, names ...string) made {
		if state == "absent" || state == "removed" || state == "purged" {
			return made{typ: typ}
		}
		return made{typ, names}
	}
	file := func(path string) made { return made{"file", []string{filepath.Clean(path)}} }
	switch a := args.(type) {
	case *spec.FileArgs:
		return present("file", a.State, filepath.Clean(a.Path))
	case *spec.CopyArgs:
		return file(a.Dest)
	case *spec.TemplateArgs:
		return file(a.Dest)
	case *spec.AssembleArgs:
		return file(a.Dest)
	case *spec.GetURLArgs:
		return file(a.Dest)
	case *spec.UserArgs:
		return present("user", a.State, a.Name)
	case *spec.GroupArgs:
		return present("group", a.State, a.Name)
	case *spec.CronArgs:
		return present("cron", a.State, a.Name)
	case *spec.PackageArgs:
		return present("package", a.State, plainNames(a.Name)...)
	case *spec.AptArgs:
		return present("package", a.State, plainNames(a.Name)...)
	case *spec.DnfArgs:
		if a.DownloadOnly {
			return made{}
		}
		return present("package", a.State, plainNames(a.Name)...)
	case *spec.GitArgs:
		return made{"git", []string{a.Dest}}
	}
	return made{}
}

// plainNames are packages without the versions that are asked for. Where a name may stand for others, what it stands for is not known.
func plainNames(names []string) []string {
	plain := make([]string, 0, len(names))
	for _, n := range names {
		if at := strings.IndexAny(n, "=<> "); at > 0 {
			n = n[:at]
		}
		plain = append(plain, n)
	}
	return plain
}
