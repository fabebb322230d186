package action

import (
	"context"
	"crypto"
	"encoding/base64"
	"fmt"

	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/pki"
	"moon/exec/spec"
)

var _ = exec.Register("openssl_privatekey", exec.Action{Plan: planPrivatekey})

// privatekeyStep is one openssl_privatekey step being planned.
type privatekeyStep struct {
	*exec.Attempt
	args *spec.OpensslPrivatekeyArgs
	c    *exec.Change
}

func planPrivatekey(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	s := &privatekeyStep{a, a.Args.(*spec.OpensslPrivatekeyArgs), &exec.Change{Fields: map[string]any{}}}
	if s.args.State == fsys.Absent {
		return removePemFile(ctx, a, s.args.Path, s.args.Backup, nil)
	}
	s.c.Fields["filename"], s.c.Fields["type"], s.c.Fields["size"] = s.args.Path, s.args.Type, s.args.Size
	if s.args.Type == "ECC" {
		s.c.Fields["curve"] = s.args.Curve
	}
	f := pemFile{
		path: s.args.Path, mode: s.args.Mode, owner: s.args.Owner, group: s.args.Group, backup: s.args.Backup,
		secret: true, what: s.describe(),
	}
	if f.mode.IsZero() {
		var err error
		if f.mode, err = spec.ParseMode("0600"); err != nil {
			return nil, err
		}
	}
	if s.args.Regenerate == "always" {
		f.force = "a new key in the place of the old one"
	}
	var key crypto.PrivateKey // the one that is there, if it is only written again in another format
	f.judge = func(text []byte) (why string, err error) {
		key, why, err = s.judge(text)
		return why, err
	}
	f.produce = func() (text []byte, err error) {
		if key == nil {
			if key, err = pki.Generate(s.wanted()); err != nil {
				return nil, err
			}
		}
		return pki.Marshal(key, s.format(), s.args.Passphrase)
	}
	f.say = func(text []byte) error { return s.say(key, text) }
	if err := f.plan(ctx, a, s.c); err != nil {
		s.c.Close()
		return nil, err
	}
	return s.c, nil
}

// describe is the key in words.
func (s *privatekeyStep) describe() string {
	switch s.args.Type {
	case "RSA":
		return fmt.Sprintf("RSA key, %d bits", s.args.Size)
	case "ECC":
		return "ECC key, " + s.args.Curve
	}
	return s.args.Type + " key"
}

// wanted is the key that the step asks for.
func (s *privatekeyStep) wanted() pki.Kind {
	k := pki.Kind{Type: s.args.Type}
	switch s.args.Type {
	case "RSA":
		k.Bits = s.args.Size
	case "ECC":
		k.Curve = s.args.Curve
	}
	return k
}

func (s *privatekeyStep) format() string {
	switch f := s.args.Format; {
	case f != "auto" && f != "auto_ignore":
		return f
	case s.args.Type == "RSA" || s.args.Type == "ECC":
		return pki.PKCS1
	}
	return pki.PKCS8
}

// judge says why the key that is there does not do; "": it does. With a key it is only written again in another format.
func (s *privatekeyStep) judge(text []byte) (key crypto.PrivateKey, why string, err error) {
	key, format, err := pki.Parse(text, s.args.Passphrase, s.args.Type)
	if err != nil {
		if s.args.Regenerate == "full_idempotence" {
			return nil, "a new key, since the old one cannot be read: " + err.Error(), nil
		}
		return nil, "", fmt.Errorf("%s cannot be read: %w; give its passphrase, or replace it with `regenerate: full_idempotence`", s.args.Path, err)
	}
	is, err := pki.Describe(key)
	if err != nil {
		return nil, "", err
	}
	replaces := s.args.Regenerate == "partial_idempotence" || s.args.Regenerate == "full_idempotence"
	switch {
	case s.args.Regenerate == "never":
	case is != s.wanted() && replaces:
		return nil, "a new " + s.describe() + ", in the place of another kind", nil
	case is != s.wanted():
		return nil, "", fmt.Errorf("%s is not a %s; replace it with `regenerate: partial_idempotence`", s.args.Path, s.describe())
	}
	if s.args.Format == "auto_ignore" || format == s.format() {
		return key, "", nil
	}
	switch {
	case s.args.FormatMismatch == "convert":
		return key, "format " + format + " → " + s.format(), nil
	case s.args.Regenerate == "never":
		return key, "", nil
	case replaces:
		return nil, "a new key in the format " + s.format(), nil
	}
	return nil, "", fmt.Errorf("%s has the format %s; convert it with `format_mismatch: convert`", s.args.Path, format)
}

// say puts what the key is into the result.
func (s *privatekeyStep) say(key crypto.PrivateKey, text []byte) error {
	public, err := pki.Public(key)
	if err != nil {
		return err
	}
	if s.c.Fields["fingerprint"], err = pki.Fingerprints(public); err != nil {
		return err
	}
	if s.args.ReturnContent {
		s.c.Fields["privatekey"] = string(text)
		if s.format() == pki.Raw {
			s.c.Fields["privatekey"] = base64.StdEncoding.EncodeToString(text)
		}
	}
	return nil
}
