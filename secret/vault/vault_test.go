package vault_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"moon/secret/vault"
)

// seal encrypts as Ansible does, with a salt that is no secret.
func seal(tb testing.TB, plain, password, label string) string {
	tb.Helper()
	salt := sha256.Sum256([]byte(label + password))
	keys, err := pbkdf2.Key(sha256.New, password, salt[:], 10_000, 80)
	if err != nil {
		tb.Fatal(err)
	}
	padding := aes.BlockSize - len(plain)%aes.BlockSize
	text := append([]byte(plain), bytes.Repeat([]byte{byte(padding)}, padding)...)
	block, err := aes.NewCipher(keys[:32])
	if err != nil {
		tb.Fatal(err)
	}
	cipher.NewCTR(block, keys[64:]).XORKeyStream(text, text)
	mac := hmac.New(sha256.New, keys[32:64])
	mac.Write(text)
	body := hex.EncodeToString(fmt.Appendf(nil, "%x\n%x\n%x", salt, mac.Sum(nil), text))
	header := "$ANSIBLE_VAULT;1.1;AES256"
	if label != "" {
		header = "$ANSIBLE_VAULT;1.2;AES256;" + label
	}
	for ; len(body) > 80; body = body[80:] {
		header += "\n" + body[:80]
	}
	return header + "\n" + body + "\n"
}

// known was made by ansible-vault 2.14 with the password "open sesame", and holds "hunter2\n".
const known = `$ANSIBLE_VAULT;1.1;AES256
30613232343166643130363331336233623130373561303332353163393733383533313330643034
3436306664656562343231643139373031306166663061310a623132633236366533633863333865
33393834313933643665663333663136636332646537353666656331656631376364376538663532
6435343763623334360a376566343564656336363836643432313065636137353832353963356663
6464
`

