package pki

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"
)

// When a certificate says which key it has.
const (
	IfNotProvided = "create_if_not_provided" // by the request
	Always        = "always_create"          // made from the key
	Never         = "never_create"           // only if the request says it
)

// Certificate is what a certificate is to be.
type Certificate struct {
	Request   *x509.CertificateRequest // nil: none, for a name without parts; only of Key itself
	Key       crypto.PrivateKey        // of the certificate; nil with an authority: that of the request
	Authority *Authority               // who signs it; nil: Key
	Serial    *big.Int                 // of a new one
	NotBefore time.Time
	NotAfter  time.Time
	KeyID     string // IfNotProvided …
	Digest    string

	CheckTimes bool // one with other times differs
}

// Authority signs certificates.
type Authority struct {
	Certificate *x509.Certificate
	Key         crypto.PrivateKey
	MarkKey     bool // the certificates say which key has signed them
}

// NewSerial is a serial number that no other certificate has: positive, and of at most twenty bytes.
func NewSerial() *big.Int {
	digits := make([]byte, 20)
	_, _ = rand.Read(digits) // it never fails
	n := new(big.Int).SetBytes(digits)
	return n.Rsh(n, 1).SetBit(n, 0, 1)
}

// ParseRequest reads a request for a certificate.
func ParseRequest(text []byte) (*x509.CertificateRequest, error) { return parseRequest(text) }

