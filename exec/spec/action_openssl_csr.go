package spec

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"moon/exec/pki"
)

// OpensslCsrArgs are the arguments of openssl_csr. Once decoded, Request is what they ask for.
type OpensslCsrArgs struct {
	OwnFile
	PrivateKey
	Digest  string `arg:"digest" default:"sha256" enum:"sha256|sha384|sha512|sha1|md5" doc:"The digest that is signed. moon signs none of MD5."`
	Version int    `arg:"version" default:"1" doc:"The version of the request. There is only 1."`

	Subject        map[string]any `arg:"subject" doc:"The parts of its name: {O: Example, CN: shop.example.org}. A part may have a list of values."`
	SubjectOrdered any            `arg:"subject_ordered" doc:"The same as a list of maps with one key each, where the order matters."`
	Country        string         `arg:"country_name,C,countryName" doc:"The country of its name: two letters."`
	Province       string         `arg:"state_or_province_name,ST,stateOrProvinceName" doc:"The state or province of its name."`
	Locality       string         `arg:"locality_name,L,localityName" doc:"The place of its name."`
	Organization   string         `arg:"organization_name,O,organizationName" doc:"The organization of its name."`
	Unit           string         `arg:"organizational_unit_name,OU,organizationalUnitName" doc:"The unit of the organization of its name."`
	CommonName     string         `arg:"common_name,CN,commonName" doc:"The common name of its name: what the certificate is for."`
	Email          string         `arg:"email_address,E,emailAddress" doc:"The e-mail address of its name."`

	AltNames          []string `arg:"subject_alt_name,subjectAltName" implied:"DNS: and the common name" doc:"Names that the certificate is for, each with its kind: DNS:shop.example.org, IP:192.0.2.1, email:, URI:, RID:, dirName: or otherName:."`
	AltNamesCritical  bool     `arg:"subject_alt_name_critical,subjectAltName_critical" default:"false" doc:"Whether who does not know this extension must refuse the certificate."`
	UseCommonName     bool     `arg:"use_common_name_for_san,useCommonNameForSAN" default:"true" doc:"Whether the common name is one of these names if none is given."`
	Usage             []string `arg:"key_usage,keyUsage" doc:"What the key may be used for: digitalSignature, nonRepudiation, keyEncipherment, dataEncipherment, keyAgreement, keyCertSign, cRLSign, encipherOnly, decipherOnly."`
	UsageCritical     bool     `arg:"key_usage_critical,keyUsage_critical" default:"false" doc:"Whether who does not know this extension must refuse the certificate."`
	Purposes          []string `arg:"extended_key_usage,extKeyUsage,extendedKeyUsage" doc:"And by whom: serverAuth, clientAuth, codeSigning, emailProtection, timeStamping, OCSPSigning, or an object identifier."`
	PurposesCritical  bool     `arg:"extended_key_usage_critical,extKeyUsage_critical,extendedKeyUsage_critical" default:"false" doc:"Whether who does not know this extension must refuse the certificate."`
	Basic             []string `arg:"basic_constraints,basicConstraints" doc:"Whether the certificate is one of an authority, and how many may be below it: CA:TRUE, pathlen:0."`
	BasicCritical     bool     `arg:"basic_constraints_critical,basicConstraints_critical" default:"false" doc:"Whether who does not know this extension must refuse the certificate."`
	Staple            bool     `arg:"ocsp_must_staple,ocspMustStaple" default:"false" doc:"Servers must show that the certificate is not revoked."`
	StapleCritical    bool     `arg:"ocsp_must_staple_critical,ocspMustStaple_critical" default:"false" doc:"Whether who does not know this extension must refuse the certificate."`
	Permitted         []string `arg:"name_constraints_permitted" doc:"Names below which an authority may certify others, as DNS:example.org."`
	Excluded          []string `arg:"name_constraints_excluded" doc:"Names below which it may not."`
	NamesCritical     bool     `arg:"name_constraints_critical" default:"false" doc:"Whether who does not know this extension must refuse the certificate."`
	OwnKeyID          bool     `arg:"create_subject_key_identifier" default:"false" doc:"Add an identifier of the key, made from it."`
	KeyID             string   `arg:"subject_key_identifier" doc:"An identifier of the key: bytes like 00:1f:2a."`
	AuthorityKeyID    string   `arg:"authority_key_identifier" doc:"The identifier of the key of the authority."`
	AuthorityIssuer   []string `arg:"authority_cert_issuer" doc:"The issuer of its certificate, as names with their kinds."`
	AuthoritySerial   string   `arg:"authority_cert_serial_number" doc:"The serial number of its certificate."`
	DistributionPoint any      `arg:"crl_distribution_points" doc:"Where revoked certificates are listed: maps with full_name or relative_name, crl_issuer and reasons."`

	Request pki.Request
}

