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
	"syscall"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/lines"
	"moon/exec/spec"
)

var _ = exec.Register("mount", exec.Action{Plan: planMount})

// mountStep is a step of mount with what is mounted now.
type mountStep struct {
	*exec.Attempt
	args  *spec.MountArgs
	table mountTable
	c     *exec.Change
}

func planMount(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.MountArgs)
	if runtime.GOOS != "linux" {
		return nil, errors.New("file systems can be mounted on Linux only")
	}
	if err := lacksTool(a, "mount", "mount, or util-linux"); err != nil {
		return nil, err
	}
	table, err := readMounts()
	if err != nil {
		return nil, err
	}
	s := mountStep{Attempt: a, args: args, table: table}
	if err := s.planFstab(ctx); err != nil {
		return nil, err
	}
	boot := "yes"
	if !args.Boot && slices.Contains(strings.Split(args.Opts, ","), "noauto") {
		boot = "no"
	} else if !args.Boot {
		s.c.Warnings = append(s.c.Warnings, "`boot: false` does nothing, since `opts` has defaults")
	}
	s.c.Result = nil
	s.c.Fields = map[string]any{
		"name": args.Path, "opts": args.Opts, "dump": args.Dump, "passno": args.Passno,
		"fstab": args.Fstab, "boot": boot, "backup_file": "",
	}
	for name, value := range map[string]string{"src": args.Src, "fstype": args.FSType} {
		if value != "" {
			s.c.Fields[name] = value
		}
	}
	// The original registers nothing of the file fstab itself.
	s.c.InPlays = append(s.c.InPlays, func(fields map[string]any) {
		delete(fields, "checksum")
		delete(fields, "md5sum")
	})
	if err := s.planState(ctx); err != nil {
		s.c.Close()
		return nil, err
	}
	return s.c, nil
}

// planFstab plans what is to be done in fstab.
func (s *mountStep) planFstab(ctx context.Context) error {
	e := edit{path: s.args.Fstab, backup: s.args.Backup}
	var edited lines.Edited
	var do editing
	switch s.args.State {
	case "present", "mounted":
		e.create, e.parents = true, true
		do = func(text string) (string, string) {
			edited = lines.PutMount(text, s.args)
			return edited.Text, edited.Says
		}
	case fsys.Absent, "absent_from_fstab":
		e.gone = true
		do = func(text string) (string, string) {
			edited = lines.RemoveMount(text, s.args)
			return edited.Text, edited.Says
		}
	default:
		s.c = (&exec.Change{}).PlanNothing()
		return nil
	}
	c, err := planEdit(ctx, s.Attempt, e, do)
	if err != nil {
		return err
	}
	s.c = c
	switch {
	case edited.Created:
		undo := map[string]any{"path": s.args.Path, "state": "absent_from_fstab", "fstab": s.args.Fstab}
		if s.args.Path == "none" {
			undo["src"] = s.args.Src
		}
		c.AddPart(events.Resource{Type: "fstab", Name: s.args.Path, Undo: exec.UndoBy("mount", undo)})
	case c.Diff.Kind != events.ChangeNone:
		c.AddFile(c.Diff.Kind, c.Diff.Path)
	default:
		c.Diff.Path = "" // what is done concerns another thing
	}
	return nil
}

// planState adds to the change of fstab what is to be mounted or unmounted.
func (s *mountStep) planState(ctx context.Context) error {
	inFstab := s.c.Diff.Kind != events.ChangeNone
	top, mounted := s.table.at(s.args.Path)
	switch s.args.State {
	case "unmounted":
		if mounted {
			s.planUnmount()
		}
	case fsys.Absent:
		if inFstab && mounted {
			s.planUnmount()
		}
		if inFstab && s.args.Path != "none" && isPresent(s.args.Path) {
			s.c.AddFile(events.ChangeDelete, s.args.Path)
			planAfter(s.c, events.ChangeDelete, func(context.Context) error { return os.Remove(s.args.Path) }, "directory removed")
		}
	case "remounted":
		s.planRemount("mounted again")
	case "mounted":
		switch {
		case !mounted || top.isBound() && !s.table.leadsTo(top, s.args.Src):
			return s.planNewMount(ctx)
		case inFstab:
			s.planRemount("mounted again")
		}
	case "ephemeral":
		switch {
		case !mounted:
			return s.planNewMount(ctx)
		case top.source != s.args.Src && !s.table.leadsTo(top, s.args.Src):
			return fmt.Errorf("%s has %s mounted, and not %s; unmount it first with `state: unmounted`, or choose another path",
				s.args.Path, top.source, s.args.Src)
		}
		s.planRemount("mounted again")
	}
	return nil
}

func (s *mountStep) planUnmount() {
	s.c.AddResource(events.ChangeDelete, "mount", s.args.Path)
	planAfter(s.c, events.ChangeDelete, s.unmount, "unmounted")
}

func (s *mountStep) planRemount(words string) {
	s.c.AddResource(events.ChangeUpdate, "mount", s.args.Path)
	planAfter(s.c, events.ChangeUpdate, s.remount, words)
}

