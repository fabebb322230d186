package action

import (
	"context"
	"crypto/sha1" // as playbooks compare with it
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("fetch", exec.Action{Plan: planFetch})

// NewDepot is where a job's file goes; nil if it fetches none. Close removes what was not put there to the end.
func NewDepot(job *exec.Job) *OwnDepot {
	args, ok := job.Args.(*spec.FetchArgs)
	if !ok {
		return nil
	}
	host := "localhost"
	switch {
	case job.HostName != "":
		host = job.HostName
	case job.Host != nil:
		host = job.Host.Name
	}
	d := &OwnDepot{args: args, host: host}
	d.at(args.Src)
	return d
}

// at says where a file goes. Whatever it is called, it stays below the directory of its host.
func (d *OwnDepot) at(src string) {
	d.path = filepath.Join(d.args.Dest, asDirectory(d.host), filepath.Clean("/"+src))
	if d.args.Flat {
		d.path = filepath.Clean(d.args.Dest)
		if strings.HasSuffix(d.args.Dest, "/") {
			d.path = filepath.Join(d.args.Dest, filepath.Base(src))
		}
	}
}

// asDirectory is the name of a host as that of one directory: an inventory may call a host ../../x.
func asDirectory(host string) string {
	host = strings.NewReplacer("/", "_", "\x00", "_").Replace(host)
	if host == "." || host == ".." {
		return strings.ReplaceAll(host, ".", "_")
	}
	return host
}

// OwnDepot is a depot on this machine.
type OwnDepot struct {
	args *spec.FetchArgs
	host string
	path string
	temp *os.File
}

// Sum reads what is there. Of a file in a home only the host of the step knows the whole path.
func (d *OwnDepot) Sum(src string) (path, sum string, err error) {
	if strings.HasPrefix(d.args.Src, "~") {
		d.at(src)
	}
	// SHA-1 is what Ansible's fetch registers.
	sum, err = fileSum(context.Background(), d.path, "sha1")
	if errors.Is(err, fs.ErrNotExist) {
		return d.path, "", nil
	}
	return d.path, sum, err
}

// Put writes beside the file, and takes its place at the end.
func (d *OwnDepot) Put(piece []byte, last bool) error {
	if d.temp == nil {
		dir := filepath.Dir(d.path)
		if err := os.MkdirAll(dir, 0o755); err != nil { // as any directory that is made for a file
			return err
		}
		f, err := os.CreateTemp(dir, ".moon-fetch-")
		if err != nil {
			return err
		}
		d.temp = f
	}
	if _, err := d.temp.Write(piece); err != nil {
		return err
	}
	if !last {
		return nil
	}
	f := d.temp
	// On the disk before it has the name: after a loss of power the old file is there, or the whole new one.
	err := errors.Join(f.Chmod(fs.FileMode(0o644&^fsys.Umask())), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), d.path)
	}
	if err == nil {
		d.temp = nil
	}
	return err
}

// Close removes what was left halfway.
func (d *OwnDepot) Close() {
	if d != nil && d.temp != nil {
		_ = d.temp.Close()           // it is not used
		_ = os.Remove(d.temp.Name()) // it is in the way of nobody
	}
}

func planFetch(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.FetchArgs)
	c := &exec.Change{Fields: map[string]any{"src": args.Src}}
	depot := a.To
	if depot == nil {
		own := NewDepot(a.Job)
		c.Unlock = own.Close
		depot = own
	}
	if err := planFetchFile(ctx, c, a, args, depot); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func planFetchFile(ctx context.Context, c *exec.Change, a *exec.Attempt, args *spec.FetchArgs, depot exec.Depot) error {
	p, is, err := a.Overlay.Followed(args.Src)
	if err != nil && !errors.As(err, new(fault.NotYet)) {
		return err
	}
	if err != nil || is.Kind == fsys.Absent {
		if p != nil {
			p.Close()
		}
		if args.Fail {
			return fault.Missing(args.Src, "the remote file does not exist: %s", args.Src)
		}
		c.Fields["msg"] = "the remote file does not exist, not transferring, ignored"
		c.PlanNothing()
		return nil
	}
	c.Places = append(c.Places, p)
	if is.Kind != fsys.Regular {
		return fmt.Errorf("%s is %s; fetch takes files", args.Src, is.What())
	}
	sum, err := p.Sum(ctx, is, "sha1")
	if err != nil {
		return err
	}
	path, has, err := depot.Sum(args.Src)
	if err != nil {
		return err
	}
	c.Diff.Path = path
	c.Fields["dest"], c.Fields["checksum"], c.Fields["remote_checksum"] = path, sum, sum
	kind, words := events.ChangeCreate, "new file, "+fsys.FormatSize(is.Size)
	switch has {
	case sum:
		c.PlanNothing()
		return nil
	case "":
	default:
		kind, words = events.ChangeUpdate, "content, "+fsys.FormatSize(is.Size)
	}
	if err := recordFetched(c, a, kind, path); err != nil {
		return err
	}
	c.Plan(kind, func(ctx context.Context) error {
		in, err := p.Open(is)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }() // it was only read
		got, err := putFile(ctx, in, depot)
		// The file was not locked: it may have changed since its checksum was taken.
		if err == nil && got != sum && args.Validate {
			err = fmt.Errorf("%s has changed while it was fetched", args.Src)
		}
		c.Fields["checksum"], c.Fields["remote_checksum"] = got, got
		return err
	}, words)
	return nil
}

// recordFetched notes the file, and the directories that are made for it. One that comes from another host is on the controller, where a
// step of that host could not remove it: it is recorded as what it is there, and stays.
func recordFetched(c *exec.Change, a *exec.Attempt, kind events.ChangeKind, path string) error {
	if a.To != nil {
		c.AddResource(kind, "fetched", path)
		return nil
	}
	if kind == events.ChangeCreate {
		if err := addMissingDirs(c, filepath.Dir(path)); err != nil {
			return err
		}
	}
	c.AddFile(kind, path)
	return nil
}

// addMissingDirs notes the directories that will be made for a file.
func addMissingDirs(c *exec.Change, dir string) error {
	if isPresent(dir) {
		return nil
	}
	at, err := (*fsys.Overlay)(nil).OpenAbove(dir)
	if err != nil {
		return err
	}
	defer at.Close()
	c.AddDirs(at)
	return nil
}

// putFile hands a file over piece by piece, and returns the SHA-1 of what was sent.
func putFile(ctx context.Context, in io.Reader, depot exec.Depot) (sum string, err error) {
	h := sha1.New()
	piece := make([]byte, fsys.CopySize)
	for {
		if fault.Stopped(ctx) != "" {
			return "", context.Cause(ctx)
		}
		n, err := io.ReadFull(in, piece)
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return "", err
		}
		h.Write(piece[:n])
		if err := depot.Put(piece[:n], last); err != nil {
			return "", err
		}
		if last {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
	}
}
