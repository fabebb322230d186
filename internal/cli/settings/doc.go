// Package settings gives flags that are not given the values that files of settings have for them, and lists them.
//
//	flag, environment ──▶ stays · .moon.yaml, if trusted ──▶ ansible.cfg ──▶ config.yaml ──Resolver──▶ flag
//	flags with their values ──List──▶ each with where it is from
//
// It is a resolver of kong, so that commands have settings as if they had been typed. What a project names and may run programs is noted
// in the call, for those who would start them.
package settings
