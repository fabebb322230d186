package fakes

import (
	"regexp"
	"sync"
)

// unsteady is what differs from run to run in moon's output, and what stands for it.
var unsteady = [][2]string{
	{`\b\d{8}-\d{6}-[0-9a-f]{4}\b`, `RUN`},
	{`"time":"[^"]*"`, `"time":"T"`},
	{`"run":"[^"]*"`, `"run":"R"`},
	{`"(start|end|due)":"[^"]*"`, `"$1":"T"`},
	{`"(time|started)": "[^"]*"`, `"$1": "T"`},
	{`(?m)^  "(run|dir|actor|host)": "[^"]*"`, `  "$1": "…"`},
	{`"duration_ms": \d+`, `"duration_ms": 0`},
	{`\d{8}-\d{6}-[0-9a-f]{4}`, `RUN`},
	{`::[0-9a-f]{32}`, `::TOKEN`},
	{` time="[0-9.]*"`, ` time="0"`},
	{`timestamp="[^"]*"`, `timestamp="T"`},
	{`started  \d.*? on .*?, moon`, `started  T by ME on HOST, moon`},
	{`took     .*`, `took     D`},
	{`\nSlowest\n(  .*\n)+`, ``},
	{`(?m)^  \d\d:\d\d:\d\d  `, `  HH:MM:SS  `},
	{`(?m)^\d\d:\d\d:\d\d `, `HH:MM:SS `},
	{`, \d+ (seconds?|minutes?( \d+)?)\.`, `.`},
	{`(?m)^(moon  .*)   (\d+(\.\d+)?(ms|s)|\d+:\d\d)$`, `$1   D`},
	{`"duration_ms":\d+`, `"duration_ms":0`},
	{` in (\d+(\.\d+)?(ms|s)|\d+:\d\d)`, ``},
	{`in \d+(\.\d+)?(µs|ms|s)`, `in D`},
	{`(plan|now) [0-9a-f]{12}`, `$1 P`},
	{`digest: "?[0-9a-f]{64}"?`, `digest: D`},
	{`digest: "?[0-9a-f]{32}"?`, `digest: S`},
	{`"digest": ?"[0-9a-f]{64}"`, `"digest":"D"`},
	{`"digest": ?"[0-9a-f]{32}"`, `"digest":"S"`},
}

// unsteadyPatterns are compiled when a test needs them: each moon of the tests is the test binary, and would do so at its start.
var unsteadyPatterns = sync.OnceValue(func() []*regexp.Regexp {
	patterns := make([]*regexp.Regexp, len(unsteady))
	for i, u := range unsteady {
		patterns[i] = regexp.MustCompile(u[0])
	}
	return patterns
})

// Steady is output of moon without what differs from run to run.
func Steady(text string) string {
	for i, pattern := range unsteadyPatterns() {
		text = pattern.ReplaceAllString(text, unsteady[i][1])
	}
	return text
}
