package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Settings are where to send what, as the variables of the environment say that the specification of OpenTelemetry names.
type Settings struct {
	Traces, Metrics signal
	Service         string
	Resource        []attribute // of OTEL_RESOURCE_ATTRIBUTES
	Timeout         time.Duration
	Gzip            bool
	Delta           bool // metrics since the last export, and not since the start
	Parent          Parent
	Queue, Batch    int
	Delay           time.Duration // between two exports

	client *http.Client
}

// signal is where one kind of data goes; an empty URL: nowhere.
type signal struct {
	url     *url.URL
	headers [][2]string
}

// Parent is the span of the caller, from TRACEPARENT.
type Parent struct {
	Trace   [16]byte
	Span    [8]byte
	State   string
	Sampled bool
	Known   bool
}

// FromEnvironment reads the settings. endpoint, if it is not empty, is used instead of OTEL_EXPORTER_OTLP_ENDPOINT.
func FromEnvironment(endpoint string) (Settings, error) {
	s := Settings{
		Service: os.Getenv("OTEL_SERVICE_NAME"), Timeout: 10 * time.Second, Queue: 2048, Batch: 512, Delay: 5 * time.Second,
		Parent: parentOf(os.Getenv("TRACEPARENT"), os.Getenv("TRACESTATE")),
	}
	given := endpoint != ""
	if !given {
		if endpoint = os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); endpoint == "" {
			endpoint = "http://localhost:4318"
		}
	}
	var errs []error
	for _, one := range []struct {
		to         *signal
		name, path string
	}{
		{&s.Traces, "TRACES", "v1/traces"}, {&s.Metrics, "METRICS", "v1/metrics"},
	} {
		if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_"+one.name+"_EXPORTER") == "none" {
			continue
		}
		if p := firstOf("OTEL_EXPORTER_OTLP_"+one.name+"_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"); p == "grpc" {
			errs = append(errs, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and moon speaks http/json; set it, with the endpoint for HTTP (port 4318)"))
			continue
		}
		// The endpoint of one kind is used as it is, and to that of all kinds the path of each is added.
		address, full := endpoint, ""
		if !given {
			full = os.Getenv("OTEL_EXPORTER_OTLP_" + one.name + "_ENDPOINT")
		}
		if full == "" {
			full = strings.TrimSuffix(address, "/") + "/" + one.path
		}
		u, err := url.Parse(full)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			errs = append(errs, fmt.Errorf("the endpoint %s is not an address with http:// or https://", redacted(full)))
			continue
		}
		one.to.url = u
		one.to.headers, err = pairs(firstOf("OTEL_EXPORTER_OTLP_"+one.name+"_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"))
		if err != nil {
			errs = append(errs, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS %w", err))
		}
	}
	resource, err := pairs(os.Getenv("OTEL_RESOURCE_ATTRIBUTES"))
	if err != nil {
		errs = append(errs, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES %w", err))
	}
	for _, p := range resource {
		if p[0] == "service.name" && s.Service == "" {
			s.Service = p[1]
		}
		s.Resource = append(s.Resource, text(p[0], p[1]))
	}
	errs = append(errs, s.readLimits(), s.readClient())
	return s, errors.Join(errs...)
}

// readLimits reads what is a number or one of a few words.
func (s *Settings) readLimits() error {
	var errs []error
	number := func(name string, set func(n int)) {
		if text := os.Getenv(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				errs = append(errs, fmt.Errorf("%s=%s is not a number of at least 1", name, text))
				return
			}
			set(n)
		}
	}
	number("OTEL_EXPORTER_OTLP_TIMEOUT", func(n int) { s.Timeout = time.Duration(n) * time.Millisecond })
	number("OTEL_BSP_MAX_QUEUE_SIZE", func(n int) { s.Queue = n })
	number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", func(n int) { s.Batch = n })
	number("OTEL_BSP_SCHEDULE_DELAY", func(n int) { s.Delay = time.Duration(n) * time.Millisecond })
	switch c := os.Getenv("OTEL_EXPORTER_OTLP_COMPRESSION"); c {
	case "", "none":
	case "gzip":
		s.Gzip = true
	default:
		errs = append(errs, fmt.Errorf("OTEL_EXPORTER_OTLP_COMPRESSION=%s is not gzip or none", c))
	}
	preference := strings.ToLower(os.Getenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"))
	s.Delta = preference == "delta" || preference == "lowmemory"
	return errors.Join(errs...)
}

// readClient makes the client, with certificates of its own if there are any.
func (s *Settings) readClient() error {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	s.client = &http.Client{Transport: transport}
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if file := os.Getenv("OTEL_EXPORTER_OTLP_CERTIFICATE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %s has no certificate", file)
		}
	}
	cert, key := os.Getenv("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"), os.Getenv("OTEL_EXPORTER_OTLP_CLIENT_KEY")
	if cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and _KEY: %w", err)
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	transport.TLSClientConfig = secure
	return nil
}

func firstOf(names ...string) string {
	for _, name := range names {
		if text := os.Getenv(name); text != "" {
			return text
		}
	}
	return ""
}

// redacted is an address without its password.
func redacted(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Redacted()
	}
	return "(not an address)" // there may be a password in it
}

// pairs reads "key=value,key=value", percent-encoded.
func pairs(list string) (found [][2]string, err error) {
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		key, value, ok := strings.Cut(part, "=")
		key = strings.TrimSpace(key)
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || key == "" || err != nil {
			return nil, fmt.Errorf("has a part that is not KEY=VALUE: the one of %q", key) // the value may be a password
		}
		found = append(found, [2]string{key, decoded})
	}
	return found, nil
}

// parentOf reads the header of W3C Trace Context. What is not one is ignored, as the specification has it.
func parentOf(header, state string) (p Parent) {
	parts := strings.Split(strings.TrimSpace(header), "-")
	if len(parts) < 4 || len(parts[0]) != 2 || parts[0] == "ff" || parts[0] == "00" && len(parts) != 4 || strings.ToLower(header) != header {
		return Parent{}
	}
	trace, err1 := hex.DecodeString(parts[1])
	span, err2 := hex.DecodeString(parts[2])
	flags, err3 := hex.DecodeString(parts[3])
	if errors.Join(err1, err2, err3) != nil || len(trace) != 16 || len(span) != 8 || len(flags) != 1 {
		return Parent{}
	}
	zero := func(b []byte) bool { return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 }) }
	if zero(trace) || zero(span) {
		return Parent{}
	}
	p = Parent{State: strings.TrimSpace(state), Sampled: flags[0]&1 == 1, Known: true}
	copy(p.Trace[:], trace)
	copy(p.Span[:], span)
	return p
}
