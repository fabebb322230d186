package fsys

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"moon/exec/digest"
	"moon/exec/fault"
	"moon/internal/pattern"
)

// Digest is the digest of what was seen at the place. A file's is a checksum by the algorithm; "": SHA-1.
func (p *Anchored) Digest(ctx context.Context, seen Entry, algorithm string) (string, error) {
	switch seen.Kind {
	case Regular:
		if algorithm == "" {
			algorithm = "sha1"
		}
		return p.Sum(ctx, seen, algorithm)
	case Link:
		return digest.Link + seen.Target, nil
	case Directory:
		return p.treeDigest(ctx)
	}
	return "", &fs.PathError{Op: "digest", Path: p.Path, Err: errors.New("is " + seen.What())}
}

// Stamp tells a file that nobody has written to without saying anything of its content.
func Stamp(seen Entry) string {
	if seen.Info == nil {
		return ""
	}
	return fmt.Sprintf("%s%d-%d", digest.Stamp, seen.Size, seen.Info.ModTime().UnixNano())
}

var pipKeeps = pattern.New(`^/(bin|include|lib|lib64|share)(/|$)`)

// treeDigest is over the names, the contents of files and the targets of links below a directory. Modes, owners and times are not part of
// it: nobody loses anything with them.
func (p *Anchored) treeDigest(ctx context.Context) (string, error) {
	h := sha256.New()
	// What pip keeps in an environment can be had again, and changes with every package.
	config := Anchored{Path: p.Path + "/pyvenv.cfg", Name: p.Name + "/pyvenv.cfg", Dir: p.Dir, Overlay: p.Overlay}
	kind := digest.Tree
	if e, err := config.Look(); err == nil && e.Kind == Regular {
		kind = digest.Venv
	}
	err := p.Walk(func(name string, e Entry) error {
		if fault.Stopped(ctx) != "" {
			return context.Cause(ctx)
		}
		// The names below are those of the walk, so that the digest does not depend on where the tree is.
		below := strings.TrimPrefix(name, p.Name)
		what := ""
		if kind == digest.Venv && pipKeeps.MatchString(below) {
			return nil
		}
		switch e.Kind {
		case Regular, Link:
			at := Anchored{Path: p.Path + below, Name: name, Dir: p.Dir, Overlay: p.Overlay}
			is, err := at.Look() // with the target of a link
			if err == nil {
				what, err = at.Digest(ctx, is, "sha256")
			}
			if err != nil {
				return err
			}
		}
		_, _ = fmt.Fprintf(h, "%q %s %q\n", below, e.Kind, what) // a hash does not fail
		return nil
	})
	if err != nil {
		return "", p.PathError(err)
	}
	return kind + hex.EncodeToString(h.Sum(nil)), nil
}