func TestDecrypt(t *testing.T) {
	open, other := vault.Password{Text: "open sesame"}, vault.Password{Text: "hocus"}
	prod := vault.Password{ID: "prod", Text: "prod password"}
	v11, v12 := seal(t, "hunter2\n", "open sesame", ""), seal(t, "hunter3", "prod password", "prod")
	tests := []struct {
		name      string
		text      string
		passwords []vault.Password
		want      string
		err       string
	}{
		{"of Ansible itself", known, []vault.Password{open}, "hunter2\n", ""},
		{"version 1.1", v11, []vault.Password{open}, "hunter2\n", ""},
		{"version 1.2", v12, []vault.Password{prod}, "hunter3", ""},
		{"the others are tried too", v12, []vault.Password{open, {ID: "dev", Text: "prod password"}}, "hunter3", ""},
		{"the second of two", v11, []vault.Password{other, open}, "hunter2\n", ""},
		{"no final newline, and indented", strings.ReplaceAll(strings.TrimSpace(v11), "\n", "\n    "), []vault.Password{open}, "hunter2\n", ""},
		{"lines end as on Windows", strings.ReplaceAll(v11, "\n", "\r\n"), []vault.Password{open}, "hunter2\n", ""},
		{"a whole block", seal(t, "0123456789abcdef", "open sesame", ""), []vault.Password{open}, "0123456789abcdef", ""},
		{"nothing", seal(t, "", "open sesame", ""), []vault.Password{open}, "", ""},
		{"the wrong password", v11, []vault.Password{other}, "", "none of the passwords opens it"},
		{"no password", v11, nil, "", "it is encrypted, and no password was given"},
		{"another version", strings.Replace(v11, "1.1", "1.0", 1), []vault.Password{open}, "", `it is a vault of version "1.0"; moon reads 1.1 and 1.2`},
		{"another cipher", strings.Replace(v11, "AES256", "AES", 1), []vault.Password{open}, "", `it is encrypted with "AES"; moon reads AES256`},
		{"cut off", v11[:len(v11)-20], []vault.Password{open}, "", "the vault is damaged: it is not whole"},
		{"only the header", "$ANSIBLE_VAULT;1.1;AES256", []vault.Password{open}, "", "the vault is damaged: it is not whole"},
		{"not hexadecimal", "$ANSIBLE_VAULT;1.1;AES256\nxyz\n", []vault.Password{open}, "", "the vault is damaged: it is not whole"},
		{"no header", "$ANSIBLE_VAULT;", []vault.Password{open}, "", "its first line is not that of a vault"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := vault.Decrypt([]byte(test.text), test.passwords)
			if said := fmt.Sprint(err); err == nil && test.err != "" || err != nil && said != test.err {
				t.Fatalf("error %v, want %q", err, test.err)
			}
			if string(got) != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestTampered changes every digit of a vault: it is refused, or nothing was changed.
func TestTampered(t *testing.T) {
	text := []byte(seal(t, "hunter2", "open sesame", ""))
	from := bytes.IndexByte(text, '\n') + 1
	for i := from; i < len(text); i += 23 { // each costs two rounds of derivation
		if text[i] == '\n' {
			continue
		}
		changed := bytes.Clone(text)
		changed[i] ^= 1
		if got, err := vault.Decrypt(changed, []vault.Password{{Text: "open sesame"}}); err == nil {
			t.Fatalf("byte %d was changed, and it is %q", i, got)
		}
	}
}

// TestAnsible reads what the real one has written, where it is installed.
func TestAnsible(t *testing.T) {
	program, err := exec.LookPath("ansible-vault")
	if err != nil {
		t.Skip("ansible-vault is not installed")
	}
	dir := t.TempDir()
	password := filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte("open sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{"default", "prod"} {
		cmd := exec.Command(program, "encrypt", "--vault-id", label+"@"+password, "--encrypt-vault-id", label, "--output", "-")
		cmd.Stdin = strings.NewReader("käse: {{ hunter2 }}\n")
		cmd.Env = append(os.Environ(), "HOME="+dir)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		got, err := vault.Decrypt(text, []vault.Password{{ID: label, Text: "open sesame"}})
		if err != nil || string(got) != "käse: {{ hunter2 }}\n" {
			t.Errorf("%s: %q, %v\n%s", label, got, err, text)
		}
	}
}

// TestEncrypt reads back what was encrypted, and has the real one read it where it is installed.
func TestEncrypt(t *testing.T) {
	program, _ := exec.LookPath("ansible-vault")
	for _, text := range []string{"", "hunter2\n", "0123456789abcdef", strings.Repeat("käse: {{ x }}\n", 200)} {
		for _, id := range []string{"", "default", "prod"} {
			with := vault.Password{ID: id, Text: "open sesame"}
			sealed, err := vault.Encrypt([]byte(text), with)
			if err != nil {
				t.Fatal(err)
			}
			again, _ := vault.Encrypt([]byte(text), with)
			if bytes.Equal(sealed, again) {
				t.Error("the same text is encrypted in the same way twice")
			}
			if got, err := vault.Decrypt(sealed, []vault.Password{with}); err != nil || string(got) != text {
				t.Errorf("%s: %q, %v", id, got, err)
			}
			if labelled := strings.HasPrefix(string(sealed), "$ANSIBLE_VAULT;1.2;AES256;prod\n"); labelled != (id == "prod") {
				t.Errorf("label %q: %s", id, sealed)
			}
			if program == "" || id == "default" || testing.Short() && id == "" {
				continue
			}
			dir := t.TempDir()
			password := filepath.Join(dir, "password")
			if err := os.WriteFile(password, []byte("open sesame\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(program, "decrypt", "--vault-id", id+"@"+password, "--output", "-")
			cmd.Stdin = bytes.NewReader(sealed)
			cmd.Env = append(os.Environ(), "HOME="+dir)
			if got, err := cmd.Output(); err != nil || string(got) != text {
				t.Errorf("ansible-vault: %q, %v", got, err)
			}
		}
	}
	if _, err := vault.Encrypt(nil, vault.Password{ID: "a;b", Text: "x"}); err == nil {
		t.Error("a label with a semicolon")
	}
}

func FuzzDecrypt(f *testing.F) {
	f.Add([]byte(known))
	f.Add([]byte(seal(f, "hunter2", "open sesame", "prod")))
	f.Add([]byte("$ANSIBLE_VAULT;1.1;AES256\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := vault.Decrypt(text, []vault.Password{{Text: "open sesame"}})
		switch {
		case err == nil && len(got) > len(text):
			t.Errorf("%d bytes of %d", len(got), len(text))
		case err != nil && errors.Is(err, vault.ErrNoPassword):
			t.Error("a password was given")
		}
	})
}
