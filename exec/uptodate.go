package exec

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"moon/events"
	"moon/exec/fault"
	"moon/exec/fsys"
)

// upToDate decides whether an incremental step need not run. The digest is that to record when it has ended well.
func (a *Attempt) upToDate(ctx context.Context) (digest string, end *Result) {
	inc := a.Incremental
	if inc == nil {
		return "", nil
	}
	digest, err := a.sources(ctx)
	if err != nil {
		return "", a.because(ctx, "sources", err)
	}
	missing := ""
	for _, pattern := range inc.Generates {
		found, err := matches(pattern)
		if err != nil {
			return "", a.because(ctx, "generates", err)
		}
		if len(found) == 0 {
			missing = pattern
			break
		}
	}
	if digest == inc.Recorded && missing == "" && !inc.Force {
		return digest, SkipFor(events.SkipUpToDate, "sources unchanged")
	}
	return digest, nil
}

// because is the end of a step whose key has an error.
func (a *Attempt) because(ctx context.Context, key string, err error) *Result {
	r := a.Failure(ctx, err)
	if r.Outcome == events.Failed {
		r.Error = key + ": " + r.Error
	}
	return &r
}

// sources is the digest over what a step is made from.
func (a *Attempt) sources(ctx context.Context) (string, error) {
	h := sha256.New()
	// Lengths in front keep two different lists of parts from having the same digest.
	part := func(name, text string) { fmt.Fprintf(h, "%s %d %s\n", name, len(text), text) }
	part("action", a.Action)
	if a.Incremental.Identity != "" {
		part("step", a.Incremental.Identity)
	} else {
		raw, err := json.Marshal(a.Raw) // keys are sorted
		if err != nil {
			return "", err
		}
		part("arguments", a.Secrets.Redact(string(raw))) // nobody shall try out by the digest what they are
	}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		part("env "+name, a.Secrets.Redact(a.Env[name]))
	}
	part("cwd", a.Cwd)
	var files []string
	for _, pattern := range a.Incremental.Sources {
		found, err := matches(pattern)
		if err != nil {
			return "", err
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	// The same file under two patterns counts once.
	for _, file := range slices.Compact(files) {
		if fault.Stopped(ctx) != "" {
			return "", context.Cause(ctx)
		}
		part("file", file)
		if err := digestFile(h, file); err != nil {
			return "", err
		}
	}
	for _, pattern := range a.Incremental.Generates {
		part("generates", pattern)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// matches are the files a pattern stands for, without directories. A link is what it leads to.
func matches(pattern string) ([]string, error) {
	return doublestar.FilepathGlob(pattern, doublestar.WithFilesOnly(), doublestar.WithFailOnIOErrors())
}

func digestFile(h hash.Hash, path string) error {
	f, err := fsys.OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	own := sha256.New()
	if _, err := io.Copy(own, f); err != nil {
		return err
	}
	// The digest of each file has a fixed length, so file and name cannot run together.
	_, err = h.Write(own.Sum(nil))
	return err
}
