package action

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/process"
	"moon/exec/spec"
)

var _ = exec.Register("synchronize", exec.Action{Plan: planSynchronize, Supplies: synchronizeNames})

// harmlessOptions are how options of rsync begin that neither start a program nor write anything but dest.
var harmlessOptions = []string{
	"-v", "-i", "-h", "-u", "-z", "-a", "-r", "-l", "-p", "-t", "-g", "-o", "-D", "-H", "-A", "-X", "-S", "-n", "-q",
	"-c", "-C", "-W", "-x", "-L", "-F", "--acls", "--archive", "--bwlimit", "--checksum", "--chmod", "--chown", "--copy",
	"--cvs-exclude", "--del", "--dirs", "--exclude", "--existing", "--executability", "--files-from", "--filter",
	"--fake-super", "--force", "--fuzzy", "--group", "--hard-links", "--human-readable", "--ignore", "--include",
	"--info", "--inplace", "--itemize-changes", "--keep-dirlinks", "--links", "--max", "--min", "--munge-links", "--no-",
	"--numeric-ids", "--omit", "--one-file-system", "--owner", "--perms", "--progress", "--prune-empty-dirs", "--quiet",
	"--recursive", "--relative", "--safe-links", "--size-only", "--sparse", "--stats", "--super", "--timeout", "--times",
	"--update", "--usermap", "--groupmap", "--verbose", "--whole-file", "--xattrs",
}

func synchronizeNames(a any) string {
	args := a.(*spec.SynchronizeArgs)
	for _, option := range args.Opts {
		short := strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "--")
		// Letters may be put together, and -e among them has a program.
		if short && strings.ContainsAny(option, "eMTB") ||
			strings.HasPrefix(option, "-") && !beginsHarmless(option) {
			return "`rsync_opts`"
		}
	}
	return exec.QuoteGiven("rsync_path", args.RsyncPath)
}

func beginsHarmless(option string) bool {
	return slices.ContainsFunc(harmlessOptions, func(begin string) bool { return strings.HasPrefix(option, begin) })
}

// syncStep is one synchronize step being planned.
type syncStep struct {
	*exec.Attempt
	args *spec.SynchronizeArgs
	c    *exec.Change
}

func planSynchronize(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	s := &syncStep{a, a.Args.(*spec.SynchronizeArgs), &exec.Change{Fields: map[string]any{}}}
	if err := lacksTool(a, "rsync", "rsync"); err != nil {
		return nil, err
	}
	argv := s.argv(false)
	s.c.Fields["cmd"] = strings.Join(argv, " ")
	s.c.AddResource(events.ChangeUpdate, "synchronized", s.shown(s.to()))
	if !a.Predicts() {
		s.c.Plan(events.ChangeUpdate, s.run, "copied with rsync")
		return s.c, nil
	}
	for _, path := range s.here() {
		if a.Overlay.Concerns(filepath.Clean(path)) {
			s.c.Diff.Kind, s.c.Diff.Summary = events.ChangeUnknown, "an earlier step would change "+path
			return s.c, nil
		}
	}
	said, err := a.AskTool(ctx, exec.NewTool(s.argv(true)...))
	if err != nil {
		return nil, err
	}
	if said.Code != 0 {
		// What is missing may be made by an earlier step, on the other machine, too.
		if strings.Contains(said.Stderr, "No such file or directory") {
			return nil, fault.Missing(s.args.Dest, "rsync: %s", firstWords(said.Stderr))
		}
		return nil, s.failed(said.Code, said.Stderr)
	}
	var out syncOutput
	_, _ = io.WriteString(&out, said.Stdout) // it takes everything
	s.report(&out, said.Code)
	s.describe(&out)
	return s.c, nil
}

// run copies. What is reported as changed is what rsync has changed.
func (s *syncStep) run(ctx context.Context) error {
	out := syncOutput{also: s.Output.Stdout()}
	record := s.recordHere()
	tool := exec.NewTool(s.argv(false)...)
	tool.Output = &out
	said, err := s.RunToolReading(ctx, tool)
	s.report(&out, said.Code)
	if err != nil {
		if code := said.Code; code != 0 {
			return s.failed(code, said.Stderr)
		}
		return err
	}
	s.describe(&out)
	if out.changed(s.args) {
		record(&out)
	}
	return nil
}

// describe makes the change what rsync says it is.
func (s *syncStep) describe(out *syncOutput) {
	s.c.Diff.Kind, s.c.Diff.Summary = events.ChangeNone, ""
	if out.changed(s.args) {
		s.c.Diff.Kind, s.c.Diff.Summary = events.ChangeUpdate, out.summary()
		if s.Diff && !s.NoLog {
			s.c.Diff.Text = out.text.String()
		}
	}
}

