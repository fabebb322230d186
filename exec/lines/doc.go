// Package lines edits texts by their lines: it puts a line or a marked block in, takes them out again, and leaves every other byte alone.
// It owns the texts and no files.
//
//	text ──Read──▶ Text ──Put, PutLine, PutBlock──▶ String ──▶ text
package lines
