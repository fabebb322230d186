package build

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// Version is set when a release is built.
var Version = "dev"

// Stamp tells apart two of the same version that were built from different sources.
func Stamp() string {
	words := []string{Version}
	if info, ok := debug.ReadBuildInfo(); ok {
		words = append(words, sourcesOf(info)...)
	}
	return strings.Join(words, " ")
}

// Info is what a person or a program may ask about this moon. What no repository knows is empty.
type Info struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"` // of the commit
	Dirty    bool   `json:"dirty"`          // the sources were changed since
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ReadInfo says which moon this is.
func ReadInfo() Info {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return infoOf(info)
}

func infoOf(info *debug.BuildInfo) Info {
	i := Info{Version: Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			i.Commit = s.Value
		case "vcs.time":
			i.Date = s.Value
		case "vcs.modified":
			i.Dirty = s.Value == "true"
		}
	}
	return i
}

// Check refuses a program that was built from other sources than this one. Of sources that no repository knows it says nothing.
func Check(path string) error {
	own, ok := debug.ReadBuildInfo()
	other, err := buildinfo.ReadFile(path)
	var is, wanted []string
	if ok && err == nil { // another kind of program is found out by asking it
		is, wanted = sourcesOf(other), sourcesOf(own)
	}
	if len(wanted) == 0 || slices.Equal(is, wanted) {
		return nil
	}
	return fmt.Errorf("%s was built from other sources than this moon (%s, not %s)", path,
		cmp.Or(strings.Join(is, " "), "unknown ones"), strings.Join(wanted, " "))
}

// sourcesOf are what a program was built from, as the go command has found it in the repository; none outside of one.
func sourcesOf(info *debug.BuildInfo) (words []string) {
	for _, s := range info.Settings {
		if strings.HasPrefix(s.Key, "vcs.") {
			words = append(words, s.Value)
		}
	}
	return words
}
