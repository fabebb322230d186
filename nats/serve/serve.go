package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Options are those of a server.
type Options struct {
	Listen  string   // host:port; port 0 or -1 takes any
	Dir     string   // where it keeps its streams; required
	Config  string   // a configuration file of NATS, which counts but for what is given here; "": none
	Name    string   // in a cluster; "": alone
	Cluster string   // host:port for the other servers; "": alone
	Routes  []string // the other servers, as nats://host:port
}

// readyWithin is how long a server may take to be ready, which reads all of its streams first.
const readyWithin = 30 * time.Second

// New starts a server.
func New(o Options) (*server.Server, error) {
	set := &server.Options{}
	if o.Config != "" {
		if err := set.ProcessConfigFile(o.Config); err != nil {
			return nil, fmt.Errorf("read %s: %w", o.Config, err)
		}
	}
	host, port, err := addressOf(o.Listen)
	if err != nil {
		return nil, err
	}
	if o.Config == "" && !isLocal(host) {
		return nil, fmt.Errorf("%s can be reached from other machines, and nothing says who may do what there; give a configuration of NATS with --config: "+
			"moon-nats config writes one to begin with", o.Listen)
	}
	set.Host, set.Port = host, port
	set.JetStream, set.NoSigs = true, true
	set.StoreDir = filepath.Clean(o.Dir)
	// A record is durable when the server says so, and not when its file system gets round to it.
	set.SyncAlways = true
	if o.Name != "" {
		set.ServerName = o.Name
	}
	if o.Cluster != "" {
		host, port, err := addressOf(o.Cluster)
		if err != nil {
			return nil, err
		}
		set.Cluster.Host, set.Cluster.Port, set.Cluster.Name = host, port, "moon"
		for _, r := range o.Routes {
			u, err := url.Parse(r)
			if err != nil {
				return nil, fmt.Errorf("%s is not the address of a server: %w", r, err)
			}
			set.Routes = append(set.Routes, u)
		}
	}
	s, err := server.NewServer(set)
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(readyWithin) {
		s.Shutdown()
		return nil, errors.New("the server is not ready in time")
	}
	return s, nil
}

func addressOf(text string) (host string, port int, err error) {
	host, word, err := net.SplitHostPort(text)
	if err == nil {
		port, err = net.DefaultResolver.LookupPort(context.Background(), "tcp", word)
	}
	if err != nil {
		return "", 0, fmt.Errorf("%s is not an address: give HOST:PORT, such as 127.0.0.1:4222", text)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	return host, port, nil
}

func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
