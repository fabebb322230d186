package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// bodyLimit is how much of an answer is read, in bytes.
const bodyLimit = 10 << 20

// request is an HTTP request of assert or wait.
type request struct {
	method  string
	url     string
	headers map[string]any
	body    *string
	timeout time.Duration
}

// httpClient keeps no connections: a check that finds an old one open has checked nothing.
var httpClient = sync.OnceValue(func() *http.Client {
	return &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}
})

// send returns the status and the body, as far as the limit.
func (r request) send(ctx context.Context) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	var content io.Reader
	if r.body != nil {
		content = strings.NewReader(*r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, content)
	if err != nil {
		return 0, nil, err
	}
	for name, value := range r.headers {
		req.Header.Set(name, fmt.Sprint(value))
		if strings.EqualFold(name, "Host") {
			req.Host = fmt.Sprint(value)
		}
	}
	resp, err := httpClient().Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	body, err = io.ReadAll(io.LimitReader(resp.Body, bodyLimit))
	return resp.StatusCode, body, err
}

// networkReason is what is wrong at the bottom of an error of a connection.
func networkReason(err error) string {
	if e, ok := errors.AsType[*os.SyscallError](err); ok {
		return e.Err.Error()
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Err != nil {
		return e.Err.Error()
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
