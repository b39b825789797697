package process

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// FreeAddress uses ports below the kernel's range for clients, so that no client connection uses a port before the server listens.
const firstPort, lastPort = 20000, 27999

// FreeAddress returns a loopback address with a free port that is not returned again for a while, neither in this process nor in another one
// of this user.
func FreeAddress() (string, error) { return FreeAddressAt("127.0.0.1") }

// FreeAddressAt is FreeAddress for another IP address of this machine.
func FreeAddressAt(ip string) (string, error) {
	address, err := nextFreeAddress(ip, filepath.Join(os.TempDir(), fmt.Sprintf("trellis-port-%d", os.Getuid())))
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	return address, nil
}

// nextFreeAddress returns the next port after that in the file, which is locked meanwhile.
func nextFreeAddress(ip, path string) (string, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // lets go of the lock
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	port, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		port = lastPort // nothing is remembered
	}
	var refused error
	for range lastPort - firstPort + 1 {
		if port++; port < firstPort || port > lastPort {
			port = firstPort
		}
		address := net.JoinHostPort(ip, strconv.Itoa(port))
		if refused = canBeListenedOn(address); errors.Is(refused, syscall.EADDRINUSE) {
			continue
		}
		if refused != nil {
			return "", refused
		}
		return address, os.WriteFile(path, []byte(strconv.Itoa(port)), 0o600)
	}
	return "", refused
}

func canBeListenedOn(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return listener.Close()
}
