package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// sender posts what is queued, on a goroutine of its own.
type sender struct {
	s     *Settings
	wrap  func(spans []span) any
	warn  func(text string)
	queue chan span
	done  chan struct{}
	stop  context.CancelFunc
	ctx   context.Context // ends when the time for the rest is over

	once sync.Once // for the warning
}

func newSender(s *Settings, wrap func([]span) any, warn func(string)) *sender {
	ctx, stop := context.WithCancel(context.Background())
	d := &sender{s: s, wrap: wrap, warn: warn, queue: make(chan span, s.Queue), done: make(chan struct{}), ctx: ctx, stop: stop}
	go d.run()
	return d
}

// put queues a span, or drops it if the collector is too slow for the run.
func (d *sender) put(sp span) {
	select {
	case d.queue <- sp:
	default:
		d.complain(errors.New("it is too slow, and spans are dropped"))
	}
}

// run gathers spans and posts them, when there are enough of them or some time has passed.
func (d *sender) run() {
	defer close(d.done)
	tick := time.NewTicker(d.s.Delay)
	defer tick.Stop()
	var batch []span
	flush := func() {
		if len(batch) > 0 {
			d.post(d.s.Traces, encode(d.wrap(batch)))
			batch = nil
		}
	}
	for {
		select {
		case sp, open := <-d.queue:
			if !open {
				flush()
				return
			}
			if batch = append(batch, sp); len(batch) >= d.s.Batch {
				flush()
			}
		case <-tick.C:
			flush()
		}
	}
}

// finish posts the rest, and then metrics, within the time that one request may take: a collector that hangs keeps no run.
func (d *sender) finish(metrics []byte) {
	timer := time.AfterFunc(d.s.Timeout, d.stop)
	defer timer.Stop()
	defer d.stop()
	close(d.queue)
	select {
	case <-d.done:
	case <-d.ctx.Done():
		// The goroutine ends with the request that it waits for.
		d.complain(errors.New("it did not answer in time"))
		return
	}
	if metrics != nil {
		d.post(d.s.Metrics, metrics)
	}
}

// complain warns once: a collector that is gone stays gone for most of a run.
func (d *sender) complain(err error) {
	d.once.Do(func() { d.warn(fmt.Sprintf("the collector of OpenTelemetry did not get all of this run: %v", err)) })
}

// tries is how often a request is made that may succeed later.
const tries = 3

// post sends a document. A failure is a warning, whatever it is.
func (d *sender) post(to signal, document []byte) {
	if to.url == nil {
		return
	}
	encoding := ""
	if d.s.Gzip {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := z.Write(document)
		if err = errors.Join(err, z.Close()); err == nil {
			document, encoding = b.Bytes(), "gzip"
		}
	}
	var err error
	for n := range tries {
		var again bool
		var wait time.Duration
		if wait, again, err = d.request(to, document, encoding); err == nil {
			return
		}
		if !again || n == tries-1 {
			break
		}
		select {
		case <-time.After(max(wait, 200*time.Millisecond<<n)):
		case <-d.ctx.Done():
			d.complain(err)
			return
		}
	}
	d.complain(err)
}

// request makes one request, and says whether another may succeed, and when.
func (d *sender) request(to signal, document []byte, encoding string) (wait time.Duration, again bool, err error) {
	ctx, cancel := context.WithTimeout(d.ctx, d.s.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url.String(), bytes.NewReader(document))
	if err != nil {
		return 0, false, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "moon")
	if encoding != "" {
		req.Header.Set("Content-Encoding", encoding)
	}
	for _, h := range to.headers {
		req.Header.Set(h[0], h[1])
	}
	resp, err := d.s.client.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok { // its text has the address, and perhaps a password
			err = e.Err
		}
		return 0, false, fmt.Errorf("%s: %w", to.url.Redacted(), err)
	}
	defer resp.Body.Close() //nolint:errcheck // read as far as it is needed
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode/100 == 2 {
		return 0, false, nil
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		wait = time.Duration(n) * time.Second
	}
	return wait, again, fmt.Errorf("%s answers %s", to.url.Redacted(), resp.Status)
}
