package lookups

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"moon/plan"
	"moon/plan/eval/call"
	"moon/plan/eval/value"
	"moon/plan/planner/library"
	"moon/plan/source"
	"moon/secret/program"
)

// Lookups answers the lookups of a playbook.
type Lookups struct {
	Read []string // files whose text templates and lookups have taken since it was emptied

	plan    *plan.Plan
	library *library.Library
	disk    *source.Disk
	home    string
	match   func(pattern string) ([]string, error) // names of hosts
	guarded sync.Map                               // whether what a file holds is secret, by its path
	sought  map[string]sighting                    // names of files that are not there
	hidden  map[int]map[string]any                 // arguments of steps whose own are not kept
}

// New answers the lookups of a plan. match gives the names of the hosts that a pattern is for.
func New(p *plan.Plan, l *library.Library, d *source.Disk, home string, match func(pattern string) ([]string, error)) *Lookups {
	return &Lookups{plan: p, library: l, disk: d, home: home, match: match}
}

// World is what lookups reach for. What may be another thing when a step runs is unknown while planning; then it is
// looked up for real.
func (l *Lookups) World() call.World {
	planned := l.plan
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
		path := source.NewSearch(dirs, l.disk).Find(name, l.home)
		if !l.disk.There(path) {
			return ""
		}
		return path
	}
	return call.World{
		Find: func(at value.Env, dir, name string) (string, error) { return find(at, dir, name), nil },
		File: func(at value.Env, dir, name string) (string, error) {
			path := find(at, dir, name)
			if path == "" && !Running(at) && l.isNamed(filepath.Base(name)) {
				return "", call.ErrLater
			}
			if path == "" {
				return "", errors.New("no such file: " + name)
			}
			// An earlier step of the run may have written it.
			if Running(at) {
				text, err := planned.ReadNow(path)
				if err == nil {
					l.guard(path, text)
				}
				return text, err
			}
			f, err := l.library.Read(path)
			if err != nil {
				return "", errors.New(l.library.DescribeError(err))
			}
			l.Read = append(l.Read, path)
			if seen := l.disk.Files[path]; l.guard(path, string(f.Text)) && seen != nil {
				seen.Secret, seen.Digest = true, ""
			}
			return string(f.Text), nil
		},
		Glob: func(at value.Env, pattern string) ([]string, error) {
			e, ok := call.Base(at).(*plan.Env)
			if !ok || e.Frame.Scene == nil {
				return nil, nil
			}
			for _, dir := range plan.LookoutOf(e.Frame.Scene).Shared("files") {
				parent, base := filepath.Split(source.ResolvePath(pattern, dir, l.home))
				var found []string
				for _, name := range l.disk.Glob(filepath.Clean(parent), base) {
					found = append(found, filepath.Join(parent, name))
				}
				if len(found) > 0 {
					return found, nil
				}
			}
			return nil, nil
		},
		Hosts: func(_ value.Env, pattern string) ([]string, error) {
			return l.match(pattern)
		},
		Env: func(at value.Env, name string) (string, bool) {
			planned.Basis.Facts.NoteEnv(name)
			all, _ := planned.Basis.Names.FactsMap["env"].(map[string]any)
			text, ok := all[name].(string)
			// A plan that is made again has what was used of it, and a template may ask for the first time in the run.
			if !ok && Running(at) {
				return os.LookupEnv(name)
			}
			return text, ok
		},
		Run: func(at value.Env, command string) (string, error) {
			// An unapproved dry run may not run commands either.
			if !Running(at) || planned.Basis.O.Outside.Pipe == nil || call.Base(at).(*plan.Env).Unapproved {
				return "", call.ErrLater
			}
			return planned.Basis.O.Outside.Pipe(command, planned.Root)
		},
		Get: func(at value.Env, url string) (string, error) {
			if !Running(at) || planned.Basis.O.Outside.Fetch == nil {
				return "", call.ErrLater
			}
			return planned.Basis.O.Outside.Fetch(url)
		},
		Secret: func(at value.Env, request program.Request) (any, error) {
			e, ok := call.Base(at).(*plan.Env)
			executes := ok && e.Executes != nil
			if planned.Basis.O.Outside.Secret == nil || !executes && (!Running(at) || e.Unapproved) {
				return nil, call.ErrLater
			}
			v, err := l.askProgram(request)
			if err != nil && executes {
				*e.Executes = err
			}
			return v, err
		},
		Version: l.library.CollectionVersion,
		Now: func(at value.Env) (time.Time, error) {
			if !Running(at) {
				return time.Time{}, call.ErrLater
			}
			return time.Now(), nil
		},
		Chance: func(at value.Env) (uint64, error) {
			if e, ok := call.Base(at).(*plan.Env); ok && e.Drawn != 0 {
				return e.Drawn, nil
			}
			if !Running(at) {
				return 0, call.ErrLater
			}
			var drawn [8]byte
			_, err := rand.Read(drawn[:])
			return binary.NativeEndian.Uint64(drawn[:]), err
		},
		Password: l.password,
	}
}

