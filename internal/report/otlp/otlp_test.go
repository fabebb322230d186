package otlp

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"moon/engine/graph/graphtest"
	"moon/events"
	"moon/plan"
)

// collector is a server that takes OTLP in JSON as its specification has it, and nothing else.
type collector struct {
	t  *testing.T
	mu sync.Mutex

	spans   []gotSpan
	metrics []gotMetric
	heads   []http.Header
	paths   []string
	about   map[string]any // the resource

	answer func(n int, w http.ResponseWriter) (taken bool) // nil: everything is taken
}

// The documents as a collector reads them: each field by its name in the specification, and no other.
type gotAttribute struct {
	Key   string `json:"key"`
	Value struct {
		String *string `json:"stringValue"`
		Int    *string `json:"intValue"`
		Bool   *bool   `json:"boolValue"`
		Array  *struct {
			Values []struct {
				String string `json:"stringValue"`
			} `json:"values"`
		} `json:"arrayValue"`
	} `json:"value"`
}

type gotSpan struct {
	TraceID  string         `json:"traceId"`
	SpanID   string         `json:"spanId"`
	ParentID string         `json:"parentSpanId"`
	State    string         `json:"traceState"`
	Flags    uint32         `json:"flags"`
	Name     string         `json:"name"`
	Kind     int            `json:"kind"`
	Start    string         `json:"startTimeUnixNano"`
	End      string         `json:"endTimeUnixNano"`
	Attrs    []gotAttribute `json:"attributes"`
	Events   []struct {
		Time  string         `json:"timeUnixNano"`
		Name  string         `json:"name"`
		Attrs []gotAttribute `json:"attributes"`
	} `json:"events"`
	Status struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"status"`
}

type gotPoint struct {
	Attrs  []gotAttribute `json:"attributes"`
	Start  string         `json:"startTimeUnixNano"`
	Time   string         `json:"timeUnixNano"`
	Int    string         `json:"asInt"`
	Double *float64       `json:"asDouble"`
	Count  string         `json:"count"`
	Sum    float64        `json:"sum"`
	Counts []string       `json:"bucketCounts"`
	Bounds []float64      `json:"explicitBounds"`
}

type gotData struct {
	Points      []gotPoint `json:"dataPoints"`
	Temporality int        `json:"aggregationTemporality"`
	Monotonic   bool       `json:"isMonotonic"`
}

type gotMetric struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Unit        string   `json:"unit"`
	Sum         *gotData `json:"sum"`
	Gauge       *gotData `json:"gauge"`
	Histogram   *gotData `json:"histogram"`
}

type gotScope struct {
	Scope struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"scope"`
	Spans   []gotSpan   `json:"spans"`
	Metrics []gotMetric `json:"metrics"`
}

type gotResource struct {
	Resource struct {
		Attrs []gotAttribute `json:"attributes"`
	} `json:"resource"`
	ScopeSpans   []gotScope `json:"scopeSpans"`
	ScopeMetrics []gotScope `json:"scopeMetrics"`
}

func newCollector(t *testing.T) (*collector, string) {
	c := &collector{t: t}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	return c, server.URL
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil && r.Header.Get("Content-Encoding") == "gzip" {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, err = io.ReadAll(z)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
		c.t.Errorf("%s %s with %q: %v", r.Method, r.URL, r.Header.Get("Content-Type"), err)
	}
	c.paths, c.heads = append(c.paths, r.URL.Path), append(c.heads, r.Header)
	if c.answer != nil && !c.answer(len(c.paths), w) {
		return
	}
	var doc struct {
		Spans   []gotResource `json:"resourceSpans"`
		Metrics []gotResource `json:"resourceMetrics"`
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		c.t.Errorf("%v in %s", err, body)
	}
	for _, res := range append(doc.Spans, doc.Metrics...) {
		c.about = values(c.t, res.Resource.Attrs)
		for _, s := range append(res.ScopeSpans, res.ScopeMetrics...) {
			c.spans, c.metrics = append(c.spans, s.Spans...), append(c.metrics, s.Metrics...)
		}
	}
}

