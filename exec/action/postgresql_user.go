package action

import (
	"context"
	"crypto/hmac"
	"crypto/md5" // as old servers hash passwords
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"moon/events"
	"moon/exec"
	"moon/exec/database"
	"moon/exec/fsys"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("postgresql_user", exec.Action{Plan: planPostgresqlUser})

// postgresqlUserStep is one postgresql_user step being planned.
type postgresqlUserStep struct {
	*postgresServer
	args    *spec.PostgresqlUserArgs
	c       *exec.Change
	is      *database.Row // nil: there is none
	queries []string
	shown   []string // without passwords
	words   []string
}

func planPostgresqlUser(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.PostgresqlUserArgs)
	db := args.DB
	if db == "" {
		db = "postgres"
	}
	server, err := openPostgres(a, &args.PostgresLogin, db)
	if err != nil {
		return nil, err
	}
	s := &postgresqlUserStep{postgresServer: server, args: args}
	s.c = &exec.Change{Fields: map[string]any{"user": args.Name, "queries": []any{}}}
	s.c.PlanNothing()
	if args.Name == "PUBLIC" {
		return s.c, nil
	}
	if err := s.look(ctx); err != nil {
		return nil, err
	}
	switch {
	case args.State == fsys.Absent:
		s.planRemoval()
	case s.is == nil:
		s.planCreation()
	default:
		s.planUpdate()
	}
	return s.c, nil
}

// look finds the user, with the password if the login may see it.
func (s *postgresqlUserStep) look(ctx context.Context) error {
	expires := "NULL"
	if s.args.Expires != "" {
		expires = s.text(s.args.Expires)
	}
	rows, err := s.askOne(ctx, `SELECT r.*, rolvaliduntil IS NOT DISTINCT FROM `+expires+`::timestamptz AS same_expiry,
shobj_description(r.oid, 'pg_authid') AS comment, has_table_privilege('pg_authid', 'SELECT') AS sees
FROM pg_roles r WHERE rolname = `+s.text(s.args.Name))
	if err != nil || len(rows) == 0 {
		return err
	}
	s.is = &rows[0]
	if s.args.Password != nil && s.is.Get("sees") == "t" {
		more, err := s.askOne(ctx, "SELECT rolpassword FROM pg_authid WHERE rolname = "+s.text(s.args.Name))
		if err != nil {
			return err
		}
		for _, row := range more {
			s.is.Names, s.is.Values = append(s.is.Names, "hash"), append(s.is.Values, row.Values[0])
		}
	}
	return nil
}

// add collects a statement; with is what of it may not be shown.
func (s *postgresqlUserStep) add(query, password string) {
	s.queries = append(s.queries, strings.Replace(query, "%(password)s", password, 1))
	s.shown = append(s.shown, query)
}

func (s *postgresqlUserStep) finish(kind events.ChangeKind) {
	if len(s.queries) == 0 {
		return
	}
	if kind != events.ChangeCreate {
		s.c.AddResource(kind, "postgresql_user", s.fullName(s.args.Name))
	}
	s.c.Plan(kind, func(ctx context.Context) error {
		s.c.Fields["queries"] = anyList(s.shown)
		return s.run(ctx, s.queries...)
	}, s.words...)
}

// encryption is the word in front of a password.
func (s *postgresqlUserStep) encryption() string {
	if s.args.Encrypted {
		return "ENCRYPTED"
	}
	return "UNENCRYPTED"
}

func (s *postgresqlUserStep) planCreation() {
	args := s.args
	parts := []string{"CREATE USER " + s.quote(args.Name)}
	password := ""
	if args.Password != nil && *args.Password != "" {
		password = s.text(*args.Password)
		parts = append(parts, "WITH "+s.encryption(), "PASSWORD %(password)s")
	}
	parts = append(parts, s.limits()...)
	s.add(strings.Join(append(parts, strings.Join(args.Flags, " ")), " "), password)
	s.words = append([]string{"new user " + args.Name}, args.Flags...)
	s.comment()
	s.addCreated(s.c, "postgresql_user", args.Name, s.undo("postgresql_user", map[string]any{"name": args.Name}))
	s.finish(events.ChangeCreate)
}

func (s *postgresqlUserStep) limits() (parts []string) {
	if s.args.Expires != "" {
		parts = append(parts, "VALID UNTIL "+s.text(s.args.Expires))
	}
	if s.args.ConnLimit != nil {
		parts = append(parts, "CONNECTION LIMIT "+strconv.Itoa(*s.args.ConnLimit))
	}
	return parts
}

