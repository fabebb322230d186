package test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/nats/serve"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue makes a certificate and its key as files; the first, without an authority, signs itself.
func issue(t *testing.T, by *authority, dir, name string) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: by == nil,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, signer := c, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + "-key.pem": {Type: "EC PRIVATE KEY", Bytes: text}} {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{made, key}
}

// TestTLS has a server with a certificate of one's own, which wants one of its clients, too.
func TestTLS(t *testing.T) {
	s := &site{t: t, dir: t.TempDir()}
	ours, theirs := issue(t, nil, s.dir, "ca"), issue(t, nil, s.dir, "other-ca")
	issue(t, &ours, s.dir, "server")
	issue(t, &ours, s.dir, "ada")
	issue(t, &theirs, s.dir, "eve")
	at := func(name string) string { return filepath.Join(s.dir, name) }
	config := at("nats.conf")
	text := fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }\n", at("server.pem"), at("server-key.pem"), at("ca.pem"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := serve.New(serve.Options{Listen: "127.0.0.1:0", Dir: at("server"), Config: config})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Shutdown(); server.WaitForShutdown() })
	s.url = strings.Replace(server.ClientURL(), "nats://", "tls://", 1)
	p := s.playbook(lines(2, "0"))
	s.do("a", 0, "--ca", at("ca.pem"), "--cert", at("ada.pem"), "--key", at("ada-key.pem"), "run", p)
	if got := s.do("b", 0, "--ca", at("ca.pem"), "--cert", at("ada.pem"), "--key", at("ada-key.pem"), "runs"); !strings.Contains(got, "2/2  done") {
		t.Errorf("the runs are\n%s", got)
	}
	for name, args := range map[string][]string{
		"a server that nobody known has signed":    {"runs"},
		"another authority":                        {"--ca", at("other-ca.pem"), "--cert", at("ada.pem"), "--key", at("ada-key.pem"), "runs"},
		"no certificate of the client":             {"--ca", at("ca.pem"), "runs"},
		"one that the server does not know signed": {"--ca", at("ca.pem"), "--cert", at("eve.pem"), "--key", at("eve-key.pem"), "runs"},
	} {
		if got := s.do("c", 2, args...); !strings.Contains(got, "connect to tls://") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if _, err := serve.New(serve.Options{Listen: "0.0.0.0:0", Dir: at("open")}); err == nil || !strings.Contains(err.Error(), "can be reached from other machines") {
		t.Errorf("a server that all may use was started: %v", err)
	}
}