// values are attributes by their keys: each has one value, and each key is there once.
func values(t *testing.T, attrs []gotAttribute) map[string]any {
	all := map[string]any{}
	for _, a := range attrs {
		if _, twice := all[a.Key]; twice {
			t.Errorf("the attribute %s is there twice", a.Key)
		}
		switch v := a.Value; {
		case v.String != nil:
			all[a.Key] = *v.String
		case v.Int != nil:
			n, err := strconv.Atoi(*v.Int)
			if err != nil {
				t.Error(err)
			}
			all[a.Key] = n
		case v.Bool != nil:
			all[a.Key] = *v.Bool
		case v.Array != nil:
			var list []string
			for _, e := range v.Array.Values {
				list = append(list, e.String)
			}
			all[a.Key] = strings.Join(list, ",")
		default:
			t.Errorf("the attribute %s has no value", a.Key)
		}
	}
	return all
}

var began = time.Date(2026, 11, 29, 1, 2, 3, 0, time.UTC)

// export sends a run of four steps: one changes something, one fails after a retry, one is skipped, one is never reached.
func export(t *testing.T, s Settings, more ...events.Record) (warnings []string) {
	t.Helper()
	p := graphtest.NewPlan(4)
	p.Steps[1].Host, p.Steps[1].Tags, p.Steps[1].Action = "web1", []string{"db", "slow"}, "shell"
	p.Steps[1].Origin.File, p.Steps[1].Origin.Line = "site.yml", 7
	rc := 3
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	list := []events.Record{
		{Step: -1, Time: at(0), Event: events.RunStarted{TotalSteps: 4, Playbook: "site.yml", Moon: "1"}},
		{Step: -1, Time: at(1), Event: events.PlanLoaded{TotalSteps: 4, Digest: "d"}},
		{Step: 0, Time: at(10), Event: events.StepStarted{Name: "first"}},
		{Step: 0, Time: at(40), Event: events.StepCompleted{Changed: true}},
		{Step: 1, Time: at(50), Event: events.StepStarted{Name: "migrate"}},
		{Step: 1, Time: at(100), Event: events.StepRetrying{Attempt: 2, Due: at(100), Error: "exit status 7\nmore"}},
		{Step: 1, Time: at(110), Event: events.AttemptStarted{Attempt: 2}},
		{Step: 1, Time: at(3050), Event: events.StepFailed{Error: "exit status 3\nlock timeout", RC: &rc}},
		{Step: 2, Time: at(3060), Event: events.StepSkipped{Reason: events.SkipWhen, Detail: "x"}},
	}
	list = append(list, more...)
	list = append(list,
		events.Record{Step: 3, Time: at(3070), Event: events.StepOmitted{Reason: "step-0002 failed"}},
		events.Record{Step: -1, Time: at(3080), Event: events.RunCompleted{TotalSteps: 4, Failed: 1, Changed: 1, Outcome: events.RunFailed, Duration: 3 * time.Second}},
	)
	feed := make(chan []events.Record, len(list))
	for i, r := range list {
		r.Seq, r.Run = uint64(i+1), "20261129-010203-abcd"
		feed <- []events.Record{r}
	}
	close(feed)
	var mu sync.Mutex
	(&Exporter{
		Settings: s, PlanFor: func(string) *plan.Plan { return p }, Host: "ci7", Version: "1.2",
		Warn: func(text string) { mu.Lock(); warnings = append(warnings, text); mu.Unlock() },
	}).Follow(feed)
	mu.Lock()
	defer mu.Unlock()
	return warnings
}

