package planner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/playbook"
	"moon/plan/source"
)

// included adds to what the parser says of an included file where that is included.
func (p *library) included(said int, chain []string, t *playbook.Task) {
	for i := said; i < min(len(p.Found), diag.Max); i++ { // behind them is only that there is more
		p.Found[i].Chain = append(slices.Clip(chain), fmt.Sprintf("%s:%d", t.Pos.File, t.Pos.Line))
	}
}

// circular reports an include of a file that is being included already.
func (p *library) circular(target string, t *playbook.Task, c *taskContext) bool {
	at := slices.IndexFunc(p.including, func(i including) bool { return i.path == target })
	if at < 0 {
		return false
	}
	var parts []string
	for i := at; i < len(p.including); i++ {
		line := p.including[i].line
		if i == len(p.including)-1 {
			line = t.Pos.Line
		}
		parts = append(parts, fmt.Sprintf("%s:%d", p.including[i].name, line))
	}
	if n := len(parts) - 2*circleShown; n > 1 {
		parts = slices.Concat(parts[:circleShown], []string{fmt.Sprintf("… %d more …", n)}, parts[len(parts)-circleShown:])
	}
	parts = append(parts, p.including[at].name)
	p.Errorf(t.Args.Pos(), 0, c.chain, "a file may be included twice, but not inside itself", "include cycle: %s",
		strings.Join(parts, " → "))
	return true
}

// varsIn says which files of a directory an include_vars reads.
type varsIn struct {
	depth      int // 0: any
	matching   *regexp.Regexp
	ignore     []*regexp.Regexp
	extensions []string
	lenient    bool   // files with other extensions are passed over
	except     string // the file of the role that is in effect anyway
}

func (p *library) varsBelow(c *taskContext, written playbook.Value, dir string, depth int, in *varsIn) (files []*playbook.File) {
	names, err := p.disk.List(dir)
	if err != nil || in.depth > 0 && depth > in.depth || depth > 30 {
		return nil
	}
	names = slices.Sorted(slices.Values(names))
	var below []string
	for _, name := range names {
		path := filepath.Join(dir, name)
		if !p.disk.Regular(path) {
			below = append(below, path)
			continue
		}
		if path == in.except || in.matching != nil && !in.matching.MatchString(name) ||
			slices.ContainsFunc(in.ignore, func(re *regexp.Regexp) bool { return re.MatchString(name) }) {
			continue
		}
		if !slices.Contains(in.extensions, strings.TrimPrefix(filepath.Ext(name), ".")) {
			if !in.lenient {
				p.Errorf(written.Pos(), plan.Width(written), c.chain, "set `ignore_unknown_extensions: true`, or `extensions`",
					"include_vars: %s has none of the extensions %s", p.shown(path), strings.Join(in.extensions, ", "))
			}
			continue
		}
		f, err := p.read(path)
		if err != nil {
			p.Errorf(written.Pos(), plan.Width(written), c.chain, p.wayTo(path, err), "include_vars: %s", p.fileError(err))
			continue
		}
		files = append(files, f)
	}
	for _, path := range below {
		files = append(files, p.varsBelow(c, written, path, depth+1, in)...)
	}
	return files
}

// portableLabel is the label of an item in a path, which is the same wherever the playbook lies.
func (p *library) portableLabel(label string) string {
	if filepath.IsAbs(label) {
		return p.shown(label)
	}
	return label
}

// load reads and parses a file of steps once.
func (p *library) load(path string) (*playbook.Playbook, error) {
	if pb, ok := p.files[path]; ok {
		return pb, nil
	}
	f, err := p.read(path)
	if err != nil {
		return nil, err
	}
	if f.Secret {
		return nil, errSecretSteps
	}
	pb := playbook.Parse(f, p.o.Actions(), &p.Found)
	p.files[path] = pb
	return pb, nil
}

// read reads a file and notes it as an input of the plan.
func (p *library) read(path string) (*playbook.File, error) {
	shown := p.shown(path)
	if f, ok := p.sources[shown]; ok {
		return f, nil
	}
	seen, err := p.disk.Read(path)
	if err != nil {
		return nil, err
	}
	f := &playbook.File{Name: shown, Path: path, Text: seen.Text}
	if err := p.unlock(f); err != nil {
		return nil, err
	}
	p.plan.Inputs = append(p.plan.Inputs, plan.Input{Path: shown, Digest: seen.Digest})
	p.sources[shown] = f
	p.wasRead(seen.Text)
	return f, nil
}

