package action

import (
	"bufio"
	"context"
	"crypto/sha1" // it is what plays compare
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/digest"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("get_url", exec.Action{Plan: planGetURL, Served: true})

// getting is a download on its way to its place.
type getting struct {
	*exec.Attempt
	download
	args  *spec.GetURLArgs
	attrs fsys.Attributes
	c     *exec.Change
	inDir bool // dest is a directory
}

// planGetURL asks the server only if it must: for a file that is not there, whose checksum is another one, or that shall be
// replaced in any case. What is small is loaded, so that the prediction is exact; of what is large only the size is
// asked for.
func planGetURL(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.GetURLArgs)
	attrs, err := a.Overlay.NewAttributes(args.Mode, args.Owner, args.Group, args.FileAttributes)
	if err != nil {
		return nil, err
	}
	there, err := a.Overlay.Stat(args.Dest)
	g := getting{
		Attempt: a, args: args, attrs: attrs, c: &exec.Change{Fields: map[string]any{"url": hidePassword(args.URL), "dest": args.Dest}},
		inDir: strings.HasSuffix(args.Dest, "/") || err == nil && there.Kind == fsys.Directory,
		download: download{
			request: request{method: "GET", url: args.URL, timeout: args.Timeout, args: &args.HTTPArgs, env: a.Getenv},
			path:    args.Dest, algorithm: args.Algorithm, digits: args.Digits,
		},
	}
	if err := g.planDownload(ctx); err != nil {
		g.c.Close()
		return nil, g.explainFailure(err)
	}
	return g.c, nil
}

// explainFailure adds to an error what plays ask of a download that came to nothing.
func (g *getting) explainFailure(err error) error {
	fields := map[string]any{"url": hidePassword(g.args.URL), "dest": g.args.Dest}
	if e, ok := errors.AsType[fault.NotYet](err); ok && e.Status != 0 {
		fields["status_code"], fields["response"] = e.Status, fmt.Sprintf("HTTP Error %d: %s", e.Status, http.StatusText(e.Status))
	}
	return fault.WithFields{Err: err, Fields: fields}
}

func (g *getting) planDownload(ctx context.Context) error {
	if g.args.Sums != "" {
		if err := g.lookUp(ctx); err != nil {
			return err
		}
	}
	if g.inDir {
		return g.intoDir(ctx)
	}
	at, is, err := g.openDest(g.args.Dest)
	if err != nil {
		return err
	}
	if is.Kind == fsys.Directory || is.Kind == fsys.Other {
		return fmt.Errorf("%s is %s", at.Path, is.What())
	}
	if done, err := g.isThere(ctx, at, is); done || err != nil {
		return err
	}
	p, err := g.peekAt(ctx)
	if err != nil {
		return err
	}
	return g.compareContent(ctx, p, at, is)
}

// intoDir asks for the download's name first.
func (g *getting) intoDir(ctx context.Context) error {
	// With the date of what is there the server can answer that nothing has changed.
	if u, err := url.Parse(g.args.URL); err == nil && !g.args.Force {
		if is, err := g.Overlay.Stat(filepath.Join(g.args.Dest, nameIn(u))); err == nil && is.Kind == fsys.Regular && is.Info != nil {
			g.since = is.Info.ModTime()
		}
	}
	p, err := g.peekAt(ctx)
	if err != nil {
		return err
	}
	at, is, err := g.openDest(filepath.Join(g.args.Dest, p.name))
	if err != nil {
		return err
	}
	g.c.Fields["dest"] = at.Path
	return g.compareContent(ctx, p, at, is)
}

func (g *getting) openDest(path string) (*fsys.Anchored, fsys.Entry, error) {
	at, err := g.Overlay.OpenPlace(path)
	if err != nil {
		return nil, fsys.Entry{}, err
	}
	g.c.Places = append(g.c.Places, at)
	g.c.Result, g.c.Diff.Path = at, at.Path
	is, err := at.Look()
	return at, is, err
}

