package formatting

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/exec/fsys"
	"moon/internal/app"
	"moon/internal/formatter"
	"moon/internal/termtext"
	"moon/internal/vaulting"
	"moon/secret/vault"
)

// Format is the command.
type Format struct {
	Files []string `arg:"" optional:"" name:"file" help:"Files, or directories with all of their .yml and .yaml files; default moon.yml or playbook.yml, - is standard input."`
	Check bool     `short:"C" help:"Change nothing: print the names of files that are laid out otherwise, and exit with 1 if there are any."`
	Diff  bool     `short:"D" help:"Change nothing: show what would change."`
}

// Help is the longer help of the command.
func (Format) Help() string {
	return `Lays out playbooks and other files of YAML in one way: two spaces for each level, lists inside their key, one space behind colons and
dashes, at most one blank line, no spaces at the end of lines. It changes nothing but white space: comments, quotes and the order of keys
stay, and so does the plan. Prints the names of the files that it has changed.

  moon fmt
  moon fmt site.yml roles
  moon fmt --check --diff .
  moon fmt - < site.yml`
}

// Run formats.
func (c *Format) Run(call *app.Invocation) error {
	if len(c.Files) == 1 && c.Files[0] == "-" {
		return c.formatInput(call)
	}
	files, err := c.find()
	if err != nil {
		return err
	}
	changed, broken := 0, 0
	for _, file := range files {
		is, err := c.format(call, file)
		if err != nil {
			fmt.Fprintf(call.Err, "moon: %s: %s\n", termtext.CleanName(file), termtext.CleanName(err.Error()))
			broken++
		}
		if is {
			changed++
		}
	}
	switch {
	case broken > 0:
		return app.NewExit(app.ExitUsage, "")
	case c.Check && changed > 0:
		return app.NewExit(app.ExitFailed, "")
	}
	return nil
}

// formatInput is for editors, which give and take the text.
func (c *Format) formatInput(call *app.Invocation) error {
	text, err := io.ReadAll(call.In)
	if err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	now, err := formatter.Format(text)
	switch {
	case err != nil:
		return app.Usage("standard input: %s", termtext.CleanName(err.Error()))
	case c.Diff:
		_, err = io.WriteString(call.Doc, fsys.UnifiedDiff("standard input", text, now))
	case !c.Check:
		_, err = call.Doc.Write(now)
	}
	if err == nil && c.Check && !bytes.Equal(text, now) {
		return app.NewExit(app.ExitFailed, "")
	}
	return err
}

// format formats a file. changed says that it is, or would be, another.
func (c *Format) format(call *app.Invocation, file string) (changed bool, err error) {
	text, err := vaulting.Read(file)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return false, e.Err
	}
	if err != nil || vault.Is(text) { // what is encrypted has no layout
		return false, err
	}
	now, err := formatter.Format(text)
	if err != nil || bytes.Equal(text, now) {
		return false, err
	}
	if c.Diff {
		_, err := io.WriteString(call.Doc, fsys.UnifiedDiff(file, text, now))
		return true, err
	}
	if !c.Check {
		if err := vaulting.Replace(file, now); err != nil {
			return false, err
		}
	}
	fmt.Fprintln(call.Out, termtext.CleanName(file))
	return true, nil
}

// find gives the files that are meant.
func (c *Format) find() (files []string, err error) {
	if len(c.Files) == 0 {
		for _, name := range []string{"moon.yml", "playbook.yml"} {
			if _, err := os.Stat(name); err == nil {
				return []string{name}, nil
			}
		}
		return nil, app.Usage("no file given, and there is no moon.yml or playbook.yml here; moon fmt . takes all files below")
	}
	for _, given := range c.Files {
		info, err := os.Stat(given)
		switch {
		case err != nil:
			return nil, app.Usage("%s", app.Unreadable(given, err))
		case !info.IsDir():
			files = append(files, given)
		default:
			below, err := below(given)
			if err != nil {
				return nil, app.Usage("%s", err)
			}
			files = append(files, below...)
		}
	}
	return files, nil
}

// below are the files of YAML in a directory. What is hidden, and what was installed from elsewhere, is not the user's to lay out.
func below(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != dir && e.IsDir() && (strings.HasPrefix(e.Name(), ".") || e.Name() == "ansible_collections" || e.Name() == "node_modules"):
			return filepath.SkipDir
		case e.Type().IsRegular() && slices.Contains([]string{".yml", ".yaml"}, filepath.Ext(path)):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}
