// Package config reads the files that set something for every run: the user's own, and those that came with a project.
//
//	config.yaml, .moon.yaml ──yamldoc──▶ tree ──Read──▶ File: values with positions, and what is wrong
//	directory of the playbook ──FindProject──▶ the .moon.yaml files up to the root of the repository
//
// The table of settings is here. What a setting means, and whether one of a project is trusted, is left to its users; flags and the
// environment take precedence.
package config