// isThere reports whether what is there will do, and then plans its attributes.
func (g *getting) isThere(ctx context.Context, at *fsys.Anchored, is fsys.Entry) (bool, error) {
	if g.args.Force || is.Kind == fsys.Absent {
		return false, nil
	}
	if is.Kind == fsys.Link {
		if _, err := g.Overlay.Stat(at.Path); errors.Is(err, fs.ErrNotExist) {
			return false, nil // it leads to nothing, so the file is not there
		}
	}
	// Without a checksum any file will do, unless `force` asks for the server's.
	if g.algorithm == "" {
		return true, g.attributesOnly(at, is)
	}
	if is.Kind == fsys.Link {
		return false, nil
	}
	sum, err := at.Sum(ctx, is, g.algorithm)
	if err != nil || sum != g.digits {
		return false, err
	}
	return true, g.attributesOnly(at, is)
}

func (g *getting) attributesOnly(at *fsys.Anchored, is fsys.Entry) error {
	g.c.Fields["msg"] = "file already exists"
	if w, words := g.attrs.For(is); len(words) > 0 {
		g.c.AddPrediction(func(f *fsys.Overlay) { f.Own(at.Path, is, w) })
		g.c.Plan(events.ChangeUpdate, func(context.Context) error { return at.PathError(w.Set(at.Dir, at.Name, is)) }, words...)
		return nil
	}
	g.c.PlanNothing()
	return nil
}

// compareContent plans to put the download in its place.
func (g *getting) compareContent(ctx context.Context, p *peeked, at *fsys.Anchored, is fsys.Entry) error {
	maps.Copy(g.c.Fields, map[string]any{"url": p.url, "status_code": p.status, "elapsed": int(p.elapsed.Seconds())})
	if p.same {
		return g.attributesOnly(at, is)
	}
	g.c.Fields["msg"] = "OK (unknown bytes)"
	if p.size >= 0 {
		g.c.Fields["msg"] = fmt.Sprintf("OK (%d bytes)", p.size)
	}
	g.c.Fields["checksum_dest"] = nil
	if is.Kind == fsys.Regular {
		if sum, err := at.Sum(ctx, is, "sha1"); err == nil {
			g.c.Fields["checksum_dest"] = sum
		}
	}
	t := target{at: at, is: is, attrs: g.attrs, force: true, backup: g.args.Backup}
	if p.data != nil {
		t.from = fsys.Source{Data: p.data, Size: p.size}
		sum := sha1.Sum(p.data)
		g.c.Fields["checksum_src"] = hex.EncodeToString(sum[:])
		_, err := t.planWrite(ctx, g.Attempt, g.c)
		return err
	}
	// A size beyond the limit keeps the diff from asking for content that is not loaded yet.
	t.from.Size = max(p.size, fsys.DiffLimit+1)
	return g.planLarge(t, p.size)
}

// planLarge plans a download that is loaded only when it is to take its place.
func (g *getting) planLarge(t target, n int64) error {
	w, words := t.attrs.ForNew(fsys.Regular)
	amount := "large"
	if n >= 0 {
		amount = fsys.FormatSize(n)
	}
	kind := events.ChangeCreate
	switch t.is.Kind {
	case fsys.Absent:
		words = append([]string{"new file, " + amount}, words...)
	case fsys.Link:
		kind, words = events.ChangeUpdate, append([]string{"link to " + t.is.Target + " → file, " + amount}, words...)
	case fsys.Regular:
		w, words = t.attrs.For(t.is)
		words = append([]string{fmt.Sprintf("content, %s → %s", fsys.FormatSize(t.is.Size), amount)}, words...)
		kind = events.ChangeUpdate
		// The same size may be the same file. Only the run can say, since it has both.
		if g.algorithm == "" && (n < 0 || n == t.is.Size) {
			kind, words = events.ChangeUnknown, []string{"would be downloaded and compared, " + amount}
		}
	default:
		return fmt.Errorf("%s is %s", t.at.Path, t.is.What())
	}
	// there, but nobody can look into it
	g.c.AddPrediction(func(f *fsys.Overlay) { f.Put(t.at.Path, fsys.Predicted{Entry: w.Entry(fsys.Other)}) })
	g.c.Plan(kind, func(ctx context.Context) error { return g.putContent(ctx, t, w) }, words...)
	return nil
}

