package machine

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// scratch is a machine of its own for a test: everything of this one is there, and nothing that is done to it reaches
// this one. It is an overlay over /, in name spaces of its own, with a shell in it that does as it is told.
type scratch struct {
	dir string // up: what was changed; root: the machine's root, as seen from inside only
	sh  *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// newScratch makes a machine. Online it shares the network of this one, otherwise it has a loopback of its own. Moon
// is at /usr/local/bin/moon, and /work is an empty directory.
func newScratch(t *testing.T, online bool) *scratch {
	t.Helper()
	if online {
		assault.Long(t)
	}
	if os.Geteuid() != 0 {
		t.Skip("a machine to play with needs root")
	}
	s := &scratch{dir: t.TempDir()}
	if err := unix.Mount("tmpfs", s.dir, "tmpfs", 0, "mode=0755"); err != nil {
		t.Skipf("a machine to play with needs the right to mount: %s", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(s.dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"up", "up/work", "up/usr", "up/usr/local", "up/usr/local/bin", "inner", "root"} {
		if err := os.Mkdir(filepath.Join(s.dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Moon is mounted there: a copy would be read again whenever somebody asks what has changed.
	if err := os.WriteFile(filepath.Join(s.dir, "up", moonPath), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"serve", "server"} {
		if err := os.Symlink("moon", filepath.Join(s.dir, "up/usr/local/bin", name)); err != nil {
			t.Fatal(err)
		}
	}

	s.sh = exec.CommandContext(t.Context(), self, s.dir, self)
	s.sh.Args[0] = scratchCommand
	s.sh.Env = []string{
		"MOON_TRUST=true", // examples name programs and options, and are predicted all the same
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "USER=root", "TZ=UTC", "LANG=C.UTF-8",
		"XDG_STATE_HOME=/work/.state", "XDG_CACHE_HOME=/work/.cache",
	}
	flags := unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC
	if online {
		for _, name := range []string{"http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"} {
			if value, ok := os.LookupEnv(name); ok {
				s.sh.Env = append(s.sh.Env, name+"="+value)
			}
		}
	} else {
		flags |= unix.CLONE_NEWNET
	}
	s.sh.SysProcAttr = &syscall.SysProcAttr{Cloneflags: uintptr(flags)}
	s.sh.Stderr = os.Stderr
	in, err := s.sh.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.sh.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.in, s.out = in, bufio.NewReader(out)
	if err := s.sh.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.in.Close()
		_ = s.sh.Process.Kill() // the first process of its name space: all others end with it
		_ = s.sh.Wait()
	})
	return s
}

// do runs a script on the machine, in /work, and returns what it printed, on either stream, and its exit status.
func (s *scratch) do(t *testing.T, script string) (output string, code int) {
	t.Helper()
	end := "end-" + rand.Text()
	if err := os.WriteFile(filepath.Join(s.dir, "up/work/.script"), []byte(script+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(s.in, "sh .script </dev/null 2>&1; code=$?; echo; echo %s $code\n", end); err != nil {
		t.Fatalf("the scratch machine is gone: %s", err)
	}
	var b strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			t.Fatalf("the scratch machine ended in %q: %s\n%s", script, err, b.String())
		}
		if text, ok := strings.CutPrefix(line, end+" "); ok {
			_, err := fmt.Sscan(text, &code)
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimSuffix(b.String(), "\n"), code
		}
		b.WriteString(line)
	}
}

// must runs a script that must succeed.
func (s *scratch) must(t *testing.T, script string) string {
	t.Helper()
	output, code := s.do(t, script)
	if code != 0 {
		t.Fatalf("%s\nexit status %d:\n%s", script, code, output)
	}
	return output
}

// write lays a file down in /work.
func (s *scratch) write(t *testing.T, name string, data []byte, mode fs.FileMode) {
	t.Helper()
	path := filepath.Join(s.dir, "up/work", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, mode); err != nil {
		t.Fatal(err)
	}
}

// changes is every file that is not as on this machine, with its kind, mode, owners, time and content: what was done to
// the scratch machine. What moon keeps of its runs and what is under /tmp and /run is left out.
func (s *scratch) changes(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	up := filepath.Join(s.dir, "up")
	err := filepath.WalkDir(up, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, up)
		switch name {
		case "/work/.state", "/work/.cache", "/run", "/tmp":
			return fs.SkipDir
		case "/work/.script", "/work", "", "/work/events":
			return nil
		case "/var/log/lastlog": // a log in anywhere on this machine is another text below
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		text := fmt.Sprintf("%s %d:%d %d", info.Mode(), st.Uid, st.Gid, st.Rdev)
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + info.ModTime().UTC().String() + " " + contentOf(data)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " " + target
		}
		all[name] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func init() {
	fakes.Commands[scratchCommand] = beScratch
	fakes.Commands["serve"] = serve
}

// moonPath is where moon is on a scratch machine.
const moonPath = "/usr/local/bin/moon"

// scratchCommand is the name by which the test binary is the first process of a scratch machine.
const scratchCommand = "scratch"

// beScratch sets the machine up from inside its name spaces and becomes its shell.
func beScratch() {
	dir, self := os.Args[1], os.Args[2]
	root := filepath.Join(dir, "root")
	mount := func(source, target, fstype string, flags uintptr, data string) {
		if err := unix.Mount(source, target, fstype, flags, data); err != nil {
			fmt.Fprintf(os.Stderr, "scratch: mount %s: %s\n", target, err)
			os.Exit(1)
		}
	}
	mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	mount("overlay", root, "overlay", 0, fmt.Sprintf("lowerdir=/,upperdir=%s/up,workdir=%s/inner", dir, dir))
	mount(self, root+moonPath, "", unix.MS_BIND, "")
	mount("proc", root+"/proc", "proc", 0, "")
	mount("tmpfs", root+"/dev", "tmpfs", 0, "mode=0755")
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} { // not the directory: whoever replaces one of them would replace the machine's
		if err := os.WriteFile(root+"/dev/"+name, nil, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, "scratch:", err)
			os.Exit(1)
		}
		mount("/dev/"+name, root+"/dev/"+name, "", unix.MS_BIND, "")
	}
	for _, name := range []string{"pts", "shm"} {
		if err := os.Mkdir(root+"/dev/"+name, 0o755); err != nil {
			fmt.Fprintln(os.Stderr, "scratch:", err)
			os.Exit(1)
		}
	}
	mount("devpts", root+"/dev/pts", "devpts", 0, "newinstance,ptmxmode=0666,mode=0620")
	for from, to := range map[string]string{"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(to, root+"/dev/"+from); err != nil {
			fmt.Fprintln(os.Stderr, "scratch:", err)
			os.Exit(1)
		}
	}
	mount("/sys", root+"/sys", "", unix.MS_BIND|unix.MS_REC, "")
	mount("", root+"/sys", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, "")
	mount("tmpfs", root+"/tmp", "tmpfs", 0, "mode=1777")
	mount("tmpfs", root+"/run", "tmpfs", 0, "mode=0755")
	loopbackUp()
	for _, err := range []error{unix.Chroot(root), os.Chdir("/work")} {
		if err != nil {
			fmt.Fprintln(os.Stderr, "scratch:", err)
			os.Exit(1)
		}
	}
	err := unix.Exec("/bin/sh", []string{"sh"}, os.Environ())
	fmt.Fprintln(os.Stderr, "scratch: sh:", err)
	os.Exit(1)
}

// loopbackUp brings up lo, which is down in a new name space. Where the network is the machine's own it is up already.
func loopbackUp() {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }()
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return
	}
	r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r); err != nil {
		fmt.Fprintln(os.Stderr, "scratch: lo:", err)
	}
}

