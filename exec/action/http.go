package action

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"

	"moon/exec/fault"
	"moon/exec/spec"
)

// bodyLimit is how much of an answer is read, in bytes.
const bodyLimit = 10 << 20

// request is an HTTP request. Actions that only look need the first five fields.
type request struct {
	method  string
	url     string
	headers map[string]any
	body    *string
	timeout time.Duration // of the whole answer for send, of every wait for the server for do

	args   *spec.HTTPArgs                       // nil: nothing special
	env    func(name string) string             // where proxies are named
	upload func() (io.ReadCloser, int64, error) // instead of body, with its length
	typ    string                               // Content-Type, unless headers give one
	follow string                               // which redirects: all, safe (of what only reads) or none; "": all
	socket string                               // a unix socket to ask through
	since  time.Time                            // zero: send it in any case
}

// httpClient keeps no connections: a check that finds an old one open has checked nothing.
var httpClient = sync.OnceValue(func() *http.Client {
	return &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}
})

// sendRequest returns the status and the body, as far as the limit.
func (r request) sendRequest(ctx context.Context) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	req, err := r.makeRequest(ctx)
	if err != nil {
		return 0, nil, err
	}
	resp, err := httpClient().Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	body, err = io.ReadAll(io.LimitReader(resp.Body, bodyLimit))
	return resp.StatusCode, body, err
}

func (r request) makeRequest(ctx context.Context) (*http.Request, error) {
	var content io.Reader
	if r.body != nil {
		content = strings.NewReader(*r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, content)
	if err != nil {
		return nil, requestError{message: "the request cannot be made: " + networkReason(err)}
	}
	if r.upload != nil {
		if err := r.attachFile(req); err != nil {
			return nil, err
		}
	}
	if r.typ != "" {
		req.Header.Set("Content-Type", r.typ)
	}
	headers := r.headers
	if a := r.args; a != nil {
		headers = a.Headers
		req.Header.Set("User-Agent", a.HTTPAgent)
		if a.URLUsername != "" {
			req.SetBasicAuth(a.URLUsername, a.URLPassword)
		}
	}
	if !r.since.IsZero() {
		req.Header.Set("If-Modified-Since", r.since.UTC().Format(http.TimeFormat))
	}
	for name, value := range headers {
		req.Header.Set(name, fmt.Sprint(value))
		// net/http sends the field of the request, and drops a header of that name.
		if strings.EqualFold(name, "Host") {
			req.Host = fmt.Sprint(value)
		}
	}
	return req, nil
}

// attachFile sends a file along, which is opened again when the request is sent elsewhere.
func (r request) attachFile(req *http.Request) error {
	f, n, err := r.upload()
	if err != nil {
		return err
	}
	req.Body, req.ContentLength = f, n
	req.GetBody = func() (io.ReadCloser, error) {
		f, _, err := r.upload()
		return f, err
	}
	return nil
}

// requestError is a request that came to nothing, in words that hold no secret.
type requestError struct {
	message string
	passing bool // may go better a moment later
	unsent  bool // it never reached the server
}

func (e requestError) Error() string { return e.message }

func (e requestError) MayPass() bool { return e.passing }

// errSilent ends a request whose server says nothing any more.
var errSilent = errors.New("silent")

// doRequest sends the request and returns the answer, whose body is to be closed. Only its beginning, and each piece of the
// body, must come within the timeout: how long a large file takes as a whole is nobody's business.
func (r request) doRequest(ctx context.Context) (*http.Response, error) {
	client, err := r.makeClient()
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithCancelCause(ctx)
	silence := time.AfterFunc(r.timeout, func() { cancel(errSilent) })
	end := func() {
		silence.Stop()
		cancel(nil)
	}
	req, err := r.makeRequest(within)
	if err != nil {
		end()
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		err = r.explainFailure(ctx, within, err)
		end()
		return nil, err
	}
	// From here on each piece of the body has the timeout for itself.
	silence.Reset(r.timeout)
	resp.Body = &answerBody{
		ReadCloser: resp.Body, end: end, given: func() error { return context.Cause(within) },
		failed: func(err error) error { return r.explainFailure(ctx, within, err) }, alive: func() { silence.Reset(r.timeout) },
	}
	return resp, nil
}

// answerBody is the body of an answer as it comes in.
type answerBody struct {
	io.ReadCloser
	failed func(error) error
	given  func() error // why it was given up
	alive  func()
	end    func()
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.alive()
	// What ends because we have given it up may look like an end as the server meant it, and is not.
	if err != nil && (!errors.Is(err, io.EOF) || b.given() != nil) {
		err = b.failed(err)
	}
	return n, err
}

func (b *answerBody) Close() error {
	err := b.ReadCloser.Close()
	b.end()
	return err
}

// explainFailure says in words why a request came to nothing.
func (r request) explainFailure(ctx, within context.Context, err error) error {
	if fault.Stopped(ctx) != "" {
		return context.Cause(ctx)
	}
	e := requestError{message: hidePassword(r.url) + ": " + networkReason(err), passing: isPassing(err)}
	// A connection that was never made has carried nothing, so the request may be sent again whatever its method.
	if op, ok := errors.AsType[*net.OpError](err); ok {
		e.unsent = op.Op == "dial"
	}
	switch {
	case errors.Is(context.Cause(within), errSilent):
		e = requestError{message: fmt.Sprintf("%s did not answer within %s", hidePassword(r.url), r.timeout), passing: true}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		e = requestError{message: hidePassword(r.url) + ": the answer broke off", passing: true}
	}
	return e
}

// hidePassword returns a URL without a password.
func hidePassword(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "the URL"
	}
	return u.Redacted()
}