// putContent loads the download into its place, unless it is there already.
func (g *getting) putContent(ctx context.Context, t target, w fsys.Wanted) error {
	start := time.Now()
	t.from.Stream = func() (io.ReadCloser, error) { return g.openSource(ctx, t) }
	err := t.replaceFile(g.Attempt, g.c, w)(ctx)
	g.c.Fields["elapsed"] = int(time.Since(start).Seconds())
	// What came was equal, so the replacement has ended itself; the attributes are left to do.
	if errors.Is(err, fsys.ErrSame) {
		if err := g.attributesOnly(t.at, t.is); err != nil || g.c.Diff.Kind == events.ChangeNone {
			return err
		}
		return g.c.Apply(ctx)
	}
	if err == nil && g.c.Diff.Kind == events.ChangeUnknown {
		g.c.Diff.Kind, g.c.Diff.Summary = events.ChangeUpdate, "content"
	}
	if sum, ok := g.c.Fields["checksum"]; ok {
		g.c.Fields["checksum_src"] = sum
	}
	return err
}

// openSource returns the content, from where it is kept if that is not beside dest.
func (g *getting) openSource(ctx context.Context, t target) (content io.ReadCloser, err error) {
	if g.args.TmpDest != "" {
		content, err = g.loadUnnamed(ctx, g.args.TmpDest)
	} else {
		content, err = g.streamBody(ctx)
	}
	if err != nil || g.c.Diff.Kind != events.ChangeUnknown {
		return content, err
	}
	// Both are read side by side while the new one is written, and the writing ends if they do not differ.
	there, err := t.at.OpenFile(t.is)
	if err != nil {
		return nil, errors.Join(err, content.Close())
	}
	return &fsys.Comparing{ReadCloser: content, With: there}, nil
}

// lookUp finds the checksum in the file that the playbook names.
func (g *getting) lookUp(ctx context.Context) error {
	sums := g.download
	// The list itself has no checksum to be held against.
	sums.url, sums.algorithm = g.args.Sums, ""
	p, err := sums.peekAt(ctx)
	switch {
	case err != nil:
		return err
	case p.data == nil:
		return fmt.Errorf("checksum: %s is too large for a list of checksums", hidePassword(g.args.Sums))
	}
	u, err := url.Parse(g.args.URL)
	if err != nil {
		return err
	}
	if g.digits = digitsIn(string(p.data), nameIn(u), g.algorithm); g.digits == "" {
		return fmt.Errorf("checksum: %s has no %s of %s", hidePassword(g.args.Sums), g.algorithm, nameIn(u))
	}
	return nil
}

// digitsIn finds the digits that go with a name: in lines as sha256sum writes them, or as BSD's programs do, or the only
// ones there are.
func digitsIn(list, name, algorithm string) string {
	var alone []string
	for s := bufio.NewScanner(strings.NewReader(list)); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		digits, file, named := strings.Cut(line, " ")
		// BSD's programs write: SHA256 (name) = digits
		if before, after, bsd := strings.Cut(line, ") = "); bsd {
			_, file, named = strings.Cut(before, " (")
			digits = after
		}
		got, digits, err := digest.Checksum(digits)
		if err != nil || got != algorithm {
			continue
		}
		// An asterisk marks a file that was read as binary.
		file = strings.TrimLeft(file, " *")
		switch {
		case !named:
			alone = append(alone, digits)
		case filepath.Base(file) == name:
			return digits
		}
	}
	if len(alone) == 1 {
		return alone[0]
	}
	return ""
}
