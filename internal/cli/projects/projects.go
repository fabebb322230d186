package projects

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"moon/internal/app"
	"moon/internal/pattern"
	"moon/internal/starter"
	"moon/internal/starter/mooncake"
	"moon/internal/termtext"
)

// Init is moon init.
type Init struct {
	Dir  string `arg:"" optional:"" default:"." help:"The directory, which is made if it is not there; default this one."`
	From string `type:"path" placeholder:"FILE" help:"Make the playbook of a Makefile, a shell script or a playbook for mooncake."`
	Bare bool   `help:"Only the playbook: no files for git, CI and containers."`
}

// Help is the longer help of the command.
func (Init) Help() string {
	return `Writes moon.yml, a first playbook with comments, and files for git, GitHub Actions and development containers. With --from the playbook has
the targets of a Makefile as steps, or the paragraphs of a shell script, or is a playbook for mooncake in moon's words. Files that exist are never overwritten.

  moon init
  moon init --from Makefile --bare
  moon init --from deploy.sh deploy`
}

// Run writes the files of a project.
func (c *Init) Run(call *app.Invocation) error {
	playbook := starter.Playbook
	if c.From != "" {
		var err error
		if playbook, err = translate(c.From); err != nil {
			return err
		}
	}
	files := starter.Project(playbook)
	if c.Bare {
		files = files[:1]
	}
	return write(call, c.Dir, files, "moon plan "+filepath.Join(c.Dir, "moon.yml")+" shows what it will do")
}

const largest = 1 << 20

func translate(path string) (string, error) {
	text, err := app.ReadAtMost(path, largest)
	if err != nil {
		return "", app.Usage("--from: %s", app.Unreadable(path, err))
	}
	name, make := filepath.Base(path), starter.FromScript
	if lower := strings.ToLower(name); strings.HasSuffix(lower, "makefile") || filepath.Ext(lower) == ".mk" {
		make = starter.FromMakefile
	}
	if ext := filepath.Ext(name); ext == ".yml" || ext == ".yaml" {
		make = mooncake.From
	}
	playbook, err := make(name, string(text))
	if err != nil {
		return "", app.Usage("%s: %s", path, err)
	}
	return playbook, nil
}

// New is moon new.
type New struct {
	Role newRole `cmd:"" help:"Make a role."`
}

// Help shows a call.
func (New) Help() string {
	return `  moon new role web`
}

type newRole struct {
	Name string `arg:"" help:"What it is called."`
	Path string `type:"path" default:"roles" placeholder:"DIR" help:"The directory of roles (roles)."`
}

// Help shows calls.
func (newRole) Help() string {
	return `Writes tasks, handlers, defaults and meta of a new role, with comments. Files that exist are never overwritten.

  moon new role web
  moon new role web --path shared/roles`
}

var roleName = pattern.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// Run writes the files of a role.
func (c *newRole) Run(call *app.Invocation) error {
	if !roleName.MatchString(c.Name) {
		return app.Usage("%q cannot be the name of a role: it has letters, digits, _ and -", c.Name)
	}
	return write(call, c.Path, starter.Role(c.Name), "a play runs it with roles: ["+c.Name+"]")
}

func write(call *app.Invocation, dir string, files []starter.File, next string) error {
	if err := starter.Write(dir, files); err != nil {
		return app.Usage("%s", err)
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if here, err := os.Getwd(); err == nil && filepath.IsAbs(path) {
			if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
				path = rel
			}
		}
		fmt.Fprintln(call.Out, termtext.CleanName(path))
	}
	_, err := fmt.Fprintln(call.Err, termtext.CleanName(next))
	return err
}
