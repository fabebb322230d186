package pki

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"hash"
)

// A key that is encrypted by a passphrase (RFC 8018, PBES2): what the key is encrypted with is made of the passphrase, in many rounds.
type encryptedKey struct {
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte
}

type pbes2 struct {
	Derive, Encrypt pkix.AlgorithmIdentifier
}

type derivation struct {
	Salt   []byte
	Rounds int
	Length int                      `asn1:"optional"`
	Hash   pkix.AlgorithmIdentifier `asn1:"optional"`
}

var (
	oidPBES2  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
	oidAES128 = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 2}
	oidAES192 = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 22}
	oidAES256 = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}
	oidSHA1   = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 7}
	oidSHA256 = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 9}
	oidSHA512 = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 11}
)

const (
	saltLength = 16
	rounds     = 100_000
	// maxRounds keeps a file from another person from taking minutes to be read.
	maxRounds = 10_000_000
)

func encryptPKCS8(der []byte, passphrase string) ([]byte, error) {
	salt, iv := make([]byte, saltLength), make([]byte, aes.BlockSize)
	_, _ = rand.Read(salt) // it never fails
	_, _ = rand.Read(iv)
	key, err := pbkdf2.Key(sha256.New, passphrase, salt, rounds, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	pad := aes.BlockSize - len(der)%aes.BlockSize
	padded := append(append([]byte{}, der...), make([]byte, pad)...)
	for i := len(der); i < len(padded); i++ {
		padded[i] = byte(pad)
	}
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(padded, padded)
	digest := pkix.AlgorithmIdentifier{Algorithm: oidSHA256, Parameters: asn1.NullRawValue}
	derive, err1 := asn1.Marshal(derivation{Salt: salt, Rounds: rounds, Hash: digest})
	start, err2 := asn1.Marshal(iv)
	params, err3 := asn1.Marshal(pbes2{
		pkix.AlgorithmIdentifier{Algorithm: oidPBKDF2, Parameters: asn1.RawValue{FullBytes: derive}},
		pkix.AlgorithmIdentifier{Algorithm: oidAES256, Parameters: asn1.RawValue{FullBytes: start}},
	})
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	return asn1.Marshal(encryptedKey{pkix.AlgorithmIdentifier{Algorithm: oidPBES2, Parameters: asn1.RawValue{FullBytes: params}}, padded})
}

func decryptPKCS8(der []byte, passphrase string) ([]byte, error) {
	var e encryptedKey
	if _, err := asn1.Unmarshal(der, &e); err != nil {
		return nil, err
	}
	var params pbes2
	var derive derivation
	var iv []byte
	if !e.Algorithm.Algorithm.Equal(oidPBES2) {
		return nil, errors.New("the key is encrypted in a way that is not supported; convert it with openssl pkcs8")
	}
	if _, err := asn1.Unmarshal(e.Algorithm.Parameters.FullBytes, &params); err != nil {
		return nil, err
	}
	if _, err := asn1.Unmarshal(params.Derive.Parameters.FullBytes, &derive); err != nil || !params.Derive.Algorithm.Equal(oidPBKDF2) {
		return nil, errors.New("the key is encrypted in a way that is not supported; convert it with openssl pkcs8")
	}
	if _, err := asn1.Unmarshal(params.Encrypt.Parameters.FullBytes, &iv); err != nil {
		return nil, err
	}
	// The numbers come from a file: none may make this run for long or past the end of its data.
	length := map[string]int{oidAES128.String(): 16, oidAES192.String(): 24, oidAES256.String(): 32}[params.Encrypt.Algorithm.String()]
	digest := map[string]func() hash.Hash{"": sha1.New, oidSHA1.String(): sha1.New, oidSHA256.String(): sha256.New, oidSHA512.String(): sha512.New}[derive.Hash.Algorithm.String()]
	inBlocks := len(iv) == aes.BlockSize && len(e.Data) > 0 && len(e.Data)%aes.BlockSize == 0
	if length == 0 || digest == nil || derive.Rounds > maxRounds || !inBlocks {
		return nil, errors.New("the key is encrypted in a way that is not supported; convert it with openssl pkcs8")
	}
	key, err := pbkdf2.Key(digest, passphrase, derive.Salt, derive.Rounds, length)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	plain := make([]byte, len(e.Data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(plain, e.Data)
	pad := int(plain[len(plain)-1])
	if pad == 0 || pad > aes.BlockSize {
		return nil, ErrPassphrase
	}
	return plain[:len(plain)-pad], nil
}
