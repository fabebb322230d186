// Package lsp is a language server for playbooks: it answers an editor while the user types.
//
//	client ──▶ wire.Conn ──▶ Server ──▶ documents: what the editor has open, saved or not
//	                           │            │ a change, and a moment of quiet
//	                           │            ▼
//	                           │         analyst ──▶ index.Book for each playbook ──▶ diagnostics ──▶ client
//	                           └─ requests ──▶ feature: from the books and the text ──▶ answers ──▶ client
//
// It runs no programs, asks no hosts and writes nothing but the protocol. Requests are answered at the same time; what changes a document
// is taken in the order in which it comes. An analysis that newer text has overtaken reads no more files, and its result is dropped.
package lsp
