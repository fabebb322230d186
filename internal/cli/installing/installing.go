package installing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"moon/exec/process"
	"moon/internal/app"
	"moon/internal/diag"
	"moon/internal/install"
	"moon/internal/termtext"
	"moon/plan/collection"
	"moon/plan/playbook"
	"moon/secret"
)

// Install is the command.
type Install struct {
	Requirements    []string `short:"r" placeholder:"FILE" help:"Files of requirements (requirements.yml, and those of collections/ and roles/)."`
	CollectionsPath string   `placeholder:"DIR" help:"Where collections go (the first directory in which playbooks find them)."`
	RolesPath       string   `placeholder:"DIR" help:"Where roles go (the first directory in which playbooks find them)."`
	Server          string   `placeholder:"URL" help:"The server to ask (those of ansible.cfg, or galaxy.ansible.com)."`
	Upgrade         bool     `short:"U" help:"Take the newest versions that are right, and write them into the lock file."`
	Locked          bool     `help:"Take exactly what the lock file has; fail if it lacks something. For CI."`
	Pre             bool     `help:"Take versions that are not finished, too."`
	NoDeps          bool     `help:"Omit what the requirements need themselves."`
	Force           bool     `help:"Replace collections and roles that were changed since."`
	Check           bool     `short:"C" help:"Say what would be installed; change nothing."`
	Format          string   `enum:"text,json" default:"text" help:"text or json (text)."`
}

// Help is the longer help of the command.
func (Install) Help() string {
	return `Installs the collections and roles that requirements.yml names, with all that they need, from servers, repositories of git,
archives and directories. What was installed is written into requirements.lock, next to the requirements: with that file moon installs the
same versions with the same content everywhere, or says what is different. Without -r it takes requirements.yml,
collections/requirements.yml and roles/requirements.yml of this directory. In CI, --locked takes what the lock file has and nothing else.

  moon install
  moon install -r roles/requirements.yml --locked
  moon install --upgrade --check`
}

