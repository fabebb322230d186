package vaults

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"moon/internal/app"
	"moon/internal/pattern"
	"moon/internal/termtext"
	"moon/internal/vaulting"
	"moon/secret/vault"
)

// Vault is the command with all that it can do.
type Vault struct {
	Encrypt       encryptCmd       `cmd:"" help:"Encrypt files, or standard input."`
	Decrypt       decryptCmd       `cmd:"" help:"Decrypt files, or standard input."`
	View          viewCmd          `cmd:"" help:"Print what is in encrypted files."`
	Edit          editCmd          `cmd:"" help:"Edit an encrypted file in $VISUAL or $EDITOR."`
	Create        createCmd        `cmd:"" help:"Write a new encrypted file in $VISUAL or $EDITOR."`
	Rekey         rekeyCmd         `cmd:"" help:"Encrypt files with another password."`
	EncryptString encryptStringCmd `cmd:"" aliases:"encrypt_string" help:"Print a value encrypted, for a file of variables or a playbook."`
}

// Help is the longer help of the command.
func (Vault) Help() string {
	return `Files and values as ansible-vault has them. A file is replaced at once, and keeps its mode and owner. Without a password file moon asks.

  moon vault encrypt group_vars/all/vault.yml --vault-password-file ~/.vault
  moon vault edit group_vars/all/vault.yml
  moon vault encrypt-string --name db_password 'correct horse' >> vars.yml`
}

// passwords are the flags for what opens vaults.
type passwords struct {
	VaultPasswordFile []string `sep:"none" aliases:"vault-id,vault-pass-file" env:"MOON_VAULT_PASSWORD_FILE,ANSIBLE_VAULT_PASSWORD_FILE" placeholder:"[ID@]FILE" help:"Vault password file, or a program that prints the password; may be given several times."`
	AskVaultPass      bool     `help:"Prompt for the vault password, also if there is a password file."`
}

// sealing are the flags for what encrypts.
type sealing struct {
	EncryptVaultID string `name:"encrypt-vault-id" env:"MOON_ENCRYPT_VAULT_ID,ANSIBLE_VAULT_ENCRYPT_IDENTITY" placeholder:"ID" help:"If there are several passwords: the label of the one that encrypts."`
}

// read gives the passwords. If no flag or setting gives any, a person is asked; twice, if something new is encrypted with it.
func (f *passwords) read(call *app.Invocation, twice bool) ([]vault.Password, error) {
	from := app.VaultPasswords{Files: f.VaultPasswordFile, Ask: f.AskVaultPass, Again: twice}
	from, err := from.OrSettings(call, ".")
	if err != nil {
		return nil, err
	}
	from.Ask = from.Ask || len(from.Files) == 0
	return readAll(call, from)
}

func readAll(call *app.Invocation, from app.VaultPasswords) ([]vault.Password, error) {
	read, err := from.Passwords(call)
	if err != nil {
		return nil, err
	}
	list, err := read()
	if err != nil {
		return nil, app.Usage("%s", err)
	}
	return list, nil
}

// choose is the password that encrypts.
func (f *sealing) choose(list []vault.Password) (vault.Password, error) {
	var labels []string
	for _, p := range list {
		if p.ID == f.EncryptVaultID || f.EncryptVaultID == "default" && p.ID == "" {
			if f.EncryptVaultID != "" || len(list) == 1 {
				return p, nil
			}
		}
		labels = append(labels, labelOf(p))
	}
	switch {
	case f.EncryptVaultID != "":
		return vault.Password{}, app.Usage("no password has the label %q; there are %s", f.EncryptVaultID, strings.Join(labels, ", "))
	case len(list) == 1:
		return list[0], nil
	case len(list) == 0:
		return vault.Password{}, app.Usage("there is no password; give --vault-password-file FILE")
	}
	return vault.Password{}, app.Usage("there are several passwords, with the labels %s; say with --encrypt-vault-id which one encrypts",
		strings.Join(labels, ", "))
}

func labelOf(p vault.Password) string {
	if p.ID == "" {
		return "default"
	}
	return p.ID
}

