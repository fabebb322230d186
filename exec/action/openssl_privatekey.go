package action

import (
	"context"
	"crypto"
	"encoding/base64"
	"errors"
	"fmt"

	"moon/events"
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
	s := &privatekeyStep{a, a.Args.(*spec.OpensslPrivatekeyArgs), &exec.Change{Fields: map[string]any{}, Hidden: true}}
	if s.args.State == fsys.Absent {
		return s.planRemoval(ctx)
	}
	s.c.Fields["filename"], s.c.Fields["type"], s.c.Fields["size"] = s.args.Path, s.args.Type, s.args.Size
	if s.args.Type == "ECC" {
		s.c.Fields["curve"] = s.args.Curve
	}
	if err := s.plan(ctx); err != nil {
		s.c.Close()
		return nil, err
	}
	return s.c, nil
}

func (s *privatekeyStep) planRemoval(ctx context.Context) (*exec.Change, error) {
	job, own := *s.Job, *s.Attempt
	job.Args, own.Job = &spec.FileArgs{Path: s.args.Path, State: fsys.Absent, Backup: s.args.Backup}, &job
	c, err := planFile(ctx, &own)
	if err == nil {
		c.Fields["filename"] = s.args.Path
	}
	return c, err
}

func (s *privatekeyStep) plan(ctx context.Context) error {
	mode := s.args.Mode
	if mode.IsZero() {
		var err error
		if mode, err = spec.ParseMode("0600"); err != nil {
			return err
		}
	}
	attrs, err := s.Overlay.NewAttributes(mode, s.args.Owner, s.args.Group, spec.FileAttributes{})
	if err != nil {
		return err
	}
	p, err := s.Overlay.OpenPlace(s.args.Path)
	if err != nil {
		return err
	}
	s.c.Places = append(s.c.Places, p)
	t := target{at: p, attrs: attrs, force: true, backup: s.args.Backup}
	if t.is, err = p.Look(); err != nil {
		return err
	}
	s.c.Diff.Path = p.Path
	switch t.is.Kind {
	case fsys.Absent:
		w, words := attrs.ForNew(fsys.Regular)
		s.planKey(&t, w, events.ChangeCreate, nil, append([]string{"new " + s.describe()}, words...)...)
		return nil
	case fsys.Regular:
	default:
		return errors.New(p.Path + " is " + t.is.What())
	}
	text, err := p.Read(t.is)
	if err != nil {
		return err
	}
	key, why, err := s.judge(text)
	if err != nil {
		return err
	}
	w, words := attrs.For(t.is)
	if why != "" {
		s.planKey(&t, w, events.ChangeUpdate, key, append([]string{why}, words...)...)
		return nil
	}
	if err := s.say(key, text); err != nil {
		return err
	}
	t.from = fsys.Source{Data: text, Size: int64(len(text))}
	_, err = t.planWrite(ctx, s.Attempt, s.c)
	s.c.Result = nil
	delete(s.c.Fields, "checksum") // that of a private key is no one's business
	return err
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
	if s.args.Regenerate == "always" {
		return nil, "a new key in the place of the old one", nil
	}
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

// planKey writes a key, which is made only now if it is nil.
func (s *privatekeyStep) planKey(t *target, w fsys.Wanted, kind events.ChangeKind, key crypto.PrivateKey, words ...string) {
	s.c.AddPrediction(func(f *fsys.Overlay) { f.Put(t.at.Path, fsys.Predicted{Entry: w.Entry(fsys.Regular)}) })
	s.c.Plan(kind, func(ctx context.Context) error {
		if key == nil {
			var err error
			if key, err = pki.Generate(s.wanted()); err != nil {
				return err
			}
		}
		text, err := pki.Marshal(key, s.format(), s.args.Passphrase)
		if err != nil {
			return err
		}
		t.from = fsys.Source{Data: text, Size: int64(len(text))}
		if err := t.replaceFile(s.Attempt, s.c, w)(ctx); err != nil {
			return err
		}
		delete(s.c.Fields, "checksum")
		s.c.InPlays = nil // nor the MD5
		return s.say(key, text)
	}, words...)
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
