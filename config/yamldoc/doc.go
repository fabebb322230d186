// Package yamldoc reads the YAML files in which a user sets something for every run: settings, keys, themes.
//
//	file ──Read, bounded in size──▶ yaml.v3 ──▶ Node: a finite tree, without aliases, bounded in depth
//
// Whoever walks the tree needs no guard against files that refer to themselves.
package yamldoc