// serve is the command `serve ADDRESS DIR [CERTIFICATE]` of scratch machines: a web server, which can be reached when it
// returns. With a name for its certificate it speaks TLS, and the file is written. It goes on in the background, as a
// process that inherits the socket.
func serve() {
	err := func() error {
		s := httptest.NewUnstartedServer(page(os.Args[2]))
		if len(os.Args) > 4 {
			l, err := net.FileListener(os.NewFile(3, "socket"))
			if err != nil {
				return err
			}
			_ = s.Listener.Close()
			s.Listener = l
			if os.Args[3] != "" {
				s.StartTLS()
			} else {
				s.Start()
			}
			select {} // it ends with the machine
		}
		certificate := ""
		if len(os.Args) > 3 {
			certificate = os.Args[3]
			s.StartTLS()
			data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
			if err := os.WriteFile(certificate, data, 0o644); err != nil {
				return err
			}
		}
		l, err := net.Listen("tcp", os.Args[1]) // it ends with the machine
		if err != nil {
			return err
		}
		socket, err := l.(*net.TCPListener).File()
		if err != nil {
			return err
		}
		c := exec.Command("/proc/self/exe", os.Args[1], os.Args[2], certificate, "inherited")
		c.Args[0] = "serve"
		c.ExtraFiles = []*os.File{socket}
		return c.Start()
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

// page serves the files of a directory. /to/X sends on to /X, below /private it wants ann with the password secret, and
// what is sent to it in other ways than GET comes back as JSON, with the status 201.
func page(dir string) http.Handler {
	files := http.FileServer(http.Dir(dir))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		to, sent := strings.CutPrefix(r.URL.Path, "/to/")
		switch {
		case sent:
			http.Redirect(w, r, "/"+to, http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/private/") && (name != "ann" || password != "secret"):
			w.Header().Set("WWW-Authenticate", `Basic realm="private"`)
			w.WriteHeader(http.StatusUnauthorized)
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			files.ServeHTTP(w, r)
		default:
			body, _ := io.ReadAll(r.Body)
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "s1"})
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(map[string]any{"id": 7, "method": r.Method, "type": r.Header.Get("Content-Type"), "body": string(body)})
		}
	})
}
