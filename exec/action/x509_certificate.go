package action

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/pki"
	"moon/exec/spec"
)

var _ = exec.Register("x509_certificate", exec.Action{Plan: planCertificate})

// certificateStep is one x509_certificate step being planned.
type certificateStep struct {
	*exec.Attempt
	args *spec.X509CertificateArgs
	file pemFile
	c    *exec.Change
}

func planCertificate(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	s := certificateStep{Attempt: a, args: a.Args.(*spec.X509CertificateArgs)}
	s.c = &exec.Change{Fields: map[string]any{
		"filename": s.args.Path, "privatekey": orNull(s.args.KeyPath), "csr": orNull(s.args.CsrPath),
	}}
	if s.args.State == fsys.Absent {
		return removePemFile(ctx, a, s.args.Path, s.args.Backup, s.c.Fields)
	}
	s.file = newPemFile(s.args.OwnFile)
	wanted, err := s.read()
	if err != nil {
		return nil, err
	}
	s.report(wanted.NotBefore, wanted.NotAfter, wanted.Serial)
	if s.args.ReturnContent {
		s.c.Fields["certificate"] = nil // as Ansible has it until there is one
	}
	s.file.judge = wanted.Differs
	s.file.produce = wanted.Sign
	s.file.say = s.say
	if err := s.file.plan(ctx, a, s.c); err != nil {
		s.c.Close()
		return nil, err
	}
	return s.c, nil
}

// read puts together what the certificate is to be, from the keys and files that the step names.
func (s *certificateStep) read() (*pki.Certificate, error) {
	args := s.args
	wanted := &pki.Certificate{Serial: pki.NewSerial(), KeyID: args.SelfKeyID, Digest: args.SelfDigest, CheckTimes: !args.IgnoreTimestamps}
	before, after := args.SelfNotBefore, args.SelfNotAfter
	s.file.what = "certificate, signed by its own key"
	if args.Provider == "ownca" {
		wanted.KeyID, wanted.Digest = args.CAKeyID, args.CADigest
		before, after = args.CANotBefore, args.CANotAfter
		s.file.what = "certificate, signed by the key of an authority"
		s.c.Fields["ca_cert"], s.c.Fields["ca_privatekey"] = orNull(args.CAPath), orNull(args.CAKeyPath)
		if err := s.readAuthority(wanted); err != nil {
			return nil, err
		}
	}
	var err error
	now := time.Now()
	if wanted.NotBefore, err = pki.ParseTime(before, now); err != nil {
		return nil, err
	}
	if wanted.NotAfter, err = pki.ParseTime(after, now); err != nil {
		return nil, err
	}
	if args.KeyPath != "" || args.KeyContent != "" {
		if wanted.Key, err = s.file.readKey(s.Attempt, args.KeyPath, args.KeyContent, args.KeyPassphrase); err != nil {
			return nil, err
		}
	}
	if args.CsrPath == "" && args.CsrContent == "" {
		return wanted, nil
	}
	text, err := s.file.readFrom(s.Attempt, args.CsrPath, args.CsrContent)
	if err != nil || s.file.ahead != "" {
		return wanted, err
	}
	if wanted.Request, err = pki.ParseRequest(text); err != nil {
		return nil, fmt.Errorf("the certificate request cannot be read: %w", err)
	}
	return wanted, nil
}

// readAuthority reads who signs the certificate.
func (s *certificateStep) readAuthority(wanted *pki.Certificate) error {
	args := s.args
	text, err := s.file.readFrom(s.Attempt, args.CAPath, args.CAContent)
	if err != nil {
		return err
	}
	key, err := s.file.readKey(s.Attempt, args.CAKeyPath, args.CAKeyContent, args.CAPassphrase)
	if err != nil || s.file.ahead != "" {
		return err
	}
	certificate, err := pki.ParseCertificate(text)
	if err != nil {
		return fmt.Errorf("the certificate of the CA cannot be read: %w", err)
	}
	wanted.Authority, err = pki.NewAuthority(certificate, key, args.CAMark)
	return err
}

// say puts what the certificate says into the result.
func (s *certificateStep) say(text []byte) error {
	is, err := pki.ParseCertificate(text)
	if err != nil {
		return err
	}
	s.report(is.NotBefore.UTC(), is.NotAfter.UTC(), is.SerialNumber)
	if s.args.ReturnContent {
		s.c.Fields["certificate"] = string(text)
	}
	return nil
}

func (s *certificateStep) report(notBefore, notAfter time.Time, serial *big.Int) {
	s.c.Fields["notBefore"], s.c.Fields["notAfter"] = notBefore.Format(pki.Time), notAfter.Format(pki.Time)
	s.c.Fields["serial_number"] = serial.String() // more than a number of a playbook holds
}
