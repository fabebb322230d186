package action

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"moon/exec/spec"
)

// tcpTables are where the kernel lists the connections of this machine; tests have others.
var tcpTables = []string{"/proc/net/tcp", "/proc/net/tcp6"}

// connection is a line of such a table.
type connection struct {
	local, remote netip.AddrPort
	state         int
}

// lookAtConnections reports whether a port of this machine has no connection left.
func lookAtConnections(ctx context.Context, args *spec.WaitArgs) (bool, string) {
	here, err := resolveAll(ctx, []string{args.Host})
	if err != nil {
		return false, networkReason(err)
	}
	excluded, err := resolveAll(ctx, args.ExcludeHosts)
	if err != nil {
		return false, networkReason(err)
	}
	list, err := readConnections()
	if err != nil {
		return false, err.Error()
	}
	active := 0
	for _, c := range list {
		counts := slices.ContainsFunc(args.ActiveStates, func(name string) bool { return spec.ConnectionStates[name] == c.state })
		if !counts || int(c.local.Port()) != args.Port || slices.Contains(excluded, c.remote.Addr()) {
			continue
		}
		// 0.0.0.0 and :: stand for all addresses of their kind.
		all := slices.ContainsFunc(here, func(addr netip.Addr) bool { return addr.IsUnspecified() && addr.Is4() == c.local.Addr().Is4() })
		if all || slices.Contains(here, c.local.Addr()) {
			active++
		}
	}
	return active == 0, fmt.Sprintf("port %d has connections: %d", args.Port, active)
}

// resolveAll finds the addresses of hosts.
func resolveAll(ctx context.Context, hosts []string) (all []netip.Addr, err error) {
	for _, host := range hosts {
		found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err != nil {
			return nil, err
		}
		for _, addr := range found {
			all = append(all, addr.Unmap())
		}
	}
	return all, nil
}

// readConnections reads the tables. A machine may be without the second.
func readConnections() (list []connection, err error) {
	read := 0
	for _, path := range tcpTables {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		read++
		for line := range strings.Lines(string(text)) {
			if c, ok := readConnection(strings.Fields(line)); ok {
				list = append(list, c)
			}
		}
	}
	if read == 0 {
		return nil, errors.New("there is no /proc/net/tcp on this system, which lists connections")
	}
	return list, nil
}

// readConnection reads a line: its number, the local address, the other one and the state. The first line is a heading.
func readConnection(words []string) (c connection, ok bool) {
	if len(words) < 4 {
		return c, false
	}
	local, okLocal := readHexAddress(words[1])
	remote, okRemote := readHexAddress(words[2])
	state, err := strconv.ParseUint(words[3], 16, 8)
	return connection{local, remote, int(state)}, okLocal && okRemote && err == nil
}

// readHexAddress reads 0100007F:1F90: words of four bytes in the order of the machine, and the port as a number.
func readHexAddress(text string) (netip.AddrPort, bool) {
	digits, number, _ := strings.Cut(text, ":")
	data, err := hex.DecodeString(digits)
	port, portErr := strconv.ParseUint(number, 16, 16)
	if err != nil || portErr != nil || len(data)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(data); i += 4 {
		binary.NativeEndian.PutUint32(data[i:], binary.BigEndian.Uint32(data[i:]))
	}
	addr, ok := netip.AddrFromSlice(data)
	return netip.AddrPortFrom(addr.Unmap(), uint16(port)), ok
}
