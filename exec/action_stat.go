package exec

import (
	"context"
	"crypto/md5"  // users may have nothing better to compare with
	"crypto/sha1" // likewise
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"moon/events"
	"moon/exec/spec"
)

var _ = act("stat", action{run: runStat, dry: dryStat, effect: events.ChangeNone})

func dryStat(ctx context.Context, a *attempt) Result {
	if r := a.changedMeanwhile(a.Args.(*spec.StatArgs).Path); r != nil {
		return *r
	}
	return runStat(ctx, a)
}

// hashes are the checksums that playbooks name.
var hashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
}

func runStat(ctx context.Context, a *attempt) Result {
	args := a.Args.(*spec.StatArgs)
	found, err := lookAt(ctx, args)
	if err != nil {
		return a.failure(ctx, err)
	}
	if args.GetMime && found["exists"] == true {
		found["mimetype"], found["charset"] = a.mime(ctx, args)
	}
	return Result{Outcome: events.OK, Fields: map[string]any{"stat": found}}
}

// mime is what the program file says that a file contains.
func (a *attempt) mime(ctx context.Context, args *spec.StatArgs) (typ, charset string) {
	typ, charset = "unknown", "unknown"
	if !a.installed("file") {
		return typ, charset
	}
	argv := []string{"file", "--brief", "--mime-type", "--mime-encoding"}
	if args.Follow {
		argv = append(argv, "--dereference")
	}
	said, err := a.ask(ctx, program(append(argv, "--", args.Path)...))
	if err != nil {
		return typ, charset
	}
	first, rest, both := strings.Cut(strings.TrimSpace(said.stdout), "; charset=")
	if !both {
		return typ, charset
	}
	return first, rest
}

func lookAt(ctx context.Context, args *spec.StatArgs) (map[string]any, error) {
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
		m[name] = unix.Access(args.Path, right) == nil
	}
	if m["islnk"] == true {
		if m["lnk_target"], err = os.Readlink(args.Path); err != nil {
			return nil, err
		}
		m["lnk_source"] = m["lnk_target"]
		if end, err := filepath.EvalSymlinks(args.Path); err == nil {
			m["lnk_source"] = end
		}
	}
	if m["isreg"] == true && m["readable"] == true && args.GetChecksum {
		if m["checksum"], err = fileSum(ctx, args.Path, args.Algorithm); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// statFields is what the system knows of an entry, under the names that playbooks use.
func statFields(path string, st *unix.Stat_t) map[string]any {
	kind := uint32(st.Mode) & unix.S_IFMT //nolint:unconvert // it is shorter on other systems
	bits := uint32(st.Mode) & 0o7777      //nolint:unconvert // likewise
	uid, gid := int(st.Uid), int(st.Gid)
	m := map[string]any{
		"path": path, "mode": octal(bits), "uid": uid, "gid": gid, "pw_name": userName(uid), "gr_name": groupName(gid),
		"size": int(st.Size), "inode": int(st.Ino), "dev": int(st.Dev), "nlink": int(st.Nlink), "blocks": int(st.Blocks), "block_size": int(st.Blksize),
		"atime": seconds(st.Atim), "mtime": seconds(st.Mtim), "ctime": seconds(st.Ctim),
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

// seconds is a time as playbooks reckon with it. Parts of a second below a microsecond are lost in the number.
func seconds(t unix.Timespec) float64 {
	s, ns := t.Unix()
	return float64(s) + float64(ns)/1e9
}

func fileSum(ctx context.Context, path, algorithm string) (string, error) {
	f, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	return sumOf(ctx, f, algorithm)
}

// sum is the hash of the file that is at the place.
func (p *place) sum(ctx context.Context, seen entry, algorithm string) (string, error) {
	f, err := p.open(seen)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	return sumOf(ctx, f, algorithm)
}

func sumOf(ctx context.Context, f io.Reader, algorithm string) (string, error) {
	h := hashes[algorithm]()
	buf := make([]byte, copySize)
	for {
		if stopped(ctx) != "" {
			return "", context.Cause(ctx)
		}
		n, err := f.Read(buf)
		_, _ = h.Write(buf[:n]) // a hash does not fail
		switch {
		case ended(err):
			return hex.EncodeToString(h.Sum(nil)), nil
		case err != nil:
			return "", err
		}
	}
}
