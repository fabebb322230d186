package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// scratch makes an empty directory for what is unpacked. All of them are removed at the end.
func (i *Installer) scratch() (string, error) {
	if i.temp == "" {
		dir, err := os.MkdirTemp("", "moon-install-")
		if err != nil {
			return "", err
		}
		i.temp = dir
	}
	return os.MkdirTemp(i.temp, "")
}

// fetch gets the files of a release, and what they say of it.
func (i *Installer) fetch(ctx context.Context, r *Release) error {
	if r.tree != "" {
		return nil
	}
	err := i.fetchTree(ctx, r)
	if err != nil {
		return fmt.Errorf("%s cannot be had from %s: %w", r, r.Source, err)
	}
	r.Digest, err = digestTree(r.tree)
	return err
}

func (i *Installer) fetchTree(ctx context.Context, r *Release) error {
	dir, err := i.scratch()
	if err != nil {
		return err
	}
	switch r.Origin {
	case FromServer:
		return i.fetchFromServer(ctx, r, dir)
	case FromURL:
		return i.download(ctx, &Server{URL: r.Source}, r, r.Source, "", dir)
	case FromFile:
		f, err := os.Open(r.Source)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		if err := unpack(ctx, f, dir); err != nil {
			return err
		}
		return r.takeArchive(dir)
	case FromGit:
		clone, err := i.scratch()
		if err != nil {
			return err
		}
		if err := i.clone(ctx, r, clone); err != nil {
			return err
		}
		return r.takeDirectory(filepath.Join(clone, filepath.FromSlash(r.Folder)), dir)
	default:
		return r.takeDirectory(r.Source, dir)
	}
}

func (i *Installer) fetchFromServer(ctx context.Context, r *Release, dir string) error {
	server := r.server
	if server == nil {
		if server = i.serverAt(r.Source); server == nil {
			server = &Server{URL: r.Source}
			i.Servers = append(i.Servers, server)
		}
	}
	if err := server.begin(ctx); err != nil {
		return err
	}
	if r.Kind == Collection {
		a, err := server.collection(ctx, r.Name, r.Version)
		if err != nil {
			return err
		}
		return i.download(ctx, server, r, a.url, a.sha256, dir)
	}
	versions, archive, _, err := server.role(ctx, r.Wanted)
	if err != nil {
		return err
	}
	address := archive(r.Version)
	for _, v := range versions {
		if v.Name != r.Version {
			continue
		}
		if v.Download != "" {
			address = v.Download
		} else if v.Source != "" {
			address = v.Source
		}
	}
	return i.download(ctx, server, r, address, "", dir)
}

// download gets an archive, which must have the digest if that is known, and unpacks it.
func (i *Installer) download(ctx context.Context, server *Server, r *Release, address, digest, dir string) error {
	resp, err := server.open(ctx, "GET", address, nil)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	f, err := os.CreateTemp(i.temp, "archive-")
	if err != nil {
		return err
	}
	defer func() { _ = f.Close(); _ = os.Remove(f.Name()) }()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, h), io.LimitReader(resp.Body, archiveLimit+1))
	switch {
	case err != nil:
		return err
	case n > archiveLimit:
		return fmt.Errorf("the archive has more than %d GiB", archiveLimit>>30)
	}
	if got := hex.EncodeToString(h.Sum(nil)); digest != "" && got != digest {
		return fmt.Errorf("%s has the SHA-256 %s, and the server says %s: it is damaged", address, got, digest)
	}
	if err := unpack(ctx, f, dir); err != nil {
		return err
	}
	return r.takeArchive(dir)
}

// takeArchive takes over an unpacked archive.
func (r *Release) takeArchive(dir string) error {
	if r.Kind == Role {
		root, err := roleRoot(dir)
		if err != nil {
			return err
		}
		return r.take(root)
	}
	m, err := readManifest(dir)
	if err != nil {
		return err
	}
	if err := m.checkFiles(dir); err != nil {
		return err
	}
	return r.take(dir)
}

// takeDirectory makes a directory of sources what is installed, in an empty directory.
func (r *Release) takeDirectory(from, to string) error {
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return fmt.Errorf("directory %s does not exist", from)
	}
	if r.Kind == Collection {
		if err := buildCollection(from, to); err != nil {
			return err
		}
		return r.take(to)
	}
	if err := copyTree(from, to, func(string) bool { return false }); err != nil {
		return err
	}
	if _, err := roleRoot(to); err != nil {
		return err
	}
	return r.take(to)
}

// roleRoot is the directory of an unpacked archive that is the role: the one with a meta/main.yml that lies highest.
func roleRoot(dir string) (root string, err error) {
	err = walkTree(dir, func(name string, info fs.FileInfo) error {
		base := path.Base(name)
		if path.Base(path.Dir(name)) != "meta" || base != "main.yml" && base != "main.yaml" {
			return nil
		}
		above := path.Dir(path.Dir(name))
		if at := filepath.Join(dir, above); root == "" || strings.Count(at, "/") < strings.Count(root, "/") {
			root = at
		}
		return nil
	})
	if err == nil && root == "" {
		err = errors.New("it is not a role: it has no meta/main.yml")
	}
	return root, err
}

// clone gets a repository as it is at what was asked for, or at what the lock file says that was.
func (i *Installer) clone(ctx context.Context, r *Release, dir string) error {
	git := func(args ...string) (string, error) {
		var out, errs strings.Builder
		// ext:: names a program, which a file of requirements must not start.
		argv := append([]string{"git", "-c", "protocol.ext.allow=never", "-c", "advice.detachedHead=false"}, args...)
		if failed := i.Ask.Output(ctx, argv, dir, "", &out, &errs); failed != "" {
			return "", fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(errs.String()+"\n"+failed))
		}
		return strings.TrimSpace(out.String()), nil
	}
	if _, err := git("clone", "--quiet", "--no-checkout", "--", r.Source, "."); err != nil {
		return err
	}
	at := r.Commit
	if at == "" {
		at = r.Wanted
	}
	if at == "" || at == "*" {
		at = "HEAD"
	}
	commit := ""
	for _, name := range []string{"refs/remotes/origin/" + at, "refs/tags/" + at, at} { // a branch is where the server has it
		if found, err := git("rev-parse", "--quiet", "--verify", "--end-of-options", name+"^{commit}"); err == nil {
			commit = found
			break
		}
	}
	if commit == "" {
		return fmt.Errorf("it has no branch, tag or commit %s", at)
	}
	r.Commit = commit
	if _, err := git("checkout", "--quiet", "--force", commit); err != nil {
		return err
	}
	_, err := git("submodule", "update", "--quiet", "--init", "--recursive")
	return err
}
