package pki

import (
	"bytes"
	"crypto"
	"crypto/sha1" // as the identifiers of keys have it
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/cryptobyte"
	tag "golang.org/x/crypto/cryptobyte/asn1"
)

var (
	oidKeyID           = asn1.ObjectIdentifier{2, 5, 29, 14}
	oidKeyUsage        = asn1.ObjectIdentifier{2, 5, 29, 15}
	oidAltNames        = asn1.ObjectIdentifier{2, 5, 29, 17}
	oidBasic           = asn1.ObjectIdentifier{2, 5, 29, 19}
	oidNameConstraints = asn1.ObjectIdentifier{2, 5, 29, 30}
	oidPoints          = asn1.ObjectIdentifier{2, 5, 29, 31}
	oidAuthorityKeyID  = asn1.ObjectIdentifier{2, 5, 29, 35}
	oidExtendedUsage   = asn1.ObjectIdentifier{2, 5, 29, 37}
	oidMustStaple      = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 24}
)

// keyUsages are the bits of a key's usage, by its short and long names.
var keyUsages = map[string]int{
	"digitalSignature": 0, "Digital Signature": 0, "nonRepudiation": 1, "Non Repudiation": 1, "keyEncipherment": 2, "Key Encipherment": 2,
	"dataEncipherment": 3, "Data Encipherment": 3, "keyAgreement": 4, "Key Agreement": 4, "keyCertSign": 5, "Certificate Sign": 5,
	"cRLSign": 6, "CRL Sign": 6, "encipherOnly": 7, "Encipher Only": 7, "decipherOnly": 8, "Decipher Only": 8,
}

// Reasons are the bits of the reasons for which a certificate may be revoked.
var reasons = map[string]int{
	"key_compromise": 1, "ca_compromise": 2, "affiliation_changed": 3, "superseded": 4, "cessation_of_operation": 5, "certificate_hold": 6,
	"privilege_withdrawn": 7, "aa_compromise": 8,
}

// Extensions are what a request asks for in addition to the name. Names are as generalName has them.
type Extensions struct {
	AltNames     []string
	Usage        []string // digitalSignature …
	Purposes     []string // serverAuth …
	Basic        []string // CA:TRUE, pathlen:0
	Staple       bool
	Permitted    []string
	Excluded     []string
	OwnKeyID     bool // the identifier of the key is made from the key
	KeyID        string
	AuthorityID  string
	Issuer       []string
	IssuerSerial string
	Points       []Point

	Critical map[string]bool // AltNames, Usage, Purposes, Basic, Staple and Names
}

// Point is where revoked certificates are listed.
type Point struct{ FullName, RelativeName, Issuer, Reasons []string }

// The keys of Extensions.Critical.
const (
	AltNames = "AltNames"
	Usage    = "Usage"
	Purposes = "Purposes"
	Basic    = "Basic"
	Staple   = "Staple"
	Names    = "Names"
)

// Check says what is wrong with a part, without a key: the name of the part, and the error.
func (e *Extensions) Check() (part string, err error) {
	for _, b := range e.builders(nil) {
		if !b.wanted {
			continue
		}
		if _, err := b.build(); err != nil {
			return b.part, err
		}
	}
	return "", nil
}

// builder makes one extension.
type builder struct {
	part     string // the argument that asks for it
	oid      asn1.ObjectIdentifier
	wanted   bool
	critical bool
	build    func() ([]byte, error)
	sets     bool // the order of what is in it does not matter
}

// builders are all extensions that a request may have, in the order in which they are written.
func (e *Extensions) builders(key crypto.PublicKey) []builder {
	authority := e.AuthorityID != "" || len(e.Issuer) > 0 || e.IssuerSerial != ""
	return []builder{
		{"subject_alt_name", oidAltNames, len(e.AltNames) > 0, e.Critical[AltNames], func() ([]byte, error) { return sequence(e.AltNames, generalName) }, true},
		{"key_usage", oidKeyUsage, len(e.Usage) > 0, e.Critical[Usage], func() ([]byte, error) { return bits(e.Usage, keyUsages, "digitalSignature") }, false},
		{"extended_key_usage", oidExtendedUsage, len(e.Purposes) > 0, e.Critical[Purposes], func() ([]byte, error) { return sequence(e.Purposes, object) }, true},
		{"basic_constraints", oidBasic, len(e.Basic) > 0, e.Critical[Basic], e.basic, false},
		{"ocsp_must_staple", oidMustStaple, e.Staple, e.Critical[Staple], func() ([]byte, error) { return asn1.Marshal([]int{5}) }, false},
		{"name_constraints_permitted", oidNameConstraints, len(e.Permitted)+len(e.Excluded) > 0, e.Critical[Names], e.nameConstraints, false},
		{"subject_key_identifier", oidKeyID, e.OwnKeyID || e.KeyID != "", false, func() ([]byte, error) { return e.keyID(key) }, false},
		{"authority_key_identifier", oidAuthorityKeyID, authority, false, e.authorityKeyID, false},
		{"crl_distribution_points", oidPoints, len(e.Points) > 0, false, e.points, false},
	}
}