// askProgram has a program print a secret. That it has none is said in one text with what to do: it may be said in the run.
func (l *Lookups) askProgram(request program.Request) (any, error) {
	text, err := l.plan.Basis.O.Outside.Secret(request.Command, l.plan.Root)
	if err == nil {
		var v any
		if v, err = request.Learn(l.plan.Secrets(), text); err == nil {
			return v, nil
		}
	}
	return nil, fmt.Errorf("no secret from `%s`: %w; run it yourself to see why, and unlock what it needs: it has no terminal here", request, err)
}

// sighting says whether the name of a file was found in the first steps of the plan.
type sighting struct {
	steps int
	found bool
}

// NoteHidden notes the arguments of a step that no_log is about to hide: it makes files as other steps do.
func (l *Lookups) NoteHidden(s *plan.Step) {
	if l.hidden == nil {
		l.hidden = map[int]map[string]any{}
	}
	l.hidden[s.Index] = s.Args
}

// isNamed reports whether a step that is planned already has the name of a file in its arguments. Such a step may make it, so that it
// is too early to say that there is no such file.
func (l *Lookups) isNamed(base string) bool {
	if l.sought == nil {
		l.sought = map[string]sighting{}
	}
	seen := l.sought[base]
	// From where the last search ended: a task is planned for each host, and most files that are missing are missing for all.
	for ; seen.steps < len(l.plan.Steps) && !seen.found; seen.steps++ {
		s := &l.plan.Steps[seen.steps]
		args, hidden := l.hidden[seen.steps]
		if !hidden {
			args = s.Args
		}
		seen.found = !s.Excluded && strings.Contains(fmt.Sprint(args), base)
	}
	l.sought[base] = seen
	return seen.found
}

// shortestLine is how long a line of a guarded file is at least that is looked for by itself, in bytes.
const shortestLine = 8

// guard makes what a file holds a secret if it lies outside the project and other users may not read it, and reports whether it does: a
// playbook that is only looked at must not show a private key, or take it along in a saved plan. Each file is judged once, also by steps
// that run at the same time.
func (l *Lookups) guard(path, text string) bool {
	if secret, judged := l.guarded.Load(path); judged {
		return secret.(bool)
	}
	secret := l.private(path)
	if secret {
		l.plan.Engine.Secrets.Add(path, strings.TrimSpace(text))
		// A template may take it apart. A short line is a word that other texts have as well.
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(line) >= shortestLine {
				l.plan.Engine.Secrets.Add("", line)
			}
		}
	}
	l.guarded.Store(path, secret)
	return secret
}

// private reports whether a file lies outside the project and only some users may read it.
func (l *Lookups) private(path string) bool {
	if l.plan.Root != "" && strings.HasPrefix(path, strings.TrimSuffix(l.plan.Root, "/")+"/") {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o004 == 0
}

// Running reports whether a step that runs asks, and not the planner.
func Running(at value.Env) bool {
	e, ok := call.Base(at).(*plan.Env)
	return ok && e.Results != nil && !e.Ahead
}

// password is what a file keeps. If it does not exist yet, the run makes it.
func (l *Lookups) password(at value.Env, file string, always bool, made func() (string, error)) (string, error) {
	e, ok := call.Base(at).(*plan.Env)
	if !ok || e.Frame.Scene == nil {
		return "", call.ErrLater
	}
	path := source.ResolvePath(file, e.Frame.Scene.Dir, l.home)
	if path != os.DevNull {
		text, err := l.library.ReadPassword(path, Running(at))
		switch {
		case err == nil:
			// Ansible writes the salt behind the password, on the same line.
			line, _, _ := strings.Cut(string(text), "\n")
			password, _, _ := strings.Cut(line, " salt=")
			l.plan.Engine.Secrets.Add(filepath.Base(file), password)
			return password, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
	}
	if !Running(at) && (!always || path != os.DevNull) {
		return "", call.ErrLater
	}
	password, err := made()
	if err != nil {
		return "", err
	}
	l.plan.Engine.Secrets.Add(filepath.Base(file), password)
	if path == os.DevNull {
		return password, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) { // another host was first
		return l.password(at, file, always, made)
	}
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(password + "\n")
	return password, errors.Join(err, f.Close())
}
