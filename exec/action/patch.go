package action

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("patch", exec.Action{Plan: planPatch})

// patching is a patch tried out on copies: the program patch never sees the files themselves. What it makes of the copies
// is what is to be done, so that a dry run knows it, nothing is done by halves, and no rejects are left behind.
type patching struct {
	*exec.Attempt
	args    *spec.PatchArgs
	c       *exec.Change
	base    string
	scratch string
	diff    string
	files   map[string]*patched // by their name in base
	took    []any               // paths of the files that it changes
	text    strings.Builder
}

// patched is a file that the patch may concern.
type patched struct {
	at  *fsys.Anchored
	is  fsys.Entry
	old []byte
}

func planPatch(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.PatchArgs)
	p := &patching{
		Attempt: a, args: args, base: args.Basedir, files: map[string]*patched{},
		c: &exec.Change{Fields: map[string]any{"src": args.Src}},
	}
	if p.base == "" {
		p.base = filepath.Dir(args.Dest)
	}
	p.base = filepath.Clean(p.base)
	p.c.Diff.Path, p.c.Fields["basedir"] = p.base, p.base
	if args.Dest != "" {
		p.c.Diff.Path, p.c.Fields["dest"] = filepath.Clean(args.Dest), args.Dest
	}
	if err := p.planPatch(ctx); err != nil {
		p.c.Close()
		return nil, err
	}
	return p.c, nil
}

func (p *patching) planPatch(ctx context.Context) error {
	diff, err := p.readPatch()
	if errors.Is(err, fs.ErrNotExist) {
		return fault.Missing(p.c.Diff.Path, "src %s does not exist", p.args.Src)
	}
	if err != nil {
		return err
	}
	if is, err := p.Overlay.Stat(p.base); err != nil || is.Kind != fsys.Directory {
		return fault.Missing(p.c.Diff.Path, "directory %s does not exist", p.base)
	}
	if !p.Installed("patch") {
		return fault.Missing(p.c.Diff.Path, "the program patch is not installed; install the package patch")
	}
	p.diff = string(diff)
	kind := patchKind(diff)
	if kind == "" || kind == "--normal" && p.args.Dest == "" {
		return fmt.Errorf("%s is not a recognised patch: moon takes unified and context diffs, and normal ones for `dest`", p.args.Src)
	}
	if p.scratch, err = os.MkdirTemp("", ".moon-*"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(p.scratch) }() // it lies where such files are cleaned up
	if err := p.copyFiles(diff); err != nil {
		return err
	}
	reversed := p.args.State == "absent"
	// The other direction is tried dry first: if it fits, the patch is in place already.
	done, err := p.runPatch(ctx, kind, !reversed, true)
	if err != nil {
		return err
	}
	modes := kind == "--unified" && !unifiedHunk.Match(diff) // of which the program cannot tell whether they are set
	if done.Code == 0 && !modes {
		p.c.Fields["msg"], p.c.Fields["files"] = map[bool]string{
			false: "the patch is applied",
			true:  "the patch is not applied",
		}[reversed], []any{}
		p.c.PlanNothing()
		return nil
	}
	did, err := p.runPatch(ctx, kind, reversed, false)
	if err != nil {
		return err
	}
	if did.Code != 0 {
		return p.explainMisfit(did)
	}
	for line := range strings.SplitSeq(did.Stdout, "\n") {
		if strings.Contains(line, " with fuzz ") {
			p.c.Warnings = append(p.c.Warnings,
				strings.TrimSuffix(strings.TrimSpace(line), ".")+": the lines around it are not quite those of the patch")
		}
	}
	return p.takeCopies(ctx)
}

var (
	unifiedHunk = pattern.New(`(?m)^@@ -\d+(,\d+)? \+\d+(,\d+)? @@`)
	contextHunk = pattern.New(`(?m)^\*\*\* \d+(,\d+)? \*\*\*\*`)
	normalHunk  = pattern.New(`(?m)^\d+(,\d+)?[acd]\d+(,\d+)?\r?$`)
	gitHeader   = pattern.New(`(?m)^diff --git (\S+) (\S+)\r?$`)
)

func (p *patching) readPatch() ([]byte, error) {
	if p.args.RemoteSrc {
		return fsys.ReadRegular(p.args.Src)
	}
	return p.ReadSource(p.args.Src)
}

// patchKind tells the program what it reads. It must not find out by itself: there are patches that are scripts for an editor.
func patchKind(diff []byte) string {
	switch {
	case unifiedHunk.Match(diff), gitHeader.Match(diff):
		return "--unified"
	case contextHunk.Match(diff):
		return "--context"
	case normalHunk.Match(diff):
		return "--normal"
	}
	return ""
}

