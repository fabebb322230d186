package pki

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/crypto/cryptobyte"
	tag "golang.org/x/crypto/cryptobyte/asn1"
	"golang.org/x/net/idna"
)

// Attribute is a part of a name, as CN=shop.example.org.
type Attribute struct{ Name, Value string }

var (
	oidEmail  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 1}
	oidDomain = asn1.ObjectIdentifier{0, 9, 2342, 19200300, 100, 1, 25}
)

// stringTags are the types of text of the attributes for which it is not UTF-8.
var stringTags = map[string]int{
	"2.5.4.6": asn1.TagPrintableString, "2.5.4.5": asn1.TagPrintableString, "2.5.4.46": asn1.TagPrintableString,
	"1.3.6.1.4.1.311.60.2.1.3": asn1.TagPrintableString,
	oidEmail.String():          asn1.TagIA5String, oidDomain.String(): asn1.TagIA5String,
}

// pair is an attribute as it is compared: whatever name it was given, and whatever type its text has.
type pair struct{ oid, value string }

// build is the attribute as names hold it.
func (a Attribute) build() (pkix.AttributeTypeAndValue, error) {
	oid, err := ParseObject(a.Name)
	if err != nil {
		return pkix.AttributeTypeAndValue{}, err
	}
	kind, special := stringTags[oid.String()]
	if !special {
		kind = asn1.TagUTF8String
	}
	switch ascii := strings.IndexFunc(a.Value, func(r rune) bool { return r > 127 }) < 0; {
	case a.Value == "":
		return pkix.AttributeTypeAndValue{}, fmt.Errorf("has an empty %s", a.Name)
	case special && !ascii:
		return pkix.AttributeTypeAndValue{}, fmt.Errorf("has a letter in %s that is not one of ASCII", a.Name)
	case kind == asn1.TagPrintableString && strings.HasSuffix(oid.String(), ".6") && len(a.Value) != 2:
		return pkix.AttributeTypeAndValue{}, fmt.Errorf("has the country %q; a country has two letters, as DE", a.Value)
	}
	return pkix.AttributeTypeAndValue{Type: oid, Value: asn1.RawValue{Tag: kind, Bytes: []byte(a.Value)}}, nil
}

// marshalName is a name with each attribute at a level of its own, as openssl and Python's cryptography write them.
func marshalName(attributes []Attribute) ([]byte, error) {
	name := pkix.RDNSequence{}
	for _, a := range attributes {
		built, err := a.build()
		if err != nil {
			return nil, err
		}
		name = append(name, pkix.RelativeDistinguishedNameSET{built})
	}
	return asn1.Marshal(name)
}

// readName takes a name apart.
func readName(der []byte) ([]pair, error) {
	var name pkix.RDNSequence
	if _, err := asn1.Unmarshal(der, &name); err != nil {
		return nil, err
	}
	var pairs []pair
	for _, level := range name {
		for _, a := range level {
			pairs = append(pairs, pair{a.Type.String(), fmt.Sprint(a.Value)})
		}
	}
	return pairs, nil
}

// sameName reports whether two names have the same attributes in the same order.
func sameName(a, b []byte) bool {
	one, err1 := readName(a)
	other, err2 := readName(b)
	return err1 == nil && err2 == nil && slices.Equal(one, other)
}

// CheckName says what is wrong with the parts of a name.
func CheckName(attributes []Attribute) error {
	_, err := marshalName(attributes)
	return err
}

// CheckGeneralName says what is wrong with a name like DNS:example.org.
func CheckGeneralName(text string) error {
	_, err := generalName(text)
	return err
}

// The tags of the kinds of general names.
const (
	nameOther     = 0
	nameEmail     = 1
	nameDNS       = 2
	nameDirectory = 4
	nameURI       = 6
	nameIP        = 7
	nameID        = 8
)

// generalName reads a name that says its kind first: DNS:example.org, IP:192.0.2.1.
func generalName(text string) ([]byte, error) {
	kind, value, ok := strings.Cut(text, ":")
	if !ok || value == "" {
		return nil, fmt.Errorf("has %q, which does not say what it is; write DNS:%s if it is a name of a host", text, text)
	}
	switch kind {
	case "DNS":
		ascii, err := asciiHost(value)
		return primitive(nameDNS, []byte(ascii)), err
	case "email":
		local, host, _ := strings.Cut(value, "@")
		ascii, err := asciiHost(host)
		if host != "" {
			local += "@" + ascii
		}
		return primitive(nameEmail, []byte(local)), err
	case "URI":
		if strings.IndexFunc(value, func(r rune) bool { return r > 127 }) >= 0 {
			return nil, fmt.Errorf("has %q with letters that are not those of ASCII; write them as %%C3%%A4, those of a host as xn--…", text)
		}
		return primitive(nameURI, []byte(value)), nil
	case "IP":
		address, err := address(value)
		return primitive(nameIP, address), err
	case "RID":
		oid, err := ParseObject(value)
		if err != nil {
			return nil, err
		}
		var b cryptobyte.Builder
		b.AddASN1(tag.Tag(nameID).ContextSpecific(), func(b *cryptobyte.Builder) { b.AddBytes(content(oid)) })
		return b.Bytes()
	case "dirName":
		return directoryName(value)
	case "otherName":
		return otherName(value)
	}
	return nil, fmt.Errorf("has %q; a name begins with DNS, IP, email, URI, RID, dirName or otherName and a colon", text)
}