// settings are those of an environment with these variables and no others.
func settings(t *testing.T, endpoint string, env ...string) Settings {
	t.Helper()
	s, err := readSettings(t, endpoint, env...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func readSettings(t *testing.T, endpoint string, env ...string) (Settings, error) {
	t.Helper()
	for _, name := range []string{
		"OTEL_SERVICE_NAME", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "TRACEPARENT",
		"TRACESTATE", "OTEL_SDK_DISABLED", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TIMEOUT",
	} {
		t.Setenv(name, "")
	}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	return FromEnvironment(endpoint)
}

func TestTrace(t *testing.T) {
	c, url := newCollector(t)
	s := settings(t, "", "OTEL_EXPORTER_OTLP_ENDPOINT="+url+"/base/", "OTEL_EXPORTER_OTLP_HEADERS=x-team=shop,authorization=Bearer%20abc",
		"OTEL_SERVICE_NAME=deploy", "OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=prod,host.name=runner,service.name=other")
	if warnings := export(t, s); len(warnings) > 0 {
		t.Error(warnings)
	}
	if got := strings.Join(c.paths, " "); got != "/base/v1/traces /base/v1/metrics" {
		t.Errorf("it was asked for %s", got)
	}
	if h := c.heads[0]; h.Get("X-Team") != "shop" || h.Get("Authorization") != "Bearer abc" {
		t.Errorf("headers: %v", h)
	}
	if c.about["service.name"] != "deploy" || c.about["host.name"] != "runner" || c.about["deployment.environment.name"] != "prod" || c.about["service.version"] != "1.2" {
		t.Errorf("the resource is %v", c.about)
	}
	if len(c.spans) != 3 {
		t.Fatalf("there are %d spans: %+v", len(c.spans), c.spans)
	}
	first, migrate, root := c.spans[0], c.spans[1], c.spans[2]
	hex32, hex16 := regexp.MustCompile(`^[0-9a-f]{32}$`), regexp.MustCompile(`^[0-9a-f]{16}$`)
	for _, sp := range c.spans {
		if !hex32.MatchString(sp.TraceID) || sp.TraceID != root.TraceID || !hex16.MatchString(sp.SpanID) || sp.Kind != 1 {
			t.Errorf("the span %s has %s/%s of kind %d", sp.Name, sp.TraceID, sp.SpanID, sp.Kind)
		}
	}
	if root.ParentID != "" || first.ParentID != root.SpanID || migrate.ParentID != root.SpanID || first.SpanID == migrate.SpanID {
		t.Errorf("the parents are %q, %q, %q", root.ParentID, first.ParentID, migrate.ParentID)
	}
	ms := func(n int64) string { return strconv.FormatInt(began.UnixNano()+n*1e6, 10) }
	if first.Start != ms(10) || first.End != ms(40) || migrate.Start != ms(50) || migrate.End != ms(3050) || root.Start != ms(0) || root.End != ms(3080) {
		t.Errorf("the times are %s-%s %s-%s %s-%s", first.Start, first.End, migrate.Start, migrate.End, root.Start, root.End)
	}
	if first.Status.Code != 1 || migrate.Status.Code != 2 || migrate.Status.Message != "exit status 3" || root.Status.Code != 2 || root.Status.Message != "1 step failed" {
		t.Errorf("status: %+v %+v %+v", first.Status, migrate.Status, root.Status)
	}
	for key, want := range map[string]any{
		"moon.host": "web1", "moon.step.action": "shell", "moon.step.attempts": 2, "moon.step.outcome": "failed", "moon.step.changed": false,
		"process.exit.code": 3, "code.file.path": "site.yml", "code.line.number": 7, "moon.step.tags": "db,slow", "moon.step.id": "step-0002",
		"cicd.pipeline.task.run.result": "failure", "error.type": "failed",
	} {
		if got := values(t, migrate.Attrs)[key]; got != want {
			t.Errorf("migrate has %s=%v, want %v", key, got, want)
		}
	}
	if len(migrate.Events) != 1 || values(t, migrate.Events[0].Attrs)["error.message"] != "exit status 7" {
		t.Errorf("its events are %+v", migrate.Events)
	}
	if a := values(t, root.Attrs); a["moon.outcome"] != "failed" || a["moon.run.id"] != "20261129-010203-abcd" || a["cicd.pipeline.result"] != "failure" {
		t.Errorf("the run has %v", a)
	}
	checkMetrics(t, c)
}

func checkMetrics(t *testing.T, c *collector) {
	t.Helper()
	got := map[string]gotMetric{}
	for _, m := range c.metrics {
		got[m.Name] = m
	}
	if d := got["moon.run.duration"].Gauge; d == nil || *d.Points[0].Double != 3 {
		t.Errorf("moon.run.duration is %+v", got["moon.run.duration"])
	}
	steps := map[string]string{}
	if d := got["moon.steps"].Sum; d == nil || !d.Monotonic || d.Temporality != 2 {
		t.Fatalf("moon.steps is %+v", got["moon.steps"])
	}
	for _, p := range got["moon.steps"].Sum.Points {
		steps[values(t, p.Attrs)["moon.step.outcome"].(string)] = p.Int
	}
	if steps["changed"] != "1" || steps["failed"] != "1" || steps["skipped"] != "1" || steps["omitted"] != "1" || len(steps) != 4 {
		t.Errorf("moon.steps counts %v", steps)
	}
	for _, p := range got["moon.step.duration"].Histogram.Points {
		if len(p.Counts) != len(p.Bounds)+1 || p.Count != "1" {
			t.Errorf("a point is %+v", p)
		}
		// 30 ms are above 10 and not above 50; 3 s above 2.5 and not above 5.
		for outcome, bucket := range map[string]int{"changed": 1, "failed": 7} {
			if values(t, p.Attrs)["moon.step.outcome"] == outcome && p.Counts[bucket] != "1" {
				t.Errorf("%s is not in bucket %d of %v", outcome, bucket, p.Counts)
			}
		}
	}
}

// TestParent has the run be part of the trace of its caller.
func TestParent(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	c, url := newCollector(t)
	export(t, settings(t, url, "TRACEPARENT="+parent, "TRACESTATE=a=b"))
	root := c.spans[len(c.spans)-1]
	if root.TraceID != "4bf92f3577b34da6a3ce929d0e0e4736" || root.ParentID != "00f067aa0ba902b7" || root.State != "a=b" || c.spans[0].ParentID != root.SpanID {
		t.Errorf("%+v", root)
	}
	// A caller whose trace is not kept has none of it; the metrics are not its business.
	c, url = newCollector(t)
	export(t, settings(t, url, "TRACEPARENT="+strings.TrimSuffix(parent, "01")+"00"))
	if len(c.spans) != 0 || len(c.metrics) == 0 {
		t.Errorf("%d spans and %d metrics", len(c.spans), len(c.metrics))
	}
	for _, bad := range []string{
		"", "x", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", "00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01",
		"ff" + parent[2:], strings.ToUpper(parent), parent + "-x",
	} {
		if parentOf(bad, "").Known {
			t.Errorf("%q is taken for a parent", bad)
		}
	}
	if p := parentOf("01"+parent[2:]+"-more", ""); !p.Known { // of a later version what is known counts
		t.Error("a later version is refused")
	}
}

// TestSameTrace has a run that is resumed continue its trace, and another run have another.
func TestSameTrace(t *testing.T) {
	c, url := newCollector(t)
	export(t, settings(t, url))
	export(t, settings(t, url))
	if a, b := c.spans[0], c.spans[len(c.spans)-1]; a.TraceID != b.TraceID || c.spans[2].SpanID == b.SpanID {
		t.Errorf("%s/%s and %s/%s", a.TraceID, c.spans[2].SpanID, b.TraceID, b.SpanID)
	}
	// What was kept was sent before.
	n := len(c.spans)
	export(t, settings(t, url), events.Record{Step: 3, Event: events.StepCompleted{Kept: true}})
	if len(c.spans) != n+3 {
		t.Errorf("%d spans more", len(c.spans)-n)
	}
}

// TestCollectors tries those that do not do what they should: the run is never kept, and there is one warning.
func TestCollectors(t *testing.T) {
	t.Run("gone", func(t *testing.T) {
		server := httptest.NewServer(nil)
		server.Close()
		warnings := export(t, settings(t, server.URL+"?key=1"))
		if len(warnings) != 1 || !strings.Contains(warnings[0], "connection refused") {
			t.Errorf("%q", warnings)
		}
	})
	t.Run("password", func(t *testing.T) {
		server := httptest.NewServer(nil)
		server.Close()
		warnings := export(t, settings(t, strings.Replace(server.URL, "://", "://ada:hunter2@", 1)))
		if len(warnings) != 1 || strings.Contains(warnings[0], "hunter2") {
			t.Errorf("%q", warnings)
		}
	})
	t.Run("hangs", func(t *testing.T) {
		free := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-free }))
		defer server.Close()
		defer close(free)
		start := time.Now()
		warnings := export(t, settings(t, server.URL, "OTEL_EXPORTER_OTLP_TIMEOUT=300"))
		if took := time.Since(start); len(warnings) != 1 || took > 20*time.Second {
			t.Errorf("after %s: %q", took, warnings)
		}
	})
	t.Run("busy", func(t *testing.T) {
		c, url := newCollector(t)
		c.answer = func(n int, w http.ResponseWriter) bool {
			if n == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return n > 1
		}
		if warnings := export(t, settings(t, url)); len(warnings) != 0 || len(c.spans) != 3 {
			t.Errorf("%q, and %d spans", warnings, len(c.spans))
		}
	})
	t.Run("refuses", func(t *testing.T) {
		c, url := newCollector(t)
		c.answer = func(_ int, w http.ResponseWriter) bool {
			w.WriteHeader(http.StatusUnauthorized)
			return false
		}
		warnings := export(t, settings(t, url))
		if len(warnings) != 1 || !strings.Contains(warnings[0], "401") || len(c.paths) != 2 {
			t.Errorf("%q after %v", warnings, c.paths)
		}
	})
	t.Run("slow", func(t *testing.T) {
		// With room for one span the others are dropped while the first is on its way, and the run does not wait for it.
		d := &sender{s: &Settings{}, queue: make(chan span, 1)}
		n := 0
		d.warn = func(string) { n++ }
		for range 100 {
			d.put(span{})
		}
		if n != 1 || len(d.queue) != 1 {
			t.Errorf("%d warnings, %d spans queued", n, len(d.queue))
		}
	})
	t.Run("gzip", func(t *testing.T) {
		c, url := newCollector(t)
		if warnings := export(t, settings(t, url, "OTEL_EXPORTER_OTLP_COMPRESSION=gzip")); len(warnings) != 0 || len(c.spans) != 3 {
			t.Errorf("%q, and %d spans", warnings, len(c.spans))
		}
		if c.heads[0].Get("Content-Encoding") != "gzip" {
			t.Error("it is not compressed")
		}
	})
}

