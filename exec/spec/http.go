package spec

import (
	"net/url"
	"strings"
)

// HTTPArgs are how a request is made, for every action that makes one.
type HTTPArgs struct {
	Headers             map[string]any `arg:"headers" doc:"Request headers."`
	URLUsername         string         `arg:"url_username,username,user" doc:"The user name for servers that require one. It is sent at once, without waiting for the server to ask."`
	URLPassword         string         `arg:"url_password,password" doc:"The password for url_username."`
	ForceBasicAuth      bool           `arg:"force_basic_auth" default:"true" doc:"Send url_username at once, which moon always does. False is refused."`
	ValidateCerts       bool           `arg:"validate_certs" default:"true" doc:"Whether the certificate of the server is verified. Without that, an attacker on the network can answer."`
	CAPath              string         `arg:"ca_path" kind:"path" doc:"A PEM file with the trusted certificates, instead of the system's."`
	ClientCert          string         `arg:"client_cert" kind:"path" doc:"A PEM file with the client certificate, and optionally its key."`
	ClientKey           string         `arg:"client_key" kind:"path" doc:"A PEM file with the key of client_cert."`
	UseProxy            bool           `arg:"use_proxy" default:"true" doc:"Whether http_proxy, https_proxy and no_proxy of the environment, or of the step's env, are used."`
	HTTPAgent           string         `arg:"http_agent" default:"moon" doc:"The User-Agent to send."`
	UnredirectedHeaders []string       `arg:"unredirected_headers" doc:"Headers that are not sent after a redirect. Credentials are never sent to another host."`
	Decompress          bool           `arg:"decompress" default:"true" doc:"Whether the server may compress the answer."`
	Ciphers             []string       `arg:"ciphers" doc:"Refused: moon uses safe ciphers."`
	UseGSSAPI           bool           `arg:"use_gssapi" default:"false" doc:"Refused: moon supports only passwords and client certificates."`
	UseNetrc            bool           `arg:"use_netrc" default:"false" doc:"Refused: give url_username and url_password."`
}

// checkArgs finds what cannot be done.
func (a *HTTPArgs) checkArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	switch {
	case given("ciphers"):
		add("ciphers", "`ciphers` cannot be chosen", "remove it; moon uses safe ciphers")
	case a.UseGSSAPI:
		add("use_gssapi", "`use_gssapi` is not supported", "give `url_username` and `url_password`, or `client_cert`")
	case a.UseNetrc:
		add("use_netrc", "`use_netrc` is not supported", "give `url_username` and `url_password`")
	case !a.ForceBasicAuth && given("url_username"):
		add("force_basic_auth", "`force_basic_auth: false` is not supported: moon always sends the user name at once", "remove it")
	}
	if given("url_password") && !given("url_username") {
		add("url_password", "`url_password` needs `url_username`", "")
	}
	if given("client_key") && !given("client_cert") {
		add("client_key", "`client_key` needs `client_cert`", "")
	}
	if given("ca_path") && !a.ValidateCerts {
		add("ca_path", "`ca_path` has no effect with `validate_certs: false`", "leave one of them out")
	}
	return problems
}

// checkURL finds what is wrong with a URL. The text is not repeated: there may be a password in it.
func checkURL(field, text string, schemes ...string) []Problem {
	u, err := url.Parse(text)
	wrong := func(message, hint string) []Problem { return []Problem{{field, "`" + field + "` " + message, hint}} }
	if err != nil {
		return wrong("is not a URL", "write it like https://example.com/file")
	}
	for _, scheme := range schemes {
		switch {
		case u.Scheme != scheme:
		case scheme != "file" && u.Host == "":
			return wrong("names no host", "write it like https://example.com/file")
		case scheme == "file" && (u.Host != "" && u.Host != "localhost" || u.Path == ""):
			return wrong("names no file of this machine", "write it like file:///srv/file")
		default:
			return nil
		}
	}
	hint := "it takes " + strings.Join(schemes, ", ")
	if u.Scheme == "" {
		return wrong("has no scheme", "write it like https://example.com/file")
	}
	return wrong("has the scheme "+u.Scheme+", which is not supported", hint)
}
