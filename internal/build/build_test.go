package build

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestInfo reads what the go command has stamped: in a repository, with changes or without, and outside of one.
func TestInfo(t *testing.T) {
	here := runtime.GOOS + "/" + runtime.GOARCH
	stamped := func(modified string) *debug.BuildInfo {
		return &debug.BuildInfo{Settings: []debug.BuildSetting{
			{Key: "-trimpath", Value: "true"},
			{Key: "vcs", Value: "git"},
			{Key: "vcs.revision", Value: "c0ffee"},
			{Key: "vcs.time", Value: "2026-11-28T22:00:00Z"},
			{Key: "vcs.modified", Value: modified},
		}}
	}
	for _, c := range []struct {
		info *debug.BuildInfo
		want Info
	}{
		{stamped("true"), Info{"dev", "c0ffee", "2026-11-28T22:00:00Z", true, runtime.Version(), here}},
		{stamped("false"), Info{"dev", "c0ffee", "2026-11-28T22:00:00Z", false, runtime.Version(), here}},
		{&debug.BuildInfo{}, Info{"dev", "", "", false, runtime.Version(), here}},
	} {
		if got := infoOf(c.info); got != c.want {
			t.Errorf("got %+v, want %+v", got, c.want)
		}
	}
}
