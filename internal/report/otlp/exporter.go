package otlp

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"moon/events"
	"moon/internal/report/reading"
	"moon/plan"
)

// Exporter sends a run while it is read.
type Exporter struct {
	Settings Settings
	PlanFor  func(digest string) *plan.Plan // required
	Warn     func(text string)              // required: is given at most one warning
	Host     string                         // that moon runs on
	Version  string                         // of moon

	run     reading.Reading
	send    *sender
	trace   id
	root    id
	began   time.Time
	retries map[int][]happened // of steps that have not ended
	ended   map[[2]string]*tally
}

// tally is how often, and how long, steps with an action ended in a way.
type tally struct {
	n      int
	sum    float64
	counts []int
}

// bounds are those of the histogram of durations, in seconds.
var bounds = []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600}

// Follow sends a run until the feed ends.
func (x *Exporter) Follow(feed <-chan []events.Record) {
	x.run.PlanFor = x.PlanFor
	x.send = newSender(&x.Settings, x.wrapSpans, x.Warn)
	x.retries, x.ended = map[int][]happened{}, map[[2]string]*tally{}
	for batch := range feed {
		for _, r := range batch {
			x.run.Take(r)
			if !r.Again {
				x.take(r)
			}
		}
	}
	var document []byte
	if x.began.IsZero() { // nothing has begun
		x.send.finish(nil)
		return
	}
	x.put(x.rootSpan())
	if x.Settings.Metrics.url != nil {
		document = encode(x.metrics())
	}
	x.send.finish(document)
}

func (x *Exporter) take(r events.Record) {
	switch e := r.Event.(type) { //nolint:gochecksumtype // a trace has nothing of the rest
	case events.RunStarted:
		x.begin(r)
	case events.StepRetrying:
		x.retries[r.Step] = append(x.retries[r.Step], happened{nanos(r.Time), "retry", []attribute{
			integer("moon.step.attempt", int64(e.Attempt)), text("error.message", firstLine(e.Error)), boolean("moon.by_user", e.ByUser),
		}})
	case events.StepCompleted:
		if !e.Kept && !e.Outdated { // what an earlier process has done it has sent
			x.endStep(r)
		}
	case events.StepFailed:
		if !e.Outdated {
			x.endStep(r)
		}
	case events.StepSkipped, events.StepLost, events.StepCancelled, events.StepOmitted:
		x.endStep(r)
	}
}

// begin makes the ids of the trace. A run that is resumed continues its trace, and one that has a caller is part of the caller's.
func (x *Exporter) begin(r events.Record) {
	sum := sha256.Sum256([]byte("moon\x00" + x.Host + "\x00" + r.Run))
	x.trace = sum[:16]
	if x.Settings.Parent.Known {
		x.trace = x.Settings.Parent.Trace[:]
	}
	x.root, x.began = newID(), r.Time
}

func newID() id {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // it never fails
	return b
}

// put queues a span, unless the caller's trace is not one that is kept.
func (x *Exporter) put(sp span) {
	if x.Settings.Traces.url == nil || x.Settings.Parent.Known && !x.Settings.Parent.Sampled {
		return
	}
	sp.TraceID, sp.Kind, sp.Flags, sp.State = x.trace, kindInternal, 1, x.Settings.Parent.State
	x.send.put(sp)
}

// endStep counts a step that has ended, and sends the span of one that has begun.
func (x *Exporter) endStep(r events.Record) {
	if x.trace == nil || r.Step < 0 || r.Step >= x.run.Steps() {
		return
	}
	s := &x.run.Run.Steps[r.Step]
	action := ""
	if x.run.Plan != nil {
		action = x.run.Plan.Steps[r.Step].Action
	}
	key := [2]string{action, s.Outcome.String()}
	t := x.ended[key]
	if t == nil {
		t = &tally{counts: make([]int, len(bounds)+1)}
		x.ended[key] = t
	}
	t.n++
	if s.Attempt > 0 {
		took := s.Lasted(s.Ended).Seconds()
		t.sum += took
		n, _ := slices.BinarySearch(bounds, took) // a bound belongs to the bucket below it
		t.counts[n]++
		x.put(x.stepSpan(r.Step, action))
	}
	delete(x.retries, r.Step)
}

// results are the words of the conventions for how a task of a pipeline ended.
var results = map[events.Outcome]string{
	events.OK: "success", events.Changed: "success", events.Skipped: "skip", events.Failed: "failure", events.Rejected: "failure",
	events.Timeout: "timeout", events.Cancelled: "cancellation", events.Lost: "error", events.Unreachable: "error", events.Omitted: "skip",
}

