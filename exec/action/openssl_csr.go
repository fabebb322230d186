package action

import (
	"context"

	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("openssl_csr", exec.Action{Plan: planCsr})

func planCsr(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.OpensslCsrArgs)
	fields := csrFields(args)
	if args.State == fsys.Absent {
		return removePemFile(ctx, a, args.Path, args.Backup, fields)
	}
	f := newPemFile(args.OwnFile)
	f.what = "certificate request"
	if len(args.Request.AltNames) > 0 {
		f.what += " for " + args.Request.AltNames[0]
	}
	key, err := f.readKey(a, args.KeyPath, args.KeyContent, args.KeyPassphrase)
	if err != nil {
		return nil, err
	}
	c := &exec.Change{Fields: fields}
	if args.ReturnContent {
		fields["csr"] = nil // as Ansible has it until there is one
	}
	f.judge = func(text []byte) (string, error) { return args.Request.Differs(text, key) }
	f.produce = func() ([]byte, error) { return args.Request.Sign(key) }
	f.say = func(text []byte) error {
		if args.ReturnContent {
			c.Fields["csr"] = string(text)
		}
		return nil
	}
	if err := f.plan(ctx, a, c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// csrFields is what the result says of a request: what was asked for.
func csrFields(args *spec.OpensslCsrArgs) map[string]any {
	subject := []any{}
	for _, part := range args.Request.Subject {
		subject = append(subject, []any{part.Name, part.Value})
	}
	return map[string]any{
		"filename": args.Path, "privatekey": orNull(args.KeyPath), "subject": subject, "subjectAltName": listOrNull(args.Request.AltNames),
		"keyUsage": listOrNull(args.Usage), "extendedKeyUsage": listOrNull(args.Purposes), "basicConstraints": listOrNull(args.Basic),
		"ocspMustStaple":             args.Staple,
		"name_constraints_permitted": anyList(args.Permitted), "name_constraints_excluded": anyList(args.Excluded),
	}
}