// recordHere looks at dest before anything is copied, and gives what then records the new files in it. What is created on another
// machine is none of this one, which could not take it away again.
func (s *syncStep) recordHere() func(*syncOutput) {
	if s.args.Peer != nil || strings.Contains(s.args.Dest, ":") {
		return func(*syncOutput) {}
	}
	s.c.Resources = nil
	if _, err := os.Lstat(s.args.Dest); err == nil {
		return s.recordFiles
	}
	whole := s.c.Watch(true, s.args.Dest)
	return func(*syncOutput) { whole() }
}

// recordFiles notes what was created in a directory that was there, and the directory itself as what was only changed.
func (s *syncStep) recordFiles(out *syncOutput) {
	s.c.AddFile(events.ChangeUpdate, filepath.Clean(s.args.Dest))
	for _, name := range out.created {
		path := filepath.Join(s.args.Dest, name)
		if _, err := os.Lstat(path); err != nil {
			continue // a file that has got another name, which is dest
		}
		s.c.AddFile(events.ChangeCreate, path)
	}
}

// failed is the error of rsync, in words of its own.
func (s *syncStep) failed(code int, said string) error {
	s.c.Fields["rc"] = code
	return fault.CommandError{Message: "rsync: " + firstWords(said), RC: &code, Class: fault.Fatal}
}

// firstWords is the first line that says what is wrong. The last one only says that something was.
func firstWords(said string) string {
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "Warning: Permanently added") {
			return strings.TrimPrefix(line, "rsync: ")
		}
	}
	return "it ended without a word"
}

func (s *syncStep) report(out *syncOutput, code int) {
	text := out.text.String()
	lines := []any{}
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" {
			lines = append(lines, line)
		}
	}
	s.c.Fields["msg"], s.c.Fields["stdout_lines"], s.c.Fields["rc"] = text, lines, code
}

// from and to are the ends, as rsync has them.
func (s *syncStep) from() string { return s.end(s.args.Src, s.args.Mode == "pull") }
func (s *syncStep) to() string   { return s.end(s.args.Dest, s.args.Mode == "push") }

// here are the ends that are on this machine.
func (s *syncStep) here() []string {
	switch {
	case s.args.Peer == nil:
		return []string{s.args.Src, s.args.Dest}
	case s.args.Mode == "pull":
		return []string{s.args.Dest}
	}
	return []string{s.args.Src}
}

func (s *syncStep) end(path string, there bool) string {
	if !there || s.args.Peer == nil || strings.HasPrefix(path, "rsync://") {
		return path
	}
	host := s.args.Peer.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + path
}

// shown is an end with the name that the inventory has for the host.
func (s *syncStep) shown(end string) string {
	if s.args.Peer == nil || s.HostName == "" {
		return end
	}
	if path, ok := strings.CutPrefix(end, s.args.Peer.Host+":"); ok {
		return s.HostName + ":" + path
	}
	return end
}

// changedMark stands before each line about a file.
const changedMark = "<<CHANGED>>"

// argv is the command. The order of its options counts: those of rsync_opts come after what they may take back.
func (s *syncStep) argv(dry bool) []string {
	args := s.args
	argv := []string{"rsync"}
	add := func(yes bool, options ...string) {
		if yes {
			argv = append(argv, options...)
		}
	}
	add(args.DelayUpdates, "--delay-updates", "-F")
	add(args.Compress, "--compress")
	add(args.RsyncTimeout > 0, "--timeout="+strconv.Itoa(args.RsyncTimeout))
	add(dry, "--dry-run")
	add(args.Delete, "--delete-after")
	add(args.ExistingOnly, "--existing")
	add(args.Checksum, "--checksum")
	add(args.CopyLinks, "--copy-links")
	add(args.Archive, "--archive")
	for _, part := range []struct {
		name string
		is   *bool
	}{
		{"recursive", args.Recursive},
		{"links", args.Links},
		{"perms", args.Perms},
		{"times", args.Times},
		{"owner", args.Owner},
		{"group", args.Group},
	} {
		add(args.Archive && part.is != nil && !*part.is, "--no-"+part.name)
		add(!args.Archive && part.is != nil && *part.is, "--"+part.name)
	}
	add(args.Dirs, "--dirs")
	if shell := s.shell(); shell != nil {
		argv = append(argv, "--rsh="+joinForRsync(shell))
	}
	there := args.RsyncPath
	if there == "" && args.Peer != nil {
		there = args.Peer.Rsync
	}
	add(there != "", "--rsync-path="+there)
	argv = append(argv, args.Opts...)
	add(args.Partial, "--partial")
	if len(args.LinkDest) > 0 {
		add(true, "-H", "-vv") // without words rsync does not say what has become another name
		for _, dir := range args.LinkDest {
			add(true, "--link-dest="+dir)
		}
	}
	add(true, "--out-format="+changedMark+"%i %n%L", "--", s.from(), s.to())
	return argv
}

