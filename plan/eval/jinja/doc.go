// Package jinja reads templates: text becomes a tree, in which every node knows its place. It owns the grammar and what is wrong
// with a text. It knows no values and computes nothing; what filters, tests and functions there are it asks a Language.
//
//	text ── Split ──▶ pieces: text, {{ }}, {% %} ── ParseExpression, ParseOutput ──▶ Node
//	        lex.go    their insides as tokens       parse.go                        tree.go
//	        style.go                              ── ParseTags ────────────────────▶ Tree
//	                                                parse_tags.go                   tree_tags.go
//
// A tree is never changed once it is made, so that one may be evaluated by many at once. What a text may be is bounded
// (maxDepth, MaxNodes): whoever walks a tree may do so by recursion.
package jinja
