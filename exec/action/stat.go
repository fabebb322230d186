package action

import (
	"context" // users may have nothing better to compare with
	// likewise
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"moon/events"
	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("stat", exec.Action{Run: runStat, Dry: dryStat, Effect: events.ChangeNone})

func dryStat(ctx context.Context, a *exec.Attempt) exec.Result {
	if r := a.ChangedEarlier(a.Args.(*spec.StatArgs).Path); r != nil {
		return *r
	}
	return runStat(ctx, a)
}

func runStat(ctx context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.StatArgs)
	var found map[string]any
	var err error
	for range 5 { // somebody may change it between the looks
		if found, err = statPath(ctx, a, args); !errors.Is(err, fsys.ErrSwapped) {
			break
		}
	}
	r := exec.Result{Outcome: events.OK, Fields: map[string]any{"stat": found}}
	if errors.Is(err, fsys.ErrTrap) { // what it leads to may be looked at, but is not read
		r.Warnings, err = []string{args.Path + " is not read: " + fsys.ErrTrap.Error()}, nil
	}
	if err != nil {
		return a.Failure(ctx, err)
	}
	return r
}

// statPath is what is known of a path. The error is fsys.ErrTrap if the content was left out.
func statPath(ctx context.Context, a *exec.Attempt, args *spec.StatArgs) (map[string]any, error) {
	see := unix.Lstat
	if args.Follow {
		see = unix.Stat
	}
	var st unix.Stat_t
	err := see(args.Path, &st)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return map[string]any{"exists": false}, nil
	}
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: args.Path, Err: err}
	}
	m := statFields(args.Path, &st)
	m["exists"] = true
	for name, right := range map[string]uint32{"readable": unix.R_OK, "writeable": unix.W_OK, "executable": unix.X_OK} {
		// Asked of the kernel, which also knows access lists and read-only file systems.
		m[name] = unix.Access(args.Path, right) == nil
	}
	if m["islnk"] == true {
		if m["lnk_target"], err = os.Readlink(args.Path); err != nil {
			return nil, err
		}
		m["lnk_source"] = m["lnk_target"]
		// A link that leads nowhere has its text for both.
		if end, err := filepath.EvalSymlinks(args.Path); err == nil {
			m["lnk_source"] = end
		}
	}
	if args.GetMime {
		m["mimetype"], m["charset"] = mimeOf(m)
	}
	if args.GetAttributes && (m["isreg"] == true || m["isdir"] == true) {
		readFlags(m, &st, args.Path)
	}
	if m["isreg"] == true && m["readable"] == true {
		err = readContent(ctx, a, m, &st, args)
	}
	return m, err
}

// readFlags adds the attributes of the file system. As with Ansible, nothing is said of a file system that has none, of what may not be
// read, and of what a link leads to.
func readFlags(m map[string]any, st *unix.Stat_t, path string) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err != nil || !fsys.IsSame(info, st) {
		return
	}
	letters, names, version, err := fsys.FileFlags(f)
	if err != nil {
		return
	}
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = name
	}
	m["attr_flags"], m["attributes"], m["version"] = letters, list, strconv.FormatUint(uint64(version), 10)
}

