// Package config reads what the user has set for every run.
//
//	config.yaml ──yamldoc──▶ tree ──Load──▶ Settings, warnings with positions
//
// What a setting means is left to its users; flags and the environment take precedence over it.
package config
