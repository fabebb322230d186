package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"moon/secret/vault"
)

// VaultPasswords are where the passwords of encrypted files and values come from.
type VaultPasswords struct {
	Files []string // FILE or ID@FILE; a program prints its password
	Ask   bool

	Prompt string // what is asked; "Vault password: " if it is empty
	Again  bool   // ask twice: what is encrypted with a password that was mistyped is lost

	Trust bool // one that the ansible.cfg of the playbook names may do so
}

// OrSettings are the passwords that the settings in a directory name, if no others are given.
func (f VaultPasswords) OrSettings(call *Invocation, dir string) (VaultPasswords, error) {
	if len(f.Files) > 0 || f.Ask {
		return f, call.vaultPrograms(f.Files, f.Trust)
	}
	set, err := AnsibleConfig(dir)
	if err != nil {
		return f, err
	}
	f.Files, err = set.VaultPasswords(func(path, named string) error {
		t, err := call.Truster(f.Trust)
		if err == nil {
			_, err = t.program(path, "a password", named)
		}
		return err
	})
	return f, err
}

// Passwords gives those that were given. Files are read when the first is needed, and a person is asked now: later the terminal
// may be the screen's.
func (f VaultPasswords) Passwords(call *Invocation) (func() ([]vault.Password, error), error) {
	var asked []vault.Password
	if f.Ask {
		prompt := cmp.Or(f.Prompt, "Vault password: ")
		text, err := call.typed(prompt)
		if err == nil && f.Again {
			var again string
			if again, err = call.typed("The same again: "); err == nil && again != text {
				err = errors.New("the two differ")
			}
		}
		if left, ok := errors.AsType[*Exit](err); ok && left.Code == ExitInterrupted {
			return nil, err
		}
		if err != nil {
			return nil, Usage("--ask-vault-pass: %s; give a file with --vault-password-file FILE", err)
		}
		asked = append(asked, vault.Password{Text: text})
	}
	return sync.OnceValues(func() ([]vault.Password, error) {
		list := asked
		for _, text := range f.Files {
			if text == "" { // of a variable of the environment that was emptied
				continue
			}
			p, err := passwordFrom(call, text)
			if err != nil {
				return nil, err
			}
			list = append(list, p)
		}
		for _, p := range list {
			call.Secrets.Add("", p.Text)
		}
		return list, nil
	}), nil
}

// passwordFrom reads FILE or ID@FILE, or has the program print it that the file is.
func passwordFrom(call *Invocation, text string) (vault.Password, error) {
	path, id := text, ""
	// ID@FILE, as Ansible has it; a name may contain an @ itself.
	if label, rest, ok := strings.Cut(text, "@"); ok && label != "" && rest != "" {
		path, id = rest, label
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok { // of a variable of the environment, which no shell has expanded
		home, err := os.UserHomeDir()
		if err != nil {
			return vault.Password{}, fmt.Errorf("the password file %s cannot be read: there is no home directory", path)
		}
		path = filepath.Join(home, rest)
	}
	password, err := vaultPassword(call, path, id)
	if err != nil {
		return vault.Password{}, fmt.Errorf("the password file %s %w", path, err)
	}
	return vault.Password{ID: id, Text: password}, nil
}

const maxPassword = 64 << 10

func vaultPassword(call *Invocation, path, id string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", errors.New("does not exist")
	case err != nil:
		return "", errors.New("cannot be read")
	case info.IsDir():
		return "", errors.New("is a directory")
	}
	var text []byte
	// As in Ansible, an executable file prints the password.
	if info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		text, err = printedBy(call, path, id)
	} else if text, err = readFile(path); err != nil {
		err = errors.New("cannot be read")
	}
	switch {
	case err != nil:
		return "", err
	case len(text) > maxPassword:
		return "", fmt.Errorf("is larger than %d KiB", maxPassword>>10)
	}
	password := strings.TrimSpace(string(text))
	if password == "" {
		return "", errors.New("holds no password")
	}
	return password, nil
}

func readFile(path string) (text []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(f, maxPassword+1))
}

// printedBy is what a program prints. It may ask the person at the terminal. One whose name ends in -client is given which password
// is wanted.
func printedBy(call *Invocation, path, id string) ([]byte, error) {
	var args []string
	// Ansible asks such programs for a password by name.
	if name := filepath.Base(path); strings.HasSuffix(strings.TrimSuffix(name, filepath.Ext(name)), "-client") {
		args = []string{"--vault-id", id}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	text, interrupted, err := call.Asker.Person(context.Background(), abs, args...)
	switch {
	case interrupted: // what was typed was a signal for the program alone
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		time.Sleep(endPatience)
		return nil, errors.New("was interrupted")
	case err != nil:
		return nil, fmt.Errorf("is a program, and failed: %w", err)
	}
	return text, nil
}

// typed asks at the terminal, whatever standard input is, and does not show what is typed.
func (call *Invocation) typed(prompt string) (text string, err error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", errors.New("there is no terminal to ask at")
	}
	defer func() { _ = tty.Close() }() // what was written was seen
	text, err = call.askHidden(tty, prompt)
	switch {
	case err != nil:
		return "", err
	case text == "":
		return "", errors.New("the password is empty")
	}
	return text, nil
}