func (x *Exporter) stepSpan(i int, action string) span {
	s := &x.run.Run.Steps[i]
	sp := span{SpanID: newID(), ParentID: x.root, Name: x.run.Name(i), Start: nanos(s.Began()), End: nanos(s.Ended), Events: x.retries[i]}
	sp.Attributes = []attribute{
		text("moon.step.id", events.StepID(i)), text("moon.step.action", action), text("moon.step.outcome", s.Outcome.String()),
		integer("moon.step.attempts", int64(s.Attempt)), boolean("moon.step.changed", s.Outcome == events.Changed),
		text("cicd.pipeline.task.name", x.run.Name(i)), text("cicd.pipeline.task.run.id", x.run.Run.ID+"/"+events.StepID(i)),
		text("cicd.pipeline.task.run.result", results[s.Outcome]),
	}
	add := func(a ...attribute) { sp.Attributes = append(sp.Attributes, a...) }
	if x.run.Plan != nil {
		p := &x.run.Plan.Steps[i]
		add(text("moon.step.path", p.Path), text("moon.host", p.Host), text("code.file.path", p.Origin.File),
			integer("code.line.number", int64(p.Origin.Line)))
		if p.Delegate != "" {
			add(text("moon.delegate", p.Delegate))
		}
		if len(p.Tags) > 0 {
			add(list("moon.step.tags", p.Tags))
		}
	}
	if s.HasRC {
		add(integer("process.exit.code", int64(s.RC)))
	}
	if s.Marked {
		add(boolean("moon.step.marked", true))
	}
	switch {
	case s.Ignored, s.Rescued:
		add(boolean("moon.step.ignored", s.Ignored), boolean("moon.step.rescued", s.Rescued), text("error.message", firstLine(s.Error)))
	case events.Bad.Has(s.Outcome):
		head, _ := x.run.Why(i)
		add(text("error.type", s.Outcome.String()))
		sp.Status = status{statusError, head}
	case s.Outcome == events.OK, s.Outcome == events.Changed:
		sp.Status.Code = statusOK
	}
	return sp
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// rootSpan is the span of the run.
func (x *Exporter) rootSpan() span {
	run, e := &x.run.Run, x.run.Result()
	end := run.Ended
	if end.IsZero() {
		end = time.Now()
	}
	sp := span{SpanID: x.root, Name: "moon run " + run.Playbook, Start: nanos(x.began), End: nanos(end)}
	if x.Settings.Parent.Known {
		sp.ParentID = x.Settings.Parent.Span[:]
	}
	outcome := cmp.Or(string(e.Outcome), "not ended")
	result := map[string]string{"done": "success", "failed": "failure", "stopped": "cancellation", "interrupted": "cancellation"}[outcome]
	sp.Attributes = []attribute{
		text("moon.run.id", run.ID), text("moon.playbook", run.Playbook), text("moon.outcome", outcome), boolean("moon.dry_run", run.Check),
		integer("moon.steps.total", int64(e.TotalSteps)), integer("moon.steps.changed", int64(e.Changed)),
		integer("moon.steps.failed", int64(e.Failed)),
		text("cicd.pipeline.name", run.Playbook), text("cicd.pipeline.run.id", run.ID), text("cicd.pipeline.result", cmp.Or(result, "error")),
	}
	switch e.Outcome {
	case events.RunFailed:
		sp.Status = status{statusError, plan.CountOf(e.Failed, "step") + " failed"}
		if e.Error != "" {
			sp.Status.Message = firstLine(e.Error)
		}
	case events.RunDone:
		sp.Status.Code = statusOK
	}
	return sp
}

func (x *Exporter) resource() resource {
	// What the environment says of the resource counts more.
	all := []attribute{
		text("service.name", cmp.Or(x.Settings.Service, "moon")), text("service.version", x.Version), text("host.name", x.Host),
		text("telemetry.sdk.name", "moon"), text("telemetry.sdk.language", "go"),
	}
	for _, a := range x.Settings.Resource {
		at := slices.IndexFunc(all, func(b attribute) bool { return a.Key == b.Key })
		switch {
		case at < 0:
			all = append(all, a)
		case a.Key != "service.name":
			all[at] = a
		}
	}
	return resource{all}
}

func (x *Exporter) wrapSpans(spans []span) any {
	return traces{[]resourceSpans{{x.resource(), []scopeSpans{{scope{"moon", x.Version}, spans}}}}}
}

// metrics are those of the run: how many steps ended how, how long they took, and how long it took.
func (x *Exporter) metrics() any {
	now, start := nanos(time.Now()), nanos(x.began)
	// A process runs once, so since the start and since the last export are the same numbers; which of them they are called, the backend decides.
	temporality := sinceStart
	if x.Settings.Delta {
		temporality = sinceLast
	}
	run, e := &x.run.Run, x.run.Result()
	counts := &sum{Temporality: temporality, Monotonic: true}
	times := &histogram{Temporality: temporality}
	byKey := func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }
	for _, key := range slices.SortedFunc(maps.Keys(x.ended), byKey) {
		t := x.ended[key]
		about := []attribute{
			text("moon.playbook", run.Playbook), text("moon.step.action", key[0]), text("moon.step.outcome", key[1]),
		}
		counts.Points = append(counts.Points, point{Attributes: about, Start: start, Time: now, Int: strconv.Itoa(t.n)})
		n, texts := 0, make([]string, len(t.counts))
		for i, c := range t.counts {
			n += c
			texts[i] = strconv.Itoa(c)
		}
		if n > 0 {
			times.Points = append(times.Points, buckets{
				Attributes: about, Start: start, Time: now, Count: strconv.Itoa(n), Sum: t.sum, Counts: texts, Bounds: bounds,
			})
		}
	}
	about := []attribute{
		text("moon.playbook", run.Playbook), text("moon.outcome", cmp.Or(string(e.Outcome), "not ended")),
		boolean("moon.dry_run", run.Check),
	}
	took := e.Duration.Seconds()
	all := []metric{
		{
			Name: "moon.run.duration", Description: "How long the run took.", Unit: "s",
			Gauge: &gauge{[]point{{Attributes: about, Start: start, Time: now, Double: &took}}},
		},
	}
	if len(counts.Points) > 0 {
		all = append(all, metric{Name: "moon.steps", Description: "How many steps have ended.", Unit: "{step}", Sum: counts})
	}
	if len(times.Points) > 0 {
		all = append(all, metric{Name: "moon.step.duration", Description: "How long steps took.", Unit: "s", Histogram: times})
	}
	return metrics{[]resourceMetrics{{x.resource(), []scopeMetrics{{scope{"moon", x.Version}, all}}}}}
}