// keys are what opens and what encrypts.
func (f *sealing) keys(call *app.Invocation, from *passwords, twice bool) (vaulting.Keys, error) {
	list, err := from.read(call, twice)
	if err != nil {
		return vaulting.Keys{}, err
	}
	with, err := f.choose(list)
	return vaulting.Keys{Open: list, Seal: with}, err
}

// explain makes of an error one of a call that failed, with the way out.
func explain(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*app.Exit](err); ok {
		return e
	}
	words := termtext.CleanName(err.Error())
	if errors.Is(err, vaulting.ErrEncrypted) {
		words += "; moon vault rekey gives it another password"
	}
	return app.NewExit(app.ExitFailed, words)
}

// target is where the result goes that files are not replaced with.
type target struct {
	Files  []string `arg:"" optional:"" name:"file" help:"The files; - or none: standard input."`
	Output string   `type:"path" env:"-" placeholder:"FILE" help:"Where the result goes, instead of the file itself; - is standard output."`
}

// apply changes the files, or writes what one of them becomes to another place.
func (t *target) apply(call *app.Invocation, what string, by vaulting.Transform) error {
	if stdin := len(t.Files) == 0 || len(t.Files) == 1 && t.Files[0] == "-"; !stdin && t.Output == "" {
		if err := vaulting.Change(t.Files, by); err != nil {
			return err
		}
		fmt.Fprintf(call.Err, "%s: %s\n", what, termtext.CleanName(strings.Join(t.Files, ", ")))
		return nil
	}
	if len(t.Files) > 1 {
		return app.Usage("--output takes one result, and there are %d files", len(t.Files))
	}
	text, err := t.read(call)
	if err == nil {
		text, err = by(text)
	}
	switch {
	case err != nil && len(t.Files) == 1:
		return fmt.Errorf("%s: %w", t.Files[0], err)
	case err != nil:
		return fmt.Errorf("standard input: %w", err)
	case t.Output == "" || t.Output == "-":
		_, err = call.Doc.Write(text)
		return err
	}
	return vaulting.Replace(t.Output, text)
}

func (t *target) read(call *app.Invocation) ([]byte, error) {
	if len(t.Files) == 0 || t.Files[0] == "-" {
		return io.ReadAll(call.In)
	}
	return vaulting.Read(t.Files[0])
}

type encryptCmd struct {
	target
	passwords
	sealing
}

// Help shows calls.
func (encryptCmd) Help() string {
	return `  moon vault encrypt group_vars/all/vault.yml
  moon vault encrypt --output sealed.yml --vault-password-file prod@~/.vault plain.yml`
}

// Run encrypts.
func (c *encryptCmd) Run(call *app.Invocation) error {
	k, err := c.keys(call, &c.passwords, true)
	if err != nil {
		return err
	}
	return explain(c.apply(call, "encrypted", k.Encrypt))
}

type decryptCmd struct {
	target
	passwords
}

// Help shows calls.
func (decryptCmd) Help() string {
	return `  moon vault decrypt group_vars/all/vault.yml
  moon vault decrypt --output - group_vars/all/vault.yml`
}

// Run decrypts.
func (c *decryptCmd) Run(call *app.Invocation) error {
	list, err := c.read(call)
	if err != nil {
		return err
	}
	return explain(c.apply(call, "decrypted", vaulting.Keys{Open: list}.Decrypt))
}

// read gives the passwords that open the files.
func (c *decryptCmd) read(call *app.Invocation) ([]vault.Password, error) {
	return c.passwords.read(call, false)
}

type viewCmd struct {
	Files []string `arg:"" name:"file" help:"The files; - is standard input."`
	passwords
}

// Help shows calls.
func (viewCmd) Help() string {
	return `  moon vault view group_vars/all/vault.yml`
}

// Run prints.
func (c *viewCmd) Run(call *app.Invocation) error {
	list, err := c.read(call, false)
	if err != nil {
		return err
	}
	for _, file := range c.Files {
		one := target{Files: []string{file}, Output: "-"}
		if err := one.apply(call, "", vaulting.Keys{Open: list}.Decrypt); err != nil {
			return explain(err)
		}
	}
	return nil
}

