package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("rpm_key", exec.Action{Plan: planRPMKey})

type rpmKey struct {
	*exec.Attempt
	args *spec.RPMKeyArgs
}

func planRPMKey(ctx context.Context, at *exec.Attempt) (*exec.Change, error) {
	a := rpmKey{at, at.Args.(*spec.RPMKeyArgs)}
	if err := lacksTool(at, "rpm", "rpm"); err != nil {
		return nil, err
	}
	if err := lacksTool(at, "gpg", "gnupg or gnupg2"); err != nil {
		return nil, err
	}
	id, data := a.args.KeyID, ""
	if id == "" {
		var err error
		if data, err = a.readGiven(ctx); err != nil {
			return nil, err
		}
		given, err := listKeys(ctx, at, data)
		if err != nil {
			return nil, err
		}
		if len(given.ids) == 0 {
			return nil, fmt.Errorf("%s has no key", hidePassword(a.args.Key))
		}
		isGiven := func(fingerprint string) bool { return slices.Contains(given.prints, fingerprint) }
		if wrong := a.args.Fingerprints; len(wrong) > 0 && !slices.ContainsFunc(wrong, isGiven) {
			return nil, fmt.Errorf("the key has the fingerprint %s, not %s", strings.Join(given.prints, ", "), strings.Join(wrong, ", "))
		}
		id = given.ids[0]
	}
	imported, err := a.isImported(ctx, id)
	if err != nil {
		return nil, err
	}
	c := &exec.Change{Fields: map[string]any{"key_id": id}}
	switch {
	case imported == (a.args.State != fsys.Absent):
		return c.PlanNothing(), nil
	case imported:
		c.PlanFor(events.ChangeDelete, "rpm_key", id, func(ctx context.Context) error {
			// rpm names the package of a key after its last eight digits.
			return a.RunTool(ctx, exec.NewTool("rpm", "--erase", "--allmatches", "gpg-pubkey-"+strings.ToLower(endOf(id, 8))))
		}, "key removed")
	case data == "":
		return nil, fmt.Errorf("the key %s is not imported; give its file or URL as `key`", id)
	default:
		undo := a.UndoWithTools("rpm_key", map[string]any{"key": id, "state": fsys.Absent})
		c.PlanCreation("rpm_key", id, undo, func(ctx context.Context) error { return a.importKey(ctx, data) }, "key added")
	}
	return c, nil
}

// readGiven is the key that the step gives, from its file or over the network.
func (a rpmKey) readGiven(ctx context.Context) (string, error) {
	if !strings.Contains(a.args.Key, "://") {
		text, err := fsys.ReadRegular(a.args.Key)
		if errors.Is(err, fs.ErrNotExist) {
			return "", fault.Missing(a.args.Key, "no such file: %s", a.args.Key)
		}
		return string(text), err
	}
	text, err := fetchKey(ctx, a.Attempt, a.args.Key, a.args.Validate)
	if err == nil && !strings.Contains(text, "-----BEGIN PGP PUBLIC KEY BLOCK-----") {
		err = fmt.Errorf("what %s gives is not a public key", hidePassword(a.args.Key))
	}
	return text, err
}

// fetchKey loads a key over the network, with the same client as get_url, so that the proxies of the step hold.
func fetchKey(ctx context.Context, a *exec.Attempt, url string, validate bool) (string, error) {
	args := &spec.HTTPArgs{ValidateCerts: validate, UseProxy: true, HTTPAgent: "moon", Decompress: true}
	got, err := download{request: request{method: "GET", url: url, timeout: 30 * time.Second, args: args, env: a.Getenv}}.peekAt(ctx)
	switch {
	case err != nil:
		return "", err
	case got.data == nil:
		return "", fmt.Errorf("%s is too large for a key", hidePassword(url))
	}
	return string(got.data), nil
}

// listKeys has gpg list the keys in a text. Gpg wants a home, which is empty here. Without a command it lists what it is given, which old
// versions can do, too.
func listKeys(ctx context.Context, a *exec.Attempt, text string) (k keys, err error) {
	home, err := os.MkdirTemp("", "moon-gpg-*")
	if err != nil {
		return k, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	said, err := a.AskTool(ctx, exec.Tool{
		Argv:  []string{"gpg", "--batch", "--no-tty", "--homedir", home, "--with-colons", "--fixed-list-mode", "--with-fingerprint", "-"},
		Stdin: &text,
	})
	return readKeys(said.Stdout), err
}

// isImported reports whether rpm has the key. It describes each of its keys by the key itself.
func (a rpmKey) isImported(ctx context.Context, id string) (bool, error) {
	said, err := a.AskTool(ctx, exec.NewTool("rpm", "-q", "gpg-pubkey", "--qf", "%{description}\n"))
	if err != nil || said.Code != 0 { // there are none
		return false, err
	}
	has, err := listKeys(ctx, a.Attempt, said.Stdout)
	return slices.ContainsFunc(has.ids, func(is string) bool { return strings.Contains(is, id) || strings.HasSuffix(id, is) }), err
}

// importKey gives rpm the very key that was looked at, and not what the URL may give by now.
func (a rpmKey) importKey(ctx context.Context, data string) (err error) {
	f, err := os.CreateTemp("", "moon-key-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	_, err = f.WriteString(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return a.RunTool(ctx, exec.NewTool("rpm", "--import", f.Name()))
}
