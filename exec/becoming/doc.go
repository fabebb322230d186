// Package becoming owns what the further arguments of sudo, su and doas mean to moon: which of them it passes on, which it gives by itself,
// and which it cannot honour. Ansible calls them become_flags.
//
//	text of a playbook, of ansible.cfg ──Read──▶ kept: one text, "" for those that moon gives anyway ──Words──▶ arguments
//
// It starts nothing.
package becoming