// planNewMount plans to mount what is not. If that fails all is as before: an entry in fstab that cannot be mounted may keep the machine
// from starting.
func (s *mountStep) planNewMount(ctx context.Context) error {
	var made *exec.Change
	if isMissing(s.Attempt, s.args.Path) {
		var err error
		if made, err = planDirectory(ctx, s.Attempt, s.args.Path, spec.Mode{}); err != nil {
			return err
		}
		s.c.AtEnd(made.Close)
		s.c.Resources = append(made.Resources, s.c.Resources...)
		s.c.Predictions = append(s.c.Predictions, made.Predictions...)
		s.addWords(made.Diff.Summary)
	}
	s.c.AddCreated("mount", s.args.Path, s.UndoWithTools("mount", map[string]any{"path": s.args.Path, "state": "unmounted"}))
	s.addWords("mounted")
	write := s.c.Apply
	s.c.Apply = func(ctx context.Context) error {
		restore := func() error { return nil }
		if s.args.State != "ephemeral" {
			var err error
			if restore, err = keepFiles([]string{s.args.Fstab}); err != nil {
				return err
			}
		}
		if made != nil {
			if err := applyPart(ctx, made); err != nil {
				return err
			}
		}
		err := write(ctx)
		if err == nil {
			err = s.mount(ctx)
		}
		if err == nil {
			return nil
		}
		if made != nil {
			for _, dir := range slices.Backward(made.Resources) {
				_ = os.Remove(dir.Name) // it is empty, unless others use it by now
			}
		}
		return errors.Join(err, restore())
	}
	return nil
}

// addWords adds to the summary of a change that may still be nothing.
func (s *mountStep) addWords(words string) {
	planAfter(s.c, events.ChangeCreate, func(context.Context) error { return nil }, words)
}

// tableOptions name an fstab other than the usual one to mount; what is ephemeral is in none.
func (s *mountStep) tableOptions() []string {
	switch {
	case s.args.State == "ephemeral":
		argv := []string{"-t", s.args.FSType}
		if s.args.Opts != "defaults" {
			argv = append(argv, "-o", s.args.Opts)
		}
		return append(argv, s.args.Src)
	case s.args.Fstab != "/etc/fstab":
		return []string{"-T", s.args.Fstab}
	}
	return nil
}

func (s *mountStep) mount(ctx context.Context) error {
	return s.tell(ctx, append(append([]string{"mount"}, s.tableOptions()...), s.args.Path)...)
}

func (s *mountStep) unmount(ctx context.Context) error { return s.tell(ctx, "umount", s.args.Path) }

// remount mounts again what is mounted. Where the file system cannot do that at once it is unmounted in between, unless the step gives
// options for this time only, which would be lost.
func (s *mountStep) remount(ctx context.Context) error {
	options := "remount"
	own := s.args.State == "remounted" && s.args.Opts != "defaults"
	if own {
		options += "," + s.args.Opts
	}
	err := s.tell(ctx, append(append([]string{"mount", "-o", options}, s.tableOptions()...), s.args.Path)...)
	switch {
	case err == nil || fault.Stopped(ctx) != "":
		return err
	case own:
		return fmt.Errorf("%w; with `opts` it is not unmounted instead: use `state: unmounted` and then `mounted`, with all options", err)
	}
	if err := s.unmount(ctx); err != nil {
		return err
	}
	return s.mount(ctx)
}

func (s *mountStep) tell(ctx context.Context, argv ...string) error {
	said, err := s.RunToolReading(ctx, exec.NewTool(argv...))
	return said.Explain(err)
}

// mountEntry is a line of /proc/self/mountinfo.
type mountEntry struct {
	device string // major:minor
	root   string // in the file system
	path   string
	source string
}

// mountTable is what is mounted, in the order in which it was.
type mountTable []mountEntry

var mountEscapes = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`, `\043`, "#")

func readMounts() (mountTable, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return parseMounts(string(text)), nil
}

// parseMounts reads mountinfo: 36 35 98:0 /root /path options … - type source options.
func parseMounts(text string) (all mountTable) {
	for line := range strings.Lines(text) {
		before, after, _ := strings.Cut(line, " - ")
		fields, last := strings.Fields(before), strings.Fields(after)
		if len(fields) < 5 || len(last) < 2 {
			continue
		}
		all = append(all, mountEntry{
			device: fields[2], root: mountEscapes.Replace(fields[3]), path: mountEscapes.Replace(fields[4]),
			source: mountEscapes.Replace(last[1]),
		})
	}
	return all
}

// at finds what is mounted at a path: the last counts, which hides the others.
func (t mountTable) at(path string) (mountEntry, bool) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	path = filepath.Clean(path)
	for _, m := range slices.Backward(t) {
		if m.path == path {
			return m, true
		}
	}
	return mountEntry{}, false
}

// isBound reports whether a mount is on the same device as the directory that it is in: of that only what it shows tells whether it
// is the one that is meant. The subvolumes of a file system have devices of their own.
func (m mountEntry) isBound() bool {
	var is, above syscall.Stat_t
	return syscall.Stat(m.path, &is) == nil && syscall.Stat(filepath.Dir(m.path), &above) == nil && is.Dev == above.Dev
}

// leadsTo reports whether a mount shows a directory, as seen through any mount of its file system.
func (t mountTable) leadsTo(m mountEntry, dir string) bool {
	dir = filepath.Clean(dir)
	return slices.ContainsFunc(t, func(other mountEntry) bool {
		if other.device != m.device || other.path == m.path {
			return false
		}
		rest, below := strings.CutPrefix(m.root+"/", strings.TrimSuffix(other.root, "/")+"/")
		return below && filepath.Join(other.path, rest) == dir
	})
}
