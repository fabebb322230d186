package spec

import "reflect"

// OpensslPublickeyArgs are the arguments of openssl_publickey.
type OpensslPublickeyArgs struct {
	OwnFile
	PrivateKey
	Format string `arg:"format" default:"PEM" enum:"PEM|OpenSSH" doc:"The format of the file."`
}

var _ = declareAction(&Action{
	Name:    "openssl_publickey",
	Aliases: []string{"community.crypto.openssl_publickey", "community.general.openssl_publickey"},
	Doc:     "Writes the public key of a private one to a file.",
	Subject: "path",
	Check:   true,
	args:    reflect.TypeFor[OpensslPublickeyArgs](),
	Returns: []Return{
		{"filename", "The file with the public key."},
		{"privatekey", "The file with the private key; null with privatekey_content."},
		{"format", "The format of the file."},
		{"fingerprint", "Digests of the public key, by their names."},
		{"publickey", "The public key, with return_content."},
		{"backup_file", "The old file, with backup."},
	},
	Least: "openssl_publickey: {path: /tmp/x, privatekey_content: x}",
	Example: `- openssl_privatekey: {path: /etc/ssl/private/shop.pem}
- openssl_publickey: {path: /etc/ssl/shop.pub, privatekey_path: /etc/ssl/private/shop.pem}
- openssl_publickey: {path: /etc/ssl/shop.ssh, privatekey_path: /etc/ssl/private/shop.pem, format: OpenSSH}
`,
})

func (a *OpensslPublickeyArgs) validateArgs(func(string) bool) []Problem {
	return a.checkKey("openssl_publickey", a.State != "absent")
}