var _ = declareAction(&Action{
	Name:    "openssl_csr",
	Aliases: []string{"community.crypto.openssl_csr", "community.general.openssl_csr"},
	Doc:     "Creates a request for a certificate.",
	Subject: "path",
	Check:   true,
	args:    reflect.TypeFor[OpensslCsrArgs](),
	Returns: []Return{
		{"filename", "The file with the request."},
		{"privatekey", "The file with the private key; null with privatekey_content."},
		{"subject", "The parts of its name, each a list of name and value."},
		{"subjectAltName", "The names that it is for, or null."},
		{"keyUsage", "What the key may be used for, or null."},
		{"extendedKeyUsage", "And by whom, or null."},
		{"basicConstraints", "Whether it is for an authority, or null."},
		{"ocspMustStaple", "Whether servers must show that the certificate is not revoked."},
		{"name_constraints_permitted", "Names below which an authority may certify others."},
		{"name_constraints_excluded", "Names below which it may not."},
		{"csr", "The request, with return_content."},
		{"backup_file", "The old file, with backup."},
	},
	Least: "openssl_csr: {path: /tmp/x, privatekey_content: x}",
	Example: `- openssl_privatekey: {path: /etc/ssl/private/shop.pem}
- openssl_csr:
    path: /etc/ssl/shop.csr
    privatekey_path: /etc/ssl/private/shop.pem
    common_name: shop.example.org
    organization_name: Example
    subject_alt_name: [DNS:shop.example.org, DNS:www.example.org]
    key_usage: [digitalSignature, keyEncipherment]
    extended_key_usage: [serverAuth]
`,
})

// subjectOrder is the order of the usual parts of a name. A map has none.
var subjectOrder = []string{
	"C", "countryName", "ST", "stateOrProvinceName", "L", "localityName", "O", "organizationName", "OU", "organizationalUnitName",
	"CN", "commonName", "emailAddress",
}

func (a *OpensslCsrArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	for _, list := range []*[]string{&a.Usage, &a.Purposes, &a.Basic} {
		*list = wordList(*list)
	}
	for _, list := range []*[]string{&a.AltNames, &a.Permitted, &a.Excluded, &a.AuthorityIssuer} {
		*list = nameList(*list)
	}
	problems = append(problems, a.checkKey("openssl_csr", a.State != "absent")...)
	switch {
	case a.Digest == "md5":
		add("digest", "moon signs no MD5, which can be forged", "use sha256")
	case a.Version != 1:
		add("version", "`version` must be 1", "")
	case a.OwnKeyID && given("subject_key_identifier"):
		add("subject_key_identifier", "`subject_key_identifier` and `create_subject_key_identifier` exclude each other", "give one of them")
	case given("authority_cert_issuer") != given("authority_cert_serial_number"):
		add("authority_cert_issuer", "`authority_cert_issuer` and `authority_cert_serial_number` need each other", "")
	}
	a.Request = pki.Request{Digest: a.Digest, Ordered: given("subject_ordered"), Extensions: pki.Extensions{
		AltNames: a.AltNames, Usage: a.Usage, Purposes: a.Purposes, Basic: a.Basic, Staple: a.Staple,
		Permitted: a.Permitted, Excluded: a.Excluded, OwnKeyID: a.OwnKeyID, KeyID: a.KeyID, AuthorityID: a.AuthorityKeyID,
		Issuer: a.AuthorityIssuer, IssuerSerial: a.AuthoritySerial,
		Critical: map[string]bool{
			pki.AltNames: a.AltNamesCritical, pki.Usage: a.UsageCritical, pki.Purposes: a.PurposesCritical, pki.Basic: a.BasicCritical,
			pki.Staple: a.StapleCritical, pki.Names: a.NamesCritical,
		},
	}}
	problems = append(problems, a.readSubject(given)...)
	problems = append(problems, a.readPoints()...)
	if field, err := a.Request.Check(); err != nil {
		add(field, "`"+field+"` "+err.Error(), "")
	}
	return problems
}