// ParseCertificate reads a certificate, the first of a file.
func ParseCertificate(text []byte) (*x509.Certificate, error) {
	der, err := findBlock(text, "CERTIFICATE", "X509 CERTIFICATE")
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// NewAuthority puts together a certificate and its key.
func NewAuthority(certificate *x509.Certificate, key crypto.PrivateKey, markKey bool) (*Authority, error) {
	public, err := Public(key)
	if err != nil {
		return nil, err
	}
	if !sameKey(certificate.PublicKey, public) {
		return nil, errors.New("the private key of the CA does not belong to its certificate")
	}
	return &Authority{certificate, key, markKey}, nil
}

// subject is the name of the certificate, and what it says besides.
func (c *Certificate) subject() (raw []byte, extensions []pkix.Extension) {
	if c.Request == nil {
		return []byte{byte(asn1.TagSequence | 0x20), 0}, nil
	}
	return c.Request.RawSubject, c.Request.Extensions
}

// public is the key of the certificate.
func (c *Certificate) public() (crypto.PublicKey, error) {
	if c.Authority != nil {
		return c.Request.PublicKey, nil
	}
	return Public(c.Key)
}

// Sign is the text of a file with the certificate.
func (c *Certificate) Sign() ([]byte, error) {
	public, err := c.public()
	if err != nil {
		return nil, err
	}
	subject, asked := c.subject()
	issuer, key := subject, c.Key
	if c.Authority != nil {
		issuer, key = c.Authority.Certificate.RawSubject, c.Authority.Key
	}
	by, err := algorithm(key, c.Digest)
	if err != nil {
		return nil, err
	}
	extensions, err := c.extensions(asked, public)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: c.Serial, RawSubject: subject, NotBefore: c.NotBefore, NotAfter: c.NotAfter,
		SignatureAlgorithm: by, ExtraExtensions: extensions,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, &x509.Certificate{RawSubject: issuer}, public, key)
	if err != nil {
		return nil, err
	}
	// What a request may ask for is more than what can be read again, and what cannot be read could never be compared.
	if _, err := x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("moon cannot create what the request asks for: %w; use `command: openssl x509 -req`", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// extensions are those of the request, with the identifiers of both keys.
func (c *Certificate) extensions(asked []pkix.Extension, public crypto.PublicKey) ([]pkix.Extension, error) {
	var all []pkix.Extension
	for _, x := range asked {
		if c.KeyID == Always && x.Id.Equal(oidKeyID) || c.Authority != nil && c.Authority.MarkKey && x.Id.Equal(oidAuthorityKeyID) {
			continue
		}
		all = append(all, x)
	}
	if _, has := find(all, oidKeyID); !has && c.KeyID != Never {
		id, err := keyID(public)
		if err != nil {
			return nil, err
		}
		der, err := asn1.Marshal(id)
		if err != nil {
			return nil, err
		}
		all = append(all, pkix.Extension{Id: oidKeyID, Value: der})
	}
	if c.Authority != nil && c.Authority.MarkKey {
		der, err := c.Authority.mark()
		if err != nil {
			return nil, err
		}
		all = append(all, pkix.Extension{Id: oidAuthorityKeyID, Value: der})
	}
	return all, nil
}

// mark says which key the authority signs with: as its certificate has it, or made from it.
func (a *Authority) mark() ([]byte, error) {
	id := a.Certificate.SubjectKeyId
	if len(id) == 0 {
		var err error
		if id, err = keyID(a.Certificate.PublicKey); err != nil {
			return nil, err
		}
	}
	return authorityKeyID(id, nil, nil)
}

func find(in []pkix.Extension, oid asn1.ObjectIdentifier) (pkix.Extension, bool) {
	i := slices.IndexFunc(in, func(x pkix.Extension) bool { return x.Id.Equal(oid) })
	if i < 0 {
		return pkix.Extension{}, false
	}
	return in[i], true
}

// Differs says how the certificate in a file is not the one that is wanted; "": it is. Serial number and digest do not count.
func (c *Certificate) Differs(text []byte) (why string, err error) {
	is, err := ParseCertificate(text)
	if err != nil {
		return "the old one cannot be read", nil //nolint:nilerr // it is replaced then
	}
	if c.Key != nil {
		public, err := Public(c.Key)
		if err != nil {
			return "", err
		}
		if !sameKey(is.PublicKey, public) {
			return "another key", nil
		}
	}
	if why := c.differsFromRequest(is); why != "" {
		return why, nil
	}
	if why, err := c.differsInKeys(is); why != "" || err != nil {
		return why, err
	}
	switch {
	case !c.CheckTimes:
	case !is.NotBefore.Equal(c.NotBefore.Truncate(time.Second)):
		return fmt.Sprintf("not before %s, and not %s", stamp(c.NotBefore), stamp(is.NotBefore)), nil
	case !is.NotAfter.Equal(c.NotAfter.Truncate(time.Second)):
		return fmt.Sprintf("not after %s, and not %s", stamp(c.NotAfter), stamp(is.NotAfter)), nil
	}
	return "", nil
}

// stamp is a time as certificates have it.
func stamp(t time.Time) string { return t.UTC().Format(Time) }

// Time is the layout of times in results.
const Time = "20060102150405Z"

func (c *Certificate) differsFromRequest(is *x509.Certificate) string {
	subject, asked := c.subject()
	switch {
	case c.Request != nil && !signs(c.Request.CheckSignature()):
		return "the signature of the request is wrong"
	case c.Request != nil && !sameKey(c.Request.PublicKey, is.PublicKey):
		return "the key of the request"
	case !sameName(subject, is.RawSubject):
		return "another subject"
	}
	// The identifiers of keys that are created do not come from the request.
	created := func(x pkix.Extension) bool {
		return x.Id.Equal(oidKeyID) && c.KeyID != Never || x.Id.Equal(oidAuthorityKeyID) && c.Authority != nil && c.Authority.MarkKey
	}
	wanted := slices.DeleteFunc(slices.Clone(asked), created)
	has := slices.DeleteFunc(slices.Clone(is.Extensions), created)
	if len(wanted) != len(has) {
		return "other extensions"
	}
	for _, x := range has {
		if same, ok := find(wanted, x.Id); !ok || same.Critical != x.Critical || !bytes.Equal(same.Value, x.Value) {
			return "another extension " + x.Id.String()
		}
	}
	return ""
}

// differsInKeys compares what the certificate says of its key and of the one that has signed it.
func (c *Certificate) differsInKeys(is *x509.Certificate) (why string, err error) {
	if c.KeyID != Never {
		id, err := keyID(is.PublicKey)
		if err != nil {
			return "", err
		}
		if c.Request != nil && c.KeyID == IfNotProvided {
			if x, ok := find(c.Request.Extensions, oidKeyID); ok {
				id = nil
				if _, err := asn1.Unmarshal(x.Value, &id); err != nil {
					return "", err
				}
			}
		}
		if !bytes.Equal(id, is.SubjectKeyId) {
			return "another identifier of the key", nil
		}
	}
	signer := is.PublicKey
	if c.Authority != nil {
		signer = c.Authority.Certificate.PublicKey
	}
	// A certificate of the key alone: whether it may sign others is not asked.
	by := &x509.Certificate{PublicKey: signer}
	switch {
	case !signs(by.CheckSignature(is.SignatureAlgorithm, is.RawTBSCertificate, is.Signature)):
		return "signed by another key", nil
	case c.Authority == nil:
		return "", nil
	case !sameName(c.Authority.Certificate.RawSubject, is.RawIssuer):
		return "another issuer", nil
	case !c.Authority.MarkKey:
		return "", nil
	}
	wanted, err := c.Authority.mark()
	if err != nil {
		return "", err
	}
	if x, ok := find(is.Extensions, oidAuthorityKeyID); !ok || !bytes.Equal(x.Value, wanted) {
		return "another identifier of the issuer's key", nil
	}
	return "", nil
}
