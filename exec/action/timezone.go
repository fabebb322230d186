package action

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("timezone", exec.Action{Plan: planTimezone})

const (
	zoneFiles    = "/usr/share/zoneinfo"
	localtime    = "/etc/localtime"
	timezoneFile = "/etc/timezone" // of Debian and its kin; others have the link alone
)

func planTimezone(_ context.Context, a *exec.Attempt) (*exec.Change, error) {
	name := a.Args.(*spec.TimezoneArgs).Name
	if runtime.GOOS != "linux" {
		return nil, errors.New("the time zone of a machine can be set on Linux only")
	}
	zone := filepath.Join(zoneFiles, name)
	if info, err := a.Overlay.Stat(zone); err != nil || info.Kind != fsys.Regular {
		return nil, fault.Missing(zone, "there is no time zone %s: %s does not exist; the package tzdata has the zones", name, zone)
	}
	c := &exec.Change{Fields: map[string]any{"name": name}}
	is := zoneOf(localtime)
	// Debian notes the zone a second time, in a text that other programs read; other systems have no such file.
	noted, err := os.ReadFile(timezoneFile)
	note := err == nil && strings.TrimSpace(string(noted)) != name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if is == name && !note {
		return c.PlanNothing(), nil
	}
	words := quoteEmpty(is) + " → " + name
	if is == name {
		words = "in " + timezoneFile + ": " + strings.TrimSpace(string(noted)) + " → " + name
	}
	c.PlanFor(events.ChangeUpdate, "timezone", name, func(context.Context) error {
		if is != name {
			if err := replaceLink(zone, localtime); err != nil {
				return err
			}
		}
		if note {
			return os.WriteFile(timezoneFile, []byte(name+"\n"), 0o644)
		}
		return nil
	}, words)
	return c, nil
}

// zoneOf is the zone that a link leads to; "" for anything else: a copy of the file has no name.
func zoneOf(path string) string {
	to, err := os.Readlink(path)
	if err != nil {
		return ""
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(path), to)
	}
	name, ok := strings.CutPrefix(filepath.Clean(to), zoneFiles+"/")
	if !ok {
		return ""
	}
	return name
}

// replaceLink puts a link in the place of what is there, at once: a moment without /etc/localtime would be a moment in UTC.
func replaceLink(to, path string) error {
	name := filepath.Join(filepath.Dir(path), fsys.TempName())
	if err := os.Symlink(to, name); err != nil {
		return err
	}
	if err := os.Rename(name, path); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