const maxRedirects = 10

func (r request) makeClient() (*http.Client, error) {
	a := r.args
	// Each request has a client of its own, so a connection that is kept open would never be used.
	t := &http.Transport{DisableKeepAlives: true, DisableCompression: !a.Decompress}
	if a.UseProxy {
		proxy := r.chooseProxies()
		t.Proxy = func(req *http.Request) (*url.URL, error) { return proxy(req.URL) }
	}
	if r.socket != "" {
		t.Proxy = nil
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", r.socket)
		}
	}
	var err error
	if t.TLSClientConfig, err = tlsConfig(a); err != nil {
		return nil, err
	}
	// A transport with TLS settings of its own would speak HTTP/1.1 only.
	t.ForceAttemptHTTP2 = true
	return &http.Client{Transport: t, CheckRedirect: r.checkRedirect}, nil
}

func (r request) chooseProxies() func(*url.URL) (*url.URL, error) {
	// net/http reads the proxies once, from moon's own environment; those of the step count.
	either := func(name string) string {
		if value := r.env(name); value != "" {
			return value
		}
		return r.env(strings.ToLower(name))
	}
	c := httpproxy.Config{HTTPProxy: either("HTTP_PROXY"), HTTPSProxy: either("HTTPS_PROXY"), NoProxy: either("NO_PROXY")}
	return c.ProxyFunc()
}

// checkRedirect decides on a request that the server sends elsewhere.
func (r request) checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	reads := first.Method == http.MethodGet || first.Method == http.MethodHead
	switch {
	case r.follow == "none", r.follow == "safe" && !reads:
		return http.ErrUseLastResponse
	case len(via) > maxRedirects:
		return fmt.Errorf("it is sent elsewhere more than %d times", maxRedirects)
	}
	leave := slices.Clone(r.args.UnredirectedHeaders)
	// A login goes neither to another host nor in the clear to the same.
	if req.URL.Host != first.URL.Host || first.URL.Scheme == "https" && req.URL.Scheme != "https" {
		leave = append(leave, "Authorization", "Cookie")
	}
	for _, name := range leave {
		req.Header.Del(name)
	}
	return nil
}

func tlsConfig(a *spec.HTTPArgs) (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: !a.ValidateCerts} // the playbook says so
	if a.CAPath != "" {
		pem, err := os.ReadFile(a.CAPath)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fault.Missing(a.CAPath, "ca_path %s does not exist", a.CAPath)
		}
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca_path %s holds no PEM certificate", a.CAPath)
		}
	}
	if a.ClientCert != "" {
		key := a.ClientKey
		// One PEM file may hold the certificate and the key.
		if key == "" {
			key = a.ClientCert
		}
		for _, file := range []string{a.ClientCert, key} {
			if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
				return nil, fault.Missing(file, "%s does not exist", file)
			}
		}
		pair, err := tls.LoadX509KeyPair(a.ClientCert, key)
		if err != nil {
			return nil, fmt.Errorf("client_cert %s and its key do not fit together, or are not PEM", a.ClientCert)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// networkReason is what is wrong at the bottom of an error of a connection.
func networkReason(err error) string {
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		if e.IsNotFound {
			return "no host is called " + e.Name
		}
		return "the name server cannot say where " + e.Name + " is"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "its certificate is not signed by a trusted authority; if that is expected, set `ca_path`"
	}
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		return "its certificate is not one of " + e.Host
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok && e.Reason == x509.Expired {
		return "its certificate has expired, or is not valid yet"
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "its certificate is not valid: " + strings.TrimPrefix(e.Err.Error(), "x509: ")
	}
	if e, ok := errors.AsType[*os.SyscallError](err); ok {
		return e.Err.Error()
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Err != nil {
		return strings.TrimPrefix(e.Err.Error(), "tls: ")
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// isPassing reports an error of the network that may be gone a moment later.
func isPassing(err error) bool {
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return e.IsTemporary || e.IsTimeout
	}
	for _, passing := range []syscall.Errno{
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
		syscall.ENETDOWN,
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return fault.IsTransient(err)
}

// isPassingStatus reports an answer that may be another one a moment later.
func isPassingStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// statusText is a status with its name: "404 Not Found".
func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}