// asciiHost is the name of a host in letters of ASCII. Labels that are empty or * stay.
func asciiHost(host string) (string, error) {
	labels := strings.Split(host, ".")
	for i, label := range labels {
		if label == "" || label == "*" {
			continue
		}
		if strings.IndexFunc(label, func(r rune) bool { return r > 127 }) < 0 {
			continue
		}
		ascii, err := idna.Lookup.ToASCII(label)
		if err != nil {
			return "", fmt.Errorf("has the host %q, which is not a name: %w", host, err)
		}
		labels[i] = ascii
	}
	return strings.Join(labels, "."), nil
}

// address is an address, or a network as an address with a mask.
func address(text string) ([]byte, error) {
	if ip, err := netip.ParseAddr(text); err == nil && ip.Zone() == "" {
		return ip.AsSlice(), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return nil, fmt.Errorf("has %q, which is not an IP address", text)
	}
	if network.Masked() != network {
		return nil, fmt.Errorf("has %q, which is not a network; did you mean %s?", text, network.Masked())
	}
	all := network.Addr().AsSlice()
	mask := make([]byte, len(all))
	for i := range network.Bits() {
		mask[i/8] |= 0x80 >> (i % 8)
	}
	return append(all, mask...), nil
}

// directoryName reads CN=shop,O=Example, the last part first as in LDAP, or /O=Example/CN=shop.
func directoryName(text string) ([]byte, error) {
	parts, err := splitName(text)
	if err != nil {
		return nil, err
	}
	slices.Reverse(parts) // whatever stands between them, as Ansible has it
	der, err := marshalName(parts)
	if err != nil {
		return nil, err
	}
	var b cryptobyte.Builder
	b.AddASN1(tag.Tag(nameDirectory).Constructed().ContextSpecific(), func(b *cryptobyte.Builder) { b.AddBytes(der) })
	return b.Bytes()
}

// splitName cuts a name at its commas or slashes that no backslash is before.
func splitName(text string) ([]Attribute, error) {
	text = strings.TrimLeft(text, " ")
	separator := byte(',')
	if rest, ok := strings.CutPrefix(text, "/"); ok {
		separator, text = '/', rest
	}
	var parts []Attribute
	for text != "" {
		var part strings.Builder
		i := 0
		for ; i < len(text) && text[i] != separator; i++ {
			if text[i] != '\\' {
				part.WriteByte(text[i])
				continue
			}
			i++
			if i == len(text) {
				return nil, fmt.Errorf("has the name %q, which ends in a backslash", text)
			}
			// Two digits are a byte, and anything else is itself.
			if i+1 < len(text) {
				if one, err := hex.DecodeString(text[i : i+2]); err == nil {
					part.WriteByte(one[0])
					i++
					continue
				}
			}
			part.WriteByte(text[i])
		}
		a, err := parseAttribute(part.String())
		if err != nil {
			return nil, err
		}
		parts = append(parts, a)
		if i == len(text)-1 {
			return nil, fmt.Errorf("has a name that ends in %c", separator)
		}
		text = text[min(i+1, len(text)):]
	}
	if len(parts) == 0 {
		return nil, errors.New("has an empty name")
	}
	return parts, nil
}

// parseAttribute reads CN=shop.
func parseAttribute(text string) (Attribute, error) {
	name, value, ok := strings.Cut(text, "=")
	a := Attribute{strings.TrimSpace(name), strings.TrimLeft(value, " ")}
	if !ok {
		return a, fmt.Errorf("has %q in a name, where there should be a part like CN=shop", text)
	}
	_, err := a.build()
	return a, err
}

// otherName reads OID;UTF8:text and OID;30:03:…, which is any value as its bytes.
func otherName(text string) ([]byte, error) {
	name, value, ok := strings.Cut(text, ";")
	if !ok {
		return nil, fmt.Errorf("has otherName:%s, which is not like otherName:1.2.3;UTF8:text", text)
	}
	oid, err := ParseObject(name)
	if err != nil {
		return nil, err
	}
	der, err := parseHex(value)
	if err != nil {
		kind, plain, _ := strings.Cut(value, ":")
		if kind != "UTF8" && kind != "UTF8String" {
			return nil, fmt.Errorf("has otherName:%s; its value is like UTF8:text, or in digits like 0c:04:74:65:78:74", text)
		}
		if der, err = asn1.MarshalWithParams(plain, "utf8"); err != nil {
			return nil, err
		}
	}
	var b cryptobyte.Builder
	b.AddASN1(tag.Tag(nameOther).Constructed().ContextSpecific(), func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oid)
		b.AddASN1(tag.Tag(0).Constructed().ContextSpecific(), func(b *cryptobyte.Builder) { b.AddBytes(der) })
	})
	return b.Bytes()
}

// parseHex reads bytes as digits with colons between.
func parseHex(text string) ([]byte, error) {
	var all []byte
	for part := range strings.SplitSeq(text, ":") {
		if len(part) == 1 {
			part = "0" + part
		}
		one, err := hex.DecodeString(part)
		if err != nil || len(one) != 1 {
			return nil, fmt.Errorf("has %q, which is not bytes like 00:1f:2a", text)
		}
		all = append(all, one...)
	}
	return all, nil
}

func primitive(kind int, bytes []byte) []byte {
	der, _ := asn1.Marshal(asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: kind, Bytes: bytes}) // bytes are bytes
	return der
}

// content is an object identifier without its tag and length.
func content(oid asn1.ObjectIdentifier) []byte {
	der, _ := asn1.Marshal(oid) // it was checked when it was parsed
	var raw asn1.RawValue
	_, _ = asn1.Unmarshal(der, &raw)
	return raw.Bytes
}
