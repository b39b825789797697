//go:build gardenet

package gardenet

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// namespace is a network namespace, which exists as long as this process or another one uses it.
type namespace struct{ file *os.File }

func newNamespace() (*namespace, error) {
	n := &namespace{}
	err := onThread(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("creating a network namespace: %w", err)
		}
		if n.file, err = currentNamespace(); err != nil {
			return err
		}
		return up("lo")
	})
	return n, err
}

// onThread calls a function that changes the network namespace of its thread. The thread returns to its namespace and lives on: with it would end the processes
// that it has started.
func onThread(call func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		before, err := currentNamespace()
		if err != nil {
			result <- err
			return
		}
		defer before.Close()
		err = call()
		if back := unix.Setns(int(before.Fd()), unix.CLONE_NEWNET); back != nil {
			err = errors.Join(err, fmt.Errorf("returning from a network namespace: %w", back))
		} else {
			runtime.UnlockOSThread()
		}
		result <- err
	}()
	return <-result
}

func currentNamespace() (*os.File, error) {
	file, err := os.Open(fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid()))
	if err != nil {
		return nil, fmt.Errorf("opening the network namespace: %w", err)
	}
	return file, nil
}

// path is how other processes find the namespace.
func (n *namespace) path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), n.file.Fd()) }

// do calls a function in the namespace. Sockets that it opens and processes that it starts stay there.
func (n *namespace) do(call func() error) error {
	return onThread(func() error {
		if err := unix.Setns(int(n.file.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("entering a network namespace: %w", err)
		}
		return call()
	})
}

func (n *namespace) close() { _ = n.file.Close() }

// up brings a device up.
func up(name string) error {
	link, err := netlink.LinkByName(name)
	if err == nil {
		err = netlink.LinkSetUp(link)
	}
	if err != nil {
		return fmt.Errorf("bringing the device %s up: %w", name, err)
	}
	return nil
}
