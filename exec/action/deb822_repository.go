package action

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("deb822_repository", exec.Action{Plan: planDeb822Repository})

// aptKeyrings is where the keys of single sources are.
const aptKeyrings = "/etc/apt/keyrings"

func planDeb822Repository(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.Deb822RepositoryArgs)
	dest := filepath.Join(aptSourcesDir, args.Slug+".sources")
	c := &exec.Change{Fields: map[string]any{"repo": nil, "dest": dest, "key_filename": nil}}
	c.PlanNothing()
	if args.State == fsys.Absent {
		for _, file := range []string{dest, keyring(args, "asc"), keyring(args, "gpg")} {
			c.Fields["key_filename"] = file
			planRemoval(a, c, file)
		}
		return c, nil
	}
	signed := args.SignedBy
	switch {
	case strings.Contains(signed, "://") && !strings.Contains(signed, "\n"):
		key, err := fetchKey(ctx, a, signed, true)
		if err != nil {
			return nil, err
		}
		signed = keyring(args, "gpg")
		if strings.Contains(key, "-----BEGIN PGP PUBLIC KEY BLOCK-----") {
			signed = keyring(args, "asc")
		}
		mode, err := spec.ParseMode("0644") // apt reads it as another user
		if err != nil {
			return nil, err
		}
		if err := addContent(ctx, a, c, signed, key, mode); err != nil {
			c.Close()
			return nil, err
		}
		c.Fields["key_filename"] = signed
	case strings.HasPrefix(signed, "/") && !isMissing(a, signed):
		c.Fields["key_filename"] = signed
	}
	text := args.Text(signed)
	uris := strings.Join(args.URIs, " ")
	c.Hidden = exec.ShownURLs(uris) != uris // a password must not be recorded, nor a digest that lets others try it out
	c.Fields["repo"] = text
	if err := addContent(ctx, a, c, dest, text, args.Mode); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// keyring is the file of a key that is downloaded.
func keyring(args *spec.Deb822RepositoryArgs, ext string) string {
	return filepath.Join(aptKeyrings, args.Slug+"."+ext)
}

// addContent adds to a change that a file gets this content.
func addContent(ctx context.Context, a *exec.Attempt, c *exec.Change, path, text string, mode spec.Mode) error {
	e := edit{path: path, mode: mode, create: true, parents: true}
	one, err := planEdit(ctx, a, e, func(string) (string, string) { return text, "" })
	if err != nil {
		return err
	}
	if one.Result != nil {
		c.Result = one.Result
	}
	addChange(c, one)
	return nil
}

// planRemoval adds the removal of a file to a change.
func planRemoval(a *exec.Attempt, c *exec.Change, path string) {
	if isMissing(a, path) {
		return
	}
	c.AddFile(events.ChangeDelete, path)
	c.AddPrediction(func(f *fsys.Overlay) { f.Put(path, fsys.Nothing) })
	planAfter(c, events.ChangeDelete, func(context.Context) error { return os.Remove(path) }, path+" removed")
}
