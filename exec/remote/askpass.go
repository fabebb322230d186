package remote

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"strings"

	"golang.org/x/sys/unix"

	"moon/internal/pattern"
)

// A password of a connection is asked for by ssh, which starts moon to ask. That one reads it from a pipe with a name, in a
// directory that nobody else enters, because ssh closes what it inherits: so it is neither among words nor in an environment.
//
//	moon ── ssh ── moon "ada@web1's password:" ──▶ pipe
const (
	askpassPipe = "MOON_ASKPASS"      // its path
	askpassHost = "MOON_ASKPASS_HOST" // who may have it: a machine on the way asks in the same manner
)

// asksPassword is how ssh asks for a password of a host. It asks for other things too: whether a key is right, for passphrases.
var asksPassword = pattern.New(`(?i)password`)

// Asked reports whether ssh started this process to ask for a password, and answers.
func Asked(words []string, out io.Writer) (asked bool, err error) {
	path, host := os.Getenv(askpassPipe), os.Getenv(askpassHost)
	if path == "" {
		return false, nil
	}
	question := strings.Join(words, " ")
	// Questions about host keys and passphrases are not answered: the password is for this host alone.
	if !asksPassword.MatchString(question) || !strings.Contains(question, "@"+host+"'") && !strings.Contains(question, "@"+host+")") {
		return true, fmt.Errorf("moon has no answer to: %s", question)
	}
	f, err := os.Open(path)
	if err != nil {
		return true, err
	}
	defer func() { _ = f.Close() }() // it was only read
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		return true, err
	}
	_, err = io.WriteString(out, line)
	return true, err
}

// serveAskpass has ssh ask moon for the password of its host, which comes over a pipe at path. The pipe goes with what is returned.
func (s *launch) serveAskpass(path string) (end func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	// The name that ssh has for the host when it asks: its configuration may know a better one.
	argv := append([]string{s.cmd.Args[0], "-G"}, s.cmd.Args[1:len(s.cmd.Args)-1]...)
	text, err := osexec.CommandContext(context.Background(), argv[0], argv[1:]...).Output()
	if err != nil {
		return nil, fmt.Errorf("ssh does not say whom it would ask: %w", err)
	}
	host := ""
	for line := range strings.Lines(string(text)) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), " "); {
		case name == "hostname" && host == "", name == "hostkeyalias" && value != "none":
			host = value
		}
	}
	_ = os.Remove(path) // of an earlier attempt
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return nil, err
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0) // both ends, so that nobody waits for the other
	if err != nil {
		return nil, err
	}
	end = func() {
		_ = pipe.Close() // who has not read it need not any more
		_ = os.Remove(path)
	}
	// There is more than one way of asking, and each asks once.
	if _, err := io.WriteString(pipe, strings.Repeat(s.host.Password+"\n", 2)); err != nil {
		end()
		return nil, err
	}
	s.cmd.Env = append(os.Environ(), "SSH_ASKPASS="+self, "SSH_ASKPASS_REQUIRE=force", askpassPipe+"="+path, askpassHost+"="+host)
	if os.Getenv("DISPLAY") == "" {
		s.cmd.Env = append(s.cmd.Env, "DISPLAY=none") // OpenSSH before 8.4 asks on a display only
	}
	return end, nil
}