// fileError words an error of the file system without Go's chain.
func (p *library) fileError(err error) string {
	var pe *fs.PathError
	if !errors.As(err, &pe) {
		return err.Error()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file: " + p.shown(pe.Path)
	case errors.Is(pe.Err, source.ErrDirectory):
		return p.shown(pe.Path) + " is a directory"
	case errors.Is(err, fs.ErrPermission):
		return "no permission to read " + p.shown(pe.Path)
	case errors.Is(err, syscall.ELOOP):
		return p.shown(pe.Path) + " is a link that leads back to itself"
	case errors.Is(pe.Err, source.ErrPipe), errors.Is(pe.Err, source.ErrNoFile), errors.Is(pe.Err, source.ErrTooLarge):
		return fmt.Sprintf("%s cannot be read: %s", p.shown(pe.Path), pe.Err)
	}
	return fmt.Sprintf("read %s: %s", p.shown(pe.Path), pe.Err)
}

// errSecretSteps is said of a file of steps nobody could be shown anything of.
var errSecretSteps = errors.New("the file is encrypted, or one of secrets, and holds steps: keep what is secret in a file of variables")

// wayTo is the hint for a file that cannot be read.
func (p *library) wayTo(path string, err error) string {
	if locked, ok := errors.AsType[*plan.LockedError](err); ok {
		return plan.WayIn(locked.Err)
	}
	return p.similar(path)
}

// similar suggests a file that exists beside one that does not.
func (p *library) similar(path string) string {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return "" // it is there, and something else is wrong with it
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if near := suggest.Nearest(filepath.Base(path), names); near != "" {
		return "that directory has `" + near + "`"
	}
	return ""
}

// shown is the path as people see it: relative to the playbook's directory where it lies below it.
func (p *library) shown(path string) string { return plan.ShownPath(p.plan.Root, path) }

// resolve makes a path of the playbook absolute.
func (p *library) resolve(path, dir string) string { return source.ResolvePath(path, dir, p.o.Home) }

// runInventory is what an executable inventory says. It is kept with the plan, as a file would be.
func (p *library) runInventory(path string, args ...string) ([]byte, error) {
	p.programs = true
	key := path + " " + strings.Join(args, " ")
	f, ok := p.disk.Files[key]
	if !ok {
		if p.disk.Closed || p.o.Outside.RunInventory == nil {
			return nil, source.NotThere(path)
		}
		text, err := p.o.Outside.RunInventory(path, args...)
		if err != nil {
			return nil, err
		}
		f = &source.FileSeen{Text: text, Digest: source.DigestOf(text), Program: path, Args: args}
		p.disk.Files[key] = f
	}
	p.plan.Inputs = append(p.plan.Inputs, plan.Input{Path: p.shown(path) + " " + strings.Join(args, " "), Digest: f.Digest})
	return f.Text, nil
}

func (p *library) inventoryHint() string {
	if len(p.o.Hosts.Inventory) == 0 {
		return "give an inventory with -i; without one there is only localhost"
	}
	return ""
}

// lookout is the place from which tasks look that are in a file of a play.
func (p *library) lookout(c *taskContext) source.Lookout {
	l := plan.LookoutOf(c.scene)
	l.Dir, l.Root = c.dir, p.plan.Root
	return l
}

// loadTasks reads a file of tasks of plays once.
func (p *library) loadTasks(path string) (*playbook.File, []*playbook.Task, error) {
	return p.loadAs(path, path, playbook.ParseTasks)
}

// loadHandlers reads a role's file of handlers once.
func (p *library) loadHandlers(path string) (*playbook.File, []*playbook.Task, error) {
	return p.loadAs("handlers "+path, path, playbook.ParseHandlers)
}

func (p *library) loadAs(key, path string,
	parse func(*playbook.File, playbook.Actions, *diag.List) []*playbook.Task,
) (*playbook.File, []*playbook.Task, error) {
	if got, ok := p.taskFiles[key]; ok {
		return got.File, got.Tasks, nil
	}
	f, err := p.read(path)
	if err != nil {
		return nil, nil, err
	}
	if f.Secret {
		return nil, nil, errSecretSteps
	}
	tasks := parse(f, p.o.Actions(), &p.Found)
	p.taskFiles[key] = playbook.TasksOf{File: f, Tasks: tasks}
	return f, tasks, nil
}

// trusts asks whether what the playbook names may be executed now.
func (p *library) trusts(what string) bool { return p.plan.Trusts(what) }

// keptPassword is the text of a file with a password. Planning reads it as an input that is kept nowhere.
func (p *library) keptPassword(path string, running bool) ([]byte, error) {
	if running {
		return os.ReadFile(path)
	}
	f, err := p.disk.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		p.disk.Absent[path], p.disk.Passwords[path] = true, true
	}
	if err != nil {
		return nil, err
	}
	f.Secret, f.Digest = true, ""
	return f.Text, nil
}
