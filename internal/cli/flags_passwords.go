package cli

import "moon/internal/app"

// becomeFlags are how steps of other users get the password they take.
type becomeFlags struct {
	AskBecomePass      bool   `short:"K" help:"Prompt for the become password up front. Otherwise moon prompts when one is needed: for this machine before anything runs, for hosts when a step needs it."`
	BecomePasswordFile string `type:"path" placeholder:"FILE" help:"Read the become password from the first line of a file."`
}

func (f *becomeFlags) becomePasswords() app.BecomePasswords {
	ask := f.AskBecomePass
	if set, err := app.AnsibleConfig("."); err == nil && f.BecomePasswordFile == "" { // mistakes are reported with the rest of the settings
		asked, err := set.AsksBecomePassword()
		ask = ask || asked && err == nil
	}
	return app.BecomePasswords{Ask: ask, File: f.BecomePasswordFile}
}

// vaultFlags are where the passwords of encrypted files and values come from.
type vaultFlags struct {
	VaultPasswordFile []string `sep:"none" env:"MOON_VAULT_PASSWORD_FILE,ANSIBLE_VAULT_PASSWORD_FILE" placeholder:"[ID@]FILE" help:"Vault password file, or a program that prints the password; may be given several times."`
	AskVaultPass      bool     `help:"Prompt for the Ansible Vault password."`
}

func (f *vaultFlags) vaultPasswords() app.VaultPasswords {
	return app.VaultPasswords{Files: f.VaultPasswordFile, Ask: f.AskVaultPass}
}