func (s *postgresqlUserStep) comment() {
	want := s.args.Comment
	if want == nil || s.is != nil && s.is.Get("comment") == *want {
		return
	}
	s.add("COMMENT ON ROLE "+s.quote(s.args.Name)+" IS "+s.text(*want), "")
	s.words = append(s.words, "another comment")
}

// flagColumns are the columns of pg_roles that flags are in.
var flagColumns = map[string]string{
	"SUPERUSER": "rolsuper", "CREATEROLE": "rolcreaterole", "CREATEDB": "rolcreatedb", "INHERIT": "rolinherit",
	"LOGIN": "rolcanlogin", "REPLICATION": "rolreplication", "BYPASSRLS": "rolbypassrls",
}

func (s *postgresqlUserStep) planUpdate() {
	args := s.args
	differs := false
	for _, flag := range args.Flags {
		bare, want := flag, "t"
		if flagColumns[flag] == "" {
			bare, want = strings.TrimPrefix(flag, "NO"), "f"
		}
		if s.is.Get(flagColumns[bare]) != want {
			differs, s.words = true, append(s.words, flag)
		}
	}
	parts, password := []string{"ALTER USER " + s.quote(args.Name)}, ""
	// A password and flags go into one statement, so that a user is never half changed.
	flags := strings.Join(args.Flags, " ")
	switch {
	case !args.NoPasswordChanges && args.Password != nil && s.otherPassword(*args.Password):
		if *args.Password == "" {
			parts, s.words = append(parts, "WITH PASSWORD NULL"), append(s.words, "no password")
		} else {
			password = s.text(*args.Password)
			parts, s.words = append(parts, "WITH "+s.encryption(), "PASSWORD %(password)s"), append(s.words, "another password")
		}
		parts, differs = append(parts, flags), true
	case flags != "":
		parts = append(parts, "WITH "+flags)
	}
	if !args.NoPasswordChanges {
		parts = append(parts, s.limits()...)
		if args.Expires != "" && s.is.Get("same_expiry") != "t" {
			differs, s.words = true, append(s.words, "expires "+args.Expires)
		}
		if args.ConnLimit != nil && s.is.Get("rolconnlimit") != strconv.Itoa(*args.ConnLimit) {
			differs, s.words = true, append(s.words, fmt.Sprintf("connections %s → %d", s.is.Get("rolconnlimit"), *args.ConnLimit))
		}
	}
	if differs {
		s.add(strings.Join(parts, " "), password)
	}
	s.comment()
	s.finish(events.ChangeUpdate)
}

func (s *postgresqlUserStep) planRemoval() {
	if s.is == nil {
		return
	}
	s.c.Fields["user_removed"] = true
	s.add("DROP USER "+s.quote(s.args.Name), "")
	s.words = []string{"user " + s.args.Name}
	s.finish(events.ChangeDelete)
	if s.args.FailOnUser {
		return
	}
	apply := s.c.Apply
	s.c.Apply = func(ctx context.Context) error {
		if err := apply(ctx); err != nil {
			s.c.PlanNothing()
			s.c.Fields["user_removed"] = false
			s.c.Warnings = append(s.c.Warnings, err.Error())
		}
		return nil
	}
}

// scramHash is how a server keeps a password: rounds, salt, and two keys made of it.
var scramHash = pattern.New(`^SCRAM-SHA-256\$(\d+):([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)$`)

// otherPassword reports whether the server has another password than this one, or may have, since the login does not see it.
func (s *postgresqlUserStep) otherPassword(want string) bool {
	if s.is.Get("sees") != "t" {
		return true
	}
	has := s.is.Get("hash")
	switch {
	case want == "":
		return has != ""
	case scramHash.MatchString(want), strings.HasPrefix(want, "md5") && len(want) == 35, !s.args.Encrypted:
		return want != has
	}
	if m := scramHash.FindStringSubmatch(has); m != nil {
		return !isScram(want, m)
	}
	sum := md5.Sum([]byte(want + s.args.Name))
	return "md5"+hex.EncodeToString(sum[:]) != has
}

// isScram reports whether a password is the one of a hash of SCRAM (RFC 5802): the key of the server is made of it.
func isScram(password string, hash []string) bool {
	rounds, err1 := strconv.Atoi(hash[1])
	salt, err2 := base64.StdEncoding.DecodeString(hash[2])
	salted, err3 := pbkdf2.Key(sha256.New, norm.NFKC.String(password), salt, rounds, sha256.Size)
	if err1 != nil || err2 != nil || err3 != nil {
		return false
	}
	mac := hmac.New(sha256.New, salted)
	_, _ = mac.Write([]byte("Server Key")) // a hash does not fail
	return base64.StdEncoding.EncodeToString(mac.Sum(nil)) == hash[4]
}
