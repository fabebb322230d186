package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Request is a request for a certificate.
type Request struct {
	Subject []Attribute
	Ordered bool // the order of the subject matters
	Digest  string
	Extensions
}

// Digests are the names of the digests that are signed.
var Digests = []string{"sha256", "sha384", "sha512", "sha1"}

// algorithm is how a key signs a digest.
func algorithm(key crypto.PrivateKey, digest string) (x509.SignatureAlgorithm, error) {
	i := slices.Index(Digests, digest)
	if i < 0 {
		return 0, fmt.Errorf("the digest %s is not supported", digest)
	}
	switch key.(type) {
	case *rsa.PrivateKey:
		return []x509.SignatureAlgorithm{x509.SHA256WithRSA, x509.SHA384WithRSA, x509.SHA512WithRSA, x509.SHA1WithRSA}[i], nil
	case *ecdsa.PrivateKey:
		return []x509.SignatureAlgorithm{x509.ECDSAWithSHA256, x509.ECDSAWithSHA384, x509.ECDSAWithSHA512, x509.ECDSAWithSHA1}[i], nil
	case ed25519.PrivateKey:
		return x509.PureEd25519, nil // it has a digest of its own
	}
	return 0, errors.New("keys of this type sign nothing; use one of type RSA, ECC or Ed25519")
}

// Sign is the text of a file with the request.
func (r *Request) Sign(key crypto.PrivateKey) ([]byte, error) {
	public, err := Public(key)
	if err != nil {
		return nil, err
	}
	by, err := algorithm(key, r.Digest)
	if err != nil {
		return nil, err
	}
	subject, err := marshalName(r.Subject)
	if err != nil {
		return nil, fmt.Errorf("the subject %w", err)
	}
	extensions, err := r.build(public)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		RawSubject: subject, ExtraExtensions: extensions, SignatureAlgorithm: by,
	}, key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), nil
}

// Differs says how the request in a file is not this one, signed by the key; "": it is. The digest does not count.
func (r *Request) Differs(text []byte, key crypto.PrivateKey) (why string, err error) {
	is, err := parseRequest(text)
	if err != nil {
		return "the old one cannot be read", nil //nolint:nilerr // it is replaced then
	}
	public, err := Public(key)
	if err != nil {
		return "", err
	}
	switch {
	case !signs(is.CheckSignature()):
		return "the signature of the old one is wrong", nil
	case !sameKey(is.PublicKey, public):
		return "another key", nil
	}
	wanted, err := marshalName(r.Subject)
	if err != nil {
		return "", fmt.Errorf("the subject %w", err)
	}
	if !r.sameSubject(is.RawSubject, wanted) {
		return "another subject", nil
	}
	part, err := r.differ(is.Extensions, public)
	if err != nil || part == "" {
		return "", err
	}
	return "another " + part, nil
}

func (r *Request) sameSubject(is, wanted []byte) bool {
	if r.Ordered {
		return sameName(is, wanted)
	}
	one, err1 := readName(is)
	other, err2 := readName(wanted)
	return err1 == nil && err2 == nil && slices.Equal(sortPairs(one), sortPairs(other))
}

// sortPairs are the pairs in order, each once.
func sortPairs(pairs []pair) []pair {
	slices.SortFunc(pairs, func(a, b pair) int {
		if a.oid != b.oid {
			return strings.Compare(a.oid, b.oid)
		}
		return strings.Compare(a.value, b.value)
	})
	return slices.Compact(pairs)
}

func parseRequest(text []byte) (*x509.CertificateRequest, error) {
	der, err := findBlock(text, "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST")
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificateRequest(der)
}

// findBlock is the first part of a file that is of one of the types.
func findBlock(text []byte, types ...string) ([]byte, error) {
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, fmt.Errorf("there is no %s in it", types[0])
		}
		if slices.Contains(types, block.Type) {
			return block.Bytes, nil
		}
	}
}

// signs reports whether a signature is right.
func signs(mistake error) bool { return mistake == nil }

func sameKey(a, b crypto.PublicKey) bool {
	k, ok := a.(interface{ Equal(x crypto.PublicKey) bool })
	return ok && k.Equal(b)
}
