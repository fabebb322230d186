package pki

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

func TestKeys(t *testing.T) {
	for _, k := range []Kind{{Type: "RSA", Bits: 1024}, {Type: "ECC", Curve: "secp256r1"}, {Type: "Ed25519"}, {Type: "X25519"}} {
		key, err := Generate(k)
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range []string{PKCS1, PKCS8, Raw} {
			for _, passphrase := range []string{"", "correct horse"} {
				text, err := Marshal(key, format, passphrase)
				if err != nil {
					own := k.Type == "RSA" || k.Type == "ECC"
					if format == PKCS8 || format == PKCS1 && own || format == Raw && !own && passphrase == "" {
						t.Errorf("%+v as %s: %s", k, format, err)
					}
					continue
				}
				again, as, err := Parse(text, passphrase, k.Type)
				if err != nil || as != format {
					t.Errorf("%+v as %s is %s: %v", k, format, as, err)
					continue
				}
				if is, err := Describe(again); is != k || err != nil {
					t.Errorf("%+v is %+v: %v", k, is, err)
				}
				if _, _, err := Parse(text, "another", k.Type); !errors.Is(err, ErrPassphrase) {
					t.Errorf("%+v as %s with another passphrase: %v", k, format, err)
				}
				checkOpenssl(t, text, format, passphrase)
			}
		}
		public, err := Public(key)
		if err != nil {
			t.Fatal(err)
		}
		prints, err := Fingerprints(public)
		if sum, _ := prints["sha256"].(string); err != nil || len(sum) != 32*3-1 || strings.Count(sum, ":") != 31 {
			t.Errorf("%v %v", prints, err)
		}
	}
}

// checkOpenssl has openssl read a key, if there is one.
func checkOpenssl(t *testing.T, text []byte, format, passphrase string) {
	t.Helper()
	path, err := exec.LookPath("openssl")
	if err != nil || format == Raw {
		return
	}
	c := exec.CommandContext(t.Context(), path, "pkey", "-noout", "-passin", "pass:"+passphrase)
	c.Stdin = bytes.NewReader(text)
	if said, err := c.CombinedOutput(); err != nil {
		t.Errorf("openssl does not read %s: %s", text, said)
	}
}

func TestParseMistakes(t *testing.T) {
	for _, text := range []string{"", "nothing", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"} {
		if _, _, err := Parse([]byte(text), "", "RSA"); err == nil {
			t.Errorf("%q is a key", text)
		}
	}
}
