//go:build gardenet

package gardenet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// isolated is set in the process that has namespaces of its own.
const isolated = "TRELLIS_GARDENET_ISOLATED"

// TestMain runs the tests in a network and a mount namespace of their own: nothing on the machine is changed.
func TestMain(m *testing.M) {
	if os.Getenv(isolated) != "" {
		if err := prepare(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(m.Run())
	}
	if err := needs(); err != nil {
		fmt.Fprintln(os.Stderr, "These tests cannot run:", err)
		os.Exit(1)
	}
	self := exec.Command("/proc/self/exe", os.Args[1:]...)
	self.Stdin, self.Stdout, self.Stderr = os.Stdin, os.Stdout, os.Stderr
	self.Env = append(os.Environ(), isolated+"=1")
	self.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	err := self.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting the tests in namespaces of their own:", err)
		os.Exit(1)
	}
}

// needs returns what the machine lacks.
func needs() error {
	var missing []error
	if os.Geteuid() != 0 {
		missing = append(missing, errors.New("only root may create network namespaces: run make e2e-gardenet as root"))
	}
	if _, err := exec.LookPath("nft"); err != nil {
		missing = append(missing, errors.New("the program nft is missing: apt-get install nftables"))
	}
	return errors.Join(missing...)
}

// prepare makes mounts private, and brings loopback and the sysctls of a router up.
func prepare() error {
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	if err := unix.Mount("sysfs", "/sys", "sysfs", 0, ""); err != nil {
		return fmt.Errorf("mounting /sys of the network namespace: %w", err)
	}
	for _, path := range []string{"/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/ipv6/conf/all/forwarding"} {
		if err := os.WriteFile(path, []byte("1"), 0o600); err != nil {
			return fmt.Errorf("forwarding packets: %w", err)
		}
	}
	return up("lo")
}
