package otlp

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
)

// What is sent, as the JSON form of OTLP has it: ids in hexadecimal, 64-bit numbers as text, enumerations as numbers.

type attribute struct {
	Key   string         `json:"key"`
	Value map[string]any `json:"value"`
}

func text(key, value string) attribute { return attribute{key, map[string]any{"stringValue": value}} }

func integer(key string, n int64) attribute {
	return attribute{key, map[string]any{"intValue": strconv.FormatInt(n, 10)}}
}

func boolean(key string, b bool) attribute { return attribute{key, map[string]any{"boolValue": b}} }

// list is an attribute that is a list of texts.
func list(key string, values []string) attribute {
	all := make([]map[string]any, len(values))
	for i, v := range values {
		all[i] = map[string]any{"stringValue": v}
	}
	return attribute{key, map[string]any{"arrayValue": map[string]any{"values": all}}}
}

// id is an id of a trace or a span; an empty one is none.
type id []byte

func (i id) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(i)), nil }

// nanos is a time.
type nanos time.Time

func (n nanos) MarshalText() ([]byte, error) {
	return []byte(strconv.FormatInt(time.Time(n).UnixNano(), 10)), nil
}

type resource struct {
	Attributes []attribute `json:"attributes"`
}

type scope struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type traces struct {
	ResourceSpans []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource   resource     `json:"resource"`
	ScopeSpans []scopeSpans `json:"scopeSpans"`
}

type scopeSpans struct {
	Scope scope  `json:"scope"`
	Spans []span `json:"spans"`
}

// The kind and the codes of a span.
const (
	kindInternal = 1
	statusOK     = 1
	statusError  = 2
)

type span struct {
	TraceID    id          `json:"traceId"`
	SpanID     id          `json:"spanId"`
	ParentID   id          `json:"parentSpanId,omitempty"`
	State      string      `json:"traceState,omitempty"`
	Flags      uint32      `json:"flags"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      nanos       `json:"startTimeUnixNano"`
	End        nanos       `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`
	Events     []happened  `json:"events,omitempty"`
	Status     status      `json:"status"`
}

type happened struct {
	Time       nanos       `json:"timeUnixNano"`
	Name       string      `json:"name"`
	Attributes []attribute `json:"attributes"`
}

type status struct {
	Code    int    `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

type metrics struct {
	ResourceMetrics []resourceMetrics `json:"resourceMetrics"`
}

type resourceMetrics struct {
	Resource     resource       `json:"resource"`
	ScopeMetrics []scopeMetrics `json:"scopeMetrics"`
}

type scopeMetrics struct {
	Scope   scope    `json:"scope"`
	Metrics []metric `json:"metrics"`
}

type metric struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Unit        string     `json:"unit"`
	Sum         *sum       `json:"sum,omitempty"`
	Gauge       *gauge     `json:"gauge,omitempty"`
	Histogram   *histogram `json:"histogram,omitempty"`
}

// The temporalities.
const (
	sinceLast  = 1
	sinceStart = 2
)

type sum struct {
	Points      []point `json:"dataPoints"`
	Temporality int     `json:"aggregationTemporality"`
	Monotonic   bool    `json:"isMonotonic"`
}

type gauge struct {
	Points []point `json:"dataPoints"`
}

type point struct {
	Attributes []attribute `json:"attributes"`
	Start      nanos       `json:"startTimeUnixNano"`
	Time       nanos       `json:"timeUnixNano"`
	Int        string      `json:"asInt,omitempty"`
	Double     *float64    `json:"asDouble,omitempty"`
}

type histogram struct {
	Points      []buckets `json:"dataPoints"`
	Temporality int       `json:"aggregationTemporality"`
}

type buckets struct {
	Attributes []attribute `json:"attributes"`
	Start      nanos       `json:"startTimeUnixNano"`
	Time       nanos       `json:"timeUnixNano"`
	Count      string      `json:"count"`
	Sum        float64     `json:"sum"`
	Counts     []string    `json:"bucketCounts"`
	Bounds     []float64   `json:"explicitBounds"`
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of types that are all above
	}
	return b
}
