package spec

import "reflect"

// OpensslPrivatekeyArgs are the arguments of openssl_privatekey.
type OpensslPrivatekeyArgs struct {
	Path           string `arg:"path" kind:"path" need:"yes" doc:"The file with the key."`
	State          string `arg:"state" default:"present" enum:"present|absent" doc:"Whether the key should exist."`
	Type           string `arg:"type" default:"RSA" enum:"RSA|ECC|Ed25519|X25519|DSA|Ed448|X448" doc:"What key it is. moon has no DSA, Ed448 and X448."`
	Size           int    `arg:"size" default:"4096" doc:"The size of an RSA key, in bits."`
	Curve          string `arg:"curve" implied:"required for ECC" doc:"The curve of an ECC key: secp224r1, secp256r1, secp384r1 or secp521r1."`
	Passphrase     string `arg:"passphrase" doc:"The passphrase that the key is encrypted with."`
	Cipher         string `arg:"cipher" implied:"auto" enum:"auto" doc:"How it is encrypted: with AES-256."`
	Format         string `arg:"format" default:"auto_ignore" enum:"pkcs1|pkcs8|raw|auto|auto_ignore" doc:"The format of the file. auto is pkcs1 for RSA and ECC, and pkcs8 otherwise; auto_ignore is the same for new keys, and any for a key that exists."`
	FormatMismatch string `arg:"format_mismatch" default:"regenerate" enum:"regenerate|convert" doc:"What happens to a key in another format."`
	Regenerate     string `arg:"regenerate" default:"full_idempotence" enum:"never|fail|partial_idempotence|full_idempotence|always" doc:"When a key that exists is replaced by a new one: never; fail instead; if it has another type, size or format; also if it cannot be read with the passphrase; always."`
	Force          bool   `arg:"force" default:"false" doc:"The same as regenerate: always."`
	Backup         bool   `arg:"backup" default:"false" doc:"Keep the old file next to the new one."`
	ReturnContent  bool   `arg:"return_content" default:"false" doc:"Put the key into the result."`
	Mode           Mode   `arg:"mode" implied:"0600" doc:"The mode of the file."`
	Owner          string `arg:"owner" doc:"Its owner."`
	Group          string `arg:"group" doc:"Its group."`
	Backend        string `arg:"select_crypto_backend" default:"auto" enum:"auto|cryptography" doc:"Ignored: moon needs no Python library."`
}

var _ = declareAction(&Action{
	Name:    "openssl_privatekey",
	Aliases: []string{"community.crypto.openssl_privatekey", "community.general.openssl_privatekey"},
	Doc:     "Creates a private key for TLS.",
	Subject: "path",
	Check:   true,
	args:    reflect.TypeFor[OpensslPrivatekeyArgs](),
	Returns: []Return{
		{"filename", "The file with the key."},
		{"type", "What key it is."},
		{"size", "The size that was asked for, in bits."},
		{"curve", "The curve of an ECC key."},
		{"fingerprint", "Digests of the public key, by their names."},
		{"privatekey", "The key, with return_content; a raw one in base64."},
		{"backup_file", "The old file, with backup."},
	},
	Least: "openssl_privatekey: {path: /tmp/x}",
	Example: `- openssl_privatekey: {path: /etc/ssl/private/shop.pem}
- openssl_privatekey: {path: /etc/ssl/private/api.pem, type: ECC, curve: secp384r1, mode: "0640", group: daemon}
- openssl_privatekey: {path: /etc/ssl/private/ca.pem, type: Ed25519, passphrase: correct horse, cipher: auto}
`,
})

func (a *OpensslPrivatekeyArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	switch a.Type {
	case "DSA", "Ed448", "X448":
		add("type", "moon creates no keys of this type", "use RSA, ECC, Ed25519 or X25519, or `command: openssl genpkey`")
	case "ECC":
		switch a.Curve {
		case "secp224r1", "secp256r1", "secp384r1", "secp521r1":
		case "":
			add("curve", "`type: ECC` needs `curve`", "secp256r1 is the usual one")
		default:
			add("curve", "moon has no such curve", "use secp256r1, secp384r1, secp521r1 or secp224r1, or `command: openssl ecparam`")
		}
	case "RSA":
		if a.Size < 1024 || a.Size > 16384 {
			add("size", "`size` of an RSA key must be between 1024 and 16384", "")
		}
	}
	own := a.Type == "RSA" || a.Type == "ECC"
	switch {
	case a.Format == "pkcs1" && !own, a.Format == "raw" && own:
		add("format", "keys of this type do not have this format", "use pkcs8")
	case a.Format == "raw" && a.Passphrase != "":
		add("format", "a raw key cannot be encrypted", "use pkcs8")
	}
	if given("cipher") && a.Passphrase == "" {
		add("cipher", "`cipher` needs `passphrase`", "")
	}
	if a.Force {
		a.Regenerate = "always"
	}
	return problems
}
