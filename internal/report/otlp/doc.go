// Package otlp sends a run to a collector of OpenTelemetry, as OTLP over HTTP in JSON: the run is a trace, its steps are spans, and at its
// end there are metrics.
//
//	events ──▶ Exporter.Follow ──▶ spans ──▶ queue ──▶ sender ──▶ POST /v1/traces
//	                          └──▶ counts ──────────────────────▶ POST /v1/metrics
//
// A run never waits for a collector and never fails because of one: the queue is bounded, what does not fit is dropped, and one warning says
// what is lost. What the steps have printed is not sent. The official SDK would add megabytes and some twenty modules for these two requests.
package otlp
