package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("apt_key", exec.Action{Plan: planAptKey})

// keys are what gpg lists of a keyring: the ids of the keys, and the fingerprints of them and of the keys below them.
type keys struct {
	ids, prints []string
}

// readKeys reads what gpg lists with --with-colons.
func readKeys(listed string) (k keys) {
	for line := range strings.Lines(listed) {
		switch at := strings.Split(strings.TrimSpace(line), ":"); {
		case len(at) < 10:
		case at[0] == "pub":
			k.ids = append(k.ids, at[4])
		case at[0] == "fpr":
			k.prints = append(k.prints, at[9])
		}
	}
	return k
}

// findFingerprint returns the fingerprint that an id is the end of; "": there is none.
func (k keys) findFingerprint(id string) string {
	for _, print := range k.prints {
		if strings.HasSuffix(print, id) {
			return print
		}
	}
	return ""
}

type aptKey struct {
	*exec.Attempt
	args *spec.AptKeyArgs
}

func planAptKey(ctx context.Context, at *exec.Attempt) (*exec.Change, error) {
	a := aptKey{at, at.Args.(*spec.AptKeyArgs)}
	if err := lacksTool(a.Attempt, "apt-key",
		"apt, before Debian 13: there put the key into /etc/apt/keyrings with get_url, and name it in apt_repository"); err != nil {
		return nil, err
	}
	if err := lacksTool(a.Attempt, "gpg", "gnupg"); err != nil {
		return nil, err
	}
	there, err := a.readTrusted(ctx)
	if err != nil {
		return nil, err
	}
	id, print, data := a.args.ID, a.args.ID, ""
	// A key that is trusted already is not read: to add it changes nothing, and its id is enough to remove it.
	if has := there.findFingerprint(id); id != "" && has != "" {
		print = has
	} else if a.args.State != fsys.Absent && a.args.KeyServer == "" {
		if data, err = a.readGiven(ctx); err != nil {
			return nil, err
		}
		of, err := a.readKeys(ctx, data)
		if err != nil {
			return nil, err
		}
		if print = of.findFingerprint(id); print == "" {
			return nil, fmt.Errorf("the key %s is not what was given: that is %s", id, strings.Join(of.prints, ", "))
		}
		id = print
	}
	c := &exec.Change{Fields: map[string]any{
		"id": a.args.ID, "key_id": endOf(print, 16), "short_id": endOf(print, 8), "fp": print, "before": anyList(there.ids),
		"after": anyList(there.ids),
	}}
	if (there.findFingerprint(id) != "") == (a.args.State != fsys.Absent) {
		return c.PlanNothing(), nil
	}
	kind, says := events.ChangeCreate, "key added"
	if a.args.State == fsys.Absent {
		kind, says = events.ChangeDelete, "key removed"
	}
	var undo *events.Undo
	if kind == events.ChangeCreate {
		in := map[string]any{"id": print, "state": fsys.Absent}
		if a.args.Keyring != "" {
			in["keyring"] = a.args.Keyring
		}
		undo = a.UndoWithTools("apt_key", in)
	}
	c.Resources = []events.Resource{{Type: "apt_key", Name: endOf(print, 16), Change: kind, Undo: undo}}
	c.Plan(kind, func(ctx context.Context) error { return a.applyKey(ctx, c, id, data) }, says)
	return c, nil
}

func endOf(print string, n int) string { return print[max(0, len(print)-n):] }

func anyList(ids []string) []any {
	all := make([]any, len(ids))
	for i, id := range ids {
		all[i] = id
	}
	return all
}

// aptKey is a call of apt-key. It warns of itself where its output is no terminal.
func (a aptKey) aptKey(words ...string) exec.Tool {
	argv := []string{"apt-key"}
	if a.args.Keyring != "" {
		argv = append(argv, "--keyring", a.args.Keyring)
	}
	return exec.Tool{Argv: append(argv, words...), Env: map[string]string{"APT_KEY_DONT_WARN_ON_DANGEROUS_USAGE": "1"}}
}

// readTrusted returns the keys that apt trusts. Of a keyring that is not there apt-key would make an empty one, only to look.
func (a aptKey) readTrusted(ctx context.Context) (keys, error) {
	if a.args.Keyring != "" && !isPresent(a.args.Keyring) {
		return keys{}, nil
	}
	said, err := a.AskTool(ctx, a.aptKey("adv", "--batch", "--no-tty", "--with-colons", "--list-public-keys"))
	if err == nil && said.Code != 0 {
		err = fmt.Errorf("apt-key: %s", said.LastWords())
	}
	return readKeys(said.Stdout), err
}

// readGiven returns the key that the step gives.
func (a aptKey) readGiven(ctx context.Context) (string, error) {
	switch {
	case a.args.Data != "":
		return a.args.Data, nil
	case a.args.File != "":
		text, err := fsys.ReadRegular(a.args.File)
		if errors.Is(err, fs.ErrNotExist) {
			return "", fault.Missing(a.args.File, "no such file: %s", a.args.File)
		}
		return string(text), err
	}
	return fetchKey(ctx, a.Attempt, a.args.URL, a.args.Validate)
}

// readKeys returns the keys in what was given. Gpg wants a home, which is empty here.
func (a aptKey) readKeys(ctx context.Context, data string) (k keys, err error) {
	home, err := os.MkdirTemp("", "moon-gpg-*")
	if err != nil {
		return k, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	said, err := a.AskTool(ctx, exec.Tool{
		Argv:  []string{"gpg", "--batch", "--no-tty", "--homedir", home, "--with-colons", "--show-keys"},
		Stdin: &data,
	})
	if err != nil {
		return k, err
	}
	if k = readKeys(said.Stdout); len(k.prints) == 0 {
		return k, fmt.Errorf("this is not a key:  %s", said.LastWords())
	}
	return k, nil
}

func (a aptKey) applyKey(ctx context.Context, c *exec.Change, id, data string) error {
	do := a.aptKey("add", "-")
	do.Stdin = &data
	switch {
	case a.args.State == fsys.Absent:
		do = a.aptKey("del", id)
	case a.args.KeyServer != "":
		do = a.aptKey("adv", "--batch", "--no-tty", "--keyserver", a.args.KeyServer, "--recv-keys", id)
	}
	if err := a.RunTool(ctx, do); err != nil {
		return err
	}
	// apt-key ends with 0 also if gpg did nothing, so the keys are read again.
	now, err := a.readTrusted(ctx)
	if err != nil {
		return err
	}
	c.Fields["after"] = anyList(now.ids)
	if is := now.findFingerprint(id); (is != "") == (a.args.State == fsys.Absent) {
		return fmt.Errorf("apt-key succeeded, but the keys are unchanged:  %s", strings.Join(slices.Clip(now.ids), ", "))
	}
	return nil
}
