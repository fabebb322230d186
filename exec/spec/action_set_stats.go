package spec

import "reflect"

// SetStatsArgs are the arguments of set_stats.
type SetStatsArgs struct {
	Data      map[string]any `arg:"data" need:"yes" doc:"Names and values."`
	PerHost   bool           `arg:"per_host" default:"false" doc:"Keep them separately for each host."`
	Aggregate bool           `arg:"aggregate" default:"true" doc:"Add to what was set before: numbers are summed, lists and maps joined."`
}

var _ = declareAction(&Action{
	Name:    "set_stats",
	Doc:     "Records values that are shown with the counts at the end of the run.",
	Check:   true,
	Inward:  true,
	args:    reflect.TypeFor[SetStatsArgs](),
	Returns: []Return{{"ansible_stats", "What was given: data, per_host and aggregate."}},
	Least:   "set_stats: {data: {a: 1}}",
	Example: `- set_stats: {data: {deployed: "1.2"}}
`,
})
