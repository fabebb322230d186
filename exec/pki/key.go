package pki

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// The formats of a private key.
const (
	PKCS1 = "pkcs1" // of RSA and elliptic curves each its own
	PKCS8 = "pkcs8"
	Raw   = "raw"
)

// curves are the elliptic curves there are, by the names of openssl.
var curves = map[string]elliptic.Curve{
	"secp224r1": elliptic.P224(), "secp256r1": elliptic.P256(), "secp384r1": elliptic.P384(), "secp521r1": elliptic.P521(),
}

// Kind is what a key is.
type Kind struct {
	Type  string // RSA, ECC, Ed25519 or X25519
	Bits  int    // of RSA
	Curve string // of ECC
}

// Generate makes a private key.
func Generate(k Kind) (crypto.PrivateKey, error) {
	switch k.Type {
	case "RSA":
		return rsa.GenerateKey(rand.Reader, k.Bits)
	case "ECC":
		curve, ok := curves[k.Curve]
		if !ok {
			return nil, errors.New("there is no curve " + k.Curve)
		}
		return ecdsa.GenerateKey(curve, rand.Reader)
	case "Ed25519":
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	case "X25519":
		return ecdh.X25519().GenerateKey(rand.Reader)
	}
	return nil, errors.New("there are no keys of type " + k.Type)
}

// Describe says what a private key is.
func Describe(key crypto.PrivateKey) (Kind, error) {
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return Kind{Type: "RSA", Bits: key.N.BitLen()}, nil
	case *ecdsa.PrivateKey:
		for name, curve := range curves {
			if curve == key.Curve {
				return Kind{Type: "ECC", Curve: name}, nil
			}
		}
	case ed25519.PrivateKey:
		return Kind{Type: "Ed25519"}, nil
	case *ecdh.PrivateKey:
		return Kind{Type: "X25519"}, nil
	}
	return Kind{}, fmt.Errorf("a key of type %T is not supported", key)
}

// Public is the public key of a private one.
func Public(key crypto.PrivateKey) (crypto.PublicKey, error) {
	of, ok := key.(interface{ Public() crypto.PublicKey })
	if !ok {
		return nil, fmt.Errorf("a key of type %T is not supported", key)
	}
	return of.Public(), nil
}

// Marshal is the text of a file with a private key. With a passphrase it is encrypted.
func Marshal(key crypto.PrivateKey, format, passphrase string) ([]byte, error) {
	switch format {
	case Raw:
		return marshalRaw(key, passphrase)
	case PKCS1:
		block, err := marshalOwn(key)
		if err == nil && passphrase != "" {
			//nolint:staticcheck // the only way there is to encrypt this format, which other programs read as well
			block, err = x509.EncryptPEMBlock(rand.Reader, block.Type, block.Bytes, []byte(passphrase), x509.PEMCipherAES256)
		}
		if err != nil {
			return nil, err
		}
		return pem.EncodeToMemory(block), nil
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	block := &pem.Block{Type: "PRIVATE KEY", Bytes: der}
	if passphrase != "" {
		if der, err = encryptPKCS8(der, passphrase); err != nil {
			return nil, err
		}
		block = &pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: der}
	}
	return pem.EncodeToMemory(block), nil
}

// marshalOwn is a key in the format of its own type.
func marshalOwn(key crypto.PrivateKey) (*pem.Block, error) {
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}, nil
	case *ecdsa.PrivateKey:
		der, err := x509.MarshalECPrivateKey(key)
		return &pem.Block{Type: "EC PRIVATE KEY", Bytes: der}, err
	}
	return nil, errors.New("keys of this type have no format pkcs1; use pkcs8")
}

func marshalRaw(key crypto.PrivateKey, passphrase string) ([]byte, error) {
	if passphrase != "" {
		return nil, errors.New("a raw key cannot be encrypted; use pkcs8")
	}
	switch key := key.(type) {
	case ed25519.PrivateKey:
		return key.Seed(), nil
	case *ecdh.PrivateKey:
		return key.Bytes(), nil
	}
	return nil, errors.New("keys of this type have no format raw; use pkcs8")
}

// ErrPassphrase says that a key is encrypted with another passphrase, or with none although there should be one.
var ErrPassphrase = errors.New("the key has another passphrase, or none")

// Parse reads a private key. Raw is what a key without any marks is taken for: Ed25519 or X25519.
func Parse(text []byte, passphrase, raw string) (key crypto.PrivateKey, format string, err error) {
	if !bytes.Contains(text, []byte("-----BEGIN ")) {
		if passphrase != "" {
			return nil, Raw, ErrPassphrase
		}
		key, err = parseRaw(text, raw)
		return key, Raw, err
	}
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, "", errors.New("there is no private key in it")
		}
		if key, format, err = parseBlock(block, passphrase); format != "" {
			return key, format, err
		}
	}
}

// parseBlock reads a part of a file; format is "" if there is no key in it, such as parameters of a curve.
func parseBlock(block *pem.Block, passphrase string) (key crypto.PrivateKey, format string, err error) {
	der, encrypted := block.Bytes, false
	switch block.Type {
	case "ENCRYPTED PRIVATE KEY":
		encrypted = true
		if der, err = decryptPKCS8(der, passphrase); err != nil {
			return nil, PKCS8, err
		}
	case "RSA PRIVATE KEY", "EC PRIVATE KEY":
		if encrypted = x509.IsEncryptedPEMBlock(block); encrypted { //nolint:staticcheck // such files exist
			if der, err = x509.DecryptPEMBlock(block, []byte(passphrase)); err != nil { //nolint:staticcheck // such files exist
				return nil, PKCS1, ErrPassphrase
			}
		}
	case "PRIVATE KEY":
	default:
		return nil, "", nil
	}
	if !encrypted && passphrase != "" {
		return nil, PKCS8, ErrPassphrase
	}
	switch block.Type {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(der)
		format = PKCS1
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(der)
		format = PKCS1
	default:
		key, err = x509.ParsePKCS8PrivateKey(der)
		format = PKCS8
	}
	if err != nil && encrypted {
		err = ErrPassphrase // what is decrypted with another one is noise
	}
	return key, format, err
}

func parseRaw(text []byte, kind string) (crypto.PrivateKey, error) {
	if len(text) != 32 {
		return nil, errors.New("there is no private key in it")
	}
	if kind == "X25519" {
		return ecdh.X25519().NewPrivateKey(text)
	}
	return ed25519.NewKeyFromSeed(text), nil
}
