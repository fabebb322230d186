package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
	"moon/internal/pattern"
)

// Where Launchpad says which key signs a PPA, and where that key is. Ansible asks the same servers.
const (
	launchpadArchive = "https://api.launchpad.net/1.0/~%s/+archive/%s"
	launchpadKey     = "https://keyserver.ubuntu.com/pks/lookup?op=get&options=mr&search=0x%s"
)

// aptTrusted is where apt has keys that it trusts for every source.
const aptTrusted = "/etc/apt/trusted.gpg.d"

var releaseCodename = pattern.New(`(?m)^(?:VERSION|UBUNTU)_CODENAME="?([^"\n]+)"?$`)

// lineOfPPA makes the source of a PPA for the release of this host, unless the step names one.
func lineOfPPA(args *spec.AptRepositoryArgs) (own *spec.AptRepositoryArgs, written string, err error) {
	copied := *args
	if copied.Codename == "" {
		text, err := os.ReadFile("/etc/os-release")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
		m := releaseCodename.FindSubmatch(text)
		if m == nil {
			return nil, "", errors.New("the host does not say which release it is; give the codename of one of Ubuntu, such as jammy")
		}
		copied.Codename = string(m[1])
	}
	written = copied.SetLine(copied.Codename)
	return &copied, written, nil
}

// planPPAKey adds to a change the key that signs a PPA, unless apt trusts it already. It returns the file that gets the key.
func planPPAKey(ctx context.Context, c *exec.Change, a *exec.Attempt, args *spec.AptRepositoryArgs) (file string, err error) {
	if err := lacksTool(a, "gpg", "gnupg"); err != nil {
		return "", err
	}
	print, err := signerOf(ctx, a, args)
	if err != nil {
		return "", err
	}
	switch trusted, err := trusts(ctx, a, print); {
	case err != nil:
		return "", err
	case trusted:
		return "", nil
	}
	armored, err := fetchKey(ctx, a, fmt.Sprintf(launchpadKey, print), args.Validate)
	if err != nil {
		return "", fmt.Errorf("the key of %s cannot be fetched: %w", args.Repo, err)
	}
	key, err := exportKey(ctx, a, armored, print)
	if err != nil {
		return "", fmt.Errorf("the key of %s: %w", args.Repo, err)
	}
	mode, err := spec.ParseMode("0644") // apt reads it as another user
	if err != nil {
		return "", err
	}
	// The name that Ansible gives it where there is no apt-key.
	file = filepath.Join(aptTrusted, "ubuntu-"+args.Codename+"-main-"+args.Owner+"-"+args.PPA+".gpg")
	err = addContent(ctx, a, c, file, key, mode)
	c.Result = nil // it is not what the step is about
	return file, err
}

var fingerprintOf = pattern.New(`^[0-9A-Fa-f]{40}$`)

// signerOf asks Launchpad for the fingerprint of the key that signs a PPA.
func signerOf(ctx context.Context, a *exec.Attempt, args *spec.AptRepositoryArgs) (string, error) {
	text, err := fetchKey(ctx, a, fmt.Sprintf(launchpadArchive, args.Owner, args.PPA), args.Validate)
	if err != nil {
		return "", fmt.Errorf("launchpad does not say who signs %s: %w", args.Repo, err)
	}
	var archive struct {
		Fingerprint string `json:"signing_key_fingerprint"`
	}
	if err := json.Unmarshal([]byte(text), &archive); err != nil || !fingerprintOf.MatchString(archive.Fingerprint) {
		return "", fault.CommandError{
			Message: "launchpad does not say who signs " + args.Repo + ": its answer has no fingerprint of a key", Class: fault.Fatal,
		}
	}
	return strings.ToUpper(archive.Fingerprint), nil
}

// trusts reports whether apt has a key already.
func trusts(ctx context.Context, a *exec.Attempt, print string) (bool, error) {
	files, _ := filepath.Glob(aptTrusted + "/*.[ga][ps][gc]") // the pattern is well formed
	for _, file := range append([]string{"/etc/apt/trusted.gpg"}, files...) {
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, err
		}
		// What is not a key is apt's to complain of.
		if there, err := listKeys(ctx, a, string(text)); err != nil || there.findFingerprint(print) != "" {
			return err == nil, err
		}
	}
	return false, nil
}

// exportKey is the one key of a text that has a fingerprint, as apt of any age reads it: a server may add others to its answer. Gpg wants
// a home, which is empty here.
func exportKey(ctx context.Context, a *exec.Attempt, armored, print string) (key string, err error) {
	home, err := os.MkdirTemp("", "moon-gpg-*")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	gpg := []string{"gpg", "--batch", "--no-tty", "--homedir", home, "--no-autostart"}
	said, err := a.AskTool(ctx, exec.Tool{Argv: append(gpg, "--import"), Stdin: &armored})
	if err != nil {
		return "", err
	}
	if said.Code == 0 {
		said, err = a.AskTool(ctx, exec.NewTool(append(slices.Clip(gpg), "--export", print)...))
	}
	if err == nil && said.Stdout == "" {
		err = fault.CommandError{Message: "what the key server gives is not the key " + print + ": " + said.LastWords(), Class: fault.Fatal}
	}
	return said.Stdout, err
}
