package action

import (
	"context"
	"crypto"

	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/pki"
	"moon/exec/spec"
)

var _ = exec.Register("openssl_publickey", exec.Action{Plan: planPublickey})

func planPublickey(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.OpensslPublickeyArgs)
	c := &exec.Change{Fields: map[string]any{
		"filename": args.Path, "privatekey": orNull(args.KeyPath), "format": args.Format, "fingerprint": map[string]any{},
	}}
	if args.State == fsys.Absent {
		return removePemFile(ctx, a, args.Path, args.Backup, c.Fields)
	}
	f := newPemFile(args.OwnFile)
	f.what = "public key"
	key, err := f.readKey(a, args.KeyPath, args.KeyContent, args.KeyPassphrase)
	if err != nil {
		return nil, err
	}
	// Where an earlier step of a dry run makes the private key, nothing is known of the public one.
	var public crypto.PublicKey
	if key != nil {
		if public, err = pki.Public(key); err != nil {
			return nil, err
		}
		if c.Fields["fingerprint"], err = pki.Fingerprints(public); err != nil {
			return nil, err
		}
	}
	f.judge = func(text []byte) (string, error) { return judgePublic(text, public, args.Format), nil }
	f.produce = func() ([]byte, error) { return pki.MarshalPublic(public, args.Format) }
	f.say = func(text []byte) error {
		if args.ReturnContent {
			c.Fields["publickey"] = string(text)
		}
		return nil
	}
	if key != nil {
		text, err := f.produce()
		if err == nil {
			err = f.say(text)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := f.plan(ctx, a, c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// judgePublic says why a file with a public key will not do; "": it will.
func judgePublic(text []byte, wanted crypto.PublicKey, format string) (why string) {
	is, err := pki.ParsePublic(text, format)
	switch {
	case err != nil:
		return "the old one cannot be read"
	case !pki.SamePublic(is, wanted):
		return "another key"
	}
	return ""
}