// build makes all extensions that are wanted.
func (e *Extensions) build(key crypto.PublicKey) ([]pkix.Extension, error) {
	var all []pkix.Extension
	for _, b := range e.builders(key) {
		if !b.wanted {
			continue
		}
		der, err := b.build()
		if err != nil {
			return nil, fmt.Errorf("%s %w", b.part, err)
		}
		all = append(all, pkix.Extension{Id: b.oid, Critical: b.critical, Value: der})
	}
	return all, nil
}

// differ says which part of what is there is not what is wanted. Extensions that a step cannot ask for do not count.
func (e *Extensions) differ(is []pkix.Extension, key crypto.PublicKey) (part string, err error) {
	for _, b := range e.builders(key) {
		i := slices.IndexFunc(is, func(x pkix.Extension) bool { return x.Id.Equal(b.oid) })
		if !b.wanted || i < 0 {
			if b.wanted || i >= 0 {
				return b.part, nil
			}
			continue
		}
		der, err := b.build()
		switch {
		case err != nil:
			return "", fmt.Errorf("%s %w", b.part, err)
		case is[i].Critical != b.critical:
			return b.part + "_critical", nil
		case b.sets && !slices.Equal(setOf(der), setOf(is[i].Value)),
			b.oid.Equal(oidNameConstraints) && !slices.EqualFunc(subtrees(der), subtrees(is[i].Value), slices.Equal),
			!b.sets && !b.oid.Equal(oidNameConstraints) && !bytes.Equal(der, is[i].Value):
			return b.part, nil
		}
	}
	return "", nil
}

// setOf are the members of a sequence, each once and in order.
func setOf(der []byte) []string {
	var members []asn1.RawValue
	if _, err := asn1.Unmarshal(der, &members); err != nil {
		return []string{string(der)} // nothing that a step asks for
	}
	var all []string
	for _, m := range members {
		all = append(all, string(m.FullBytes))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// subtrees are what is permitted and excluded in constraints of names.
func subtrees(der []byte) [][]string {
	var parts []asn1.RawValue
	if _, err := asn1.Unmarshal(der, &parts); err != nil {
		return [][]string{{string(der)}}
	}
	all := [][]string{nil, nil}
	for _, p := range parts {
		if p.Class == asn1.ClassContextSpecific && p.Tag < len(all) {
			p.FullBytes[0] = byte(tag.SEQUENCE)
			all[p.Tag] = setOf(p.FullBytes)
		}
	}
	return all
}

// sequence is a sequence of what each of the texts stands for.
func sequence(texts []string, one func(string) ([]byte, error)) ([]byte, error) {
	var b cryptobyte.Builder
	var failed error
	b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) { failed = addAll(b, texts, one) })
	if failed != nil {
		return nil, failed
	}
	return b.Bytes()
}

func addAll(b *cryptobyte.Builder, texts []string, one func(string) ([]byte, error)) error {
	for _, text := range texts {
		der, err := one(text)
		if err != nil {
			return err
		}
		b.AddBytes(der)
	}
	return nil
}

// addTagged adds what each of the texts stands for, in a part with a number.
func addTagged(b *cryptobyte.Builder, number int, texts []string, one func(string) ([]byte, error)) (failed error) {
	b.AddASN1(tag.Tag(number).Constructed().ContextSpecific(), func(b *cryptobyte.Builder) { failed = addAll(b, texts, one) })
	return failed
}

func object(name string) ([]byte, error) {
	oid, err := ParseObject(name)
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(oid)
}

// bits is a string of bits of which those with the names are set. DER has no zeros at its end.
func bits(names []string, of map[string]int, example string) ([]byte, error) {
	s, err := bitString(names, of, example)
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(s)
}

func bitString(names []string, of map[string]int, example string) (asn1.BitString, error) {
	var s asn1.BitString
	for _, name := range names {
		bit, ok := of[name]
		if !ok {
			return s, fmt.Errorf("has no %q; it is a list of words like %s", name, example)
		}
		for len(s.Bytes) <= bit/8 {
			s.Bytes = append(s.Bytes, 0)
		}
		s.Bytes[bit/8] |= 0x80 >> (bit % 8)
		s.BitLength = max(s.BitLength, bit+1)
	}
	return s, nil
}

// basic is whether the certificate is one of an authority, and how many there may be below it.
func (e *Extensions) basic() ([]byte, error) {
	var ca bool
	depth := -1
	for _, text := range e.Basic {
		limit, isLimit := strings.CutPrefix(text, "pathlen:")
		switch {
		case text == "CA:TRUE", text == "CA:FALSE":
			ca = text == "CA:TRUE"
		case isLimit:
			n, err := strconv.Atoi(limit)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("has %q, where a number follows the colon", text)
			}
			depth = n
		default:
			return nil, fmt.Errorf("has %q; it is a list of CA:TRUE or CA:FALSE, and pathlen:0", text)
		}
	}
	if depth >= 0 && !ca {
		return nil, errors.New("has pathlen without CA:TRUE")
	}
	var b cryptobyte.Builder
	b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
		if ca {
			b.AddASN1Boolean(true)
		}
		if depth >= 0 {
			b.AddASN1Int64(int64(depth))
		}
	})
	return b.Bytes()
}

