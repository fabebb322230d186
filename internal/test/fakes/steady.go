package fakes

import (
	"regexp"
)

// Unsteady is what differs from run to run in moon's output, and what stands for it.
var Unsteady = []struct {
	Pattern *regexp.Regexp
	With    string
}{
	{regexp.MustCompile(`\b\d{8}-\d{6}-[0-9a-f]{4}\b`), `RUN`},
	{regexp.MustCompile(`"time":"[^"]*"`), `"time":"T"`},
	{regexp.MustCompile(`"run":"[^"]*"`), `"run":"R"`},
	{regexp.MustCompile(`"(start|end|due)":"[^"]*"`), `"$1":"T"`},
	{regexp.MustCompile(`"(time|started)": "[^"]*"`), `"$1": "T"`},
	{regexp.MustCompile(`(?m)^  "(run|dir|actor|host)": "[^"]*"`), `  "$1": "…"`},
	{regexp.MustCompile(`"duration_ms": \d+`), `"duration_ms": 0`},
	{regexp.MustCompile(`\d{8}-\d{6}-[0-9a-f]{4}`), `RUN`},
	{regexp.MustCompile(`::[0-9a-f]{32}`), `::TOKEN`},
	{regexp.MustCompile(` time="[0-9.]*"`), ` time="0"`},
	{regexp.MustCompile(`timestamp="[^"]*"`), `timestamp="T"`},
	{regexp.MustCompile(`started  \d.*? on .*?, moon`), `started  T by ME on HOST, moon`},
	{regexp.MustCompile(`took     .*`), `took     D`},
	{regexp.MustCompile(`\nSlowest\n(  .*\n)+`), ``},
	{regexp.MustCompile(`(?m)^  \d\d:\d\d:\d\d  `), `  HH:MM:SS  `},
	{regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d `), `HH:MM:SS `},
	{regexp.MustCompile(`, \d+ (seconds?|minutes?( \d+)?)\.`), `.`},
	{regexp.MustCompile(`(?m)^(moon  .*)   (\d+(\.\d+)?(ms|s)|\d+:\d\d)$`), `$1   D`},
	{regexp.MustCompile(`"duration_ms":\d+`), `"duration_ms":0`},
	{regexp.MustCompile(` in (\d+(\.\d+)?(ms|s)|\d+:\d\d)`), ``},
	{regexp.MustCompile(`in \d+(\.\d+)?(µs|ms|s)`), `in D`},
	{regexp.MustCompile(`(plan|now) [0-9a-f]{12}`), `$1 P`},
	{regexp.MustCompile(`digest: "?[0-9a-f]{64}"?`), `digest: D`},
	{regexp.MustCompile(`digest: "?[0-9a-f]{32}"?`), `digest: S`},
	{regexp.MustCompile(`"digest": ?"[0-9a-f]{64}"`), `"digest":"D"`},
	{regexp.MustCompile(`"digest": ?"[0-9a-f]{32}"`), `"digest":"S"`},
}
