package action

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"moon/exec/fault"
	"moon/internal/pattern"
)

// sshSigner matches what git says of a good signature of an SSH key.
var sshSigner = pattern.New(`^Good "git" signature .* key (SHA256:\S+)$`)

// verifyCommit asks git for the signature of the version: that of a tag with a message, or else that of the commit.
func (g *gitStep) verifyCommit(ctx context.Context) error {
	if !g.args.VerifyCommit {
		return nil
	}
	argv := []string{"verify-commit", "--raw", cmp.Or(g.want.commit, "HEAD")}
	if _, annotated := g.refs["refs/tags/"+g.want.tag+"^{}"]; annotated && g.want.tag != "" {
		argv = []string{"verify-tag", "--raw", "refs/tags/" + g.want.tag}
	}
	said, err := g.askGit(ctx, g.args.Dest, argv...)
	if err != nil {
		return err
	}
	name := cmp.Or(g.args.Version, "HEAD")
	if said.Code != 0 {
		return fault.CommandError{
			RC: &said.Code, Class: fault.Fatal,
			Message: fmt.Sprintf("git: %s has no signature that can be trusted: %s", name, whySignature(said.Stderr)),
		}
	}
	if len(g.args.Signers) == 0 {
		return nil
	}
	signers := readSigners(said.Stderr)
	for _, signer := range signers {
		if slices.ContainsFunc(g.args.Signers, func(listed string) bool { return strings.EqualFold(spaceless(listed), signer) }) {
			return nil
		}
	}
	if len(signers) == 0 {
		return fmt.Errorf("git: %s is signed, and git does not say by which key", name)
	}
	return fmt.Errorf("git: %s is signed by %s, which is not in `gpg_allowlist`", name, signers[0])
}

// spaceless is a fingerprint as programs write it; people copy it in groups of four digits.
func spaceless(fingerprint string) string { return strings.ReplaceAll(fingerprint, " ", "") }

// readSigners finds the fingerprints of the key that made a good signature, and of its primary key, in what git says with --raw.
func readSigners(text string) (signers []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if m := sshSigner.FindStringSubmatch(line); m != nil {
			signers = append(signers, m[1])
		}
		words := strings.Fields(line)
		if len(words) < 3 || words[0] != "[GNUPG:]" || words[1] != "VALIDSIG" {
			continue
		}
		signers = append(signers, words[2])
		// The primary key comes last, after nine words about the signature.
		if last := words[len(words)-1]; len(words) > 11 && last != words[2] {
			signers = append(signers, last)
		}
	}
	return signers
}

// whySignature is the reason in what git says with --raw: a line of gpg that tells one, or the last line.
func whySignature(text string) string {
	reasons := map[string]string{
		"NO_PUBKEY": "its key is not known", "BADSIG": "it is a bad signature", "EXPSIG": "the signature has expired",
		"EXPKEYSIG": "its key has expired", "REVKEYSIG": "its key was revoked", "TRUST_NEVER": "its key is not to be trusted",
	}
	last := "it is not signed"
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) > 1 && words[0] == "[GNUPG:]" {
			if why, ok := reasons[words[1]]; ok {
				return why
			}
		} else if len(words) > 0 {
			last = strings.TrimSpace(line)
		}
	}
	return last
}
