package planner

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"moon/plan"
	"moon/plan/eval/call"
	"moon/plan/eval/value"
	"moon/plan/source"
	"moon/plan/vars"
)

// world is what the lookups of plays reach for. What may be another thing when a step runs is unknown while planning; then it is
// looked up for real.
func (p *fleet) world() call.World {
	planned := p.plan
	find := func(at value.Env, dir, name string) string {
		e, ok := call.Base(at).(*plan.Env)
		if !ok || e.Frame.Scene == nil {
			return ""
		}
		if dir == "" {
			dir = cmp.Or(e.Frame.Looks, "files")
		}
		dirs := plan.LookoutOf(e.Frame.Scene).Shared(dir)
		if of, ok := e.Lookup("template_fullpath"); ok && dir == "templates" {
			if file, isText := of.(string); isText {
				dirs = append(dirs, filepath.Dir(file)) // what stands beside a template
			}
		}
		path := source.NewSearch(dirs, p.disk).Find(name, p.o.Home)
		if !p.disk.There(path) {
			return ""
		}
		return path
	}
	return call.World{
		Find: func(at value.Env, dir, name string) (string, error) { return find(at, dir, name), nil },
		File: func(at value.Env, dir, name string) (string, error) {
			path := find(at, dir, name)
			if path == "" {
				return "", errors.New("no such file: " + name)
			}
			if running(at) {
				return planned.ReadNow(path)
			}
			f, err := p.Read(path)
			if err != nil {
				return "", errors.New(p.DescribeError(err))
			}
			p.lookedAt = append(p.lookedAt, path)
			return string(f.Text), nil
		},
		Glob: func(at value.Env, pattern string) ([]string, error) {
			e, ok := call.Base(at).(*plan.Env)
			if !ok || e.Frame.Scene == nil {
				return nil, nil
			}
			for _, dir := range plan.LookoutOf(e.Frame.Scene).Shared("files") {
				parent, base := filepath.Split(source.ResolvePath(pattern, dir, p.o.Home))
				var found []string
				for _, name := range p.disk.Glob(filepath.Clean(parent), base) {
					found = append(found, filepath.Join(parent, name))
				}
				if len(found) > 0 {
					return found, nil
				}
			}
			return nil, nil
		},
		Hosts: func(_ value.Env, pattern string) ([]string, error) {
			hosts, err := p.inventory.Match(pattern)
			return vars.HostNames(hosts), err
		},
		Run: func(at value.Env, command string) (string, error) {
			if !running(at) || planned.Basis.O.Outside.Pipe == nil || call.Base(at).(*plan.Env).Unapproved {
				return "", call.ErrLater
			}
			return planned.Basis.O.Outside.Pipe(command, planned.Root)
		},
		Get: func(at value.Env, url string) (string, error) {
			if !running(at) || planned.Basis.O.Outside.Fetch == nil {
				return "", call.ErrLater
			}
			return planned.Basis.O.Outside.Fetch(url)
		},
		Now: func(at value.Env) (time.Time, error) {
			if !running(at) {
				return time.Time{}, call.ErrLater
			}
			return time.Now(), nil
		},
		Password: p.password,
	}
}

// running reports whether a step that runs asks, and not the planner.
func running(at value.Env) bool {
	e, ok := call.Base(at).(*plan.Env)
	return ok && e.Results != nil && !e.Ahead
}

// password is what a file keeps. Where there is none yet, the run makes it.
func (p *fleet) password(at value.Env, file string, always bool, made func() (string, error)) (string, error) {
	e, ok := call.Base(at).(*plan.Env)
	if !ok || e.Frame.Scene == nil {
		return "", call.ErrLater
	}
	path := source.ResolvePath(file, e.Frame.Scene.Dir, p.o.Home)
	if path != os.DevNull {
		text, err := p.ReadPassword(path, running(at))
		switch {
		case err == nil:
			line, _, _ := strings.Cut(string(text), "\n")
			password, _, _ := strings.Cut(line, " salt=")
			p.engine.Secrets.Add(filepath.Base(file), password)
			return password, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
	}
	if !running(at) && (!always || path != os.DevNull) {
		return "", call.ErrLater
	}
	password, err := made()
	if err != nil {
		return "", err
	}
	p.engine.Secrets.Add(filepath.Base(file), password)
	if path == os.DevNull {
		return password, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) { // another host was first
		return p.password(at, file, always, made)
	}
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(password + "\n")
	return password, errors.Join(err, f.Close())
}