// patchNames are the lines of a patch that name a file.
var patchNames = pattern.New(`(?m)^(?:---|\+\+\+|\*\*\*|Index:|rename from|rename to|copy from|copy to) ([^\r\n]+)`)

// copyFiles copies every file that the patch may be about into the scratch directory.
func (p *patching) copyFiles(diff []byte) error {
	names := map[string]bool{}
	for _, m := range gitHeader.FindAllSubmatch(diff, -1) { // all there is of a patch that changes modes only
		for _, name := range []string{string(m[1]), string(m[2])} {
			parts := strings.Split(name, "/")
			names[strings.Join(parts[min(p.args.Strip, len(parts)-1):], "/")] = true
		}
	}
	for _, m := range patchNames.FindAllSubmatch(diff, -1) {
		name, _, _ := strings.Cut(string(m[1]), "\t")
		if unquoted, err := strconv.Unquote(name); err == nil {
			name = unquoted
		}
		names[name] = true
		strip := p.args.Strip
		if bytes.HasPrefix(m[0], []byte("rename ")) || bytes.HasPrefix(m[0], []byte("copy ")) {
			strip = max(strip-1, 0) // git leaves out a/ and b/ there
		}
		// The program may take a name up to a space for one with a date behind it.
		for _, candidate := range []string{name, strings.SplitN(name, " ", 2)[0]} {
			parts := strings.Split(candidate, "/")
			names[strings.Join(parts[min(strip, len(parts)-1):], "/")] = true
		}
	}
	if p.args.Dest != "" {
		names = map[string]bool{filepath.Base(p.args.Dest): true}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if name = filepath.Clean(name); filepath.IsLocal(name) && name != "." && p.files[name] == nil {
			if err := p.copyFile(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *patching) copyFile(name string) error {
	path := filepath.Join(p.base, name)
	var at *fsys.Anchored
	var is fsys.Entry
	var err error
	if p.args.Dest != "" {
		path = p.args.Dest
		at, is, err = p.Overlay.Followed(path)
	} else if at, err = p.openInside(path); err == nil && at != nil {
		is, err = at.Look()
	}
	if err != nil {
		return err
	}
	if at == nil {
		return nil // its directory is not there: the patch may make it
	}
	p.c.Places = append(p.c.Places, at)
	switch {
	case is.Kind == fsys.Absent && p.args.Dest != "":
		return fault.Missing(path, "%s does not exist", path)
	case is.Kind == fsys.Link:
		return fmt.Errorf("%s is a link, and links are not followed by patches; name the file as `dest`", path)
	case is.Kind != fsys.Absent && is.Kind != fsys.Regular:
		return nil
	case is.Size > editLimit:
		return fmt.Errorf("%s is too large to patch: %s", path, fsys.FormatSize(is.Size))
	}
	f := &patched{at: at, is: is}
	p.files[name] = f
	if is.Kind == fsys.Absent {
		return nil
	}
	if f.old, err = at.Read(is); err != nil {
		return err
	}
	to := filepath.Join(p.scratch, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	// WriteFile's mode is cut by the umask, and patch copies the mode of what it reads.
	return errors.Join(os.WriteFile(to, f.old, 0o600), os.Chmod(to, copyMode(is)))
}

// openInside opens the place of a name of the patch, which must not lead out of the directory through links.
func (p *patching) openInside(path string) (*fsys.Anchored, error) {
	base, err := filepath.EvalSymlinks(p.base)
	if err == nil {
		var dir string
		if dir, err = filepath.EvalSymlinks(filepath.Dir(path)); err == nil && dir != base &&
			!strings.HasPrefix(dir, strings.TrimSuffix(base, "/")+"/") {
			return nil, fmt.Errorf("%s leads out of %s through a link", path, p.base)
		}
	}
	at, err := p.Overlay.OpenPlace(path)
	if errors.As(err, new(fault.NotYet)) {
		return nil, nil // there is no such place
	}
	return at, err
}

// copyMode is the mode of a copy, which must be ours to read and write.
func copyMode(is fsys.Entry) fs.FileMode { return fsys.FileMode(is.Mode&0o777 | 0o600) }

// runPatch runs the program on the copies.
func (p *patching) runPatch(ctx context.Context, kind string, reverse, dry bool) (exec.Answer, error) {
	argv := []string{
		// Without --batch patch asks at its terminal, and without --forward it would take a patch back that is applied.
		"patch", "--batch", "--forward", "--no-backup-if-mismatch", "--reject-file=-", kind, "--strip=" + strconv.Itoa(p.args.Strip),
		"--directory=" + p.scratch,
	}
	for flag, on := range map[string]bool{
		"--reverse": reverse, "--dry-run": dry, "--binary": p.args.Binary,
		"--ignore-whitespace": p.args.IgnoreWhitespace,
	} {
		if on {
			argv = append(argv, flag)
		}
	}
	// The options come from a map; their order must not differ between two runs.
	slices.Sort(argv[8:])
	if p.args.Dest != "" {
		argv = append(argv, "--", filepath.Base(p.args.Dest))
	}
	t := exec.NewTool(argv...)
	t.Stdin = &p.diff
	return p.AskTool(ctx, t)
}

var (
	patchingFile = pattern.New(`^(?:patching|checking) (?:symbolic link |file )?(.+?)(?: \(renamed from .*\)| using Plan .*)?$`)
	failedHunk   = pattern.New(`^Hunk #(\d+) FAILED at (\d+)`)
)

// explainMisfit says which part of the patch does not fit.
func (p *patching) explainMisfit(said exec.Answer) error {
	file := ""
	var parts []string
	for line := range strings.Lines(said.Stdout) {
		line = strings.TrimSuffix(line, "\n")
		if m := patchingFile.FindStringSubmatch(line); m != nil {
			file = m[1]
		}
		m := failedHunk.FindStringSubmatch(line)
		switch {
		case m != nil:
			parts = append(parts, fmt.Sprintf("hunk %s of %s, at line %s", m[1], p.showName(file), m[2]))
		case strings.HasPrefix(line, "Reversed (or previously applied) patch detected"):
			parts = append(parts, p.showName(file)+" has it already")
		case strings.HasPrefix(line, "can't find file to patch"), strings.Contains(line, "No file to patch"):
			parts = append(parts, "a file of it is not in "+p.base+" (`strip` may be another)")
		}
	}
	if len(parts) == 0 {
		parts = append(parts, said.LastWords())
	}
	const most = 5
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("%d more", more))
	}
	return fault.Missing(p.c.Diff.Path, "the patch %s does not fit: %s; nothing was changed", p.args.Src,
		// A file with several hunks that do not fit is named once for each of them.
		strings.Join(slices.Compact(parts), ", "))
}

func (p *patching) showName(name string) string {
	if p.args.Dest != "" {
		return p.args.Dest
	}
	return filepath.Join(p.base, strings.Trim(name, "'"))
}

// takeCopies plans to put what the program made of the copies in their places.
func (p *patching) takeCopies(ctx context.Context) error {
	made := map[string]bool{}
	var applies []func(context.Context) error
	var words []string
	p.took = []any{}
	err := filepath.WalkDir(p.scratch, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(p.scratch, path)
		if err != nil {
			return err
		}
		// patch can make links from what git writes; such a link could lead anywhere.
		if !d.Type().IsRegular() {
			return fmt.Errorf("the patch %s makes %s, which is not a file", p.args.Src, name)
		}
		made[name] = true
		apply, err := p.putFile(ctx, name, path)
		if apply != nil {
			applies, words = append(applies, apply), append(words, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		f := p.files[name]
		// A file that had a copy, and has it no longer, was deleted by the patch.
		if f.is.Kind == fsys.Absent || made[name] {
			continue
		}
		p.c.AddFile(events.ChangeDelete, f.at.Path)
		p.took = append(p.took, f.at.Path)
		p.c.AddPrediction(func(ahead *fsys.Overlay) { ahead.Put(f.at.Path, fsys.Nothing) })
		p.text.WriteString(unifiedRemoved(f.at.Path, f.old))
		words = append(words, name+" removed")
		applies = append(applies, func(context.Context) error { return p.removeFile(f) })
	}
	if len(applies) == 0 {
		p.c.Fields["msg"] = "the patch changes nothing"
		p.c.PlanNothing()
		return nil
	}
	p.c.Fields["files"], p.c.Fields["msg"] = p.took, "patched "+strings.Join(words, ", ")
	// A diff that was cut would look like the whole.
	if p.Diff && !p.NoLog && p.text.Len() <= fsys.DiffLimit {
		p.c.Diff.Text = p.text.String()
	}
	p.c.Plan(events.ChangeUpdate, func(ctx context.Context) error {
		for _, apply := range applies {
			if err := apply(ctx); err != nil {
				return err
			}
		}
		return nil
	}, words...)
	return nil
}

// putFile plans one file as the program made it. The mode of a new one is the patch's.
func (p *patching) putFile(ctx context.Context, name, from string) (func(context.Context) error, error) {
	data, err := os.ReadFile(from)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(from)
	if err != nil {
		return nil, err
	}
	f := p.files[name]
	dressed := f != nil && f.is.Kind == fsys.Regular && info.Mode().Perm() != copyMode(f.is).Perm() // by the patch
	if f != nil && f.is.Kind == fsys.Regular && bytes.Equal(f.old, data) && !dressed {
		return nil, nil
	}
	var above func() error
	if f == nil {
		if f, above, err = p.newFile(name); err != nil {
			return nil, err
		}
	}
	t := target{
		at: f.at, is: f.is, attrs: fsys.Attributes{UID: -1, GID: -1}, from: fsys.Source{Data: data, Size: int64(len(data))},
		force: true, backup: p.args.Backup,
	}
	mode := uint32(info.Mode().Perm())
	if f.is.Kind == fsys.Absent {
		// patch makes files with moon's umask in the scratch directory; only its x bits are the patch's.
		mode = 0o755 &^ fsys.Umask()
	}
	if dressed || f.is.Kind == fsys.Absent && info.Mode()&0o100 != 0 {
		if t.attrs.Mode, err = spec.ParseMode(fsys.Octal(mode)); err != nil {
			return nil, err
		}
	}
	one := &exec.Change{Fields: map[string]any{}}
	if above == nil {
		if _, err := t.planWrite(ctx, p.Attempt, one); err != nil {
			return nil, err
		}
	} else {
		one.Diff.Text = t.diffText(p.Attempt)
		w, _ := t.attrs.ForNew(fsys.Regular)
		t.predictContent(one, w)
	}
	p.text.WriteString(one.Diff.Text)
	p.c.Predictions = append(p.c.Predictions, one.Predictions...)
	kind := events.ChangeUpdate
	if f.is.Kind == fsys.Absent {
		kind = events.ChangeCreate
	}
	p.c.AddFile(kind, f.at.Path)
	p.took = append(p.took, f.at.Path)
	return func(ctx context.Context) error {
		if above != nil {
			if err := above(); err != nil {
				return err
			}
			at, err := fsys.AnchorAt(f.at.Path)
			if err != nil {
				return err
			}
			// The place is closed with the change, as the others are.
			p.c.Places = append(p.c.Places, at)
			t.at = at
			if _, err := t.planWrite(ctx, p.Attempt, one); err != nil {
				return err
			}
		}
		err := one.Apply(ctx)
		if backup, ok := one.Fields["backup_file"]; ok {
			p.c.Fields["backup_file"] = backup
		}
		return err
	}, nil
}

// newFile plans a file in a directory that is not there yet.
func (p *patching) newFile(name string) (*patched, func() error, error) {
	path := filepath.Join(p.base, name)
	if _, err := p.Overlay.Lstat(path); err == nil {
		return nil, nil, fmt.Errorf("the patch %s makes %s, which is there already", p.args.Src, path)
	}
	dir, err := p.Overlay.OpenAbove(filepath.Dir(path))
	if err != nil {
		return nil, nil, err
	}
	p.c.Places = append(p.c.Places, dir)
	// Several files of a patch may be in one new directory.
	if !slices.ContainsFunc(p.c.Resources, func(r events.Resource) bool { return r.Name == filepath.Dir(path) }) {
		p.c.AddDirs(dir)
	}
	w, _ := fsys.Attributes{UID: -1, GID: -1}.ForNew(fsys.Directory)
	p.c.AddPrediction(func(f *fsys.Overlay) { f.Mkdir(filepath.Dir(path), w, w) })
	above := func() error {
		// An earlier file of the same patch may have made it.
		if _, err := os.Stat(filepath.Dir(path)); err == nil {
			return nil
		}
		return dir.PathError(fsys.MakeDirs(dir.Dir, dir.Name, w, w))
	}
	return &patched{at: &fsys.Anchored{Path: path, Name: filepath.Base(path), Overlay: p.Overlay}, is: fsys.Nothing.Entry}, above, nil
}

func (p *patching) removeFile(f *patched) error {
	if p.args.Backup {
		backup, err := f.at.Keep()
		if err != nil {
			return err
		}
		p.c.Fields["backup_file"] = backup
	}
	return f.at.PathError(f.at.Dir.Remove(f.at.Name))
}

// unifiedRemoved is the difference of a file that goes.
func unifiedRemoved(path string, old []byte) string {
	text := fsys.UnifiedDiff(path, old, []byte{})
	return strings.Replace(text, "+++ "+path+"\n", "+++ /dev/null\n", 1)
}
