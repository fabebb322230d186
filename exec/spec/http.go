package spec

import (
	"net/url"
	"strings"
)

// HTTPArgs are how a request is made, for every action that makes one.
type HTTPArgs struct {
	Headers             map[string]any `arg:"headers" doc:"Request headers."`
	URLUsername         string         `arg:"url_username,username,user" doc:"Who asks, for servers that want to know. It is sent at once, without being asked for."`
	URLPassword         string         `arg:"url_password,password" doc:"The password that goes with url_username."`
	ForceBasicAuth      bool           `arg:"force_basic_auth" default:"true" doc:"Send url_username at once, as is always done. False is refused."`
	ValidateCerts       bool           `arg:"validate_certs" default:"true" doc:"Whether the server must prove who it is. Without it anybody on the way can answer."`
	CAPath              string         `arg:"ca_path" kind:"path" doc:"A PEM file with the certificates that servers are checked against, instead of the system's."`
	ClientCert          string         `arg:"client_cert" kind:"path" doc:"A PEM file with the certificate to show the server, and perhaps its key."`
	ClientKey           string         `arg:"client_key" kind:"path" doc:"A PEM file with the key of client_cert."`
	UseProxy            bool           `arg:"use_proxy" default:"true" doc:"Whether http_proxy, https_proxy and no_proxy of the environment, or of the step's env, are used."`
	HTTPAgent           string         `arg:"http_agent" default:"moon" doc:"The name to ask under."`
	UnredirectedHeaders []string       `arg:"unredirected_headers" doc:"Headers that are left out when the server sends the request elsewhere. What says who asks is never sent to another host."`
	Decompress          bool           `arg:"decompress" default:"true" doc:"Whether the server may compress the answer on its way."`
	Ciphers             []string       `arg:"ciphers" doc:"Refused: moon uses what is safe."`
	UseGSSAPI           bool           `arg:"use_gssapi" default:"false" doc:"Refused: moon knows names with passwords and client certificates only."`
	UseNetrc            bool           `arg:"use_netrc" default:"false" doc:"Refused: give url_username and url_password."`
}

// check finds what cannot be done.
func (a *HTTPArgs) check(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	switch {
	case given("ciphers"):
		add("ciphers", "`ciphers` cannot be chosen", "leave it out; moon uses what is safe")
	case a.UseGSSAPI:
		add("use_gssapi", "`use_gssapi` is not supported", "give `url_username` and `url_password`, or `client_cert`")
	case a.UseNetrc:
		add("use_netrc", "`use_netrc` is not supported", "give `url_username` and `url_password`")
	case !a.ForceBasicAuth && given("url_username"):
		add("force_basic_auth", "`force_basic_auth: false` is not supported: moon says at once who asks", "leave it out")
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
