package vaults

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"moon/exec"
	"moon/internal/app"
	"moon/internal/termtext"
	"moon/internal/vaulting"
	"moon/secret/vault"
)

type editCmd struct {
	File string `arg:"" help:"The file."`
	passwords
	sealing
}

// Help shows calls.
func (editCmd) Help() string {
	return `  moon vault edit group_vars/all/vault.yml
  EDITOR='code --wait' moon vault edit secrets.yml`
}

// Run edits.
func (c *editCmd) Run(call *app.Invocation) error {
	sealed, err := vaulting.Read(c.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return app.Usage("there is no file %s; moon vault create makes one", c.File)
	case err != nil:
		return explain(fmt.Errorf("%s: %w", c.File, err))
	case !vault.Is(sealed):
		return app.NewExit(app.ExitFailed, termtext.CleanName(c.File)+" is not encrypted; moon vault encrypt does it")
	}
	list, err := c.read(call, false)
	if err != nil {
		return err
	}
	plain, with, err := vault.Open(sealed, list)
	if err != nil {
		return explain(fmt.Errorf("%s: %w", c.File, err))
	}
	// It stays what it was, with its password and label, unless another is asked for.
	if c.EncryptVaultID != "" {
		if with, err = c.choose(list); err != nil {
			return err
		}
	}
	return edit(call, vaulting.Keys{Open: list, Seal: with}, c.File, plain)
}

type createCmd struct {
	File string `arg:"" help:"The file, which must not exist."`
	passwords
	sealing
}

// Help shows calls.
func (createCmd) Help() string {
	return `  moon vault create group_vars/all/vault.yml --vault-password-file ~/.vault`
}

// Run makes a new file.
func (c *createCmd) Run(call *app.Invocation) error {
	if _, err := os.Lstat(c.File); !errors.Is(err, fs.ErrNotExist) {
		return app.Usage("%s exists; moon vault edit or encrypt changes it", c.File)
	}
	k, err := c.keys(call, &c.passwords, true)
	if err != nil {
		return err
	}
	return edit(call, k, c.File, nil)
}

// edit has a person edit a text. The editor may fail, and signals may come: the file then is unchanged, what was typed is kept
// encrypted, and the plain text is gone.
func edit(call *app.Invocation, k vaulting.Keys, file string, plain []byte) error {
	e, err := k.Edit(file, plain)
	if err != nil {
		return explain(err)
	}
	defer e.Close()
	ctx, hangUp := context.WithCancel(context.Background())
	defer hangUp()
	// What is typed as an interrupt is the editor's. Other signals end it, and a second one ends moon at once.
	giveBack := call.Signals.Take(func(sig os.Signal) bool {
		if sig == os.Interrupt || sig == syscall.SIGQUIT {
			return false
		}
		again := ctx.Err() != nil
		if again {
			e.Close()
		}
		hangUp()
		return again
	})
	defer giveBack()
	editor := exec.Editor(e.Path, 0)
	editor.SetStdin(os.Stdin)
	editor.SetStdout(os.Stdout)
	editor.SetStderr(os.Stderr)
	failed := editor.RunUntil(ctx)
	if failed == nil && ctx.Err() != nil {
		failed = errors.New("interrupted")
	}
	if failed == nil {
		changed, err := e.Save()
		if err == nil {
			if !changed {
				fmt.Fprintf(call.Err, "%s: unchanged\n", termtext.CleanName(file))
			}
			return nil
		}
		failed = fmt.Errorf("%s: %w", file, err)
	}
	words := termtext.CleanName(failed.Error())
	switch kept, err := e.Rescue(); {
	case err != nil:
		words += "; what you have typed could not be kept: " + termtext.CleanName(err.Error())
	case kept != "":
		words += "; what you have typed is kept, encrypted, in " + termtext.CleanName(kept)
	default:
		words += "; nothing was changed"
	}
	if ctx.Err() != nil {
		return app.NewExit(app.ExitInterrupted, words)
	}
	return app.NewExit(app.ExitFailed, words)
}