type rekeyCmd struct {
	Files []string `arg:"" name:"file" help:"The files."`
	passwords
	NewVaultPasswordFile string `aliases:"new-vault-id" env:"-" placeholder:"[ID@]FILE" help:"The new password: a file, or a program that prints it. Without it moon asks."`
	EncryptVaultID       string `name:"encrypt-vault-id" env:"-" placeholder:"ID" help:"The label that the files get with the new password."`
}

// Help shows calls.
func (rekeyCmd) Help() string {
	return `  moon vault rekey group_vars/all/vault.yml --new-vault-password-file prod@~/.vault`
}

// Run encrypts with the new password.
func (c *rekeyCmd) Run(call *app.Invocation) error {
	list, err := c.read(call, false)
	if err != nil {
		return err
	}
	from := app.VaultPasswords{Ask: true, Again: true, Prompt: "New vault password: "}
	if c.NewVaultPasswordFile != "" {
		from = app.VaultPasswords{Files: []string{c.NewVaultPasswordFile}}
	}
	fresh, err := readAll(call, from)
	if err != nil {
		return err
	}
	if c.EncryptVaultID != "" {
		fresh[0].ID = c.EncryptVaultID
	}
	if err := vaulting.Change(c.Files, vaulting.Keys{Open: list, Seal: fresh[0]}.Rekey); err != nil {
		return explain(err)
	}
	fmt.Fprintf(call.Err, "encrypted again: %s\n", termtext.CleanName(strings.Join(c.Files, ", ")))
	return nil
}

type encryptStringCmd struct {
	Text []string `arg:"" optional:"" help:"The values; - or none: standard input."`
	Name []string `short:"n" sep:"none" placeholder:"NAME" help:"The variable; once for each value."`
	passwords
	sealing
	StdinName string `env:"-" placeholder:"NAME" help:"The variable for standard input, as ansible-vault has it."`
}

// Help shows calls.
func (encryptStringCmd) Help() string {
	return `  moon vault encrypt-string --name db_password 'correct horse' >> vars.yml
  pwgen 32 | moon vault encrypt-string --name db_password`
}

// plainKey is a key that YAML takes without quotes, and as a text.
var plainKey = pattern.New(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// Run prints the values.
func (c *encryptStringCmd) Run(call *app.Invocation) error {
	if err := c.check(); err != nil {
		return err
	}
	k, err := c.keys(call, &c.passwords, true)
	if err != nil {
		return err
	}
	for i, text := range c.Text {
		if text == "-" {
			if text, err = readValue(call); err != nil {
				return err
			}
		}
		sealed, err := vault.Encrypt([]byte(text), k.Seal)
		if err != nil {
			return explain(err)
		}
		name := ""
		if len(c.Name) > 0 {
			name = c.Name[i]
		}
		if _, err := io.WriteString(call.Doc, vaulting.Value(name, sealed)); err != nil {
			return err
		}
	}
	return nil
}

// readValue is what standard input holds, exactly.
func readValue(call *app.Invocation) (string, error) {
	text, err := io.ReadAll(call.In)
	if err != nil {
		return "", fmt.Errorf("standard input: %w", err)
	}
	if strings.HasSuffix(string(text), "\n") {
		fmt.Fprintln(call.Err, "moon: note: the value ends with a line break; printf prints none by itself")
	}
	return string(text), nil
}

// check brings values and names together.
func (c *encryptStringCmd) check() error {
	if c.StdinName != "" {
		if len(c.Text) > 0 || len(c.Name) > 0 {
			return app.Usage("--stdin-name is for standard input: give no value and no --name with it")
		}
		c.Name = []string{c.StdinName}
	}
	if len(c.Text) == 0 {
		c.Text = []string{"-"}
	}
	if len(c.Name) > len(c.Text) || len(c.Name) < len(c.Text) && len(c.Text) > 1 {
		return app.Usage("there are %d values and %d names: give --name once for each value", len(c.Text), len(c.Name))
	}
	for _, name := range c.Name {
		if !plainKey.MatchString(name) {
			return app.Usage("%q is not the name of a variable", name)
		}
	}
	return nil
}