// Run installs.
func (c *Install) Run(call *app.Invocation) error {
	if c.Upgrade && c.Locked {
		return app.Usage("--upgrade looks for newer versions than those of the lock file, and --locked takes no others: give one of them")
	}
	base, err := c.settings(call)
	if err != nil {
		return err
	}
	// Each file has a lock file of its own, and is installed by itself: what one wants is not held against the others.
	files := c.Requirements
	if len(files) == 0 {
		for _, name := range collection.Requirements {
			if _, err := os.Stat(name); err == nil {
				files = append(files, name)
			}
		}
		if len(files) == 0 {
			return app.Usage("requirements.yml was not found here, nor in collections/ or roles/; name the file: moon install -r FILE")
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	var all []install.Done
	for _, file := range files {
		done, err := c.install(ctx, call, base, file)
		all = append(all, done...)
		if err != nil {
			if ctx.Err() != nil {
				return app.NewExit(app.ExitInterrupted, "interrupted")
			}
			return err
		}
	}
	if c.Format == "json" {
		text, err := install.JSON(all)
		if err == nil {
			_, err = fmt.Fprintf(call.Out, "%s\n", text)
		}
		return err
	}
	return nil
}

// settings is an installer as the flags and Ansible's settings have it.
func (c *Install) settings(call *app.Invocation) (base install.Installer, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return base, err
	}
	home, _ := os.UserHomeDir() // without one the directories in it are not there
	set, err := app.AnsibleConfig(dir)
	if err != nil {
		return base, err
	}
	roles, collections := set.SearchPaths(dir, home)
	base = install.Installer{
		Ask:     &process.Asker{Timeout: 30 * time.Minute}, // repositories are large
		Upgrade: c.Upgrade, Locked: c.Locked, Pre: c.Pre, Force: c.Force, Alone: c.NoDeps, Dry: c.Check,
	}
	if base.Roles, err = target(c.RolesPath, roles); err != nil {
		return base, err
	}
	if base.Collections, err = target(c.CollectionsPath, collections); err != nil {
		return base, err
	}
	// A search path may name the directory itself, as Ansible allows.
	base.Collections = strings.TrimSuffix(base.Collections, "/ansible_collections")
	named := set.Galaxies(home)
	if c.Server != "" {
		named = []app.Galaxy{{URL: c.Server}}
		for _, g := range set.Galaxies(home) {
			if g.Name == c.Server || g.URL == c.Server {
				named = []app.Galaxy{g}
			}
		}
	}
	if len(named) == 0 {
		named = []app.Galaxy{{URL: install.Usual}}
	}
	for _, g := range named {
		if g.URL == "" {
			g.URL = install.Usual
		}
		if !strings.HasPrefix(g.URL, "http://") && !strings.HasPrefix(g.URL, "https://") {
			return base, app.Usage("the server %q has no URL: it must begin with https://", g.Name+g.URL)
		}
		for _, hidden := range []string{g.Token, g.Password} {
			call.Secrets.Add("server", hidden)
		}
		base.Servers = append(base.Servers, &install.Server{
			Name: g.Name, URL: g.URL, Token: g.Token, AuthURL: g.AuthURL, User: g.User, Password: g.Password,
		})
	}
	return base, nil
}

// target is the directory that is named, or the first that is searched.
func target(named string, searched []string) (string, error) {
	if named == "" {
		return searched[0], nil
	}
	return filepath.Abs(named)
}

// install installs the requirements of a file.
func (c *Install) install(ctx context.Context, call *app.Invocation, base install.Installer, file string) ([]install.Done, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, app.Usage("requirements cannot be read: %s", cause(err))
	}
	// What is wrong with the requirements is shown with the line that it is about, and nothing is installed then.
	var ds diag.List
	read := map[string]*playbook.File{}
	wanted := install.Read(path, func(at string) (*playbook.File, error) {
		text, err := os.ReadFile(at)
		f := &playbook.File{Name: shown(at), Path: at, Text: text}
		read[f.Name] = f
		return f, cause(err)
	}, &ds)
	if len(ds) > 0 {
		ds.Sort()
		ds.Locate(func(name string) []string {
			if f := read[name]; f != nil {
				return f.Lines()
			}
			return nil
		})
		if err := ds.Print(call.Err); err != nil {
			return nil, err
		}
		if ds.HasErrors() {
			return nil, app.NewExit(app.ExitUsage, "")
		}
	}
	if base.Lock, err = install.ReadLock(install.LockOf(path)); err != nil {
		return nil, app.Usage("%s", err)
	}
	i := base
	done, warnings, err := i.Install(ctx, wanted)
	for _, w := range warnings {
		fmt.Fprintln(call.Err, "moon: warning:", termtext.CleanName(w))
	}
	if c.Format == "text" {
		print(call, done, c.Check)
	}
	if err != nil {
		return done, app.NewExit(app.ExitFailed, termtext.CleanName(err.Error()))
	}
	return done, nil
}

// print says what was done.
func print(call *app.Invocation, all []install.Done, dry bool) {
	names, versions := 0, 0
	for _, d := range all {
		names, versions = max(names, len(d.Name)), max(versions, len(d.Version))
	}
	for _, d := range all {
		state := string(d.State)
		if d.Was != "" && d.Was != d.Version {
			state += " " + d.Was
		}
		if dry && d.State != install.Unchanged {
			state = "would be " + state
		}
		line := fmt.Sprintf("%-10s  %-*s  %-*s  %s  from %s  in %s",
			d.Kind, names, d.Name, versions, d.Version, state, secret.WithoutPassword(d.Source), shown(d.Path))
		fmt.Fprintln(call.Out, termtext.CleanName(line))
	}
}

// shown is a path as people read it: relative to the directory of the call where it lies below it.
func shown(path string) string {
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return path
}

// cause is an error without the call that failed, which says nothing to people.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", e.Path, e.Err)
	}
	return err
}
