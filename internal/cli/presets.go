package cli

import (
	"os"
	"path/filepath"
)

// presetsDir is where the user keeps presets: $XDG_DATA_HOME/moon/presets. It is "" where there is no place for it.
func presetsDir(home string) string {
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) { // also the specification's rule for a relative one
		if home == "" {
			return ""
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "moon", "presets")
}
