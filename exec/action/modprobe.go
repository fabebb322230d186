package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/lines"
	"moon/exec/spec"
)

var _ = exec.Register("modprobe", exec.Action{Plan: planModprobe})

// What is loaded at boot, and the parameters of modules.
const (
	modulesLoad = "/etc/modules-load.d"
	modprobeDir = "/etc/modprobe.d"
)

func planModprobe(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.ModprobeArgs)
	if runtime.GOOS != "linux" {
		return nil, errors.New("modules of the kernel can be loaded on Linux only")
	}
	if err := lacksTool(a, "modprobe", "kmod"); err != nil {
		return nil, err
	}
	c := &exec.Change{Fields: map[string]any{"name": args.Name, "params": args.Params, "state": args.State}}
	c.PlanNothing()
	err := planLoaded(ctx, a, c, args)
	if err == nil && args.Persistent != "disabled" {
		err = planPersistent(ctx, a, c, args)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// planLoaded plans to load the module, or to unload it.
func planLoaded(ctx context.Context, a *exec.Attempt, c *exec.Change, args *spec.ModprobeArgs) error {
	loaded, err := isLoaded(args.Name)
	if err != nil || loaded == (args.State != fsys.Absent) {
		return err
	}
	words := append([]string{args.Name}, args.Words...)
	kind, says := events.ChangeCreate, "loaded"
	if loaded {
		words, kind, says = []string{"-r", args.Name}, events.ChangeDelete, "unloaded"
	}
	said, err := a.AskTool(ctx, exec.NewTool(append([]string{"modprobe", "-n"}, words...)...))
	if err != nil {
		return err
	}
	if said.Code != 0 { // an earlier step may bring the module
		return fault.Missing("", "modprobe: %s", strings.TrimPrefix(said.LastWords(), "modprobe: "))
	}
	var undo *events.Undo
	if !loaded {
		undo = a.UndoWithTools("modprobe", map[string]any{"name": args.Name, "state": fsys.Absent})
	}
	c.Resources = append(c.Resources, events.Resource{Type: "kernel_module", Name: args.Name, Change: kind, Undo: undo})
	planAfter(c, kind, func(ctx context.Context) error {
		said, err := a.RunToolReading(ctx, exec.NewTool(append([]string{"modprobe"}, words...)...))
		if err != nil {
			return said.Explain(err)
		}
		// An alias, or a rule of modprobe.d, may make a load of nothing a success.
		if now, err := isLoaded(args.Name); err == nil && !now && !loaded {
			c.Warnings = append(c.Warnings, "modprobe succeeded, but the kernel has no module "+args.Name)
		}
		return nil
	}, says)
	return nil
}

// isLoaded reports whether the kernel has a module, loaded or built in.
func isLoaded(name string) (bool, error) {
	text, err := os.ReadFile("/proc/modules") // which a kernel that can load none has not
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	for line := range strings.Lines(string(text)) {
		if is, _, _ := strings.Cut(line, " "); is == kernelName(name) {
			return true, nil
		}
	}
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return false, err
	}
	// Where the modules of the running kernel are not installed, as in a container, the list is missing, too.
	builtin, _ := os.ReadFile(filepath.Join("/lib/modules", unix.ByteSliceToString(u.Release[:]), "modules.builtin"))
	for line := range strings.Lines(string(builtin)) {
		if is, ok := strings.CutSuffix(filepath.Base(strings.TrimSpace(line)), ".ko"); ok && kernelName(is) == kernelName(name) {
			return true, nil
		}
	}
	return false, nil
}

// kernelName is a module as the kernel calls it; its file may have hyphens.
func kernelName(name string) string { return strings.ReplaceAll(name, "-", "_") }

// bootLine is a line that loads a module at boot, without its comment.
func bootLine(line string) string {
	if i := strings.IndexAny(line, "#;"); i >= 0 {
		line = line[:i]
	}
	return strings.TrimSpace(line)
}

// loadsModule reports whether a line of modules-load.d loads the module.
func loadsModule(line, name string) bool { return kernelName(bootLine(line)) == kernelName(name) }

