// Package vaults is the command `moon vault`.
//
//	flags, Ansible's settings, a person ──▶ passwords ──▶ internal/vaulting ──▶ files, values, an editor
package vaults