// readSubject puts the name together.
func (a *OpensslCsrArgs) readSubject(given func(string) bool) []Problem {
	for _, part := range []pki.Attribute{
		{Name: "C", Value: a.Country},
		{Name: "ST", Value: a.Province},
		{Name: "L", Value: a.Locality},
		{Name: "O", Value: a.Organization},
		{Name: "OU", Value: a.Unit},
		{Name: "CN", Value: a.CommonName},
		{Name: "emailAddress", Value: a.Email},
	} {
		if part.Value != "" {
			a.Request.Subject = append(a.Request.Subject, part)
		}
	}
	if err := pki.CheckName(a.Request.Subject); err != nil {
		return []Problem{{"country_name", "the name " + err.Error(), ""}}
	}
	if a.Request.Ordered {
		if len(a.Request.Subject) > 0 || given("subject") {
			return []Problem{{"subject_ordered", "`subject_ordered` and other parts of the name exclude each other", "put all of them into `subject_ordered`"}}
		}
		return a.readOrdered()
	}
	parts, err := subjectParts(a.Subject, func(names []string) {
		slices.SortFunc(names, func(x, y string) int {
			if i, j := place(x), place(y); i != j {
				return i - j
			}
			return strings.Compare(x, y)
		})
	})
	if err != nil {
		return []Problem{{"subject", "`subject` " + err.Error(), ""}}
	}
	a.Request.Subject = append(a.Request.Subject, parts...)
	a.useCommonName()
	return nil
}

func place(name string) int {
	if i := slices.Index(subjectOrder, name); i >= 0 {
		return i
	}
	return len(subjectOrder)
}

func (a *OpensslCsrArgs) readOrdered() []Problem {
	list, ok := a.SubjectOrdered.([]any)
	if !ok {
		return []Problem{{"subject_ordered", "`subject_ordered` must be a list of maps with one key each", ""}}
	}
	for i, item := range list {
		m, ok := item.(map[string]any)
		if !ok || len(m) != 1 {
			return []Problem{{"subject_ordered", fmt.Sprintf("item %d of `subject_ordered` must be a map with one key", i+1), ""}}
		}
		parts, err := subjectParts(m, func([]string) {})
		if err != nil {
			return []Problem{{"subject_ordered", fmt.Sprintf("item %d of `subject_ordered` %s", i+1, err), ""}}
		}
		a.Request.Subject = append(a.Request.Subject, parts...)
	}
	a.useCommonName()
	return nil
}

// useCommonName makes the common name one of the names that the certificate is for.
func (a *OpensslCsrArgs) useCommonName() {
	if len(a.AltNames) > 0 || !a.UseCommonName {
		return
	}
	for _, part := range a.Request.Subject {
		if part.Name == "CN" || part.Name == "commonName" {
			a.Request.AltNames = []string{"DNS:" + part.Value}
			return
		}
	}
}

// readPoints reads where revoked certificates are listed.
func (a *OpensslCsrArgs) readPoints() []Problem {
	if a.DistributionPoint == nil {
		return nil
	}
	list, ok := a.DistributionPoint.([]any)
	if !ok {
		return []Problem{{"crl_distribution_points", "`crl_distribution_points` must be a list of maps", ""}}
	}
	for i, item := range list {
		problem := func(message string) []Problem {
			return []Problem{{"crl_distribution_points", fmt.Sprintf("item %d of `crl_distribution_points` %s", i+1, message), ""}}
		}
		m, ok := item.(map[string]any)
		if !ok {
			return problem("must be a map with full_name or relative_name, crl_issuer and reasons")
		}
		var p pki.Point
		// A key with null is one that is not given, as with Ansible.
		known := map[string]*[]string{
			"full_name": &p.FullName, "relative_name": &p.RelativeName, "crl_issuer": &p.Issuer, "reasons": &p.Reasons,
		}
		for name, value := range m {
			to, ok := known[name]
			if !ok {
				return problem("has no key " + name + "; there are full_name, relative_name, crl_issuer and reasons")
			}
			if value == nil {
				continue
			}
			if *to, ok = asStrings(value); !ok {
				return problem("must have texts as " + name)
			}
		}
		switch {
		case len(p.FullName) > 0 && len(p.RelativeName) > 0:
			return problem("has full_name and relative_name, which exclude each other")
		case len(p.FullName)+len(p.RelativeName)+len(p.Issuer) == 0:
			return problem("needs full_name, relative_name or crl_issuer")
		}
		a.Request.Points = append(a.Request.Points, p)
	}
	return nil
}