// parametersIn are the parameters that a line of modprobe.d gives the module.
func parametersIn(line, name string) []string {
	words := strings.Fields(bootLine(line))
	if len(words) < 3 || words[0] != "options" || kernelName(words[1]) != kernelName(name) {
		return nil
	}
	return words[2:]
}

// planPersistent plans the files that are read at boot.
func planPersistent(ctx context.Context, a *exec.Attempt, c *exec.Change, args *spec.ModprobeArgs) error {
	loads := func(line string) bool { return loadsModule(line, args.Name) }
	gives := func(line string) bool { return len(parametersIn(line, args.Name)) > 0 }
	if args.Persistent == fsys.Absent {
		if err := commentOut(ctx, a, c, modulesLoad, "not loaded at boot", loads); err != nil {
			return err
		}
		return commentOut(ctx, a, c, modprobeDir, "no parameters at boot", gives)
	}
	// What another file has already is not written a second time.
	listed, err := linesBelow(modulesLoad, loads)
	if err != nil {
		return err
	}
	if len(listed) == 0 {
		own := filepath.Join(modulesLoad, args.Name+".conf")
		if err := editLines(ctx, a, c, own, "loaded at boot", func(string) bool { return false }, args.Name); err != nil {
			return err
		}
	}
	given, err := linesBelow(modprobeDir, gives)
	if err != nil {
		return err
	}
	var has []string
	for _, line := range given {
		has = append(has, parametersIn(line, args.Name)...)
	}
	want := slices.Clone(args.Words)
	slices.Sort(has)
	slices.Sort(want)
	if slices.Equal(slices.Compact(has), slices.Compact(want)) {
		return nil
	}
	if len(want) == 0 {
		return commentOut(ctx, a, c, modprobeDir, "no parameters at boot", gives)
	}
	var options []string
	for _, word := range args.Words {
		options = append(options, fmt.Sprintf("options %s %s", args.Name, word))
	}
	own := filepath.Join(modprobeDir, args.Name+".conf")
	if err := commentOut(ctx, a, c, modprobeDir, "other parameters switched off", gives, own); err != nil {
		return err
	}
	return editLines(ctx, a, c, own, "parameters at boot", gives, options...)
}

// confFiles are the files of a directory that may not exist.
func confFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var files []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			files = append(files, path)
		}
	}
	return files, err
}

// linesBelow are the lines that are meant, of all files of a directory.
func linesBelow(dir string, meant func(string) bool) (found []string, err error) {
	files, err := confFiles(dir)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := fsys.ReadRegular(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			if meant(lines.WithoutEnd(line)) {
				found = append(found, line)
			}
		}
	}
	return found, nil
}

// commentOut plans to switch off the lines that are meant, in all files of a directory but some.
func commentOut(ctx context.Context, a *exec.Attempt, c *exec.Change, dir, says string, meant func(string) bool, but ...string) error {
	files, err := confFiles(dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		if slices.Contains(but, file) {
			continue
		}
		if err := editLines(ctx, a, c, file, says, meant); err != nil {
			return err
		}
	}
	return nil
}

// editLines plans to switch off the lines of a file that are meant, and to add others. An edit holds its file until the step has ended,
// so both are one.
func editLines(ctx context.Context, a *exec.Attempt, c *exec.Change, file, says string, meant func(string) bool, more ...string) error {
	e := edit{path: file, create: len(more) > 0, parents: true, gone: len(more) == 0}
	one, err := planEdit(ctx, a, e, func(text string) (string, string) {
		d := lines.Read(text)
		for i := range d.Lines {
			if meant(d.Line(i)) {
				d.Put(i, i+1, "#"+d.Line(i))
			}
		}
		d.Put(len(d.Lines), len(d.Lines), more...)
		d.Open = d.Open && len(more) == 0
		return d.String(), says
	})
	if err != nil {
		return err
	}
	// What is added to a file that is there is taken out again line by line; a new file goes as a whole.
	if one.Diff.Kind == events.ChangeUpdate {
		for _, line := range more {
			one.AddPart(events.Resource{
				Type: "line", Name: file + ": " + line,
				Undo: exec.UndoBy("lineinfile", map[string]any{"path": file, "line": line, "state": fsys.Absent}),
			})
		}
	}
	addChange(c, one)
	return nil
}