// readContent adds what only reading the file tells: the one that was looked at, and no other that is there now.
func readContent(ctx context.Context, a *exec.Attempt, m map[string]any, st *unix.Stat_t, args *spec.StatArgs) error {
	if !args.GetChecksum && !args.GetMD5 && !args.GetMime {
		return nil
	}
	f, e, err := fsys.OpenLooked(args.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	// Between the two looks the path may have been given to another file.
	if !fsys.IsSame(e.Info, st) {
		return &fs.PathError{Op: "read", Path: args.Path, Err: fsys.ErrSwapped}
	}
	if args.GetMime && e.Size > 0 {
		if m["mimetype"], m["charset"], err = mimeType(ctx, a, f); err != nil {
			return err
		}
	}
	sums := map[string]string{}
	if args.GetMD5 {
		sums["md5"] = "md5"
	}
	if args.GetChecksum {
		sums["checksum"] = args.Algorithm
	}
	for name, algorithm := range sums {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if m[name], err = fsys.SumOf(ctx, f, algorithm); err != nil {
			return err
		}
	}
	return nil
}

// mimeOf is what needs no reading to be known.
func mimeOf(m map[string]any) (typ, charset string) {
	for name, typ := range map[string]string{
		"isdir": "inode/directory", "islnk": "inode/symlink", "isfifo": "inode/fifo", "issock": "inode/socket",
		"isblk": "inode/blockdevice", "ischr": "inode/chardevice",
	} {
		if m[name] == true {
			return typ, "binary"
		}
	}
	if m["size"] == 0 {
		return "inode/x-empty", "binary"
	}
	return "unknown", "unknown"
}

// mimeBytes is how much of a file the program file looks at.
const mimeBytes = 1 << 20

// mimeType is what the program file says that a file contains. It is given the file, and not its path, which may lead elsewhere by now.
func mimeType(ctx context.Context, a *exec.Attempt, f io.Reader) (typ, charset string, err error) {
	if !a.Installed("file") {
		return "unknown", "unknown", nil
	}
	data, err := io.ReadAll(io.LimitReader(f, mimeBytes))
	if err != nil {
		return "", "", err
	}
	text := string(data)
	said, err := a.AskTool(ctx, exec.Tool{Argv: []string{"file", "--brief", "--mime-type", "--mime-encoding", "-"}, Stdin: &text})
	if err != nil {
		return "", "", err
	}
	first, rest, both := strings.Cut(strings.TrimSpace(said.Stdout), "; charset=")
	if !both {
		return "unknown", "unknown", nil
	}
	return first, rest, nil
}

// statFields is what the system knows of an entry, under the names that playbooks use.
func statFields(path string, st *unix.Stat_t) map[string]any {
	kind := uint32(st.Mode) & unix.S_IFMT //nolint:unconvert // it is shorter on other systems
	bits := uint32(st.Mode) & 0o7777      //nolint:unconvert // likewise
	uid, gid := int(st.Uid), int(st.Gid)
	m := map[string]any{
		"path": path, "mode": fsys.Octal(bits), "uid": uid, "gid": gid, "pw_name": fsys.UserName(uid), "gr_name": fsys.GroupName(gid),
		"size": int(st.Size), "inode": int(st.Ino), "dev": int(st.Dev), "nlink": int(st.Nlink), "blocks": int(st.Blocks),
		"block_size": int(st.Blksize),
		"atime":      toSeconds(st.Atim), "mtime": toSeconds(st.Mtim), "ctime": toSeconds(st.Ctim),
	}
	for name, is := range map[string]uint32{
		"isreg": unix.S_IFREG, "isdir": unix.S_IFDIR, "islnk": unix.S_IFLNK, "isfifo": unix.S_IFIFO, "issock": unix.S_IFSOCK,
		"isblk": unix.S_IFBLK, "ischr": unix.S_IFCHR,
	} {
		m[name] = kind == is
	}
	for name, bit := range map[string]uint32{
		"rusr": 0o400, "wusr": 0o200, "xusr": 0o100, "rgrp": 0o40, "wgrp": 0o20, "xgrp": 0o10, "roth": 0o4, "woth": 0o2, "xoth": 0o1,
		"isuid": 0o4000, "isgid": 0o2000,
	} {
		m[name] = bits&bit != 0
	}
	return m
}

// toSeconds returns a time as playbooks reckon with it. Parts of a second below a microsecond are lost in the number.
func toSeconds(t unix.Timespec) float64 {
	s, ns := t.Unix()
	return float64(s) + float64(ns)/1e9
}

func fileSum(ctx context.Context, path, algorithm string) (string, error) {
	f, err := fsys.OpenRegular(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	return fsys.SumOf(ctx, f, algorithm)
}
