package app

import (
	"os"
	"path/filepath"
)

// PresetsDir is where the user keeps presets: $XDG_DATA_HOME/moon/presets. It is "" where there is no place for it.
func PresetsDir(home string) string {
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) { // also the specification's rule for a relative one
		if home == "" {
			return ""
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "moon", "presets")
}
