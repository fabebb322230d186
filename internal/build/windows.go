//go:build windows

package build

// moon runs where processes have groups, signals and owners. This package is one that every program of moon has, so that to build one for
// Windows ends with the reason, whatever else is missing there.
var _ = moon_does_not_run_on_Windows_use_WSL
