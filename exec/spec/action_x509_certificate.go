package spec

import (
	"reflect"
	"time"

	"moon/exec/pki"
)

// X509CertificateArgs are the arguments of x509_certificate.
type X509CertificateArgs struct {
	OwnFile
	PrivateKey
	Provider         string `arg:"provider" enum:"selfsigned|ownca|acme|entrust|assertonly" implied:"required unless state is absent" doc:"Who signs it. selfsigned: its own key. ownca: the key of an authority that is given. moon asks no others."`
	CsrPath          string `arg:"csr_path" kind:"path" doc:"The file with the request."`
	CsrContent       string `arg:"csr_content" doc:"The request itself, instead of its file."`
	IgnoreTimestamps bool   `arg:"ignore_timestamps" default:"true" doc:"Keep a certificate that has other times."`

	SelfVersion   int    `arg:"selfsigned_version" default:"3" doc:"The version of the certificate. There is only 3."`
	SelfDigest    string `arg:"selfsigned_digest" default:"sha256" enum:"sha256|sha384|sha512|sha1|md5" doc:"The digest that is signed. moon signs none of MD5."`
	SelfNotBefore string `arg:"selfsigned_not_before,selfsigned_notBefore" default:"+0s" doc:"From when it is valid: +32w1d2h from now, or 20301231235959Z."`
	SelfNotAfter  string `arg:"selfsigned_not_after,selfsigned_notAfter" default:"+3650d" doc:"Until when it is valid."`
	SelfKeyID     string `arg:"selfsigned_create_subject_key_identifier" default:"create_if_not_provided" enum:"create_if_not_provided|always_create|never_create" doc:"Whether it says which key it has, made from the key."`

	CAPath       string `arg:"ownca_path" kind:"path" doc:"The file with the certificate of the authority."`
	CAContent    string `arg:"ownca_content" doc:"That certificate itself."`
	CAKeyPath    string `arg:"ownca_privatekey_path" kind:"path" doc:"The file with its private key."`
	CAKeyContent string `arg:"ownca_privatekey_content" doc:"That key itself."`
	CAPassphrase string `arg:"ownca_privatekey_passphrase" doc:"The passphrase that it is encrypted with."`
	CAVersion    int    `arg:"ownca_version" default:"3" doc:"The version of the certificate. There is only 3."`
	CADigest     string `arg:"ownca_digest" default:"sha256" enum:"sha256|sha384|sha512|sha1|md5" doc:"The digest that is signed. moon signs none of MD5."`
	CANotBefore  string `arg:"ownca_not_before" default:"+0s" doc:"From when it is valid: +32w1d2h from now, or 20301231235959Z."`
	CANotAfter   string `arg:"ownca_not_after" default:"+3650d" doc:"Until when it is valid."`
	CAKeyID      string `arg:"ownca_create_subject_key_identifier" default:"create_if_not_provided" enum:"create_if_not_provided|always_create|never_create" doc:"Whether it says which key it has, made from the key."`
	CAMark       bool   `arg:"ownca_create_authority_key_identifier" default:"true" doc:"Whether it says which key has signed it."`
}

var _ = declareAction(&Action{
	Name: "x509_certificate",
	Aliases: []string{
		"community.crypto.x509_certificate", "openssl_certificate", "community.crypto.openssl_certificate",
		"community.general.openssl_certificate",
		"community.general.x509_certificate",
	},
	Doc:     "Creates a certificate, signed by its own key or by an authority whose key is there.",
	Subject: "path",
	Check:   true,
	args:    reflect.TypeFor[X509CertificateArgs](),
	Returns: []Return{
		{"filename", "The file with the certificate."},
		{"privatekey", "The file with its private key, or null."},
		{"csr", "The file with the request, or null."},
		{"ca_cert", "With ownca, the file with the certificate of the authority, or null."},
		{"ca_privatekey", "With ownca, the file with its private key, or null."},
		{"notBefore", "From when it is valid: 20301231235959Z."},
		{"notAfter", "Until when it is valid."},
		{"serial_number", "Its serial number, as text: it has up to 49 digits."},
		{"certificate", "The certificate, with return_content."},
		{"backup_file", "The old file, with backup."},
	},
	Least: "x509_certificate: {path: /tmp/x, provider: selfsigned, privatekey_content: x}",
	Example: `- openssl_privatekey: {path: /etc/ssl/private/shop.pem}
- openssl_csr: {path: /etc/ssl/shop.csr, privatekey_path: /etc/ssl/private/shop.pem, common_name: shop.example.org}
- x509_certificate:
    path: /etc/ssl/shop.crt
    csr_path: /etc/ssl/shop.csr
    privatekey_path: /etc/ssl/private/shop.pem
    provider: selfsigned
    selfsigned_not_after: +52w
`,
})

func (a *X509CertificateArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	exclusive := func(one, other string) {
		if given(one) && given(other) {
			add(other, "`"+one+"` and `"+other+"` exclude each other", "give one of them")
		}
	}
	exclusive("csr_path", "csr_content")
	exclusive("ownca_path", "ownca_content")
	exclusive("ownca_privatekey_path", "ownca_privatekey_content")
	problems = append(problems, a.checkKey("x509_certificate", a.State != "absent" && a.Provider == "selfsigned")...)
	if a.State == "absent" {
		return problems
	}
	need := func(one, other string) {
		if !given(one) && !given(other) {
			add(one, "`provider: ownca` needs `"+one+"` or `"+other+"`", "")
		}
	}
	switch a.Provider {
	case "":
		add("provider", "`x509_certificate` needs `provider`", "selfsigned, or ownca with the key of an authority")
	case "acme":
		add("provider", "moon asks no ACME server for certificates", "use `command: acme-tiny …` or `command: certbot …`")
	case "entrust":
		add("provider", "moon asks no Entrust service for certificates", "use its client in a `command`")
	case "assertonly":
		add("provider", "`provider: assertonly` is gone from the collection", "look with `command: openssl x509 …` and `assert`")
	case "ownca":
		need("csr_path", "csr_content")
		need("ownca_path", "ownca_content")
		need("ownca_privatekey_path", "ownca_privatekey_content")
	}
	return append(problems, a.checkSigning()...)
}

// checkSigning looks at how the certificate is signed.
func (a *X509CertificateArgs) checkSigning() []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	for _, by := range []struct {
		prefix, digest, before, after string
		version                       int
	}{
		{"selfsigned", a.SelfDigest, a.SelfNotBefore, a.SelfNotAfter, a.SelfVersion}, {"ownca", a.CADigest, a.CANotBefore, a.CANotAfter, a.CAVersion},
	} {
		if by.version != 3 {
			add(by.prefix+"_version", "`"+by.prefix+"_version` must be 3", "")
		}
		if by.digest == "md5" {
			add(by.prefix+"_digest", "moon signs no MD5, which can be forged", "use sha256")
		}
		for _, at := range [][2]string{{by.prefix + "_not_before", by.before}, {by.prefix + "_not_after", by.after}} {
			if _, err := pki.ParseTime(at[1], time.Time{}); err != nil {
				add(at[0], "`"+at[0]+"` "+err.Error(), "")
			}
		}
	}
	return problems
}
