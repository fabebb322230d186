// Package vaulting changes files that Ansible Vault encrypts.
//
//	file ──read──▶ text ──Transform (secret/vault)──▶ text ──replace──▶ the same file, with its mode and its owner
//	                │                                          ▲
//	                └──▶ a file in a directory of its own ──▶ editor
//
// It owns the files, and what is plain text for a moment: that is in memory, or in a directory that only the user can enter and that is
// removed in every case. Who may open what, and how people are asked, is for the caller.
package vaulting
