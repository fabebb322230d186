// Package node holds what a document says, as written: values with their places and nothing else.
//
//	text ──yaml.v3──▶ yaml.Node ──Reader──▶ Node
//	JSON ───────────── placed ────────────▶ Node
//
// A large playbook is mostly these, and they stay for as long as its plan does: a Node takes 64 bytes where the parser's takes 160 and a
// few allocations more. The parser's are dropped as soon as they have been read.
package node