func (e *Extensions) nameConstraints() ([]byte, error) {
	var b cryptobyte.Builder
	var failed error
	b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
		for i, names := range [][]string{e.Permitted, e.Excluded} {
			if len(names) == 0 {
				continue
			}
			b.AddASN1(tag.Tag(i).Constructed().ContextSpecific(), func(b *cryptobyte.Builder) {
				for _, name := range names {
					b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
						failed = errors.Join(failed, addAll(b, []string{name}, generalName))
					})
				}
			})
		}
	})
	if failed != nil {
		return nil, failed
	}
	return b.Bytes()
}

// keyID is the identifier of the key itself.
func (e *Extensions) keyID(key crypto.PublicKey) ([]byte, error) {
	if !e.OwnKeyID {
		id, err := parseHex(e.KeyID)
		if err != nil {
			return nil, err
		}
		return asn1.Marshal(id)
	}
	if key == nil { // while arguments are checked
		return asn1.Marshal([]byte{})
	}
	id, err := keyID(key)
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(id)
}

// keyID is the SHA-1 of a public key, without what says its kind (RFC 5280, 4.2.1.2).
func keyID(key crypto.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, err
	}
	var whole struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}
	if _, err := asn1.Unmarshal(der, &whole); err != nil {
		return nil, err
	}
	sum := sha1.Sum(whole.Key.Bytes)
	return sum[:], nil
}

func (e *Extensions) authorityKeyID() ([]byte, error) {
	var id []byte
	var serial *big.Int
	if e.AuthorityID != "" {
		var err error
		if id, err = parseHex(e.AuthorityID); err != nil {
			return nil, err
		}
	}
	if e.IssuerSerial != "" {
		var ok bool
		if serial, ok = new(big.Int).SetString(e.IssuerSerial, 10); !ok {
			return nil, fmt.Errorf("has the serial number %q, which is not a number", e.IssuerSerial)
		}
	}
	return authorityKeyID(id, e.Issuer, serial)
}

// authorityKeyID says which key a certificate is signed by.
func authorityKeyID(id []byte, issuer []string, serial *big.Int) ([]byte, error) {
	var b cryptobyte.Builder
	var failed error
	b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
		if id != nil {
			b.AddASN1(tag.Tag(0).ContextSpecific(), func(b *cryptobyte.Builder) { b.AddBytes(id) })
		}
		if len(issuer) > 0 {
			failed = addTagged(b, 1, issuer, generalName)
		}
		if serial != nil {
			b.AddASN1(tag.Tag(2).ContextSpecific(), func(b *cryptobyte.Builder) { b.AddBytes(integer(serial)) })
		}
	})
	if failed != nil {
		return nil, failed
	}
	return b.Bytes()
}

// integer is a number without its tag and length.
func integer(n *big.Int) []byte {
	der, _ := asn1.Marshal(n) // any number can be
	var raw asn1.RawValue
	_, _ = asn1.Unmarshal(der, &raw)
	return raw.Bytes
}

func (e *Extensions) points() ([]byte, error) {
	var b cryptobyte.Builder
	var failed error
	b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
		for _, p := range e.Points {
			b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) { failed = errors.Join(failed, p.add(b)) })
		}
	})
	if failed != nil {
		return nil, failed
	}
	return b.Bytes()
}

func (p Point) add(b *cryptobyte.Builder) error {
	var failed error
	if len(p.FullName)+len(p.RelativeName) > 0 {
		b.AddASN1(tag.Tag(0).Constructed().ContextSpecific(), func(b *cryptobyte.Builder) {
			if len(p.FullName) > 0 {
				failed = addTagged(b, 0, p.FullName, generalName)
				return
			}
			failed = addTagged(b, 1, p.RelativeName, attribute)
		})
	}
	if len(p.Reasons) > 0 {
		s, err := bitString(p.Reasons, reasons, "key_compromise")
		failed = errors.Join(failed, err)
		b.AddASN1(tag.Tag(1).ContextSpecific(), func(b *cryptobyte.Builder) {
			b.AddUint8(uint8(len(s.Bytes)*8 - s.BitLength))
			b.AddBytes(s.Bytes)
		})
	}
	if len(p.Issuer) > 0 {
		failed = errors.Join(failed, addTagged(b, 2, p.Issuer, generalName))
	}
	return failed
}

// attribute is a part of a name, as CN=shop.
func attribute(text string) ([]byte, error) {
	a, err := parseAttribute(text)
	if err != nil {
		return nil, err
	}
	built, err := a.build()
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(built)
}
