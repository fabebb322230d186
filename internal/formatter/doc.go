// Package formatter lays out playbooks and other files of YAML: indentation, the spaces behind colons and dashes, blank lines.
//
//	text ──yaml.v3──▶ nodes ──markStructure──▶ lines with their tokens, and those that only continue ──rewrite──▶ text ──check──▶ text
//
// It never writes what a parser has read: it moves lines, and changes nothing but white space. So comments, quotes, the order of keys and
// numbers as they are written stay. What it has made is read again and compared with what there was: a file whose meaning would be another
// is refused and stays. To format twice is to format once.
package formatter