func TestSettings(t *testing.T) {
	s := settings(t, "", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://traces.example/x", "OTEL_METRICS_EXPORTER=none",
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS=a=b", "OTEL_EXPORTER_OTLP_HEADERS=c=d")
	if s.Traces.url.String() != "https://traces.example/x" || s.Metrics.url != nil || len(s.Traces.headers) != 1 || s.Traces.headers[0] != [2]string{"a", "b"} {
		t.Errorf("%+v", s)
	}
	t.Setenv("OTEL_METRICS_EXPORTER", "")
	if s := settings(t, "", "OTEL_EXPORTER_OTLP_TRACES_HEADERS="); s.Traces.url.String() != "http://localhost:4318/v1/traces" {
		t.Errorf("the usual endpoint is %s", s.Traces.url)
	}
	if s := settings(t, "", "OTEL_SDK_DISABLED=true"); s.Traces.url != nil || s.Metrics.url != nil {
		t.Error("it sends although it is disabled")
	}
	for env, want := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318":     "the endpoint localhost:4318/v1/traces is not an address with http:// or https://",
		"OTEL_EXPORTER_OTLP_PROTOCOL=grpc":               "moon speaks http/json",
		"OTEL_EXPORTER_OTLP_TIMEOUT=soon":                "OTEL_EXPORTER_OTLP_TIMEOUT=soon is not a number of at least 1",
		"OTEL_EXPORTER_OTLP_HEADERS=authorization":       `OTEL_EXPORTER_OTLP_HEADERS has a part that is not KEY=VALUE: the one of "authorization"`,
		"OTEL_EXPORTER_OTLP_COMPRESSION=zip":             "is not gzip or none",
		"OTEL_EXPORTER_OTLP_CERTIFICATE=/nowhere/ca.pem": "OTEL_EXPORTER_OTLP_CERTIFICATE: open /nowhere/ca.pem",
	} {
		t.Run(env, func(t *testing.T) {
			if _, err := readSettings(t, "", env); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

// TestPage finds in docs/reports.md every name that is sent, and every variable that is read; and the page names no other.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reports.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## OpenTelemetry\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var code strings.Builder
	for _, name := range []string{"exporter.go", "settings.go"} {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(file)
	}
	sent := regexp.MustCompile(`"((?:moon|cicd|code|process|error)\.[a-z_.]+)"`)
	names := map[string]bool{}
	for _, m := range sent.FindAllStringSubmatch(code.String(), -1) {
		names[m[1]] = true
		if !strings.Contains(text, "`"+m[1]+"`") {
			t.Errorf("the page lacks %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile("`((?:moon|cicd|code|process|error)\\.[a-z_.]+)`").FindAllStringSubmatch(text, -1) {
		if !names[m[1]] {
			t.Errorf("the page has %s, which is not sent", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`"((?:OTEL_|TRACE)[A-Z_]+[A-Z])"`).FindAllStringSubmatch(code.String(), -1) {
		suffix := strings.TrimPrefix(m[1], "OTEL_EXPORTER_OTLP_")
		if !strings.Contains(text, m[1]) && !strings.Contains(text, "…_"+suffix) {
			t.Errorf("the page lacks %s", m[1])
		}
	}
	if len(names) < 25 {
		t.Errorf("only %d names are looked for", len(names))
	}
}
