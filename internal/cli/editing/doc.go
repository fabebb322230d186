// Package editing is the command `moon lsp`.
//
//	flags, ansible.cfg next to a playbook ──▶ plan.Options that start nothing and ask no one ──▶ lsp.Serve on standard input and output
package editing
