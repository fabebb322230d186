package library

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/plan"
	"moon/plan/eval"
	"moon/plan/inventory"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/secret/vault"
)

// errSealed is why a file is not opened by a library that asks for no password.
var errSealed = errors.New("it is encrypted")

// unlock puts the text of an encrypted file in its place, and says of a file of secrets that it is one.
func (l *Library) unlock(f *playbook.File) error {
	if l.sealed {
		f.Secret = source.NamedSecret(f.Name)
		if vault.Is(f.Text) {
			return &plan.LockedError{File: f.Name, Err: errSealed}
		}
		return nil
	}
	f.Decrypt = func(text string) (plain, wrong, hint string) {
		// Without white space: the same vault may be indented in another way elsewhere.
		plain, err := l.decrypt([]byte(text), "vault:"+source.DigestOf([]byte(strings.Join(strings.Fields(text), "")))[:32])
		if err != nil {
			return "", err.Error(), plan.WayIn(err)
		}
		return plain, "", ""
	}
	if vault.Is(f.Text) {
		// Without a name: of a whole file the values are learnt one by one, when it is parsed (ParseVars).
		plain, err := l.decrypt(f.Text, "")
		if err != nil {
			return &plan.LockedError{File: f.Name, Err: err}
		}
		f.Text, f.Secret = []byte(plain), true
	}
	f.Secret = f.Secret || source.NamedSecret(f.Name)
	return nil
}

// decrypt opens a vault. Its text is secret if it has a name.
func (l *Library) decrypt(text []byte, from string) (string, error) {
	passwords, err := l.passwords()
	if err != nil {
		return "", err
	}
	plain, err := vault.Decrypt(text, passwords)
	if err != nil {
		return "", err
	}
	// Values are text: other bytes could be neither printed nor saved.
	if !utf8.Valid(plain) {
		return "", errors.New("the encrypted value is not text")
	}
	if from != "" {
		l.secrets.Add(from, string(plain))
	}
	return string(plain), nil
}

func (l *Library) passwords() ([]vault.Password, error) {
	if l.o.Outside.Vault == nil {
		return nil, nil
	}
	return l.o.Outside.Vault()
}

// learnSecrets makes the values of a file of secrets known, each by its place in the file. A template is known when it is rendered.
func (l *Library) learnSecrets(f *playbook.File, v playbook.Value, at string) {
	switch v.Kind() {
	case playbook.Map:
		for _, e := range v.Entries() {
			l.learnSecrets(f, e.Value, at+"."+e.Key)
		}
	case playbook.List:
		for i, item := range v.Items() {
			l.learnSecrets(f, item, at+"."+strconv.Itoa(i))
		}
	case playbook.Int, playbook.Float:
		// Short numbers are ports, counts and years: masking those would make every text unreadable.
		if len(v.Text()) >= plan.LeastDigits {
			l.secrets.Add(f.Name+"#"+at[1:], v.Text())
		}
	case playbook.String:
		if v.Literal() || !eval.Templated(v.Text()) {
			l.secrets.Add(f.Name+"#"+at[1:], v.Text())
		}
	case playbook.Null, playbook.Bool:
	}
}

// LearnNamed makes the value of a variable of an inventory known, if its name says that it is a secret. What a template comes to is
// learnt where it is used.
func (l *Library) LearnNamed(v inventory.Var, from string) {
	if inventory.IsSecret(v.Name) {
		l.learnSecrets(&playbook.File{Name: from}, v.Value, "."+v.Name)
	}
}

// ParseVars reads the values of a file of variables.
func (l *Library) ParseVars(f *playbook.File) (playbook.Value, bool) {
	unasked, said := l.findParser(f), len(l.problems.Found)
	ofPlays := l.plan.Dialect.Rules().OldNumbers
	f.LastCounts = f.LastCounts || ofPlays
	v, ok := playbook.ParseVars(f, &l.problems.Found)
	hintAtParsers(f, unasked, l.problems.Found[min(said, len(l.problems.Found)):])
	if ok && ofPlays {
		v = v.AsPlays()
	}
	if ok && f.Secret {
		l.learnSecrets(f, v, "")
	}
	return v, ok
}
