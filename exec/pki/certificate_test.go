package pki

import (
	"bytes"
	"crypto"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func newKey(t *testing.T, k Kind) crypto.PrivateKey {
	t.Helper()
	key, err := Generate(k)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// fullRequest is one with everything that a request may have.
func fullRequest() Request {
	return Request{
		Digest:  "sha256",
		Subject: []Attribute{{"C", "FR"}, {"O", "Ä"}, {"CN", "shop"}, {"emailAddress", "a@example.org"}},
		Extensions: Extensions{
			AltNames: []string{
				"DNS:*.example.org", "DNS:bücher.example", "IP:192.0.2.1", "IP:2001:db8::1", "email:a@example.org", "URI:https://example.org/x", "RID:1.2.3",
				"dirName:CN=a, O=b\\,c", "otherName:1.2.3;UTF8:text", "otherName:1.2.3;c:1:74",
			},
			Usage: []string{"digitalSignature", "decipherOnly"}, Purposes: []string{"serverAuth", "1.2.3.4"}, Basic: []string{"CA:TRUE", "pathlen:0"},
			Staple: true, Permitted: []string{"DNS:example.org", "IP:10.0.0.0/8"}, Excluded: []string{"email:.org"}, OwnKeyID: true,
			AuthorityID: "00:1f:2", Issuer: []string{"DNS:ca.example.org"}, IssuerSerial: "730750818665451459101842416358141509827966271488",
			Points:   []Point{{FullName: []string{"URI:https://ca/x.crl"}, Issuer: []string{"dirName:/CN=a/O=b"}, Reasons: []string{"key_compromise", "aa_compromise"}}},
			Critical: map[string]bool{Usage: true, Basic: true},
		},
	}
}

func TestRequest(t *testing.T) {
	for _, k := range []Kind{{Type: "RSA", Bits: 2048}, {Type: "ECC", Curve: "secp384r1"}, {Type: "Ed25519"}} {
		key := newKey(t, k)
		r := fullRequest()
		text, err := r.Sign(key)
		if err != nil {
			t.Fatal(err)
		}
		if why, err := r.Differs(text, key); why != "" || err != nil {
			t.Errorf("%s: just signed, and it differs in %q: %v", k.Type, why, err)
		}
		if why, err := r.Differs(text, newKey(t, k)); why != "another key" || err != nil {
			t.Errorf("%s: with another key it differs in %q: %v", k.Type, why, err)
		}
	}
	r := fullRequest()
	if _, err := r.Sign(newKey(t, Kind{Type: "X25519"})); err == nil || !strings.Contains(err.Error(), "sign nothing") {
		t.Errorf("X25519 signs: %v", err)
	}
}

// TestRequestDiffers changes one thing at a time: each is seen, and each that is in no order is not.
func TestRequestDiffers(t *testing.T) {
	key := newKey(t, Kind{Type: "ECC", Curve: "secp256r1"})
	is := fullRequest()
	text, err := is.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(r *Request){
		"another subject":                    func(r *Request) { r.Subject[2].Value = "other" },
		"another subject_alt_name":           func(r *Request) { r.AltNames = r.AltNames[1:] },
		"another subject_alt_name_critical":  func(r *Request) { r.Critical[AltNames] = true },
		"another key_usage":                  func(r *Request) { r.Usage = r.Usage[:1] },
		"another key_usage_critical":         func(r *Request) { r.Critical[Usage] = false },
		"another extended_key_usage":         func(r *Request) { r.Purposes = nil },
		"another basic_constraints":          func(r *Request) { r.Basic = []string{"CA:TRUE"} },
		"another ocsp_must_staple":           func(r *Request) { r.Staple = false },
		"another name_constraints_permitted": func(r *Request) { r.Excluded = append(r.Excluded, "DNS:x") },
		"another subject_key_identifier":     func(r *Request) { r.OwnKeyID, r.KeyID = false, "00:01" },
		"another authority_key_identifier":   func(r *Request) { r.IssuerSerial = "1" },
		"another crl_distribution_points":    func(r *Request) { r.Points[0].Reasons = nil },
		"": func(r *Request) {
			r.Subject[0], r.Subject[1] = r.Subject[1], r.Subject[0]
			r.AltNames[0], r.AltNames[1] = r.AltNames[1], r.AltNames[0]
			r.Purposes[0], r.Purposes[1] = r.Purposes[1], r.Purposes[0]
			r.Permitted[0], r.Permitted[1] = r.Permitted[1], r.Permitted[0]
			r.Digest = "sha512"
		},
	} {
		r := fullRequest()
		change(&r)
		if why, err := r.Differs(text, key); why != want || err != nil {
			t.Errorf("it differs in %q, not %q: %v", why, want, err)
		}
	}
	r := fullRequest()
	r.Ordered = true
	r.Subject[0], r.Subject[1] = r.Subject[1], r.Subject[0]
	if why, err := r.Differs(text, key); why != "another subject" || err != nil {
		t.Errorf("in another order it differs in %q: %v", why, err)
	}
	if why, err := r.Differs([]byte("nothing"), key); why != "the old one cannot be read" || err != nil {
		t.Errorf("nothing differs in %q: %v", why, err)
	}
}

func TestExtensionMistakes(t *testing.T) {
	for _, tt := range []struct {
		e    Extensions
		want string
	}{
		{Extensions{AltNames: []string{"example.org"}}, "subject_alt_name has \"example.org\", which does not say what it is; write DNS:example.org if it is a name of a host"},
		{Extensions{AltNames: []string{"FOO:x"}}, "subject_alt_name has \"FOO:x\"; a name begins with DNS, IP, email, URI, RID, dirName or otherName and a colon"},
		{Extensions{AltNames: []string{"IP:300.1.1.1"}}, "subject_alt_name has \"300.1.1.1\", which is not an IP address"},
		{Extensions{Permitted: []string{"IP:10.0.0.1/8"}}, "name_constraints_permitted has \"10.0.0.1/8\", which is not a network; did you mean 10.0.0.0/8?"},
		{Extensions{AltNames: []string{"RID:9.1"}}, "subject_alt_name has no object identifier \"9.1\""},
		{Extensions{AltNames: []string{"dirName:x"}}, "subject_alt_name has \"x\" in a name, where there should be a part like CN=shop"},
		{Extensions{AltNames: []string{"dirName:CN=x,"}}, "subject_alt_name has a name that ends in ,"},
		{Extensions{AltNames: []string{`dirName:CN=x\`}}, `subject_alt_name has the name "CN=x\\", which ends in a backslash`},
		{Extensions{AltNames: []string{"otherName:1.2.3"}}, "subject_alt_name has otherName:1.2.3, which is not like otherName:1.2.3;UTF8:text"},
		{Extensions{AltNames: []string{"otherName:1.2.3;INT:3"}}, "subject_alt_name has otherName:1.2.3;INT:3; its value is like UTF8:text, or in digits like 0c:04:74:65:78:74"},
		{Extensions{Usage: []string{"sign"}}, "key_usage has no \"sign\"; it is a list of words like digitalSignature"},
		{Extensions{Purposes: []string{"web"}}, "extended_key_usage has no name \"web\"; write its object identifier in digits, as 2.5.4.3"},
		{Extensions{Basic: []string{"CA:yes"}}, "basic_constraints has \"CA:yes\"; it is a list of CA:TRUE or CA:FALSE, and pathlen:0"},
		{Extensions{Basic: []string{"pathlen:x"}}, "basic_constraints has \"pathlen:x\", where a number follows the colon"},
		{Extensions{Basic: []string{"pathlen:1"}}, "basic_constraints has pathlen without CA:TRUE"},
		{Extensions{KeyID: "zz"}, "subject_key_identifier has \"zz\", which is not bytes like 00:1f:2a"},
		{Extensions{Issuer: []string{"DNS:x"}, IssuerSerial: "x"}, "authority_key_identifier has the serial number \"x\", which is not a number"},
		{Extensions{Points: []Point{{FullName: []string{"URI:x"}, Reasons: []string{"fun"}}}}, "crl_distribution_points has no \"fun\"; it is a list of words like key_compromise"},
	} {
		part, err := tt.e.Check()
		if err == nil || part+" "+err.Error() != tt.want {
			t.Errorf("%s %v\nnot %s", part, err, tt.want)
		}
	}
	for _, a := range []Attribute{{"C", "FRA"}, {"XX", "a"}, {"CN", ""}, {"emailAddress", "ä@b"}} {
		if err := CheckName([]Attribute{a}); err == nil {
			t.Errorf("%v is a part of a name", a)
		}
	}
}

// newAuthority is an authority with a certificate of its own.
func newAuthority(t *testing.T, k Kind) (a *Authority, text []byte) {
	t.Helper()
	key := newKey(t, k)
	r := Request{Digest: "sha256", Subject: []Attribute{{"CN", "CA"}}, Extensions: Extensions{
		Basic: []string{"CA:TRUE"}, Usage: []string{"keyCertSign"}, Critical: map[string]bool{Basic: true},
	}}
	c := selfSigned(t, r, key)
	text, err := c.Sign()
	if err != nil {
		t.Fatal(err)
	}
	of, err := ParseCertificate(text)
	if err != nil {
		t.Fatal(err)
	}
	if a, err = NewAuthority(of, key, true); err != nil {
		t.Fatal(err)
	}
	return a, text
}

func selfSigned(t *testing.T, r Request, key crypto.PrivateKey) Certificate {
	t.Helper()
	text, err := r.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	request, err := ParseRequest(text)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	return Certificate{Request: request, Key: key, Serial: NewSerial(), NotBefore: now, NotAfter: now.AddDate(1, 0, 0), KeyID: IfNotProvided, Digest: "sha384"}
}

func TestCertificate(t *testing.T) {
	shop := Request{Digest: "sha256", Subject: []Attribute{{"O", "Example"}, {"CN", "shop"}}, Extensions: Extensions{
		AltNames: []string{"DNS:shop.example.org"}, Purposes: []string{"serverAuth"},
	}}
	for _, k := range []Kind{{Type: "RSA", Bits: 2048}, {Type: "ECC", Curve: "secp256r1"}, {Type: "Ed25519"}} {
		authority, caText := newAuthority(t, k)
		key := newKey(t, k)
		wanted := selfSigned(t, shop, key)
		wanted.Authority, wanted.Key = authority, nil
		text, err := wanted.Sign()
		if err != nil {
			t.Fatal(err)
		}
		if why, err := wanted.Differs(text); why != "" || err != nil {
			t.Errorf("%s: just signed, and it differs in %q: %v", k.Type, why, err)
		}
		verify(t, caText, text)
		checkDifferences(t, wanted, text, key)
	}
	if _, err := NewAuthority(mustAuthority(t).Certificate, newKey(t, Kind{Type: "Ed25519"}), true); err == nil {
		t.Error("an authority has the key of another")
	}
	// A certificate of a key alone has neither a name nor extensions.
	now := time.Now()
	bare := Certificate{Key: newKey(t, Kind{Type: "Ed25519"}), Serial: NewSerial(), NotBefore: now, NotAfter: now.Add(time.Hour), KeyID: Never, Digest: "sha256"}
	text, err := bare.Sign()
	if err != nil {
		t.Fatal(err)
	}
	if why, err := bare.Differs(text); why != "" || err != nil {
		t.Errorf("a bare one differs in %q: %v", why, err)
	}
}

func mustAuthority(t *testing.T) *Authority {
	t.Helper()
	a, _ := newAuthority(t, Kind{Type: "Ed25519"})
	return a
}

// checkDifferences changes one thing at a time.
func checkDifferences(t *testing.T, is Certificate, text []byte, key crypto.PrivateKey) {
	t.Helper()
	other := Request{Digest: "sha256", Subject: []Attribute{{"CN", "shop"}, {"O", "Example"}}, Extensions: Extensions{AltNames: []string{"DNS:shop.example.org"}, Purposes: []string{"serverAuth"}}}
	named := Request{Digest: "sha256", Subject: []Attribute{{"O", "Example"}, {"CN", "shop"}}, Extensions: Extensions{AltNames: []string{"DNS:x"}, Purposes: []string{"serverAuth"}}}
	bare := Request{Digest: "sha256", Subject: []Attribute{{"O", "Example"}, {"CN", "shop"}}}
	marked := Request{Digest: "sha256", Subject: named.Subject, Extensions: Extensions{AltNames: []string{"DNS:shop.example.org"}, Purposes: []string{"serverAuth"}, KeyID: "00:01"}}
	for want, change := range map[string]func(c *Certificate){
		"another subject":               func(c *Certificate) { c.Request = selfSigned(t, other, key).Request },
		"another extension 2.5.29.17":   func(c *Certificate) { c.Request = selfSigned(t, named, key).Request },
		"other extensions":              func(c *Certificate) { c.Request = selfSigned(t, bare, key).Request },
		"another identifier of the key": func(c *Certificate) { c.Request = selfSigned(t, marked, key).Request },
		"the key of the request":        func(c *Certificate) { c.Request = selfSigned(t, other, newKey(t, Kind{Type: "Ed25519"})).Request },
		"another key":                   func(c *Certificate) { c.Key = newKey(t, Kind{Type: "Ed25519"}) },
		"signed by another key":         func(c *Certificate) { c.Authority = mustAuthority(t) },
		"another identifier of the issuer's key": func(c *Certificate) {
			a := *c.Authority
			of := *a.Certificate
			of.SubjectKeyId = []byte{1}
			a.Certificate = &of
			c.Authority = &a
		},
		"not after " + stamp(is.NotAfter.Add(time.Minute)) + ", and not " + stamp(is.NotAfter): func(c *Certificate) {
			c.NotAfter, c.CheckTimes = c.NotAfter.Add(time.Minute), true
		},
		"": func(c *Certificate) { c.Digest, c.NotAfter = "sha512", c.NotAfter.Add(time.Minute) },
	} {
		c := is
		change(&c)
		if why, err := c.Differs(text); why != want || err != nil {
			t.Errorf("it differs in %q, not %q: %v", why, want, err)
		}
	}
}

// verify has openssl verify a certificate, if there is one.
func verify(t *testing.T, ca, text []byte) {
	t.Helper()
	path, err := exec.LookPath("openssl")
	if err != nil {
		return
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, ca, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), path, "verify", "-x509_strict", "-CAfile", file, "-verify_hostname", "shop.example.org")
	c.Stdin = bytes.NewReader(text)
	if said, err := c.CombinedOutput(); err != nil {
		t.Errorf("openssl does not verify it: %s", said)
	}
}

func TestPublic(t *testing.T) {
	for _, k := range []Kind{{Type: "RSA", Bits: 2048}, {Type: "ECC", Curve: "secp521r1"}, {Type: "Ed25519"}} {
		public, err := Public(newKey(t, k))
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range []string{PEM, OpenSSH} {
			text, err := MarshalPublic(public, format)
			if err != nil {
				t.Fatal(err)
			}
			again, err := ParsePublic(text, format)
			if err != nil || !SamePublic(again, public) {
				t.Errorf("%s as %s is another: %v", k.Type, format, err)
			}
		}
	}
	public, err := Public(newKey(t, Kind{Type: "X25519"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := MarshalPublic(public, OpenSSH); err == nil {
		t.Error("X25519 is a key of OpenSSH")
	}
}

func TestTime(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"+0s": "20261128120000Z", "+32w1d2h": "20270711140000Z", "-1d": "20261127120000Z", "+90": "20261128120130Z", "+1m": "20261128120100Z",
		"20301231235959Z": "20301231235959Z", "203012312359Z": "20301231235900Z", "20301231235959+0200": "20301231215959Z",
	} {
		got, err := ParseTime(text, now)
		if err != nil || got.Format(Time) != want {
			t.Errorf("%s is %s, not %s: %v", text, got.Format(Time), want, err)
		}
	}
	for _, text := range []string{"", "+", "1d", "+1x", "+1d1w", "20301231", "+1dd", "tomorrow"} {
		if got, err := ParseTime(text, now); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}