// shell leads to the other machine; nil if there is none, or if the step says itself what does.
func (s *syncStep) shell() []string {
	has := slices.ContainsFunc(s.args.Opts, func(option string) bool { return strings.Contains(option, "--rsh") || option == "-e" })
	switch {
	case has:
		return nil
	case s.args.Peer != nil:
		return s.args.Peer.Shell
	}
	// A path may name a machine of its own, which moon knows nothing of.
	for _, path := range []string{s.args.Src, s.args.Dest} {
		if strings.HasPrefix(path, "rsync://") {
			return nil
		}
		if host, _, named := strings.Cut(path, ":"); !named || strings.Contains(host, "/") {
			continue
		}
		argv := []string{"ssh", "-o", "BatchMode=yes"}
		if s.args.PrivateKey != "" {
			argv = append(argv, "-i", s.args.PrivateKey)
		}
		if s.args.DestPort != 0 {
			argv = append(argv, "-o", "Port="+strconv.Itoa(s.args.DestPort))
		}
		return argv
	}
	return nil
}

// joinForRsync makes one text of words as rsync takes them apart: quotes are doubled inside of quotes, and nothing else is special.
func joinForRsync(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word == "" || strings.ContainsAny(word, ` '"`) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", "''") + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// syncOutput is what rsync prints, with the lines about files.
type syncOutput struct {
	also io.Writer // where it goes, too; nil: nowhere
	rest []byte    // of a line that is not complete
	text process.Limited

	created                 []string
	files, updated, removed int // that were changed in some way
	unchanged               int // lines about files of which only another name was made
	limited                 bool
}

// Write implements io.Writer.
func (o *syncOutput) Write(p []byte) (int, error) {
	if !o.limited {
		o.text.Left, o.limited = process.AskLimit, true
	}
	o.rest = append(o.rest, p...)
	for {
		i := bytes.IndexByte(o.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		line := o.noteLine(string(o.rest[:i])) + "\n"
		o.rest = o.rest[i+1:]
		_, _ = io.WriteString(&o.text, line) // it takes everything
		if o.also != nil {
			if _, err := io.WriteString(o.also, line); err != nil {
				return 0, err
			}
		}
	}
}

// noteLine takes the mark from a line and counts it: `>f+++++++++ name`, `*deleting   name`.
func (o *syncOutput) noteLine(line string) string {
	item, about := strings.CutPrefix(line, changedMark)
	if !about {
		return line
	}
	flags, name, _ := strings.Cut(item, " ")
	switch {
	case strings.HasPrefix(item, "*deleting"):
		o.removed++
	case strings.HasPrefix(item, "."):
		o.unchanged++
		o.updated++
	case strings.HasSuffix(flags, "+++"):
		o.files++
		if strings.HasPrefix(flags, "cL") || strings.HasPrefix(flags, "hf") {
			name, _, _ = strings.Cut(name, map[bool]string{true: " -> ", false: " => "}[flags[1] == 'L'])
		}
		o.created = append(o.created, unescapeName(name))
	default:
		o.updated++
	}
	return item
}

// unescapeName puts back what rsync writes as \#ooo: bytes that are not printable.
func unescapeName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		digits, escaped := strings.CutPrefix(name[i:], `\#`)
		if n, err := strconv.ParseUint(digits[:min(3, len(digits))], 8, 8); escaped && err == nil {
			b.WriteByte(byte(n))
			i += 4
			continue
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// changed reports whether rsync has changed anything. With link_dest also what is the same has a line.
func (o *syncOutput) changed(args *spec.SynchronizeArgs) bool {
	if len(args.LinkDest) > 0 {
		return o.unchanged == 0
	}
	return o.files+o.updated+o.removed > 0
}

// summary is what was changed, in words.
func (o *syncOutput) summary() string {
	var words []string
	for _, part := range []struct {
		n    int
		what string
	}{{o.files, "new"}, {o.updated, "updated"}, {o.removed, "deleted"}} {
		if part.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	return strings.Join(words, ", ")
}
